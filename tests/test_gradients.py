"""Gradients of vectors: their kind, their values and their memory, whatever a function does."""

import gc
import warnings
import weakref

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from autograd.core import make_jvp, make_vjp
from autograd.extend import defjvp, defvjp, primitive
from numpy.testing import assert_allclose

import componentvec as cv
from differences import gradient, on_vectors
from samples import SIZE, all_complex, ordinary, paired, tied


def loss(v):
    """Reads components, and uses the vector as a whole."""
    return (
        v.a**2 * anp.sum(v.b**3)
        + anp.sum(anp.sin(v)) * v.g.x
        + anp.dot(v.layers[0].w, v.layers[1].w) * v[3]
        + anp.sum(v.c @ v.c)
    )


def is_fresh(g, *others):
    """Whether a gradient is a writable vector that shares memory with none of the others."""
    buffer = cv.data(g)
    assert type(g) is cv.ComponentVector and buffer.flags.writeable
    return not any(np.shares_memory(buffer, cv.data(other)) for other in others)


def test_reading_and_whole_use_add_up():
    """Both kinds of gradient meet in one vector of the same layout and dtype."""
    v = ordinary()
    g = grad(loss)(v)
    assert type(g) is cv.ComponentVector and g.layout == v.layout and g.dtype == v.dtype
    assert_allclose(cv.data(g), gradient(on_vectors(loss, v.layout), cv.data(v).copy()), 1e-6)


@pytest.mark.parametrize(
    "f",
    [
        loss,
        lambda v: v.a,
        lambda v: anp.sum(v),
        lambda v: anp.dot(np.arange(float(SIZE)), v),
        lambda v: anp.sum(v.g),
        lambda v: v.a * np.float64(2.0),
        lambda v: 0.0 * v.a,
    ],
)
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_a_gradient_has_layout_and_dtype_and_is_fresh_memory(f, dtype):
    """Whatever the function does with the vector; each call gives memory of its own."""
    v = ordinary().astype(dtype)
    one, two = grad(f)(v), grad(f)(v)
    for g in (one, two):
        assert g.layout == v.layout and g.dtype == dtype
    assert is_fresh(one, two, v) and is_fresh(two, v)


def test_what_is_pulled_back_is_never_given_out():
    """A cotangent that passes unchanged is copied."""
    v = ordinary()
    same, leaf = lambda v: v, lambda v: v.b
    for f, cotangent in ((same, np.ones(SIZE)), (same, ordinary()), (leaf, v.b)):
        g = make_vjp(f, v)[0](cotangent)
        assert not np.shares_memory(cv.data(g), np.asarray(cotangent))
    alone = cv.ComponentVector(b=[1.0, 2.0])
    cotangent = np.ones(2)
    assert not np.shares_memory(cv.data(make_vjp(lambda v: v.b, alone)[0](cotangent)), cotangent)


def test_an_unused_component_has_gradient_zero():
    """Never None, also where nothing is used."""
    v = ordinary()
    g = grad(lambda v: v.a**2)(v)
    assert g.a == 1.4 and not g.b.any() and not g.layers.w.any()
    with pytest.warns(UserWarning, match="independent"):
        g = grad(lambda v: 1.0)(v)
    assert type(g) is cv.ComponentVector and g.layout == v.layout and not cv.data(g).any()


def test_a_tied_leaf_gets_the_summed_gradient():
    """Of all places where it is read."""
    v = tied()
    weights = {path: 1.0 + i for i, path in enumerate(v.layout.paths())}
    g = grad(lambda v: sum(weight * anp.sum(v[path]) for path, weight in weights.items()))(v)
    expected = np.zeros(v.layout.size)
    for path, weight in weights.items():
        expected[v.layout.index(path)] += weight
    assert_allclose(cv.data(g), expected)


@pytest.mark.parametrize("make", [tied, paired, all_complex])
def test_gradients_of_ties_and_complex_components(make):
    """Pairs have (d/d(re), d/d(im)), complex vectors d/d(re) - i d/d(im)."""
    v = make()
    paths = v.layout.paths()

    def f(v):
        terms = [anp.sum(anp.sin(v[path]) * v[paths[0]].reshape(-1)[0]) for path in paths]
        return anp.real(sum(terms) * terms[-1]) + anp.sum(anp.abs(v) ** 2)

    g = grad(f)(v)
    assert g.layout == v.layout and g.dtype == v.dtype
    found = gradient(on_vectors(f, v.layout), cv.data(v).copy())
    assert_allclose(cv.data(g), found, rtol=1e-5, atol=1e-7)


def test_a_hessian_through_ties_and_pairs():
    """Reverse over reverse and forward over reverse agree with differences of gradients."""
    for make in (ordinary, tied, paired):
        v = make()
        f = lambda v: anp.real(sum(anp.sum(v[p] ** 3) for p in v.layout.paths()) * anp.sum(v))
        x, u = cv.data(v).copy(), np.cos(np.arange(v.size))
        slope = lambda x, f=f, v=v: cv.data(grad(f)(v.layout.wrap(x)))
        expected = (slope(x + 1e-6 * u) - slope(x - 1e-6 * u)) / 2e-6
        assert_allclose(autograd.hessian(f)(v) @ u, expected, rtol=1e-5, atol=1e-5)
        forward = make_jvp(grad(f), v)(u)[1]
        backward = make_vjp(grad(f), v)[0](u)
        for product in (forward, backward):
            assert type(product) is cv.ComponentVector and product.layout == v.layout
            assert_allclose(cv.data(product), expected, rtol=1e-5, atol=1e-5)


# -- traces within traces --------------------------------------------------------------------------


def test_a_vector_of_an_outer_trace_within_an_inner_one():
    """Neither derivative takes part in the other: d/dv of v * d/du (sum(v * u * u)) at u = v."""
    v = ordinary()
    inner = lambda v: grad(lambda u: anp.sum(v * u * u))(v)  # 2 v^2
    g = grad(lambda v: anp.sum(v * inner(v)))(v)
    assert_allclose(cv.data(g), 6 * cv.data(v) ** 2)
    g = grad(lambda v: v.a * grad(lambda u: anp.sum(v.b) * u.a)(v).a)(v)
    assert_allclose(g.a, v.b.sum())
    assert_allclose(g.b, [v.a] * 3)


def test_an_inner_gradient_by_a_leaf():
    """A leaf of the outer vector is what the inner trace begins with."""
    v = ordinary()
    g = grad(lambda v: anp.sum(grad(lambda b: anp.sum(b**3) * v.a)(v.b) ** 2))(v)
    assert_allclose(g.b, 2 * (3 * v.a * v.b**2) * 6 * v.a * v.b)
    assert_allclose(g.a, np.sum(2 * 3 * v.a * v.b**2 * 3 * v.b**2))


def test_third_derivatives():
    """Of sum(v^4) along ones: 24 v."""
    v, ones = ordinary(), np.ones(SIZE)

    def along(f):
        return lambda v: anp.dot(cv.data(grad(f)(v)), ones)

    third = grad(along(along(lambda v: anp.sum(v**4))))(v)
    assert_allclose(cv.data(third), 24 * cv.data(v))


def test_derivatives_of_groups():
    """A group, a view into the whole, has a gradient of its own layout."""
    v = ordinary()
    g = grad(lambda g: g.x**2 * anp.sum(g.y) + anp.sum(g))(v.g)
    assert g.layout == v.layout["g"]
    assert_allclose(cv.data(g), [2 * 0.6 * 2.2 + 1, 1.36, 1.36])


# -- primitives of others --------------------------------------------------------------------------


def test_a_primitive_of_a_user_gets_vectors_with_names():
    """In the function and in its rule."""

    @primitive
    def energy(v):
        return v.a**2 * np.sum(v.b)

    def rule(ans, v):
        return lambda g: cv.merge(0 * v, a=2 * g * v.a * np.sum(v.b), b=g * v.a**2 * np.ones(3))

    defvjp(energy, rule)
    defjvp(energy, lambda t, ans, v: 2 * v.a * t.a * np.sum(v.b) + v.a**2 * np.sum(t.b))
    g = grad(lambda v: energy(v) * v.a)(ordinary())
    assert_allclose([g.a, g.b[0]], [3 * 0.7**2 * 2.6, 0.7**3])
    tangent = make_jvp(energy, ordinary())(np.ones(SIZE))[1]
    assert_allclose(tangent, 2 * 0.7 * 2.6 + 3 * 0.7**2)


def test_checkpoint_runs_the_function_on_vectors():
    """Once forward and once more backward; to second order."""
    v = ordinary()
    saved = autograd.checkpoint(loss)
    assert_allclose(cv.data(grad(saved)(v)), cv.data(grad(loss)(v)))
    assert_allclose(autograd.hessian(saved)(v), autograd.hessian(loss)(v), atol=1e-12)
    labelled = autograd.checkpoint(lambda v: anp.sin(v) * v.a)
    f = lambda v: labelled(v).b[1] * labelled(v).a
    assert_allclose(
        cv.data(grad(f)(v)), gradient(on_vectors(f, v.layout), cv.data(v).copy()), atol=1e-8
    )


def test_other_tracers_of_autograd_read_leaves_too():
    """`const_graph` records a function once, and runs it again on another vector."""
    from autograd.misc.tracers import const_graph

    f = lambda v: v.a * anp.sum(v.b**2) + v[1] + anp.abs(v.z[0])
    v = cv.ComponentVector(a=1.0, b=[2.0, 3.0], z=[3 + 4j])
    recorded = const_graph(f)
    assert_allclose([recorded(v), recorded(2 * v)], [f(v), f(2 * v)])


# -- what stays behind -----------------------------------------------------------------------------


def operators():
    """Ways to take derivatives, which give something back."""
    return [
        autograd.value_and_grad,
        cv.value_and_grad,
        autograd.hessian,
        cv.hessian,
        lambda f: lambda v: make_vjp(grad(f), v)[0](v),
        lambda f: lambda v: make_jvp(grad(f), v)(v),
        lambda f: lambda v: cv.hvp(f)(v, v),
    ]


@pytest.mark.parametrize("number", range(len(operators())))
@pytest.mark.parametrize(
    "f",
    [
        loss,
        lambda v: anp.sum(v.g**2) + v.layers[0].w[0] + anp.sum(v["layers[:].w"]),
        lambda v: sum(v) + anp.exp(v).g.x + v[["a"]].a + cv.asdict(v)["a"],
        lambda v: anp.sum(cv.ComponentVector(q=v.b, z=v)),
    ],
)
def test_buffers_die_without_the_collector(f, number):
    """There is no reference cycle: the buffer goes with the last name of it."""
    gc.collect()
    gc.disable()
    try:
        v = ordinary()
        alive = weakref.ref(cv.data(v))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of constant gradients
            operators()[number](f)(v)
        del v
        assert alive() is None
    finally:
        gc.enable()


def test_a_function_that_raises_leaves_nothing_behind():
    """Neither at the outside nor within another trace."""
    v = ordinary()
    expected = cv.data(grad(loss)(v))

    def raising(v):
        v.a * v.b + anp.sum(v)
        raise RuntimeError("no value")

    def catching(v):
        for derivative in (grad, cv.grad):
            with pytest.raises(RuntimeError, match="no value"):
                derivative(raising)(v)
        return loss(v)

    for _ in range(3):
        with pytest.raises(RuntimeError, match="no value"):
            cv.grad(raising)(v)
        assert_allclose(cv.data(grad(catching)(v)), expected)


def test_one_pullback_may_be_called_again_and_among_others():
    """Calls do not know of each other."""
    v, w = ordinary(), 2 * ordinary()
    one, two = make_vjp(loss, v)[0], make_vjp(loss, w)[0]
    first, other, second = one(1.0), two(1.0), one(2.0)
    assert_allclose(2 * cv.data(first), cv.data(second))
    assert_allclose(cv.data(other), cv.data(grad(loss)(w)))


# -- sizes -----------------------------------------------------------------------------------------


def test_vectors_of_nothing_and_of_one_number():
    """Empty vectors, empty leaves, and a single scalar."""
    empty = cv.ComponentVector(a=[], b=np.zeros((0, 3)))
    for v in (cv.ComponentVector(), empty):
        g = grad(lambda v: anp.sum(v))(v)
        assert type(g) is cv.ComponentVector and g.size == 0
    g = grad(lambda v: anp.sum(v.a) + anp.sum(v.b))(empty)
    assert g.layout == empty.layout
    mixed = cv.ComponentVector(a=[], b=2.0)
    assert grad(lambda v: anp.sum(v.a) + v.b**3)(mixed).tolist() == [12.0]
    one = cv.ComponentVector(x=3.0)
    for f in (lambda v: v.x**2, lambda v: v[0] ** 2, lambda v: anp.sum(v**2), lambda v: v @ v):
        assert grad(f)(one).tolist() == [6.0]
    assert autograd.hessian(lambda v: v.x**3)(one).tolist() == [[18.0]]


def test_many_leaves_and_deep_nests():
    """Ten thousand numbers one by one, and 500 levels without any recursion."""
    many = cv.ComponentVector({f"p{i}": 1e-3 * i for i in range(10_000)})
    g = grad(lambda v: sum(x**2 for x in v))(many)
    assert_allclose(cv.data(g), 2 * cv.data(many))
    tree = {"w": 1.0}
    for _ in range(500):
        tree = {"inner": tree, "w": [1.0, 2.0]}
    deep = cv.ComponentVector(tree)

    def down(v):
        total = anp.sum(v.w**2)
        for _ in range(500):
            v = v.inner
            total = total + anp.sum(v.w**2)
        return total

    assert_allclose(cv.data(grad(down)(deep)), 2 * cv.data(deep))
    assert_allclose(cv.data(cv.hvp(down)(deep, np.ones(deep.size))), 2.0)
    path = "inner." * 500 + "w"
    assert cv.data(grad(lambda v: v[path] ** 2)(deep)).sum() == 2.0
