"""Derivatives by name: gradients, Jacobians, Hessians and products with them.

All of them take a function and give a function of the same arguments, differentiated with respect
to the first one: a vector, a model, or a plain array.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
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
        _, g = _value_and_gradient(argument.applied(f, args, kwargs), argument.vector, "grad")
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

    def value_and_gradient(x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        argument = _Argument.of(x)
        function = argument.applied(f, args, kwargs)
        value, g = _value_and_gradient(function, argument.vector, "value_and_grad")
        return value, argument.gradient(g)

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
            _require_numbers(out, "jacobian")
            if is_vector(out):
                return flat(out)
            shapes.append(np.shape(untraced(out)))
            return anp.reshape(out, -1)

        matrix = _jacobian(entries, argument.vector, warn=True)
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
        if np.iscomplexobj(flat(untraced(argument.vector))):
            raise TypeError(
                "a Hessian needs real entries; store complex components as pairs (dtype=float)"
            )
        slope = _gradient_function(argument.applied(f, args, kwargs), "hessian", True)
        matrix = _jacobian(lambda p: anp.reshape(flat(slope(p)), -1), argument.vector, reverse=True)
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
        slope = _gradient_function(argument.applied(f, args, kwargs), "hvp", True)
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
        if self.restructure is None:
            return lambda p: f(p, *args, **kwargs)
        restructure = self.restructure
        return lambda p: f(restructure(p), *args, **kwargs)

    def gradient(self, g: Any) -> Any:
        """A gradient as the caller gets it."""
        return g if self.restructure is None else self.restructure._gradient(g)

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
            raise TypeError("hvp expected real numbers to multiply with, as x is real, got complex")
        if np.shape(untraced(u)) != np.shape(wanted):
            raise ValueError(
                f"hvp expected an array of shape {np.shape(wanted)} to multiply with, as x has it, "
                f"got shape {np.shape(untraced(u))}"
            )
        u = u if is_traced(u) else u.astype(np.asarray(wanted).dtype)
        return u if own is None else own.wrap(u)


def _is_flat(u: Any) -> bool:
    """Whether a tree is a plain list of numbers, and so an array."""
    return isinstance(u, list | tuple) and all(np.ndim(untraced(item)) == 0 for item in u)


# -- what all of them are made of --------------------------------------------------------------


def pullback(f: Function, x: Any) -> tuple[Function, Any]:
    """The linear map from a cotangent of the result to one of `x`, and the result.

    Autograd's `make_vjp`, without its warning for a result that does not depend on `x`: that of a
    constant gradient is no news.
    """
    value, node = _trace(f, x, VJPNode.new_root())
    return lambda g: _pulled(g, x, node), value


def _pulled(g: Any, x: Any, node: Any) -> Any:
    """A cotangent of a result carried back to `x`."""
    return vspace(x).zeros() if node is None else backward_pass(g, node)


def _pushforward(f: Function, x: Any, tangent: Any) -> Any:
    """The derivative of the result along a tangent at `x`: autograd's `make_jvp`, unwarned."""
    value, node = _trace(f, x, JVPNode.new_root(tangent))
    return vspace(value).zeros() if node is None else node.g


def _trace(f: Function, x: Any, root: Any) -> tuple[Any, Any]:
    """The result of a function, and its node, or None where it does not depend on `x`."""
    before = trace_stack.top
    try:
        with trace_stack.new_trace() as trace:
            end = f(new_box(x, trace, root))
    finally:
        trace_stack.top = before  # autograd leaves it as it is when a function raises
    return (end._value, end._node) if isbox(end) and end._trace == trace else (end, None)


def _value_and_gradient(f: Function, x: Any, name: str, warn: bool = True) -> tuple[Any, Any]:
    """Value and gradient of a function of a vector; `name` stands in errors."""
    value, node = _trace(f, x, VJPNode.new_root())
    one = _one(value, name)
    if node is None and warn:
        _warn_of_independence()
    return value, _pulled(one, x, node)


def _gradient_function(f: Function, name: str, warn: bool = False) -> Function:
    """The gradient of a function of a vector, to be differentiated once more."""
    return lambda p: _value_and_gradient(f, p, name, warn)[1]


def _warn_of_independence() -> None:
    """Autograd's warning, where it stands in the code of whoever called this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn("Output seems independent of input.", stacklevel=level)


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
    if isinstance(plain, np.ndarray | np.generic | float | complex):
        dtype = np.asarray(plain).dtype
        if dtype.kind in "fc":
            return
        given = f"dtype {dtype}" if isinstance(plain, np.ndarray) else type(plain).__name__
        remedy = "; use autograd.numpy" if dtype.kind == "O" else ""
    else:
        given, remedy = f"{type(plain).__name__}: {str(plain)[:60]}", ""
    raise TypeError(f"{name} needs a function of floating numbers, got a result of {given}{remedy}")


def _jacobian(f: Function, x: Any, reverse: bool = False, warn: bool = False) -> Any:
    """The Jacobian of a function with a 1-D result, as a plain matrix."""
    out, node = _trace(f, x, VJPNode.new_root())
    if node is None and warn:
        _warn_of_independence()
    entries = flat(untraced(x))
    size, complex_x = np.size(entries), np.iscomplexobj(entries)
    if not reverse and size < np.size(untraced(out)) and not complex_x:
        try:
            return _by_columns(f, x, out)
        except (ArithmeticError, Warning):
            raise
        except Exception:  # reverse mode has traced it: a rule of forward mode is missing or wrong
            pass
    return _by_rows(lambda g: _pulled(g, x, node), out, size, complex_x)


def _by_columns(f: Function, x: Any, out: Any) -> Any:
    """The Jacobian in forward mode."""
    columns = [flat(_pushforward(f, x, e)) for e in vspace(x).standard_basis()]
    plain = untraced(out)
    if not columns:
        return np.zeros((plain.size, 0), plain.dtype)
    return _stacked(columns, plain.dtype, axis=1)


def _by_rows(vjp: Function, out: Any, size: int, complex_x: bool) -> Any:
    """The Jacobian in reverse mode; a complex result of real entries takes two products a row."""
    plain = untraced(out)
    dtype = np.result_type(plain, np.complex64) if complex_x else plain.dtype
    rows = []
    for number in range(plain.size):
        unit = np.zeros_like(plain)
        unit[number] = 1
        row = anp.reshape(flat(vjp(unit)), -1)
        if plain.dtype.kind == "c" and not complex_x:
            row = row + 1j * anp.reshape(flat(vjp(-1j * unit)), -1)
        rows.append(row)
    return _stacked(rows, dtype, axis=0) if rows else np.zeros((0, size), dtype)


def _stacked(arrays: Sequence[Any], dtype: np.dtype, axis: int) -> Any:
    """A matrix of rows or columns, traced where they are."""
    if any(map(is_traced, arrays)):
        return anp.stack(arrays, axis)
    return np.stack(arrays, axis, dtype=dtype, casting="same_kind")


def _labelled_matrix(matrix: Any, rows: Layout | None, cols: Layout | None) -> Any:
    """A matrix with labels; a traced one, which a ComponentMatrix cannot hold, stays plain."""
    return matrix if is_traced(matrix) else ComponentMatrix(matrix, rows, cols)


def _named(function: Function, f: Function, verb: str) -> Function:
    """The function under a name that tells where it comes from."""
    function.__name__ = f"{verb}_of_{getattr(f, '__name__', 'function')}"
    function.__qualname__ = function.__name__
    return function
