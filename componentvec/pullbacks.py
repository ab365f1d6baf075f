"""A function traced at a point: the linear maps that are its derivative there.

These are autograd's `make_vjp` and `make_jvp` with three differences: errors say what was expected
of a result, the warning that a result does not depend on the argument comes only where somebody
asked for a derivative of that very function, and a function that raises leaves nothing behind.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import JVPNode, VJPNode, backward_pass
from autograd.extend import vspace
from autograd.tracer import isbox, new_box, trace_stack

from .conveniences import is_vector
from .rules import flat
from .tracing import is_traced, untraced

Function = Callable[..., Any]

#: what takes results of many numbers, by the name of what does not
_OTHERS = {"minimize": ", or use cv.least_squares", "covariance": ""} | dict.fromkeys(
    ("grad", "value_and_grad", "hessian", "hvp"), ", or use jacobian"
)


def pullback(f: Function, x: Any) -> tuple[Function, Any]:
    """The linear map from a cotangent of the result to one of `x`, and the result."""
    value, node = _trace(f, x, VJPNode.new_root())
    return lambda g: _pulled(g, x, node), value


def pushforward(f: Function, x: Any, tangent: Any) -> Any:
    """The derivative of the result along a tangent at `x`."""
    value, node = _trace(f, x, JVPNode.new_root(tangent))
    return vspace(value).zeros() if node is None else node.g


def value_and_gradient(f: Function, x: Any, name: str, warn: bool = False) -> tuple[Any, Any]:
    """Value and gradient of a function of one real value; `name` stands in errors."""
    value, node = _trace(f, x, VJPNode.new_root())
    one = cotangent_one(value, name)
    if node is None and warn:
        _warn_of_independence()
    return value, _pulled(one, x, node)


def gradient_function(f: Function, name: str, warn: bool = False) -> Function:
    """The gradient of a function of one real value, to be differentiated once more."""
    return lambda p: value_and_gradient(f, p, name, warn)[1]


def jacobian_matrix(f: Function, x: Any, reverse: bool = False, warn: bool = False) -> Any:
    """The Jacobian of a function whose result has one axis, as a plain matrix.

    Forward mode, where it takes fewer passes and autograd has the rules, unless `reverse` is set.
    Where `x` is traced, so is the matrix.
    """
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


def _trace(f: Function, x: Any, root: Any) -> tuple[Any, Any]:
    """The result of a function, and its node, or None where it does not depend on `x`."""
    before = trace_stack.top
    try:
        with trace_stack.new_trace() as trace:
            end = f(new_box(x, trace, root))
    finally:
        trace_stack.top = before  # autograd leaves it as it is when a function raises
    return (end._value, end._node) if isbox(end) and end._trace == trace else (end, None)


def _pulled(g: Any, x: Any, node: Any) -> Any:
    """A cotangent of a result carried back to `x`."""
    return vspace(x).zeros() if node is None else backward_pass(g, node)


def _by_columns(f: Function, x: Any, out: Any) -> Any:
    """The Jacobian in forward mode."""
    columns = [flat(pushforward(f, x, e)) for e in vspace(x).standard_basis()]
    plain = untraced(out)
    if not columns:
        return np.zeros((plain.size, 0), plain.dtype)
    return _stacked(columns, plain.dtype, axis=1)


def _by_rows(vjp: Function, out: Any, size: int, complex_x: bool) -> Any:
    """The Jacobian in reverse mode; a complex result of real entries takes two passes a row."""
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


# -- what is expected of results -------------------------------------------------------------------


def cotangent_one(value: Any, name: str) -> Any:
    """The cotangent one of a real number, or a TypeError for anything else."""
    require_numbers(value, name)
    space = vspace(value)
    if space.size != 1 or is_vector(value):
        kind = "complex " if space.iscomplex else ""
        raise TypeError(
            f"{name} needs a function of one real number, got a {kind}result of shape "
            f"{np.shape(flat(untraced(value)))}"
            + ("; take its real part" if space.iscomplex else f"; sum it{_OTHERS.get(name, '')}")
        )
    return space.ones()


def name_type(value: Any) -> str:
    """The type of a wrong result, and what may be the cause."""
    return "None: did it forget to return?" if value is None else type(value).__name__


def require_numbers(value: Any, name: str) -> None:
    """TypeError for a result that is no floating number or array."""
    plain = flat(untraced(value))
    if isinstance(plain, np.ndarray | np.generic | float | complex):
        dtype = np.asarray(plain).dtype
        if dtype.kind in "fc":
            return
        given = f"dtype {dtype}" if isinstance(plain, np.ndarray) else type(plain).__name__
        remedy = "; use autograd.numpy" if dtype.kind == "O" else ""
    else:
        shown = f": {str(plain)[:60]}" if isinstance(plain, str | int) else ""
        given, remedy = name_type(plain), shown
    raise TypeError(f"{name} needs a function of floating numbers, got a result of {given}{remedy}")


def _warn_of_independence() -> None:
    """Autograd's warning, where it stands in the code of whoever called this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn("Output seems independent of input.", stacklevel=level)
