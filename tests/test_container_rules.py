"""Models that autograd traces itself: `componentvec.container_rules`."""

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from autograd.differential_operators import make_ggnvp, make_jvp
from autograd.test_util import check_grads
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.container_rules import plant
from componentvec.walking import walk
from model_strategies import Level, arrays, full_shapes

W = np.array([[1.0, 2.0], [3.0, 4.0]])


def cubes(model):
    """The sum of the cubes of all parameters, by `trainables`."""
    return sum(anp.sum(x**3) for x in cv.trainables(model))


def weighted(model):
    """A function that tells the parameters apart, by `destructure`."""
    vector, _ = cv.destructure(model)
    return anp.sum(vector**3 * np.arange(1.0, len(vector) + 1))


def there_and_back(model):
    """A function of the model put together again from a vector."""
    vector, restructure = cv.destructure(model)
    again = restructure(vector * 2)
    return weighted(again) + cubes(again)


def new_model():
    """Dicts, lists and tuples, no ties."""
    return {"a": W.copy(), "b": [W[0] * 2, (W[1] * 3, np.array([1.5]))], "c": {"d": W.T.copy()}}


# -- gradients ---------------------------------------------------------------------------------


def test_the_gradient_of_a_dict_is_a_dict():
    """By hand: the derivative of x**3 is 3 x**2."""
    gradient = autograd.grad(cubes)({"a": np.array([1.0, 2.0]), "b": [np.array([3.0])]})
    assert gradient["a"].tolist() == [3.0, 12.0]
    assert gradient["b"][0].tolist() == [27.0]


@pytest.mark.parametrize("make", [list, tuple, lambda leaves: dict(zip("abc", leaves))])
def test_the_gradient_has_the_type_of_the_model(make):
    """Lists, tuples and dicts."""
    model = make([W, W[0] + 1, W + 2])
    gradient = autograd.grad(weighted)(model)
    assert type(gradient) is type(model)
    leaves = gradient.values() if isinstance(gradient, dict) else gradient
    flat = np.concatenate([np.ravel(leaf) for leaf in leaves])
    entries = np.concatenate([W.ravel(), W[0] + 1, W.ravel() + 2])
    np.testing.assert_allclose(flat, 3 * entries**2 * np.arange(1, 11))


@pytest.mark.parametrize("function", [cubes, weighted, there_and_back])
@pytest.mark.parametrize("modes", [["rev"], ["fwd"]])
def test_first_and_second_derivatives_are_right(function, modes):
    """Against finite differences."""
    check_grads(function, modes=modes, order=2)(new_model())
    check_grads(function, modes=modes, order=2)([W, (W[0] + 1,)])
    check_grads(function, modes=modes, order=2)((W, [W[0] + 1]))


def test_forward_over_reverse_and_reverse_over_reverse_agree():
    """Products with the Hessian of a sum of cubes: 6 x u."""
    x, u = {"a": np.array([1.0, 2.0])}, {"a": np.array([1.0, -1.0])}
    _, product = make_jvp(autograd.grad(cubes))(x)(u)
    assert product["a"].tolist() == [6.0, -12.0]

    def slope(model):
        return anp.sum(autograd.grad(cubes)(model)["a"] * u["a"])

    assert autograd.grad(slope)(x)["a"].tolist() == [6.0, -12.0]


def test_a_gradient_through_trainables_can_be_differentiated_by_trainables():
    """The gradient is a container of the same kind."""

    def slopes(model):
        return sum(anp.sum(x) for x in cv.trainables(autograd.grad(cubes)(model)))

    gradient = autograd.grad(slopes)({"a": np.array([1.0, 2.0]), "name": "x"})
    assert gradient["a"].tolist() == [6.0, 12.0]


def test_a_parameter_that_is_not_used_has_gradient_zero():
    """Never None."""
    gradient = autograd.grad(lambda model: anp.sum(cv.trainables(model)[0]))({"a": W, "b": W + 1})
    assert gradient["a"].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert gradient["b"].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_static_parts_have_gradient_none():
    """Autograd's own rule would refuse the model."""
    model = {"a": W, "act": np.tanh, "sizes": [2, "two"], "key": np.arange(2)}
    gradient = autograd.grad(cubes)(model)
    np.testing.assert_allclose(gradient["a"], 3 * W**2)
    assert gradient["act"] is None and gradient["sizes"] == [None, None]
    assert gradient["key"] is None


def test_a_constant_of_an_enumeration_is_static_though_it_is_a_float():
    """As in a model that nothing traces: neither a parameter nor a number to derive by."""
    model = {"a": W, "level": Level.HIGH, "name": "x"}
    for f in (cubes, lambda m: anp.sum(cv.destructure(m, scalars=True)[0] ** 3)):
        gradient = autograd.grad(f)(model)
        np.testing.assert_allclose(gradient["a"], 3 * W**2)
        assert gradient["level"] is None and gradient["name"] is None


def test_parameters_may_be_asked_for_twice():
    """A loss and its regulariser: the two gradients add up, static parts or not."""
    gradient = autograd.grad(lambda model: cubes(model) + weighted(model))({"a": W, "n": "x"})
    np.testing.assert_allclose(gradient["a"].ravel(), 3 * W.ravel() ** 2 * [2, 3, 4, 5])


def test_names_and_trainables_may_be_mixed():
    """Autograd's own rule for items, and this one."""
    model = {"a": np.array([1.0]), "b": np.array([2.0])}
    gradient = autograd.grad(lambda m: cubes(m) + m["a"][0] * 10 + weighted(m))(model)
    assert gradient["a"].tolist() == [3 + 10 + 3]
    assert gradient["b"].tolist() == [12 + 24]


def test_an_array_at_two_places_is_one_parameter():
    """As `trainables` gives it: the whole derivative stands at its first place."""
    w = np.array([2.0, 5.0])
    gradient = autograd.grad(cubes)({"a": w, "b": w})
    assert gradient["a"].tolist() == [12.0, 75.0]
    assert gradient["b"].tolist() == [0.0, 0.0]


HELD = np.array([2.0, 5.0])


@pytest.mark.parametrize(
    "model", [lambda x: {"a": x, "b": HELD}, lambda x: {"b": HELD, "a": x}], ids=["before", "after"]
)
def test_an_array_that_is_held_is_not_tied_to_the_one_that_varies(model):
    """The derivative with respect to one place alone, though both have the same memory."""
    gradient = autograd.grad(lambda x: anp.sum(cv.destructure(model(x))[0] ** 2))(HELD)
    assert gradient.tolist() == [4.0, 10.0]
    gradient = autograd.grad(lambda x: cubes(model(x)))(HELD)
    assert gradient.tolist() == [12.0, 75.0]


def test_numbers_take_part_with_scalars():
    """Python floats of a traced container."""
    model = {"a": 2.0, "b": [3.0], "w": np.array([1.0])}
    gradient = autograd.grad(lambda m: sum(anp.sum(x**2) for x in cv.trainables(m, scalars=True)))
    assert gradient(model) == {"a": 4.0, "b": [6.0], "w": [2.0]}
    gradient = autograd.grad(lambda m: anp.sum(cv.destructure(m, scalars=True)[0] ** 2))(model)
    assert float(gradient["a"]) == 4.0 and float(gradient["b"][0]) == 6.0
    gradient = autograd.grad(cubes)(model)
    assert float(gradient["a"]) == 0.0


def test_a_number_has_no_say_in_the_dtype_of_a_traced_model():
    """float32 stays float32, as it does untraced."""
    dtypes = []

    def f(model):
        vector, _ = cv.destructure(model, scalars=True)
        dtypes.append(vector.dtype)
        return anp.sum(vector)

    autograd.grad(f)({"a": 1.5, "w": np.ones(2, np.float32)})
    assert dtypes == [np.float32]


def test_component_vectors_within_a_traced_container_keep_their_kind():
    """Their gradients are vectors."""
    v = cv.ComponentVector(x=1.0, y=[2.0, 3.0])
    model = {"a": W, "v": v}
    for function in (cubes, lambda m: anp.sum(cv.destructure(m)[0] ** 3)):
        gradient = autograd.grad(function)(model)
        assert gradient["v"].layout == v.layout
        assert gradient["v"].tolist() == [3.0, 12.0, 27.0]
        check_grads(function, modes=["rev", "fwd"], order=2)(model)


def test_a_traced_vector_is_a_model_with_the_same_ties():
    """Also between numbers, which have no memory of their own once they are read."""
    x = np.array(2.0)
    v, _ = cv.destructure({"a": x, "b": x, "c": np.ones(1)})
    sizes = []

    def f(v):
        inner, restructure = cv.destructure(v)
        sizes.append((len(inner), inner.layout.ties, len(cv.trainables(v))))
        return anp.sum(restructure(inner) ** 2)

    gradient = autograd.grad(f)(v)
    assert gradient.tolist() == [4.0, 2.0]
    assert sizes == [(2, (("a", "b"),), 2)]
    check_grads(f, modes=["rev", "fwd"], order=2)(v)


def test_complex_leaves_follow_autograds_convention():
    """The real part of z**2 has the gradient 2 z, by d/d(re) - i d/d(im)."""
    z = np.array([1 + 2j])
    for f in (
        lambda m: anp.real(anp.sum(cv.trainables(m)[0] ** 2)),
        lambda m: anp.real(anp.sum(cv.destructure(m)[0] ** 2)),
    ):
        assert autograd.grad(f)({"z": z})["z"].tolist() == [2 + 4j]
        native = autograd.grad(lambda m: anp.real(anp.sum(m["z"] ** 2)))({"z": z})
        assert native["z"].tolist() == [2 + 4j]


def test_own_dtypes_are_kept_in_the_gradient():
    """float32 beside float64."""
    gradient = autograd.grad(cubes)({"a": np.ones(2, np.float32), "b": np.ones(2)})
    assert gradient["a"].dtype == np.float32 and gradient["b"].dtype == np.float64


def test_a_model_is_packed_and_given_as_a_tree_inside_a_trace():
    """A traced dict wherever a tree will do."""
    vector, restructure = cv.destructure({"enc": W, "dec": W.T})
    check_grads(lambda m: anp.sum(restructure.pack(m) ** 3), modes=["rev", "fwd"], order=2)(
        {"enc": W}
    )
    check_grads(lambda m: anp.sum(restructure(m)["dec"] ** 3), modes=["rev", "fwd"], order=2)(
        {"enc": W}
    )


def test_a_dict_that_is_built_inside_is_a_model_too():
    """Of traced arrays, some tied, some computed."""

    def f(x):
        vector, restructure = cv.destructure({"a": x, "b": x**2, "c": x.T})
        assert vector.layout.ties == (("a", "c"),)
        return anp.sum(vector**2) + anp.sum(restructure(vector)["c"][0])

    check_grads(f, modes=["rev", "fwd"], order=2)(W)
    # By hand: x**2 + x**4 + the first row of the transpose.
    expected = 2 * W + 4 * W**3 + [[1, 0], [1, 0]]
    np.testing.assert_allclose(autograd.grad(f)(W), expected)


def test_the_gauss_newton_product_goes_through_a_model():
    """Forward, and reverse within it: 2 J'J u of residuals x**2 is 8 x**2 u."""
    product = make_ggnvp(lambda m: anp.concatenate([x**2 for x in cv.trainables(m)]))
    x, u = {"a": np.array([1.0, 2.0])}, {"a": np.array([1.0, 1.0])}
    assert product(x)(u)["a"].tolist() == [4.0, 16.0]


@given(
    st.recursive(
        arrays(shapes=full_shapes),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
        ),
        max_leaves=5,
    ).filter(lambda model: not isinstance(model, np.ndarray))
)
def test_gradients_of_any_container_are_those_of_the_leaves(model):
    """A weighted sum of squares: twice the weighted leaf at each place."""

    def f(traced):
        found = cv.trainables(traced, paths=True)
        return sum((n + 1) * anp.sum(x**2) for n, (_, x) in enumerate(found))

    gradient = dict(cv.trainables(autograd.grad(f)(model), paths=True))
    for n, (path, x) in enumerate(cv.trainables(model, paths=True)):
        np.testing.assert_allclose(gradient[path], 2 * (n + 1) * x)


# -- the rule itself ---------------------------------------------------------------------------


def test_planting_and_reading_are_adjoint():
    """The gradient of a planted container is read from the places where it was planted."""
    walked = walk(new_model(), share=False)
    slots = [walked.slots[2], walked.slots[0], walked.slots[2]]

    def f(x, y, z):
        return anp.sum(cv.destructure(plant(walked, slots, x, y, z))[0] ** 2)

    for argnum in range(3):
        check_grads(f, argnum, modes=["rev", "fwd"], order=2)(W[0], W, W[1])


def test_a_wrong_rule_is_caught(monkeypatch):
    """What the checks above are worth: a rule that drops one leaf fails them."""
    from componentvec import container_rules

    def dropping(walked, parts):
        return plant(walked, [slot for slot, _ in parts[1:]], *[g for _, g in parts[1:]])

    monkeypatch.setattr(container_rules, "_collect", dropping)
    with pytest.raises(AssertionError, match="VJP"):
        check_grads(cubes, modes=["rev"], order=1)(new_model())


def test_the_gradient_is_linear_in_the_leaves(monkeypatch):
    """The container is planted once; autograd's own rule copies it for every leaf."""
    from componentvec import container_rules

    planted = []

    def counting(walked, places, *leaves):
        planted.append(len(leaves))
        return plant(walked, places, *leaves)

    monkeypatch.setattr(container_rules, "plant", counting)
    for n in (50, 500):
        autograd.grad(cubes)({f"w{i}": np.ones(1) for i in range(n)})
    assert planted == [50, 500]
