"""Every operator of autograd takes vectors, alone, among other arguments and in containers."""

import warnings

import autograd
import autograd.differential_operators as operators
import autograd.numpy as anp
import numpy as np
import pytest
from autograd.misc.flatten import flatten
from autograd.misc.optimizers import adam
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import componentvec as cv
from differences import gradient, jacobian, on_vectors
from samples import SIZE, ordinary
from strategies import tied_vectors


def f(v):
    """Reads components, and uses the vector as a whole."""
    return v.a**2 * anp.sum(v.b**3) + anp.sum(anp.sin(v)) * v.g.x + anp.sum(v.c @ v.c) * v[9]


def field(v):
    """A vector of a vector."""
    return anp.sin(v) * v.a


V = ordinary()
X = cv.data(V).copy()
U = np.cos(np.arange(float(SIZE)))
G = gradient(on_vectors(f, V.layout), X)
J = jacobian(on_vectors(field, V.layout), X)
H = jacobian(on_vectors(lambda v: autograd.grad(f)(v), V.layout), X)


def entries(g, expected_layout=None):
    """The entries of what must be a vector, of the layout of V if no other is given."""
    assert type(g) is cv.ComponentVector
    assert cv.layout(g) == (V.layout if expected_layout is None else expected_layout)
    return cv.data(g)


def close(value, expected):
    """To the digits that differences have."""
    assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_gradients():
    """grad, value_and_grad, grad_named, grad_and_aux."""
    close(entries(autograd.grad(f)(V)), G)
    value, g = autograd.value_and_grad(f)(V)
    assert value == f(V)
    close(entries(g), G)
    close(entries(autograd.grad_named(lambda s, v: s * f(v), "v")(2.0, V)), 2 * G)
    g, aux = operators.grad_and_aux(lambda v: (f(v), 2 * v))(V)
    close(entries(g), G)
    assert_allclose(entries(aux), 2 * X)


def test_elementwise_and_directional_ones():
    """elementwise_grad and deriv, the sum of columns and of rows."""
    close(entries(autograd.elementwise_grad(field)(V)), J.sum(axis=0))
    close(entries(operators.deriv(field)(V)), J.sum(axis=1))
    assert_allclose(entries(autograd.elementwise_grad(lambda v: v)(V)), 1.0)


def test_matrices():
    """jacobian and hessian give plain arrays."""
    close(autograd.jacobian(field)(V), J)
    close(autograd.jacobian(f)(V), G)
    assert autograd.jacobian(lambda v: v.c * v.a)(V).shape == (2, 2, SIZE)
    close(autograd.hessian(f)(V), H)
    close(autograd.jacobian(autograd.grad(f))(V), H)


@pytest.mark.parametrize("u", [U, V.layout.wrap(U)], ids=["plain", "labelled"])
def test_products(u):
    """make_vjp, make_jvp, and products with Hessians and Jacobians, by vectors or arrays."""
    pullback, value = autograd.make_vjp(field)(V)
    close(entries(pullback(u)), U @ J)
    assert_allclose(entries(value), cv.data(field(V)))
    value, tangent = autograd.make_jvp(field)(V)(u)
    close(entries(tangent), J @ U)
    multiply, g = autograd.make_hvp(f)(V)
    close(entries(multiply(u)), H @ U)
    close(entries(g), G)
    close(entries(autograd.hessian_vector_product(f)(V, u)), H @ U)
    close(entries(autograd.make_jvp(autograd.grad(f))(V)(u)[1]), H @ U)
    close(autograd.vector_jacobian_product(field)(V, u), U @ J)
    close(entries(operators.make_jvp_reversemode(field)(V)(u)), J @ U)
    close(entries(autograd.make_ggnvp(field)(V)(u)), J.T @ J @ U)


def test_holomorphic_gradient():
    """The complex derivative of sum(z^3) + z.a z.b[1]."""
    z = cv.ComponentVector(a=1 + 2j, b=[2 - 1j, 0.5j])
    g = autograd.holomorphic_grad(lambda z: anp.sum(z**3) + z.a * z.b[1])(z)
    expected = 3 * cv.data(z) ** 2 + np.array([z.b[1], 0, z.a])
    assert_allclose(entries(g, z.layout), expected)
    assert g.dtype == complex


def test_several_arguments():
    """Argument tuples with two vectors, a vector and a number, a vector and an array."""
    w = cv.ComponentVector(p=[1.0, 2.0], q=3.0)
    both = lambda v, w: f(v) * w.q + anp.sum(w.p**2) * v.a
    by_v, by_w = autograd.grad(both, (0, 1))(V, w)
    close(entries(by_v), 3 * G + 5 * np.eye(SIZE)[0])
    close(entries(by_w, w.layout), [2 * V.a, 4 * V.a, f(V)])
    by_w, by_v = autograd.grad(both, (1, 0))(V, w)
    close(entries(by_v), 3 * G + 5 * np.eye(SIZE)[0])
    close(entries(autograd.grad(both, 1)(V, w), w.layout), [2 * V.a, 4 * V.a, f(V)])
    by_v, by_s = autograd.grad(lambda v, s: f(v) * s, (0, 1))(V, 2.0)
    close(entries(by_v), 2 * G)
    close(by_s, f(V))
    mixed = lambda x, v: anp.sum(anp.where(X > 0.5, x, v)) + anp.sum(anp.outer(x, v))
    by_x, by_v = autograd.grad(mixed, (0, 1))(U, V)
    assert type(by_x) is np.ndarray
    close(entries(by_v), (X <= 0.5) + U.sum())
    same = autograd.grad(lambda v, w: anp.sum(v + w), (0, 1))(V, V)
    assert not np.shares_memory(*map(entries, same))


def test_vectors_in_containers():
    """Dicts, lists, tuples, nested; to second order."""
    for put, take in (
        (lambda v: {"v": v, "s": 2.0}, lambda d: (d["v"], d["s"])),
        (lambda v: [v, 2.0], lambda d: (d[0], d[1])),
        (lambda v: (v, 2.0), lambda d: (d[0], d[1])),
        (lambda v: {"in": [{"v": v}, 2.0]}, lambda d: (d["in"][0]["v"], d["in"][1])),
    ):
        product = lambda d, take=take: f(take(d)[0]) * take(d)[1]
        by_v, by_s = take(autograd.grad(product)(put(V)))
        close(entries(by_v), 2 * G)
        close(by_s, f(V))
        inner = lambda d, p=product, take=take: anp.dot(cv.data(take(autograd.grad(p)(d))[0]), U)
        close(entries(take(autograd.grad(inner)(put(V)))[0]), 2 * H @ U)


def test_flatten_and_optimizers():
    """What autograd builds on spaces."""
    x, unflatten = flatten({"v": V, "s": np.ones(2)})
    assert x.size == SIZE + 2
    assert_allclose(entries(unflatten(x)["v"]), X)
    start = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    found = adam(lambda v, i: autograd.grad(lambda v: anp.sum(v**2))(v), start, num_iters=200)
    assert found.layout == start.layout and np.abs(found).max() < 3


def test_a_plain_array_keeps_a_plain_gradient_beside_vectors():
    """A vector that is a constant does not label what it meets."""
    constant = cv.ComponentVector(a=np.ones(3))
    x = np.array([1.0, 2.0, 3.0])
    for f in (
        lambda x: anp.sum(x * constant),
        lambda x: x @ constant,
        lambda x: anp.sum(anp.where(x > 0.0, x, constant)),
        lambda x: anp.sum(constant.layout.wrap(x) * constant),
        lambda x: anp.sum(x * constant.layout.wrap(np.ones(3) + 0.0 * x)),
    ):
        for derivative in (autograd.grad, cv.grad):
            g = derivative(f)(x)
            assert type(g) is np.ndarray
            assert_allclose(g, 1.0)
    g = autograd.grad(lambda x: constant.layout.wrap(x).a[1] * x[0])(x)
    assert type(g) is np.ndarray and g.tolist() == [2.0, 1.0, 0.0]


# -- the law of the gradient  ----------------------------------------------------------------------


@given(tied_vectors(), st.data())
def test_the_gradient_of_a_random_polynomial(found, data):
    """Of components of any layout, tied and oddly named ones included.

    The oracle works on the buffer alone: each leaf is the entries at its positions, and each use of
    it adds at these positions.
    """
    v, index = found
    own, x = cv.layout(v), cv.data(v).copy()
    paths = list(index)
    used = data.draw(st.lists(st.sampled_from(paths), max_size=6)) if paths else []
    powers = [data.draw(st.integers(1, 3)) for _ in used]
    scale = data.draw(st.sampled_from([0.0, 1.0, -0.5]))

    def polynomial(v):
        total = scale * anp.sum(v * v)
        for path, power in zip(used, powers, strict=True):
            total = total + anp.sum(read(v, path) ** power)
        return total

    expected = 2 * scale * x
    for path, power in zip(used, powers, strict=True):
        np.add.at(expected, index[path], power * x[index[path]] ** (power - 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a vector without entries
        g = autograd.grad(polynomial)(v)
        second = cv.hvp(polynomial)(v, np.ones(own.size))
    assert_allclose(entries(g, own), expected, atol=1e-9)
    curvature = np.full(own.size, 2 * scale)
    for path, power in zip(used, powers, strict=True):
        bend = power * (power - 1) * x[index[path]] ** max(power - 2, 0)
        np.add.at(curvature, index[path], bend)
    assert_allclose(entries(second, own), curvature, atol=1e-9)


def read(v, path):
    """A component, key by key: groups by item, positions of sequences by index."""
    for key in path:
        v = v[key] if isinstance(v, cv.ComponentList) else item(v, key)
    return v


def item(v, key):
    """A component of a group; a key that is no identifier stands as it is, a number in brackets."""
    return v[f"[{key}]"] if isinstance(key, int) else v[key]
