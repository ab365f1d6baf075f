"""Constraints by name in `minimize`."""

import warnings

import autograd.numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose
from scipy.optimize import BFGS, Bounds, LinearConstraint, NonlinearConstraint
from scipy.optimize._minimize import MINIMIZE_METHODS
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import LinearOperator

import componentvec as cv

TAKE = ("COBYLA", "SLSQP", "trust-constr") + ("COBYQA",) * ("cobyqa" in MINIMIZE_METHODS)
# COBYLA takes equalities since SciPy 1.16.
TAKE_EQUALITIES = TAKE[tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 16) :]
IGNORE = ("BFGS", "L-BFGS-B", "Nelder-Mead", "Powell", "TNC", "CG", "Newton-CG", cv.bfgs)


def start():
    """Three entries."""
    return cv.ComponentVector(p=[1.0, 0.5], q=0.2)


def loss(v):
    """Smallest at p = (2, 2), q = 1."""
    return np.sum((v.p - 2) ** 2) + (v.q - 1) ** 2


# On the unit sphere the nearest point to (2, 2, 1) is (2, 2, 1) / 3.
ON_SPHERE = np.array([2.0, 2.0, 1.0]) / 3


def radius(v):
    """Inside the unit sphere it is positive."""
    return 1 - np.sum(v.p**2) - v.q**2


@pytest.mark.parametrize(
    ("method", "kind"),
    [(m, "ineq") for m in TAKE] + [(m, "eq") for m in TAKE_EQUALITIES],
)
def test_dict_constraints_get_vectors(method, kind):
    """Equalities and inequalities alike."""
    seen = []

    def fun(v):
        seen.append(v)
        return radius(v)

    constraint = {"type": kind, "fun": fun}
    res = cv.minimize(loss, start(), method=method, constraints=constraint, tol=1e-9)
    assert_allclose(res.x, ON_SPHERE, atol=1e-4)
    assert cv.layout(seen[0]) == start().layout


@pytest.mark.parametrize("method", TAKE)
def test_nonlinear_constraints_get_vectors(method):
    """With SciPy's defaults."""
    constraint = NonlinearConstraint(lambda v: np.sum(v.p**2) + v.q**2, -np.inf, 1.0)
    res = cv.minimize(loss, start(), method=method, constraints=constraint, tol=1e-9)
    assert_allclose(res.x, ON_SPHERE, atol=1e-4)


@pytest.mark.parametrize("method", TAKE)
def test_linear_constraints_hold(method):
    """Their columns are the entries: p0 + p1 + q <= 2 moves each by one."""
    constraint = LinearConstraint([[1, 1, 1]], ub=2)
    res = cv.minimize(loss, start(), method=method, constraints=[constraint], tol=1e-9)
    assert_allclose(res.x, [1, 1, 0], atol=1e-3)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize(
    "given",
    [
        lambda v: {"r": radius(v), "more": v.p - 10},
        lambda v: cv.ComponentVector(r=radius(v), more=v.p - 10),
        lambda v: np.concatenate([np.array([radius(v)]), v.p - 10]),
        lambda v: [radius(v), v.q - 10],
    ],
)
def test_constraint_functions_return_vectors_dicts_and_arrays(method, given):
    """All entries are constraints."""
    low = np.array([0.0, -99.0, -99.0])
    size = 2 if isinstance(given(start()), list) else 3
    constraint = NonlinearConstraint(given, low[:size], np.inf)
    res = cv.minimize(loss, start(), method=method, constraints=constraint, tol=1e-9)
    assert_allclose(res.x, ON_SPHERE, atol=1e-4)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_derivatives_of_constraints_are_exact(method):
    """No more calls than points, where differences would need four each."""
    calls = []

    def fun(v):
        calls.append(1)
        return radius(v)

    for constraint in (
        {"type": "ineq", "fun": fun},
        NonlinearConstraint(fun, 0, np.inf),
        NonlinearConstraint(fun, 0, np.inf, jac="2-point"),
    ):
        calls.clear()
        res = cv.minimize(loss, start(), method=method, constraints=constraint, tol=1e-9)
        assert_allclose(res.x, ON_SPHERE, atol=1e-5)
        assert len(calls) <= 4 * (res.nit + 2)


def test_hessian_of_the_lagrangian_is_exact():
    """trust-constr needs fewer iterations than with BFGS, which a Jacobian by hand leaves."""
    counts = []
    for given in ({}, {"hess": BFGS()}, {"jac": cv.jacobian(radius)}):
        constraint = NonlinearConstraint(radius, 0, 0, **given)
        res = cv.minimize(loss, start(), method="trust-constr", constraints=constraint)
        assert_allclose(res.x, ON_SPHERE, atol=1e-5)
        counts.append(res.nit)
    assert counts[0] == counts[1] < counts[2]


def test_finite_differences_of_the_objective_leave_the_constraints_to_scipy():
    """Neither function can be traced."""

    def fun(v):
        assert type(v) is cv.ComponentVector
        return float(1 - np.sum(cv.data(v) ** 2))

    plain_loss = lambda v: float(loss(v))
    for method in ("SLSQP", "trust-constr"):
        for constraint in ({"type": "eq", "fun": fun}, NonlinearConstraint(fun, 0, 0, jac="cs")):
            if isinstance(constraint, NonlinearConstraint):
                constraint.fun = lambda v: 1 - np.sum(cv.data(v) ** 2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of steps that change no gradient
                res = cv.minimize(
                    plain_loss, start(), method=method, jac="2-point", constraints=constraint
                )
            assert_allclose(res.x, ON_SPHERE, atol=1e-4)


def test_constraint_that_autograd_cannot_trace_gains_a_note():
    """As the objective would."""
    with pytest.raises(TypeError) as caught:
        cv.minimize(loss, start(), constraints={"type": "ineq", "fun": lambda v: float(radius(v))})
    assert 'jac="2-point"' in caught.value.__notes__[0]


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize(
    "jac",
    [
        cv.jacobian(radius),
        cv.grad(radius),
        lambda v: [-2 * v.p[0], -2 * v.p[1], -2 * v.q],
        lambda v: {"q": -2 * v.q, "p": -2 * v.p},
        lambda v: csr_array(-2 * np.atleast_2d(cv.data(v))),
    ],
)
def test_jacobians_by_hand_are_matrices_gradients_or_by_name(method, jac):
    """Whole, whatever their form."""
    for constraint in (
        {"type": "eq", "fun": lambda v: float(radius(v)), "jac": jac},
        NonlinearConstraint(lambda v: float(radius(v)), 0, 0, jac=jac),
    ):
        if method == "SLSQP" and isinstance(constraint, dict) and "csr" in str(type(jac(start()))):
            continue  # SciPy takes dense ones only
        for fixed in (None, "q"):
            res = cv.minimize(
                loss, start(), method=method, constraints=constraint, fixed=fixed, tol=1e-8
            )
            assert radius(res.x) == pytest.approx(0, abs=1e-6)
            if fixed is None:
                assert_allclose(res.x, ON_SPHERE, atol=1e-4)


def test_args_of_a_constraint_are_passed_on():
    """To its function and Jacobian, a tuple or a single one."""
    for args in ((4.0,), [4.0], 4.0):
        constraint = {
            "type": "eq",
            "fun": lambda v, r: r - np.sum(v.p**2) - v.q**2,
            "jac": lambda v, r: -2 * cv.data(v) * (r / 4),
            "args": args,
        }
        res = cv.minimize(loss, start(), constraints=constraint, tol=1e-9)
        assert_allclose(res.x, 2 * ON_SPHERE, atol=1e-5)


@pytest.mark.parametrize(
    ("method", "constraint"),
    [
        (method, constraint)
        for method in TAKE_EQUALITIES
        for constraint in (
            {"type": "eq", "fun": radius},
            NonlinearConstraint(radius, 0, 0),
            LinearConstraint([[1, 1, 1]], 2, 2),
        )
    ]
    + [("trust-constr", LinearConstraint(csr_array([[1.0, 1.0, 1.0]]), 2, 2))],
)
def test_constraints_hold_beside_fixed_entries(method, constraint):
    """What the fixed ones contribute counts."""
    res = cv.minimize(loss, start(), method=method, constraints=constraint, fixed="q", tol=1e-9)
    assert res.x.q == 0.2
    expected = np.sqrt((1 - 0.04) / 2) if not hasattr(constraint, "A") else 0.9
    assert_allclose(res.x.p, [expected, expected], atol=1e-4)


def test_hessians_by_hand_are_whole():
    """Dense, by name or an operator; the function gets labels and multipliers."""

    def by_name(v, weights):
        assert v.layout == start().layout and weights.shape == (1,)
        return -2 * weights[0] * cv.ComponentMatrix(np.eye(3), v.layout, v.layout)

    for hess in (
        by_name,
        lambda v, weights: LinearOperator((3, 3), matvec=lambda p: -2 * weights[0] * p),
        "2-point",
    ):
        for fixed in (None, "q"):
            constraint = NonlinearConstraint(radius, 0, 0, jac=cv.jacobian(radius), hess=hess)
            res = cv.minimize(
                loss, start(), method="trust-constr", constraints=constraint, fixed=fixed
            )
            assert radius(res.x) == pytest.approx(0, abs=1e-6)


def test_options_of_a_nonlinear_constraint_are_kept_for_the_free_entries():
    """Steps and sparsity of differences."""
    constraint = NonlinearConstraint(
        lambda v: radius(v),
        0,
        0,
        jac="3-point",
        finite_diff_rel_step=np.full(3, 1e-5),
    )
    for sparsity in ([[1, 1, 1]], csr_array([[1, 1, 1]]), coo_array([[1, 1, 1]])):
        constraint.finite_diff_jac_sparsity = sparsity
        res = cv.minimize(loss, start(), method="trust-constr", constraints=constraint, fixed="q")
        assert radius(res.x) == pytest.approx(0, abs=1e-6)


def test_models_and_complex_vectors_have_constraints():
    """Functions get models; complex equations count for two."""
    model = {"w": np.array([3.0, 1.0]), "n": 2}
    constraint = {"type": "eq", "fun": lambda m: m["w"][0] - m["n"] * m["w"][1]}
    res = cv.minimize(lambda m: np.sum((m["w"] - 5) ** 2), model, constraints=constraint)
    assert_allclose(res.model["w"], [6.0, 3.0])
    z = cv.ComponentVector(z=0j, w=1j)
    for method in ("SLSQP", "trust-constr"):
        constraint = {"type": "eq", "fun": lambda v: v.z - v.w * 1j}
        res = cv.minimize(
            lambda v: np.real((v.z - 2) * np.conj(v.z - 2)) + np.real(v.w * np.conj(v.w)),
            z,
            method=method,
            constraints=constraint,
        )
        assert_allclose(res.x, [1, -1j], atol=1e-3)
    real = {"type": "eq", "fun": lambda v: np.real(v.z) - 1, "jac": lambda v: [1.0, 0.0]}
    res = cv.minimize(
        lambda v: np.real(v.z * np.conj(v.z)) + np.abs(v.w - 1) ** 2, z, constraints=real
    )
    assert_allclose(res.x, [1, 1], atol=1e-3)


def test_same_result_as_a_hand_written_call():
    """SLSQP with two constraints and bounds, problem 43 of Hock and Schittkowski (1981)."""

    def flat(x):
        return (
            x[0] ** 2
            + x[1] ** 2
            + 2 * x[2] ** 2
            + x[3] ** 2
            - 5 * x[0]
            - 5 * x[1]
            - 21 * x[2]
            + 7 * x[3]
        )

    parts = [
        lambda x: 8 - np.sum(x**2) - x[0] + x[1] - x[2] + x[3],
        lambda x: 10 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - 2 * x[3] ** 2 + x[0] + x[3],
        lambda x: 5 - 2 * x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - 2 * x[0] + x[1] + x[3],
    ]
    v = cv.ComponentVector(a=0.0, b=[0.0, 0.0], c=0.0)
    res = cv.minimize(
        lambda v: flat(cv.data(v)),
        v,
        constraints=[
            {"type": "ineq", "fun": lambda v, part=part: part(cv.data(v))} for part in parts
        ],
    )
    assert_allclose(res.x, [0, 1, 2, -1], atol=1e-4)
    assert res.fun == pytest.approx(-44)
    theirs = scipy.optimize.minimize(
        flat, np.zeros(4), constraints=[{"type": "ineq", "fun": part} for part in parts]
    )
    assert_allclose(res.x, theirs.x, atol=1e-4)


@pytest.mark.parametrize("method", IGNORE)
def test_constraints_for_a_method_that_ignores_them_are_an_error(method):
    """With those that take them."""
    with pytest.raises(ValueError, match=r"ignores constraints; these do not: cobyla, cobyqa, "):
        cv.minimize(loss, start(), method=method, constraints={"type": "eq", "fun": radius})


@pytest.mark.parametrize("constraints", [(), [], None])
def test_no_constraints_are_none(constraints):
    """For a method that would ignore them."""
    assert cv.minimize(loss, start(), method="CG", constraints=constraints).success


@pytest.mark.parametrize(
    ("constraint", "error", "message"),
    [
        (3.0, TypeError, "a constraint is a dict, a NonlinearConstraint or a Linear"),
        (Bounds(0, 1), TypeError, "got Bounds"),
        (radius, TypeError, "got function"),
        ({"type": "eq"}, ValueError, "a constraint needs a function 'fun'"),
        ({"fun": radius}, KeyError, "no type"),
        ({"type": "le", "fun": radius}, ValueError, "Unknown constraint type"),
        (LinearConstraint([[1, 1]], 0, 0), ValueError, "must have 3 columns, one for each entry"),
        ({"type": "eq", "fun": lambda v: None}, TypeError, "the constraint must be numbers"),
        (
            {"type": "eq", "fun": radius, "jac": lambda v: [1.0]},
            ValueError,
            r"the Jacobian of a constraint must have the shape \(m, 3\), got \(1, 1\)",
        ),
    ],
)
def test_bad_constraints_say_what_is_expected(constraint, error, message):
    """Ours, or SciPy's own words."""
    for method in ("SLSQP", "trust-constr"):
        with pytest.raises(error, match=message):
            cv.minimize(loss, start(), method=method, constraints=[constraint])
        with pytest.raises(error, match=message):
            cv.minimize(loss, start(), method=method, constraints=constraint)


def test_linear_constraint_on_complex_entries_counts_pairs():
    """A column for each part."""
    z = cv.ComponentVector(z=1j)
    with pytest.raises(ValueError, match=r"2 columns, one for each entry of the pairs \(re, im\)"):
        cv.minimize(lambda v: np.abs(v.z), z, constraints=LinearConstraint([[1.0]], 0, 0))
    res = cv.minimize(
        lambda v: np.abs(v.z) ** 2, z, constraints=LinearConstraint([[1.0, 1.0]], 2, 2)
    )
    assert_allclose(res.x.z, 1 + 1j, atol=1e-3)


def test_complex_step_of_a_constraint_needs_real_entries():
    """As that of the objective."""
    with pytest.raises(ValueError, match='jac="cs" steps into the complex plane'):
        cv.minimize(
            lambda v: np.abs(v.z),
            cv.ComponentVector(z=1j),
            constraints=NonlinearConstraint(lambda v: np.real(v.z), 0, 1, jac="cs"),
        )
