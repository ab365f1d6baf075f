"""Reading and writing components of a buffer: views of places, and checks before any write."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .assembly import Part, as_leaf, gather, holds_complex, named, result_dtype
from .layouts import Layout
from .paths import MAPPING, Path, format_path
from .places import Leaf, Shape
from .tracing import is_traced, tracing
from .tree import open_container

#: what several items of a sequence are as one node: number, absolute offset and node of each
Items = list[tuple[int, int, Any]]


class Write(NamedTuple):
    """A leaf at an absolute offset, its view, and the checked array that goes into it."""

    path: Path
    offset: int
    leaf: Leaf
    target: np.ndarray
    array: np.ndarray


def view(root: np.ndarray, offset: int, leaf: Leaf) -> np.ndarray:
    """The array view of a leaf at an absolute offset (0-d for a scalar)."""
    if leaf.plain:
        return root[offset : offset + leaf.size].reshape(leaf.shape)
    dtype = root.dtype
    if leaf.pairs:
        dtype = np.dtype(f"{dtype.byteorder}c{2 * dtype.itemsize}")
    size = root.itemsize
    strides = tuple(step * size for step in leaf.strides)
    return np.ndarray(leaf.shape, dtype, root, offset * size, strides)


def fill(layout: Layout, parts: Sequence[Part]) -> Any:
    """A new vector from the values of its leaves, which have the shapes of the leaves."""
    if any(is_traced(value) for _, _, value in parts):
        return tracing.assemble(layout, [_in_kind(layout, *part) for part in parts])
    buffer = np.empty(layout._size, layout._dtype)
    for offset, leaf, value in parts:
        if leaf.plain and leaf.size:
            buffer[offset : offset + leaf.size].reshape(leaf.shape)[...] = value
        elif leaf.size:
            view(buffer, offset, leaf)[...] = value
    return layout.wrap(buffer)


def _in_kind(layout: Layout, offset: int, leaf: Leaf, value: Any) -> Part:
    """A part whose traced value is complex where the leaf is, so that gradients fit."""
    if holds_complex(layout, leaf) and is_traced(value) and result_dtype(value).kind != "c":
        value = value + 0j
    return offset, leaf, value


def put(root: np.ndarray, offset: int, node: Any, path: Path, value: Any) -> None:
    """Write a value into a component; everything is checked before anything is written.

    A leaf takes what broadcasts into it. A group takes a tree with all of its names, an array of
    its size, or a number. Several items of a sequence take as many values.
    """
    commit(root, prepare(root, offset, node, path, value))


def prepare(root: np.ndarray, offset: int, node: Any, path: Path, value: Any) -> list[Write]:
    """What is to be written so that a component takes a value, each array of it checked."""
    if isinstance(node, Leaf):
        return [checked(root, offset, node, path, value)]
    if isinstance(node, list):
        return _prepare_items(root, node, path, value)
    if open_container(value) is None:
        node._require_whole(path)
        return [checked(root, offset, Leaf(node._shape), path, value)]
    return [
        checked(root, offset + at, leaf, where, given)
        for where, at, leaf, given in gather(node, value, path)
    ]


def _prepare_items(root: np.ndarray, items: Items, path: Path, value: Any) -> list[Write]:
    """What is to be written into several items of a sequence.

    They take as many values, or one number each; names, where they have equal layouts, take the
    values of all items at once.
    """
    group = open_container(value)
    if group is not None and group.kind == MAPPING:
        if not items or not are_even(items) or isinstance(items[0][2], Leaf):
            raise ValueError(f"{named(path)}: items with unequal layouts take values one by one")
        return [
            checked(root, *stacked(items, at, leaf), where, given)
            for where, at, leaf, given in gather(items[0][2], value, path)
        ]
    values: Sequence[Any]
    if group is not None:
        values = group.values
    else:
        array = numbers(value, np.dtype(complex), path)
        values = tuple(array) if array.ndim else (value,) * len(items)
    if len(values) != len(items):
        raise ValueError(f"{named(path)}: expected {len(items)} items, got {len(values)}")
    writes: list[Write] = []
    for (number, offset, node), item in zip(items, values, strict=True):
        writes += prepare(root, offset, node, (*path, number), item)
    return writes


def are_even(items: Items) -> bool:
    """Whether items have equal layouts at even steps, so that one view reaches all of them."""
    steps = {b - a for (_, a, _), (_, b, _) in itertools.pairwise(items)}
    first = items[0][2]
    return len(steps) <= 1 and all(
        isinstance(node, Layout) and node == first for _, _, node in items
    )


def stacked(items: Items, at: int, leaf: Leaf) -> tuple[int, Leaf]:
    """The leaf at one place of even items, all of them at once: an offset, and the leaf."""
    first = items[0][1]
    step = items[1][1] - first if len(items) > 1 else leaf.size
    rows = Leaf((len(items), *leaf.shape), (step, *leaf.strides), pairs=leaf.pairs)
    return first + at, rows


def checked(root: np.ndarray, offset: int, leaf: Leaf, path: Path, value: Any) -> Write:
    """The value as an array that can be written into a leaf, or an error that says why not."""
    target = view(root, offset, leaf)
    array = numbers(value, target.dtype, path, target.shape)
    if array.shape != target.shape and array.shape != ():
        try:
            fits = np.broadcast_shapes(target.shape, array.shape) == target.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"{named(path)} has shape {target.shape}, got shape {array.shape}")
    if not target.flags.writeable:
        raise ValueError(f"{named(path)} is read-only; copy it first")
    return Write(path, offset, leaf, target, array)


def numbers(value: Any, dtype: np.dtype, path: Path, shape: Shape | None = None) -> np.ndarray:
    """The value as an array of numbers that memory of a dtype, and of a shape, can take."""
    if is_traced(value):
        raise TypeError(
            f"{named(path)}: a value that autograd traces cannot be written in place; "
            "build a new vector, with componentvec.merge or layout.pack"
        )
    array: np.ndarray = as_leaf(value, path, shape)
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{named(path)} is real ({dtype}), got complex values ({array.dtype})")
    return array


def commit(root: np.ndarray, writes: Sequence[Write]) -> None:
    """Write what was prepared; ValueError before that where tied names disagree."""
    if len(writes) > 1:  # they may be given from one another
        writes = [
            write._replace(array=write.array.copy())
            if np.may_share_memory(write.array, root)
            else write
            for write in writes
        ]
    if any(write.leaf.alias or 0 in write.leaf.strides for write in writes):
        require_agreement(root.dtype, writes)
    for write in writes:
        write.target[...] = write.array


def require_agreement(dtype: np.dtype, writes: Sequence[Write]) -> None:
    """ValueError where tied names are given unequal values; tried out in memory of its own."""
    extents = [write.leaf.extent(write.offset) for write in writes]
    low = min(first for first, _ in extents)
    scratch = np.empty(max(last for _, last in extents) - low, dtype)
    targets = [view(scratch, write.offset - low, write.leaf) for write in writes]
    for target, write in zip(targets, writes, strict=True):
        target[...] = write.array
    for number, (target, write) in enumerate(zip(targets, writes, strict=True)):
        wanted = np.broadcast_to(write.array, target.shape).astype(target.dtype)
        if np.array_equal(target, wanted, equal_nan=True):
            continue
        others = [
            other.path
            for k, other in enumerate(writes)
            if k != number and np.shares_memory(targets[k], target)
        ]
        if not others:
            raise ValueError(
                f"{format_path(write.path)!r} has items that share memory, and they were given "
                "unequal values"
            )
        raise ValueError(disagreement(write.path, others[0]))


def disagreement(alias: Path, owner: Path) -> str:
    """What is said where tied names are given unequal values."""
    return (
        f"{format_path(alias)!r} and {format_path(owner)!r} are tied, and were given unequal "
        "values; give one of them, or equal values"
    )
