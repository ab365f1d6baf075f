"""Text and HTML of layouts, vectors, lists and matrices, short for any number of entries.

Layouts, vectors and lists come here through `layouts.above`; `matrix` calls `matrix_text` and
`matrix_html`. Nothing is formatted that is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from . import layouts
from .access import view
from .layouts import Layout
from .lines import Opened, ends, line_text, open_components, tie_text
from .paths import Path, format_path, listing
from .places import Leaf
from .tables import array_text, dtype_text, number_text, shape_text, shorten, table_html, table_text

_MOST_LINES = 20  # leaves that a text shows; HTML shows twice as many
_MOST_LABELS = 8  # components or entries of a matrix axis
_LONGEST_PATH = 60
_MOST_READ = 2**22  # entries of a block that are summed up
_WIDEST = 100


def text(value: Any) -> str:
    """The `repr` of a layout, a vector or a list of components."""
    return _layout_text(value) if isinstance(value, Layout) else line_text(value)


def html(value: Any) -> str:
    """A layout, a vector or a list of components as an HTML table."""
    return (
        _layout_html(value) if isinstance(value, Layout) else _values_html(open_components(value))
    )


# -- layouts -------------------------------------------------------------------------------------


def _layout_text(layout: Layout) -> str:
    """One line a leaf: path, shape, span or tie, and how it is stored if not in C order."""
    leaves = layout._leaves
    rows = []
    for _, (path, offset, leaf) in _numbered(leaves, _MOST_LINES):
        place = _place_of_alias(layout, offset, leaf) if leaf.alias else _span(offset, leaf)
        rows.append([_path_text(path), shape_text(leaf.shape), place, _order(leaf)])
    lines = table_text((), rows).split("\n") if rows else []
    if len(rows) < len(leaves):
        lines.insert(_MOST_LINES // 2, _gap(leaves, _MOST_LINES))
    return "\n".join([f"Layout: {_count(layout, layout._dtype)}", *lines])


def _layout_html(layout: Layout) -> str:
    """A table of path, shape, span and ties."""
    leaves, aliases = layout._leaves, _aliases(layout)
    rows = []
    for i, (path, offset, leaf) in _numbered(leaves, 2 * _MOST_LINES):
        span = "" if leaf.alias else f"{_span(offset, leaf)}  {_order(leaf)}".rstrip()
        tie = _place_of_alias(layout, offset, leaf) if leaf.alias else aliases.get(i, "")
        rows.append([_path_text(path), shape_text(leaf.shape), span, tie])
    if len(rows) < len(leaves):
        rows.insert(_MOST_LINES, [_gap(leaves, 2 * _MOST_LINES), "", "", ""])
    caption = f"Layout: {_count(layout, layout._dtype)}"
    return table_html(["path", "shape", "span", "ties"], rows, caption)


def _numbered(leaves: list[Any], most: int) -> Iterator[tuple[int, Any]]:
    """The leaves with their numbers: all, or half of `most` from each end."""
    if len(leaves) <= most:
        yield from enumerate(leaves)
        return
    half = most // 2
    yield from enumerate(leaves[:half])
    yield from enumerate(leaves[-half:], len(leaves) - half)


def _gap(leaves: list[Any], most: int) -> str:
    """What stands for the leaves between."""
    return f"... ({len(leaves) - most} more)"


def _count(layout: Layout, dtype: np.dtype) -> str:
    """How many entries, of which dtype."""
    return f"{layout._size} {'entry' if layout._size == 1 else 'entries'}, {dtype_text(dtype)}"


def _path_text(path: Path) -> str:
    """A path, not too long."""
    return shorten(format_path(path), _LONGEST_PATH)


def _span(offset: int, leaf: Leaf) -> str:
    """The entries that a leaf owns."""
    low, high = leaf.extent(offset)
    return f"{low}:{high}"


def _order(leaf: Leaf) -> str:
    """How a leaf is stored, where that is not plainly in C order."""
    if leaf.pairs:
        return "(re, im)"
    return "" if leaf.plain or leaf.alias else f"strides {leaf.strides}"


def _place_of_alias(layout: Layout, offset: int, leaf: Leaf) -> str:
    """What an alias is, in the place of a span."""
    tie = tie_text(layout, offset, leaf)
    return "tied to memory outside" if tie is None else f"= {tie}"


def _aliases(layout: Layout) -> dict[int, str]:
    """For each owner, by number, what is tied to it."""
    names: dict[int, list[str]] = {}
    if layout._tied:
        for path, offset, leaf in layout._leaves:
            owner = layout._owner_of(offset, leaf) if leaf.alias else None
            if owner is not None:
                names.setdefault(owner, []).append(_path_text(path))
    return {owner: listing(found, 3) for owner, found in names.items()}


# -- vectors and lists ---------------------------------------------------------------------------


def _values_html(opened: Opened) -> str:
    """A table of path, shape, values and ties."""
    name, _, children, root, base, layout = opened
    if layout is None:
        leaves, aliases = _leaves_of_list(children), {}
        items = "1 item" if len(children) == 1 else f"{len(children)} items"
        caption = f"{name}: {items}, {dtype_text(root.dtype)}"
    else:
        leaves, aliases = layout._leaves, _aliases(layout)
        caption = f"{name}: {_count(layout, root.dtype)}"
    rows = []
    for i, (path, offset, leaf) in _numbered(leaves, 2 * _MOST_LINES):
        tie = aliases.get(i, "")
        if leaf.alias:
            tie = "tied" if layout is None else _place_of_alias(layout, offset, leaf)
        values = array_text(view(root, base + offset, leaf))
        rows.append([_path_text(path), shape_text(leaf.shape), values, tie])
    if len(rows) < len(leaves):
        rows.insert(_MOST_LINES, [_gap(leaves, 2 * _MOST_LINES), "", "", ""])
    return table_html(["path", "shape", "values", "ties"], rows, caption)


def _leaves_of_list(items: dict[Any, tuple[int, Any]]) -> list[tuple[Path, int, Leaf]]:
    """Path, offset and leaf of all leaves of a list of components."""
    leaves: list[tuple[Path, int, Leaf]] = []
    for number, (start, node) in items.items():
        if isinstance(node, Leaf):
            leaves.append(((number,), start, node))
        else:
            leaves += [((number, *path), start + at, leaf) for path, at, leaf in node._leaves]
    return leaves


# -- matrices ------------------------------------------------------------------------------------


class _Block(NamedTuple):
    """One component on an axis of a matrix; without a span, those that are left out."""

    name: str
    span: slice | None
    shape: tuple[int, ...]


def matrix_text(data: np.ndarray, rows: Layout | None, cols: Layout | None) -> str:
    """The `repr` of a matrix: its entries if they are few, else the components of its axes."""
    head = _matrix_head(data)
    if data.size and max(data.shape) <= _MOST_LABELS:
        lines = [
            [label, *map(number_text, line)]
            for label, line in zip(_labels(rows, data.shape[0]), data, strict=True)
        ]
        table = table_text(["", *_labels(cols, data.shape[1])], lines)
        if max(map(len, table.split("\n"))) <= _WIDEST:
            return f"{head}\n{table}"
    if rows is not None and rows == cols:
        return f"{head}\nrows, columns: {_axis_text(rows)}"
    return f"{head}\nrows: {_axis_text(rows)}\ncolumns: {_axis_text(cols)}"


def matrix_html(data: np.ndarray, rows: Layout | None, cols: Layout | None) -> str:
    """A block table: a row and a column per component, in each cell a block's shape and values."""
    down, across = _blocks(rows, data.shape[0]), _blocks(cols, data.shape[1])
    lines = [[row.name, *(_block_text(data, row, column) for column in across)] for row in down]
    return table_html(["", *(column.name for column in across)], lines, _matrix_head(data))


def _matrix_head(data: np.ndarray) -> str:
    """What kind of matrix it is."""
    return f"ComponentMatrix: {data.shape[0]} x {data.shape[1]}, {dtype_text(data.dtype)}"


def _labels(axis: Layout | None, size: int) -> list[str]:
    """Labels of the entries of an axis, or their numbers."""
    if axis is None:
        return [str(i) for i in range(size)]
    return [shorten(label, 20) for label in axis.labels()]


def _axis_text(axis: Layout | None) -> str:
    """The components of an axis with their shapes."""
    if axis is None:
        return "unlabelled"
    parts = []
    for block in _blocks(axis, axis._size):
        shape = f" {shape_text(block.shape)}" if block.shape else ""
        parts.append(block.name + shape)
    return shorten(", ".join(parts), 2 * _WIDEST)


def _blocks(axis: Layout | None, size: int) -> list[_Block]:
    """The components on an axis that own entries of it, or both ends of them."""
    if axis is None:
        return [_Block(f"0:{size}", slice(0, size), (size,))]
    owners = {
        key: (offset, node)
        for key, (offset, node) in axis._children.items()
        if not (node.alias if isinstance(node, Leaf) else node._tied and not node._size)
    }
    blocks = []
    for item in ends(owners, _MOST_LABELS):
        if item is None:
            blocks.append(_Block("...", None, ()))
            continue
        key, (offset, node) = item
        if isinstance(node, Leaf):
            low, high = node.extent(offset)
            shape = (*node.shape, 2) if node.pairs else node.shape
        else:
            low, high, shape = offset, offset + node._size, (node._size,)
        blocks.append(_Block(shorten(format_path((key,)), 24), slice(low, high), shape))
    return blocks


def _block_text(data: np.ndarray, row: _Block, column: _Block) -> str:
    """Shape of a block, and its value or the range of its values."""
    if row.span is None or column.span is None:
        return "..."
    block = data[row.span, column.span]
    shape = shorten(str(row.shape + column.shape), 40)
    if block.size == 0 or block.size > _MOST_READ:
        return shape
    if block.size == 1:
        return f"{shape}\n{number_text(block[0, 0])}"
    with np.errstate(all="ignore"):
        sizes = np.abs(block) if block.dtype.kind == "c" else block
    low, high = sizes.min(), sizes.max()
    values = number_text(low, 4) + ("" if low == high else f" to {number_text(high, 4)}")
    return f"{shape}\n{'abs ' if block.dtype.kind == 'c' else ''}{values}"


layouts.above.text = text
layouts.above.html = html
