"""Derivatives by name: gradients, Jacobians, Hessians and products with them.

All of them take a function and give a function of the same arguments, differentiated with respect
to the first one: a vector, a model, or a plain array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np

from .conveniences import is_vector, layout, read_only
from .layouts import Layout
from .matrix import ComponentMatrix
from .notes import Noting
from .pullbacks import (
    gradient_function,
    jacobian_matrix,
    pullback,
    require_numbers,
    value_and_gradient,
)
from .restructure import Restructure, destructure
from .rules import flat
from .tracing import is_traced, untraced
from .tree import open_container
from .vector import ComponentVector

Function = Callable[..., Any]


def grad(f: Function) -> Function:
    """The gradient of a function of one real value.

    Parameters
    ----------
    f
        ``f(x, *args, **kwargs)`` gives one real number. Write it with `autograd.numpy`.

    Returns
    -------
    callable
        ``grad(f)(x, ...)``, in units of `f` per unit of each entry, on memory of its own. For a
        vector, a ComponentVector of its layout and dtype. For a model, a model of the same classes,
        made without ``__init__``, that has at each parameter what autograd gives for that array,
        the total at all places that are tied, and None at buffers and static parts. For a plain
        array, an array.

    Raises
    ------
    TypeError
        Where `f` gives anything but one real number, and where `x` holds integers.
    ValueError
        For a model without parameters.

    Warns
    -----
    UserWarning
        Where the value of `f` does not depend on `x`, as autograd does; the gradient is zero.

    Notes
    -----
    A complex component of a real vector, which is stored as pairs (re, im), has the pair
    (d/d(re), d/d(im)) for gradient. Where all is complex, autograd's d/d(re) - i d/d(im) stands.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=2.0, b=[3.0, 4.0])
    >>> cv.grad(lambda v: v.a * (v.b**2).sum())(v).b.tolist()
    [12.0, 16.0]
    """

    def gradient(x: Any, *args: Any, **kwargs: Any) -> Any:
        argument = _Argument.of(x)
        _, g = value_and_gradient(argument.applied(f, args, kwargs), argument.vector, "grad", True)
        return argument.gradient(g)

    return _named(gradient, f, "grad")


def value_and_grad(f: Function) -> Function:
    """Value and gradient of a function of one real value, at the cost of the gradient.

    Parameters
    ----------
    f
        As for `grad`, with the same errors.

    Returns
    -------
    callable
        ``value_and_grad(f)(x, ...)`` is the pair of ``f(x, ...)`` and ``grad(f)(x, ...)``.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=2.0, b=[3.0, 4.0])
    >>> value, gradient = cv.value_and_grad(lambda v: v.a * v.b[1])(v)
    >>> float(value), gradient.tolist()
    (8.0, [4.0, 0.0, 2.0])
    """

    def value_and_gradient_of(x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        argument = _Argument.of(x)
        function = argument.applied(f, args, kwargs)
        value, g = value_and_gradient(function, argument.vector, "value_and_grad", True)
        return value, argument.gradient(g)

    return _named(value_and_gradient_of, f, "value_and_grad")


def jacobian(f: Function) -> Function:
    """The Jacobian of a function, by name on both sides.

    Parameters
    ----------
    f
        ``f(x, *args, **kwargs)`` gives a ComponentVector, a dict or another tree of arrays (which
        label the rows), or an array (whose entries are the rows in C order, without labels).

    Returns
    -------
    callable
        ``jacobian(f)(x, ...)``: a ComponentMatrix of shape (entries of `f`, entries of `x`), its
        columns labelled by `x`. For a plain array `x` and a plain result, an array of the shape of
        the result followed by that of `x`.

    Raises
    ------
    TypeError
        Where `f` gives anything but floating numbers, and where `x` holds integers.

    Notes
    -----
    It is built row by row (reverse mode), or column by column (forward mode) where there are more
    rows than columns and autograd has all the rules for that.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=2.0, b=[3.0, 4.0])
    >>> J = cv.jacobian(lambda v: {"d": v.a * v.b})(v)
    >>> J["d", "a"].tolist(), J["d", "b"].tolist()
    ([3.0, 4.0], [[2.0, 0.0], [0.0, 2.0]])
    """

    def jacobian_of(x: Any, *args: Any, **kwargs: Any) -> Any:
        argument = _Argument.of(x)
        function = argument.applied(f, args, kwargs)
        rows: list[Layout | None] = []
        shapes: list[tuple[int, ...]] = []

        def entries(p: Any) -> Any:
            out = function(p)
            if not is_vector(out) and open_container(out) is not None:
                out = ComponentVector(out)
            rows.append(layout(out) if is_vector(out) else None)
            require_numbers(out, "jacobian")
            if is_vector(out):
                return flat(out)
            shapes.append(np.shape(untraced(out)))
            return anp.reshape(out, -1)

        matrix = jacobian_matrix(entries, argument.vector, warn=True)
        if argument.layout is None and rows[0] is None:
            return anp.reshape(matrix, shapes[0] + np.shape(untraced(x)))
        return _labelled_matrix(matrix, rows[0], argument.layout)

    return _named(jacobian_of, f, "jacobian")


def hessian(f: Function) -> Function:
    """The Hessian of a function of one real value, by name on both sides.

    Parameters
    ----------
    f
        As for `grad`, with the same errors; and a TypeError for complex `x`, since a Hessian is by
        real entries.

    Returns
    -------
    callable
        ``hessian(f)(x, ...)``: a ComponentMatrix with the layout of `x` on both sides, in units of
        `f` per unit of either entry. For a plain array, an array of its shape twice.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=[1.0, 2.0], b=[4.0, 7.0])
    >>> H = cv.hessian(lambda v: (v.a**3).sum() + v.a[0] * v.b[0])(v)
    >>> H["a", "a"].tolist(), H["a", "b"].tolist()
    ([[6.0, 0.0], [0.0, 12.0]], [[1.0, 0.0], [0.0, 0.0]])
    """

    def hessian_of(x: Any, *args: Any, **kwargs: Any) -> Any:
        argument = _Argument.of(x)
        plain = np.asarray(flat(untraced(argument.vector)))
        if plain.dtype.kind == "c":
            raise TypeError(
                "a Hessian needs real entries; store complex components as pairs (dtype=float), "
                f"got {plain.dtype}"
            )
        slope = gradient_function(argument.applied(f, args, kwargs), "hessian", True)
        matrix = jacobian_matrix(
            lambda p: anp.reshape(flat(slope(p)), -1), argument.vector, reverse=True
        )
        if argument.layout is None:
            return anp.reshape(matrix, np.shape(untraced(x)) * 2)
        return _labelled_matrix(matrix, argument.layout, argument.layout)

    return _named(hessian_of, f, "hessian")


def hvp(f: Function) -> Function:
    """Products of the Hessian of a function of one real value with a vector.

    Parameters
    ----------
    f
        As for `grad`, with the same errors.

    Returns
    -------
    callable
        ``hvp(f)(x, u, *args, **kwargs)`` is the Hessian at `x` times `u`: a vector of the layout of
        `x`, a tree with its names, or a plain array of its entries. For a model `x`, `u` may be a
        model; for a plain array, an array of its shape. The product is of the kind of the gradient.

    Raises
    ------
    ValueError
        For `u` of another layout, size or shape.
    TypeError
        For complex `u` where `x` is real.
    KeyError
        For a tree `u` with missing or unknown names.

    Notes
    -----
    Reverse over reverse: the gradient's own product with `u` is differentiated, at about twice the
    cost of a gradient and without forming the Hessian.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=2.0, b=[3.0, 4.0])
    >>> cv.hvp(lambda v: v.a * (v.b**2).sum())(v, [1.0, 0.0, 0.0]).b.tolist()
    [6.0, 8.0]
    """

    def product(x: Any, u: Any, *args: Any, **kwargs: Any) -> Any:
        argument = _Argument.of(x)
        direction = argument.direction(u)
        slope = gradient_function(argument.applied(f, args, kwargs), "hvp", True)
        vjp, _ = pullback(slope, argument.vector)
        return argument.gradient(vjp(direction))

    return _named(product, f, "hvp")


class _Argument(NamedTuple):
    """What is differentiated: a vector or array, and for a model the way back to it."""

    vector: Any
    layout: Layout | None
    restructure: Restructure | None

    @classmethod
    def of(cls, x: Any) -> _Argument:
        """Take the first argument of a function."""
        if is_vector(x):
            return cls(x, layout(x), None)
        if open_container(x) is None:
            kind = np.asarray(untraced(x)).dtype.kind
            if kind in "biu":
                raise TypeError(f"derivatives need floating numbers, got {x!r:.60}; make it float")
            if kind in "fc":
                return cls(x, None, None)
        vector, restructure = destructure(x)
        return cls(vector, restructure.layout, restructure)

    def applied(self, f: Function, args: Any, kwargs: Any) -> Function:
        """The function of the vector alone."""
        present = self.restructure or (lambda p: p)

        def plainly() -> Any:
            x = self.vector if is_traced(self.vector) else read_only(self.vector)
            return f(present(x), *args, **kwargs)

        def function(p: Any) -> Any:
            with Noting(plainly, ""):
                return f(present(p), *args, **kwargs)

        return function

    def gradient(self, g: Any) -> Any:
        """A gradient as the caller gets it."""
        if self.restructure is not None:
            return self.restructure._gradient(g)
        return flat(g) if self.layout is None else g

    def direction(self, u: Any) -> Any:
        """What a Hessian is multiplied with, in the space of the argument."""
        if self.restructure is not None:
            return self.restructure._as_vector(u)
        own = self.layout
        is_tree = not is_vector(u) and open_container(u) is not None
        if own is not None and is_vector(u):
            own._require_equal(layout(u), "a plain array")
            u = flat(u)
        elif own is not None and is_tree and not _is_flat(u):
            return own.pack(u)
        if not is_traced(u):
            u = np.asarray(u)
        kind, wanted = np.asarray(untraced(u)).dtype.kind, untraced(flat(self.vector))
        if kind not in "biufc":
            raise TypeError(f"hvp expected an array of numbers to multiply with, got {u!r:.60}")
        if kind == "c" and not np.iscomplexobj(wanted):
            raise TypeError(
                "hvp expected real numbers to multiply with, as x is real, got complex ones; "
                "take their real part"
            )
        if np.shape(untraced(u)) != np.shape(wanted):
            raise ValueError(
                f"hvp expected an array of shape {np.shape(wanted)} to multiply with, as x has it, "
                f"got shape {np.shape(untraced(u))}"
            )
        if not is_traced(u):  # a plain result may be the direction itself
            u = u.astype(np.asarray(wanted).dtype, copy=own is None)
        return u if own is None else own.wrap(u)


def _is_flat(u: Any) -> bool:
    """Whether a tree is a plain list of numbers, and so an array."""
    return isinstance(u, list | tuple) and all(np.ndim(untraced(item)) == 0 for item in u)


def _labelled_matrix(matrix: Any, rows: Layout | None, cols: Layout | None) -> Any:
    """A matrix with labels; a traced one, which a ComponentMatrix cannot hold, stays plain."""
    return matrix if is_traced(matrix) else ComponentMatrix(matrix, rows, cols)


def _named(function: Function, f: Function, verb: str) -> Function:
    """The function under a name that tells where it comes from."""
    function.__name__ = f"{verb}_of_{getattr(f, '__name__', 'function')}"
    function.__qualname__ = function.__name__
    return function
