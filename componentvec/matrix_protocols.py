"""NumPy's protocols for labelled matrices: which axes of a result keep which layouts.

All of it is one calculus on axes. Each operand has a layout or None for each axis, a rule says
which of them survive and which must be equal, and the numbers are NumPy's own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .blocks import Axes
from .layouts import Layout
from .protocols import ArrayProtocols, Labelled, label_results, plain
from .tracing import is_traced


class MatrixProtocols(Labelled):
    """Operators, ufuncs and NumPy functions for a class with `_data`, `_rows` and `_cols`."""

    __slots__ = ()
    _noun = "matrix"
    _data: np.ndarray
    _rows: Layout | None
    _cols: Layout | None

    @property
    def _array(self) -> np.ndarray:
        return self._data

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out", ())
        operands = (*inputs, *out)
        if any(is_traced(x) or _is_foreign(x) for x in operands):
            return NotImplemented  # what autograd traces comes back here with plain operands
        call: Callable[..., Any] = getattr(ufunc, method)
        axes: Axes = ()
        if method == "__call__" and ufunc.signature is None:
            axes = broadcast(operands)
        elif method == "__call__" and ufunc is np.matmul and "axes" not in kwargs:
            axes = _product(*inputs)
            for given in out:
                _align(axes, axes_of(given), "the result and out")
            call = call if kwargs else operator.matmul  # which knows sparse matrices
        if out:
            kwargs["out"] = tuple(map(plain, out))
        kwargs = {name: value if name == "out" else plain(value) for name, value in kwargs.items()}
        results = call(*map(plain, inputs), **kwargs)
        return label_results(results, out, lambda result: self._label(result, axes))

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if not all(issubclass(t, Labelled | np.ndarray) for t in types):
            return NotImplemented
        axes: Axes = ()
        if func in _RULES:
            axes = _RULES[func](*args, **kwargs)
        result = func(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})
        if func is np.linalg.eigh:
            return result._replace(eigenvectors=self._label(result.eigenvectors, axes))
        out = kwargs.get("out")
        if isinstance(out, Labelled):
            return out
        return self._label(result, axes)

    def _label(self, result: Any, axes: Axes) -> Any:
        """The result as a matrix or a vector with those layouts; as it is where none fits."""
        if not isinstance(result, np.ndarray) or result.ndim != len(axes):
            return result
        fitting = tuple(
            layout if layout is not None and layout._size == n else None
            for layout, n in zip(axes, result.shape, strict=True)
        )
        kind = result.dtype.kind
        if kind not in "biufc" or not any(layout is not None for layout in fitting):
            return result
        if len(fitting) == 2:
            return type(self)(result, *fitting)  # type: ignore[call-arg]
        (layout,) = fitting
        assert layout is not None
        if layout._paired and (kind != "f" or result.dtype.itemsize < 4):
            return result
        return layout.wrap(result.copy() if _is_partial(result) else result)


# -- operands ----------------------------------------------------------------------------------


def axes_of(value: Any) -> Axes:
    """A layout or None for each axis of an operand."""
    if isinstance(value, MatrixProtocols):
        return value._rows, value._cols
    if isinstance(value, ArrayProtocols):
        return (value._layout,)
    return (None,) * np.ndim(value)


def _is_foreign(value: Any) -> bool:
    """Whether an operand handles ufuncs itself, and is none of ours."""
    override = getattr(type(value), "__array_ufunc__", None)
    ours = override is None or override is np.ndarray.__array_ufunc__
    return not ours and not isinstance(value, Labelled)


def _is_partial(array: np.ndarray) -> bool:
    """Whether an array is part of another's memory, or no buffer for a vector."""
    return array.base is not None or not array.flags.c_contiguous


# -- rules: the axes of a result, checked before any number is computed --------------------------


def merge(one: Layout | None, other: Layout | None, what: str) -> Layout | None:
    """The layout of two axes that meet entry by entry; ValueError where two differ."""
    if one is None or other is None:
        return one if other is None else other
    try:
        one._require_equal(other)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    return one


def _align(axes: Axes, other: Axes, what: str) -> Axes:
    """The axes of two operands that are broadcast against each other."""
    n = max(len(axes), len(other))
    one, two = ((None,) * (n - len(given)) + given for given in (axes, other))
    return tuple(merge(a, b, what) for a, b in zip(one, two, strict=True))


def broadcast(values: tuple[Any, ...]) -> Axes:
    """Axes of an element-wise result; what has no labels has no say."""
    axes: Axes = ()
    for value in values:
        if isinstance(value, Labelled):
            axes = _align(axes, axes_of(value), "operands")
    return axes


def require_alignment(axes: Axes | None, value: Any, what: str) -> None:
    """ValueError where a labelled value is written into a block of other layouts."""
    if axes is not None and isinstance(value, Labelled):
        _align(axes, axes_of(value), what)


def _product(a: Any, b: Any, out: Any = None) -> Axes:
    """Axes of a matrix product: the contracted ones must be equal where both have labels."""
    left, right = axes_of(a), axes_of(b)
    if not 0 < len(left) <= 2 or not 0 < len(right) <= 2:
        return ()
    merge(left[-1], right[0], "the axes that a product sums over")
    return left[:-1] + right[1:]


def _dot(a: Any, b: Any, out: Any = None) -> Axes:
    """Axes of `np.dot`, for which a number is a factor."""
    return _product(a, b) if np.ndim(a) and np.ndim(b) else broadcast((a, b))


def _solve(a: Any, b: Any) -> Axes:
    """Axes of ``x`` in ``a @ x = b``."""
    matrix, right = axes_of(a), axes_of(b)
    if len(matrix) != 2 or not 0 < len(right) <= 2:
        return ()
    merge(matrix[0], right[0], "the rows of the matrix and of the right-hand side")
    return (matrix[1], *right[1:])


def _transpose(a: Any, axes: Any = None) -> Axes:
    """Axes in reverse, or as they were."""
    own = axes_of(a)
    return own[::-1] if axes is None else tuple(own[axis % 2] for axis in axes)


def _swapaxes(a: Any, axis1: int, axis2: int) -> Axes:
    """Axes in reverse, unless one is swapped with itself."""
    return axes_of(a)[:: 1 if (axis1 - axis2) % 2 == 0 else -1]


def _diag(v: Any, k: int = 0) -> Axes:
    """The layout of a diagonal, where both sides have the same."""
    rows, cols = axes_of(v)
    return (rows,) if rows is not None and rows == cols and k == 0 else ()


def _same(a: Any, *args: Any, **kwargs: Any) -> Axes:
    """Axes of the one matrix."""
    return axes_of(a)


def _reversed(a: Any, *args: Any, **kwargs: Any) -> Axes:
    """Axes of the one matrix, swapped."""
    return axes_of(a)[::-1]


def _rows_alone(a: Any, *args: Any, **kwargs: Any) -> Axes:
    """Axes of a matrix of columns that are vectors over the rows."""
    return axes_of(a)[0], None


def _elementwise(*args: Any, **kwargs: Any) -> Axes:
    """Axes of a result that has an entry for each entry."""
    return broadcast((*args, *kwargs.values()))


def _compared(*args: Any, **kwargs: Any) -> Axes:
    """No axes: a comparison that gives one truth value, of operands that must agree."""
    _elementwise(*args, **kwargs)
    return ()


_RULES: dict[Callable[..., Any], Callable[..., Axes]] = {
    np.dot: _dot,
    np.linalg.matmul: _product,
    np.linalg.solve: _solve,
    np.linalg.inv: _reversed,
    np.linalg.pinv: _reversed,
    np.linalg.cholesky: _same,
    np.linalg.eigh: _rows_alone,
    np.diag: _diag,
    np.transpose: _transpose,
    np.swapaxes: _swapaxes,
    np.matrix_transpose: _reversed,
    np.linalg.matrix_transpose: _reversed,
    **dict.fromkeys((np.allclose, np.array_equal, np.array_equiv), _compared),
    **dict.fromkeys(
        (
            np.around,
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
            np.tril,
            np.triu,
            np.where,
            np.zeros_like,
        ),
        _elementwise,
    ),
}
