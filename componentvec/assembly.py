"""From nested trees of values to leaves: what is one array, what is a group, and which dtype.

`collect` reads a tree whose names are new, `gather` one whose names a layout prescribes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .layouts import Layout
from .paths import MAPPING, SEQUENCE, Path, check_key, format_path, listing, unknown
from .places import GroupPlan, Leaf, LeafPlan, Plan, Shape
from .tracing import is_traced, tracing, untraced
from .tree import open_container

_NUMBERS = (int, float, complex, np.number, np.bool_)
_NUMERIC = "biufc"
Part = tuple[int, Leaf, Any]  # offset, leaf, value
Kind = tuple[np.dtype, bool, int]  # dtype, whether it has no say (Python's own numbers), size


class Collected(NamedTuple):
    """A tree taken apart: its plan, in numbers, and the value of each leaf (None: an alias)."""

    plans: list[Plan]
    values: list[Any]
    weak: list[bool]  # Python numbers have no say in the dtype


def collect(
    tree: Any, graft: Callable[[Any], tuple[Layout, list[Any]] | None], prefix: Path = ()
) -> Collected:
    """Take a tree apart; `graft` gives layout and leaves of values that are vectors already."""
    found = Collected([], [], [])
    active: set[int] = set()
    stack: list[tuple[Path, Any] | int] = [(prefix, tree)]
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            active.discard(item)
            continue
        path, value = item
        vector = graft(value)
        if vector is not None:
            _graft(found, *vector)
            continue
        group = None if is_leaf(value, path) else open_container(value)
        if group is None:
            array = as_leaf(value, path)
            found.plans.append(LeafPlan(_shape(array)))
            found.values.append(array)
            found.weak.append(is_weak(value))
            continue
        if id(value) in active:
            raise ValueError(f"the tree contains itself at {format_path(path)!r}")
        active.add(id(value))
        keys = tuple(check_key(key, path) for key in group.keys)
        found.plans.append(GroupPlan(group.kind, keys))
        stack.append(id(value))
        children = zip(keys, group.values, strict=True)
        stack.extend(reversed([((*path, key), child) for key, child in children]))
    return found


def _graft(found: Collected, layout: Layout, values: list[Any]) -> None:
    """Add the plan and the leaves of a vector, ties included."""
    number = first = len(found.values)
    for plan in layout._plan():
        if isinstance(plan, LeafPlan):
            value = values[number - first]
            number += 1
            if plan.owner is not None:
                plan, value = plan._replace(owner=first + plan.owner), None
            plan = numbers_only(plan)
            found.values.append(value)
            found.weak.append(False)
        found.plans.append(plan)


def numbers_only(plan: LeafPlan) -> LeafPlan:
    """The plan with strides counted in numbers, where pairs counted them in entries."""
    if not plan.pairs:
        return plan
    strides = None if plan.strides is None else tuple(step // 2 for step in plan.strides)
    return LeafPlan(plan.shape, strides, plan.owner, plan.start // 2)


def as_pairs(plan: LeafPlan) -> LeafPlan:
    """The plan of the same leaf stored as pairs (re, im)."""
    strides = None if plan.strides is None else tuple(step * 2 for step in plan.strides)
    return LeafPlan(plan.shape, strides, plan.owner, plan.start * 2, True)


def settle(found: Collected, dtype: Any) -> tuple[Layout, list[Part]]:
    """Choose the dtype, pair up complex leaves where the vector is real, and lay all out."""
    kinds = kinds_of(found)
    chosen = choose_dtype(kinds) if dtype is None else _given_dtype(dtype)
    return lay_out(found, [kind.kind == "c" for kind, _, _ in kinds], chosen)


def kinds_of(found: Collected) -> list[Kind]:
    """Dtype, weakness and size of each leaf; an alias is as its owner, and has no say."""
    kinds = [
        (np.dtype(bool) if value is None else result_dtype(value), weak, np.size(untraced(value)))
        for value, weak in zip(found.values, found.weak, strict=True)
    ]
    leaves = [plan for plan in found.plans if isinstance(plan, LeafPlan)]
    for number, leaf in enumerate(leaves):
        if leaf.owner is not None:
            kinds[number] = (kinds[leaf.owner][0], True, 0)
    return kinds


def choose_dtype(kinds: Sequence[Kind]) -> np.dtype:
    """NumPy's result type of all leaves; real where real and complex ones meet."""
    counted = [(dtype, weak) for dtype, weak, size in kinds if size]
    complex_ones = [dtype.kind == "c" for dtype, _ in counted]
    mixed = any(complex_ones) and not all(complex_ones)
    strong = [d if d.kind in "fc" else np.dtype(float) for d, weak in counted if not weak]
    if mixed:
        strong = [real_dtype(dtype) for dtype in strong]
    if not strong:
        return np.dtype(complex if any(complex_ones) and not mixed else float)
    chosen = np.result_type(*strong)
    # Pairs of half floats would be no complex number that NumPy has.
    return np.result_type(chosen, np.float32) if mixed else chosen


def lay_out(
    found: Collected, is_complex: Sequence[bool], dtype: np.dtype
) -> tuple[Layout, list[Part]]:
    """The layout of a vector of that dtype, and the values of its leaves with their places."""
    plans: list[Plan] = []
    number = 0
    plan: Plan
    for plan in found.plans:
        if isinstance(plan, LeafPlan):
            if is_complex[number] and dtype.kind != "c" and 0 not in plan.shape:
                if dtype.kind != "f" or dtype.itemsize < 4:
                    raise TypeError(f"complex components do not fit into a vector of {dtype}")
                plan = as_pairs(plan)
            number += 1
        plans.append(plan)
    layout = Layout._build(plans, dtype)
    places = zip(layout._leaves, found.values, strict=True)
    return layout, [(at, leaf, value) for (_, at, leaf), value in places if value is not None]


def holds_complex(layout: Layout, leaf: Leaf) -> bool:
    """Whether a leaf holds complex numbers."""
    return leaf.pairs or layout._dtype.kind == "c"


def is_all_pairs(layout: Layout) -> bool:
    """Whether all numbers are stored as pairs: by itself such a tree would be complex."""
    return layout._paired and all(leaf.pairs or not leaf.size for _, _, leaf in layout._leaves)


def _given_dtype(dtype: Any) -> np.dtype:
    """A dtype that the caller asks for."""
    chosen = np.dtype(dtype)
    if chosen.kind not in _NUMERIC:
        raise TypeError(f"dtype must be numeric, got {chosen}")
    return chosen


def gather(
    layout: Layout, tree: Any, prefix: Path = (), spare: Container[Path] = ()
) -> list[tuple[Path, int, Leaf, Any]]:
    """Path, offset, leaf and value for each leaf of a tree that has the names of `layout`.

    Tied aliases may be left out, and what stands at the `spare` paths is passed over. KeyError for
    missing or unknown names, TypeError for what is no group where one is expected.
    """
    parts: list[tuple[Path, int, Leaf, Any]] = []
    stack: list[tuple[Path, int, Any, Any]] = [(prefix, 0, layout, tree)]
    while stack:
        path, offset, node, value = stack.pop()
        if isinstance(node, Leaf):
            parts.append((path, offset, node, as_leaf(value, path, node.shape)))
            continue
        group = open_container(value)
        if group is None:
            raise TypeError(
                f"{format_path(path) or 'the tree'}: expected a {node._kind} of "
                f"{listing(node._names())}, got {type(value).__name__}"
            )
        names = [check_key(key, path) for key in group.keys]
        given = dict(zip(names, group.values, strict=True))
        for key in names:
            if key not in node._children and (*path, key) not in spare:
                if group.kind == SEQUENCE and node._kind == MAPPING:
                    raise KeyError(
                        f"no component {format_path((*path, key))!r}: expected a mapping with "
                        f"{listing(node._names())}, got a {type(value).__name__}, which is a "
                        "tree here; a flat vector is np.array([...])"
                    )
                known = [format_path((*path, name)) for name in node._children]
                raise KeyError(unknown(format_path((*path, key)), known))
        children: list[tuple[Path, int, Any, Any]] = []
        for key, (start, child) in node._children.items():
            if (*path, key) in spare:
                continue
            if key in given:
                children.append(((*path, key), offset + start, child, given[key]))
            elif not _only_aliases(child):
                expected = [format_path((*path, name)) for name in node._children]
                raise KeyError(
                    f"no value for component {format_path((*path, key))!r}; "
                    f"expected: {listing(expected)}"
                )
        stack.extend(reversed(children))
    return parts


def _only_aliases(node: Any) -> bool:
    """Whether a component consists of tied aliases, and may be left out."""
    if isinstance(node, Leaf):
        return node.alias
    leaves = node._leaves
    return bool(leaves) and all(leaf.alias for _, _, leaf in leaves)


def as_leaf(value: Any, path: Path, shape: Shape | None = None) -> Any:
    """A value as one numeric array (traced ones stay traced), or a TypeError with its path.

    `shape` is what is expected, for errors.
    """
    if is_traced(value):
        return value
    if type(value) is np.ndarray and value.dtype.kind in _NUMERIC:
        return value
    listed = isinstance(value, list | tuple)
    if listed and any(is_traced(item) for item in _items(value)):
        return tracing.stack(value)
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{named(path)}: a masked array has no place for its mask")
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and (_all_numbers(value) if listed else type(value) is int):
            is_complex = any(isinstance(item, complex) for item in _items([value]))
            array = np.asarray(value, complex if is_complex else float)  # long integers
        elif listed and array.size:
            array = _of_precision(array, value)
    except OverflowError:
        raise ValueError(f"{named(path)}: an integer is too large for a float") from None
    except ValueError:
        raise TypeError(
            f"{named(path)}: a ragged list of numbers is no array; "
            "make it a list of arrays for a sequence of components"
        ) from None
    if array.dtype.kind in _NUMERIC:
        return array
    expected = "numbers, arrays, or dicts, lists and tuples of them"
    if shape is not None:
        expected = f"numbers of shape {shape}" if shape else "a number"
    raise TypeError(f"{named(path)}: expected {expected}, got {_describe(value, shape is None)}")


def _describe(value: Any, is_new: bool) -> str:
    """A value that is no component, and, where names are new, what to do with it."""
    kind = type(value).__name__
    if open_container(value) is not None:
        return f"a {kind}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of type {kind}"
    if value is None:
        return "None" + ("; leave it out" if is_new else "")
    described = f"{repr(value)[:60]} of type {kind}"
    if is_new and type(value).__module__ not in ("builtins", "numpy"):
        described += f"; cv.register({kind}) makes it a group, cv.destructure takes whole models"
    return described


def named(path: Path) -> str:
    """A path as an error shows it."""
    return repr(format_path(path) or "the vector")


def _of_precision(array: np.ndarray, value: Any) -> np.ndarray:
    """The array of a list in which NumPy scalars alone say the precision."""
    items = list(_items(value))
    strong = {item.dtype for item in items if isinstance(item, np.generic)}
    if not strong or (len(strong) == 1 and all(isinstance(item, np.generic) for item in items)):
        return array
    kinds = [dtype if dtype.kind in "fc" else np.dtype(float) for dtype in strong]
    one = 1j if array.dtype.kind == "c" else 1.0
    return array.astype(np.result_type(*kinds, one), copy=False)


def is_leaf(value: Any, path: Path) -> bool:
    """Whether a value is one array: at the root a list is always a sequence."""
    if isinstance(value, np.ndarray | np.generic | int | float | complex | str | None):
        return True
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return bool(path) and _all_numbers(value)
    return False


def _all_numbers(value: Any) -> bool:
    """Whether a nested list holds numbers only."""
    return all(isinstance(untraced(item), _NUMBERS) for item in _items(value))


def _items(value: Any) -> Iterator[Any]:
    """What a nested list holds, at any depth that an array can have."""
    stack = [iter(value)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, list | tuple) and not hasattr(item, "_fields") and len(stack) < 64:
                stack.append(iter(item))
                break
            yield item
        else:
            stack.pop()


def is_weak(value: Any) -> bool:
    """Whether a value is made of Python numbers alone."""
    if isinstance(value, list | tuple):
        return not any(isinstance(item, np.generic) or is_traced(item) for item in _items(value))
    return isinstance(value, int | float | complex) and not isinstance(value, np.generic)


def _shape(value: Any) -> tuple[int, ...]:
    """Shape of a plain or traced array."""
    return np.shape(untraced(value))


def result_dtype(value: Any) -> np.dtype:
    """Dtype of a plain or traced array."""
    return np.asarray(untraced(value)).dtype


def real_dtype(dtype: np.dtype) -> np.dtype:
    """Dtype of the real parts of numbers."""
    return np.empty(0, dtype).real.dtype
