"""Tests of the rank-two BFGS: right values are SciPy's own BFGS, known minima, and hand work."""

import inspect
import math
import tracemalloc

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import (
    Bounds,
    LinearConstraint,
    OptimizeResult,
    OptimizeWarning,
    minimize,
    rosen,
    rosen_der,
)
from scipy.optimize._optimize import _prepare_scalar_function

from componentvec import quasi_newton
from componentvec.quasi_newton import bfgs

ROSEN_START = np.array([-1.2, 1.0])
POINT = np.array([3.0, 4.0])


def bowl(x, *scale):
    """The square distance from (1, 1, ...), times a factor."""
    return float(np.sum((x - 1) ** 2)) * math.prod(scale)


def bowl_der(x, *scale):
    """Gradient of `bowl`."""
    return 2 * (x - 1) * math.prod(scale)


def beale(x):
    """Beale's function; minimum 0 at (3, 0.5)."""
    return sum((c - x[0] * (1 - x[1] ** k)) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))


def brown_badly_scaled(x):
    """Brown's badly scaled function; minimum 0 at (1e6, 2e-6), condition number 4e12."""
    return (x[0] - 1e6) ** 2 + (x[1] - 2e-6) ** 2 + (x[0] * x[1] - 2) ** 2


def powell_singular(x):
    """Powell's singular function; minimum 0 at 0, where the Hessian has rank two."""
    return (
        (x[0] + 10 * x[1]) ** 2
        + 5 * (x[2] - x[3]) ** 2
        + (x[1] - 2 * x[2]) ** 4
        + 10 * (x[0] - x[3]) ** 4
    )


def wood(x):
    """Wood's function; minimum 0 at (1, 1, 1, 1)."""
    valleys = 100 * (x[1] - x[0] ** 2) ** 2 + 90 * (x[3] - x[2] ** 2) ** 2
    centre = (1 - x[0]) ** 2 + (1 - x[2]) ** 2
    return valleys + centre + 10 * (x[1] + x[3] - 2) ** 2 + 0.1 * (x[1] - x[3]) ** 2


def trigonometric(x):
    """The trigonometric function of Moré, Garbow and Hillstrom (1981), problem 26."""
    i = anp.arange(1, len(x) + 1)
    return anp.sum((len(x) - anp.sum(anp.cos(x)) + i * (1 - anp.cos(x)) - anp.sin(x)) ** 2)


def helical_valley(x):
    """The helical valley of Fletcher and Powell; minimum 0 at (1, 0, 0)."""
    turn = anp.arctan2(x[1], x[0]) / (2 * np.pi)
    return 100 * ((x[2] - 10 * turn) ** 2 + (anp.sqrt(x[0] ** 2 + x[1] ** 2) - 1) ** 2) + x[2] ** 2


def variably_dimensioned(x):
    """The variably dimensioned function of Moré, Garbow and Hillstrom (1981); minimum 0 at 1."""
    total = anp.sum(anp.arange(1, len(x) + 1) * (x - 1))
    return anp.sum((x - 1) ** 2) + total**2 + total**4


RNG = np.random.default_rng(7)
FEATURES = RNG.normal(size=(120, 6))
SIGNS = np.where(FEATURES @ RNG.normal(size=6) + RNG.normal(size=120) > 0, 1.0, -1.0)
TIMES = np.linspace(-2, 2, 40)


def logistic_loss(w):
    """Logistic regression with a ridge."""
    return anp.sum(anp.logaddexp(0.0, -SIGNS * anp.dot(FEATURES, w))) + 0.5 * anp.sum(w**2)


def perceptron_loss(p):
    """A tanh network with one hidden layer of five, fitted to a sine, with weight decay."""
    hidden = anp.tanh(anp.outer(TIMES, p[:5]) + p[5:10])
    return anp.mean((anp.dot(hidden, p[10:15]) + p[15] - np.sin(TIMES)) ** 2) + 0.01 * anp.sum(p**2)


def quadratic(eigenvalues, seed=0):
    """Matrix with these eigenvalues and random eigenvectors."""
    n = len(eigenvalues)
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    a = (q * eigenvalues) @ q.T
    return (a + a.T) / 2


PROBLEMS = {
    "rosenbrock 2": (rosen, ROSEN_START),
    "rosenbrock 10": (rosen, np.full(10, 0.5)),
    "rosenbrock 50": (rosen, np.full(50, 0.5)),
    "beale": (beale, np.array([1.0, 1.0])),
    "brown badly scaled": (brown_badly_scaled, np.array([1.0, 1.0])),
    "powell singular": (powell_singular, np.array([3.0, -1.0, 0.0, 1.0])),
    "wood": (wood, np.array([-3.0, -1.0, -3.0, -1.0])),
    "trigonometric 5": (trigonometric, np.full(5, 0.2)),
    "trigonometric 20": (trigonometric, np.full(20, 0.05)),
    "helical valley": (helical_valley, np.array([-1.0, 1e-8, 0.0])),
    "variably dimensioned": (variably_dimensioned, 1 - np.arange(1, 9) / 8),
    "logistic regression": (logistic_loss, np.zeros(6)),
    "perceptron": (perceptron_loss, 0.5 * np.random.default_rng(3).normal(size=16)),
}
MINIMA = {
    "rosenbrock 2": np.ones(2),
    "rosenbrock 10": np.ones(10),
    "rosenbrock 50": np.ones(50),
    "beale": np.array([3.0, 0.5]),
    "brown badly scaled": np.array([1e6, 2e-6]),
    "wood": np.ones(4),
    "helical valley": np.array([1.0, 0.0, 0.0]),
    "variably dimensioned": np.ones(8),
}
WELL_CONDITIONED = sorted(PROBLEMS.keys() - {"brown badly scaled", "variably dimensioned"})


def gradient(fun):
    """Exact gradient."""
    return rosen_der if fun is rosen else grad(fun)


def both(fun, x0, **arguments):
    """Results of SciPy's BFGS and of ours for one problem."""
    return [minimize(fun, x0, method=method, **arguments) for method in ("BFGS", bfgs)]


def counting_resets(monkeypatch):
    """A list that grows by one at each reset after this call."""
    resets, reset = [], quasi_newton._InverseHessian.reset
    monkeypatch.setattr(
        quasi_newton._InverseHessian, "reset", lambda self: (resets.append(1), reset(self))
    )
    return resets


# The standard problems, side by side with SciPy.


@pytest.mark.parametrize("name", PROBLEMS)
def test_standard_problem_gets_scipys_minimum_in_no_more_iterations(name):
    """Same minimum as SciPy's BFGS; at most a tenth more iterations, rounded up."""
    fun, x0 = PROBLEMS[name]
    theirs, ours = both(fun, x0, jac=gradient(fun))
    assert ours.success and ours.status == 0 and ours.message == theirs.message
    assert ours.nit <= theirs.nit + math.ceil(theirs.nit / 10)
    assert ours.fun == pytest.approx(theirs.fun, rel=1e-6, abs=1e-8)
    assert np.abs(ours.jac).max() <= 1e-5
    if name in MINIMA:
        np.testing.assert_allclose(ours.x, MINIMA[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_inverse_hessian_is_symmetric_and_positive_definite(name):
    """The result's matrix equals its transpose exactly and has a Cholesky factor."""
    fun, x0 = PROBLEMS[name]
    inverse = minimize(fun, x0, method=bfgs, jac=gradient(fun)).hess_inv
    assert inverse.shape == (x0.size, x0.size) and inverse.dtype == float
    assert (inverse == inverse.T).all()
    np.linalg.cholesky(inverse)


@pytest.mark.parametrize("name", WELL_CONDITIONED)
def test_first_iterates_are_scipys(name):
    """The first ten iterates agree to rounding, and so do the counts of a run of ten."""
    fun, x0 = PROBLEMS[name]
    theirs, ours = both(fun, x0, jac=gradient(fun), options={"return_all": True, "maxiter": 10})
    assert (ours.nit, ours.nfev, ours.njev) == (theirs.nit, theirs.nfev, theirs.njev)
    assert len(ours.allvecs) == ours.nit + 1
    np.testing.assert_allclose(ours.allvecs, theirs.allvecs, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.hess_inv, theirs.hess_inv, rtol=1e-6, atol=1e-6)


def test_result_has_the_fields_of_scipys():
    """Same names and, for a problem without rounding trouble, the same values."""
    theirs, ours = both(bowl, POINT, jac=bowl_der, options={"return_all": True})
    assert ours.keys() == theirs.keys() and isinstance(ours, OptimizeResult)
    for name in ("nfev", "njev", "nit", "status", "success", "message"):
        assert ours[name] == theirs[name]
    assert type(ours.fun) is float and type(ours.success) is bool


def test_first_update_is_the_one_worked_by_hand():
    """The identity, updated by a pair whose inner products are small whole numbers."""
    inverse = quasi_newton._InverseHessian(2, None)
    s, y, g = np.array([-1.0, -1.0]), np.array([-1.0, -4.0]), np.array([3.0, 0.0])
    p = inverse.update(s, y, g, np.array([-4.0, -4.0]))
    # y's = 5, so I - s y'/5 = [[.8, -.8], [-.2, .2]], times its transpose, plus s s'/5 = .2:
    by_hand = np.array([[1.28 + 0.2, -0.32 + 0.2], [-0.32 + 0.2, 0.08 + 0.2]])
    np.testing.assert_allclose(inverse.full(), by_hand, rtol=1e-14)
    np.testing.assert_allclose(inverse.full() @ y, s, rtol=1e-14)
    np.testing.assert_allclose(p, -by_hand @ g, rtol=1e-14)


def test_small_change_of_gradient_gives_the_same_update():
    """Where Hy is multiplied out in place of Hg, the update and the direction are the same."""
    start = quadratic([0.5, 1.0, 3.0])
    inverse = quasi_newton._InverseHessian(3, start)
    g, y, s = np.array([5.0, -3.0, 1.0]), np.array([0.01, 0.02, -0.01]), np.array([0.1, 0.3, 0.2])
    p = inverse.update(s, y, g, -start @ (g - y))
    left = np.eye(3) - np.outer(s, y) / (y @ s)
    expected = left @ start @ left.T + np.outer(s, s) / (y @ s)
    np.testing.assert_allclose(inverse.full(), expected, rtol=1e-10)
    np.testing.assert_allclose(p, -expected @ g, rtol=1e-10)


@given(
    st.lists(st.floats(0.1, 100.0), min_size=1, max_size=12),
    st.integers(0, 2**16),
)
def test_convex_quadratic_is_solved_and_its_inverse_found_positive_definite(eigenvalues, seed):
    """The minimum is the solution of linear equations, the matrix symmetric positive definite."""
    a = quadratic(eigenvalues, seed)
    b = np.random.default_rng(seed).normal(size=len(a))
    res = minimize(
        lambda x: 0.5 * x @ a @ x - b @ x,
        np.zeros(len(a)),
        jac=lambda x: a @ x - b,
        method=bfgs,
        tol=1e-6,
    )
    np.testing.assert_allclose(res.x, np.linalg.solve(a, b), atol=1e-4)
    assert (res.hess_inv == res.hess_inv.T).all()
    np.linalg.cholesky(res.hess_inv)


def test_inverse_hessian_of_a_quadratic_is_found():
    """After convergence the matrix is the inverse of the quadratic's."""
    a = quadratic([1.0, 2.0, 5.0, 9.0])
    res = minimize(lambda x: x @ a @ x / 2, np.ones(4), jac=lambda x: a @ x, method=bfgs, tol=1e-9)
    np.testing.assert_allclose(res.hess_inv, np.linalg.inv(a), atol=5e-3)


@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_second_triangle_is_filled_at_all_sizes(n):
    """The blocks in which the matrix is mirrored cover it, whatever its size."""
    scales = np.linspace(1, 3, n)
    theirs, ours = both(
        lambda x: 0.5 * x @ (scales * x) + 0.1 * np.sum(x) ** 2,
        np.ones(n),
        jac=lambda x: scales * x + 0.2 * np.sum(x),
        options={"maxiter": 5},
    )
    assert (ours.hess_inv == ours.hess_inv.T).all()
    np.testing.assert_allclose(ours.hess_inv, theirs.hess_inv, atol=1e-9)


# Gradients: callable, together with the value, by differences, in one buffer.


def test_gradient_in_one_buffer_does_no_harm():
    """A callback that returns the same array each time gives the same run."""
    buffer = np.empty(2)

    def reused(x):
        buffer[:] = rosen_der(x)
        return buffer

    fresh = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    res = minimize(rosen, ROSEN_START, jac=reused, method=bfgs)
    assert res.nit == fresh.nit and (res.x == fresh.x).all()
    assert not np.shares_memory(res.jac, buffer)


def test_value_and_gradient_in_one_buffer_do_no_harm():
    """The same with ``jac=True``, the value being an array that is written again too."""
    value, buffer = np.empty(()), np.empty(2)

    def reused(x):
        value[...], buffer[:] = rosen(x), rosen_der(x)
        return value, buffer

    fresh = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    res = minimize(reused, ROSEN_START, jac=True, method=bfgs)
    assert res.nit == fresh.nit and (res.x == fresh.x).all() and res.fun == fresh.fun


@pytest.mark.parametrize("solve", [minimize, lambda *a, method, **k: method(*a, **k)])
def test_jac_true_means_value_and_gradient(solve):
    """``jac=True`` through SciPy and in a direct call: one evaluation a point."""
    calls = []

    def value_and_gradient(x):
        calls.append(1)
        return rosen(x), rosen_der(x)

    res = solve(value_and_gradient, ROSEN_START, jac=True, method=bfgs)
    expected = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    assert (res.x == expected.x).all() and len(calls) == res.nfev == expected.nfev


@pytest.mark.parametrize("jac", [None, False])
def test_no_gradient_means_finite_differences_as_in_scipy(jac):
    """The same counts and minimum as SciPy's, and `eps` is the step."""
    theirs, ours = both(bowl, POINT, jac=jac)
    assert (ours.nit, ours.nfev, ours.njev) == (theirs.nit, theirs.nfev, theirs.njev)
    theirs, ours = both(bowl, POINT, jac=jac, options={"eps": np.array([1e-3, 1e-4])})
    np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-9)
    np.testing.assert_allclose(ours.x, [1 - 5e-4, 1 - 5e-5], atol=1e-5)


@pytest.mark.parametrize("jac", ["2-point", "3-point", "cs"])
def test_gradient_scheme_by_name_in_a_direct_call(jac):
    """A string chooses the scheme; counts are SciPy's."""
    fun = lambda x: np.sum((x - 1) ** 2)
    theirs = minimize(fun, POINT, jac=jac, method="BFGS", options={"finite_diff_rel_step": 1e-6})
    ours = bfgs(fun, POINT, jac=jac, finite_diff_rel_step=1e-6)
    assert ours.success and ours.nfev == theirs.nfev
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-8)


def test_gradient_scheme_by_name_becomes_plain_differences_through_scipy():
    """SciPy passes no string to a callable method; the run is that of ``jac=None``."""
    named = minimize(bowl, POINT, jac="3-point", method=bfgs)
    assert named.nfev == minimize(bowl, POINT, method=bfgs).nfev


def test_unknown_gradient_scheme_is_refused():
    """A string that names no scheme is an error in a direct call."""
    with pytest.raises(ValueError, match=r"jac must be callable.*got '4-point'"):
        bfgs(bowl, POINT, jac="4-point")


@pytest.mark.skipif(
    "workers" not in inspect.signature(_prepare_scalar_function).parameters,
    reason="SciPy before 1.16 has no workers",
)
def test_workers_evaluate_the_differences():
    """A map-like callable is used for the finite differences."""
    used = []

    def counting_map(fun, points):
        used.append(1)
        return map(fun, points)

    assert minimize(bowl, POINT, method=bfgs, options={"workers": counting_map}).success
    assert used


@pytest.mark.parametrize("given", [list, np.float32, lambda g: g[:, None]])
def test_gradient_may_be_anything_with_n_real_numbers(given):
    """Lists, single precision and a column do as well as a flat array."""
    res = minimize(bowl, POINT, jac=lambda x: given(bowl_der(x)), method=bfgs)
    np.testing.assert_allclose(res.x, 1, atol=1e-6)
    assert res.jac.shape == (2,) and res.jac.dtype == float


def test_gradient_of_wrong_size_is_refused():
    """The error says how many entries there should be."""
    with pytest.raises(ValueError, match=r"the gradient must have 2 entries, got the shape \(3,\)"):
        minimize(bowl, POINT, jac=lambda x: np.ones(3), method=bfgs)


@pytest.mark.parametrize("value", [None, np.array([1j, 0]), np.array(["a", "b"])])
def test_gradient_that_is_not_real_is_refused(value):
    """None, complex numbers and text are no gradient."""
    with pytest.raises(TypeError, match="the gradient must hold real numbers"):
        minimize(bowl, POINT, jac=lambda x: value, method=bfgs)


def test_args_reach_function_and_gradient():
    """A tuple as it is, and one argument without a tuple, in both kinds of call."""
    for args in ((2.0, 3.0), 2.0):
        ours = minimize(bowl, POINT, args=args, jac=bowl_der, method=bfgs)
        direct = bfgs(bowl, POINT, args, bowl_der)
        assert ours.fun == direct.fun < 1e-12


def test_what_the_function_raises_comes_through():
    """Exceptions of the function are not caught."""

    def broken(x):
        raise ArithmeticError("no value here")

    with pytest.raises(ArithmeticError, match="no value here"):
        minimize(broken, POINT, jac=bowl_der, method=bfgs)


# The start.


def test_start_is_not_touched_and_not_read_again():
    """The function may write into its argument and into the start itself."""
    x0 = ROSEN_START.copy()

    def rude(x):
        value = rosen(x)
        x[:] = x0[:] = 99.0
        return value

    expected = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    assert (minimize(rude, x0, jac=rosen_der, method=bfgs).x == expected.x).all()
    x0[:] = ROSEN_START
    minimize(rosen, x0, jac=rosen_der, method=bfgs)
    assert (x0 == ROSEN_START).all()


def test_single_precision_start_is_worked_in_double():
    """The function sees float64, and the run is that of the same start in double."""
    dtypes = set()

    def watched(x):
        dtypes.add(x.dtype)
        return rosen(x)

    start = ROSEN_START.astype(np.float32)
    res = minimize(watched, start, jac=rosen_der, method=bfgs)
    double = minimize(rosen, start.astype(float), jac=rosen_der, method=bfgs)
    assert dtypes == {np.dtype(float)} and res.x.dtype == res.hess_inv.dtype == float
    assert res.success and (res.x == double.x).all()


@pytest.mark.parametrize("x0", [5, 5.0, [5], np.float32(5), np.array(5.0)])
def test_one_parameter_may_be_given_as_a_number(x0):
    """A scalar start gives a vector of one entry."""
    for res in (minimize(bowl, x0, jac=bowl_der, method=bfgs), bfgs(bowl, x0, jac=bowl_der)):
        assert res.x.shape == (1,) and res.hess_inv.shape == (1, 1)
        assert res.x[0] == pytest.approx(1) and res.hess_inv[0, 0] == pytest.approx(0.5)


def test_no_parameters_are_a_success_at_once():
    """With nothing to move, one evaluation is the answer."""
    for jac in (bowl_der, None):
        res = minimize(bowl, [], jac=jac, method=bfgs)
        assert res.success and res.nit == 0 and res.nfev == 1
        assert res.x.shape == (0,) and res.hess_inv.shape == (0, 0)


def test_converged_start_gives_the_identity():
    """Without an iteration the matrix is the identity, in floating point."""
    res = minimize(bowl, [1.0, 1.0], jac=bowl_der, method=bfgs)
    assert res.nit == 0 and res.success
    assert res.hess_inv.dtype == float and (res.hess_inv == np.eye(2)).all()


def test_start_with_two_axes_is_refused():
    """SciPy's condition holds in a direct call too."""
    with pytest.raises(ValueError, match="'x0' must only have one dimension"):
        bfgs(bowl, [[1.0, 2.0]], jac=bowl_der)


@pytest.mark.parametrize("x0", [[1j, 2.0], None, "start"])
def test_start_that_is_not_real_is_refused(x0):
    """Complex numbers, None and text are no start."""
    with pytest.raises(TypeError, match="x0 must hold real numbers"):
        minimize(bowl, x0, jac=bowl_der, method=bfgs)


# Callbacks.


def test_callback_gets_each_iterate():
    """``callback(x)`` sees what ``return_all`` keeps, and need not be a Python function."""
    seen = []
    res = minimize(
        rosen,
        ROSEN_START,
        jac=rosen_der,
        method=bfgs,
        callback=seen.append,
        options={"return_all": True},
    )
    assert len(seen) == res.nit
    np.testing.assert_array_equal(seen, res.allvecs[1:])


def test_callback_for_intermediate_results_gets_them_by_name():
    """A single parameter of that name makes the second form, as SciPy decides it."""
    seen = []

    def callback(*, intermediate_result):
        assert isinstance(intermediate_result, OptimizeResult)
        seen.append((intermediate_result.fun, rosen(intermediate_result.x)))

    res = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs, callback=callback)
    assert len(seen) == res.nit and all(fun == value for fun, value in seen)


def test_callback_cannot_change_the_run():
    """Both forms get copies."""

    def wipe(intermediate_result):
        intermediate_result.x[:] = 0

    plain = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    for callback in (wipe, lambda x: x.fill(0)):
        res = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs, callback=callback)
        assert res.nit == plain.nit and (res.x == plain.x).all()


@pytest.mark.parametrize("form", ["x", "intermediate_result"])
def test_stop_iteration_halts_as_in_scipy(form, capsys):
    """Status 99, no success, SciPy's message, and the iterate at which it was raised."""
    seen = []

    def stop(value):
        seen.append(value)
        if len(seen) == 3:
            raise StopIteration

    callback = stop if form == "x" else (lambda intermediate_result: stop(intermediate_result.x))
    theirs = minimize(rosen, ROSEN_START, jac=rosen_der, method="BFGS", callback=callback)
    seen.clear()
    ours = minimize(
        rosen, ROSEN_START, jac=rosen_der, method=bfgs, callback=callback, options={"disp": True}
    )
    assert (ours.status, ours.success, ours.message) == (99, False, theirs.message)
    assert ours.nit == theirs.nit == 3 and ours.nfev == theirs.nfev
    assert (ours.x == seen[-1]).all()
    np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-10)
    np.testing.assert_allclose(ours.hess_inv, theirs.hess_inv, rtol=1e-10)
    assert theirs.message in capsys.readouterr().out


# Options.


def test_tol_acts_as_gtol_and_gtol_wins():
    """`tol` and `gtol` stop where SciPy stops."""
    for options, tol in (({}, 1e-1), ({"gtol": 1e-1}, None), ({"gtol": 1e-8}, 1e-1)):
        theirs, ours = both(rosen, ROSEN_START, jac=rosen_der, tol=tol, options=options)
        assert ours.nit == theirs.nit
        assert np.abs(ours.jac).max() <= options.get("gtol", tol)


@pytest.mark.parametrize(
    "options",
    [
        {"norm": 2},
        {"norm": -np.inf},
        {"xrtol": 1e-2},
        {"c1": 0.1, "c2": 0.5},
        {"maxiter": 0},
        {"maxiter": 3},
        {"gtol": 0},
        {"hess_inv0": np.array([[0.02, 0.03], [0.03, 0.08]])},
    ],
    ids=str,
)
def test_option_does_what_it_does_in_scipy(options):
    """Same counts, status, message and place."""
    theirs, ours = both(rosen, ROSEN_START, jac=rosen_der, options=options)
    for name in ("nit", "nfev", "njev", "status", "success", "message"):
        assert ours[name] == theirs[name], name
    np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-8)


def test_most_iterations_are_200_times_n():
    """The default of `maxiter` is SciPy's: a flat minimum takes all of it."""
    theirs, ours = both(lambda x: x[0] ** 4, [1.0], jac=lambda x: 4 * x**3, tol=0)
    assert ours.nit == theirs.nit == 200
    assert ours.status == 1 and ours.message == theirs.message


def test_first_inverse_hessian_is_copied():
    """It is neither changed nor handed back."""
    start = np.array([[0.5, 0.1], [0.1, 0.7]])
    kept = start.copy()
    for x0 in (POINT, np.ones(2)):
        res = minimize(bowl, x0, jac=bowl_der, method=bfgs, options={"hess_inv0": start})
        assert (start == kept).all() and not np.shares_memory(res.hess_inv, start)
    np.testing.assert_array_equal(res.hess_inv, kept)


@pytest.mark.parametrize(
    "matrix", [-np.eye(2), np.array([[1.0, 0.5], [0.4, 1.0]]), np.full((2, 2), np.nan)]
)
def test_first_inverse_hessian_must_be_positive_definite(matrix):
    """Indefinite, unsymmetric or not finite: SciPy's error."""
    with pytest.raises(ValueError, match="'hess_inv0' matrix isn't positive definite"):
        minimize(bowl, POINT, jac=bowl_der, method=bfgs, options={"hess_inv0": matrix})


def test_first_inverse_hessian_must_fit():
    """The error says expected and given shape."""
    with pytest.raises(ValueError, match=r"hess_inv0 must have the shape \(2, 2\), got \(3, 3\)"):
        minimize(bowl, POINT, jac=bowl_der, method=bfgs, options={"hess_inv0": np.eye(3)})


def test_first_inverse_hessian_must_be_real():
    """A complex matrix is refused, positive definite or not."""
    with pytest.raises(TypeError, match="hess_inv0 must hold real numbers"):
        minimize(
            bowl, POINT, jac=bowl_der, method=bfgs, options={"hess_inv0": np.eye(2) * (1 + 0j)}
        )


def test_wolfe_constants_are_checked():
    """SciPy's line search refuses constants in the wrong order."""
    with pytest.raises(ValueError, match="'c1' and 'c2' do not satisfy"):
        minimize(bowl, POINT, jac=bowl_der, method=bfgs, options={"c1": 0.9, "c2": 0.1})


def test_disp_prints_what_scipy_prints(capsys):
    """The same text on success; a warning and the same counts on failure."""
    printed = []
    for method in ("BFGS", bfgs):
        minimize(rosen, ROSEN_START, jac=rosen_der, method=method, options={"disp": True})
        with pytest.warns(OptimizeWarning, match="Maximum number of iterations"):
            minimize(bowl, POINT, jac=bowl_der, method=method, options={"disp": True, "maxiter": 1})
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and "Gradient evaluations" in printed[1]


def test_nothing_is_printed_otherwise(capsys):
    """Silence is the default."""
    minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    assert capsys.readouterr() == ("", "")


def test_unknown_options_are_named_in_a_warning():
    """The warning is SciPy's and points at the caller."""
    with pytest.warns(OptimizeWarning, match="Unknown solver options: speed, colour") as caught:
        res = minimize(bowl, POINT, jac=bowl_der, method=bfgs, options={"speed": 1, "colour": 2})
    assert res.success and caught[0].filename == __file__


def test_second_derivatives_are_ignored_with_scipys_warnings():
    """As for SciPy's BFGS by name."""
    second = {"hess": lambda x: 2 * np.eye(2), "hessp": lambda x, p: 2 * p}
    messages = []
    for method in ("BFGS", bfgs):
        with pytest.warns(RuntimeWarning) as caught:
            minimize(bowl, POINT, jac=bowl_der, method=method, **second)
        assert {w.filename for w in caught} == {__file__}
        messages.append([str(w.message) for w in caught])
    assert messages[0] == messages[1] and len(messages[1]) == 2


@pytest.mark.parametrize("bounds", [[(0, 1), (0, 1)], Bounds([0, 0], [1, 1]), []])
def test_bounds_are_refused(bounds):
    """Bounds would be broken in silence."""
    with pytest.raises(ValueError, match="BFGS cannot handle bounds"):
        minimize(bowl, POINT, jac=bowl_der, method=bfgs, bounds=bounds)


@pytest.mark.parametrize(
    "constraints",
    [
        {"type": "eq", "fun": lambda x: x[0]},
        [{"type": "eq", "fun": lambda x: x[0]}],
        LinearConstraint([1, 1], 0, 1),
    ],
    ids=["dict", "list", "object"],
)
def test_constraints_are_refused(constraints):
    """Constraints would be broken in silence."""
    with pytest.raises(ValueError, match="BFGS cannot handle constraints"):
        minimize(bowl, POINT, jac=bowl_der, method=bfgs, constraints=constraints)


@pytest.mark.parametrize("constraints", [(), [], None])
def test_no_constraints_are_no_error(constraints):
    """Empty ones are none."""
    assert minimize(bowl, POINT, jac=bowl_der, method=bfgs, constraints=constraints).success


def test_an_iteration_is_one_product_and_one_rank_two_update(monkeypatch):
    """Of the whole matrix there is nothing else; the first product gives the first direction."""
    counts = {"dsymv": 0, "dsyr2": 0}
    for name in counts:
        routine = getattr(quasi_newton, name)

        def counted(*args, name=name, routine=routine, **kwargs):
            counts[name] += 1
            return routine(*args, **kwargs)

        monkeypatch.setattr(quasi_newton, name, counted)
    res = minimize(rosen, np.full(10, 0.5), jac=rosen_der, method=bfgs)
    assert res.success and res.nit > 10
    assert counts == {"dsymv": res.nit, "dsyr2": res.nit - 1}  # the last iterate needs neither


# What can go wrong on the way.


def test_lost_descent_resets_the_matrix_and_goes_on(monkeypatch):
    """An ascent direction, planted, is replaced by the scaled gradient, and the run converges."""
    resets = counting_resets(monkeypatch)
    directions, pairs = [], []
    update, search = quasi_newton._InverseHessian.update, quasi_newton._line_search_wolfe12

    def planted(self, s, y, g, p):
        pairs.append((s, y, g))
        new = update(self, s, y, g, p)
        return -new if len(pairs) == 4 else new

    def watched(f, fprime, x, p, g, *args, **kwargs):
        directions.append((p, g))
        return search(f, fprime, x, p, g, *args, **kwargs)

    monkeypatch.setattr(quasi_newton._InverseHessian, "update", planted)
    monkeypatch.setattr(quasi_newton, "_line_search_wolfe12", watched)
    res = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    assert res.success and len(resets) == 2  # the start, which is a reset to 1, and ours
    np.testing.assert_allclose(res.x, 1, atol=1e-4)
    assert all(p @ g < 0 for p, g in directions)
    s, y, g = pairs[3]
    np.testing.assert_allclose(directions[4][0], -(s @ y) / (y @ y) * g, rtol=1e-14)


def test_direction_that_is_no_number_resets_the_matrix(monkeypatch):
    """NaN has no slope, and so no descent."""
    resets = counting_resets(monkeypatch)
    update, calls = quasi_newton._InverseHessian.update, []

    def planted(self, s, y, g, p):
        calls.append(1)
        return update(self, s, y, g, p) * (np.nan if len(calls) == 4 else 1)

    monkeypatch.setattr(quasi_newton._InverseHessian, "update", planted)
    res = minimize(rosen, ROSEN_START, jac=rosen_der, method=bfgs)
    assert res.success and len(resets) == 2


@pytest.mark.parametrize("scale", [1e16, 1e20, 1e26])
def test_descent_lost_to_rounding_is_recovered(scale, monkeypatch):
    """On a function in absurdly small units the sum form cancels to nothing; the run goes on."""
    resets = counting_resets(monkeypatch)
    res = minimize(
        lambda x: scale * rosen(x), ROSEN_START, jac=lambda x: scale * rosen_der(x), method=bfgs
    )
    assert res.success and len(resets) > 1
    np.testing.assert_allclose(res.x, 1, atol=1e-6)
    np.linalg.cholesky(res.hess_inv)


@pytest.mark.parametrize("condition", [1e8, 1e10, 1e12])
def test_ill_conditioned_quadratic_takes_no_more_iterations_than_scipy(condition):
    """No reset is needed up to a condition number of 1e12, and the matrix stays definite."""
    a = quadratic(np.geomspace(1, condition, 20))
    theirs, ours = both(lambda x: x @ a @ x / 2, np.ones(20), jac=lambda x: a @ x)
    assert ours.success and ours.nit <= theirs.nit + math.ceil(theirs.nit / 10)
    np.linalg.cholesky(ours.hess_inv)


def test_pair_of_negative_curvature_does_not_enter_the_matrix():
    """It is left out: the matrix stays as it is, and the direction is that of the new gradient."""
    inverse = quasi_newton._InverseHessian(2, None)
    p = inverse.update(
        np.array([1.0, 0.0]), np.array([-1.0, 0.5]), np.array([2.0, 3.0]), np.array([-3.0, -2.5])
    )
    assert p.tolist() == [-2.0, -3.0] and (inverse.full() == np.eye(2)).all()


def test_pair_that_overflows_does_not_enter_the_matrix():
    """Nothing that is not finite gets into the matrix."""
    inverse = quasi_newton._InverseHessian(1, None)
    p = inverse.update(np.array([1e-160]), np.array([1e-160]), np.array([2.0]), np.array([-2.0]))
    assert np.isfinite(p).all() and (inverse.full() == np.eye(1)).all()


def test_straight_line_is_left_as_scipy_leaves_it():
    """Without any curvature the steps grow as SciPy's do, until its line search gives up."""
    with np.errstate(over="ignore"):
        theirs, ours = both(np.sum, POINT, jac=np.ones_like, options={"maxiter": 40})
    assert (ours.nit, ours.nfev, ours.status) == (theirs.nit, theirs.nfev, theirs.status)
    np.testing.assert_allclose(ours.x, theirs.x)


def test_failure_of_the_line_search_is_reported_as_in_scipy():
    """A gradient of the wrong sign: status 2 and SciPy's message, at the start."""
    theirs, ours = both(rosen, ROSEN_START, jac=lambda x: -rosen_der(x))
    for name in ("nit", "nfev", "njev", "status", "success", "message", "fun"):
        assert ours[name] == theirs[name], name
    assert ours.status == 2 and (ours.x == ROSEN_START).all()
    assert (ours.hess_inv == np.eye(2)).all()


@pytest.mark.parametrize(
    ("fun", "jac", "x0"),
    [
        (bowl, bowl_der, [np.nan, 1.0]),
        (lambda x: np.nan, bowl_der, POINT),
        (bowl, lambda x: np.full(2, np.nan), POINT),
    ],
    ids=["start", "value", "gradient"],
)
def test_nan_at_the_start_is_reported_as_in_scipy(fun, jac, x0):
    """Status 3 and SciPy's message."""
    theirs, ours = both(fun, x0, jac=jac)
    assert (ours.status, ours.success, ours.nit) == (theirs.status, theirs.success, theirs.nit)
    assert ours.status == 3 and ours.message == theirs.message


@pytest.mark.parametrize("broken", ["value", "gradient"])
def test_nan_later_is_reported_as_in_scipy(broken):
    """A function or gradient that turns NaN for good: SciPy's status and message."""
    results = []
    for method in ("BFGS", bfgs):
        calls = {"value": 0, "gradient": 0}

        def spoil(kind, value, calls=calls):
            calls[kind] += 1
            return value * (np.nan if kind == broken and calls[kind] > 6 else 1.0)

        results.append(
            minimize(
                lambda x, spoil=spoil: spoil("value", rosen(x)),
                ROSEN_START,
                jac=lambda x, spoil=spoil: spoil("gradient", rosen_der(x)),
                method=method,
            )
        )
    theirs, ours = results
    assert (ours.status, ours.success, ours.message, ours.nit) == (
        theirs.status,
        theirs.success,
        theirs.message,
        theirs.nit,
    )
    assert not ours.success


def test_nan_beyond_an_edge_is_stepped_back_from():
    """Trial points without a value do not end the run."""
    theirs, ours = both(lambda x: rosen(x) if x[0] > 0 else np.nan, [0.5, 2.0], jac=rosen_der)
    assert ours.success and ours.nit == theirs.nit and ours.nfev == theirs.nfev


# Memory.


def test_arrays_of_the_result_share_no_memory():
    """Nor do they with the start."""
    x0 = ROSEN_START.copy()
    res = minimize(rosen, x0, jac=rosen_der, method=bfgs, options={"return_all": True})
    arrays = [x0, res.x, res.jac, res.hess_inv, *res.allvecs]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[i + 1 :])


@pytest.mark.parametrize("given", [False, True])
def test_peak_memory_is_little_more_than_one_matrix(given):
    """At most 1.15 n-by-n matrices at any time, with a first inverse Hessian given or not."""
    n = 1000
    scales = np.linspace(1, 10, n)
    fun, jac = lambda x: 0.5 * x @ (scales * x), lambda x: scales * x
    options = {"maxiter": 5, "gtol": 0}
    if given:
        options["hess_inv0"] = np.eye(n)
    tracemalloc.start()
    try:
        res = minimize(fun, np.ones(n), jac=jac, method=bfgs, options=options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert res.nit == 5 and peak <= 1.15 * 8 * n * n
