"""Reading and writing components of a buffer: views of places, and checks before any write."""

from __future__ import annotations

from typing import Any

import numpy as np

from .assembly import as_leaf, gather
from .paths import Path, format_path
from .places import Leaf
from .tracing import is_traced
from .tree import open_container

Write = tuple[np.ndarray, Any]  # a view, and what goes into it


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


def prepare(root: np.ndarray, offset: int, node: Any, path: Path, value: Any) -> list[Write]:
    """What is to be written so that a component takes a value, all of it checked.

    A leaf takes what broadcasts into it. A group takes a tree with all of its names, an array of
    its size, or a number. TypeError, KeyError or ValueError before anything is written.
    """
    if isinstance(node, Leaf):
        target = view(root, offset, node)
        return [(target, checked(value, target, path))]
    if open_container(value) is None:
        node._require_whole(path)
        target = root[offset : offset + node._size]
        return [(target, checked(value, target, path))]
    parts = gather(node, value, path)
    writes = []
    for where, start, leaf, given in parts:
        target = view(root, offset + start, leaf)
        array = checked(given, target, where)
        writes.append((target, array.copy() if np.may_share_memory(array, root) else array))
    if node._tied:
        _require_agreement(parts, writes)
    return writes


def checked(value: Any, target: np.ndarray, path: Path) -> np.ndarray:
    """The value as an array that can be written into a view, or an error that says why not."""
    name = format_path(path) or "the vector"
    if is_traced(value):
        raise TypeError(
            f"{name!r}: a value that autograd traces cannot be written in place; "
            "build a new vector, with componentvec.merge or layout.pack"
        )
    array = as_leaf(value, path)
    if array.dtype.kind == "c" and target.dtype.kind != "c":
        raise TypeError(f"{name!r} is real ({target.dtype}), got complex values ({array.dtype})")
    if array.shape != target.shape and array.shape != ():
        try:
            fits = np.broadcast_shapes(target.shape, array.shape) == target.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"{name!r} has shape {target.shape}, got shape {array.shape}")
    if not target.flags.writeable:
        raise ValueError(f"{name!r} is read-only")
    return array


def write(writes: list[Write]) -> None:
    """Write what was prepared."""
    for target, array in writes:
        target[...] = array


def _require_agreement(parts: list[tuple[Path, int, Leaf, Any]], writes: list[Write]) -> None:
    """ValueError where a tied alias is given another value than the entries it shares."""
    for number, (path, _, leaf, _) in enumerate(parts):
        if not leaf.alias:
            continue
        alias, given = writes[number]
        wanted = np.broadcast_to(given, alias.shape)
        for (other, _, owner, _), (target, array) in zip(parts, writes, strict=True):
            if owner.alias or not np.shares_memory(target, alias):
                continue
            before = target.copy()
            target[...] = array
            agree = np.array_equal(alias, wanted, equal_nan=True)
            target[...] = before
            if not agree:
                raise ValueError(disagreement(path, other))


def disagreement(alias: Path, owner: Path) -> str:
    """What is said where tied names are given unequal values."""
    return (
        f"{format_path(alias)!r} and {format_path(owner)!r} are tied, and were given unequal "
        "values; give one of them, or equal values"
    )
