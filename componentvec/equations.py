"""Functions of many values, residuals, equations and constraints, as SciPy calls them.

What users return, a vector, a dict or another tree, or an array, becomes one real axis; complex
numbers become pairs (re, im). Their names are kept for the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from scipy.optimize._numdiff import approx_derivative

from .conveniences import is_vector, layout
from .layouts import Layout
from .notes import Noting
from .objective import as_buffer
from .pullbacks import jacobian_matrix, name_type, pullback
from .returns import restrict, values_and_derivatives
from .rules import flat
from .tracing import is_traced, untraced
from .unknowns import Unknowns, first_not_finite, is_tree, layout_of_pairs, name_of_entry
from .vector import ComponentVector, wrap


class Equations:
    """Values and Jacobian of a user's function of many values, at SciPy's x.

    Once called, `layout` names the values as users return them, or is None, and `paired` says
    whether they are complex.
    """

    layout: Layout | None = None
    paired: bool = False
    shape: tuple[int, ...] = ()

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        unknowns: Unknowns,
        what: str,
        kwargs: Any = None,
        *,
        with_jacobian: bool = False,
    ) -> None:
        present, kwargs = unknowns.present, kwargs or {}
        self._unknowns, self._what, self._with_jacobian = unknowns, what, with_jacobian
        self._call = lambda argument: fun(present(argument), *args, **kwargs)
        self._key: bytes | None = None

    def __call__(self, x: Any) -> np.ndarray:
        """The values at x, one real axis; new memory."""
        x = as_buffer(x)
        key = x.tobytes()
        if key != self._key:
            self._key = None
            self._values = np.array(self._entries(self._unknowns.argument(x.copy())))
            self._key = key
        return self._values.copy()

    def jacobian(self, x: Any) -> np.ndarray:
        """The Jacobian over the free entries by autograd: new memory."""
        argument = self._unknowns.argument(as_buffer(x).copy())
        with self._noting(argument):
            return np.array(jacobian_matrix(self._entries, argument), dtype=float)

    def returned_jacobian(self, x: Any) -> Any:
        """The Jacobian that the function itself gives beside its values."""
        self(x)
        return restrict(self._unknowns, self._returned, "the Jacobian", pairs=self.paired)

    def hessian_product(self, x: Any, weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The function that multiplies by the Hessian of a weighted sum of the values."""
        argument = self._unknowns.argument(as_buffer(x).copy())

        def slope(a: Any) -> Any:
            return pullback(self._entries, a)[0](weights)

        with self._noting(argument):
            multiply, _ = pullback(slope, argument)

        def product(p: np.ndarray) -> np.ndarray:
            direction = self._unknowns.argument(as_buffer(p))
            return np.array(flat(multiply(direction)), dtype=float)

        return product

    def require_finite(self, x: np.ndarray) -> np.ndarray:
        """The values at the start; ValueError that names the first one that is not finite."""
        values = self(x)
        if found := first_not_finite(values, self.name):
            raise ValueError(f"the {self._what} are not finite at x0: {found}")
        return values

    def name(self, position: int) -> str:
        """The label of a real value, or its position."""
        return name_of_entry(self.entries, position, self.paired)

    @property
    def entries(self) -> Layout | None:
        """The layout of the real values."""
        if self.layout is None or not self.paired:
            return self.layout
        return layout_of_pairs(self.layout)

    def labelled(self, values: Any) -> Any:
        """Values of SciPy's as users returned them: labelled, complex again; new memory."""
        values = np.array(values, dtype=float).reshape(-1)
        if self.paired:
            values = values.view(complex)
        if self.layout is not None:
            return wrap(self.layout, values)
        return values.reshape(self.shape) if len(self.shape) > 1 else values

    def _entries(self, argument: Any) -> Any:
        """What the function returns, traced or not, as one real axis."""
        found = self._call(argument)
        if self._with_jacobian:
            found, self._returned = values_and_derivatives(found, "Jacobian")
        own = None
        if is_tree(found):
            found = found if is_vector(found) else ComponentVector(found)
            own = layout(found)
            found = flat(found)
        elif isinstance(found, list | tuple):
            found = anp.array(found)
        kind = np.asarray(untraced(found)).dtype.kind
        if kind not in "biufc":
            raise TypeError(
                f"the {self._what} must be numbers, a vector, a dict or an array of them, "
                f"got {name_type(untraced(found))}"
            )
        shape = np.shape(untraced(found))
        found = anp.reshape(found, (-1,))
        if np.iscomplexobj(untraced(flat(argument))):
            return found  # a complex step
        self.layout, self.shape, self.paired = own, shape, kind == "c"
        if self.paired:
            return anp.reshape(anp.stack([anp.real(found), anp.imag(found)], axis=1), (-1,))
        return found if kind == "f" or is_traced(found) else np.asarray(found, dtype=float)

    def _noting(self, argument: Any) -> Noting:
        """Exceptions of the function, traced, at an argument."""
        return Noting(lambda: self._entries(argument))


def check_jac(jac: Any, unknowns: Unknowns) -> None:
    """ValueError for what is no way to get derivatives, or none for these unknowns."""
    if jac is None or callable(jac) or isinstance(jac, bool):
        return
    if not isinstance(jac, str) or jac not in ("2-point", "3-point", "cs"):
        raise ValueError(
            'jac must be None, True, False, callable, "2-point", "3-point" or "cs", '
            f"got {jac!r:.80}"
        )
    if jac == "cs":
        unknowns.refuse_complex_step()


def solver_jacobian(
    jac: Any, args: tuple[Any, ...], equations: Equations, unknowns: Unknowns, kwargs: Any = None
) -> Any:
    """The Jacobian for SciPy: a function of its x, or ``"2-point"`` for its own differences."""
    if jac is None:
        return equations.jacobian
    if jac is True:
        return equations.returned_jacobian
    if callable(jac):

        def given(x: np.ndarray) -> Any:
            matrix = jac(unknowns.view(as_buffer(x).copy()), *args, **(kwargs or {}))
            return restrict(unknowns, matrix, "the Jacobian", pairs=equations.paired)

        return given
    check_jac(jac, unknowns)
    if jac is False or jac == "2-point":
        return "2-point"
    return lambda x: approx_derivative(equations, x, method=jac)
