"""Blocks of a matrix whose axes have layouts: which entries a pair of keys reaches.

Each side is picked on its own. A pick is a leaf, with axes of its own; a group or ``:``, with one
axis; or an index, which is whatever NumPy takes. All but the index is one strided view of the data,
whatever the strides of the data are, so a block costs the same for any size; the index is applied
to that view.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .layouts import Layout
from .misses import show_path
from .nodes import PathLike
from .places import Leaf, Shape
from .selection import is_whole, path_keys
from .tracing import is_traced

#: a layout or None for each axis of an array
Axes = tuple[Layout | None, ...]


class Pick(NamedTuple):
    """What a key picks on one side; offset and strides count entries of that side."""

    offset: int
    shape: Shape
    strides: Shape
    layout: Layout | None = None  # of the one axis of a group or ``:``
    leaf: str | None = None  # the name of a leaf, for errors
    index: Any = None  # what is still to be applied to a whole side


class Block(NamedTuple):
    """A view of the data, the index into it, and the layouts of a block that is a matrix."""

    key: Any
    view: np.ndarray
    index: Any = ()
    axes: Axes | None = None

    @property
    def name(self) -> str:
        """The key as an error shows it."""
        return _show(self.key)

    def read(self) -> Any:
        """The entries: a view, or a NumPy scalar; a copy for index arrays."""
        return self.view[self.index]


def locate(data: np.ndarray, rows: Layout | None, cols: Layout | None, key: Any) -> Block:
    """The block of a key: a pair, or one key for the rows.

    Raises KeyError for an unknown name or a side without labels, IndexError for what indexes
    nothing, and ValueError for a group or an alias that is no strided axis.
    """
    parts = key if isinstance(key, tuple) else (key,)
    if not any(map(_names_something, parts)):
        if 1 <= len(parts) <= 2 and all(map(is_whole, parts)):
            return Block(key, data, (), None if rows is cols is None else (rows, cols))
        return Block(key, data, key)
    if len(parts) > 2:
        raise IndexError(f"a matrix has two axes, got {len(parts)} keys: {_show(key)}")
    row = _pick(rows, data.shape[0], parts[0], "rows")
    col = _pick(cols, data.shape[1], parts[1] if len(parts) == 2 else slice(None), "columns")
    if row.index is not None or col.index is not None:
        before = () if col.index is None else (slice(None),) * len(row.shape)
        index = (*before, row.index if col.index is None else col.index)
        return Block(key, _strided(data, row, col), index)
    if row.layout is None and col.layout is None:
        return Block(key, _strided(data, row, col))
    row, col = _one_axis(row, "rows"), _one_axis(col, "columns")
    return Block(key, _strided(data, row, col), (), (row.layout, col.layout))


def write(block: Block, value: Any) -> None:
    """Write into a block what broadcasts into its shape; all is checked before."""
    array = _as_array(value, block.name)
    view = block.view
    if array.dtype.kind == "c" and view.dtype.kind != "c":
        raise TypeError(f"block {block.name} is real ({view.dtype}), got complex values")
    shape = np.shape(block.read())
    try:
        fits = np.broadcast_shapes(shape, array.shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"block {block.name} has shape {shape}, got shape {array.shape}")
    if not view.flags.writeable:
        raise ValueError(f"block {block.name} is read-only; H.copy() is not")
    view[block.index] = array  # NumPy minds overlaps


def _as_array(value: Any, name: str) -> np.ndarray:
    """The value as a numeric array, or a TypeError."""
    if is_traced(value):
        raise TypeError(f"block {name}: a value that autograd traces cannot be written in place")
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"block {name}: a masked array has no place for its mask")
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"block {name}: a ragged list is no array") from None
    if array.dtype.kind not in "biufc":
        raise TypeError(f"block {name}: expected numbers, got {value!r:.60}")
    return array


def _strided(data: np.ndarray, row: Pick, col: Pick) -> np.ndarray:
    """The view of shape ``row.shape + col.shape``."""
    start = data[row.offset :, col.offset :]
    down, across = data.strides
    strides = [step * down for step in row.strides] + [step * across for step in col.strides]
    return as_strided(start, row.shape + col.shape, strides)


def _pick(layout: Layout | None, size: int, key: Any, side: str) -> Pick:
    """What a key picks on a side of that size."""
    if is_whole(key):
        return Pick(0, (size,), (1,), layout)
    if not _names_something(key):
        return Pick(0, (size,), (1,), index=_index(key, side))
    if isinstance(key, list):
        raise IndexError(
            f"{side}: a list of names is no block, got {key!r}; read them one by one, or join "
            "their entries: np.concatenate([layout.index(name) for name in names])"
        )
    if layout is None:
        raise KeyError(f"{side}: no component {show_path(key)!r}, for this side has no labels")
    offset, node = _find(layout, key, side)
    if isinstance(node, Leaf):
        pair = node.pairs
        shape, strides = (node.shape, node.strides) if not pair else _with_pairs(node)
        return Pick(offset, shape, strides, leaf=show_path(key))
    node._require_whole(key if isinstance(key, tuple) else path_keys(layout, key))
    return Pick(offset, (node._size,), (1,), node._with_dtype(layout._dtype))


def _with_pairs(leaf: Leaf) -> tuple[Shape, Shape]:
    """Shape and strides of a leaf of pairs, with the axis of (re, im)."""
    return (*leaf.shape, 2), (*leaf.strides, 1)


def _one_axis(pick: Pick, side: str) -> Pick:
    """The pick with its entries, in leaf order, along one axis; ValueError if they are uneven."""
    if pick.leaf is None:
        return pick
    step = even_step(pick.shape, pick.strides)
    if step is None:
        raise ValueError(
            f"{side}: the entries of {pick.leaf!r}, which is tied, are not evenly spaced, so they "
            "are no axis opposite a group; read it opposite leaves, or index with layout.index"
        )
    return pick._replace(shape=(math.prod(pick.shape),), strides=(step,))


def even_step(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The step from each entry to the next in C order, or None where steps differ."""
    axes = [(n, step) for n, step in zip(shape, strides, strict=True) if n != 1]
    if not axes or 0 in shape:
        return 1
    even = all(outer == n * inner for (_, outer), (n, inner) in itertools.pairwise(axes))
    return axes[-1][1] if even else None


def _find(layout: Layout, key: PathLike, side: str) -> tuple[int, Any]:
    """Offset and node of a path on that side."""
    try:
        return layout._find(key)
    except KeyError as error:
        raise KeyError(f"{side}: {error.args[0]}") from None
    except TypeError:  # a key of the path is a slice or a wildcard
        raise KeyError(
            f"{side}: no component {show_path(key)!r}: a block is one leaf or one group; "
            "read several item by item, or index with layout.mask"
        ) from None


def _index(key: Any, side: str) -> Any:
    """A key that is no name as an index for one axis, or an IndexError."""
    if isinstance(key, slice):
        return key
    array = np.asarray(key)
    if array.size == 0 and not isinstance(key, np.ndarray):
        array = array.astype(np.intp)
    if array.dtype.kind in "iu":
        return array if array.ndim else operator.index(array[()])
    if array.dtype.kind == "b" and array.ndim == 1:
        return array
    raise IndexError(
        f"{side}: expected a path, a slice, an integer, integers or a mask of one axis, "
        f"got {key!r:.60}"
    )


def _names_something(key: Any) -> bool:
    """Whether a key is a path, or a list of names."""
    if isinstance(key, list | tuple):
        return any(isinstance(part, str) for part in key)
    return isinstance(key, str)


def _show(key: Any) -> str:
    """A key as an error shows it, in brackets."""
    shown = []
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, slice):
            bounds = ["" if n is None else str(n) for n in (part.start, part.stop, part.step)]
            shown.append(":".join(bounds[: 2 if part.step is None else 3]))
        elif isinstance(part, np.ndarray):
            shown.append(f"array of shape {part.shape}")
        else:
            shown.append("..." if part is Ellipsis else f"{part!r:.60}")
    return f"[{', '.join(shown)}]"
