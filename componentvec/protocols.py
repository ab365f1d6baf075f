"""NumPy's protocols for labelled vectors: which results keep labels.

Labels are kept exactly where positions keep their meaning: element-wise, at the same length. All
else acts on the buffer and gives plain results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .layouts import Layout
from .tracing import is_traced

#: NumPy functions besides ufuncs whose results have an entry for each entry of the vector
_ELEMENTWISE: set[Callable[..., Any]] = {
    np.clip,
    np.copy,
    np.empty_like,
    np.full_like,
    np.imag,
    np.isclose,
    np.nan_to_num,
    np.ones_like,
    np.real,
    np.round,
    np.where,
    np.zeros_like,
    np.around,
}
#: functions that compare two vectors entry by entry, and so want equal layouts
_COMPARING: set[Callable[..., Any]] = {np.allclose, np.array_equal, np.array_equiv, np.isclose}
_FOREIGN_OK = (np.ndarray, np.generic)


class ArrayProtocols(NDArrayOperatorsMixin):
    """Operators, ufuncs and NumPy functions for a class with a `_buffer` and a `_layout`."""

    __slots__ = ()
    _buffer: np.ndarray
    _layout: Layout
    _root: np.ndarray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        buffer = self._buffer
        if dtype is not None and buffer.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"a vector of {buffer.dtype} is no array of {dtype} without a copy"
                )
            return buffer.astype(dtype)
        return buffer.copy() if copy else buffer

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out", ())
        if not all(_is_known(x) for x in (*inputs, *out)):
            return NotImplemented
        elementwise = method == "__call__" and ufunc.signature is None
        layout = common_layout((*inputs, *out)) if elementwise else None
        arrays = [plain(x) for x in inputs]
        kwargs = {name: plain(x) for name, x in kwargs.items()}
        if out:
            kwargs["out"] = tuple(plain(x) for x in out)
        results = getattr(ufunc, method)(*arrays, **kwargs)
        if not isinstance(results, tuple):
            return out[0] if out else self._relabel(layout, results)
        outs = out or (None,) * len(results)
        return tuple(
            self._relabel(layout, result) if given is None else given
            for result, given in zip(results, outs, strict=True)
        )

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if not all(issubclass(t, ArrayProtocols | np.ndarray) for t in types):
            return NotImplemented
        layout = None
        if func in _ELEMENTWISE or func in _COMPARING:
            layout = common_layout((*args, *kwargs.values()))
        out = kwargs.get("out")
        result = func(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})
        if isinstance(out, ArrayProtocols):
            return out
        return self._relabel(layout if func in _ELEMENTWISE else None, result)

    def _relabel(self, layout: Layout | None, result: Any) -> Any:
        """The result as a labelled vector, where it still has an entry for each entry."""
        if layout is None or not isinstance(result, np.ndarray) or result.ndim != 1:
            return result
        kind = result.dtype.kind
        if result.size != layout._size or kind not in "biufc":
            return result
        if layout._paired and (kind != "f" or result.dtype.itemsize < 4):
            return result
        return layout.wrap(np.ascontiguousarray(result))


def common_layout(values: tuple[Any, ...]) -> Layout | None:
    """The layout of all vectors among the values; ValueError where they are not equal."""
    layout: Layout | None = None
    for value in values:
        if isinstance(value, ArrayProtocols):
            if layout is None:
                layout = value._layout
            else:
                layout._require_equal(value._layout)
    return layout


def plain(value: Any) -> Any:
    """The value with buffers in place of vectors, also within lists, tuples and dicts."""
    if isinstance(value, ArrayProtocols):
        return value._buffer
    if type(value) in (list, tuple):
        return type(value)([plain(item) for item in value])
    if type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    return value


def _is_known(value: Any) -> bool:
    """Whether an operand of a ufunc is ours to handle."""
    if isinstance(value, ArrayProtocols):
        return True
    if is_traced(value):
        return False
    override = getattr(type(value), "__array_ufunc__", None)
    return override is None or override is np.ndarray.__array_ufunc__
