"""The tree within a layout: groups and leaves, and looking things up in it.

Each group maps its keys to (offset, node), where a node is a `Leaf` or again a group, and the
offset counts from the start of the group: so a sub-layout is the very node of its parent, and a tie
is an offset that lies among another leaf's entries. Nodes are immutable; what depends on them alone
is computed once and kept. Nothing here recurses, so nesting has no limit.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from .entries import refuse_ambiguous
from .misses import no_component, no_match, reason_for_pattern, show_path
from .paths import SEQUENCE, Key, Path, check_key, format_path, parse_path
from .patterns import match
from .places import GroupPlan, Leaf, LeafPlan, Plan, Shape
from .plans import grow

PathLike = str | tuple[Key, ...]


class Group:
    """A group of components at places relative to its start."""

    __slots__ = (
        "__weakref__",
        "_children",
        "_dtype",
        "_found",
        "_kind",
        "_lazy",
        "_paired",
        "_plain",
        "_shape",
        "_size",
        "_tied",
    )

    _kind: str
    _children: dict[Key, tuple[int, Leaf | Group]]
    _size: int
    _shape: tuple[int]  # (size,), that of a buffer
    _dtype: np.dtype
    _tied: bool  # whether any leaf below is an alias
    _paired: bool  # whether any leaf below stores complex numbers as pairs
    _found: dict[Any, tuple[int, Leaf | Group]]  # paths that were looked up
    _plain: dict[str, tuple[slice, Shape | None]]  # those that are slices, reshaped if need be
    _lazy: dict[str, Any]  # what was computed once

    @property
    def _signature(self) -> tuple[Any, ...]:
        """All that makes two layouts equal, as one flat tuple."""
        if "signature" not in self._lazy:
            self._lazy["signature"] = tuple(
                (offset, *node.signature)
                if isinstance(node, Leaf)
                else (node._kind, *node._children)
                for offset, node in self._nodes()
            )
        return self._lazy["signature"]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Group):
            return NotImplemented
        return self._children is other._children or (
            self._size == other._size and self._signature == other._signature
        )

    def __hash__(self) -> int:
        if "hash" not in self._lazy:
            self._lazy["hash"] = hash(self._signature)
        return self._lazy["hash"]

    @classmethod
    def _build(cls, plans: Sequence[Plan], dtype: np.dtype) -> Self:
        """The layout of a preorder list of groups and leaves."""

        def make(group: GroupPlan, places: Sequence[tuple[int, Any]], base: int, end: int) -> Any:
            layout = cls._new(group, places, base, end - base, dtype)
            refuse_ambiguous(layout)
            return layout

        root = grow(plans, make)
        if root._paired and (dtype.kind != "f" or dtype.itemsize < 4):
            raise ValueError(f"complex numbers cannot be stored as pairs of {dtype}")
        return root

    @classmethod
    def _new(
        cls, plan: GroupPlan, places: Sequence[tuple[int, Any]], base: int, size: int, dtype: Any
    ) -> Self:
        """A node with its children at absolute offsets `places`, itself at `base`."""
        layout = object.__new__(cls)
        layout._kind = plan.kind
        layout._children = {
            key: (offset - base, node)
            for key, (offset, node) in zip(plan.keys, places, strict=True)
        }
        layout._size, layout._shape = size, (size,)
        layout._dtype = dtype
        layout._tied = any(
            node.alias if isinstance(node, Leaf) else node._tied for _, node in places
        )
        layout._paired = any(
            node.pairs if isinstance(node, Leaf) else node._paired for _, node in places
        )
        layout._found, layout._plain, layout._lazy = {}, {}, {}
        return layout

    def _with_dtype(self, dtype: Any) -> Self:
        """The same layout for vectors of another dtype."""
        if dtype == self._dtype:
            return self
        layout = object.__new__(type(self))
        layout._kind, layout._children = self._kind, self._children
        layout._size, layout._shape = self._size, self._shape
        layout._tied, layout._paired = self._tied, self._paired
        layout._found, layout._plain, layout._lazy = self._found, self._plain, self._lazy
        layout._dtype = dtype
        return layout

    def _walk(self) -> Iterator[tuple[Path, int, Leaf | Group]]:
        """All nodes in preorder, the root included, with paths and offsets."""
        stack: list[tuple[Path, int, Leaf | Group]] = [((), 0, self)]
        while stack:
            path, base, node = stack.pop()
            yield path, base, node
            if isinstance(node, Group):
                stack += [
                    ((*path, key), base + offset, child)
                    for key, (offset, child) in reversed(node._children.items())
                ]

    def _nodes(self) -> Iterator[tuple[int, Leaf | Group]]:
        """All nodes in preorder, the root included, with offsets alone."""
        stack: list[tuple[int, Leaf | Group]] = [(0, self)]
        while stack:
            base, node = stack.pop()
            yield base, node
            if isinstance(node, Group):
                children = reversed(node._children.values())
                stack += [(base + offset, child) for offset, child in children]

    @property
    def _leaves(self) -> list[tuple[Path, int, Leaf]]:
        """Path, offset and leaf of all leaves in preorder."""
        if "leaves" not in self._lazy:
            self._lazy["leaves"] = list(self._find_leaves())
        return self._lazy["leaves"]

    def _find_leaves(self) -> Iterator[tuple[Path, int, Leaf]]:
        """Leaves with paths, which groups do not need: deep nests would be slow to walk."""
        stack: list[tuple[Any, int, Leaf | Group]] = [(None, 0, self)]  # (key, (key, ...)) upwards
        while stack:
            link, base, node = stack.pop()
            if isinstance(node, Group):
                stack += [
                    ((key, link), base + offset, child)
                    for key, (offset, child) in reversed(node._children.items())
                ]
                continue
            keys = []
            while link is not None:
                key, link = link
                keys.append(key)
            yield tuple(reversed(keys)), base, node

    def _find(self, path: Any) -> tuple[int, Any]:
        """Offset and node of a path, or a KeyError that lists the names there are."""
        found = self._seek(path)
        if found is None:
            raise KeyError(no_component(self, path))
        return found

    def _seek(self, path: Any) -> tuple[int, Any] | None:
        """Offset and node of a path, or None."""
        try:
            return self._found[path]
        except (KeyError, TypeError):
            pass
        keys = self._keys(path)
        found = None if keys is None else self._descend(keys)
        if found is not None:
            self._found[path] = found
        return found

    def _descend(self, keys: Sequence[Any]) -> tuple[int, Any] | None:
        """Offset and node at the end of some keys, or None."""
        found: tuple[int, Any] = (0, self)
        for key in keys:
            child = found[1]._child(key) if isinstance(found[1], Group) else None
            if child is None:
                return None
            found = found[0] + child[0], child[1]
        return found

    def _child(self, key: Any) -> tuple[int, Any] | None:
        """The child of that name; positions of a sequence may count from its end."""
        if self._kind == SEQUENCE and type(key) is int and key < 0:
            key += len(self._children)
        return self._children.get(key) if isinstance(key, str | int) else None

    def _keys(self, path: Any) -> tuple[Any, ...] | None:
        """The keys of a path; None where it is malformed. A top-level name stands for itself."""
        if isinstance(path, str):
            if path in self._children:
                return (path,)
            try:
                return parse_path(path)
            except ValueError:
                return None
        keys = path if isinstance(path, tuple) else (path,)
        return tuple(check_key(key, ()) for key in keys)

    def _names(self, prefix: Path = ()) -> list[str]:
        """Path strings of the components of one group."""
        found = self._descend(prefix)
        assert found is not None and isinstance(found[1], Group)
        return [format_path((*prefix, key)) for key in found[1]._children]

    def _leaf(self, path: PathLike) -> tuple[int, Leaf]:
        """Offset and leaf of a path that must be a leaf's."""
        offset, node = self._find(path)
        if isinstance(node, Group):
            raise ValueError(f"{show_path(path)!r} is a group; expected a leaf")
        return offset, node

    def _ordinal(self, path: PathLike) -> int:
        """The number of a leaf among the leaves."""
        offset, leaf = self._leaf(path)
        return next(
            i for i, (_, at, other) in enumerate(self._leaves) if other is leaf and at == offset
        )

    def _matching(self, patterns: Sequence[PathLike]) -> list[bool]:
        """For each leaf, in preorder, whether any of the patterns covers it."""
        chosen = [False] * len(self._leaves)
        for pattern in patterns:
            matched = match(self._pattern(pattern), self)
            if matched is None:
                raise KeyError(no_match(self, pattern))
            chosen = [a or b for a, b in zip(chosen, matched, strict=True)]
        return chosen

    def _pattern(self, pattern: Any) -> tuple[Any, ...]:
        """The keys and wildcards of a pattern; a top-level name as it stands comes first."""
        if isinstance(pattern, tuple):
            return tuple(check_key(key, ()) for key in pattern)
        if not isinstance(pattern, str):
            raise TypeError(f"a pattern is a path string or a tuple of keys, got {pattern!r}")
        if pattern in self._children and pattern not in ("*", "**"):
            return (pattern,)
        try:
            return parse_path(pattern)
        except ValueError:
            if reason_for_pattern(self, pattern) is not None:  # as "w[0,1]", a label
                raise KeyError(no_match(self, pattern)) from None
            raise

    @property
    def _owners(self) -> tuple[list[int], list[int]]:
        """Lowest entries of the owning leaves, ascending, and the numbers of these leaves."""
        if "owners" not in self._lazy:
            pairs = [
                (leaf.extent(offset)[0], i)
                for i, (_, offset, leaf) in enumerate(self._leaves)
                if leaf.size and not leaf.alias
            ]
            self._lazy["owners"] = [low for low, _ in pairs], [i for _, i in pairs]
        return self._lazy["owners"]

    def _owner_of(self, offset: int, leaf: Leaf) -> int | None:
        """The number of the leaf that owns an alias, or None where it lies outside."""
        low, _ = leaf.extent(offset)
        if not 0 <= low < self._size:
            return None
        lows, numbers = self._owners
        return numbers[bisect.bisect_right(lows, low) - 1]

    @property
    def _outside(self) -> Path | None:
        """Path of the first alias whose memory lies outside this group, or None."""
        if not self._tied:
            return None
        if "outside" not in self._lazy:
            self._lazy["outside"] = next(
                (
                    path
                    for path, offset, leaf in self._leaves
                    if leaf.alias and self._owner_of(offset, leaf) is None
                ),
                None,
            )
        return self._lazy["outside"]

    def _require_whole(self, prefix: Path = ()) -> None:
        """ValueError where this group cannot be used as one array."""
        outside = self._outside
        if outside is not None:
            name = format_path((*prefix, *outside))
            raise ValueError(
                f"{name!r} is tied to memory outside this group, which is therefore no array: "
                "read and write its components by name, or use the whole vector"
            )

    def _difference(self, other: Group) -> str:
        """Where two unequal layouts first differ, for errors."""
        pairs = itertools.zip_longest(self._walk(), other._walk())
        for one, two in pairs:
            if one is None or two is None or one[0] != two[0]:
                names = [repr(format_path(at[0])) if at else "nothing" for at in (one, two)]
                return f"{names[0]} here, {names[1]} there"
            name = repr(format_path(one[0]) or "the root")
            kinds = [node._kind if isinstance(node, Group) else "leaf" for node in (one[2], two[2])]
            if kinds[0] != kinds[1]:
                return f"{name} is a {kinds[0]} here, a {kinds[1]} there"
            if isinstance(one[2], Leaf) and isinstance(two[2], Leaf):
                if one[2].shape != two[2].shape:
                    return f"{name} has shape {one[2].shape} here, {two[2].shape} there"
                if (one[1], one[2].signature) != (two[1], two[2].signature):
                    return f"{name} has another place, kind or tie"
        return "nothing"

    def _require_equal(self, other: Group, remedy: str = "np.asarray") -> None:
        """ValueError that names the first difference of two layouts."""
        if self is not other and self != other:
            raise ValueError(
                f"layouts differ: {self._difference(other)}; to go by position alone, use {remedy}"
            )

    def _require_inside(self, low: int, high: int, path: PathLike) -> None:
        """ValueError for an alias whose memory lies outside this group."""
        if low < 0 or high > self._size:
            raise ValueError(f"{show_path(path)!r} is tied to memory outside this group")

    def _plan(self) -> Sequence[Plan]:
        """The preorder list from which `_build` makes this layout again."""
        if "plan" not in self._lazy:
            self._lazy["plan"] = tuple(self._make_plan())
        return self._lazy["plan"]

    @property
    def _leaf_plans(self) -> list[LeafPlan]:
        """Those of the leaves alone."""
        if "leaf plans" not in self._lazy:
            self._lazy["leaf plans"] = [p for p in self._plan() if isinstance(p, LeafPlan)]
        return self._lazy["leaf plans"]

    def _make_plan(self) -> Iterator[Plan]:
        """What `_plan` keeps."""
        for offset, node in self._nodes():
            if isinstance(node, Group):
                yield GroupPlan(node._kind, tuple(node._children))
                continue
            owner = self._owner_of(offset, node) if node.alias else None
            start = offset - node.extent(offset)[0]
            if owner is not None:
                _, at, leaf = self._leaves[owner]
                start = offset - leaf.extent(at)[0]
            outside = node.alias and owner is None
            strides = None if node.plain or outside else node.strides
            yield LeafPlan(node.shape, strides, owner, 0 if outside else start, node.pairs)
