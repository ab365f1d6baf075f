"""New vectors from trees: `pack` by the names of a layout, `merge` where they change."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

import numpy as np

from . import layouts
from .access import disagreement, fill, view
from .assembly import (
    Collected,
    Kind,
    Part,
    as_leaf,
    choose_dtype,
    collect,
    gather,
    holds_complex,
    is_all_pairs,
    is_leaf,
    is_weak,
    kinds_of,
    lay_out,
    real_dtype,
    result_dtype,
)
from .conveniences import data, is_vector, layout
from .layouts import Layout
from .paths import MAPPING, SEQUENCE, Key, Path, check_key, format_path
from .places import GroupPlan, Leaf, LeafPlan
from .selection import Sketch, carry, numbers_by_path, read_leaf
from .tracing import is_traced, tracing, untraced
from .tree import open_container
from .vector import graft, join

Given = tuple[Path, int, Leaf, Any]  # path, offset, leaf, value


def pack(layout: Layout, tree: Any, spare: Container[Path] = ()) -> Any:
    """`Layout.pack`; what stands at the `spare` paths of the tree is passed over."""
    layout._require_whole()
    arrays = None if layout._tied or spare else _flat_arrays(layout, tree)
    if arrays:
        return layout.wrap(np.concatenate(arrays))
    parts = gather(layout, tree, spare=spare)
    for path, _, leaf, value in parts:
        given = np.shape(untraced(value))
        if given != leaf.shape:
            raise ValueError(f"{format_path(path)!r} has shape {leaf.shape}, got shape {given}")
        if leaf.size and not holds_complex(layout, leaf) and result_dtype(value).kind == "c":
            raise TypeError(f"{format_path(path)!r} is real, got complex values")
    v = fill(layout, [(at, leaf, value) for _, at, leaf, value in parts if not leaf.alias])
    if layout._tied:
        _require_ties(layout, v, parts)
    return v


def _flat_arrays(layout: Layout, tree: Any) -> list[np.ndarray] | None:
    """The leaves of a tree as flat arrays, in order; None where anything is not as it is stored.

    This is the most frequent case, and needs no more than one look at each leaf.
    """
    arrays: list[np.ndarray] = []
    dtype = layout._dtype
    stack = _open_same(layout, tree)
    while stack:
        children, values = stack[-1]
        for key, (_, node) in children:
            value = values[key]
            if type(value) is np.ndarray and type(node) is Leaf:
                if value.dtype is not dtype or value.shape != node.shape or not node.plain:
                    return None
                arrays.append(value.reshape(-1))
                continue
            inner = None if type(node) is Leaf else _open_same(node, value)
            if inner is None:
                return None
            stack += inner
            break
        else:
            stack.pop()
    return arrays


def _open_same(node: Any, value: Any) -> list[Any] | None:
    """Children of a group and their values, if a plain dict or list has just its names."""
    if type(value) is dict:
        same = value.keys() == node._children.keys()
    else:
        same = type(value) is list and node._kind == SEQUENCE and len(value) == len(node._children)
    return [(iter(node._children.items()), value)] if same else None


def merge(v: Any, other: Any = None, /, **components: Any) -> Any:
    """A new vector with components replaced or added, and groups merged name by name.

    Parameters
    ----------
    v
        A ComponentVector, which stays as it is.
    other
        A dict, dataclass, namedtuple or ComponentVector of components; for a vector that was made
        from a list, a list.
    **components
        Further components by name.

    Returns
    -------
    ComponentVector
        With memory of its own. Components of `v` keep their order, and new ones follow. A value
        of the same shape is written in its place, through a tie to the shared one; with another
        shape it replaces the component, and ends its ties: aliases of it keep the old values as
        entries of their own. Lists of equal length merge item by item. The dtype is what
        `ComponentVector` would choose.

    Raises
    ------
    TypeError
        Where `v` is no vector, or a value no component.
    ValueError
        Where a name is given twice, or tied names are given unequal values.

    Notes
    -----
    Differentiable with respect to `v` and to all values.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=1.0, b=[2.0, 3.0], c={"w": 4.0, "x": 5.0})
    >>> cv.merge(v, b=[6.0], c={"w": 7.0}, d=8.0).tolist()
    [1.0, 6.0, 7.0, 5.0, 8.0]
    """
    if not is_vector(v):
        raise TypeError(f"merge expected a ComponentVector, got {type(v).__name__}")
    if other is None:
        tree: Any = components
    else:
        tree = join(other, components) if components else other
    own = layout(v)
    return _assemble(v, own, _merge_trees(own, tree))


class _Merged(NamedTuple):
    """A merged tree in preorder, and the value that is given for each leaf (None: none is)."""

    sketch: Sketch
    given: list[Any]
    weak: list[bool]
    new: list[Path]  # where components were replaced or added


_KEPT = object()  # stands where no value is given


def _merge_trees(own: Layout, tree: Any) -> _Merged:
    """Merge new values into the tree of a layout."""
    numbers = numbers_by_path(own)
    merged = _Merged([], [], [], [])
    stack: list[tuple[Path, Any, Any]] = [((), own, tree)]
    while stack:
        path, node, value = stack.pop()
        if isinstance(node, Layout):
            changes = {} if value is _KEPT else _changes(node, value, path)
            if changes is not None:
                keys = tuple(dict.fromkeys((*node._children, *changes)))
                merged.sketch.append(GroupPlan(node._kind, keys))
                for key in reversed(keys):
                    _, child = node._children.get(key, (0, None))
                    stack.append(((*path, key), child, changes.get(key, _KEPT)))
                continue
        elif isinstance(node, Leaf) and (value is _KEPT or _fits(own, node, value, path)):
            merged.sketch.append(numbers[path])
            merged.given.append(None if value is _KEPT else as_leaf(value, path))
            merged.weak.append(value is not _KEPT and is_weak(value))
            continue
        _add(merged, collect(value, graft, path))
        merged.new.append(path)
    return merged


def _changes(node: Layout, value: Any, path: Path) -> dict[Key, Any] | None:
    """What a value changes in a group, by key; None where it takes the place of the group."""
    listed = node._kind == SEQUENCE and isinstance(value, list | tuple)
    group = open_container(value) if listed or not is_leaf(value, path) else None
    if group is not None:
        keys = [check_key(key, path) for key in group.keys]
        changes = dict(zip(keys, group.values, strict=True))
        same = node._children.keys() >= changes.keys()
        if group.kind == MAPPING and (node._kind == MAPPING or same):
            return changes
        if group.kind == node._kind == SEQUENCE and (same and len(keys) == len(node._children)):
            return changes
    if not path and not (group is not None and group.kind == node._kind):
        kinds = {MAPPING: "components by name", SEQUENCE: "a list, or a dict by position"}
        raise TypeError(f"merge expected {kinds[node._kind]}, got {type(value).__name__}")
    return None


def _fits(own: Layout, leaf: Leaf, value: Any, path: Path) -> bool:
    """Whether a value can be written into a leaf: of the same shape, and of no larger kind."""
    if is_vector(value) or (not is_leaf(value, path) and open_container(value) is not None):
        return False
    array = as_leaf(value, path)
    fits_kind = holds_complex(own, leaf) or result_dtype(array).kind != "c"
    return np.shape(untraced(array)) == leaf.shape and fits_kind


def _add(merged: _Merged, found: Collected) -> None:
    """Add a new subtree."""
    first = len(merged.given)
    for plan in found.plans:
        if isinstance(plan, LeafPlan) and plan.owner is not None:
            plan = plan._replace(owner=first + plan.owner)
        merged.sketch.append(plan)
    merged.given.extend(found.values)
    merged.weak.extend(found.weak)


def _assemble(v: Any, own: Layout, merged: _Merged) -> Any:
    """The vector of a merged tree."""
    sketch, given, weak, new = merged
    plans = carry(own, sketch)
    sources = [node for node in sketch if not isinstance(node, GroupPlan)]
    leaves = [plan for plan in plans if isinstance(plan, LeafPlan)]
    values: list[Any] = []
    for source, plan, value in zip(sources, leaves, given, strict=True):
        if plan.owner is not None:
            value = None  # what is given for an alias goes to its owner, below
        elif value is None:
            assert isinstance(source, int)
            value = read_leaf(v, source)
        values.append(value)
    found = Collected(plans, values, weak)
    kinds = kinds_of(found)
    for number, source in enumerate(sources):
        if isinstance(source, int) and holds_complex(own, own._leaves[source][2]):
            dtype, no_say, size = kinds[number]
            kinds[number] = np.result_type(dtype, np.complex64), no_say, size
    said = [
        (result_dtype(value), no_say, np.size(untraced(value)))
        for value, no_say in zip(given, weak, strict=True)
        if value is not None
    ]
    chosen = _choose_dtype(own, kinds, said)
    if own._outside is None and not new:
        made = own._with_dtype(chosen)
    else:
        made, _ = lay_out(found, [kind.kind == "c" for kind, _, _ in kinds], chosen)
    return _fill_tied(made, values, given)


def _choose_dtype(own: Layout, kinds: list[Kind], said: list[Kind]) -> np.dtype:
    """What the constructor would choose for the leaves, where the old dtype has a say.

    Integers stay integers among integers, and pairs (re, im) stay pairs.
    """
    old = own._dtype
    if old.kind in "biu" and all(dtype.kind in "biu" for dtype, _, _ in said):
        weak = [False if dtype.kind == "b" else 0 for dtype, no_say, _ in said if no_say]
        return np.result_type(old, *[dtype for dtype, no_say, _ in said if not no_say], *weak)
    kinds = [kind for kind in (*kinds, *said) if kind[2]]
    whole = all(dtype.kind == "c" for dtype, _, _ in kinds)
    if is_all_pairs(own):
        kinds.append((old, False, 1))  # real, whatever the others are
    elif own._size:
        say = np.result_type(old, np.complex64) if whole else real_dtype(old)
        kinds.append((say, False, 1))
    return choose_dtype(kinds)


def _fill_tied(made: Layout, values: list[Any], given: list[Any]) -> Any:
    """A vector of the values of owners, and of what is given for their aliases."""
    places = list(zip(made._leaves, values, strict=True))
    parts: dict[int, Part] = {
        number: (at, leaf, value)
        for number, ((_, at, leaf), value) in enumerate(places)
        if value is not None
    }
    patches: list[Part] = []
    tied: list[Given] = []
    replaced: set[int] = set()
    for (path, at, leaf), value in zip(made._leaves, given, strict=True):
        if value is None or not leaf.alias:
            continue
        tied.append((path, at, leaf, value))
        owner = made._owner_of(at, leaf)
        assert owner is not None
        if given[owner] is not None or owner in replaced:
            continue  # has to agree with it
        if leaf.size == made._leaves[owner][2].size:
            parts[owner] = at, leaf, value
            replaced.add(owner)
        else:
            patches.append((at, leaf, value))
    result = fill(made, list(parts.values()))
    for at, leaf, value in patches:
        result = _patched(made, result, at, leaf, value)
    _require_ties(made, result, tied)
    return result


def _patched(made: Layout, old: Any, at: int, leaf: Leaf, value: Any) -> Any:
    """A vector with one of its leaves replaced; a plain one is written in place."""
    if not is_traced(old) and not is_traced(value):
        view(old._root, at, leaf)[...] = value
        return old
    mask = np.zeros(made._size, dtype=bool)
    mask[leaf.entries(at)] = True
    new = fill(made, [(at, leaf, value)])
    return made.wrap(tracing.where(mask, data(new), data(old)))


def _require_ties(made: Layout, v: Any, parts: Iterable[Given]) -> None:
    """ValueError where an alias was given another value than its owner."""
    buffer = untraced(data(v))
    for path, offset, leaf, value in parts:
        if not leaf.alias:
            continue
        stored = view(buffer, offset, leaf)
        wanted = np.asarray(untraced(value)).astype(stored.dtype)
        if not np.array_equal(stored, wanted, equal_nan=True):
            owner = made._owner_of(offset, leaf)
            assert owner is not None
            raise ValueError(disagreement(path, made._leaves[owner][0]))


layouts.above.pack = pack
