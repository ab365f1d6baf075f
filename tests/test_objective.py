"""Laws of what SciPy gets: derivatives over free real entries agree with finite differences.

For vectors, models and arrays; real, complex and mixed; tied or not; any entries fixed.
"""

import autograd.numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import componentvec as cv
from componentvec.equations import Equations
from componentvec.objective import Objective
from componentvec.returns import covector
from componentvec.unknowns import Unknowns

W = np.linspace(-1, 1, 6).reshape(2, 3)
STARTS = {
    "real vector": cv.ComponentVector(a=0.3, b=[{"w": [0.1, -0.2]}, {"w": [0.5, 0.7]}]),
    "complex vector": cv.ComponentVector(a=0.3 + 0.1j, b=[1j, -0.5 + 0.2j]),
    "mixed vector": cv.ComponentVector(a=0.3 + 0.1j, b=[0.4, -0.2], c=[[0.1j, 0.2]]),
    "tied vector": cv.destructure({"enc": W, "dec": W.T, "b": np.ones(2)})[0],
    "real model": {"enc": W, "dec": W.T, "b": np.ones(2, np.float32), "name": "m"},
    "complex model": [np.array([0.5 + 0.1j, 0.2]), {"z": np.array(0.3j)}],
    "mixed model": {"z": np.array([0.5 + 0.1j, 0.2]), "r": np.array([[0.4], [0.1]]), "n": 3},
    "real array": np.array([0.1, 0.5, -0.3]),
    "complex array": np.array([0.1j, 0.5, -0.3 + 0.2j]),
}


def leaves(x):
    """All arrays of a vector, a model or an array, each name for itself."""
    if isinstance(x, dict | list):
        return [leaf for v in (x.values() if isinstance(x, dict) else x) for leaf in leaves(v)]
    if not hasattr(x, "_layout"):
        return [] if isinstance(x, str | int) else [np.reshape(x, -1)]
    return [np.reshape(x[path], -1) for path in cv.layout(x).paths()]


def numbers(x):
    """Real numbers that depend on everything, and on the conjugate of what is complex."""
    parts = []
    for i, leaf in enumerate(leaves(x)):
        parts += [np.sin(np.real(leaf) + i), np.real(leaf) * np.imag(leaf * (1 + 0.5j)) + i / 3]
    return np.concatenate(parts)


def value(x):
    """One real number that is curved in all directions."""
    n = numbers(x)
    return np.sum(n**2) + n[0] * n[-1] + np.sum(n[1:] * n[:-1] ** 2)


def complex_numbers(x):
    """Complex numbers that are no analytic function of complex entries."""
    return {"v": numbers(x) * (1 + 2j), "c": sum(np.sum(np.conj(leaf)) for leaf in leaves(x)) * 1j}


@st.composite
def problems(draw):
    """What is solved for, some of it fixed, and a point."""
    unknowns = Unknowns(STARTS[draw(st.sampled_from(sorted(STARTS)))])
    size = unknowns.start.size
    mask = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    mask[draw(st.integers(0, size - 1))] = False
    unknowns.fix(mask)
    seed = draw(st.integers(0, 2**32 - 1))
    x = unknowns.x0 + 0.3 * np.random.default_rng(seed).normal(size=unknowns.x0.size)
    return unknowns, x


def differences(fun, x, step=1e-6):
    """Derivatives of a function by central differences, a column for each entry of x."""
    columns = [(fun(x + d) - fun(x - d)) / (2 * step) for d in step * np.eye(x.size)]
    return np.stack(columns, axis=-1)


@settings(max_examples=60)
@given(problems())
def test_gradient_and_second_derivatives_agree_with_differences(problem):
    """Over the free entries; products are those with the Hessian."""
    unknowns, x = problem
    objective = Objective(value, (), unknowns, None)
    gradient, hessian = objective.gradient(x), objective.hessian(x)
    assert_allclose(gradient, differences(objective.value, x), rtol=1e-6, atol=1e-6)
    assert_allclose(hessian, differences(objective.gradient, x), rtol=1e-5, atol=1e-5)
    p = np.cos(np.arange(x.size))
    assert_allclose(objective.product(x, p), hessian @ p, rtol=1e-9, atol=1e-9)


@settings(max_examples=60)
@given(problems())
def test_gradients_by_hand_come_to_the_same(problem):
    """What `grad` gives for what users see is the gradient over the free entries."""
    unknowns, x = problem
    exact = Objective(value, (), unknowns, None).gradient(x)
    assert_allclose(covector(unknowns, cv.grad(value)(unknowns.view(x))), exact, rtol=1e-9)
    by_hand = Objective(cv.value_and_grad(value), (), unknowns, True)
    assert_allclose(by_hand.gradient(x), exact, rtol=1e-9)
    assert_allclose(unknowns.gradient(exact), _whole(unknowns, exact), rtol=1e-9)


def _whole(unknowns, gradient):
    """A gradient among all entries, by autograd's convention."""
    whole = np.zeros(unknowns.start.size)
    whole[slice(None) if unknowns.free is None else unknowns.free] = gradient
    return whole[0::2] - 1j * whole[1::2] if unknowns.paired else whole


@settings(max_examples=60)
@given(problems(), st.sampled_from([numbers, complex_numbers]))
def test_jacobian_and_its_products_agree_with_differences(problem, fun):
    """Real and complex values alike; complex ones are pairs, and complex again."""
    unknowns, x = problem
    equations = Equations(fun, (), unknowns, "values")
    jacobian = equations.jacobian(x)
    assert_allclose(jacobian, differences(equations, x), rtol=1e-6, atol=1e-6)
    found, wanted = equations.labelled(equations(x)), fun(unknowns.view(x))
    wanted = wanted if fun is numbers else cv.ComponentVector(wanted)
    assert_allclose(np.asarray(found), np.asarray(wanted))
    weights = np.sin(np.arange(len(jacobian)))
    second = differences(lambda y: weights @ equations.jacobian(y), x)
    p = np.cos(np.arange(x.size))
    product = equations.hessian_product(x, weights)(p)
    assert_allclose(product, second @ p, rtol=1e-5, atol=1e-5)


@settings(max_examples=60)
@given(problems())
def test_solutions_are_whole_and_come_back(problem):
    """What users see at x is the solution x; fixed entries are those of the start."""
    unknowns, x = problem
    seen = unknowns.view(x)
    for one, two in zip(leaves(seen), leaves(_solution(unknowns, x)), strict=True):
        assert_allclose(one, two, rtol=1e-6)
    real = np.asarray(unknowns.vector(x)).reshape(-1)
    real = np.ascontiguousarray(real).view(float) if unknowns.paired else real
    assert (real[unknowns.is_fixed] == unknowns.start[unknowns.is_fixed]).all()
    assert (real[~unknowns.is_fixed] == x).all()


def _solution(unknowns, x):
    """A solution as users get it."""
    return unknowns.model(x) if unknowns.is_model else unknowns.vector(x)
