"""The memory of a leaf, and the storage that an owner has for it in a buffer.

Addresses, steps and bounds count bytes of the memory that a leaf has now; positions, strides and
weights count entries of the storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Ints = tuple[int, ...]

_CHUNK = 2**16  # entries that are looked at in one go


class Place(NamedTuple):
    """Where a leaf lies.

    An owner is stored by itself, without gaps; all positions count from the lowest entry of its
    storage, to which `start` adds the entries up to the first entry of the leaf. The `start` of
    an owner is 0 except where its storage keeps a memory order that some axis runs backwards.
    """

    owner: int | None
    start: int
    strides: Ints


class Memory(NamedTuple):
    """An array as places in memory. `low` and `high` bound its bytes."""

    number: int
    array: np.ndarray
    address: int
    low: int
    high: int
    unit: int  # greatest common divisor of the steps; 0 for a single entry


class Storage(NamedTuple):
    """An owner's memory and the positions of its entries.

    An axis is its extent, its step in memory and its weight, which is the step in the storage.
    Axes go from the longest step to the shortest, upwards from the lowest address, which has the
    position `base`; neighbours that make one even axis in memory and in storage are merged.
    `nested`: each step is longer than all the shorter axes together.
    """

    place: Place
    leaf: Memory
    base: int
    axes: tuple[tuple[int, int, int], ...]
    nested: bool


def store(leaf: Memory, *, by_memory: bool) -> Storage:
    """Lay a leaf out as an owner: in the order of its memory or in C order."""
    shape, steps = leaf.array.shape, leaf.array.strides
    upwards = sorted((k for k, n in enumerate(shape) if n > 1), key=lambda k: abs(steps[k]))
    strides = list(c_strides(shape))
    if by_memory:
        known: dict[int, int] = {}
        position = 1
        for k in upwards:
            known[k] = position if steps[k] > 0 else -position
            position *= shape[k]
        strides = _complete(shape, known)
    start = sum((1 - n) * w for n, w in zip(shape, strides) if w < 0)
    base = start
    axes: list[tuple[int, int, int]] = []
    span, nested = leaf.array.itemsize, True
    for k in upwards:
        n, step, weight = shape[k], steps[k], strides[k]
        if step < 0:
            base += (n - 1) * weight
            step, weight = -step, -weight
        nested = nested and step >= span
        span += (n - 1) * step
        if axes:
            m, shorter, lighter = axes[-1]
            if step == m * shorter and weight == m * lighter:
                axes[-1] = n * m, shorter, lighter
                continue
        axes.append((n, step, weight))
    place = Place(None, start, tuple(strides))
    return Storage(place, leaf, base, tuple(reversed(axes)), nested)


def read(
    storage: Storage, leaf: Memory, *, known_inside: bool = False
) -> tuple[bool, Place | None]:
    """Whether an owner contains a leaf, and the place of the leaf if there is one.

    Where adding up the axes of the leaf never carries from one axis of the owner to the next,
    positions are linear in the indices. Else all entries are looked at.
    """
    if not storage.nested:
        return _read_entries(storage, leaf, known_inside)
    shape, origin = leaf.array.shape, leaf.address - storage.leaf.low
    first = _digits(storage, origin)
    if first is None:
        return False, None
    least, most = [*first], [*first]
    strides: dict[int, int] = {}
    for k, (n, step) in enumerate(zip(shape, leaf.array.strides)):
        if n == 1:
            continue
        second = _digits(storage, origin + step)
        if second is None:
            return False, None
        strides[k] = 0
        for i, (_, _, weight) in enumerate(storage.axes):
            move = second[i] - first[i]
            strides[k] += move * weight
            (most if move > 0 else least)[i] += (n - 1) * move
    if min(least, default=0) >= 0 and all(m < axis[0] for m, axis in zip(most, storage.axes)):
        start = storage.base + sum(digit * axis[2] for digit, axis in zip(first, storage.axes))
        return True, Place(storage.leaf.number, start, tuple(_complete(shape, strides)))
    if len(storage.axes) == 1:
        return False, None  # nothing to carry to: the farthest entries are outside
    return _read_entries(storage, leaf, known_inside)


def _digits(storage: Storage, offset: int) -> list[int] | None:
    """The index of an entry along the axes of a storage, or None if it is not in it."""
    digits: list[int] = []
    for n, step, _ in storage.axes:
        digit, offset = divmod(offset, step)
        if not 0 <= digit < n:
            return None
        digits.append(digit)
    return None if offset else digits


def _read_entries(storage: Storage, leaf: Memory, known_inside: bool) -> tuple[bool, Place | None]:
    """What `read` tells, by looking at every entry, some at a time."""
    origin = leaf.address - storage.leaf.low
    axes = [
        (k, n, step)
        for k, (n, step) in enumerate(zip(leaf.array.shape, leaf.array.strides))
        if n > 1
    ]
    extents = [n for _, n, _ in axes] or [1]  # there is no index into a shape without axes
    table = None if storage.nested else _table(storage)
    probes = _positions(storage, table, np.array([origin, *(origin + step for _, _, step in axes)]))
    if np.any(probes < 0):
        return False, None
    start, *ends = probes.tolist()
    strides = [end - start for end in ends]
    linear = True
    for low in range(0, leaf.array.size, _CHUNK):
        count = np.arange(low, min(low + _CHUNK, leaf.array.size))
        offsets, expected = np.full_like(count, origin), np.full_like(count, start)
        for index, (_, _, step), stride in zip(np.unravel_index(count, extents), axes, strides):
            offsets += index * step
            expected += index * stride
        positions = _positions(storage, table, offsets)
        if np.any(positions < 0):
            return False, None
        linear = linear and bool(np.all(positions == expected))
        if not linear and known_inside:
            break
    if not linear:
        return True, None
    known = {k: stride for (k, _, _), stride in zip(axes, strides)}
    place = Place(storage.leaf.number, start, tuple(_complete(leaf.array.shape, known)))
    return True, place


def _positions(
    storage: Storage, table: tuple[np.ndarray, np.ndarray] | None, offsets: np.ndarray
) -> np.ndarray:
    """Positions of the entries at these offsets; -1 where there is none."""
    if table is not None:
        known, positions = table
        at = np.minimum(np.searchsorted(known, offsets), known.size - 1)
        return np.where(known[at] == offsets, positions[at], -1)
    found, inside = np.full_like(offsets, storage.base), np.ones(offsets.shape, dtype=bool)
    for n, step, weight in storage.axes:
        digits, offsets = np.divmod(offsets, step)
        inside &= (digits >= 0) & (digits < n)
        found += digits * weight
    return np.where(inside & (offsets == 0), found, -1)


def _table(storage: Storage) -> tuple[np.ndarray, np.ndarray]:
    """Offsets of all entries in rising order, and their positions."""
    offsets, positions = np.zeros(1, dtype=np.int64), np.full(1, storage.base)
    for n, step, weight in storage.axes:
        count = np.arange(n, dtype=np.int64)
        offsets = np.add.outer(offsets, count * step).ravel()
        positions = np.add.outer(positions, count * weight).ravel()
    order = np.argsort(offsets)
    return offsets[order], positions[order]


def c_strides(shape: Sequence[int]) -> Ints:
    """Strides of C order, in entries."""
    return tuple(_complete(shape, {}))


def _complete(shape: Sequence[int], known: dict[int, int]) -> list[int]:
    """Strides of which some are known: the others continue from the axis to their right."""
    strides = []
    stride = 1
    for k in reversed(range(len(shape))):
        stride = known.get(k, stride)
        strides.append(stride)
        stride *= shape[k]
    return strides[::-1]
