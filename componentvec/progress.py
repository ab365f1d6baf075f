"""What users see and are told of a running solver: callbacks, and a line of progress."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from .objective import Objective
from .unknowns import Unknowns

_PAUSE = 0.1  # seconds between two updates of the line


class Observer:
    """The callback that SciPy gets, for a callback of the user's, a line of progress, or both.

    Its one parameter is called as SciPy wants it for intermediate results, and takes a plain x,
    too, from methods that have nothing else.
    """

    def __init__(
        self,
        callback: Callable[..., Any] | None,
        unknowns: Unknowns,
        objective: Objective | None = None,
        progress: Progress | None = None,
        *,
        with_state: bool = False,
    ) -> None:
        self._callback, self._unknowns = callback, unknowns
        self._objective, self._progress = objective, progress
        self._wants_result = callback is not None and _wants_result(callback)
        self._with_state = with_state and callback is not None and _takes_two(callback)
        self.stopped_at: np.ndarray | None = None

    def __call__(self, intermediate_result: Any) -> Any:
        given = intermediate_result
        state = given if isinstance(given, OptimizeResult) else OptimizeResult(x=given)
        x = np.array(state.x, dtype=float).reshape(-1)
        if self._progress is not None and self._objective is not None:
            gradient = state.get("grad", self._objective.known_gradient(x))
            self._progress.update(self._value(state, x), gradient)
        if self._callback is None:
            return None
        try:
            if self._wants_result:
                return self._callback(intermediate_result=self._labelled(state, x))
            if self._with_state:
                return self._callback(self._unknowns.view(x), self._labelled(state, x))
            return self._callback(self._unknowns.view(x))
        except StopIteration:
            self.stopped_at = x
            raise

    def _value(self, state: Any, x: np.ndarray) -> Any:
        """The value at x."""
        if "fun" in state or self._objective is None:
            return state.get("fun")
        return self._objective.value(x)

    def _labelled(self, state: Any, x: np.ndarray) -> OptimizeResult:
        """An intermediate result of SciPy's with labels, on memory of its own."""
        result = OptimizeResult(state)
        self._unknowns.put_solution(result, x)
        if self._objective is not None:
            result["fun"] = self._value(state, x)
            for name in ("grad", "lagrangian_grad"):
                if name in state:
                    result[name] = self._unknowns.gradient(state[name])
        return result


def _wants_result(callback: Callable[..., Any]) -> bool:
    """Whether a callback is written for SciPy's `intermediate_result`."""
    try:
        return set(inspect.signature(callback).parameters) == {"intermediate_result"}
    except (TypeError, ValueError):
        return False


def _takes_two(callback: Callable[..., Any]) -> bool:
    """Whether a callback can be called with two arguments, as far as its signature tells."""
    try:
        inspect.signature(callback).bind(None, None)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


class Progress:
    """One line on stderr, written over and over; where that is no terminal, once at the end."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._live = self._stream is not None and self._stream.isatty()
        self._began = time.perf_counter()
        self._last = -_PAUSE
        self._width = 0
        self._count = 0
        self._size: float | None = None
        self._value: Any = None

    def update(self, value: Any, gradient: np.ndarray | None) -> None:
        """One more iteration."""
        self._count += 1
        self._note(value, gradient)
        elapsed = time.perf_counter() - self._began
        if self._live and elapsed - self._last >= _PAUSE:
            self._last = elapsed
            self._write(end="")

    def close(self, result: Any = None) -> None:
        """The last state of the line, and a line end."""
        if result is None and not self._count:  # it failed before it began
            return
        if result is not None:
            self._count = result.get("nit", self._count)
            gradient = result.get("grad", result.get("jac"))
            self._note(result.get("fun"), gradient if isinstance(gradient, np.ndarray) else None)
        if self._stream is not None:
            self._write(end="\n")

    def _note(self, value: Any, gradient: np.ndarray | None) -> None:
        """Keep what is to be shown; a gradient that is not known leaves the last one."""
        self._value = value
        if gradient is not None and gradient.size:
            self._size = float(np.abs(gradient).max())

    def _write(self, end: str) -> None:
        """Write the line over the one before."""
        elapsed = time.perf_counter() - self._began
        value = "?" if self._value is None else f"{float(np.reshape(self._value, ())):.8g}"
        slope = "?" if self._size is None else f"{self._size:.2e}"
        line = f"iteration {self._count}   value {value}   gradient norm {slope}   {elapsed:.1f} s"
        start = "\r" if self._live else ""
        self._stream.write(start + line.ljust(self._width) + end)
        self._stream.flush()
        self._width = len(line) if self._live else 0
