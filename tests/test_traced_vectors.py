"""A traced vector behaves as an untraced one: the same values, kinds and errors, and derivatives.

Every function below runs on a plain vector and on a traced one. Values and kinds are compared,
gradients and tangents are compared with central differences of the plain run.
"""

import copy
from contextlib import suppress

import autograd.numpy as anp
import autograd.scipy.special as special
import autograd.scipy.stats as stats
import numpy as np
import pytest
import scipy.special
from autograd import grad
from autograd.core import make_jvp, make_vjp
from autograd.test_util import check_grads
from numpy.testing import assert_allclose

import componentvec as cv
from differences import along, gradient, on_vectors, plain
from samples import SIZE, hostile, ordinary

RNG = np.random.default_rng(3)
W = RNG.uniform(0.3, 2.5, SIZE)
A, S = RNG.standard_normal((4, SIZE)), np.diag(np.arange(1.0, SIZE + 1))
COLUMN = np.array([[1.15], [1.95]])
S = S + 0.1 * np.add.outer(W, W)

# -- functions of a whole vector, by autograd.numpy and by NumPy alone -----------------------------

ELEMENTWISE = (
    "abs", "absolute", "fabs", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10",
    "log1p", "sin", "cos", "tan", "arctan", "sinh", "cosh", "tanh", "arcsinh", "square", "sqrt",
    "sinc", "negative", "degrees", "radians", "rad2deg", "deg2rad", "real", "conj", "conjugate",
    "real_if_close", "nan_to_num",
)  # fmt: skip
PAIRWISE = (
    "add", "subtract", "multiply", "divide", "true_divide", "power", "mod", "remainder", "maximum",
    "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "arctan2", "hypot",
)  # fmt: skip
REDUCING = ("sum", "mean", "prod", "var", "std", "max", "min", "amax", "amin")
OTHERS = (
    "sort", "cumsum", "diff", "flipud", "ravel", "transpose", "squeeze", "atleast_1d",
    "atleast_2d", "atleast_3d", "diag",
)  # fmt: skip

#: by name: functions of a vector and of the module whose functions they call
USES = {
    "arcsin": lambda v, np: np.arcsin(v / 2),
    "arccos": lambda v, np: np.arccos(v / 2),
    "arctanh": lambda v, np: np.arctanh(v / 2),
    "arccosh": lambda v, np: np.arccosh(v + 1.5),
    "angle": lambda v, np: np.angle(v * (1 + 2j)),
    "imag": lambda v, np: np.imag(v * (1 + 2j)),
    "clip": lambda v, np: np.clip(v, 0.425, 1.05),
    "where": lambda v, np: np.where(v > 0.5, v, v**2),
    "where with a number": lambda v, np: np.where(v > 0.5, v, 0.3),
    "where with an array": lambda v, np: np.where(W > 1, W, v),
    "select": lambda v, np: np.select([W > 2, W > 1], [v, 2 * v], 0.1),
    "dot from the left": lambda v, np: np.dot(v, A.T),
    "dot from the right": lambda v, np: np.dot(A, v),
    "dot with itself": lambda v, np: np.dot(v, v),
    "matmul": lambda v, np: np.matmul(A, v),
    "inner": lambda v, np: np.inner(v, A),
    "outer": lambda v, np: np.outer(v, 2 * v),
    "outer with an array": lambda v, np: np.outer(W[:3], v),
    "kron": lambda v, np: np.kron(v, W[:2]),
    "kron from the right": lambda v, np: np.kron(W[:2], v),
    "tensordot": lambda v, np: np.tensordot(A, v, 1),
    "tensordot without axes": lambda v, np: np.tensordot(v, v, 0),
    "einsum": lambda v, np: np.einsum("ij,j->i", A, v),
    "einsum of two": lambda v, np: np.einsum("i,j->ij", v, v),
    "einsum that sums one out": lambda v, np: np.einsum("i,j->j", v, W[:3]),
    "trace": lambda v, np: np.trace(np.outer(v, v)),
    "concatenate": lambda v, np: np.concatenate([v, W, 2 * v]),
    "stack": lambda v, np: np.stack([v, W]),
    "vstack": lambda v, np: np.vstack([v, W]),
    "hstack": lambda v, np: np.hstack([v, W]),
    "column_stack": lambda v, np: np.column_stack([v, W]),
    "append": lambda v, np: np.append(W, v),
    "array of two": lambda v, np: anp.array([v, 2 * v]),
    "reshape": lambda v, np: np.reshape(v, (3, 5)),
    "expand_dims": lambda v, np: np.expand_dims(v, 0),
    "moveaxis": lambda v, np: np.moveaxis(v[:, None], 0, 1),
    "roll": lambda v, np: np.roll(v, 2),
    "pad": lambda v, np: np.pad(v, 2, "constant"),
    "tile": lambda v, np: np.tile(v, 2),
    "repeat": lambda v, np: np.repeat(v, 2),
    "split": lambda v, np: np.split(v, [4, 9])[1],
    "array_split": lambda v, np: np.array_split(v, 4)[0],
    "partition": lambda v, np: np.partition(v, 4),
    "gradient": lambda v, np: np.gradient(v),
    "second differences": lambda v, np: np.diff(v, 2),
    "norm": lambda v, np: np.linalg.norm(v),
    "norm of order 3": lambda v, np: np.linalg.norm(v, 3),
    "solve": lambda v, np: np.linalg.solve(S, v),
    "solve with a matrix of it": lambda v, _: anp.linalg.solve(S + anp.outer(v, v), W),
    "slogdet": lambda v, _: anp.linalg.slogdet(S + anp.outer(v, v))[1],
    "inv": lambda v, _: anp.linalg.inv(S + anp.outer(v, v)),
    "cholesky": lambda v, _: anp.linalg.cholesky(S + anp.outer(v, v)),
    "eigh": lambda v, _: anp.linalg.eigh(S + anp.outer(v, v))[0],
    "svd": lambda v, _: anp.linalg.svd(anp.reshape(v, (3, 5)), full_matrices=False)[1],
    "fft": lambda v, np: anp.real(np.fft.fft(v)),
    "ifft": lambda v, np: anp.imag(np.fft.ifft(v)),
    "rfft": lambda v, np: anp.abs(anp.fft.rfft(v[:12])),
    "fftshift": lambda v, np: np.fft.fftshift(v),
    "cumsum of squares": lambda v, np: np.cumsum(v**2),
    "a chain": lambda v, np: np.sum(np.tanh(np.exp(-v * v) + v) * v),
}
for _name in (*ELEMENTWISE, *REDUCING, *OTHERS):
    USES[_name] = lambda v, np, name=_name: getattr(np, name)(v)
for _name in PAIRWISE:
    USES |= {
        f"{_name}(v, array)": lambda v, np, name=_name: getattr(np, name)(v, W),
        f"{_name}(array, v)": lambda v, np, name=_name: getattr(np, name)(W, v),
        f"{_name}(v, number)": lambda v, np, name=_name: getattr(np, name)(v, 2.03),
        f"{_name}(number, v)": lambda v, np, name=_name: getattr(np, name)(2.03, v),
        f"{_name}(v, v)": lambda v, np, name=_name: getattr(np, name)(v, 1.7 * v * v),
        f"{_name}(column, v)": lambda v, np, name=_name: getattr(np, name)(COLUMN, v),
        f"{_name}(buffer, v)": lambda v, np, name=_name: getattr(np, name)(1.7 * cv.data(v), v),
        f"{_name}(v, buffer)": lambda v, np, name=_name: getattr(np, name)(v, 1.7 * cv.data(v)),
    }

#: what a vector and Python alone do
OPERATIONS = {
    "v + array": lambda v: v + W,
    "array - v": lambda v: W - v,
    "v * list": lambda v: v * list(W),
    "list * v": lambda v: list(W) * v,
    "list / v": lambda v: list(W) / v,
    "v ** list": lambda v: v ** list(W),
    "list ** v": lambda v: list(W) ** v,
    "number ** v": lambda v: 2**v,
    "NumPy number / v": lambda v: np.float64(2.0) / v,
    "v % number": lambda v: v % 0.37,
    "-v": lambda v: -v,
    "+v": lambda v: +v,
    "abs(v)": abs,
    "matrix @ v": lambda v: A @ v,
    "v @ matrix": lambda v: v @ A.T,
    "v @ v": lambda v: v @ v,
    "vector / v": lambda v: cv.layout(v).wrap(W) / v,
    "v ** vector": lambda v: v ** cv.layout(v).wrap(W),
    "vector @ v": lambda v: cv.layout(v).wrap(W) @ v,
    "buffer * v": lambda v: cv.data(v) * v,
    "leaf * v": lambda v: v[2] * v,
    "v / leaf": lambda v: v / v[2],
    "column * v": lambda v: np.ones((2, 1)) * v,
    "v[0]": lambda v: v[0],
    "v[-2]": lambda v: v[-2],
    "v[integer]": lambda v: v[np.int64(3)],
    "v[1:4]": lambda v: v[1:4],
    "v[::-1]": lambda v: v[::-1],
    "v[10:2:-2]": lambda v: v[10:2:-2],
    "v[mask]": lambda v: v[W > 1],
    "v[its own mask]": lambda v: v[v > 0.5],
    "v[positions]": lambda v: v[np.array([0, 3, 3, 5])],
    "v[list]": lambda v: v[[0, 3, 3]],
    "v[list of answers]": lambda v: v[[i % 3 == 0 for i in range(SIZE)]],
    "v[None]": lambda v: v[None],
    "v[:]": lambda v: v[:],
    "v[...]": lambda v: v[...],
    "data": lambda v: cv.data(v)[3] * cv.data(v),
    "sum(v)": sum,
    "max(v)": max,
    "sorted(v)": lambda v: anp.array(sorted(v)),
    "zip(v, array)": lambda v: sum(a * b for a, b in zip(v, W, strict=True)),
    "unpacking": lambda v: (lambda a, b, *rest: a * b + rest[0])(*v),
    "len(v)": lambda v: len(v) * v,
    "Rosenbrock": lambda v: sum(
        100 * (v[i + 1] - v[i] ** 2) ** 2 + (1 - v[i]) ** 2 for i in range(len(v) - 1)
    ),
    "asdict": lambda v: anp.sum(list(cv.asdict(v).values())[1] ** 2),
    "ComponentVector(v)": cv.ComponentVector,
    "ComponentVector of v": lambda v: cv.ComponentVector(p=v, q=v[1]),
    "merge": lambda v: cv.merge(v, {list(v._layout._children)[1]: [v[0], v[1] * v[2]]}),
    "pack": lambda v: cv.layout(v).pack(cv.asdict(2 * v)),
    "selection": lambda v: v[list(v._layout._children)[:2]],
    "logsumexp": special.logsumexp,
    "gammaln": special.gammaln,
    "gammaln of SciPy itself": scipy.special.gammaln,
    "norm.logpdf": lambda v: stats.norm.logpdf(v, 0.1, 1.2),
    "multivariate_normal.logpdf": lambda v: stats.multivariate_normal.logpdf(v, W, S),
}

ALL = [pytest.param(lambda v, f=f: f(v, anp), id=f"anp {name}") for name, f in USES.items()]
ALL += [pytest.param(lambda v, f=f: f(v, np), id=f"np {name}") for name, f in USES.items()]
ALL += [pytest.param(f, id=name) for name, f in OPERATIONS.items()]


@pytest.mark.parametrize("make", [ordinary, hostile])
@pytest.mark.parametrize("f", ALL)
def test_a_function_gives_the_same_and_its_derivatives_are_right(make, f):
    """Value, kind of the value, gradient and tangent, whatever the components are called."""
    v = make()
    own, x = cv.layout(v), cv.data(v).copy()
    expected = f(v)
    pullback, value = make_vjp(f, v)
    is_vector = isinstance(expected, cv.ComponentVector)
    assert isinstance(value, cv.ComponentVector) == is_vector
    if is_vector:
        assert cv.layout(value) == cv.layout(expected)
    assert_allclose(plain(value), plain(expected))
    weights = np.cos(np.arange(plain(expected).size)).reshape(plain(expected).shape)
    g = pullback(cv.layout(expected).wrap(weights) if is_vector else weights)
    assert type(g) is cv.ComponentVector and cv.layout(g) == own
    numbers = on_vectors(lambda v: np.sum(weights * plain(f(v))), own)
    assert_allclose(cv.data(g), gradient(numbers, x), rtol=1e-4, atol=1e-6)
    direction = np.sin(np.arange(SIZE))
    try:
        _, tangent = make_jvp(f, v)(own.wrap(direction))
    except NotImplementedError:  # autograd has no forward rule for some
        return
    assert isinstance(tangent, cv.ComponentVector) == is_vector
    assert_allclose(plain(tangent), along(on_vectors(f, own), x, direction), rtol=1e-4, atol=1e-6)


# -- control flow, names, attributes ---------------------------------------------------------------


def traced(check, make=ordinary):
    """Run a check on a traced vector."""
    grad(lambda v: check(v) or 1.0 * v[0])(make())


def test_names_and_sizes_are_those_of_the_vector():
    """Everything that can be asked of a vector."""

    def check(v):
        assert v.keys() == ["a", "b", "c", "g", "layers"] == dir(v) and len(v) == v.size == SIZE
        assert v.labels() == cv.labels(v) == ordinary().labels()
        assert v.layout == cv.layout(v) == ordinary().layout
        assert v.layout.dtype == v.dtype == float
        assert [key for key, _ in v.items()] == v.keys() and len(v.values()) == 5
        assert v.shape == (SIZE,) and v.ndim == 1 and (v.itemsize, v.nbytes) == (8, 8 * SIZE)
        assert list(dict(v)) == v.keys() == v._ipython_key_completions_()
        assert (lambda a, b, c, g, layers: a)(**v) is v.a is v["a"]
        assert len(v.layers) == 2 and v.g.layout == ordinary().layout["g"]
        assert repr(v).startswith("traced ComponentVector(a=0.7")

    traced(check)


def test_comparisons_are_plain_so_that_functions_may_branch():
    """Results of comparisons are no longer traced."""

    def check(v):
        is_two = v.a == 2
        assert v.a > 0 and not is_two and (v == v).all() and (v > 0.5).sum() == 10
        assert type(v > 0) is cv.ComponentVector and (v > v.a).layout == v.layout
        assert 0.7 in v and v.a in v and 7.0 not in v
        assert not (v == "text").any() and (v != None).all()  # noqa: E711
        assert np.argmax(v) == v.argmax() == 12 and np.isfinite(v).all() and np.any(v)
        assert np.array_equal(v, ordinary()) and np.sign(v)[0] == 1.0
        assert bool(v[["a"]]) is True and np.zeros_like(v).layout == v.layout
        assert type(np.floor(v)) is type(v.astype(int)) is cv.ComponentVector
        with pytest.raises(ValueError, match="ambiguous"):
            bool(v)

    traced(check)


def test_attributes_of_arrays_work_on_the_buffer():
    """Methods that autograd's arrays have, and those that are functions of autograd.numpy."""

    def f(v):
        return (
            v.dot(v) + v.sum() + v.mean() + v.max() + v.std() + v.T[0] + v.real[1] + v.conj()[2]
            + v.reshape(3, 5)[0, 1] + v.ravel()[1] + v.flatten()[2] + v.cumsum()[3]
            + v.clip(0, 1.05).sum() + v.copy().a + v.astype(float).a + copy.copy(v).a
            + copy.deepcopy(v).g.x + np.copy(v)[0] + v.imag[0] + v.strides[0]
        )  # fmt: skip

    v = ordinary()
    g = grad(f)(v)
    assert_allclose(cv.data(g), gradient(on_vectors(f, v.layout), cv.data(v).copy()), 1e-5)


def test_a_component_wins_over_any_attribute():
    """The same names as of untraced vectors, also for functions of the package."""

    def check(v):
        assert v.shape.shape == () and v.dtype.shape == (2, 2) and v.ndim.mean.shape == (2,)
        assert v.copy.layout.shape == (2, 2) and cv.layout(v).size == cv.data(v).size == SIZE

    traced(check, hostile)


def test_names_with_an_underscore_and_odd_ones_are_items():
    """Never attributes."""
    v = cv.ComponentVector({"_node": 2.0, "_value": 3.0, "odd key": 4.0, "__class__": 5.0})
    f = lambda v: v["_node"] * v["_value"] * v["['odd key']"] * v["odd key"] * v["__class__"]
    assert grad(f)(v).tolist() == [240.0, 160.0, 240.0, 96.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, v: anp.where(x > 0.5, x, v),
        lambda x, v: anp.outer(x, v),
        lambda x, v: anp.tensordot(x, v, 0),
        lambda x, v: anp.einsum("i,j->i", x, v),
        lambda x, v: anp.einsum("i,j->j", x, v),
        lambda x, v: anp.kron(x, v),
        lambda x, v: anp.dot(x, v),
        lambda x, v: x @ v,
        lambda x, v: anp.inner(x, v),
        lambda x, v: x * v + x / v - x**v,
        lambda x, v: anp.maximum(x, v),
        lambda x, v: anp.concatenate([x, v]),
        lambda x, v: anp.linalg.solve(S + anp.outer(x, x), v),
    ],
)
def test_names_do_not_matter_either_where_a_traced_array_comes_first(f):
    """One that was traced before it met a vector: beside it, or as its buffer."""
    check_grads(f, (0, 1), order=2, modes=["rev"])(W, hostile())
    check_grads(lambda x: f(x, cv.layout(hostile()).wrap(2 * x)), order=2, modes=["rev"])(W)
    with suppress(NotImplementedError):  # autograd has no forward rule for some
        check_grads(f, (0, 1), order=1, modes=["fwd"])(W, hostile())


class Name(str):
    """A string of a class of its own."""


def test_repeated_reads_are_one_leaf():
    """The box is kept, so that gradients meet early and no path is looked up twice."""

    def check(v):
        assert v.b is v["b"] is v[Name("b")] and v.g is v["g"] and v.g.y is v.g["y"]
        assert v["g.y"] is v["g.y"] and v.layers is v.layers and len(v["layers[:1]"]) == 1

    traced(check)


@pytest.mark.parametrize(
    ("read", "error", "match"),
    [
        (lambda v: v.bb, AttributeError, "no component 'bb'; did you mean 'b'?"),
        (lambda v: v["bb"], KeyError, "no component 'bb'; did you mean 'b'?"),
        (lambda v: v["g.z"], KeyError, "no component 'g.z'"),
        (lambda v: v.g.z, AttributeError, "no component 'z'"),
        (lambda v: v["layers[:].z"], KeyError, "'z'"),
        (lambda v: v._x, AttributeError, "'_x'"),
        (lambda v: v.resize, AttributeError, "no component 'resize'"),
        (lambda v: v["a", "b"], IndexError, "indices"),
        (lambda v: v[SIZE], IndexError, "out of bounds: the vector has 15 entries"),
        (lambda v: v[-SIZE - 1], IndexError, "out of bounds"),
        (lambda v: v + cv.ComponentVector(z=np.ones(SIZE)), ValueError, "layouts differ"),
        (lambda v: cv.ComponentVector(z=np.ones(SIZE)) < v, ValueError, "layouts differ"),
        (lambda v: np.asarray(v), TypeError, "use componentvec.data"),
        (lambda v: np.array(v), TypeError, "use componentvec.data"),
        (lambda v: v.tolist(), TypeError, "no rule for ndarray.tolist"),
        (lambda v: v.item(), TypeError, "no rule for ndarray.item"),
        (lambda v: np.add.reduce(v), TypeError, r"no rule for numpy.add \(reduce\)"),
        (lambda v: np.dstack([v, v]), TypeError, "no rule for numpy.dstack"),
        (lambda v: np.sum(a=v), TypeError, "no rule for numpy.sum of these"),
        (lambda v: np.median(v), NotImplementedError, "VJP of median"),
        (lambda v: cv.layout(v).wrap(v[:3]), ValueError, "15 entries, got 3"),
        (lambda v: cv.layout(v).wrap(anp.outer(v, v)), ValueError, "one axis"),
        (lambda v: cv.layout(v).wrap(v.a), ValueError, "one axis"),
        (lambda v: v.layout.wrap(v[["b"]]), ValueError, "layouts differ"),
    ],
)
def test_errors_are_those_of_a_plain_vector_or_say_what_autograd_cannot_do(read, error, match):
    """Unknown names, other layouts, and what has no rule."""
    with pytest.raises(error, match=match):
        grad(read)(ordinary())


def test_a_group_with_an_alias_from_elsewhere_is_read_by_name_only():
    """As an array it is a ValueError that names the alias."""
    w = np.arange(4.0).reshape(2, 2)
    v, _ = cv.destructure({"enc": {"w": w}, "dec": {"w": w.T, "b": np.ones(2)}})
    g = grad(lambda v: anp.sum(v.dec.w[0] * v.dec.b))(v)
    assert g.enc.w.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    uses = [anp.sum, lambda u: u[0], lambda u: u[:1], sum, lambda u: u.T, lambda u: u.copy() * 2]
    for use in uses:
        with pytest.raises(ValueError, match=r"'dec\.w' is tied to memory outside"):
            grad(lambda v, use=use: use(v.dec))(v)


def test_a_vector_from_a_list():
    """Positions are names in brackets."""
    v = cv.ComponentVector([{"w": [1.0, 2.0]}, 3.0, [4.0, 5.0]])
    f = lambda v: v["[0]"].w[1] * v["[1]"] + anp.sum(v["[2]"] ** 2) + v["[0].w"][0]
    assert grad(f)(v).tolist() == [1.0, 3.0, 2.0, 8.0, 10.0]


# -- matrices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda v, H: v @ H @ v,
        lambda v, H: v @ (H @ v),
        lambda v, H: np.dot(H, v),
        lambda v, H: (H @ v).b,
        lambda v, H: (H @ cv.data(v)).b,
        lambda v, H: np.linalg.solve(H, v),
        lambda v, H: anp.sum(v.a * H) * anp.sum(H * v),
        lambda v, H: H["b", "b"] @ v.b,
    ],
)
def test_a_matrix_meets_a_traced_vector_as_a_plain_one(f):
    """The same labels, and derivatives to second order."""
    v = cv.ComponentVector(a=0.5, b=[1.5, 0.8])
    H = cv.ComponentMatrix(
        np.array([[2.0, 0.3, 0.1], [0.4, 3.0, 0.2], [0.5, 0.6, 4.0]]), *[v.layout] * 2
    )
    value = make_vjp(lambda v: f(v, H), v)[1]
    assert type(value) is type(f(v, H))
    total = lambda v: anp.sum(anp.sin(f(v, H)))
    g = grad(total)(v)
    x = cv.data(v).copy()
    assert_allclose(cv.data(g), gradient(on_vectors(total, v.layout), x), rtol=1e-5)
    product = make_vjp(grad(total), v)[0](np.ones(3))
    slope = on_vectors(lambda v: grad(total)(v), v.layout)
    assert_allclose(cv.data(product), along(slope, x, np.ones(3)), rtol=1e-4, atol=1e-6)


def test_a_matrix_of_another_layout_is_refused():
    """As outside of a trace."""
    v = cv.ComponentVector(a=0.5, b=[1.5, 0.8])
    other = cv.ComponentVector(z=np.ones(3)).layout
    H = cv.ComponentMatrix(np.eye(3), other, other)
    for f in (lambda v: H @ v, lambda v: v @ H, lambda v: np.dot(H, v)):
        with pytest.raises(ValueError, match="layouts differ"):
            make_vjp(f, v)


# -- writing ---------------------------------------------------------------------------------------


def iadd(target, name):
    """``target.name += 1``."""
    setattr(target, name, getattr(target, name) + 1)


def iadd_item(target, key):
    """``target[key] += 1``."""
    target[key] += 1


def iadd_leaf(leaf):
    """``leaf += 1``."""
    leaf += 1


WRITES = {
    "v.a = 1": lambda v: setattr(v, "a", 1.0),
    "v.unknown = 1": lambda v: setattr(v, "unknown", 1.0),
    "v.a += 1": lambda v: iadd(v, "a"),
    "v.g.x += 1": lambda v: iadd(v.g, "x"),
    "v.g += 1": lambda v: iadd_leaf(v.g),
    "v += 1": iadd_leaf,
    "leaf += 1": lambda v: iadd_leaf(v.b),
    "leaf of a copy += 1": lambda v: iadd_leaf(v.copy().b),
    "leaf[0] = 1": lambda v: v.b.__setitem__(0, 1.0),
    "leaf[0] += 1": lambda v: iadd_item(v.b, 0),
    "leaf.sort()": lambda v: v.b.sort(),
    "leaf.fill(0)": lambda v: v.b.fill(0.0),
    "v['b'] = 1": lambda v: v.__setitem__("b", 1.0),
    "v['b'] += 1": lambda v: iadd_item(v, "b"),
    "v[0] += 1": lambda v: iadd_item(v, 0),
    "v[:] = 1": lambda v: v.__setitem__(slice(None), 1.0),
    "v[['a', 'b']] = 1": lambda v: v.__setitem__(["a", "b"], 1.0),
    "v['layers[:].w'][0] = 1": lambda v: v["layers[:].w"].__setitem__(0, 1.0),
    "v.layers.w = 1": lambda v: setattr(v.layers, "w", 1.0),
    "v.layers[0] = {...}": lambda v: v.layers.__setitem__(0, {"w": [1.0, 2.0]}),
    "v.layers[0].w *= 2": lambda v: iadd(v.layers[0], "w"),
    "data(v)[0] = 1": lambda v: cv.data(v).__setitem__(0, 1.0),
    "asdict(v)['b'][0] = 1": lambda v: cv.asdict(v)["b"].__setitem__(0, 1.0),
    "v.sort()": lambda v: v.sort(),
    "v.fill(0)": lambda v: v.fill(0.0),
    "np.add(..., out=v)": lambda v: np.add(v, 1, out=v),
    "np.add(plain, ..., out=v)": lambda v: np.add(W, 1, out=(v,)),
    "np.sum(..., out=v)": lambda v: np.cumsum(v, out=v),
    "np.copyto": lambda v: np.copyto(v, 1.0),
    "np.put": lambda v: np.put(v, 0, 1.0),
    "np.place": lambda v: np.place(v, W > 1, 1.0),
    "np.putmask": lambda v: np.putmask(v, W > 1, 1.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_no_write_into_a_traced_vector(write):
    """A TypeError that says what to do; nothing is written."""
    v = ordinary()
    before = cv.data(v).copy()
    with pytest.raises(TypeError, match="build a new one with componentvec.merge"):
        grad(write)(v)
    assert np.array_equal(cv.data(v), before)


def test_an_accumulated_number_is_no_write():
    """`total += ...` gives a number a new value, traced or not; only views of memory are kept."""

    def f(v):
        total = v.a
        total += v.b[0]
        total *= 2
        return total

    assert grad(f)(ordinary())[["a", "b"]].tolist() == [2.0, 2.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda u, v: setattr(u, "a", v.a),
        lambda u, v: u.__setitem__("b", v.b),
        lambda u, v: u.__setitem__(slice(None), v),
        lambda u, v: u.__setitem__(0, v.a),
        lambda u, v: setattr(u, "g", {"x": v.a, "y": v.b[:2]}),
    ],
)
def test_no_traced_value_goes_into_a_plain_vector(write):
    """That would cut it off from its derivative."""
    with pytest.raises(TypeError, match="traces"):
        grad(lambda v: write(ordinary(), v))(ordinary())
