"""Minima by name: SciPy's `minimize` for vectors, models and plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from scipy.optimize import LbfgsInvHessProduct, OptimizeResult

from .bounds import Box, read_bounds
from .constraints import has_constraints, read_constraints
from .equations import check_jac
from .objective import Keeper, Objective
from .options import reduced
from .progress import Observer, Progress
from .quasi_newton import bfgs
from .returns import covector, restrict
from .unknowns import Unknowns

_DERIVATIVE_FREE = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
_TAKE_CONSTRAINTS = frozenset({"cobyla", "cobyqa", "slsqp", "trust-constr"})
_TAKE_BOUNDS = _TAKE_CONSTRAINTS | {"nelder-mead", "powell", "l-bfgs-b", "tnc"}
_TAKE_HESSIAN = frozenset({"trust-exact", "dogleg"})
_TAKE_PRODUCTS = frozenset({"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"})
#: that end with a status where an error of linear algebra is raised, by whomever
_TAKE_ERRORS = _TAKE_HESSIAN | {"cobyqa", "trust-ncg", "trust-krylov"}
_METHODS = _TAKE_BOUNDS | _TAKE_HESSIAN | _TAKE_PRODUCTS | {"bfgs", "cg"}


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str | Callable[..., Any] | None = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., Any] | None = None,
    options: dict[str, Any] | None = None,
    *,
    fixed: Any = None,
    progress: bool = False,
) -> OptimizeResult:
    """Minimize a function of named parameters: `scipy.optimize.minimize`, by name.

    Parameters
    ----------
    fun
        ``fun(x, *args)`` gives one real number. `x` is what `x0` is: a ComponentVector, a model,
        or an array, read-only where it is not traced. So do all other functions here get it,
        `callback` included.
    x0
        Start: a ComponentVector, a model (whose trainable arrays are solved for), or an array of
        one axis. It is never changed. Complex numbers are solved as pairs (re, im).
    args
        Further arguments of `fun`, `jac`, `hess` and `hessp`, a tuple or a single one.
    method
        Any of SciPy's, or a callable. By default BFGS, with bounds L-BFGS-B, with constraints
        SLSQP. BFGS is `componentvec.bfgs`.
    jac
        None for exact derivatives by autograd: gradients, constraint Jacobians (SciPy's default
        ``"2-point"`` in a `NonlinearConstraint` included), Hessians and products with them for the
        methods that use them. True where `fun` gives value and gradient. A callable that gives the
        gradient flat, as a vector, or for models as the tree of `componentvec.grad`; of complex
        vectors d/d(re) - i d/d(im). Or, as in SciPy, False, ``"2-point"``, ``"3-point"``,
        ``"cs"``.
    hess, hessp
        As in SciPy. A Hessian may be a ComponentMatrix; the direction is a ComponentVector.
    bounds
        Dict of path patterns to (low, high), each broadcast to the component, None for open, the
        later entry winning where several match; a pair of ComponentVectors; a
        `scipy.optimize.Bounds`; or a (low, high) for each entry.
    constraints
        As in SciPy. Constraint functions may return numbers, arrays, vectors and dicts.
    tol, options
        As in SciPy. Options with a number for each entry may be labelled, and are whole.
    callback
        As in SciPy: ``callback(x)``, ``callback(intermediate_result)``, or, for trust-constr,
        ``callback(x, state)``. StopIteration ends the run.
    fixed
        Path pattern, list of patterns, or boolean mask of entries that stay as they are. `fun`
        sees them; the solver does not. A tied alias stands for the entries that it shares.
    progress
        Whether to show iteration, value, largest entry of the gradient and time on stderr: one
        line that is written over and over, or, where that is no terminal, once at the end.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's own, in which ``x`` and ``jac`` (``grad`` of trust-constr) are ComponentVectors,
        and ``hess_inv``, ``hess`` and the Jacobians of trust-constr are ComponentMatrix where they
        are dense, with pairs (re, im) for complex vectors. ``model`` is the solution as a model, in
        its own dtypes. All is whole: fixed entries have their value in ``x``, and zeros elsewhere.
        With `fixed` there is ``fixed``, the mask, and with bounds ``active_mask``: -1 for entries
        at the low, 1 at the high, 0 elsewhere. All arrays are new memory, in double precision.

    Raises
    ------
    ValueError
        The value at `x0` is not finite; bounds or constraints are given to a method that ignores
        them; a low is above its high; `x0` starts outside the bounds; sizes do not fit.
    KeyError
        A pattern matches nothing.
    TypeError
        `x0` is neither vector, model nor array of numbers; `fun` gives anything but one real
        number. Exceptions of `fun` come through as they are; where autograd could not trace a
        function that runs on plain numbers, they gain a note that says what to do.

    Notes
    -----
    Value and gradient come from one trace, which is kept until SciPy asks for another x.

    Examples
    --------
    >>> import autograd.numpy as np
    >>> import componentvec as cv
    >>> start = cv.ComponentVector(rate=1.0, peak={"height": 1.0, "center": [0.0, 0.0]})
    >>> def loss(v):
    ...     return (v.rate - 3) ** 2 + (v.peak.height * v.rate - 6) ** 2 + (v.peak.center**2).sum()
    >>> res = cv.minimize(loss, start, bounds={"peak.center": (1, None)}, fixed="rate")
    Traceback (most recent call last):
    ValueError: x0 starts outside the bounds of 'peak.center[0]': 0.0 is below the low, 1.0
    >>> start.peak.center = 2.0
    >>> res = cv.minimize(loss, start, bounds={"peak.center": (1, None)}, fixed="rate")
    >>> np.round(res.x, 6)
    ComponentVector(rate=1.0, peak={'height': 6.0, 'center': [1.0, 1.0]})
    >>> np.round(res.jac.peak.center, 6).tolist(), res.active_mask.tolist()
    ([2.0, 2.0], [0, 0, -1, -1])
    """
    unknowns = Unknowns(x0, fixed=fixed)
    box = read_bounds(bounds, unknowns, in_pairs=True)
    method, key = _choose_method(method, box, constraints)
    check_jac(jac, unknowns)
    if box is not None and _removes_equal(key, jac):
        unknowns.fix(unknowns.is_fixed | (box.low == box.high))
    args = args if isinstance(args, tuple) else (args,)
    values_only = jac is None and (key in _DERIVATIVE_FREE or not unknowns.x0.size)
    objective = Objective(fun, args, unknowns, False if values_only else jac)
    x = unknowns.x0
    value = objective.require_finite(x)
    if not x.size:
        return _label(_unmoved(value, key), unknowns, box, key)

    hess, hessp = _second_derivatives(hess, hessp, key, jac, args, objective, unknowns)
    line = Progress() if progress else None
    observer = None
    if callback is not None or line is not None:
        with_state = key == "trust-constr"
        observer = Observer(callback, unknowns, objective, line, with_state=with_state)
    gradient = None if values_only else jac if _is_difference(jac) else objective.gradient
    options = reduced(options or {}, unknowns)
    given = {"fun": objective.value, "jac": gradient, "hess": hess, "hessp": hessp}
    limits = read_constraints(constraints, unknowns, key, exact=jac is None)
    keeper = Keeper()
    if key in _TAKE_ERRORS:
        given = {name: keeper.watch(function) for name, function in given.items()}
        limits = [keeper.watch_constraint(constraint) for constraint in limits]
    given["callback"] = observer
    result = None
    try:
        if key == "bfgs":
            result = bfgs(x0=x, tol=tol, **given, **options)
        else:
            given["bounds"] = None if box is None else box.free(unknowns)
            result = scipy.optimize.minimize(
                x0=x, method=method, constraints=limits, tol=tol, options=options, **given
            )
            keeper.raise_kept()
    except StopIteration:
        if observer is None or observer.stopped_at is None:
            raise
        result = _stopped(observer.stopped_at, objective, key)  # a method that does not know it
    finally:
        if line is not None:
            line.close(result)
    return _label(result, unknowns, box, key)


def _is_difference(jac: Any) -> bool:
    """Whether SciPy takes finite differences."""
    return jac is not None and jac is not True and not callable(jac)


def _removes_equal(key: str, jac: Any) -> bool:
    """Whether SciPy takes out what equal bounds hold, and breaks callbacks on the way."""
    return key in ("tnc", "cobyla") or (key in ("slsqp", "l-bfgs-b") and _is_difference(jac))


def _choose_method(method: Any, box: Box | None, constraints: Any) -> tuple[Any, str]:
    """The method and its name in lower case; ValueError where it ignores what it is given."""
    constrained = has_constraints(constraints)
    if method is None:
        method = "SLSQP" if constrained else "L-BFGS-B" if box is not None else "BFGS"
    if method is bfgs:
        method = "BFGS"
    if callable(method):
        return method, "custom"
    key = method.lower() if isinstance(method, str) else ""
    if key not in _METHODS:
        raise ValueError(f"unknown method {method!r}; there are {', '.join(sorted(_METHODS))}")
    for given, what, able in (
        (box is not None, "bounds", _TAKE_BOUNDS),
        (constrained, "constraints", _TAKE_CONSTRAINTS),
    ):
        if given and key not in able:
            raise ValueError(
                f"method {method!r} ignores {what}; these do not: {', '.join(sorted(able))}"
            )
    return method, key


def _second_derivatives(
    hess: Any,
    hessp: Any,
    key: str,
    jac: Any,
    args: tuple[Any, ...],
    objective: Objective,
    unknowns: Unknowns,
) -> tuple[Any, Any]:
    """Hessian and products with it: the user's, or by autograd where the method uses them.

    Beside a gradient by hand, that is where the method could not run without.
    """
    exact = not _is_difference(jac)
    if isinstance(hess, str) and hess == "cs" and exact and key in _TAKE_PRODUCTS:
        if jac is not None:
            raise ValueError(
                'hess="cs" needs jac=None; use hess="2-point", "3-point" or a callable'
            )
        hess = None  # by autograd, which is what a complex step of the gradient comes to
    if hess is None and key in _TAKE_HESSIAN and exact:
        hess = objective.hessian
    elif callable(hess):
        user_hess = hess

        def hess(x: np.ndarray) -> Any:
            matrix = user_hess(unknowns.view(x), *args)
            return restrict(unknowns, matrix, "the Hessian", rows=True)

    elif hess is None and hessp is None and key in _TAKE_PRODUCTS and exact:
        optional = key in ("newton-cg", "trust-constr")
        hessp = objective.product if jac is None or not optional else None
    if callable(hessp) and hessp != objective.product:
        user_hessp = hessp

        def hessp(x: np.ndarray, p: np.ndarray) -> np.ndarray:
            return covector(unknowns, user_hessp(unknowns.view(x), unknowns.direction(p), *args))

    return hess, hessp


def _unmoved(value: Any, key: str) -> OptimizeResult:
    """The result where nothing is free."""
    result = OptimizeResult(
        x=np.empty(0),
        fun=value,
        success=True,
        status=0,
        message="Nothing is free: all entries are fixed.",
        nit=0,
        nfev=1,
    )
    if key not in _DERIVATIVE_FREE:
        result["grad" if key == "trust-constr" else "jac"] = np.empty(0)
        result["njev"] = 0
    if key == "bfgs":
        result["hess_inv"] = np.empty((0, 0))
    return result


def _stopped(x: np.ndarray, objective: Objective, key: str) -> OptimizeResult:
    """The result where a callback ended a method that does not know how to end."""
    result = OptimizeResult(
        x=x,
        fun=objective.value(x),
        success=False,
        status=99,
        message="`callback` raised `StopIteration`.",
    )
    gradient = objective.known_gradient(x)
    return result if gradient is None else OptimizeResult(result, jac=gradient)


def _label(result: Any, unknowns: Unknowns, box: Box | None, key: str) -> OptimizeResult:
    """A result of SciPy's with labels, whole, on memory of its own."""
    if not isinstance(result, dict) or "x" not in result:
        raise TypeError(f"a method returns an OptimizeResult with x, got {type(result).__name__}")
    result = OptimizeResult(result)
    x = np.array(result.x, dtype=float).reshape(-1)
    unknowns.put_solution(result, x)
    gradients = ("grad", "lagrangian_grad") if key == "trust-constr" else ("jac",)
    for name in gradients:
        if isinstance(result.get(name), np.ndarray) and result[name].size == x.size:
            result[name] = unknowns.gradient(result[name])
    if key == "trust-constr" and "jac" in result:
        result["jac"] = [unknowns.columns(matrix) for matrix in result["jac"]]
    for name in ("hess_inv", "hess"):
        matrix = result.get(name)
        if isinstance(matrix, np.ndarray) and matrix.shape == (x.size, x.size):
            result[name] = unknowns.matrix(matrix)
        elif isinstance(matrix, LbfgsInvHessProduct) and unknowns.free is not None:
            result[name] = _WholeProduct(matrix, unknowns)
    if "allvecs" in result:
        result["allvecs"] = [unknowns.vector(point) for point in result["allvecs"]]
    if unknowns.free is not None:
        result["fixed"] = unknowns.is_fixed
    if box is not None:
        result["active_mask"] = box.active(unknowns, x)
    return result


class _WholeProduct(LbfgsInvHessProduct):
    """The inverse Hessian of L-BFGS over all entries: zeros at fixed ones."""

    def __init__(self, product: LbfgsInvHessProduct, unknowns: Unknowns) -> None:
        pairs = [
            np.stack([unknowns.spread(row) for row in rows])
            if len(rows)
            else np.empty((0, unknowns.start.size))
            for rows in (product.sk, product.yk)
        ]
        super().__init__(*pairs)
        self._free = ~unknowns.is_fixed

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return super()._matvec(np.reshape(x, -1) * self._free)

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        return np.stack([self._matvec(column) for column in X.T], axis=1)

    def todense(self) -> np.ndarray:
        """All of it as an array."""
        return self._matmat(np.eye(self.shape[0]))
