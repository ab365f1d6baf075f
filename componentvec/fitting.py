"""Fits by name: SciPy's `least_squares`, and covariances of what was fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from scipy.linalg import cho_solve, cholesky, qr, solve_triangular
from scipy.optimize import OptimizeResult

from .bounds import Box, read_bounds
from .equations import Equations, check_jac, solver_jacobian
from .objective import Objective
from .options import reduced
from .progress import Observer
from .unknowns import Unknowns, first_not_finite


def least_squares(
    residuals: Callable[..., Any],
    x0: Any,
    args: Any = (),
    jac: Any = None,
    bounds: Any = None,
    *,
    fixed: Any = None,
    **scipy_options: Any,
) -> OptimizeResult:
    """Fit named parameters: `scipy.optimize.least_squares`, by name, with standard errors.

    Parameters
    ----------
    residuals
        ``residuals(x, *args)`` gives the residuals: an array, a ComponentVector, or a dict or
        another tree of arrays, which label the rows of the Jacobian. `x` is what `x0` is.
    x0
        Start: a ComponentVector, a model (whose trainable arrays are fitted), or an array of one
        axis. It is never changed. Complex numbers, parameters and residuals alike, are fitted as
        pairs (re, im).
    args
        Further arguments of `residuals` and `jac`, a tuple or a single one.
    jac
        None for the exact Jacobian by autograd, row by row or column by column, whichever are
        fewer. True where `residuals` gives residuals and Jacobian. Else as in SciPy: a callable,
        whose result may be a ComponentMatrix, ``"2-point"``, ``"3-point"`` or ``"cs"``.
    bounds
        As in `minimize`, where SciPy's own form is that of `scipy.optimize.least_squares`: two
        arrays or numbers.
    fixed
        As in `minimize`.
    **scipy_options
        All else that SciPy's function takes: `method`, `loss`, `x_scale`, `max_nfev` and so on.
        `x_scale` and `diff_step` may be labelled, and are whole.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's own, in which ``x`` and ``grad`` are ComponentVectors, ``jac`` is a ComponentMatrix
        with labelled columns (and rows, if the residuals have names), and ``fun`` is what
        `residuals` gave; ``model`` is the solution as a model, in its own dtypes. Beside these:

        - ``cov``, ComponentMatrix: covariance of the parameters, s^2 (J'J)^-1 over the free
          entries, with s^2 = RSS / (m - n) for m residuals and n free entries;
        - ``stderr``, ComponentVector: standard errors, in units of the parameters;
        - with `fixed`, ``fixed``: the mask.

        All is whole: fixed entries have their value in ``x``, and zeros elsewhere. Covariance and
        standard errors are inf where m <= n or the rank of J falls short. A complex number has two
        entries (re, im) in ``jac``, ``cov`` and ``stderr``. Where the Jacobian is sparse or a
        linear operator, ``jac`` stays so, and ``cov`` and ``stderr`` are left out. All arrays are
        new memory, in double precision.

    Raises
    ------
    ValueError
        A residual at `x0` is not finite; a low is not below its high; `x0` starts outside the
        bounds; sizes do not fit.
    KeyError
        A pattern matches nothing.
    TypeError
        `x0` is neither vector, model nor array of numbers. Exceptions of `residuals` come through
        as in `minimize`.

    Notes
    -----
    (J'J)^-1 is never formed from J'J, which would square the condition number: with the columns of
    J scaled to length one, J D^-1 P = QR (pivoted), and (J'J)^-1 = D^-1 P R^-1 R^-T P' D^-1.

    Examples
    --------
    >>> import autograd.numpy as np
    >>> import componentvec as cv
    >>> t = np.array([0.0, 1.0, 2.0, 3.0])
    >>> y = np.array([5.1, 2.9, 1.9, 1.0])
    >>> def residuals(v):
    ...     return v.height * np.exp(-v.rate * t) - y
    >>> res = cv.least_squares(residuals, cv.ComponentVector(height=1.0, rate=1.0))
    >>> np.round(res.x, 3)
    ComponentVector(height=5.075, rate=0.526)
    >>> np.round(res.stderr, 3)
    ComponentVector(height=0.115, rate=0.025)
    """
    unknowns = Unknowns(x0, fixed=fixed)
    box = read_bounds(bounds, unknowns, in_pairs=False)
    args = args if isinstance(args, tuple) else (args,)
    kwargs = scipy_options.pop("kwargs", None)
    equations = Equations(residuals, args, unknowns, "residuals", kwargs, with_jacobian=jac is True)
    x = unknowns.x0
    values = equations.require_finite(x)
    if not x.size:
        result = _unmoved(values)
    else:
        given: dict[str, Any] = reduced(scipy_options, unknowns)
        if isinstance(jac, str):
            check_jac(jac, unknowns)
            if jac == "cs" and equations.paired:
                raise ValueError('jac="cs" needs real residuals, got complex ones')
            given["jac"] = jac
        else:
            given["jac"] = solver_jacobian(jac, args, equations, unknowns, kwargs)
        if box is not None:
            _require_room(box, unknowns)
            given["bounds"] = box.free(unknowns)
        if given.get("callback") is not None:
            given["callback"] = Observer(given["callback"], unknowns)
        result = scipy.optimize.least_squares(equations, x, **given)
    return _label(result, unknowns, equations)


def covariance(
    neg_log_likelihood: Callable[..., Any], x: Any, args: Any = (), *, fixed: Any = None
) -> Any:
    """Covariance of maximum likelihood estimates: the inverse Hessian, by name.

    Parameters
    ----------
    neg_log_likelihood
        ``neg_log_likelihood(x, *args)``: the negative logarithm of the likelihood (dimensionless).
    x
        Where it is minimal: a ComponentVector, a model, or an array of one axis.
    args
        Further arguments, a tuple or a single one.
    fixed
        As in `minimize`: entries that were not estimated.

    Returns
    -------
    ComponentMatrix
        The inverse of the Hessian over the free entries, zeros at fixed ones, in units of `x`
        squared; for a plain array, an array. A complex number has two entries (re, im). The
        square roots of the diagonal are standard errors.

    Raises
    ------
    ValueError
        The value or the Hessian is not finite, or the Hessian not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=1.0, b=[0.0, 0.0])
    >>> cov = cv.covariance(lambda v: 2 * (v.a - 1) ** 2 + (v.b**2).sum(), v)
    >>> np.sqrt(np.diag(cov)).tolist()
    [0.5, 0.7071067811865476, 0.7071067811865476]
    """
    unknowns = Unknowns(x, "x", fixed=fixed)
    args = args if isinstance(args, tuple) else (args,)
    at = unknowns.x0
    if not at.size:
        return unknowns.matrix(np.empty((0, 0)))
    objective = Objective(neg_log_likelihood, args, unknowns, None, "covariance")
    objective.require_finite(at, "x")
    return unknowns.matrix(_inverse(objective.hessian(at), unknowns))


def _inverse(hessian: np.ndarray, unknowns: Unknowns) -> np.ndarray:
    """The inverse of a positive definite matrix, by Cholesky's method after scaling."""
    diagonal = np.diag(hessian)
    whole = unknowns.spread(diagonal)
    if not np.isfinite(hessian).all():
        found = first_not_finite(whole, unknowns.name)
        where = f": on its diagonal, {found}" if found else ""
        raise ValueError(f"the Hessian at x is not finite{where}")
    wrong = unknowns.spread(~(diagonal > 0))
    if wrong.any():
        position = int(np.argmax(wrong))
        raise ValueError(
            f"the Hessian at x is not positive definite: its diagonal is {whole[position]} at "
            f"{unknowns.name(position)}; x is no minimum, or the data do not determine it"
        )
    scale = np.sqrt(diagonal)
    try:
        factor = cholesky(hessian / np.outer(scale, scale), lower=True)
    except np.linalg.LinAlgError:
        factor = np.zeros((1, 1))
    if np.diag(factor).min() ** 2 <= len(hessian) * np.finfo(float).eps:
        raise ValueError(
            "the Hessian at x is not positive definite: x is no minimum, or the data do not "
            "determine some combination of the parameters"
        )
    inverse = cho_solve((factor, True), np.eye(len(hessian))) / np.outer(scale, scale)
    return (inverse + inverse.T) / 2


def _require_room(box: Box, unknowns: Unknowns) -> None:
    """ValueError where a low is its high: SciPy wants room between them."""
    closed = (box.low == box.high) & ~unknowns.is_fixed
    if closed.any():
        name = unknowns.name(int(np.argmax(closed)))
        raise ValueError(f"bounds of {name}: the low is the high; hold it by fixed= instead")


def _unmoved(values: np.ndarray) -> OptimizeResult:
    """The result where nothing is free."""
    return OptimizeResult(
        x=np.empty(0),
        cost=0.5 * float(values @ values),
        fun=values,
        jac=np.empty((values.size, 0)),
        grad=np.empty(0),
        optimality=0.0,
        active_mask=np.empty(0, dtype=int),
        nfev=1,
        njev=0,
        status=1,
        message="Nothing is free: all entries are fixed.",
        success=True,
    )


def _label(result: Any, unknowns: Unknowns, equations: Equations) -> OptimizeResult:
    """A result of SciPy's with labels, whole, with covariance, on memory of its own."""
    result = OptimizeResult(result)
    x, values, jacobian = np.array(result.x), result.fun, result.jac
    if isinstance(jacobian, np.ndarray):
        cov = _least_squares_covariance(jacobian, values)
        result["cov"] = unknowns.matrix(cov)
        result["stderr"] = unknowns.real_vector(np.sqrt(np.diag(cov)))
    unknowns.put_solution(result, x)
    result["fun"] = equations.labelled(values)
    result["jac"] = unknowns.columns(jacobian, equations.entries)
    result["grad"] = unknowns.gradient(result.grad)
    result["active_mask"] = unknowns.spread(result.active_mask)
    if unknowns.free is not None:
        result["fixed"] = unknowns.is_fixed
    return result


def _least_squares_covariance(jacobian: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """s^2 (J'J)^-1 by QR of the column-scaled Jacobian; inf where it is not determined."""
    m, n = jacobian.shape
    unknown = np.full((n, n), np.inf)
    scale = np.linalg.norm(jacobian, axis=0)
    if not n or m <= n or not np.isfinite(scale).all() or not (scale > 0).all():
        return unknown
    triangle, order = qr(jacobian / scale, mode="r", pivoting=True)
    triangle = triangle[:n]
    pivots = np.abs(np.diag(triangle))
    if pivots.min() <= m * np.finfo(float).eps * pivots.max():
        return unknown
    inverse = np.empty((n, n))
    inverse[order] = solve_triangular(triangle, np.eye(n))
    inverse /= scale[:, None]
    return inverse @ inverse.T * (residuals @ residuals / (m - n))
