"""Derivatives by name: `grad`, `value_and_grad`, `jacobian`, `hessian` and `hvp`."""

# ruff: noqa: RUF009 - a field is made by a call

import warnings
from dataclasses import dataclass
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import componentvec as cv
from componentvec.hubs import Hub
from differences import gradient, jacobian, on_vectors
from samples import SIZE, all_complex, ordinary, paired


def energy(v, scale=1.0):
    """One number of a small vector."""
    return scale * (anp.sum(v.b**3) * v.a + anp.sum(v.c**2))


def small():
    """The vector of the worked example."""
    return cv.ComponentVector(a=2.0, b=[3.0, 4.0, 5.0], c=[[1.0, 2.0], [3.0, 4.0]])


DERIVATIVES = {
    "grad": cv.grad,
    "value_and_grad": cv.value_and_grad,
    "jacobian": cv.jacobian,
    "hessian": cv.hessian,
    "hvp": lambda f: lambda v: cv.hvp(f)(v, np.ones(v.size)),
}
SCALAR = ("grad", "value_and_grad", "hessian", "hvp")


# -- vectors ---------------------------------------------------------------------------------------


def test_the_jacobian_worked_by_hand():
    """d = a c + b[0], at a = 2, b = (3, 4, 5), c = ((1, 2), (3, 4))."""
    v = small()
    as_dict = lambda v: {"d": v.a * v.c + v.b[0]}
    for f in (as_dict, lambda v: cv.ComponentVector(as_dict(v))):
        J = cv.jacobian(f)(v)
        assert type(J) is cv.ComponentMatrix and J.cols == v.layout and J.rows.paths() == ("d",)
        assert J["d", "a"].tolist() == v.c.tolist()
        assert J["d", "b"].shape == (2, 2, 3)
        assert np.all(J["d", "b"][..., 0] == 1) and not J["d", "b"][..., 1:].any()
        assert J["d", "c"].shape == (2, 2, 2, 2)
        assert np.array_equal(J["d", "c"].reshape(4, 4), 2 * np.eye(4))
        assert J.T["b", "d"].shape == (3, 2, 2)


def test_the_hessian_worked_by_hand():
    """Of sum(a^3) + a[0] b[0], at a = (1, 2), b = (4, 7)."""
    v = cv.ComponentVector(a=[1.0, 2.0], b=[4.0, 7.0])
    H = cv.hessian(lambda v: anp.sum(v.a**3) + v.a[0] * v.b[0])(v)
    assert type(H) is cv.ComponentMatrix and H.rows == H.cols == v.layout
    assert H["a", "a"].tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert H["a", "b"].tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert H["b", "a"].tolist() == [[1.0, 0.0], [0.0, 0.0]] and not H["b", "b"].any()


def test_gradient_and_value():
    """Both at once, with further arguments by position and by name."""
    v = small()
    expected = gradient(on_vectors(energy, v.layout), cv.data(v).copy())
    g = cv.grad(energy)(v)
    assert type(g) is cv.ComponentVector and g.layout == v.layout
    assert_allclose(cv.data(g), expected, rtol=1e-6)
    value, g = cv.value_and_grad(energy)(v, 2.0)
    assert value == energy(v, 2.0) and type(g) is cv.ComponentVector
    assert_allclose(cv.data(g), 2 * expected, rtol=1e-6)
    assert_allclose(cv.data(cv.grad(energy)(v, scale=3.0)), 3 * expected, rtol=1e-6)
    J = cv.jacobian(lambda v, s, k=1.0: s * k * v.b)(v, 2.0, k=3.0)
    assert J[:, "b"].tolist() == (6 * np.eye(3)).tolist()
    assert_allclose(cv.hessian(energy)(v, scale=2.0), 2 * np.asarray(cv.hessian(energy)(v)))
    assert_allclose(
        cv.data(cv.hvp(energy)(v, np.ones(8), scale=2.0)),
        2 * cv.data(cv.hvp(energy)(v, np.ones(8))),
    )


def test_a_gradient_is_memory_of_its_own():
    """As SciPy wants it of a callback."""
    v = small()
    one, two = cv.grad(energy)(v), cv.grad(energy)(v)
    assert not np.shares_memory(cv.data(one), cv.data(two))
    assert not np.shares_memory(cv.data(one), cv.data(v)) and cv.data(one).flags.writeable
    u = np.ones(3)
    product = cv.hvp(lambda x: 0.5 * anp.sum(x * x))(np.ones(3), u)
    assert product.tolist() == [1.0, 1.0, 1.0] and not np.shares_memory(product, u)


@pytest.mark.parametrize("name", SCALAR)
def test_float32_stays_float32(name):
    """In all results, whatever the constants are."""
    v = small().astype(np.float32)
    found = DERIVATIVES[name](lambda v: energy(v) * np.float64(0.5))(v)
    for result in found[1:] if isinstance(found, tuple) else (found,):
        assert result.dtype == np.float32


@pytest.mark.parametrize("make", [ordinary, paired])
def test_second_derivatives_agree_with_differences(make):
    """Of a vector with groups, and one with complex components stored as pairs."""
    v = make()
    f = lambda v: anp.real(sum(anp.sum(v[p] ** 3) for p in v.layout.paths()) * anp.sum(v))
    x = cv.data(v).copy()
    expected = jacobian(on_vectors(cv.grad(f), v.layout), x)
    H = cv.hessian(f)(v)
    assert H.rows == H.cols == v.layout
    assert_allclose(H, expected, rtol=1e-5, atol=1e-5)
    u = np.cos(np.arange(v.size))
    assert_allclose(cv.data(cv.hvp(f)(v, u)), expected @ u, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "direction",
    [
        np.arange(8.0),
        np.arange(8),
        np.arange(8.0, dtype=np.float32),
        list(range(8)),
        tuple(range(8)),
        small().layout.wrap(np.arange(8.0)),
        {"a": 0, "b": [1, 2, 3], "c": [[4, 5], [6, 7]]},
        cv.asdict(small().layout.wrap(np.arange(8.0))),
    ],
)
def test_directions_of_all_kinds(direction):
    """A vector, an array, a list of numbers, a tree with the names."""
    v = small()
    product = cv.hvp(energy)(v, direction)
    assert type(product) is cv.ComponentVector and product.layout == v.layout
    assert_allclose(cv.data(product), np.asarray(cv.hessian(energy)(v)) @ np.arange(8.0))


def test_directions_of_a_vector_from_a_list():
    """A list of numbers is an array, any other list a tree."""
    v = cv.ComponentVector([[1.0, 2.0], 3.0])
    cube = lambda v: anp.sum(v**3)
    assert cv.hvp(cube)(v, [1.0, 2.0, 3.0]).tolist() == [6.0, 24.0, 54.0]
    assert cv.hvp(cube)(v, [[1.0, 2.0], 3.0]).tolist() == [6.0, 24.0, 54.0]


@pytest.mark.parametrize(
    ("direction", "error", "match"),
    [
        (cv.ComponentVector(z=np.ones(8)), ValueError, "layouts differ: 'a' here"),
        ([1.0, 2.0], ValueError, r"shape \(8,\) .* got shape \(2,\)"),
        (np.ones((8, 1)), ValueError, r"got shape \(8, 1\)"),
        (1.0, ValueError, r"got shape \(\)"),
        (1j * np.ones(8), TypeError, "expected real numbers"),
        ("abc", TypeError, "expected an array of numbers"),
        (None, TypeError, "expected an array of numbers"),
        ({"a": 1.0, "b": [1.0, 1.0, 1.0]}, KeyError, "no value for component 'c'"),
        ({"a": 1.0, "b": [1.0], "c": np.ones((2, 2))}, ValueError, "'b' has shape"),
    ],
)
def test_directions_that_do_not_fit(direction, error, match):
    """Errors say expected and given."""
    with pytest.raises(error, match=match):
        cv.hvp(energy)(small(), direction)


# -- Jacobians -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "rows"),
    [
        (lambda v: v.b * v.a, None),
        (lambda v: v.c, None),
        (lambda v: v.a, None),
        (lambda v: 2 * v, ("a", "b", "c")),
        (lambda v: v[["c", "a"]], ("c", "a")),
        (lambda v: {"y": v.b, "g": {"x": v.a}}, ("y", "g.x")),
        (lambda v: [v.a, v.b], ("[0]", "[1]")),
        (lambda v: (v.a, {"q": v.c}), ("[0]", "[1].q")),
        (lambda v: {"y": v.b, "constant": 1.0}, ("y", "constant")),
    ],
)
def test_rows_have_the_names_of_the_result(f, rows):
    """Vectors, dicts and other trees label them; an array does not."""
    v = small()
    J = cv.jacobian(f)(v)
    assert J.cols == v.layout and (J.rows.paths() if J.rows else None) == rows
    flat = lambda v: f(v) if rows is None else cv.ComponentVector(f(v))
    assert_allclose(J, jacobian(on_vectors(flat, v.layout), cv.data(v).copy()), atol=1e-8)


def test_a_jacobian_of_pairs():
    """Complex numbers take two rows and two columns where the vectors are real."""
    v = cv.ComponentVector(a=0.5, z=[1 + 2j])
    J = cv.jacobian(lambda v: {"y": v.z * v.a, "r": v.a})(v)
    assert J.rows.labels() == ["y[0].re", "y[0].im", "r"]
    assert J["y", "a"].tolist() == [[1.0, 2.0]]
    assert np.array_equal(J["y", "z"].reshape(2, 2), 0.5 * np.eye(2))


def modes(f, v):
    """In which modes a Jacobian was built, and the Jacobian."""
    seen = []

    def watched(v):
        seen.append("reverse" if isinstance(v._reader, Hub) else "forward")
        return f(v)

    return seen, cv.jacobian(watched)(v)


def test_the_mode_goes_by_shape():
    """One trace in reverse for few rows; a pass forward for each of few columns."""
    v = small()
    seen, _ = modes(lambda v: v.b, v)
    assert seen == ["reverse"]
    seen, J = modes(lambda v: anp.concatenate([cv.data(v) ** 2, cv.data(v)]), v)
    assert seen == ["reverse"] + ["forward"] * 8
    assert_allclose(J, np.vstack([np.diag(2 * cv.data(v)), np.eye(8)]))


def test_where_a_forward_rule_is_missing_reverse_mode_does_it():
    """Autograd has none for hypot, and a broken one for the variance along several axes."""
    v = small()
    x = cv.data(v).copy()
    for f in (
        lambda v: anp.concatenate([anp.hypot(cv.data(v), 1.0), cv.data(v)]),
        lambda v: anp.var(anp.outer(v, v), axis=(0, 1)) * np.ones(9),
    ):
        expected = jacobian(on_vectors(f, v.layout), x)
        assert_allclose(cv.jacobian(f)(v), expected, rtol=1e-5, atol=1e-5)


def test_an_arithmetic_error_in_forward_mode_comes_through():
    """Only a missing rule is a reason to go on."""

    @autograd.extend.primitive
    def twice(x):
        return np.concatenate([x, x])

    def failing(g, ans, x):
        raise FloatingPointError("overflow")

    autograd.extend.defvjp(twice, lambda ans, x: lambda g: g[: x.size] + g[x.size :])
    autograd.extend.defjvp(twice, failing)
    with pytest.raises(FloatingPointError, match="overflow"):
        cv.jacobian(lambda v: twice(cv.data(v)))(small())


def test_empty_sides():
    """No rows, no columns."""
    assert cv.jacobian(lambda v: {"none": v.b[:0]})(small()).shape == (0, 8)
    empty = cv.ComponentVector(a=[])
    assert cv.jacobian(lambda v: v.a)(empty).shape == (0, 0)
    assert cv.jacobian(lambda v: anp.sum(v) * np.ones(3))(empty).shape == (3, 0)
    assert cv.hessian(lambda v: anp.sum(v.a))(empty).shape == (0, 0)


# -- models ----------------------------------------------------------------------------------------


@dataclass
class Layer:
    """A model whose initialiser must not run again."""

    w: Any
    b: Any
    tied: Any = None
    activation: str = "tanh"
    mean: Any = cv.buffer(default=None)
    origin: Any = cv.static(default=None)

    def __post_init__(self):
        if isinstance(self.w, list):
            raise AssertionError("made anew")


def layer():
    """Tied, with a float32 parameter, a buffer and static parts."""
    w = np.array([[1.0, 2.0], [3.0, 4.0]])
    return Layer(w, np.array([0.5, 0.6], np.float32), w.T, mean=np.ones(2), origin=np.zeros(2))


def output(m, scale=1.0):
    """One number of a layer."""
    return scale * anp.sum(anp.sin(m.w @ m.b) + m.tied @ m.b * m.mean)


def test_the_gradient_of_a_model_is_a_model():
    """The same class, the total at tied places, None at buffers and static parts."""
    m = layer()
    g = cv.grad(output)(m)
    assert type(g) is Layer
    assert g.activation is None and g.mean is None and g.origin is None
    remade = lambda x: Layer(x[:4].reshape(2, 2), x[4:], x[:4].reshape(2, 2).T, mean=np.ones(2))
    flat = gradient(lambda x: output(remade(x)), np.array([1.0, 2.0, 3.0, 4.0, *m.b]))
    assert_allclose(g.w, flat[:4].reshape(2, 2), rtol=1e-5)
    assert_allclose(g.tied, g.w.T)
    assert np.shares_memory(g.w, g.tied)
    assert g.b.dtype == np.float32 and g.w.dtype == float
    assert_allclose(g.b, flat[4:], rtol=1e-5)
    value, twice = cv.value_and_grad(output)(m, scale=2.0)
    assert value == output(m, 2.0)
    assert_allclose(twice.w, 2 * g.w)


def test_places_of_one_array_have_one_gradient():
    """The same object, the sum over all places."""
    w = np.array([1.0, 2.0])
    g = cv.grad(lambda m: anp.sum(m["a"] * m["b"]) + anp.sum(m["more"][0]))(
        {"a": w, "b": w, "more": [w, 3], "f": np.tanh}
    )
    assert g["a"] is g["b"] is g["more"][0] and g["more"][1] is None and g["f"] is None
    assert g["a"].tolist() == [3.0, 5.0]


def test_complex_parameters_have_the_gradient_that_autograd_gives():
    """Alone, and as pairs beside real ones."""
    z = np.array([1 + 2j, 3 - 1j])
    f = lambda m: anp.real(anp.sum(m["z"] ** 3)) + anp.sum(anp.abs(m["z"]) ** 2) * m["r"][0]
    for m in ({"z": z, "r": [2.0]}, {"z": z, "r": np.array([2.0])}):
        expected = autograd.grad(lambda z, m=m: f({**m, "z": z}))(z)
        g = cv.grad(f)(m)
        assert_allclose(g["z"], expected)
        assert g["z"].dtype == complex


def test_other_derivatives_of_models():
    """Matrices have the names of the parameters; products are models."""
    m = layer()
    H = cv.hessian(output)(m)
    assert H.shape == (6, 6) and H["w", "b"].shape == (2, 2, 2)
    J = cv.jacobian(lambda m: {"y": m.w @ m.b, "z": 2 * m.b})(m)
    assert J.rows.paths() == ("y", "z") and J.cols == H.cols
    assert np.array_equal(J["z", "b"], 2 * np.eye(2))
    vector, restructure = cv.destructure(m)
    expected = np.asarray(H) @ cv.data(vector)
    for direction in (m, vector, cv.data(vector), {"w": m.w, "b": m.b}):
        product = cv.hvp(output)(m, direction)
        assert type(product) is Layer and product.mean is None
        assert_allclose(product.w.reshape(-1), expected[:4], rtol=1e-6)
        assert_allclose(product.b, expected[4:], rtol=1e-5)
    assert type(cv.hvp(output)(m, cv.grad(output)(m))) is Layer
    with pytest.raises(ValueError, match="6 entries, got 5"):
        cv.hvp(output)(m, np.ones(5))


def test_a_component_vector_within_a_model():
    """Its gradient is a component vector."""
    m = {"v": cv.ComponentVector(a=1.0, b=[2.0, 3.0]), "w": np.ones(2)}
    g = cv.grad(lambda m: anp.sum(m["v"].b * m["w"]) * m["v"].a)(m)
    assert type(g["v"]) is cv.ComponentVector and g["v"].tolist() == [5.0, 1.0, 1.0]
    assert g["w"].tolist() == [2.0, 3.0]


# -- plain arrays and numbers ----------------------------------------------------------------------


def test_plain_arguments_have_plain_derivatives():
    """Shapes as autograd has them."""
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert cv.grad(lambda x: anp.sum(x**2))(x).tolist() == (2 * x).tolist()
    assert cv.grad(lambda x: x**2)(3.0) == 6.0
    assert cv.hessian(lambda x: x**3)(2.0) == 12.0
    assert cv.hvp(lambda x: x**3)(2.0, 0.5) == 6.0
    assert cv.hessian(lambda x: anp.sum(x**2))(x).shape == (2, 2, 2, 2)
    assert cv.hvp(lambda x: anp.sum(x**3))(x, x).tolist() == (6 * x * x).tolist()
    assert cv.jacobian(lambda x: x**2)(3.0) == 6.0
    assert cv.jacobian(lambda x: anp.outer(x, x))(np.ones(3)).shape == (3, 3, 3)
    assert cv.grad(lambda x: anp.sum(x))(np.ones(2, np.float32)).dtype == np.float32
    J = cv.jacobian(lambda x: {"y": x**2})(np.array([1.0, 2.0]))
    assert J.cols is None and J["y", :].tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_complex_arguments():
    """Autograd's convention; the Jacobian of a holomorphic function is its derivative."""
    z = np.array([1 + 2j, 3.0])
    assert cv.grad(lambda z: anp.real(z**2))(1 + 2j) == 2 * (1 + 2j)
    assert_allclose(cv.jacobian(lambda z: z**2)(z), np.diag(2 * z))
    x = np.array([0.4, 1.3])
    wave = lambda x: anp.exp(1j * anp.concatenate([x, x]))
    expected = np.vstack([np.diag(1j * np.exp(1j * x))] * 2)
    assert_allclose(cv.jacobian(wave)(x), expected)
    assert_allclose(cv.jacobian(lambda x: wave(x)[:1])(x), expected[:1])
    v = all_complex()
    assert_allclose(cv.data(cv.grad(lambda v: anp.sum(anp.abs(v) ** 2))(v)), 2 * cv.data(v).conj())


# -- traced arguments ------------------------------------------------------------------------------


def second(v):
    """A number that is made of first derivatives."""
    return anp.sum(cv.grad(energy)(v) ** 2)


def of_products(v):
    """A number that is made of a Hessian-vector product."""
    return anp.sum(cv.hvp(energy)(v, v))


def of_few_rows(v):
    """A number that is made of a Jacobian in reverse mode, which is a plain traced matrix."""
    return anp.sum(as_array(cv.jacobian(lambda v: v.b * v.a)(v)) ** 2)


def of_few_columns(v):
    """The same in forward mode."""
    cubes = lambda v: anp.concatenate([cv.data(v) ** 2, cv.data(v) ** 3])
    return anp.sum(as_array(cv.jacobian(cubes)(v)) ** 2)


def of_a_hessian(v):
    """A number that is made of a Hessian."""
    return anp.sum(as_array(cv.hessian(energy)(v)) ** 2)


def of_a_model(v):
    """A number that is made of the gradient of a model with traced parameters."""
    return cv.grad(lambda m: anp.sum(m["w"] ** 3))({"w": v.b, "n": 1})["w"][0]


def of_value_and_gradient(v):
    """A number that is made of both."""
    value, g = cv.value_and_grad(energy)(v)
    return value * g.a


def as_array(matrix):
    """The data of a matrix; a traced one is plain."""
    return np.asarray(matrix) if isinstance(matrix, cv.ComponentMatrix) else matrix


@pytest.mark.parametrize(
    "f",
    [second, of_products, of_few_rows, of_few_columns, of_a_hessian, of_a_model,
     of_value_and_gradient],
)  # fmt: skip
@pytest.mark.parametrize("derivative", [autograd.grad, cv.grad])
def test_derivatives_of_derivatives(f, derivative):
    """The functions here take traced vectors, as any function does."""
    v = cv.ComponentVector(a=0.2, b=[0.3, 0.4, 0.5], c=[[0.1, 0.2], [0.3, 0.4]])
    expected = gradient(on_vectors(f, v.layout), cv.data(v).copy())
    assert_allclose(cv.data(derivative(f)(v)), expected, rtol=1e-5, atol=1e-6)


def test_further_arguments_may_be_traced():
    """By an outer derivative."""
    v = small()
    f = lambda s: cv.grad(lambda v, k: anp.sum(v**2) * k)(v, s).a
    assert cv.grad(f)(2.0) == 2 * v.a
    u = cv.ComponentVector(a=1.0, b=np.zeros(3), c=np.zeros((2, 2)))
    g = cv.grad(lambda u: cv.hvp(energy)(v, u).b[0])(u)
    assert_allclose(cv.data(g), np.asarray(cv.hessian(energy)(v))[1])
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        cv.grad(lambda u: cv.hvp(energy)(v, u.b).b[0])(u)


def test_a_traced_model():
    """Autograd's own dict, within a derivative by it."""
    inner = lambda m: anp.sum(cv.grad(lambda m: anp.sum(m["w"] ** 3))(m)["w"])
    for derivative in (autograd.grad, cv.grad):
        assert derivative(inner)({"w": np.array([1.0, 2.0])})["w"].tolist() == [6.0, 12.0]


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize(
    ("f", "match"),
    [
        (lambda v: v.b, r"of one real number, got a result of shape \(3,\); sum it, or use jac"),
        (lambda v: v, r"got a result of shape \(8,\)"),
        (lambda v: v.a * 1j, r"got a complex result of shape \(\); take its real part"),
        (lambda v: None, "of floating numbers, got a result of None: did it forget to return"),
        (lambda v: "spam", "got a result of str"),
        (lambda v: 3, "got a result of int"),
        (lambda v: np.int64(3), "got a result of int64"),
        (lambda v: v.a > 0, "got a result of bool"),
        (lambda v: v > 0, "got a result of dtype bool"),
        (lambda v: {"a": v.a}, "got a result of dict"),
        (lambda v: (v.a, 1), "got a result of tuple"),
        (lambda v: [v.a, v.b], "got a result of list"),
        (lambda v: np.array([v.a, v.a], dtype=object), "dtype object; use autograd.numpy"),
    ],
)
def test_a_function_that_gives_no_real_number(name, f, match):
    """The error names the derivative, what is needed, what was given, and the remedy."""
    with pytest.raises(TypeError, match=f"^{name} needs a function .*{match}"):
        DERIVATIVES[name](f)(small())


@pytest.mark.parametrize("result", [None, 3, "spam", np.arange(3)])
def test_a_jacobian_of_no_floating_numbers(result):
    """Which has none."""
    with pytest.raises(TypeError, match="jacobian needs a function of floating numbers"):
        cv.jacobian(lambda v: result)(small())


@pytest.mark.parametrize("name", DERIVATIVES)
def test_integers_have_no_derivatives(name):
    """Neither in vectors nor in arrays nor as numbers."""
    derivative = DERIVATIVES[name](lambda v: 1.0 * anp.sum(v))
    v = cv.ComponentVector(a=1, b=[2, 3], dtype=int)
    with pytest.raises(TypeError, match=r"floating vector, got dtype int64; v.astype\(float\)"):
        derivative(v)
    with pytest.raises(TypeError, match="floating numbers, got .*; make it float"):
        derivative(np.arange(3))


def test_arguments_that_are_nothing_of_the_kind():
    """Strings, None, models without parameters, classes that nobody registered."""

    class Unregistered:
        def __init__(self):
            self.w = np.ones(2)

    for x in ("abc", None, 3, True):
        with pytest.raises(TypeError, match="got"):
            cv.grad(lambda x: 1.0)(x)
    with pytest.raises(TypeError, match="not registered and holds arrays in w"):
        cv.grad(lambda m: anp.sum(m.w))(Unregistered())
    with pytest.raises(ValueError, match="no parameters.*scalars=True"):
        cv.grad(lambda m: m["a"])({"a": 1.0})


def test_a_hessian_is_by_real_entries():
    """Of complex vectors and models a TypeError, with the remedy."""
    for x in (all_complex(), {"z": np.array([1 + 2j])}, np.array([1j])):
        with pytest.raises(TypeError, match="a Hessian needs real entries; store complex"):
            cv.hessian(lambda x: 1.0)(x)


def test_what_autograd_could_not_trace_has_a_note():
    """Where the function runs on plain numbers: what to import. One that is wrong has none."""
    with pytest.raises(TypeError, match="float") as caught:
        cv.grad(lambda v: v.a * float(v.a))(small())
    assert "import autograd.numpy" in caught.value.__notes__[0]
    with pytest.raises(AttributeError, match="no component 'unknown'") as caught:
        cv.grad(lambda v: v.unknown)(small())
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("name", DERIVATIVES)
def test_a_result_that_does_not_depend_on_the_argument(name):
    """Zeros, with one warning, as autograd; it points to the line of the call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = DERIVATIVES[name](lambda v: 1.0)(ordinary())
    for result in found[1:] if isinstance(found, tuple) else (found,):
        assert not np.asarray(cv.data(result) if hasattr(result, "layout") else result).any()
        assert result.size in (SIZE, SIZE**2)
    assert [str(w.message) for w in caught] == ["Output seems independent of input."]
    assert caught[0].filename == __file__


def test_a_constant_gradient_is_no_news():
    """Second derivatives of linear functions are zero without a warning."""
    v = small()
    assert not np.asarray(cv.hessian(lambda v: anp.sum(v))(v)).any()
    assert not cv.data(cv.hvp(lambda v: v.a)(v, np.ones(8))).any()
    assert not np.asarray(cv.jacobian(lambda v: {"a": v.a, "k": np.ones(20)})(v))[1:].any()


def test_functions_have_telling_names():
    """For tracebacks."""
    assert cv.grad(energy).__name__ == "grad_of_energy"
    assert cv.hvp(energy).__name__ == "hvp_of_energy"


@pytest.mark.parametrize("derive", [cv.grad, cv.value_and_grad, cv.jacobian, cv.hessian])
@pytest.mark.parametrize(
    "fun, x",
    [
        (lambda v: float(v.a), cv.ComponentVector(a=1.0)),
        (lambda m: float(m["a"][0]), {"a": np.ones(1)}),
        (lambda x: float(x[0]), np.ones(1)),
    ],
)
def test_a_function_that_runs_on_plain_numbers_gains_a_note(derive, fun, x):
    """It is to be written with `autograd.numpy`."""
    with pytest.raises(TypeError, match="float") as caught:
        derive(fun)(x)
    assert caught.value.__notes__[0].endswith('"import autograd.numpy as np"')


def test_a_function_that_writes_gains_no_note():
    """It would not help."""

    def write(v):
        v.a = 2.0
        return v.a

    with pytest.raises(TypeError, match="cannot be written in place") as caught:
        cv.grad(write)(cv.ComponentVector(a=1.0))
    assert not hasattr(caught.value, "__notes__")
