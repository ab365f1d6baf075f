"""Constraints whose functions get what the objective gets, as SciPy takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import BFGS, LinearConstraint, NonlinearConstraint
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from .equations import Equations
from .returns import restrict
from .unknowns import Unknowns


def has_constraints(constraints: Any) -> bool:
    """Whether any constraint is given."""
    if constraints is None or isinstance(constraints, list | tuple):
        return bool(constraints)
    return True


def read_constraints(constraints: Any, unknowns: Unknowns, method: str, exact: bool) -> list[Any]:
    """SciPy's constraints on the free entries; with `exact`, derivatives by autograd.

    TypeError for anything but dicts, `NonlinearConstraint` and `LinearConstraint`.
    """
    if not has_constraints(constraints):
        return []
    if not isinstance(constraints, list | tuple):
        constraints = [constraints]
    found: list[Any] = []
    for constraint in constraints:
        if isinstance(constraint, LinearConstraint):
            found.append(_linear(constraint, unknowns))
        elif isinstance(constraint, NonlinearConstraint):
            found.append(_nonlinear(constraint, unknowns, method, exact))
        elif isinstance(constraint, dict):
            found.append(_from_dict(constraint, unknowns, method, exact))
        else:
            raise TypeError(
                "a constraint is a dict, a NonlinearConstraint or a LinearConstraint, got "
                f"{type(constraint).__name__}"
            )
    return found


def _from_dict(
    constraint: dict[str, Any], unknowns: Unknowns, method: str, exact: bool
) -> dict[str, Any] | NonlinearConstraint:
    """A constraint that is a dict of type, fun, jac and args."""
    if not callable(constraint.get("fun")):
        raise ValueError(f"a constraint needs a function 'fun', got {constraint!r:.80}")
    args = constraint.get("args", ())
    args = args if isinstance(args, tuple) else tuple(args) if isinstance(args, list) else (args,)
    equations = Equations(constraint["fun"], args, unknowns, "constraint")
    jac = _jacobian(constraint.get("jac"), args, equations, unknowns, exact)
    kind = constraint.get("type")
    if method != "trust-constr" or kind not in ("eq", "ineq"):
        wrapped = {"fun": equations} if kind is None else {"type": kind, "fun": equations}
        return {**wrapped, "jac": jac} if callable(jac) else wrapped
    high = 0.0 if kind == "eq" else np.inf
    if not callable(jac):
        return NonlinearConstraint(equations, 0.0, high)
    hess = BFGS() if callable(constraint.get("jac")) else _exact_hessian(equations, unknowns)
    return NonlinearConstraint(equations, 0.0, high, jac=jac, hess=hess)


def _nonlinear(
    constraint: NonlinearConstraint, unknowns: Unknowns, method: str, exact: bool
) -> NonlinearConstraint:
    """A nonlinear constraint; SciPy's defaults, '2-point' and BFGS, become exact."""
    equations = Equations(constraint.fun, (), unknowns, "constraint")
    given = constraint.jac
    if isinstance(given, str) and given == "cs":
        unknowns.refuse_complex_step()
    default = isinstance(given, str) and given == "2-point"
    jac = _jacobian(None if default else given, (), equations, unknowns, exact and default)
    hess = constraint.hess
    if callable(hess):
        user_hess = hess

        def hess(x: np.ndarray, weights: np.ndarray) -> Any:
            matrix = user_hess(unknowns.view(x.copy()), weights)
            return restrict(unknowns, matrix, "the Hessian of a constraint", rows=True)

    elif exact and default and isinstance(hess, BFGS) and method == "trust-constr":
        hess = _exact_hessian(equations, unknowns)
    sparsity = constraint.finite_diff_jac_sparsity
    if sparsity is not None:
        sparsity = restrict(unknowns, sparsity, "finite_diff_jac_sparsity")
    step = constraint.finite_diff_rel_step
    if unknowns.free is not None and np.shape(step) == unknowns.start.shape:
        step = np.asarray(step)[unknowns.free]
    return NonlinearConstraint(
        equations,
        np.asarray(constraint.lb),
        np.asarray(constraint.ub),
        jac=given if jac is None else jac,
        hess=hess,
        keep_feasible=constraint.keep_feasible,
        finite_diff_rel_step=step,
        finite_diff_jac_sparsity=sparsity,
    )


def _linear(constraint: LinearConstraint, unknowns: Unknowns) -> LinearConstraint:
    """A linear constraint on the free entries: what fixed ones contribute moves the limits."""
    matrix = constraint.A if issparse(constraint.A) else np.asarray(constraint.A)
    if matrix.shape[1] != unknowns.start.size:
        raise ValueError(
            f"a linear constraint must have {unknowns.start.size} columns, one for each entry"
            f"{' of the pairs (re, im)' if unknowns.paired else ''}, got {matrix.shape[1]}"
        )
    if unknowns.free is None:
        return constraint
    shift = matrix @ np.where(unknowns.is_fixed, unknowns.start, 0.0)
    low, high = constraint.lb - shift, constraint.ub - shift
    return LinearConstraint(matrix[:, unknowns.free], low, high, constraint.keep_feasible)


def _jacobian(
    jac: Any, args: tuple[Any, ...], equations: Equations, unknowns: Unknowns, exact: bool
) -> Any:
    """The Jacobian of a constraint: the user's, by autograd, or None."""
    if callable(jac):

        def given(x: np.ndarray) -> Any:
            matrix = jac(unknowns.view(x.copy()), *args)
            what = "the Jacobian of a constraint"
            return restrict(unknowns, matrix, what, pairs=equations.paired)

        return given
    return equations.jacobian if exact else None


def _exact_hessian(equations: Equations, unknowns: Unknowns) -> Any:
    """The Hessian of a weighted sum of constraints, by autograd, as a linear operator."""

    def hessian(x: np.ndarray, weights: np.ndarray) -> LinearOperator:
        product = equations.hessian_product(x, np.array(weights, dtype=float))
        return LinearOperator((x.size, x.size), matvec=product, dtype=float)

    return hessian
