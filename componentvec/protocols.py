"""NumPy's protocols for labelled vectors: which results keep labels.

Labels are kept exactly where positions keep their meaning: element-wise, at the same length. All
else acts on the buffer and gives plain results.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .layouts import Layout
from .tracing import is_traced

Function = Callable[..., Any]

#: NumPy functions besides ufuncs whose results have an entry for each entry of the vector
_ELEMENTWISE: set[Function] = {
    np.angle,
    np.around,
    np.clip,
    np.copy,
    np.empty_like,
    np.full_like,
    np.imag,
    np.iscomplex,
    np.isclose,
    np.isneginf,
    np.isposinf,
    np.isreal,
    np.nan_to_num,
    np.ones_like,
    np.real,
    np.real_if_close,
    np.round,
    np.sinc,
    np.where,
    np.zeros_like,
}
#: functions that pair two vectors entry by entry, and so want equal layouts
_PAIRING: set[Function] = {
    np.allclose,
    np.array_equal,
    np.array_equiv,
    np.copyto,
    np.dot,
    np.inner,
    np.vdot,
}


class Labelled(NDArrayOperatorsMixin):
    """An array of numbers with labels: what vectors and matrices are to NumPy."""

    __slots__ = ()
    _noun: ClassVar[str]

    @property
    def _array(self) -> np.ndarray:
        """The numbers without labels."""
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self._array
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"a {self._noun} of {array.dtype} is no array of {dtype} without a copy"
                )
            return array.astype(dtype)
        return array.copy() if copy else array


class ArrayProtocols(Labelled):
    """Operators, ufuncs and NumPy functions for a class with a `_buffer` and a `_layout`."""

    __slots__ = ()
    _noun = "vector"
    _buffer: np.ndarray
    _layout: Layout
    _root: np.ndarray

    @property
    def _array(self) -> np.ndarray:
        return self._buffer

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        elementwise = method == "__call__" and ufunc.signature is None
        if elementwise and not kwargs and ufunc.nout == 1 and all(map(_is_simple, inputs)):
            layout = common_layout(inputs)  # the most frequent case, which the rest covers too
            return self._relabel(layout, ufunc(*map(plain, inputs)))
        out = kwargs.get("out", ())
        operands = (*inputs, *out)
        if any(_is_above(x) for x in operands):
            return NotImplemented
        foreign = any(is_foreign(x) for x in operands)
        layout = None
        if not foreign and (elementwise or (method == "__call__" and ufunc.nin == 2)):
            layout = common_layout((*operands, kwargs.get("where")))
        arrays = [plain(x) for x in inputs]
        kwargs = {name: plain(x) for name, x in kwargs.items()}
        if out:
            kwargs["out"] = tuple(plain(x) for x in out)
        results = getattr(ufunc, method)(*arrays, **kwargs)
        if foreign:
            return results
        layout = layout if elementwise else None  # the product of two matrices only pairs entries
        return label_results(results, out, lambda result: self._relabel(layout, result))

    def __array_function__(
        self, func: Function, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if not all(issubclass(t, ArrayProtocols | np.ndarray) for t in types):
            return NotImplemented
        layout = None
        if func in _ELEMENTWISE or func in _PAIRING:
            layout = common_layout((*args, *kwargs.values()))
        out = kwargs.get("out")
        result = func(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})
        if isinstance(out, ArrayProtocols):
            return out
        return self._relabel(layout if func in _ELEMENTWISE else None, result)

    def _relabel(self, layout: Layout | None, result: Any) -> Any:
        """The result as a labelled vector, where it still has an entry for each entry."""
        if layout is None or type(result) is not np.ndarray or result.shape != layout._shape:
            return result
        kind = result.dtype.kind
        if kind not in "biufc":
            return result
        if layout._paired and (kind != "f" or result.dtype.itemsize < 4):
            return result
        return layout.wrap(result if result.flags.c_contiguous else result.copy())


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


def label_results(results: Any, out: tuple[Any, ...], label: Callable[[Any], Any]) -> Any:
    """Results of a ufunc: those that were given as `out`, and labels for all others."""
    if not isinstance(results, tuple):
        return out[0] if out else label(results)
    return tuple(
        label(result) if given is None else given
        for result, given in zip(results, out or (None,) * len(results), strict=True)
    )


def plain(value: Any) -> Any:
    """The value with arrays in place of what has labels, also within lists, tuples and dicts."""
    if isinstance(value, Labelled):
        return value._array
    if type(value) in (list, tuple):
        return type(value)([plain(item) for item in value])
    if type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    return value


# -- other people's arrays -------------------------------------------------------------------------


def _is_above(value: Any) -> bool:
    """Whether an operand is one that knows vectors: it then decides."""
    if isinstance(value, ArrayProtocols):
        return False
    return is_traced(value) or isinstance(value, NDArrayOperatorsMixin)


def is_foreign(value: Any) -> bool:
    """Whether an operand is an array of another library, which knows plain arrays only."""
    cls: Any = type(value)
    return _is_foreign_type(cls) and not is_traced(value)


def _is_simple(value: Any) -> bool:
    """Whether an operand is a vector, or surely nobody else's array: a quick look."""
    return type(value) in _SIMPLE or isinstance(value, ArrayProtocols)


@functools.lru_cache(maxsize=1024)
def _is_foreign_type(cls: type) -> bool:
    """Whether a type has array arithmetic of its own."""
    if issubclass(cls, NDArrayOperatorsMixin):
        return False
    if issubclass(cls, np.ndarray | np.generic):
        return issubclass(cls, np.ma.MaskedArray)
    override = getattr(cls, "__array_ufunc__", None)
    return override is not None or hasattr(cls, "__array_priority__")


_SIMPLE = frozenset((float, int, complex, bool, np.ndarray, np.float64, np.float32, np.int64))
_UFUNCS: dict[str, np.ufunc] = {
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "matmul": np.matmul,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "divmod": np.divmod,
    "pow": np.power,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "and": np.bitwise_and,
    "xor": np.bitwise_xor,
    "or": np.bitwise_or,
}


def _operator(stem: str, form: str) -> Function:
    """An operator, reflected (form "r") or in place ("i"); a stranger meets the plain buffer."""
    ufunc, name = _UFUNCS[stem], f"__{form}{stem}__"
    inherited = getattr(NDArrayOperatorsMixin, name)
    in_place = form == "i"
    act: Function = getattr(operator, name if in_place else f"__{stem}__", divmod)

    def operate(self: Any, other: Any) -> Any:
        if _is_simple(other):
            pair = (other, self) if form == "r" else (self, other)
            if in_place:
                return self.__array_ufunc__(ufunc, "__call__", *pair, out=(self,))
            return self.__array_ufunc__(ufunc, "__call__", *pair)
        if is_foreign(other):
            buffer = self._buffer
            result = act(other, buffer) if form == "r" else act(buffer, other)
            return self if result is buffer else result
        if stem in ("eq", "ne") and isinstance(other, str | bytes):
            return self._relabel(self._layout, act(self._buffer, other))  # an answer, no error
        return inherited(self, other)

    operate.__name__ = name
    operate.__qualname__ = f"ArrayProtocols.{name}"
    return operate


for _stem in _UFUNCS:
    for _form in ("", "r", "i"):
        if hasattr(NDArrayOperatorsMixin, f"__{_form}{_stem}__"):
            setattr(ArrayProtocols, f"__{_form}{_stem}__", _operator(_stem, _form))
