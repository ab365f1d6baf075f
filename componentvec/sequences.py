"""ComponentList: a sequence of components, read one by one or one name of all at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .access import prepare, write
from .layouts import Layout, above
from .paths import Path, format_path, unknown
from .places import Leaf

Item = tuple[int, int, Any]  # number in the sequence, absolute offset, node


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
    >>> v.layers.w *= 10
    >>> v.tolist()
    [10.0, 20.0, 30.0, 40.0]
    """

    __slots__ = ("_items", "_owner", "_path")

    _owner: Any  # the vector, plain or traced, in whose root the items lie
    _items: list[Item]
    _path: Path

    def __init__(self, owner: Any, items: list[Item], path: Path) -> None:
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
        number, offset, node = self._items[index]
        return self._owner._at(offset, node, (*self._path, number))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._items)))

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(f"ComponentList has no attribute {name!r}")
        return self._owner._at(*self._stack(name))

    def __setattr__(self, name: str, value: Any) -> None:
        offset, node, path = self._stack(name)
        if not isinstance(node, Leaf):
            raise AttributeError(f"{format_path(path)!r} is no leaf: assign item by item")
        write(prepare(self._owner._root, offset, node, path, value))

    def __setitem__(self, index: Any, value: Any) -> None:
        items, values = [self._items[index]], [value]
        if isinstance(index, slice):
            items, values = self._items[index], list(value)
            if len(values) != len(items):
                raise ValueError(
                    f"{format_path(self._path)!r}: expected {len(items)} items, got {len(values)}"
                )
        root = self._owner._root
        writes = []
        for (number, offset, node), item in zip(items, values, strict=True):
            writes += prepare(root, offset, node, (*self._path, number), item)
        if len(items) > 1:  # items may be given from one another
            writes = [(target, np.array(array)) for target, array in writes]
        write(writes)

    def _stack(self, name: str) -> tuple[int, Any, Path]:
        """Offset, node and path of one name of all items at once; AttributeError if unequal."""
        path = (*self._path, name)
        if not self._items:
            raise AttributeError(f"{format_path(self._path)!r} is empty: no item has {name!r}")
        _, first, node = self._items[0]
        offsets = [offset for _, offset, _ in self._items]
        steps = {b - a for a, b in itertools.pairwise(offsets)}
        if len(steps) > 1 or any(other != node for _, _, other in self._items):
            raise AttributeError(
                f"items of {format_path(self._path)!r} have unequal layouts: "
                f"read {name!r} item by item"
            )
        child = node._child(name) if isinstance(node, Layout) else None
        if child is None:
            names = node._names(()) if isinstance(node, Layout) else []
            raise AttributeError(unknown(name, names))
        start, inner = child
        if not isinstance(inner, Leaf):
            return first, [(n, offset + start, inner) for n, offset, _ in self._items], path
        shape = (len(offsets), *inner.shape)
        strides = (steps.pop() if steps else inner.size, *inner.strides)
        return first + start, Leaf(shape, strides, pairs=inner.pairs), path

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def __dir__(self) -> list[str]:
        node = self._items[0][2] if self._items else None
        return [str(key) for key in node._children] if isinstance(node, Layout) else []

    def __repr__(self) -> str:
        return above.text(self)

    def _repr_html_(self) -> str:
        return above.html(self)
