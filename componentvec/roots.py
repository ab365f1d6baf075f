"""Equations by name: SciPy's `root` for vectors, models and plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from scipy.optimize import OptimizeResult

from .equations import Equations, solver_jacobian
from .options import reduced
from .unknowns import Unknowns

_WITH_JACOBIAN = frozenset({"hybr", "lm"})


def root(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    **scipy_options: Any,
) -> OptimizeResult:
    """Solve equations for named unknowns: `scipy.optimize.root`, by name.

    Parameters
    ----------
    fun
        ``fun(x, *args)`` gives as many numbers as there are unknowns: a ComponentVector, a dict or
        another tree of arrays, or an array, zero at the solution. `x` is what `x0` is.
    x0
        Start: a ComponentVector, a model, or an array. It is never changed. Complex numbers,
        unknowns and equations alike, are solved as pairs (re, im).
    args
        Further arguments of `fun` and `jac`, a tuple or a single one.
    method
        Any of SciPy's.
    jac
        None for exact derivatives by autograd, for ``"hybr"`` and ``"lm"``; the others have no use
        for a Jacobian. True where `fun` gives values and Jacobian; a callable, whose result may be
        a ComponentMatrix; False or ``"2-point"`` for MINPACK's finite differences, ``"3-point"``
        and ``"cs"`` for those of `scipy.optimize.least_squares`.
    **scipy_options
        `tol`, `callback` (which gets x and values as users know them) and `options` of SciPy; all
        others are taken as options of the method.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's own, in which ``x`` is a ComponentVector, ``fun`` one if `fun` gives names, and
        ``model`` the solution as a model in its own dtypes. All arrays are new memory, in double
        precision.

    Raises
    ------
    ValueError
        The values at `x0` are not finite, or not as many as the unknowns; `method` or `jac` are
        none that there are.
    TypeError
        `x0` is neither vector, model nor array of numbers. Exceptions of `fun` come through as in
        `minimize`.

    Examples
    --------
    >>> import autograd.numpy as np
    >>> import componentvec as cv
    >>> start = cv.ComponentVector(x=1.0, y=1.0)
    >>> res = cv.root(lambda v: {"circle": v.x**2 + v.y**2 - 4, "line": v.x - v.y}, start)
    >>> np.round(res.x, 6)
    ComponentVector(x=1.414214, y=1.414214)
    >>> res.fun.keys()
    ['circle', 'line']
    """
    unknowns = Unknowns(x0, any_shape=True)
    args = args if isinstance(args, tuple) else (args,)
    if not isinstance(method, str):
        raise ValueError(f"method must be the name of one of SciPy's methods, got {method!r:.80}")
    key = method.lower()
    known = {name: scipy_options.pop(name, None) for name in ("tol", "callback", "options")}
    options = reduced({**(known["options"] or {}), **scipy_options}, unknowns)
    if options.pop("col_deriv", False):  # by hand, it is transposed
        fun, jac = _transposing(fun, jac)
    equations = Equations(fun, args, unknowns, "equations", with_jacobian=jac is True)
    x = unknowns.x0
    values = equations.require_finite(x)
    if values.size != x.size and key != "lm":
        raise ValueError(
            f"root needs as many equations as unknowns, got {values.size} for {x.size}"
        )
    if not x.size:
        message = "Nothing is to be solved for."
        result = OptimizeResult(x=x, fun=values, success=True, status=1, message=message, nfev=1)
        return _label_root(result, unknowns, equations)
    if key in _WITH_JACOBIAN or jac is not None:  # SciPy warns of one that is not used
        jac = solver_jacobian(jac, args, equations, unknowns)
        jac = None if jac == "2-point" else jac
    callback = known["callback"]
    if callback is not None:
        user_callback = callback

        def callback(x: np.ndarray, f: np.ndarray) -> Any:
            return user_callback(unknowns.view(x.copy()), equations.labelled(f))

    result = scipy.optimize.root(
        equations, x, method=method, jac=jac, tol=known["tol"], callback=callback, options=options
    )
    return _label_root(result, unknowns, equations)


def _transposing(fun: Any, jac: Any) -> tuple[Any, Any]:
    """Functions with the Jacobian transposed that they give, which the user has transposed."""
    if jac is True:

        def both(*args: Any) -> tuple[Any, Any]:
            values, matrix = fun(*args)
            return values, np.transpose(matrix)

        return both, True
    if callable(jac):
        return fun, lambda *args: np.transpose(jac(*args))
    return fun, jac


def _label_root(result: Any, unknowns: Unknowns, equations: Equations) -> OptimizeResult:
    """A result of SciPy's root with labels, on memory of its own."""
    result = OptimizeResult(result)
    x = np.array(result.x, dtype=float).reshape(-1)
    unknowns.put_solution(result, x)
    result["fun"] = equations.labelled(result.fun)
    return result
