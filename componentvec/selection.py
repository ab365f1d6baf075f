"""Components chosen by name: what a name reaches in a vector, and vectors of several components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from .access import checked, commit, fill, put, view
from .assembly import Collected, as_leaf, holds_complex, lay_out, numbers_only
from .conveniences import layout
from .layouts import Layout
from .paths import MAPPING, SEQUENCE, Key, Path, format_path, is_range, parse_path
from .places import GroupPlan, Leaf, LeafPlan, Plan
from .sequences import items_of, stack

Located = tuple[int, Any, Path]  # absolute offset, node (or items of a sequence), path


def path_keys(layout: Layout, name: str) -> Path:
    """The keys of a path string: a top-level name stands for itself."""
    return (name,) if name in layout._children else parse_path(name)


def is_names(key: Any) -> bool:
    """Whether an index is a list of names."""
    return isinstance(key, list) and bool(key) and all(isinstance(name, str) for name in key)


def is_whole(key: Any) -> bool:
    """Whether an index is ``:`` or ``...``."""
    return key is Ellipsis or (type(key) is slice and key == slice(None))


def locate(v: Any, name: str) -> Located:
    """What a name reaches: a component, or items of a sequence through slices.

    KeyError where there is no such component.
    """
    own: Layout = v._layout
    found = own._seek(name)
    if found is None:
        through = _through_slices(v, name)
        if through is not None:
            return through
        found = own._find(name)  # raises
    return v._offset + found[0], found[1], v._path + path_keys(own, name)


def _through_slices(v: Any, name: str) -> Located | None:
    """Where a path with slices leads; None where there is no slice."""
    try:
        keys: tuple[Any, ...] = parse_path(name)
    except ValueError:
        return None
    if not any(isinstance(key, slice) for key in keys):
        return None
    offset, node, path = v._offset, v._layout, v._path
    for key in keys:
        try:
            offset, node, path = _step(offset, node, path, key)
        except (AttributeError, IndexError) as error:
            raise KeyError(f"no component {name!r}: {error}") from None
    return offset, node, path


def _step(offset: int, node: Any, path: Path, key: Any) -> Located:
    """One key further: a name, a position or a slice of a sequence."""
    if isinstance(node, list):
        if isinstance(key, str):
            return stack(node, key, path)
        if isinstance(key, slice):
            return offset, node[key], path
        number, offset, node = node[key]
        return offset, node, (*path, number)
    if isinstance(key, slice) and isinstance(node, Layout) and node._kind == SEQUENCE:
        return offset, items_of(node, offset)[key], path
    child = node._child(key) if isinstance(node, Layout) else None
    if child is None:
        raise AttributeError(f"{format_path(path) or 'the root'!s} has no {format_path((key,))}")
    return offset + child[0], child[1], (*path, key)


# -- vectors of some components ------------------------------------------------------------------

#: a plan in the making: groups, new leaves, and the numbers of leaves that are carried over
Sketch = list[GroupPlan | LeafPlan | int]


class _Chosen(dict[Key, Any]):
    """What is chosen of a group, by key: again such a choice, or path and node of a component."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind


def select(v: Any, names: Sequence[str]) -> Any:
    """A new vector of some components, nesting kept, in the order of the names.

    A sequence stays one where its first items are chosen in order; else its positions are names.
    An alias stays tied where its owner is chosen as well.
    """
    return _select(v, names)[0]


def assign(v: Any, names: Sequence[str], value: Any) -> None:
    """Write several components: from a tree by name, by position, or one number to all."""
    chosen, kept = _select(v, names)
    if isinstance(value, list | tuple):
        value = as_leaf(value, ())
    put(chosen._root, 0, chosen._layout, (), value)
    writes = []
    for number, (_, at, leaf) in zip(kept, chosen._layout._leaves, strict=True):
        path, offset, place = v._layout._leaves[number]
        given = view(chosen._root, at, leaf)
        writes.append(checked(v._root, v._offset + offset, place, v._path + path, given))
    commit(v._root, writes)


def _select(v: Any, names: Sequence[str]) -> tuple[Any, list[int]]:
    """A vector of some components, and the numbers of its leaves in `v`."""
    own = layout(v)
    root = _Chosen(own._kind)
    for name in names:
        for keys in _expand(own, name):
            _choose(own, root, keys)
    sketch = _sketch(own, root)
    plans = carry(own, sketch)
    kept = [number for number in sketch if isinstance(number, int)]
    leaves = [plan for plan in plans if isinstance(plan, LeafPlan)]
    values = [
        read_leaf(v, number) if leaf.owner is None else None
        for number, leaf in zip(kept, leaves, strict=True)
    ]
    is_complex = [holds_complex(own, own._leaves[number][2]) for number in kept]
    found = Collected(plans, values, [False] * len(values))
    return fill(*lay_out(found, is_complex, own._dtype)), kept


def carry(own: Layout, sketch: Sketch) -> list[Plan]:
    """The plan of a sketch: leaves of `own` keep their ties where their owners come along."""
    old = own._leaf_plans
    leaves = [node for node in sketch if not isinstance(node, GroupPlan)]
    moved = {number: new for new, number in enumerate(leaves) if isinstance(number, int)}
    plans: list[Plan] = []
    for node in sketch:
        if isinstance(node, int):
            plan = numbers_only(old[node])
            if plan.owner is not None:
                owner = moved.get(plan.owner)
                plan = LeafPlan(plan.shape) if owner is None else plan._replace(owner=owner)
            node = plan
        plans.append(node)
    return plans


def numbers_by_path(own: Layout) -> dict[Path, int]:
    """The numbers of the leaves."""
    if "numbers" not in own._lazy:
        own._lazy["numbers"] = {path: i for i, (path, _, _) in enumerate(own._leaves)}
    return own._lazy["numbers"]


def read_leaf(v: Any, number: int) -> Any:
    """The value of a leaf by its number: a view, a scalar, or a traced array."""
    path, offset, leaf = v._layout._leaves[number]
    return v._at(v._offset + offset, leaf, v._path + path)


def _expand(own: Layout, name: str) -> list[Path]:
    """The keys of a name, positions counted from the start; slices stand for several."""
    if name in own._children:
        return [(name,)]
    try:
        keys: tuple[Any, ...] = parse_path(name)
    except ValueError:
        keys = ()
    reached: list[tuple[Path, Any]] = [((), own)] if keys else []
    for key in keys:
        following: list[tuple[Path, Any]] = []
        for path, node in reached:
            if isinstance(node, Leaf):
                continue
            count = len(node._children)
            wanted: Sequence[Any] = [key]
            if node._kind == SEQUENCE and isinstance(key, slice):
                wanted = range(*key.indices(count))
            elif node._kind == SEQUENCE and isinstance(key, int) and key < 0:
                wanted = [key + count]
            following += [
                ((*path, k), node._children[k][1])
                for k in wanted
                if isinstance(k, str | int) and k in node._children
            ]
        reached = following
    if not reached:
        own._find(name)  # raises
    return [path for path, _ in reached]


def _choose(own: Layout, root: _Chosen, keys: Path) -> None:
    """Add one component to the choice."""
    group, node = root, cast(Any, own)
    for depth, key in enumerate(keys[:-1], 1):
        node = node._children[key][1]
        taken = group.setdefault(key, _Chosen(node._kind))
        if not isinstance(taken, _Chosen):
            name = format_path(keys[:depth])
            raise ValueError(f"{format_path(keys)!r} lies in {name!r}, which is chosen already")
        group = taken
    if keys[-1] in group:
        raise ValueError(f"component {format_path(keys)!r} is chosen twice, whole or in part")
    group[keys[-1]] = (keys, node._children[keys[-1]][1])


def _sketch(own: Layout, root: _Chosen) -> Sketch:
    """The choice in preorder."""
    numbers = numbers_by_path(own)
    sketch: Sketch = []
    stack: list[Any] = [root]
    while stack:
        chosen = stack.pop()
        if isinstance(chosen, _Chosen):
            keys = tuple(chosen)
            kind = chosen.kind if is_range(keys) else MAPPING
            sketch.append(GroupPlan(kind, keys))
            stack += reversed(chosen.values())
            continue
        path, node = chosen
        if isinstance(node, Leaf):
            sketch.append(numbers[path])
            continue
        for rest, _, inner in node._walk():
            if isinstance(inner, Leaf):
                sketch.append(numbers[path + rest])
            else:
                sketch.append(GroupPlan(inner._kind, tuple(inner._children)))
    return sketch
