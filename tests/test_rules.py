"""Rules of derivatives: each against central differences, to second order and in both modes."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from autograd.core import make_jvp, make_vjp
from autograd.extend import vspace
from autograd.test_util import check_grads
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import componentvec as cv
from componentvec import adjoints
from componentvec.rules import cast
from componentvec.spaces import VectorSpace
from samples import SIZE, all_complex, ordinary, paired, tied
from strategies import tied_vectors

VECTORS = (ordinary, tied, paired, all_complex)
LEAVES = [(make, path) for make in VECTORS for path in make().layout.paths()]


# -- the linear maps and their adjoints ------------------------------------------------------------


@pytest.mark.parametrize(("make", "path"), LEAVES)
def test_reading_a_leaf(make, path):
    """Of every kind: number, array, alias of any strides, complex in a real or a complex vector."""
    check_grads(lambda v: v[path], order=2)(make())
    check_grads(lambda v: v[path] * v[path], order=2)(make())


@pytest.mark.parametrize("make", VECTORS)
def test_putting_leaves_into_a_vector(make):
    """All leaves that own their memory in one call, so that many are traced at once."""
    v = make()
    aliases = {path for group in v.layout.ties for path in group[1:]}
    paths = [path for path in v.layout.paths() if path not in aliases]
    sizes = [v.layout.index(path).size for path in paths]

    def build(*leaves):
        return cv.ComponentVector({f"p{i}": leaf for i, leaf in enumerate(leaves)}, dtype=v.dtype)

    assert build(*(v[path] for path in paths)).size == sum(sizes)
    check_grads(build, tuple(range(len(paths))), order=2)(*(v[path] for path in paths))


@pytest.mark.parametrize("make", VECTORS)
def test_a_vector_used_as_a_whole(make):
    """Linear and not, labelled results and plain ones."""
    for f in (
        lambda v: v,
        lambda v: 2.0 * v - v[0],
        lambda v: v * v,
        lambda v: cv.data(v)[::2],
        lambda v: anp.concatenate([cv.data(v), cv.data(v)]),
        lambda v: anp.sum(anp.abs(v) ** 2),
    ):
        check_grads(f, order=2)(make())


@pytest.mark.parametrize(
    "f",
    [
        lambda v: v.g,
        lambda v: v.g * v.g.x,
        lambda v: v.layers.w,
        lambda v: v.layers[:1].w,
        lambda v: v["layers[::-1].w"],
        lambda v: v.layers[1].w[0],
        lambda v: v[["c", "g.x", "layers[0].w"]],
        lambda v: v[3] * v[-1],
        lambda v: v[1:9:3],
        lambda v: v[::-1],
        lambda v: v[np.array([0, 3, 3])],
        lambda v: v[np.arange(SIZE) % 3 == 0],
        lambda v: anp.array([x**2 for x in v]),
        lambda v: cv.asdict(v)["g"]["y"],
        lambda v: v.astype(complex),
        lambda v: v.astype(float).b,
        lambda v: v.copy(),
    ],
)
def test_other_ways_of_reading(f):
    """Groups, sequences, slices, selections, positions."""
    check_grads(f, order=2)(ordinary())


@pytest.mark.parametrize(
    "f",
    [
        lambda x: cv.ComponentVector(x=x, y=x**2),
        lambda x: cv.ComponentVector(x=x, y=x**2).y * x,
        lambda x: cv.ComponentVector(x=[x[0], 1, x[1]], y=[[x[2], x[0]], [2.0, x[1]]]),
        lambda x: cv.ComponentVector(g={"a": x, "l": [x[0], {"b": anp.outer(x, x)}]}),
        lambda x: cv.ComponentVector({"a": x, "b": 1j * x}),
        lambda x: cv.ComponentVector({"a": x, "b": 1j * x}).b,
        lambda x: cv.ComponentVector({"a": x, "b": 1j * x}, dtype=complex),
        lambda x: cv.ComponentVector(a=1.0, b=[2.0, 3.0]).layout.wrap(x),
        lambda x: cv.ComponentVector(a=1.0, b=[2.0, 3.0]).layout.wrap(2 * x[::-1]).b,
        lambda x: cv.ComponentVector(a=1.0, b=[2.0, 3.0]).layout.wrap([x[1], x[0], 2.0]),
        lambda x: cv.ComponentVector(a=1.0, b=[2.0, 3.0]).layout.pack(
            {"a": x[0], "b": [1.0, x[1]]}
        ),
        lambda x: cv.ComponentVector(a=1.0, z=[2j]).layout.pack({"a": x[0], "z": x[:1] * 1j}),
        lambda x: cv.destructure({"a": x, "b": x**2})[0],
        lambda x: cv.destructure({"w": np.ones((1, 3))})[1](x)["w"],
    ],
)
def test_building_vectors(f):
    """Of a traced array and its parts."""
    check_grads(f, order=2)(np.array([0.4, 1.3, 0.7]))


@pytest.mark.parametrize("kinds", [(float, complex), (complex, float), (float, np.float32)])
def test_cast(kinds):
    """To another dtype; the adjoint goes back."""
    given, wanted = kinds
    x = np.array([0.4, 1.3]).astype(given) * (1 + 0.5j if given is complex else 1)
    assert cast(x, wanted).dtype == wanted
    if wanted is not np.float32:  # whose digits do not do for differences
        check_grads(lambda x: cast(x, wanted), order=2)(x)
    g = make_vjp(lambda x: cast(x, wanted), x)[0](np.ones(2, wanted))
    assert g.dtype == given


@given(tied_vectors(), st.randoms(use_true_random=False))
def test_reading_and_scattering_are_adjoint(found, random):
    """<scatter(leaves), v> = <leaves, read(v)>, for any layout, ties of all strides included."""
    v, index = found
    own = cv.layout(v)
    leaves = {
        path: np.array([random.uniform(-1, 1) for _ in range(cells.size)]).reshape(cells.shape)
        for path, cells in index.items()
    }

    def product(v):
        read = {path: v._at(offset, leaf, ()) for path, offset, leaf in own._leaves}
        return sum((anp.sum(leaves[path] * read[path]) for path in index), 0.0 * anp.sum(v))

    expected = np.zeros(own.size)
    for path, cells in index.items():
        np.add.at(expected, cells, leaves[path])
    assert_allclose(cv.data(grad(product)(v)), expected, atol=1e-12)


def test_a_complex_cotangent_of_real_numbers():
    """Its real part counts, for a leaf as for a whole vector; real ones of complex numbers too."""
    v = ordinary()
    g = make_vjp(lambda v: v.b, v)[0](np.array([1 + 2j, 3j, 4.0]))
    assert g.b.tolist() == [1.0, 0.0, 4.0] and g.dtype == float
    g = make_vjp(lambda v: v, v)[0](np.full(SIZE, 2 + 1j))
    assert g.dtype == float and np.all(cv.data(g) == 2.0)
    z = all_complex()
    g = make_vjp(lambda z: z.z, z)[0](np.array([1.0, 2.0]))
    assert g.dtype == complex and g.z.tolist() == [1.0, 2.0]


def test_wrapping_what_is_a_vector_already_and_traced_lists():
    """A vector of the layout as it is, and a list that autograd traces as an array."""
    v = ordinary()
    assert grad(lambda v: v.layout.wrap(v).a ** 2)(v).a == 1.4
    own = cv.ComponentVector(a=1.0, b=[2.0, 3.0]).layout
    assert_allclose(grad(lambda x: anp.sum(own.wrap(x) ** 2))([1.0, 2.0, 3.0]), [2.0, 4.0, 6.0])


def test_pairs_that_fit_no_dtype_become_plain():
    """As without a trace: complex entries hold no pairs."""
    plain = make_vjp(lambda v: v.astype(complex), paired())[1]
    assert type(plain) is np.ndarray and plain.dtype == complex


def test_checks_catch_a_wrong_rule(monkeypatch):
    """One planted error in the adjoint of `scatter`, and one in its forward rule."""
    f = lambda x: cv.ComponentVector(x=x, y=x**2)
    x = np.array([0.4, 1.3])
    check_grads(f, order=2)(x)
    taken = adjoints._taken
    with monkeypatch.context() as patched:
        patched.setattr(adjoints, "_taken", lambda *args: 1.01 * taken(*args))
        with pytest.raises(AssertionError, match="VJP"):
            check_grads(f, order=1, modes=["rev"])(x)
    scatter = adjoints.scatter
    with monkeypatch.context() as patched:
        patched.setattr(adjoints, "scatter", lambda *args: 1.01 * scatter(*args))
        with pytest.raises(AssertionError, match="Value mismatch"):
            check_grads(f, order=1, modes=["fwd"])(x)


# -- spaces ----------------------------------------------------------------------------------------


def test_the_space_of_vectors():
    """Layout, dtype, and everything that autograd asks of a space."""
    space = vspace(ordinary())
    assert isinstance(space, VectorSpace) and space.size == SIZE and space.ndim == 1
    assert space == vspace(0 * ordinary()) and space != vspace(ordinary().astype(np.float32))
    assert space != vspace(cv.ComponentVector(a=np.zeros(SIZE)))
    assert not space.zeros().any() and space.ones().all() and space.randn().layout == space.layout
    assert np.array_equal([cv.data(e) for e in space.standard_basis()], np.eye(SIZE))
    complex_space = vspace(all_complex())
    assert complex_space.iscomplex and complex_space.size == 6
    assert len(list(complex_space.standard_basis())) == 6
    assert complex_space.ones()[0] == 1 + 1j


def test_a_vector_of_another_layout_is_no_tangent_and_no_cotangent():
    """The error names the first difference."""
    v, other = ordinary(), cv.ComponentVector(a=np.ones(SIZE))
    for f in (lambda v: v, lambda v: 2 * v, lambda v: cv.ComponentVector(v)):
        with pytest.raises(ValueError, match="layouts differ: 'a' has shape"):
            make_vjp(f, v)[0](other)
    with pytest.raises(ValueError, match="layouts differ: 'a' has shape"):
        make_jvp(lambda v: v.a, v)(other)


def test_integers_have_no_derivative():
    """The error says how to make them float."""
    v = cv.ComponentVector(a=1, b=[2, 3], dtype=int)
    with pytest.raises(TypeError, match=r"floating vector, got dtype int64; v.astype\(float\)"):
        grad(lambda v: v.a)(v)
