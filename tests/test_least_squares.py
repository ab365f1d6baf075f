"""`least_squares` by name, with covariances; and `covariance`."""

import math

import autograd.numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import componentvec as cv
import nist

T = np.linspace(0, 4, 9)
Y = 3 * np.exp(-0.7 * T) + np.array([1, -2, 3, 1, -1, 2, -3, 0, 1]) / 50 + 0.5


def start():
    """Three parameters in two components."""
    return cv.ComponentVector(shape=[2.0, 1.0], level=0.0)


def residuals(v):
    """A decay over a level."""
    return v.shape[0] * np.exp(-v.shape[1] * T) + v.level - Y


def by_name(v):
    """The same, in two blocks."""
    r = residuals(v)
    return {"early": r[:4], "late": {"all": r[4:]}}


def by_hand(**options):
    """SciPy's own result with a Jacobian by hand."""

    def jac(x):
        decay = np.exp(-x[1] * T)
        return np.stack([decay, -x[0] * T * decay, np.ones(T.size)], axis=1)

    return scipy.optimize.least_squares(
        lambda x: x[0] * np.exp(-x[1] * T) + x[2] - Y, [2.0, 1.0, 0.0], jac=jac, **options
    )


def digits(value, certified):
    """Number of correct digits: NIST's log relative error, the smallest of all entries."""
    difference = np.abs(value - certified) / np.abs(certified)
    return -np.log10(np.max(np.maximum(difference, 1e-16)))


# -- NIST ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", nist.MODELS)
@pytest.mark.parametrize("number", [0, 1])
def test_certified_values_and_standard_deviations_from_both_starts(name, number):
    """At least six digits of each; NIST certifies eleven."""
    data = nist.read(name)
    values = data.starts[number]
    groups = {f"g{i}": values[i : i + 2] for i in range(0, values.size, 2)}

    def residuals(v):
        b = np.concatenate([v[name] for name in groups])
        return data.model(b, data.x) - data.y

    tight = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15, "max_nfev": 2000}
    with np.errstate(over="ignore", invalid="ignore"):  # of steps too long
        res = cv.least_squares(residuals, cv.ComponentVector(groups), method="lm", **tight)
    assert digits(np.asarray(res.x), data.certified) >= 7
    assert digits(np.asarray(res.stderr), data.stderr) >= 6
    assert digits(2 * res.cost, data.rss) >= 7


# -- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["trf", "lm", "dogbox"])
@pytest.mark.parametrize("fun", [residuals, by_name, lambda v: list(residuals(v))])
def test_fit_is_that_of_a_hand_written_call(method, fun):
    """Solution, cost, Jacobian, gradient and counts."""
    ours, theirs = cv.least_squares(fun, start(), method=method), by_hand(method=method)
    assert_allclose(ours.x, theirs.x, rtol=1e-9)
    assert_allclose(ours.cost, theirs.cost)
    assert_allclose(ours.jac, theirs.jac, atol=1e-9)
    assert_allclose(ours.fun, theirs.fun, atol=1e-9)
    assert (ours.nfev, ours.njev, ours.status) == (theirs.nfev, theirs.njev, theirs.status)
    assert set(ours) == set(theirs) | {"cov", "stderr"}


def test_results_have_names():
    """Columns of the Jacobian always, rows where the residuals have names."""
    res = cv.least_squares(residuals, start())
    assert res.x.layout == res.grad.layout == res.stderr.layout == start().layout
    assert res.jac.cols == res.cov.rows == res.cov.cols == start().layout
    assert res.jac.rows is None and type(res.fun) is np.ndarray
    assert res.jac[:, "shape"].shape == (9, 2)
    res = cv.least_squares(by_name, start())
    assert res.jac["late.all", "shape"].shape == (5, 2)
    assert res.fun.keys() == ["early", "late"]


def test_covariance_is_that_of_the_normal_equations():
    """s^2 (J'J)^-1, s^2 = RSS / (m - n), on a problem where both ways are good."""
    res = cv.least_squares(by_name, start())
    theirs = by_hand()
    s2 = np.sum(theirs.fun**2) / (9 - 3)
    expected = s2 * np.linalg.inv(theirs.jac.T @ theirs.jac)
    assert_allclose(res.cov, expected, rtol=1e-6)
    assert_allclose(res.stderr, np.sqrt(np.diag(expected)), rtol=1e-6)
    assert (np.asarray(res.cov) == np.asarray(res.cov).T).all()


def test_covariance_of_a_badly_scaled_problem_keeps_its_digits():
    """Columns of lengths from 1e-9 to 1e9: scaling parameters scales standard errors."""
    scale = np.array([1e9, 1e-9])
    fun = lambda v: v.a[0] / scale[0] + v.a[1] / scale[1] * T - Y
    res = cv.least_squares(fun, cv.ComponentVector(a=[0.0, 0.0]), x_scale=scale)
    plain = cv.least_squares(lambda v: v.a[0] + v.a[1] * T - Y, cv.ComponentVector(a=[0.0, 0.0]))
    assert_allclose(res.stderr / scale, plain.stderr, rtol=1e-6)


def test_standard_errors_are_inf_where_there_are_too_few_residuals():
    """m <= n: nothing tells how large the errors are."""
    for count in (2, 3):
        res = cv.least_squares(lambda v, n=count: residuals(v)[:n], start())
        assert np.isinf(res.cov).all() and np.isinf(res.stderr).all()
        assert res.cov.rows == start().layout


@pytest.mark.parametrize(
    "fun",
    [
        lambda v: (v.shape[0] + v.shape[1]) * T + v.level - Y,
        lambda v: v.shape[0] * T + v.level + 0 * v.shape[1] - Y,
        lambda v: 1e-200 * v.shape[0] * T + v.level - Y,
    ],
)
def test_standard_errors_are_inf_where_the_rank_falls_short(fun):
    """A sum alone, and parameters that do nothing."""
    res = cv.least_squares(fun, start())
    assert np.isinf(res.cov).all() and np.isinf(res.stderr).all()


def test_everything_is_own_memory_and_the_start_unchanged():
    """Of vectors and models."""
    v = start()
    res = cv.least_squares(by_name, v)
    assert v.tolist() == start().tolist()
    arrays = [np.asarray(res[name]) for name in ("x", "grad", "fun", "jac", "cov", "stderr")]
    for i, one in enumerate(arrays):
        assert not np.shares_memory(one, v) and one.flags.writeable
        assert not any(np.shares_memory(one, other) for other in arrays[i + 1 :])
    model = {"w": np.array([2.0, 1.0])}
    res = cv.least_squares(lambda m: m["w"] - 3, model)
    assert model["w"].tolist() == [2.0, 1.0] and res.model["w"].tolist() == [3.0, 3.0]
    assert not np.shares_memory(res.model["w"], model["w"])
    assert not np.shares_memory(res.model["w"], res.x)


def test_float32_is_fitted_in_double_precision():
    """Residuals, results and standard errors."""
    seen = set()
    fun = lambda v: seen.add(v.dtype) or residuals(v)
    res = cv.least_squares(fun, start().astype(np.float32), jac="2-point")
    assert seen == {np.dtype(float)}
    assert {res[name].dtype for name in ("x", "grad", "jac", "cov", "stderr")} == seen
    assert_allclose(res.x, by_hand().x, rtol=1e-6)


def test_models_and_arrays_are_fitted():
    """Models in their own dtypes; arrays plainly."""
    model = {"shape": np.array([2.0, 1.0], np.float32), "level": np.zeros(()), "name": "decay"}
    fun = lambda m: m["shape"][0] * np.exp(-m["shape"][1] * T) + m["level"] - Y
    res = cv.least_squares(fun, model)
    assert res.model["shape"].dtype == np.float32 and res.model["name"] == "decay"
    assert_allclose(res.x, by_hand().x, rtol=1e-6)
    assert_allclose(res.model["level"], by_hand().x[2], rtol=1e-6)
    res = cv.least_squares(lambda x: x[0] * np.exp(-x[1] * T) + x[2] - Y, [2.0, 1.0, 0.0])
    assert {type(res[name]) for name in ("x", "jac", "grad", "cov", "stderr")} == {np.ndarray}
    assert_allclose(res.stderr, cv.least_squares(residuals, start()).stderr, rtol=1e-6)


# -- derivatives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("jac", ["2-point", "3-point", "cs"])
def test_finite_differences_are_those_of_scipy(jac):
    """And nothing is traced."""

    def fun(v):
        assert type(v) is cv.ComponentVector
        return residuals(v)

    ours = cv.least_squares(fun, start(), jac=jac)
    theirs = scipy.optimize.least_squares(
        lambda x: x[0] * np.exp(-x[1] * T) + x[2] - Y, [2.0, 1.0, 0.0], jac=jac
    )
    assert_allclose(ours.x, theirs.x)
    assert_allclose(ours.stderr, cv.least_squares(residuals, start()).stderr, rtol=1e-3)


@pytest.mark.parametrize(
    "shape",
    [
        lambda J: J,
        np.asarray,
        lambda J: csr_array(np.asarray(J)),
        lambda J: aslinearoperator(np.asarray(J)),
    ],
)
@pytest.mark.parametrize("fixed", [None, "level"])
def test_jacobian_by_hand_may_be_a_matrix_by_name(shape, fixed):
    """Sparse ones and operators stay so, and leave the covariance out."""
    jac = lambda v: shape(cv.jacobian(by_name)(v))
    x_scale = 1.0 if isinstance(jac(start()), LinearOperator) else "jac"
    res = cv.least_squares(by_name, start(), jac=jac, fixed=fixed, x_scale=x_scale)
    exact = cv.least_squares(by_name, start(), fixed=fixed)
    assert_allclose(res.x, exact.x, rtol=1e-4)
    dense = isinstance(res.jac, cv.ComponentMatrix)
    assert dense == ("cov" in res) == ("stderr" in res)
    assert res.jac.shape == (9, 3)
    if issparse(res.jac):
        assert_allclose(res.jac.toarray(), exact.jac, atol=1e-3)
    if isinstance(res.jac, LinearOperator):
        assert_allclose(res.jac @ np.eye(3), exact.jac, atol=1e-3)


def test_jacobian_by_hand_gets_args_and_keywords():
    """As the residuals do."""
    fun = lambda v, c, power=1: v.shape[0] * T**power - c
    jac = lambda v, c, power=1: np.stack([T**power, 0 * T, 0 * T], axis=1)
    for args in (Y, (Y,)):
        res = cv.least_squares(fun, start(), args, jac=jac, kwargs={"power": 2})
        assert res.x.shape[0] == pytest.approx(np.sum(T**2 * Y) / np.sum(T**4), rel=1e-3)


def test_more_parameters_than_residuals_are_differentiated_row_by_row():
    """And fewer column by column: the function is called about as often as the shorter side."""
    for n, m in ((50, 2), (2, 50)):
        calls = []
        matrix = np.linspace(0, 1, m * n).reshape(m, n)

        def fun(v, calls=calls, matrix=matrix):
            calls.append(1)
            return matrix @ v.a - 1

        v = cv.ComponentVector(a=np.zeros(n))
        res = cv.least_squares(fun, v, max_nfev=1)
        assert len(calls) <= 6
        assert_allclose(res.jac, matrix)


# -- bounds, fixed entries, options ----------------------------------------------------------------


@pytest.mark.parametrize("method", ["trf", "dogbox"])
def test_bounds_are_by_name(method):
    """Or SciPy's two sides."""
    v = start()
    v.level = 0.7
    for bounds in (
        {"level": (0.6, None)},
        ([-np.inf, -np.inf, 0.6], np.inf),
        (cv.ComponentVector(shape=[-9.0, -9.0], level=0.6), None),
        scipy.optimize.Bounds([-9, -9, 0.6], 9),
    ):
        res = cv.least_squares(residuals, v, bounds=bounds, method=method)
        assert res.x.level == pytest.approx(0.6, abs=1e-5)
        assert res.active_mask.tolist() == [0, 0, -1]


def test_bounds_for_lm_are_an_error():
    """SciPy's own."""
    with pytest.raises(ValueError, match="'lm' doesn't support bounds"):
        cv.least_squares(residuals, start(), bounds={"level": (-1, 1)}, method="lm")


def test_fixed_entries_are_left_out_and_results_are_whole():
    """The fit is that of two parameters; zeros where it is fixed."""
    v = start()
    v.level = 0.5
    res = cv.least_squares(by_name, v, fixed="level")
    theirs = scipy.optimize.least_squares(
        lambda x: x[0] * np.exp(-x[1] * T) + 0.5 - Y, [2.0, 1.0], jac="3-point"
    )
    assert_allclose(res.x.shape, theirs.x, rtol=1e-6)
    assert res.x.level == 0.5
    s2 = 2 * theirs.cost / (9 - 2)
    cov = s2 * np.linalg.inv(theirs.jac.T @ theirs.jac)
    assert_allclose(res.cov["shape", "shape"], cov, rtol=1e-4)
    assert not np.asarray(res.cov["level", :]).any() and res.stderr.level == 0
    assert not np.asarray(res.jac[:, "level"]).any() and res.grad.level == 0
    assert res.jac.shape == (9, 3)
    assert res.fixed.tolist() == [False, False, True]
    assert res.active_mask.tolist() == [0, 0, 0]


def test_rows_fall_short_only_against_the_free_entries():
    """Three residuals are enough for two."""
    res = cv.least_squares(lambda v: residuals(v)[:3], start(), fixed="level")
    assert np.isfinite(res.cov).all()
    res = cv.least_squares(lambda v: residuals(v)[:2], start(), fixed="level")
    assert res.stderr.tolist() == [np.inf, np.inf, 0.0]
    assert np.isinf(res.cov["shape", "shape"]).all() and res.cov["level", "level"] == 0


def test_with_nothing_free_there_is_one_evaluation():
    """And success."""
    calls = []
    res = cv.least_squares(lambda v: calls.append(1) or by_name(v), start(), fixed="**")
    assert res.success and res.nfev == len(calls) == 1
    assert res.x.tolist() == start().tolist()
    assert res.cost == pytest.approx(0.5 * np.sum(np.asarray(res.fun) ** 2))
    assert res.jac.shape == (9, 3) and not np.asarray(res.jac).any()
    assert not res.grad.any() and not res.stderr.any() and not np.asarray(res.cov).any()
    assert cv.least_squares(lambda v: np.ones(3), cv.ComponentVector()).success


def test_a_tied_alias_stands_for_the_shared_entries():
    """As in `minimize`."""
    w = np.array([[2.0, 1.0]])
    model = {"w": w, "back": w.T, "level": np.zeros(1)}
    fun = lambda m: m["w"][0, 0] * np.exp(-m["back"][1, 0] * T) + m["level"] - Y
    res = cv.least_squares(fun, model, fixed="back")
    assert res.model["w"].tolist() == [[2.0, 1.0]]
    res = cv.least_squares(fun, model)
    assert np.shares_memory(res.model["w"], res.model["back"])
    assert_allclose(res.x, by_hand().x, rtol=1e-6)


def test_options_pass_through_and_scales_may_be_labelled():
    """Loss, scale, tolerances and steps."""
    by_tree = {"shape": [3.0, 2.0], "level": 1.0}
    found = [
        cv.least_squares(residuals, start(), x_scale=scale, fixed="level")
        for scale in (start() + 1, [3.0, 2.0, 1.0], by_tree, "jac", 1.0)
    ]
    assert all(res.success for res in found)
    by_name, in_order, in_tree, _, unscaled = (res.x.tolist() for res in found)
    assert by_name == in_order == in_tree != unscaled
    res = cv.least_squares(residuals, start(), jac="2-point", diff_step=start() * 0 + 1e-6)
    assert_allclose(res.x, by_hand().x, rtol=1e-5)
    robust = cv.least_squares(residuals, start(), loss="soft_l1", f_scale=0.1)
    assert_allclose(robust.x, by_hand(loss="soft_l1", f_scale=0.1).x, rtol=1e-6)
    assert_allclose(robust.fun, residuals(robust.x))
    assert cv.least_squares(residuals, start(), max_nfev=1).status == 0


def test_sparsity_of_finite_differences_passes_through():
    """The Jacobian is then sparse."""
    res = cv.least_squares(
        residuals, start(), jac="2-point", jac_sparsity=np.ones((9, 3)), tr_solver="lsmr"
    )
    assert issparse(res.jac) and "cov" not in res
    for sparsity in (np.ones((9, 3)), csr_array(np.ones((9, 3))), coo_array(np.ones((9, 3)))):
        res = cv.least_squares(
            residuals, start(), jac="2-point", jac_sparsity=sparsity, fixed="level"
        )
        assert res.jac.shape == (9, 3) and res.x.level == 0
        assert not res.jac.toarray()[:, 2].any()


@pytest.mark.parametrize("fixed", [None, "level"])
def test_function_may_give_residuals_and_jacobian(fixed):
    """A pair, under jac=True; anything else is an error."""
    jacobian = cv.jacobian(residuals)
    both = cv.least_squares(lambda v: (residuals(v), jacobian(v)), start(), jac=True, fixed=fixed)
    apart = cv.least_squares(residuals, start(), jac=jacobian, fixed=fixed)
    assert_allclose(both.x, apart.x)
    assert_allclose(both.cov, apart.cov)
    with pytest.raises(TypeError, match="jac=True the function must return a pair, its value and"):
        cv.least_squares(residuals, start(), jac=True)


# -- complex numbers -------------------------------------------------------------------------------


def test_complex_residuals_are_pairs():
    """Values are complex again, rows of the Jacobian pairs."""
    signal = (1.5 + 0.5j) * np.exp(1j * 0.8 * T) + 0.01 * np.cos(7 * T)
    fun = lambda v: {"s": (v.a + 1j * v.b) * np.exp(1j * v.rate * T) - signal}
    res = cv.least_squares(fun, cv.ComponentVector(a=1.0, b=0.0, rate=0.7))
    assert_allclose(res.x, [1.5, 0.5, 0.8], atol=0.01)
    assert res.fun.s.dtype == complex
    assert res.cost == pytest.approx(0.5 * np.sum(np.abs(res.fun.s) ** 2))
    assert res.jac.shape == (18, 3)
    assert res.jac["s", "rate"].shape == (9, 2)
    s2 = 2 * res.cost / (18 - 3)
    J = np.asarray(res.jac)
    assert_allclose(res.cov, s2 * np.linalg.inv(J.T @ J))


def test_complex_parameters_are_pairs():
    """So are covariance and standard errors; also fixed ones, and with a Jacobian by hand."""
    signal = (1.5 + 0.5j) * np.exp(1j * 0.8 * T) + 0.01 * np.cos(7 * T)
    wave = np.exp(1j * 0.8 * T)
    v = cv.ComponentVector(c=1 + 0j, level=[0j])
    fun = lambda v: v.c * wave + v.level[0] - signal
    by_autograd = cv.least_squares(fun, v)
    assert by_autograd.x.dtype == complex and by_autograd.stderr.dtype == float
    assert by_autograd.cov.rows.labels() == ["c.re", "c.im", "level[0].re", "level[0].im"]
    exact = np.linalg.lstsq(np.stack([wave, np.ones(9)], axis=1), signal, rcond=None)[0]
    assert_allclose(by_autograd.x, exact)
    assert_allclose(by_autograd.grad, 0, atol=1e-9)
    for jac in (lambda v: np.stack([wave, np.ones(9)], axis=1), "2-point"):
        res = cv.least_squares(fun, v, jac=jac)
        assert_allclose(res.x, exact, atol=1e-8)
        assert_allclose(res.cov, by_autograd.cov, rtol=1e-5, atol=1e-12)
    res = cv.least_squares(fun, v, fixed="level")
    assert res.x.level[0] == 0 and res.stderr.level[0] == 0
    real = lambda v: np.concatenate([np.real(fun(v)), np.imag(fun(v))])
    assert_allclose(cv.least_squares(real, v).x, exact)


def test_complex_step_needs_real_numbers():
    """Of parameters and residuals."""
    v = cv.ComponentVector(z=1j)
    with pytest.raises(ValueError, match='jac="cs" steps into the complex plane'):
        cv.least_squares(lambda v: v.z, v, jac="cs")
    with pytest.raises(ValueError, match='jac="cs" needs real residuals'):
        cv.least_squares(lambda v: v.a * 1j, cv.ComponentVector(a=1.0), jac="cs")


# -- bad input -------------------------------------------------------------------------------------


def test_residuals_that_are_not_finite_at_the_start_name_the_label():
    """Or the position; so does a start."""
    fun = lambda v: {"a": v.level + 1, "b": np.array([1.0, np.nan]) * v.level}
    with pytest.raises(ValueError, match=r"the residuals are not finite at x0: 'b\[1\]' is nan"):
        cv.least_squares(fun, start())
    with pytest.raises(ValueError, match="entry 2 is -inf"):
        cv.least_squares(lambda v: np.array([1, 2, -np.inf]) + v.level, start())
    bad = start()
    bad.level = np.inf
    with pytest.raises(ValueError, match="x0 is not finite: 'level' is inf"):
        cv.least_squares(residuals, bad)


def test_bad_input_says_what_is_expected():
    """Types and sizes, ours or SciPy's words."""
    with pytest.raises(TypeError, match="x0: expected a ComponentVector, a model or an array"):
        cv.least_squares(residuals, "abc")
    with pytest.raises(ValueError, match="x0 must have one axis"):
        cv.least_squares(residuals, np.zeros((2, 2)))
    with pytest.raises(TypeError, match="the residuals must be numbers"):
        cv.least_squares(lambda v: None, start())
    with pytest.raises(TypeError, match="the residuals must be numbers"):
        cv.least_squares(lambda v: "abc", start())
    with pytest.raises(
        ValueError, match=r"the Jacobian must have the shape \(m, 3\), got \(9, 2\)"
    ):
        cv.least_squares(residuals, start(), jac=lambda v: np.zeros((9, 2)))
    with pytest.raises(TypeError, match="the Jacobian must be real"):
        cv.least_squares(residuals, start(), jac=lambda v: np.zeros((9, 3)) * 1j)
    with pytest.raises(ValueError, match="jac must be None, True, False"):
        cv.least_squares(residuals, start(), jac="4-point")
    with pytest.raises(ValueError, match="layouts differ"):
        cv.least_squares(
            residuals,
            start(),
            jac=lambda v: cv.ComponentMatrix(
                np.zeros((9, 3)), None, cv.ComponentVector(a=np.zeros(3)).layout
            ),
        )
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        cv.least_squares(residuals, start(), nonsense=1)


def test_exceptions_of_the_function_come_through():
    """As they are, from residuals and from a Jacobian by hand."""

    def fail(v):
        raise LookupError("mine")

    for options in ({}, {"jac": "2-point"}):
        with pytest.raises(LookupError, match="mine") as caught:
            cv.least_squares(fail, start(), **options)
        assert not hasattr(caught.value, "__notes__")
    with pytest.raises(LookupError, match="mine"):
        cv.least_squares(residuals, start(), jac=fail)


def test_function_that_autograd_cannot_trace_gains_a_note():
    """It says what to do; and that works."""
    fun = lambda v: [math.exp(v.level) - 2, 0.1]
    with pytest.raises(TypeError) as caught:
        cv.least_squares(fun, cv.ComponentVector(level=0.0))
    assert "autograd.numpy" in caught.value.__notes__[0]
    res = cv.least_squares(fun, cv.ComponentVector(level=0.0), jac="2-point")
    assert res.x.level == pytest.approx(math.log(2))


# -- covariance ------------------------------------------------------------------------------------


def likelihood(v, data):
    """Negative log likelihood of a normal distribution, by mean and log of the deviation."""
    return np.sum((data - v.mean_) ** 2) / (2 * np.exp(2 * v.log_dev)) + data.size * v.log_dev


def test_covariance_is_the_inverse_hessian():
    """Mean: sigma^2 / n; logarithm of sigma: 1 / 2n."""
    data = np.array([1.0, 2.0, 4.0, 5.0])
    fit = cv.minimize(likelihood, cv.ComponentVector(mean_=0.0, log_dev=0.0), data, tol=1e-9)
    for args in (data, (data,)):
        cov = cv.covariance(likelihood, fit.x, args)
        assert cov.rows == cov.cols == fit.x.layout
        assert cov["mean_", "mean_"] == pytest.approx(data.var() / 4)
        assert cov["log_dev", "log_dev"] == pytest.approx(1 / 8)
        assert cov["mean_", "log_dev"] == pytest.approx(0, abs=1e-6)


def test_covariance_takes_models_arrays_fixed_and_complex_entries():
    """As `minimize` does."""
    H = np.array([[2.0, 1.0], [1.0, 3.0]])
    fun = lambda m: 0.5 * m["w"] @ H @ m["w"]
    cov = cv.covariance(fun, {"w": np.zeros(2, np.float32), "n": 1})
    assert_allclose(cov["w", "w"], np.linalg.inv(H))
    assert_allclose(cv.covariance(lambda x: 0.5 * x @ H @ x, [0.0, 0.0]), np.linalg.inv(H))
    cov = cv.covariance(fun, {"w": np.zeros(2)}, fixed=[False, True])
    assert_allclose(cov, [[0.5, 0], [0, 0]])
    assert cv.covariance(fun, {"w": np.zeros(2)}, fixed="w").shape == (2, 2)
    z = cv.ComponentVector(z=0j)
    cov = cv.covariance(lambda v: np.real(v.z) ** 2 + 2 * np.imag(v.z) ** 2, z)
    assert_allclose(cov["z", "z"], [[0.5, 0], [0, 0.25]])


def test_covariance_of_badly_scaled_parameters_keeps_its_digits():
    """Scales of 1e8 and 1e-8."""
    fun = lambda v: (v.a / 1e8) ** 2 + (v.b * 1e8) ** 2 + v.a / 1e8 * v.b * 1e8
    cov = cv.covariance(fun, cv.ComponentVector(a=0.0, b=0.0))
    assert_allclose(np.diag(cov), [2e16 / 3, 2e-16 / 3])


@pytest.mark.parametrize(
    ("fun", "message"),
    [
        (lambda v: v.a**2 - v.b**2, "not positive definite: its diagonal is -2.0 at 'b'"),
        (lambda v: v.a**2, "not positive definite: its diagonal is 0.0 at 'b'"),
        (lambda v: (v.a + v.b) ** 2, "not positive definite: x is no minimum"),
        (lambda v: v.a**2 + v.b**2 + 4 * v.a * v.b, "not positive definite: x is no minimum"),
        (lambda v: np.inf * v.a**2 + v.b**2, "the function is not finite at x: its value there"),
        (lambda v: v.a**2 + v.b**1.5, "the Hessian at x is not finite: on its diagonal, 'b' is"),
        (lambda v: v.a**1.5 + v.b**2, "the Hessian at x is not finite"),
    ],
)
def test_covariance_needs_a_positive_definite_hessian(fun, message):
    """It says so, with the label where one entry shows it."""
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        cv.covariance(fun, cv.ComponentVector(a=0.0, b=0.0))


def test_covariance_names_the_free_entry():
    """Positions are those of the whole."""
    with pytest.raises(ValueError, match="at 'b'"):
        cv.covariance(lambda v: v.a**2 + v.b, cv.ComponentVector(a=0.0, b=0.0), fixed="a")
    with pytest.raises(TypeError, match="x: expected a ComponentVector, a model or an array"):
        cv.covariance(lambda v: v.a, None)
    with pytest.raises(TypeError, match="covariance needs a function of one real number"):
        cv.covariance(lambda v: v, cv.ComponentVector(a=0.0, b=0.0))


def test_whole_result_is_no_start():
    """It says what to give instead."""
    res = cv.minimize(lambda v: v.a**2, cv.ComponentVector(a=1.0))
    with pytest.raises(TypeError, match="x is the whole result of a solver; give its x or its mod"):
        cv.covariance(lambda v: v.a**2, res)
    with pytest.raises(TypeError, match="x0 is the whole result of a solver"):
        cv.minimize(lambda v: v.a**2, res)
