"""Derivatives by name: gradients, Jacobians, Hessians and products with them.

All of them take a function and give a function of the same arguments, differentiated with respect
to the first one: a vector, a model, or a plain array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.core import JVPNode, VJPNode, backward_pass
from autograd.extend import vspace
from autograd.tracer import isbox, new_box, trace_stack

from .conveniences import is_vector, layout
from .layouts import Layout
from .matrix import ComponentMatrix
from .packing import untraced
from .restructure import Restructure, destructure
from .rules import flat
from .tracing import is_traced
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
        ``grad(f)(x, ...)``: for a vector, a ComponentVector of its layout, in units of `f` per
        unit of each entry; for a model, a model of the same classes that has at each parameter the
        gradient with respect to it, the total at all tied places, and None at buffers and static
        parts; for a plain array, an array. It is new memory.

    Raises
    ------
    TypeError
        Where `f` gives anything but one real number, or `x` holds integers.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=2.0, b=[3.0, 4.0])
    >>> cv.grad(lambda v: v.a * (v.b**2).sum())(v).b.tolist()
    [12.0, 16.0]
    """

    def gradient(x: Any, *args: Any, **kwargs: Any) -> Any:
        return value_and_grad(f)(x, *args, **kwargs)[1]

    return _named(gradient, f, "grad")


def value_and_grad(f: Function) -> Function:
    """Value and gradient of a function of one real value, at the cost of the gradient.

    Parameters and errors are those of `grad`; the result is a pair (value, gradient).

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=2.0, b=[3.0, 4.0])
    >>> value, gradient = cv.value_and_grad(lambda v: v.a * v.b[1])(v)
    >>> float(value), gradient.tolist()
    (8.0, [4.0, 0.0, 2.0])
    """

    def value_and_gradient(x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        argument = _Argument.of(x)
        vjp, value = pullback(argument.applied(f, args, kwargs), argument.vector)
        return value, argument.gradient(vjp(_one(value, "grad")))

    return _named(value_and_gradient, f, "value_and_grad")


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
        ``jacobian(f)(x, ...)``: a ComponentMatrix of shape (entries of f, entries of x), its columns
        labelled by `x`. For a plain array `x` and a plain result, autograd's array.

    Notes
    -----
    It is built row by row (reverse mode), or column by column (forward mode) where there are more
    rows than columns and all rules for that exist.

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
            if not is_vector(out):
                _require_numbers(out, "jacobian")
                shapes.append(np.shape(untraced(out)))
                return anp.reshape(out, -1)
            return flat(out)

        matrix = _jacobian(entries, argument.vector)
        if argument.layout is None and rows[0] is None:
            return matrix.reshape(shapes[0] + np.shape(untraced(x)))
        return matrix if is_traced(matrix) else ComponentMatrix(matrix, rows[0], argument.layout)

    return _named(jacobian_of, f, "jacobian")


def hessian(f: Function) -> Function:
    """The Hessian of a function of one real value, by name on both sides.

    Parameters and errors are those of `grad`; the result is a ComponentMatrix with the layout of
    `x` on both sides (for a plain array, an array).

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
        if np.iscomplexobj(flat(untraced(argument.vector))):
            raise TypeError(
                "a Hessian needs real entries; store complex components as pairs (dtype=float)"
            )
        slope = _gradient_function(argument.applied(f, args, kwargs), "hessian")
        matrix = _jacobian(lambda p: anp.reshape(flat(slope(p)), -1), argument.vector, reverse=True)
        if argument.layout is None:
            return matrix.reshape(np.shape(untraced(x)) * 2)
        return ComponentMatrix(matrix, argument.layout, argument.layout)

    return _named(hessian_of, f, "hessian")


def hvp(f: Function) -> Function:
    """Products of the Hessian of a function of one real value with a vector.

    Returns
    -------
    callable
        ``hvp(f)(x, u, *args, **kwargs)`` is the Hessian at `x` times `u`, a vector of the layout of
        `x`, a plain array of its size, or, for a model `x`, a model or a tree of parameters. It has
        the kind of the gradient.

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
        slope = _gradient_function(argument.applied(f, args, kwargs), "hvp")
        vjp, _ = pullback(slope, argument.vector)
        return argument.gradient(vjp(argument.direction(u)))

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
            if isinstance(x, int) or np.asarray(untraced(x)).dtype.kind in "biu":
                raise TypeError(f"derivatives need floating numbers, got {x!r:.60}; make it float")
            return cls(x, None, None)
        vector, restructure = destructure(x)
        return cls(vector, restructure.layout, restructure)

    def applied(self, f: Function, args: Any, kwargs: Any) -> Function:
        """The function of the vector alone."""
        if self.restructure is None:
            return lambda p: f(p, *args, **kwargs)
        restructure = self.restructure
        return lambda p: f(restructure(p), *args, **kwargs)

    def gradient(self, g: Any) -> Any:
        """A gradient as the caller gets it."""
        return g if self.restructure is None else self.restructure._gradient(g)

    def direction(self, u: Any) -> Any:
        """A vector by which a Hessian is multiplied, in the space of the argument."""
        if self.restructure is not None:
            return self.restructure._as_vector(np.asarray(u) if isinstance(u, list) else u)
        if self.layout is None or is_traced(u):
            return u
        if open_container(u) is not None and not is_vector(u) and not isinstance(u, list):
            return self.layout.pack(u)
        if is_vector(u):
            self.layout._require_equal(u._layout, "a plain array")
            return u
        return self.layout.wrap(np.asarray(u, dtype=self.vector._buffer.dtype))


def pullback(f: Function, x: Any) -> tuple[Function, Any]:
    """The linear map from a cotangent of the result to one of `x`, and the result.

    Autograd's `make_vjp`, without its warning for a result that does not depend on `x`: the
    derivative of such a one is zero.
    """
    value, node = _trace(f, x, VJPNode.new_root())
    if node is None:
        return lambda g: vspace(x).zeros(), value
    return lambda g: backward_pass(g, node), value


def _pushforward(f: Function, x: Any, tangent: Any) -> Any:
    """The derivative of the result along a tangent at `x`: as above, autograd's `make_jvp`."""
    value, node = _trace(f, x, JVPNode.new_root(tangent))
    return vspace(value).zeros() if node is None else node.g


def _trace(f: Function, x: Any, root: Any) -> tuple[Any, Any]:
    """The result of a function, and its node, or None where it does not depend on `x`."""
    with trace_stack.new_trace() as trace:
        end = f(new_box(x, trace, root))
    return (end._value, end._node) if isbox(end) and end._trace == trace else (end, None)


def _gradient_function(f: Function, name: str) -> Function:
    """The gradient of a function of a vector, to be differentiated once more."""

    def slope(p: Any) -> Any:
        vjp, value = pullback(f, p)
        return vjp(_one(value, name))

    return slope


def _one(value: Any, name: str) -> Any:
    """The cotangent one of a real number, or a TypeError for anything else."""
    _require_numbers(value, name)
    space = vspace(value)
    if space.size != 1 or is_vector(value):
        kind = "complex " if space.iscomplex else ""
        raise TypeError(
            f"{name} needs a function of one real number, got a {kind}result of shape "
            f"{np.shape(flat(untraced(value)))}"
            + ("; take its real part" if space.iscomplex else "; sum it, or use jacobian")
        )
    return space.ones()


def _require_numbers(value: Any, name: str) -> None:
    """TypeError for a result that is no number or array."""
    plain = flat(untraced(value))
    if np.asarray(plain).dtype.kind not in "fc":
        raise TypeError(
            f"{name} needs a function of floating numbers, got a result of type "
            f"{type(plain).__name__}: {str(plain)[:60]}"
        )


def _jacobian(f: Function, x: Any, reverse: bool = False) -> Any:
    """The Jacobian of a function with a 1-D result, as a plain matrix."""
    vjp, out = pullback(f, x)
    size, complex_x = np.size(flat(untraced(x))), np.iscomplexobj(flat(untraced(x)))
    if not reverse and size < np.size(untraced(out)) and not complex_x:
        try:
            return _by_columns(f, x, size)
        except NotImplementedError:
            pass
    return _by_rows(vjp, out, size, complex_x)


def _by_columns(f: Function, x: Any, size: int) -> np.ndarray:
    """The Jacobian in forward mode."""
    columns = [np.asarray(flat(_pushforward(f, x, e))) for e in vspace(x).standard_basis()]
    return np.stack(columns, axis=1) if columns else np.zeros((0, size))


def _by_rows(vjp: Function, out: Any, size: int, complex_x: bool) -> np.ndarray:
    """The Jacobian in reverse mode; the imaginary part of a complex result is a row of its own."""
    complex_out = np.iscomplexobj(out)
    matrix = np.zeros((np.size(out), size), np.result_type(out, np.complex64 if complex_x else out))
    for row in range(np.size(out)):
        unit = np.zeros_like(out)
        unit[row] = 1
        matrix[row] = np.ravel(flat(vjp(unit)))
        if complex_out and not complex_x:
            unit[row] = -1j
            matrix[row] += 1j * np.ravel(flat(vjp(unit)))
    return matrix


def _named(function: Function, f: Function, verb: str) -> Function:
    """The function under a name that tells where it comes from."""
    function.__name__ = f"{verb}_of_{getattr(f, '__name__', 'function')}"
    function.__qualname__ = function.__name__
    return function
