"""From a model to one vector and back: `destructure` and `Restructure`."""

import copy
import pickle
import sys
import threading
from collections import OrderedDict, defaultdict
from concurrent.futures import ThreadPoolExecutor

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from autograd.test_util import check_grads
from autograd.tracer import getval
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from model_strategies import (
    ALL,
    Affine,
    BatchNorm,
    Dense,
    DenseChild,
    Frozen,
    Inherited,
    Layers,
    Pair,
    Params,
    Slotted,
    Unregistered,
    children_of,
    is_parameter,
    models,
    no_initialisers,
    parameters_of,
    places_of,
    require_same,
    require_same_identities,
    trees,
)

W = np.arange(6.0).reshape(2, 3)
B = np.array([1.0, 2.0])


def both(model, **options):
    """The vector, and the model that comes back from it."""
    vector, restructure = cv.destructure(model, **options)
    return vector, restructure(vector)


# -- worked by hand ----------------------------------------------------------------------------


def test_a_shared_array_is_stored_once_and_its_gradient_is_the_total():
    """loss = 2 sum(a) + sum(a b): 2 + 2 w for the shared array, nothing for y."""
    w = np.array([2.0, 5.0])
    vector, restructure = cv.destructure({"a": w, "b": w, "y": np.array([9.0])})
    assert vector.tolist() == [2.0, 5.0, 9.0]

    def loss(p):
        m = restructure(p)
        return 2 * anp.sum(m["a"]) + anp.sum(m["a"] * m["b"])

    gradient = grad(loss)(vector)
    assert gradient.tolist() == [6.0, 12.0, 0.0]
    assert gradient.layout == vector.layout
    assert grad(loss)(cv.data(vector)).tolist() == [6.0, 12.0, 0.0]
    back = restructure(vector)
    assert back["a"] is back["b"]


def test_a_transpose_is_a_view_of_the_same_entries():
    """loss = sum(enc) + sum(c dec): 1 + the transpose of c."""
    vector, restructure = cv.destructure({"enc": W, "dec": W.T})
    assert len(vector) == 6
    c = np.array([[1, 2], [3, 4], [5, 6]])

    def loss(p):
        m = restructure(p)
        return anp.sum(m["enc"]) + anp.sum(c * m["dec"])

    assert grad(loss)(vector).tolist() == [2.0, 4.0, 6.0, 3.0, 5.0, 7.0]


def test_two_equal_arrays_are_not_tied():
    """What happens to be equal at the start need not stay so."""
    vector, back = both({"a": B, "b": B.copy()})
    assert len(vector) == 4 and back["a"] is not back["b"]


def test_a_float32_stays_float32_and_a_key_stays_itself():
    """No promotion, no copy of what is no parameter."""
    key = np.array([2**31 + 1], np.uint32)
    vector, back = both({"W": np.array([1, 2], np.float32), "key": key, "n": 3})
    assert len(vector) == 2 and vector.dtype == np.float32
    assert back["key"] is key and back["n"] == 3 and back["W"].dtype == np.float32


def test_batch_norm_trains_gamma_and_beta_alone():
    """Buffers come back as they are, even if they are the very array of a parameter."""
    ones = np.ones(2)
    model = {"bn": BatchNorm(ones, mean=ones, beta=np.zeros(2), var=np.ones(2), eps=1e-3)}
    vector, restructure = cv.destructure(model)
    assert vector.layout.labels() == ["bn.gamma[0]", "bn.gamma[1]", "bn.beta[0]", "bn.beta[1]"]
    back = restructure(np.array([5.0, 6.0, 7.0, 8.0]))["bn"]
    assert back.gamma.tolist() == [5.0, 6.0] and back.beta.tolist() == [7.0, 8.0]
    assert back.mean is ones and back.var is model["bn"].var and back.eps == 1e-3
    assert ones.tolist() == [1.0, 1.0]


# -- laws --------------------------------------------------------------------------------------


@given(models(ALL))
def test_model_to_vector_to_model_keeps_everything(model):
    """Types, keys, dtypes, values, the identity of ties, of containers and of all that stays."""
    vector, restructure = cv.destructure(model, allow_empty=True)
    with no_initialisers():
        back = restructure(vector)
    require_same(model, back)
    require_same_identities(model, back)


@given(models(ALL))
def test_pack_is_the_inverse(model):
    """Of the model itself, of the model that came back, and of the dicts and lists of names."""
    vector, restructure = cv.destructure(model, allow_empty=True)
    for tree in (model, restructure(vector), cv.asdict(vector)):
        packed = restructure.pack(tree)
        assert packed.layout == vector.layout and packed.dtype == vector.dtype
        np.testing.assert_array_equal(cv.data(packed), cv.data(vector))


@given(models())
def test_vector_to_model_to_vector_is_the_same_memory(model):
    """The model of a vector is made of it; taken apart again it has the same names and ties."""
    vector, restructure = cv.destructure(model, allow_empty=True)
    p = np.arange(float(len(vector)))
    back = restructure(p)
    again, _ = cv.destructure(back, allow_empty=True)
    sizes = {path: x.size for path, x in parameters_of(back)}
    assert again.layout.paths() == vector.layout.paths()
    assert {path: leaf.size for path, _, leaf in again.layout._leaves} == sizes
    np.testing.assert_array_equal(cv.data(restructure.pack(back)), p)
    p += 1
    np.testing.assert_array_equal(cv.data(restructure.pack(back)), p)


@given(models(), st.data())
def test_a_tied_gradient_is_the_sum(model, data):
    """A weighted sum of all places: the gradient of an entry is what the loss gains with it."""
    vector, restructure = cv.destructure(model, allow_empty=True)
    count = len(parameters_of(model))

    def loss(p):
        found = [x for _, x in parameters_of_traced(restructure(p))]
        assert len(found) == count
        return sum((n + 1.0) * anp.sum(x * 2.0 ** anp.arange(x.size).reshape(x.shape))
                   for n, x in enumerate(found)) + 0.0 * anp.sum(p)  # fmt: skip

    p = cv.data(vector)
    gradient = grad(loss)(p)
    assert gradient.shape == p.shape
    for i in range(p.size):
        unit = np.zeros(p.size)
        unit[i] = 1.0
        assert gradient[i] == pytest.approx(loss(p + unit) - loss(p), rel=1e-9, abs=1e-6)


def parameters_of_traced(model):
    """Path and array of the trainable parameters, traced or not."""
    return [
        (path, x)
        for path, x, role in places_of(model)
        if role == "trainable" and is_parameter(getval(x))
    ]


@given(models(buffers=False), st.sampled_from(["rev", "fwd"]))
def test_restructuring_is_differentiable_twice(model, mode):
    """A cubic function of all places, in either mode, against finite differences."""
    vector, restructure = cv.destructure(model, allow_empty=True)

    def loss(p):
        found = [x for _, x in parameters_of_traced(restructure(p))]
        return sum(anp.sum((x + n) ** 3) for n, x in enumerate(found)) + anp.sum(p)

    start = np.linspace(0.5, 1.5, len(vector))
    check_grads(loss, modes=[mode], order=2)(start)
    check_grads(loss, modes=[mode], order=2)(vector.layout.wrap(start))


@given(models(ALL), st.sampled_from(["trainable", "buffers", "all"]))
def test_each_selection_comes_back_and_leaves_the_rest_alone(model, select):
    """Unselected arrays are the same objects."""
    roles = ("trainable", "buffer") if select == "all" else (select.removesuffix("s"),)
    vector, restructure = cv.destructure(model, select=select, allow_empty=True)
    back = restructure(vector)
    for (_, one, role), (_, other, _) in zip(places_of(model), places_of(back), strict=True):
        assert type(one) is type(other)
        if is_parameter(one) and role in roles:
            np.testing.assert_array_equal(one, other)
        elif children_of(one) is None:
            assert one is other


# -- containers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        {"w": B},
        [B],
        (B, 1),
        OrderedDict(b=B, a=W),
        defaultdict(list, w=B),
        Params(w=B),
        Layers([B]),
        Affine(W, B),
        BatchNorm(B, origin=W),
        Frozen(B),
        Slotted(B, [W]),
        Inherited(B, W, {"b": B}),
        Dense(W, B),
        DenseChild(W, B),
        Pair(W, B),
    ],
    ids=lambda model: type(model).__name__,
)
def test_each_kind_of_container_comes_back_without_its_code(model):
    """As the whole model, and nested in others."""
    for whole in (model, {"x": [model, 1]}):
        vector, restructure = cv.destructure(whole)
        with no_initialisers():
            back = restructure(vector)
        require_same(whole, back)


def test_static_parts_and_default_factories_are_the_same_objects():
    """Also those that would compare equal."""
    marker, factory = Unregistered(n=1), lambda: [0.0]
    model = defaultdict(factory, w=B, static=marker, name="x" * 50, big=10**30)
    _, back = both(model)
    assert back.default_factory is factory
    assert all(back[key] is model[key] for key in ("static", "name", "big"))
    assert back["w"] is not model["w"]


def test_shared_modules_become_one_object_again():
    """At whatever depth its places are."""
    layer = Dense(W, B)
    model = {"decoder": [[layer]], "encoder": layer, "all": (layer, Pair(layer, [layer]))}
    vector, back = both(model)
    assert len(vector) == 6
    one = back["encoder"]
    assert one is not layer
    assert one is back["decoder"][0][0] is back["all"][0] is back["all"][1].first
    assert one is back["all"][1].second[0]


def test_containers_are_new_objects_even_without_parameters():
    """The structure is that of the moment, also of what is carried along."""
    model = {"w": B, "config": {"rate": 0.1, "sizes": [3, 4]}}
    vector, restructure = cv.destructure(model)
    model["config"]["rate"] = 0.2
    model["config"]["sizes"].append(5)
    assert restructure(vector)["config"] == {"rate": 0.1, "sizes": [3, 4]}


def test_later_changes_of_the_model_do_not_matter():
    """Keys added, items removed, parameters written to."""
    model = {"a": B.copy(), "layers": [{"w": W.copy()}, np.tanh], "dense": Dense(W + 1, B)}
    vector, restructure = cv.destructure(model)
    model["a"][:] = 100.0
    model["new"] = W
    model["layers"].append({"w": W})
    model["layers"][0]["b"] = B
    model["dense"].extra = W
    del model["dense"].name, model["a"]
    assert vector.a.tolist() == [1.0, 2.0]
    back = restructure(vector)
    assert list(back) == ["a", "layers", "dense"]
    assert len(back["layers"]) == 2 and list(back["layers"][0]) == ["w"]
    assert back["dense"].name == "dense" and not hasattr(back["dense"], "extra")


def test_two_models_of_one_vector_have_containers_of_their_own():
    """And the same parameters."""
    vector, restructure = cv.destructure({"layers": [{"w": W}]})
    one, other = restructure(vector), restructure(vector)
    one["layers"].append(3)
    assert len(other["layers"]) == 1
    assert np.shares_memory(one["layers"][0]["w"], other["layers"][0]["w"])


def test_positions_of_a_sequence_with_static_parts_stay():
    """`layers[1].w` though `layers[0]` is a function."""
    vector, restructure = cv.destructure({"layers": [np.tanh, {"w": W}, len, [B]]})
    assert vector.layout.paths() == ("layers[1].w", "layers[3][0]")
    assert vector["layers[1].w"].tolist() == W.tolist()
    back = restructure(vector)
    assert back["layers"][0] is np.tanh and back["layers"][3][0].tolist() == [1.0, 2.0]
    tree = {"layers": [None, {"w": W + 1}, None, [B]]}
    assert restructure(tree)["layers"][1]["w"].tolist() == (W + 1).tolist()


def test_hostile_names_come_back():
    """Names of attributes, of dunder methods, and names that are no identifiers."""
    names = ["", "T", "shape", "layout", "__class__", "a b", "\n", "é", "0", "*", "**", "'", '"']
    names += ["class", "_private", "\\", 3, -1, 2**70, "\ud800", "[", "a]"]
    model = {name: np.full(2, float(n)) for n, name in enumerate(names)}
    vector, restructure = cv.destructure(model)
    back = restructure(vector)
    assert list(back) == names
    for name, x in model.items():
        assert back[name].tolist() == x.tolist()
        if name not in ("*", "**"):  # as patterns they are wildcards
            assert len(cv.destructure(model, select=[(name,)])[0]) == 2
    assert restructure.pack(model) == pytest.approx(vector)


def test_deep_nests_need_no_recursion():
    """Five hundred levels, and more than Python could recurse."""
    for depth in (500, sys.getrecursionlimit() + 100):
        model = {"w": B}
        for level in range(depth):
            model = {"x": model, "w": np.ones(1)} if level % 2 else [model, np.ones(1)]
        vector, restructure = cv.destructure(model)
        assert len(vector) == depth + 2
        assert restructure.pack(restructure(vector)).tolist() == vector.tolist()
        gradient = cv.grad(lambda m: anp.sum(cv.destructure(m)[0] ** 2))(model)
        assert cv.trainables(gradient)[-1].tolist() == [2.0]
        pickle.loads(pickle.dumps(restructure))(vector)


def test_a_hundred_thousand_leaves_are_a_matter_of_seconds():
    """And come back in their order."""
    model = {"layers": [{"w": np.full(1, float(i))} for i in range(100_000)]}
    vector, restructure = cv.destructure(model)
    assert np.array_equal(vector, np.arange(100_000.0))
    assert restructure(vector)["layers"][-1]["w"].tolist() == [99_999.0]


# -- the vector --------------------------------------------------------------------------------


def test_the_vector_is_a_copy():
    """Neither sees what is written to the other."""
    w = B.copy()
    vector, _ = cv.destructure({"w": w})
    vector.w = 7.0
    assert w.tolist() == [1.0, 2.0]
    assert cv.data(vector).flags.owndata and cv.data(vector).flags.writeable


def test_a_model_without_parameters_is_an_error_that_says_what_would_do():
    """scalars=True, or allow_empty=True."""
    model = {"rate": 0.5, "sizes": [3, 4], "key": np.arange(3)}
    with pytest.raises(
        ValueError, match=r"'rate' is a Python float: .*, or pass scalars=True to destructure"
    ):
        cv.destructure(model)
    vector, restructure = cv.destructure(model, allow_empty=True)
    assert len(vector) == 0 and restructure.size == 0
    assert restructure(np.zeros(0))["key"] is model["key"]
    assert restructure({}) == restructure(vector) == restructure(cv.ComponentVector())
    vector, _ = cv.destructure(model, scalars=True)
    assert vector.tolist() == [0.5]


@pytest.mark.parametrize(
    "model, why",
    [
        ({}, "it holds no arrays of floating or complex dtype"),
        ({"n": 3}, r"'n' is a Python int: make it np.array\(3.0\)"),
        ({"x": np.float64(2.0)}, r"'x' is a scalar, float64: make it np.array\(2.0\)"),
        ({"k": np.arange(3)}, "'k' is int64: make it float"),
        ({"a": 1.5}, r"'a' is a Python float: make it np.array\(1.5\)"),
        ([1.0, 2.0], "the model' is a list of Python numbers"),
        (BatchNorm(None, mean=B), "'mean' is float64, but not selected"),
    ],
    ids=range(7),
)
def test_the_error_about_no_parameters_mentions_scalars(model, why):
    """Whatever the model holds instead."""
    with pytest.raises(ValueError, match=f"^without scalars=True, the model has no .*: .*{why}"):
        cv.destructure(model)


def test_the_error_about_no_parameters_asks_for_no_scalars_that_were_asked_for():
    """Integers are none with them either."""
    with pytest.raises(ValueError, match=r"^the model has no parameters: 'n' is a Python int"):
        cv.destructure({"n": 3}, scalars=True)


@pytest.mark.parametrize("value", [W, np.float64(1.0), 1.5, None, "w", np.tanh, {1.5}])
def test_a_bare_value_is_no_model(value):
    """It is said to wrap it in a dict."""
    with pytest.raises(TypeError, match="wrap it in a dict"):
        cv.destructure(value, scalars=True)


def test_an_unregistered_model_is_refused_by_name():
    """As a whole, and within."""
    with pytest.raises(
        TypeError, match="the model is an Unregistered, which is not registered and"
    ):
        cv.destructure(Unregistered(w=W))
    with pytest.raises(TypeError, match=r"'layers\[1\]' is an Unregistered.* holds arrays in w"):
        cv.destructure({"layers": [W, Unregistered(w=W, n=3)]})


def test_a_cycle_is_an_error():
    """It has no parameters in any order."""
    model = {"w": W, "list": []}
    model["list"].append(model)
    with pytest.raises(ValueError, match=r"the model contains itself at 'list\[0\]'"):
        cv.destructure(model)


# -- what restructure takes --------------------------------------------------------------------

MODEL = {"enc": W, "dec": W.T, "b": B, "norm": BatchNorm(B + 2, mean=B), "act": np.tanh}
VECTOR, RESTRUCTURE = cv.destructure(MODEL)
TREE = {"enc": W + 1, "b": [5, 6], "norm": {"gamma": B}}


def test_an_array_a_vector_a_tree_and_a_model_will_do():
    """All give the same model."""
    p = np.arange(10.0)
    expected = RESTRUCTURE(p)
    for given_p in (VECTOR.layout.wrap(p), cv.asdict(VECTOR.layout.wrap(p)), expected):
        require_same(expected, RESTRUCTURE(given_p))
    assert RESTRUCTURE(TREE)["dec"].tolist() == (W + 1).T.tolist()
    assert RESTRUCTURE(TREE)["norm"].mean is B
    assert RESTRUCTURE(MODEL)["b"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["i8", "u1", "?", "i2"])
def test_integers_are_taken_as_float(dtype):
    """From arrays and from vectors; a model never computes with integers."""
    p = np.ones(10, dtype)
    for given_p in (p, VECTOR.layout.wrap(p)):
        assert RESTRUCTURE(given_p)["enc"].dtype == float


def test_real_data_for_complex_parameters_is_taken_as_complex():
    """In the precision that it has."""
    _, restructure = cv.destructure({"z": np.array([1j, 2.0])})
    for dtype, expected in (("f8", "c16"), ("f4", "c8"), ("i8", "c16"), ("c8", "c8")):
        p = np.ones(2, dtype)
        assert restructure(p)["z"].dtype == expected
        assert restructure(restructure.layout.wrap(p))["z"].dtype == expected
    f = lambda p: anp.real(anp.sum(restructure(p)["z"] ** 2))
    assert grad(f)(np.array([3.0, 4.0])).tolist() == [6.0, 8.0]
    check_grads(f, modes=["rev", "fwd"], order=2)(np.array([3.0, 4.0]))


def test_strided_memory_is_copied_once():
    """The parameters are views of the one copy."""
    p = np.arange(20.0)
    for strided in (p[::2], p[::-1][:10]):
        back = RESTRUCTURE(strided)
        assert back["enc"].ravel().tolist() == strided[:6].tolist()
        assert not np.shares_memory(back["enc"], p)
        assert np.shares_memory(back["enc"], back["dec"])


def test_aliases_may_be_left_out_and_must_agree():
    """A tree is a set of values by name."""
    assert RESTRUCTURE(TREE | {"dec": (W + 1).T})["enc"].tolist() == (W + 1).tolist()
    expected = "'dec' and 'enc' are tied, and were given unequal values; give one of them"
    with pytest.raises(ValueError, match=expected):
        RESTRUCTURE(TREE | {"dec": W.T})


@pytest.mark.parametrize(
    "p, error, text",
    [
        (np.zeros(9), ValueError, "restructure expected 10 entries, got 9"),
        (np.zeros(0), ValueError, "restructure expected 10 entries, got 0"),
        (np.zeros((10, 1)), ValueError, r"expected 10 entries, got an array of shape \(10, 1\)"),
        (np.array(1.0), ValueError, r"expected 10 entries, got an array of shape \(\)"),
        (np.zeros(10, complex), TypeError, r"expected real entries \(float64\), got complex128"),
        (VECTOR.astype(complex), TypeError, r"expected real entries \(float64\), got complex128"),
        (np.zeros(10, object), TypeError, "a vector holds numbers, got a buffer of object"),
        (np.ma.zeros(10), TypeError, r"expected an array, got one with a mask, .*p\.filled"),
        (
            cv.ComponentVector(enc=np.zeros(10)),
            ValueError,
            r"a vector of its own layout, got one with another: 'enc' has shape \(2, 3\) here, .*; "
            "to go by position alone, give a plain array",
        ),
        (None, TypeError, "a vector, a 1-D array or a tree of parameters, got NoneType"),
        (3.0, TypeError, "a vector, a 1-D array or a tree of parameters, got float"),
        ("text", TypeError, "a vector, a 1-D array or a tree of parameters, got str"),
        ([0.0] * 10, KeyError, r"no component '\[0\]': expected a mapping with enc, dec, b, norm"),
        ((0.0,) * 10, KeyError, r"no component '\[0\]'"),
        ({"enc": W}, KeyError, "no value for component 'b'; expected: enc, dec, b, norm"),
        (TREE | {"wec": W}, KeyError, "no component 'wec'; did you mean 'enc'"),
        (TREE | {"enc": W.T}, ValueError, r"'enc' has shape \(2, 3\), got shape \(3, 2\)"),
        (TREE | {"enc": W + 1j}, TypeError, "'enc' is real, got complex values"),
        (TREE | {"b": None}, TypeError, "'b': expected numbers"),
        (TREE | {"norm": B}, TypeError, "norm: expected a mapping of .*gamma, got ndarray"),
    ],
    ids=range(20),
)
def test_what_does_not_fit_is_refused(p, error, text):
    """Expected and given are said."""
    with pytest.raises(error, match=text):
        RESTRUCTURE(p)


@pytest.mark.parametrize(
    "p, error, text",
    [
        (np.zeros(9), ValueError, "restructure expected 10 entries, got 9"),
        (np.zeros((10, 1)), ValueError, r"got an array of shape \(10, 1\)"),
        (np.zeros(10, complex), TypeError, r"expected real entries \(float64\), got complex128"),
        (np.array(1.0), ValueError, r"got an array of shape \(\)"),
        (1.0, ValueError, r"got an array of shape \(\)"),
        (cv.ComponentVector(a=np.zeros(10)), ValueError, "got one with another"),
        (VECTOR.astype(complex), TypeError, r"expected real entries \(float64\), got complex128"),
        ({"enc": W}, KeyError, "no value for component 'b'"),
    ],
    ids=range(8),
)
def test_what_is_traced_is_checked_alike(p, error, text):
    """The same errors within a gradient."""
    with pytest.raises(error, match=text):
        grad(lambda p: anp.real(anp.sum(RESTRUCTURE(p)["enc"])))(p)


def test_lists_are_trees_for_a_model_that_is_a_list():
    """Item by item, never entry by entry."""
    _, restructure = cv.destructure([np.array(1.0), B])
    assert restructure([5, [6, 7]])[1].tolist() == [6.0, 7.0]
    assert restructure((5, B))[0] == 5.0
    with pytest.raises(KeyError, match=r"no value for component '\[1\]'"):
        restructure([5])
    with pytest.raises(KeyError, match=r"no component '\[2\]'"):
        restructure([5, 6, 7])


def test_a_tree_is_packed_in_the_dtype_of_the_layout():
    """Python numbers and float64 arrays for a float32 model."""
    _, restructure = cv.destructure({"w": np.ones(2, np.float32)})
    assert restructure({"w": [1, 2.5]})["w"].dtype == np.float32
    assert restructure.pack({"w": np.ones(2)}).dtype == np.float32


# -- pack --------------------------------------------------------------------------------------


def test_pack_takes_another_model_of_the_same_structure():
    """Static parts and buffers may differ: they are passed over."""
    other = {
        "enc": W * 2, "dec": W.T * 2, "b": B, "norm": BatchNorm(B, mean=W), "act": None,
    }  # fmt: skip
    packed = RESTRUCTURE.pack(other)
    assert packed.layout == VECTOR.layout
    assert packed.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 1.0, 2.0, 1.0, 2.0]


def test_pack_refuses_tied_places_that_disagree():
    """One of two values would be lost."""
    with pytest.raises(ValueError, match="'dec' and 'enc' are tied, and were given unequal values"):
        RESTRUCTURE.pack(MODEL | {"dec": W.T + 1})
    with pytest.raises(ValueError, match="'dec' and 'enc' are tied"):
        grad(lambda w: anp.sum(RESTRUCTURE.pack(MODEL | {"enc": w, "dec": 2 * w.T})))(W)


@pytest.mark.parametrize(
    "tree, error, text",
    [
        ({"enc": W}, KeyError, "no value for component 'b'"),
        (MODEL | {"more": B}, KeyError, "no component 'more'"),
        (MODEL | {"b": W}, ValueError, r"'b' has shape \(2,\), got shape \(2, 3\)"),
        (MODEL | {"b": B * 1j}, TypeError, "'b' is real, got complex values"),
        (B, TypeError, "expected a mapping of enc, dec, b, norm, got ndarray"),
    ],
    ids=range(5),
)
def test_pack_refuses_what_does_not_fit(tree, error, text):
    """Names, shapes and kinds."""
    with pytest.raises(error, match=text):
        RESTRUCTURE.pack(tree)


def test_a_complex_vector_of_a_real_model_goes_there_and_back_by_name():
    """Its components are complex, and the parameters see the real parts."""
    vector, restructure = cv.destructure({"w": B, "z": B * 1j}, dtype=complex)
    back = restructure(cv.asdict(vector))
    assert back["w"].dtype == float and back["w"].tolist() == [1.0, 2.0]


def test_pack_is_differentiable_twice():
    """Through the owner, whether or not the alias is given."""
    for tree in (lambda w: TREE | {"enc": w}, lambda w: TREE | {"enc": w, "dec": w.T}):
        f = lambda w, tree=tree: anp.sum(RESTRUCTURE.pack(tree(w)) ** 3)
        check_grads(f, modes=["rev", "fwd"], order=2)(W)
        np.testing.assert_allclose(grad(f)(W), 3 * W**2)


# -- inside traced functions -------------------------------------------------------------------


def test_destructure_and_restructure_work_inside_traced_functions():
    """A model built of traced arrays, taken apart, changed, put together, taken apart again."""

    def f(x):
        vector, restructure = cv.destructure({"a": x, "t": x.T, "layers": [np.tanh, (x**2,)]})
        assert vector.layout.ties == (("a", "t"),) and len(vector) == 8
        back = restructure(vector * vector)
        assert back["layers"][0] is np.tanh
        return (
            anp.sum(back["t"] ** 2) + anp.sum(back["layers"][1][0]) + cv.trainables(back)[0][0, 1]
        )

    x = np.array([[0.5, 1.0], [-1.5, 2.0]])
    check_grads(f, modes=["rev", "fwd"], order=2)(x)
    # By hand: x**4 + x**4 + x[0, 1]**2.
    np.testing.assert_allclose(grad(f)(x), 8 * x**3 + [[0, 2 * x[0, 1]], [0, 0]])


def test_a_traced_vector_is_restructured_with_its_layout():
    """The gradient has the layout, whatever is read."""
    gradient = grad(lambda v: anp.sum(RESTRUCTURE(v)["b"] ** 2))(VECTOR)
    assert gradient.layout == VECTOR.layout
    assert gradient.tolist() == [0.0] * 6 + [2.0, 4.0, 0.0, 0.0]


# -- gradients of models -----------------------------------------------------------------------


def loss(m):
    """A function of all parameters of the model below."""
    return (
        anp.sum(m["enc"] ** 2) + anp.sum(m["dec"] * np.arange(6.0).reshape(3, 2))
        + anp.sum(m["dense"].w) * 2 + anp.sum(m["norm"].gamma * m["named"].w)
        + anp.real(anp.sum(m["z"] ** 2)) + anp.sum(m["single"]) + anp.sum(m["params"]["w"])
    )  # fmt: skip


def new_model():
    """One of everything that a gradient must treat in its own way."""
    w, params = W.copy(), Params(w=B)
    params.note = "carried over"
    return {
        "enc": w, "again": w, "dec": w.T, "dense": Dense(w, B, name="x"),
        "norm": BatchNorm(B, mean=B, origin=W), "named": Affine(B, "static"),
        "z": np.array([1 + 2j]), "single": np.ones(2, np.float32), "params": params,
        "act": np.tanh, "default": defaultdict(list, w=np.ones(1)), "n": [3, None],
    }  # fmt: skip


def test_the_gradient_of_a_model_is_a_model_of_the_same_classes():
    """The total at all tied places, None at buffers and at all that is static."""
    model = new_model()
    with no_initialisers():
        gradient = cv.grad(loss)(model)
    total = 2 * W + np.arange(6.0).reshape(3, 2).T + 2
    np.testing.assert_allclose(gradient["enc"], total)
    np.testing.assert_allclose(gradient["dec"], total.T)
    assert gradient["again"] is gradient["enc"] is gradient["dense"].w
    assert np.shares_memory(gradient["dec"], gradient["enc"])
    assert type(gradient["dense"]) is Dense
    assert gradient["dense"].b is None and gradient["dense"].name is None
    norm = gradient["norm"]
    assert type(norm) is BatchNorm
    assert (norm.mean, norm.beta, norm.var, norm.origin, norm.eps) == (None,) * 5
    assert norm.gamma is gradient["named"].w is gradient["params"]["w"]
    assert norm.gamma.tolist() == [3.0, 5.0]  # gamma and w are one: b**2, and 1 from params
    assert gradient["named"].b is None
    assert type(gradient["params"]) is Params and gradient["params"].note is None
    assert gradient["default"].default_factory is list
    assert gradient["default"]["w"].tolist() == [0.0]
    assert gradient["act"] is None and gradient["n"] == [None, None]


def test_leaves_of_a_gradient_have_their_own_dtypes_and_conventions():
    """Each is what autograd gives for that array alone."""
    gradient = cv.grad(loss)(new_model())
    assert gradient["single"].dtype == np.float32
    alone = grad(lambda z: anp.real(anp.sum(z**2)))(np.array([1 + 2j]))
    assert gradient["z"].tolist() == alone.tolist() == [2 + 4j]


def test_a_registered_tuple_has_none_at_what_is_no_field():
    """Its other items are static."""
    from typing import Any, NamedTuple

    @cv.register(fields=("w",))
    class Partly(NamedTuple):
        name: str
        w: Any

    gradient = cv.grad(lambda m: anp.sum(m.w**2))(Partly("static", B))
    assert gradient.name is None and gradient.w.tolist() == [2.0, 4.0]


def test_a_gradient_is_new_memory():
    """Written to, it changes neither the model nor the next gradient."""
    model = {"w": B.copy()}
    gradient = cv.grad(lambda m: anp.sum(m["w"]))
    first = gradient(model)
    first["w"][:] = 100.0
    assert gradient(model)["w"].tolist() == [1.0, 1.0] and model["w"].tolist() == [1.0, 2.0]


@given(models(ALL, buffers=True))
def test_gradients_of_any_model_have_its_structure(model):
    """Arrays of the same dtype and shape at parameters, None elsewhere."""
    if not parameters_of(model):
        return

    def total(m):
        return sum(anp.real(anp.sum(x)) for _, x in parameters_of_traced(m)) + 0.0

    gradient = cv.grad(total)(model)
    ours, theirs = places_of(model), places_of(gradient)
    assert [path for path, _, _ in ours] == [path for path, _, _ in theirs]
    for (_, one, role), (_, other, _) in zip(ours, theirs, strict=True):
        if children_of(one) is not None:
            assert type(one) is type(other)
        elif is_parameter(one) and role == "trainable":
            assert other.dtype == one.dtype and other.shape == one.shape
        else:
            assert other is None


# -- the object itself -------------------------------------------------------------------------


def test_it_tells_its_layout_and_size():
    """Those of the vector."""
    assert RESTRUCTURE.layout == VECTOR.layout
    assert RESTRUCTURE.size == len(VECTOR) == 10


def test_its_repr_is_one_short_line():
    """Names of the components, a few of them."""
    assert repr(RESTRUCTURE) == "Restructure(10 entries: enc, dec, b, norm)"
    _, many = cv.destructure({f"w{i}": np.zeros(1) for i in range(100)})
    assert repr(many) == "Restructure(100 entries: w0, w1, w2, w3, w4, w5, ...)"
    _, none = cv.destructure({}, allow_empty=True)
    assert repr(none) == "Restructure(0 entries: none)"


def copies(restructure):
    """A pickle and a deep copy."""
    return [pickle.loads(pickle.dumps(restructure)), copy.deepcopy(restructure)]


@pytest.mark.parametrize(
    "model",
    [
        MODEL,
        {"layers": [Dense(W, B), Pair(W, {"w": B}), Frozen(B), Slotted(W, 3), Inherited(B)]},
        [Affine(W, B), OrderedDict(a=B), defaultdict(list, w=W), Params(w=B), Layers([B])],
        {"v": cv.ComponentVector(a=1.0, z=[1j]), "w": B, "f": np.ones(2, np.float32), "s": 1.5},
    ],
    ids=range(4),
)
def test_it_is_pickled_and_copied_with_the_model(model):
    """Ties, containers, dtypes: all of it."""
    vector, restructure = cv.destructure(model, scalars=True)
    shared = [model, model]
    _, twice = cv.destructure(shared, scalars=True)
    for again in copies(restructure):
        assert again.layout == restructure.layout
        require_same_values(again(vector), restructure(vector))
        assert again.pack(model).tolist() == vector.tolist()
    for again in copies(twice):
        back = again(np.zeros(again.size))
        assert back[0] is back[1]


def require_same_values(one, other):
    """Two models of equal parts: what was pickled is not the same object."""
    pairs = zip(places_of(one), places_of(other), strict=True)
    for (path, x, _), (own_path, y, _) in pairs:
        assert path == own_path and type(x) is type(y)
        if children_of(x) is None:
            assert np.array_equal(x, y) if isinstance(x, np.ndarray) else repr(x) == repr(y)


def test_it_does_not_keep_the_parameters_of_the_model():
    """Only what is carried over: a pickle is small, however large the arrays."""
    _, restructure = cv.destructure({"w": np.zeros(10**6), "n": 3})
    assert len(pickle.dumps(restructure)) < 2000


def test_it_may_be_used_by_many_threads_at_once():
    """Untraced: nothing in it changes."""
    start = threading.Barrier(8)

    def work(seed):
        start.wait()
        for _ in range(100):
            p = np.full(10, float(seed))
            back = RESTRUCTURE(p)
            assert back["dec"].sum() == 6.0 * seed and back["norm"].gamma[0] == seed
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_double_precision_can_be_asked_for():
    """What solvers use: every parameter follows the vector, whatever its own dtype."""
    v = cv.ComponentVector(a=1.0, b=[2.0])
    model = {"f": np.ones(2, np.float32), "v": v.astype(np.float32), "d": B, "w": {"x": v.b}}
    vector, restructure = cv.destructure(model)
    back = restructure._following(vector.layout)(vector)
    assert back["f"].dtype == back["v"].dtype == float
    assert np.shares_memory(back["f"], cv.data(vector))
    assert restructure(vector)["f"].dtype == np.float32


@given(trees(st.just(1.5) | st.just(np.float32(2)) | st.just(2j)))
def test_numbers_come_back_as_numpy_scalars(model):
    """With scalars=True, at every place, except in buffers."""
    if not isinstance(children_of(model), list):
        return
    vector, restructure = cv.destructure(model, scalars=True, allow_empty=True)
    for (_, one, role), (_, other, _) in zip(
        places_of(model), places_of(restructure(vector)), strict=True
    ):
        if role == "trainable" and isinstance(one, float | complex | np.inexact):
            assert isinstance(other, np.inexact) and other == one
