"""ComponentList: a sequence of components, read one by one or one name of all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import layouts
from .access import Items, are_even, put, stacked
from .layouts import Layout
from .paths import Path, format_path, unknown
from .places import Leaf


class ComponentList:
    """A sequence of components: ``v.layers[0]``, and ``v.layers.w`` for all their `w` at once.

    Items are views, as all components are. Where the items have equal layouts, an attribute is one
    strided view of shape ``(len, *shape)``; elsewhere it is an AttributeError.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(layers=[{"w": [1.0, 2.0]}, {"w": [3.0, 4.0]}])
    >>> len(v.layers), v.layers[-1].w.tolist()
    (2, [3.0, 4.0])
    >>> v.layers.w.shape
    (2, 2)
    >>> v.layers.w *= 10
    >>> v.tolist()
    [10.0, 20.0, 30.0, 40.0]
    >>> v.layers[1:].w.tolist()
    [[30.0, 40.0]]
    """

    __slots__ = ("_items", "_owner", "_path")

    _owner: Any  # a vector, plain or traced, in whose root the items lie
    _items: Items
    _path: Path

    def __init__(self, owner: Any, items: Items, path: Path) -> None:
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_items", items)
        object.__setattr__(self, "_path", path)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ComponentList(self._owner, self._items[index], self._path)
        if isinstance(index, str):
            raise TypeError(
                f"items of {format_path(self._path)!r} are numbered; "
                f"for {index!r} of all of them, use the attribute"
            )
        number, offset, node = self._item(index)
        return self._owner._at(offset, node, (*self._path, number))

    def _item(self, index: Any) -> tuple[int, int, Any]:
        """One item; IndexError where there are not so many."""
        try:
            return self._items[index]
        except IndexError:
            where = format_path(self._path) or "the root"
            raise IndexError(f"{where!r} has {len(self)} items, got index {index}") from None

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._items)))

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(f"ComponentList has no attribute {name!r}")
        return self._owner._at(*stack(self._items, name, self._path))

    def __setattr__(self, name: str, value: Any) -> None:
        offset, node, path = stack(self._items, name, self._path)
        put(self._owner._root, offset, node, path, value)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            put(self._owner._root, 0, self._items[index], self._path, value)
        else:
            number, offset, node = self._item(index)
            put(self._owner._root, offset, node, (*self._path, number), value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name!r} cannot be deleted: a vector keeps its components")

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def __dir__(self) -> list[str]:
        if not self._items or not are_even(self._items):
            return []
        node = self._items[0][2]
        return [key for key in node._children if isinstance(key, str) and key.isidentifier()]

    def __repr__(self) -> str:
        return layouts.above.text(self)

    def _repr_html_(self) -> str:
        return layouts.above.html(self)


Sequence.register(ComponentList)


def items_of(node: Layout, offset: int) -> Items:
    """The items of a sequence at an absolute offset."""
    children = enumerate(node._children.values())
    return [(number, offset + start, child) for number, (start, child) in children]


def stack(items: Items, name: str, path: Path) -> tuple[int, Any, Path]:
    """Offset, node and path of one name of all items at once; AttributeError if unequal."""
    where = format_path(path) or "the root"
    if not items:
        raise AttributeError(f"{where!r} is empty: no item has {name!r}")
    node = items[0][2]
    if len(items) > 1 and not are_even(items):
        raise AttributeError(
            f"items of {where!r} are no groups of equal layouts: read {name!r} item by item"
        )
    child = node._children.get(name) if isinstance(node, Layout) else None
    if child is None:
        names = node._names() if isinstance(node, Layout) else []
        raise AttributeError(f"{where!r}: {unknown(name, names)}")
    start, inner = child
    if isinstance(inner, Leaf):
        return *stacked(items, start, inner), (*path, name)
    return 0, [(number, offset + start, inner) for number, offset, _ in items], (*path, name)
