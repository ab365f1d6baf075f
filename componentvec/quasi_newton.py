"""BFGS with a rank-two update: quadratic work an iteration where SciPy's own is cubic."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dsymv, dsyr2
from scipy.optimize import OptimizeResult, OptimizeWarning

# SciPy's own parts, so that the steps, the callbacks and the messages are the same as there.
from scipy.optimize._optimize import (
    FD_METHODS,
    MemoizeJac,
    _call_callback_maybe_halt,
    _check_positive_definite,
    _check_unknown_options,
    _line_search_wolfe12,
    _LineSearchError,
    _prepare_scalar_function,
    _status_message,
    _wrap_callback,
    vecnorm,
)

Array = NDArray[np.float64]

_MESSAGES = {
    **dict(enumerate(_status_message[key] for key in ("success", "maxiter", "pr_loss", "nan"))),
    99: "`callback` raised `StopIteration`.",
}


def bfgs(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    jac: Callable[..., Any] | str | bool | None = None,
    callback: Callable[..., Any] | None = None,
    *,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    gtol: float | None = None,
    norm: float = np.inf,
    eps: ArrayLike = 2.0**-26,
    maxiter: int | None = None,
    disp: bool = False,
    return_all: bool = False,
    finite_diff_rel_step: ArrayLike | None = None,
    xrtol: float = 0.0,
    c1: float = 1e-4,
    c2: float = 0.9,
    hess_inv0: ArrayLike | None = None,
    workers: Any = None,
    **unknown_options: Any,
) -> OptimizeResult:
    """Minimize a function of one flat vector by BFGS, with O(n^2) work an iteration.

    A ``method`` for `scipy.optimize.minimize`, with the algorithm, options, stopping rules and
    result fields of SciPy's own BFGS, and its iterates to rounding.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args) -> float``; `x` is a float64 array of shape (n,), a copy of its own.
    x0 : array_like, shape (n,)
        Start. It is copied, and the work is in double precision whatever its dtype.
    args : tuple, optional
        Further arguments of `fun` and `jac`.
    jac : callable, True, {"2-point", "3-point", "cs"} or None, optional
        Gradient ``jac(x, *args)`` of n entries, which is copied; True if `fun` returns value and
        gradient; otherwise finite differences, with the absolute step `eps` for None. (A string is
        for direct calls: `scipy.optimize.minimize` passes None for it to all methods but its own.)
    callback : callable, optional
        Called after each iteration as ``callback(intermediate_result=...)`` if that is the name of
        its only parameter, else as ``callback(x)``. StopIteration ends the run.
    hess, hessp : object, optional
        Not used; a RuntimeWarning says so.
    bounds, constraints : object, optional
        Must not be given.
    tol, gtol : float, optional
        End when the norm of the gradient is at most `gtol`, by default `tol`, by default 1e-5
        (same units as the gradient).
    norm : float, optional
        Order of that norm (dimensionless).
    eps : float or array_like of shape (n,), optional
        Absolute step of the finite differences for ``jac=None`` (same units as `x`).
    maxiter : int, optional
        Most iterations; by default 200 n.
    disp, return_all : bool, optional
        Print how the run ended; keep all iterates in ``allvecs``.
    finite_diff_rel_step : float or array_like of shape (n,), optional
        Relative step of the finite differences that a string asks for (dimensionless).
    xrtol : float, optional
        End also when a step is shorter than `xrtol` times the length of `x` (dimensionless).
    c1, c2 : float, optional
        Constants of the Wolfe conditions, ``0 < c1 < c2 < 1`` (dimensionless).
    hess_inv0 : array_like, shape (n, n), optional
        First inverse Hessian, symmetric positive definite, copied; by default the identity.
    workers : int or map-like callable, optional
        Spreads finite differences over processes; needs SciPy 1.16 or later.
    **unknown_options : object
        Ignored; an OptimizeWarning names them.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` and ``jac`` (n,), symmetric ``hess_inv`` (n, n), ``fun``, ``nfev``, ``njev``, ``nit``,
        ``success``, ``message``, ``status`` (0 success, 1 `maxiter` reached, 2 line search failed,
        3 NaN, 99 ended by the callback), ``allvecs`` if asked for. All arrays are new memory.

    Raises
    ------
    ValueError
        Bounds or constraints are given; `x0`, a gradient or `hess_inv0` has a wrong shape, or
        `hess_inv0` is not symmetric positive definite; `jac` is an unknown string.
    TypeError
        `x0`, a gradient or `hess_inv0` is not made of real numbers.

    Notes
    -----
    The inverse Hessian H is updated by the step s and the change of the gradient y as in eq. 6.17
    of [1]_: ``(I - r s y') H (I - r y s') + r s s'`` with ``r = 1 / y's``. Multiplied out that is
    ``H + s w' + w s'`` with ``w = (r + r^2 y'Hy) s / 2 - r Hy``. With the direction ``p = -Hg`` at
    hand, one product gives both ``Hg_new`` and ``Hy = Hg_new + p``, and from these the next
    direction follows in O(n). So an iteration is one symmetric matrix-vector product and one
    symmetric rank-two update, in place on one triangle, and H is the only memory of order n^2.

    Rounding can cost H its positive definiteness, more easily so in the multiplied-out form. A
    direction without descent is never followed: H becomes the identity times ``y's / y'y`` (eq.
    6.20 of [1]_), and the run goes on. The line search is SciPy's, for the strong Wolfe conditions,
    by which ``y's > 0``; a pair with ``y's < 0``, after its fallback, is left out.

    References
    ----------
    .. [1] J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd ed., Springer, 2006, chapter 6.

    Examples
    --------
    >>> import componentvec as cv
    >>> from scipy.optimize import minimize, rosen, rosen_der
    >>> res = minimize(rosen, [1.3, 0.7, 0.8], jac=rosen_der, method=cv.bfgs, tol=1e-8)
    >>> res.x.round(6).tolist(), res.message
    ([1.0, 1.0, 1.0], 'Optimization terminated successfully.')
    >>> bool((res.hess_inv == res.hess_inv.T).all())
    True
    """
    _refuse_or_warn(bounds, constraints, hess, hessp)
    _check_unknown_options(unknown_options)
    x = np.atleast_1d(_real_copy(x0, "x0"))
    if x.ndim > 1:
        raise ValueError(f"'x0' must only have one dimension; it has the shape {x.shape}")
    n = x.size
    inverse = _InverseHessian(n, hess_inv0)
    gtol = next((bound for bound in (gtol, tol) if bound is not None), 1e-5)
    maxiter = 200 * max(n, 1) if maxiter is None else maxiter
    callback = _wrap_callback(callback, "bfgs")

    fun, jac = _value_and_gradient(fun, jac, n)
    scalar = _prepare_scalar_function(
        fun,
        x,
        jac,
        args=args if isinstance(args, tuple) else (args,),
        epsilon=eps,
        finite_diff_rel_step=finite_diff_rel_step,
        **({} if workers is None else {"workers": workers}),
    )
    f, g = scalar.fun(x), scalar.grad(x)
    f_before = f + np.linalg.norm(g) / 2  # makes the first trial step about one long
    size = vecnorm(g, ord=norm) if n else 0.0
    p = -inverse.times(g) if n else g
    iterations, status, iterates = 0, 0, [x.copy()]

    while size > gtol and iterations < maxiter:
        if not np.dot(p, g) < 0 and not inverse.is_scaled_identity:
            inverse.reset()
            p = -inverse.times(g)
        try:
            step, _, _, f, f_before, g_new = _line_search_wolfe12(
                scalar.fun, scalar.grad, x, p, g, f, f_before, amin=1e-100, amax=1e100, c1=c1, c2=c2
            )
        except _LineSearchError:
            status = 2
            break
        s = step * p
        x = x + s
        if g_new is None:
            g_new = scalar.grad(x)
        y, g = g_new - g, g_new
        iterations += 1
        if return_all:
            iterates.append(x.copy())
        if _call_callback_maybe_halt(callback, OptimizeResult(x=x.copy(), fun=f)):
            status = 99
            break
        size = vecnorm(g, ord=norm)
        if size <= gtol:
            break
        if step * np.linalg.norm(p) <= xrtol * (xrtol + np.linalg.norm(x)):
            break
        if not np.isfinite(f):
            status = 2
            break
        p = inverse.update(s, y, g, p)

    if status == 0 and iterations >= maxiter:
        status = 1
    elif status == 0 and (np.isnan(size) or np.isnan(f) or np.isnan(x).any()):
        status = 3
    if disp:
        _display(status, f, iterations, scalar)
    result = OptimizeResult(
        fun=f,
        jac=np.array(g),
        hess_inv=inverse.full(),
        nfev=scalar.nfev,
        njev=scalar.ngev,
        status=status,
        success=status == 0,
        message=_MESSAGES[status],
        x=x,
        nit=iterations,
    )
    if return_all:
        result["allvecs"] = iterates
    return result


class _InverseHessian:
    """A symmetric matrix of which one triangle is kept up to date, in place."""

    def __init__(self, n: int, start: ArrayLike | None) -> None:
        self._scale = 1.0
        if start is None:
            self._matrix = np.empty((n, n))
            self.reset()
            return
        _check_positive_definite(start)
        self._matrix = _real_copy(start, "hess_inv0")
        self.is_scaled_identity = False
        if self._matrix.shape != (n, n):
            raise ValueError(f"hess_inv0 must have the shape {(n, n)}, got {self._matrix.shape}")

    @property
    def _triangle(self) -> Array:
        """The matrix as BLAS wants it, column by column: a view, so that BLAS writes in place."""
        return self._matrix.T

    def reset(self) -> None:
        """Become the multiple of the identity that fits the latest pair best."""
        self._matrix[...] = 0.0
        np.fill_diagonal(self._matrix, self._scale)
        self.is_scaled_identity = True

    def times(self, g: Array) -> Array:
        """The product with `g`, a new array."""
        return dsymv(1.0, self._triangle, g, lower=1)

    def update(self, s: Array, y: Array, g: Array, p: Array) -> Array:
        """Take in a pair ``(s, y)``; return the direction at `g`, given the one before, `p`."""
        # What overflows or is no number is found by the tests below, or by that for descent.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            curvature, yy = np.dot(y, s), np.dot(y, y)
            # Hg and Hy differ by p. Hy is multiplied out where it would be a small difference,
            # full of rounding errors, and Hg otherwise, so that such errors do not add up in p.
            if yy < 0.01 * np.dot(g, g):
                hy = self.times(y)
                hg = hy - p
            else:
                hg = self.times(g)
                hy = hg + p
            scale = curvature / yy
            self._scale = float(scale) if 0 < scale < np.inf else 1.0
            curvature = curvature or 1e-3  # as SciPy does where nothing curves: longer steps
            w = ((1 + np.dot(y, hy) / curvature) / 2 * s - hy) / curvature
            if not (curvature > 0 and np.isfinite(w).all()):
                return -hg
            dsyr2(1.0, s, w, lower=1, a=self._triangle, overwrite_a=1)
            self.is_scaled_identity = False
            return -(hg + np.dot(w, g) * s + np.dot(s, g) * w)

    def full(self) -> Array:
        """The whole matrix, its second triangle filled in block by block."""
        matrix, n, block = self._matrix, len(self._matrix), 64
        for i in range(0, n, block):
            j = i + block
            corner = matrix[i:j, i:j]
            corner[...] = np.triu(corner) + np.triu(corner, 1).T
            matrix[j:, i:j] = matrix[i:j, j:].T
        return matrix


def _refuse_or_warn(bounds: Any, constraints: Any, hess: Any, hessp: Any) -> None:
    """Bounds and constraints are an error; second derivatives get SciPy's warning for BFGS."""
    if bounds is not None:
        raise ValueError("BFGS cannot handle bounds; use a method such as 'L-BFGS-B'")
    if constraints is not None and (not hasattr(constraints, "__len__") or len(constraints)):
        raise ValueError("BFGS cannot handle constraints; use a method such as 'SLSQP'")
    for unused, what in (
        (hess, "Hessian information (hess)"),
        (hessp, "Hessian-vector product information (hessp)"),
    ):
        if unused is not None:
            warnings.warn(f"Method BFGS does not use {what}.", RuntimeWarning, stacklevel=4)


def _real_copy(values: ArrayLike, name: str) -> Array:
    """A float64 array of its own with these values, which must be real numbers."""
    given = np.asarray(values)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {given.dtype}")
    return np.array(given, dtype=float, order="C")


def _value_and_gradient(fun: Any, jac: Any, n: int) -> tuple[Any, Any]:
    """`fun` and `jac` as SciPy takes them, with a gradient that is new memory each time."""
    if jac is True:
        fun = MemoizeJac(fun)
        jac = fun.derivative
    if isinstance(jac, str) and jac not in FD_METHODS:
        raise ValueError(f"jac must be callable, a bool, None or one of {FD_METHODS}, got {jac!r}")
    if not callable(jac):
        return fun, jac or None

    def gradient(x: Array, *args: Any) -> Array:
        g = _real_copy(jac(x, *args), "the gradient")
        if g.size != n:
            raise ValueError(f"the gradient must have {n} entries, got the shape {g.shape}")
        return g.reshape(n)

    return fun, gradient


def _display(status: int, f: float, iterations: int, scalar: Any) -> None:
    """What SciPy shows under ``disp=True``: a warning for a run that failed, and the counts."""
    if status in (0, 99):
        print(_MESSAGES[status])
    else:
        warnings.warn(_MESSAGES[status], OptimizeWarning, stacklevel=4)
    print(f"         Current function value: {f:f}")
    print(f"         Iterations: {iterations:d}")
    print(f"         Function evaluations: {scalar.nfev:d}")
    print(f"         Gradient evaluations: {scalar.ngev:d}")
