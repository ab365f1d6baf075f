"""ComponentMatrix: two axes, each with a layout or without, and blocks by name."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .blocks import locate, write
from .conveniences import is_vector, layout
from .display import matrix_html, matrix_text
from .layouts import Layout
from .matrix_protocols import MatrixProtocols, require_alignment
from .protocols import ArrayProtocols, plain
from .tracing import is_traced

#: attributes of an ndarray that NumPy functions of the same name give, with their labels
_PROPERTIES = frozenset({"imag", "real"})
_METHODS = frozenset({"clip", "conj", "conjugate", "dot", "round", "swapaxes", "transpose"})


class ComponentMatrix(MatrixProtocols):
    """A matrix whose rows and columns have the names of a layout, each or both.

    Parameters
    ----------
    data
        Two axes of numbers, shape ``(m, n)``; an ndarray is shared, a nested list made one.
    rows, cols
        Layout of `m` and of `n` entries, or None for a side without labels.

    Raises
    ------
    TypeError
        For data that are no numbers, and for sides that are neither a Layout nor None.
    ValueError
        For another number of axes, and for sizes that do not fit.

    Notes
    -----
    Blocks are items, ``H[row, column]``, and views of the data wherever NumPy could make one. With
    a leaf ``w``, a leaf ``b``, and a group ``g`` on sides that have labels:

    ==================  ===============================================================
    ``H["w", "b"]``     array of shape ``w.shape + b.shape``; a number for two scalars
    ``H["g", "g"]``     matrix with the layouts of the groups
    ``H["g", :]``       matrix; the side of ``:`` keeps its layout
    ``H["w", "g"]``     matrix; the entries of `w`, in leaf order, are one unlabelled axis
    ``H["w", :]``       the same, and so is ``H["w"]``
    ``H["w", 3]``       array of shape ``w.shape``
    ``H["g", 3]``       array of one axis
    ``H["w", 1:3]``     array of shape ``w.shape + (2,)``
    ``H["g", [0, 2]]``  array; a copy, as for any index array or mask
    ``H[0, 1:3]``       what the data give
    ==================  ===============================================================

    A side without labels is an ordinary axis: there ``:`` is a slice, so ``H["w", :]`` is an array
    of shape ``w.shape + (n,)``, and ``H["g", :]`` is a matrix with None for the columns. A complex
    leaf that is stored as pairs has a trailing axis of 2 (re, im). A path may also be a tuple that
    holds a name: ``H[("enc", "w"), "b"]``.

    ``H["w", "b"] = x`` writes what broadcasts into the shape of the block.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    >>> H = cv.ComponentMatrix([[1, 2, 3], [4, 5, 6], [7, 8, 9]], v.layout, v.layout)
    >>> H["b", "a"].tolist()
    [4, 7]
    >>> H["b", "b"] = np.eye(2)
    >>> (H @ v)["b"].tolist()
    [6.0, 10.0]
    >>> H.T["a", "b"].tolist()
    [4, 7]
    """

    __slots__ = ("__weakref__", "_cols", "_data", "_rows")

    def __init__(self, data: Any, rows: Layout | None, cols: Layout | None) -> None:
        if type(data) is not np.ndarray:
            data = _as_array(data)
        if data.ndim != 2:
            raise ValueError(f"a matrix has two axes, got data of shape {data.shape}")
        if data.dtype.kind not in "biufc":
            raise TypeError(f"a matrix holds numbers, got data of {data.dtype}")
        if rows is not None:
            _require_fit(rows, data.shape[0], "rows")
        if cols is not None:
            _require_fit(cols, data.shape[1], "cols")
        self._data, self._rows, self._cols = data, rows, cols

    @property
    def rows(self) -> Layout | None:
        """Layout of the rows, or None."""
        return self._rows

    @property
    def cols(self) -> Layout | None:
        """Layout of the columns, or None."""
        return self._cols

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self._data.shape

    @property
    def dtype(self) -> np.dtype:
        """Dtype of the data."""
        return self._data.dtype

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def size(self) -> int:
        """Number of entries."""
        return self._data.size

    @property
    def T(self) -> ComponentMatrix:
        """The transpose, a view with the layouts swapped; complex entries are not conjugated."""
        return ComponentMatrix(self._data.T, self._cols, self._rows)

    def copy(self) -> ComponentMatrix:
        """The same matrix with memory of its own."""
        return ComponentMatrix(self._data.copy(), self._rows, self._cols)

    def astype(self, dtype: Any, copy: bool = True) -> ComponentMatrix:
        """The same matrix in another numeric dtype; without `copy`, a view where it has that."""
        return ComponentMatrix(self._data.astype(dtype, copy=copy), self._rows, self._cols)

    def __getitem__(self, key: Any) -> Any:
        block = locate(self._data, self._rows, self._cols, plain(key))
        found = block.read()
        return found if block.axes is None else ComponentMatrix(found, *block.axes)

    def __setitem__(self, key: Any, value: Any) -> None:
        block = locate(self._data, self._rows, self._cols, plain(key))
        require_alignment(block.axes, value, f"block {block.name}")
        write(block, plain(value))

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return functools.partial(getattr(np, name), self)
        if name in _PROPERTIES:
            return getattr(np, name)(self)
        if name != "resize" and name[:1] != "_" and hasattr(np.ndarray, name):
            return getattr(self._data, name)  # reductions and the like: plain
        hint = "" if name.startswith("_") else f"; blocks are items, as in H[{name!r}]"
        raise AttributeError(f"ComponentMatrix has no attribute {name!r}{hint}")

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self._data)

    def __contains__(self, value: object) -> bool:
        return value in self._data

    def __bool__(self) -> bool:
        return bool(self._data)

    def __copy__(self) -> ComponentMatrix:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> ComponentMatrix:
        return self.copy()

    def __reduce__(self) -> Any:
        return ComponentMatrix, (self._data, self._rows, self._cols)

    def __repr__(self) -> str:
        return matrix_text(self._data, self._rows, self._cols)

    def _repr_html_(self) -> str:
        return matrix_html(self._data, self._rows, self._cols)

    __hash__ = None  # type: ignore[assignment]


def outer(u: Any, v: Any) -> ComponentMatrix:
    """`np.outer`, labelled: the matrix of all products of an entry of `u` and one of `v`.

    Parameters
    ----------
    u, v
        ComponentVectors, or plain arrays, which `np.outer` flattens.

    Returns
    -------
    ComponentMatrix
        New memory of shape ``(u.size, v.size)``; rows have the layout of `u`, columns that of
        `v`, and a plain argument gives None.

    Raises
    ------
    TypeError
        For what holds no numbers, and for values that autograd traces.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    >>> cv.outer(v, [1.0, 10.0])["b", :].tolist()
    [[2.0, 20.0], [3.0, 30.0]]
    """
    for value in (u, v):
        _refuse_traced(value)
    axes = [layout(value) if isinstance(value, ArrayProtocols) else None for value in (u, v)]
    return ComponentMatrix(np.outer(plain(u), plain(v)), *axes)


def _as_array(data: Any) -> np.ndarray:
    """Lists, matrices and subclasses as an ndarray, on the same memory where there is one."""
    _refuse_traced(data)
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("a masked array has no place for its mask")
    try:
        return np.asarray(data)
    except ValueError:
        raise ValueError("a ragged list is no matrix: rows have unequal lengths") from None


def _refuse_traced(value: Any) -> None:
    """TypeError for a value within a derivative: a matrix holds numbers."""
    if is_traced(value):
        raise TypeError(
            "a matrix cannot hold a value that autograd traces; "
            "use the array itself within the function, and label the result"
        )


def _require_fit(side: Any, n: int, name: str) -> None:
    """An error unless a layout, all of whose memory is its own, has as many entries as the data."""
    if not isinstance(side, Layout):
        remedy = "; use its layout, v.layout" if is_vector(side) else ""
        raise TypeError(f"{name}: expected a Layout or None, got {type(side).__name__}{remedy}")
    if side._size != n:
        raise ValueError(f"{name}: the layout has {side._size} entries, the data {n}")
    if side._tied:
        side._require_whole()
