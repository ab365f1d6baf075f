"""The `repr` of a vector or a list: one line, which Python can read if it is not abbreviated.

A vector is read by its root and its offset there, never by attributes, which may be components.
"""

from __future__ import annotations

import itertools
import keyword
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .access import view
from .assembly import is_all_pairs
from .layouts import Layout
from .paths import MAPPING, SEQUENCE, format_path
from .places import Leaf, relation
from .tables import array_tokens, dtype_text, joined, shorten
from .tracing import untraced


class Opened(NamedTuple):
    """A vector or a list: its components, at offsets from `base` in the root."""

    name: str
    kind: str
    children: dict[Any, tuple[int, Any]]
    root: np.ndarray
    base: int
    layout: Layout | None  # a list has none, and its aliases are shown by value


class _Detail(NamedTuple):
    """How much of a vector one line shows."""

    limit: int  # characters in all
    depth: int  # levels of groups within the vector
    children: int  # of a group
    entries: int  # of an array shown whole
    edge: int  # entries at each end of an axis otherwise
    digits: int | None = 6  # None: all, so that the line can be read back


_DETAILS = (
    _Detail(400, 50, 100, 50, 3, digits=None),
    _Detail(300, 6, 8, 20, 3),
    _Detail(300, 3, 8, 6, 3),
    _Detail(300, 2, 6, 4, 1),
    _Detail(300, 1, 6, 4, 1),
    _Detail(300, 0, 6, 2, 1),
    _Detail(400, 0, 2, 2, 1),
)


def open_components(value: Any) -> Opened:
    """A vector, or a list of components, as what it shows."""
    value = untraced(value)
    if hasattr(type(value), "_items"):
        children = {number: (offset, node) for number, offset, node in value._items}
        root = untraced(value._owner)._root
        return Opened("ComponentList", SEQUENCE, children, root, 0, None)
    layout = value._layout
    children, root, base = layout._children, value._root, value._offset
    return Opened("ComponentVector", layout._kind, children, root, base, layout)


def line_text(value: Any) -> str:
    """A vector or a list of components in one line, in as much detail as fits."""
    opened = open_components(value)
    for detail in _DETAILS:
        line = joined(_Line(opened, detail).tokens(), detail.limit)
        if line is not None:
            return line
    return f"{opened.name}(... {len(opened.children)} components)"


class _Line:
    """The one line that shows a vector or a list, in pieces."""

    def __init__(self, opened: Opened, detail: _Detail) -> None:
        self.opened, self.detail = opened, detail

    def tokens(self) -> Iterator[str]:
        """The whole line."""
        name, kind, children, root, base, layout = self.opened
        depth = self.detail.depth
        keys = [item[0] for item in ends(children, self.detail.children) if item]
        yield name + "("
        if kind == MAPPING and all(map(_is_argument, keys)):
            yield from self.members(children, base, depth, "{}=")
        else:
            yield from self.group(kind, children, base, depth, root=True)
        if root.dtype != float or (layout is not None and is_all_pairs(layout)):
            yield ", " if children or kind == SEQUENCE else ""
            yield f"dtype={dtype_text(root.dtype)}"
        yield ")"

    def group(
        self, kind: str, children: dict[Any, Any], base: int, depth: int, root: bool = False
    ) -> Iterator[str]:
        """A group in braces, a sequence in brackets."""
        opening, closing = "{}" if kind == MAPPING else "[]"
        yield opening
        if depth < 0 and children:
            yield "..."
        elif kind == MAPPING:
            yield from self.members(children, base, depth, "{!r}: ")
        else:
            # A list of nothing but numbers would be read as one array.
            apart = self.detail.digits is None and not root
            apart = apart and len(children) <= self.detail.children
            apart = apart and all(isinstance(node, Leaf) for _, node in children.values())
            yield from self.members(children, base, depth, "", "np.array({})" if apart else "{}")
        yield closing

    def members(
        self, children: dict[Any, Any], base: int, depth: int, key_form: str, form: str = "{}"
    ) -> Iterator[str]:
        """The components of a group, or both ends of them."""
        before, after = form.split("{}")
        separator = ""
        for item in ends(children, self.detail.children):
            yield separator
            separator = ", "
            if item is None:
                yield "..."
                continue
            key, (offset, node) = item
            if isinstance(key, str) and self.detail.digits is not None:
                key = shorten(key, 24)
            yield key_form.format(key)
            if isinstance(node, Leaf):
                yield before
                yield from self.leaf(base + offset, node)
                yield after
            else:
                yield from self.group(node._kind, node._children, base + offset, depth - 1)

    def leaf(self, offset: int, leaf: Leaf) -> Iterator[str]:
        """The values of a leaf, or what it is tied to."""
        _, _, _, root, base, layout = self.opened
        tie = tie_text(layout, offset - base, leaf) if layout is not None and leaf.alias else None
        if tie is None:
            _, _, _, most, edge, digits = self.detail
            yield from array_tokens(view(root, offset, leaf), most, edge, digits)
        else:
            yield f"<{tie}>"


def ends(children: dict[Any, Any], most: int) -> Iterator[Any]:
    """The items of a group: all, or both ends with None for the gap."""
    items = children.items()
    if len(items) <= most:
        yield from items
        return
    yield from itertools.islice(items, most - most // 2)
    yield None
    yield from reversed(list(itertools.islice(reversed(items), most // 2)))


def _is_argument(key: Any) -> bool:
    """Whether a call can pass the component by its name, unchanged."""
    if not isinstance(key, str) or not key.isidentifier() or keyword.iskeyword(key):
        return False
    return key not in ("dtype", "__debug__") and unicodedata.normalize("NFKC", key) == key


def tie_text(layout: Layout, offset: int, leaf: Leaf) -> str | None:
    """How an alias reads its owner, or None where that lies outside."""
    owner = layout._owner_of(offset, leaf)
    if owner is None:
        return None
    path, at, owner_leaf = layout._leaves[owner]
    start = offset - owner_leaf.extent(at)[0]
    return shorten(relation(format_path(path), owner_leaf, leaf, start), 60)
