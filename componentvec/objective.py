"""The function that is minimized, as SciPy calls it: each number is computed once.

SciPy asks for values, gradients and products with Hessians one by one, most often several at one
x. One trace gives the value and, once asked for, the gradient; one more gives all products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import NonlinearConstraint

from .notes import DIFFERENCES, Noting
from .pullbacks import cotangent_one, gradient_function, pullback
from .returns import covector, values_and_derivatives
from .rules import flat
from .unknowns import Unknowns


class Objective:
    """Value, gradient, Hessian and products with it of a user's function, at SciPy's x.

    `jac` is what users give: None for derivatives by autograd, True where the function gives value
    and gradient, or a callable; all else is left to SciPy, and only values are computed.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        unknowns: Unknowns,
        jac: Any,
        name: str = "minimize",
    ) -> None:
        present = unknowns.present
        self._unknowns, self._jac, self._args, self._name = unknowns, jac, args, name
        call = self._call = lambda argument: fun(present(argument), *args)
        self._function = (lambda argument: call(argument)[0]) if jac is True else call
        self._key: bytes | None = None  # where the latest value was computed
        self._gradient_key: bytes | None = None
        self._product_key: bytes | None = None

    def value(self, x: Any) -> Any:
        """The value at x."""
        x = as_buffer(x)
        key = x.tobytes()
        if key != self._key:
            self._evaluate(x, key)
        return self._value

    def gradient(self, x: Any) -> np.ndarray:
        """The gradient over the free entries: new memory."""
        x = as_buffer(x)
        key = x.tobytes()
        if key == self._gradient_key:
            pass
        elif callable(self._jac):
            gradient = self._jac(self._unknowns.view(x), *self._args)
            self._gradient, self._gradient_key = covector(self._unknowns, gradient), key
        else:
            if key != self._key or self._x.tobytes() != key:  # a caller that reuses its x
                self._evaluate(x, key)
            if self._jac is None:
                with self._noting(self._unknowns.argument(x)):
                    gradient = flat(self._pullback(self._one))
                self._gradient, self._gradient_key = np.array(gradient, dtype=float), key
        return self._gradient.copy()

    def known_gradient(self, x: Any) -> np.ndarray | None:
        """The gradient at x where it was computed last, else None."""
        return self._gradient if as_buffer(x).tobytes() == self._gradient_key else None

    def product(self, x: Any, p: Any) -> np.ndarray:
        """The Hessian over the free entries times p."""
        x = as_buffer(x)
        argument = self._unknowns.argument(x)
        with self._noting(argument):
            if x.tobytes() != self._product_key:
                self._product_key = None
                copied = self._unknowns.argument(x.copy())
                slope = gradient_function(self._function, self._name)
                self._second_pullback, _ = pullback(slope, copied)
                self._product_key = x.tobytes()
            direction = self._unknowns.argument(as_buffer(p))
            return np.array(flat(self._second_pullback(direction)), dtype=float)

    def hessian(self, x: Any) -> np.ndarray:
        """The Hessian over the free entries."""
        matrix = np.stack([self.product(x, unit) for unit in np.eye(np.size(x))])
        return (matrix + matrix.T) / 2

    def require_finite(self, x: np.ndarray, where: str = "x0") -> Any:
        """The value at the start; TypeError for no real number, ValueError for one not finite."""
        value = self.value(x)
        cotangent_one(_as_float(value), self._name)
        if not np.isfinite(value):
            raise ValueError(f"the function is not finite at {where}: its value there is {value}")
        return value

    def _evaluate(self, x: np.ndarray, key: bytes) -> None:
        """Compute the value, and what the gradient needs."""
        self._key = None
        argument = self._unknowns.argument(x)
        if self._jac is None:
            with self._noting(argument):
                self._pullback, value = pullback(self._function, argument)
                self._one = cotangent_one(_as_float(value), self._name)
            self._value = float(np.reshape(value, ()))
        elif self._jac is True:
            self._value, gradient = values_and_derivatives(self._call(argument), "gradient")
            self._gradient, self._gradient_key = covector(self._unknowns, gradient), key
        else:
            self._value = self._function(argument)
        self._key, self._x = key, x

    def _noting(self, argument: Any) -> Noting:
        """Exceptions of the function, traced, at an argument."""
        return Noting(
            lambda: cotangent_one(_as_float(self._function(argument)), self._name),
            DIFFERENCES if self._name == "minimize" else "",
        )


class Keeper:
    """Errors of linear algebra in users' functions, which some methods take for their own."""

    def __init__(self) -> None:
        self._error: Exception | None = None

    def watch(self, function: Any) -> Any:
        """A function whose errors are kept; what is no function stays as it is."""
        if not callable(function):
            return function

        def watched(*given: Any) -> Any:
            try:
                return function(*given)
            except np.linalg.LinAlgError as error:
                self._error = error
                raise

        return watched

    def watch_constraint(self, constraint: Any) -> Any:
        """A constraint whose function's errors are kept."""
        if isinstance(constraint, dict):
            return {**constraint, "fun": self.watch(constraint["fun"])}
        if isinstance(constraint, NonlinearConstraint):
            constraint.fun = self.watch(constraint.fun)
        return constraint

    def raise_kept(self) -> None:
        """Raise what a method has swallowed."""
        if self._error is not None:
            raise self._error


def _as_float(value: Any) -> Any:
    """An integer, as constant branches of functions give it, as a float; all else as it is."""
    return float(value) if isinstance(value, int | np.integer) else value


def as_buffer(x: Any) -> np.ndarray:
    """What SciPy or another solver gives as x, as one contiguous axis of floating numbers."""
    if type(x) is np.ndarray and x.dtype.kind in "fc" and x.ndim == 1 and x.flags.c_contiguous:
        return x
    return np.ascontiguousarray(x, dtype=complex if np.iscomplexobj(x) else float).reshape(-1)
