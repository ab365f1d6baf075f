"""Differential equations by name: SciPy's `solve_ivp` for states with names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
import scipy.integrate
from scipy.integrate import OdeSolution

from .matrix import ComponentMatrix
from .notes import Noting
from .pullbacks import jacobian_matrix
from .returns import read, restrict
from .rules import flat
from .tracing import is_traced, untraced
from .unknowns import Unknowns, first_not_finite, is_tree

_REAL_METHODS = ("Radau", "LSODA")


def solve_ivp(
    fun: Callable[..., Any],
    t_span: tuple[float, float],
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    args: Any = (),
    jac: Any = None,
    **scipy_options: Any,
) -> Any:
    """Solve differential equations for a state with names: `scipy.integrate.solve_ivp`, by name.

    Parameters
    ----------
    fun
        ``fun(t, y, *args)`` gives dy/dt, in units of `y` per unit of `t`: a ComponentVector, a
        dict or another tree with the names of `y`, or an array. `y` is what `y0` is.
    t_span
        Start and end of `t`.
    y0
        Initial state: a ComponentVector, a model (whose trainable arrays are the state), or an
        array of one axis. It is never changed.
    method, t_eval
        As in SciPy.
    args
        Further arguments of `fun`, `jac` and the events, a tuple or a single one.
    jac
        For the implicit methods. True for the exact Jacobian by autograd; ``jac(t, y, *args)``,
        whose result may be a ComponentMatrix; a constant matrix; None, False or ``"2-point"`` for
        SciPy's finite differences.
    **scipy_options
        All else that SciPy's function takes: `dense_output`, `events` (which get `t`, the state as
        users know it, and `args`), `rtol`, `atol` (which may be labelled) and so on.

    Returns
    -------
    scipy.integrate OdeResult
        SciPy's own, in which ``y`` is a ComponentMatrix with labelled rows, so that ``y["prey"]``
        is that component over time, of shape ``shape + (nt,)``; ``sol(t)`` is a ComponentVector
        for a number t, and such a matrix for an array; ``y_events`` are ComponentMatrix with
        labelled columns, a row an event. All are new memory, in double precision.

    Raises
    ------
    ValueError
        The state or its derivative at the start are not finite; sizes do not fit; `jac` is none
        of these.
    KeyError
        A derivative lacks a name, or has one too many.
    TypeError
        `y0` is neither vector, model nor array of numbers. Exceptions of `fun` come through as in
        `minimize`.

    Notes
    -----
    A complex state is integrated as it is where the method can do so, and as pairs (re, im) by
    Radau and LSODA, and for a Jacobian by autograd.

    Examples
    --------
    >>> import componentvec as cv
    >>> def lotka_volterra(t, y):
    ...     return {"prey": y.prey * (1 - y.hunter), "hunter": y.hunter * (y.prey - 1)}
    >>> start = cv.ComponentVector(prey=2.0, hunter=1.0)
    >>> sol = cv.solve_ivp(lotka_volterra, (0, 1), start, t_eval=[0.0, 0.5, 1.0], rtol=1e-6)
    >>> sol.y["prey"].round(4).tolist()
    [2.0, 1.7377, 1.1565]
    """
    real_only = jac is True or method in _REAL_METHODS
    state = _State(y0, keep_complex=not real_only)
    args = args if isinstance(args, tuple) else (args,)
    derivative = _Derivative(fun, args, state)
    derivative.require_finite(t_span[0])
    if scipy_options.get("vectorized") and state.layout is not None:
        raise ValueError("vectorized functions have no named states; leave vectorized out")
    for name in ("rtol", "atol"):
        value: Any = scipy_options.get(name)
        if np.ndim(value) or is_tree(value):
            scipy_options[name] = state.entrywise(value, name)
    jacobian = _jacobian_for_scipy(jac, args, derivative, state)
    if jacobian is not None:
        scipy_options["jac"] = jacobian
    if scipy_options.get("events") is not None:
        events = scipy_options["events"]
        events = (events,) if callable(events) else events
        scipy_options["events"] = [_Event(event, args, state) for event in events]
    sol = scipy.integrate.solve_ivp(
        derivative, t_span, state.x0, method=method, t_eval=t_eval, **scipy_options
    )
    y = np.asarray(sol.y) if len(sol.y) else np.empty((state.start.size, 0))
    sol.y = state.over_time(y)
    if sol.sol is not None:
        sol.sol = _Solution(sol.sol, state)
    if sol.y_events is not None:
        sol.y_events = [state.at_events(y) for y in sol.y_events]
    return sol


class _State(Unknowns):
    """A state: all of its entries, along one axis of time."""

    def __init__(self, y0: Any, keep_complex: bool) -> None:
        super().__init__(y0, "y0", keep_complex=keep_complex)

    def over_time(self, y: np.ndarray) -> Any:
        """States over time, shape (n, nt), with labelled rows."""
        y = self._as_users_see(y.T).T
        return y if self.layout is None else ComponentMatrix(y, self.layout, None)

    def at_events(self, y: np.ndarray) -> Any:
        """States at events, shape (events, n), with labelled columns."""
        if not y.size:
            y = np.empty((0, self.start.size))
        y = self._as_users_see(y)
        return y if self.layout is None else ComponentMatrix(y, None, self.layout)

    def _as_users_see(self, y: np.ndarray) -> np.ndarray:
        """States, a row each, complex again."""
        return np.ascontiguousarray(y).view(complex) if self.paired else y

    def entrywise(self, values: Any, what: str) -> np.ndarray:
        """A number for each entry of SciPy's y."""
        values = np.asarray(read(self, values, what))
        return np.repeat(values, 2) if self.paired and values.size < self.start.size else values


class _Derivative:
    """The right-hand side as SciPy calls it."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...], state: _State) -> None:
        self._fun, self._args, self._state = fun, args, state
        self._latest: tuple[float, bytes, np.ndarray] | None = None  # of the start

    def require_finite(self, t: float) -> None:
        """ValueError where the derivative is not finite at the start."""
        y = self._state.x0
        values = self(float(t), y)
        if found := first_not_finite(values, self._state.name):
            raise ValueError(f"the derivative is not finite at the start: that of {found}")
        self._latest = float(t), y.tobytes(), values

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        if self._latest is not None:
            latest_t, key, values = self._latest
            self._latest = None
            if latest_t == t and key == y.tobytes():
                return values
        if y.ndim == 2:  # a vectorized function of plain states
            return np.array(self._fun(t, y.copy(), *self._args))
        return np.array(self._entries(t, self._state.argument(y.copy())))

    def jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """The Jacobian by autograd."""
        argument = self._state.argument(np.array(y, dtype=float))
        with Noting(lambda: self._entries(t, argument), ", or leave out jac=True"):
            return np.array(jacobian_matrix(lambda a: self._entries(t, a), argument), dtype=float)

    def _entries(self, t: float, argument: Any) -> Any:
        """What the function returns, traced or not, in the entries of SciPy's y."""
        state = self._state
        found = read(state, self._fun(t, state.present(argument), *self._args), "the derivative")
        if state.paired and np.size(untraced(found)) < state.start.size:
            found = anp.reshape(anp.stack([anp.real(found), anp.imag(found)], axis=1), (-1,))
        return found if is_traced(found) else np.asarray(flat(found))


def _jacobian_for_scipy(
    jac: Any, args: tuple[Any, ...], derivative: _Derivative, state: _State
) -> Any:
    """The Jacobian as SciPy takes it: a function, a matrix or None."""
    if jac is True:
        return derivative.jacobian
    if callable(jac):
        return lambda t, y: restrict(
            state, jac(t, state.view(np.array(y)), *args), "the Jacobian", pairs=state.paired
        )
    if jac is None or jac is False or (isinstance(jac, str) and jac == "2-point"):
        return None
    if isinstance(jac, str):
        raise ValueError(
            'jac must be None or "2-point" for finite differences, True for autograd, a callable '
            f"or a matrix, got {jac!r:.80}"
        )
    return restrict(state, jac, "the Jacobian", pairs=state.paired)


class _Event:
    """An event as SciPy calls it."""

    def __init__(self, event: Callable[..., Any], args: tuple[Any, ...], state: _State) -> None:
        self._event, self._args, self._state = event, args, state
        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(self, name, getattr(event, name))

    def __call__(self, t: float, y: np.ndarray) -> Any:
        return self._event(t, self._state.view(np.array(y)), *self._args)


class _Solution(OdeSolution):
    """A continuous solution: SciPy's, with labels."""

    def __init__(self, solution: OdeSolution, state: _State) -> None:
        self.__dict__.update(solution.__dict__)
        self._labels = state

    def __call__(self, t: Any) -> Any:
        y = super().__call__(t)
        return self._labels.vector(y) if np.ndim(t) == 0 else self._labels.over_time(y)
