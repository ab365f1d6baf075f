"""Places of leaves in a buffer: where each entry of an array lies.

All offsets and strides count buffer entries, never bytes. A complex number that a real buffer
stores as a pair (re, im) takes two entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Shape = tuple[int, ...]

#: entries that are looked at one by one; larger leaves must show by their strides what they are
_MOST_LOOKED_AT = 2**24


class GroupPlan(NamedTuple):
    """A group in the preorder list from which a layout is built; its children follow."""

    kind: str
    keys: tuple[str | int, ...]


class LeafPlan(NamedTuple):
    """A leaf in that list. `start` counts from the lowest entry of the owner's place.

    An alias names its owner by number among the leaves; an owner has None, and its `start` is
    not 0 only where a stride is negative. No strides: C order.
    """

    shape: Shape
    strides: Shape | None = None
    owner: int | None = None
    start: int = 0
    pairs: bool = False


Plan = GroupPlan | LeafPlan


class Leaf:
    """The shape of one leaf and the strides by which it is read; immutable."""

    __slots__ = ("alias", "pairs", "plain", "shape", "size", "strides")

    def __init__(
        self,
        shape: Shape,
        strides: Shape | None = None,
        *,
        alias: bool = False,
        pairs: bool = False,
    ) -> None:
        ordinary = c_strides(shape, 2 if pairs else 1)
        self.shape = shape
        self.alias = alias
        self.pairs = pairs
        self.size = math.prod(shape) * (2 if pairs else 1)
        if strides is None or not self.size:
            strides = ordinary
        elif 1 in shape:  # steps of axes that nobody goes along: two equal places look equal
            strides = tuple(
                usual if n == 1 else step
                for n, step, usual in zip(shape, strides, ordinary, strict=True)
            )
        self.strides = strides
        #: whether a slice of the buffer, reshaped, is the leaf
        self.plain = not pairs and strides == ordinary

    @property
    def signature(self) -> tuple[Shape, Shape, bool, bool]:
        """What two leaves must share to be equal."""
        return self.shape, self.strides, self.alias, self.pairs

    def entries(self, offset: int) -> np.ndarray:
        """Flat indices of all entries in leaf order, shape ``shape`` (pairs: ``shape + (2,)``)."""
        shape, strides = self.shape, self.strides
        if self.pairs:
            shape, strides = (*shape, 2), (*strides, 1)
        index = np.full(shape, offset, dtype=np.intp)
        for axis, (n, step) in enumerate(zip(shape, strides, strict=True)):
            steps = np.arange(n, dtype=np.intp) * step
            index += steps.reshape((n,) + (1,) * (len(shape) - axis - 1))
        return index

    def extent(self, offset: int) -> tuple[int, int]:
        """Lowest entry, and one past the highest."""
        if self.size == 0:
            return offset, offset
        reach = [(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)]
        low = offset + sum(r for r in reach if r < 0)
        return low, offset + sum(r for r in reach if r > 0) + (2 if self.pairs else 1)


def c_strides(shape: Sequence[int], item: int = 1) -> Shape:
    """Strides of C order, in entries, where one number takes `item` of them."""
    strides = []
    for n in reversed(shape):
        strides.append(item)
        item *= n
    return tuple(reversed(strides))


def repeats(leaf: Leaf) -> bool:
    """Whether the leaf reaches any entry twice."""
    reach = 2 if leaf.pairs else 1
    axes = zip(leaf.strides, leaf.shape, strict=True)
    for step, n in sorted((abs(step), n) for step, n in axes if n != 1):
        if step < reach:
            break
        reach += (n - 1) * step
    else:
        return False
    if leaf.size > _MOST_LOOKED_AT:
        return True
    index = leaf.entries(0)
    return np.unique(index).size < index.size


def tiles(leaf: Leaf) -> bool:
    """Whether the leaf reaches each entry of its extent exactly once."""
    expected = 2 if leaf.pairs else 1
    axes = zip(leaf.strides, leaf.shape, strict=True)
    for step, n in sorted((abs(step), n) for step, n in axes if n != 1):
        if step != expected:
            return False
        expected *= n
    return True


def strides_of(index: np.ndarray) -> tuple[int, Shape] | None:
    """Offset and strides by which a non-empty index array is reached, or None if by none."""
    offset = int(index[(0,) * index.ndim])
    strides = []
    for axis, n in enumerate(index.shape):
        step = [0] * index.ndim
        step[axis] = 1 if n > 1 else 0
        strides.append(int(index[tuple(step)]) - offset if n > 1 else 1)
    leaf = Leaf(index.shape, tuple(strides))
    return (offset, leaf.strides) if np.array_equal(leaf.entries(offset), index) else None


def relation(owner: str, owner_leaf: Leaf, leaf: Leaf, start: int) -> str:
    """How an alias reads its owner, as Python would write it: ``enc.w.T``."""
    size = owner_leaf.size
    for text, shape, strides in (
        (owner, owner_leaf.shape, owner_leaf.strides),
        (f"{owner}.T", owner_leaf.shape[::-1], owner_leaf.strides[::-1]),
    ):
        same = Leaf(shape, strides, pairs=leaf.pairs)
        if start == 0 and (leaf.shape, leaf.strides) == (shape, same.strides):
            return text
    if owner_leaf.plain and leaf.plain and leaf.size == size:
        return f"{owner}.reshape{leaf.shape!r}"
    cut = _slices(owner_leaf, leaf, start)
    return f"{owner}[{cut}]" if cut else f"part of {owner}"


def _slices(owner: Leaf, leaf: Leaf, start: int) -> str | None:
    """The index expression by which a leaf is cut out of its C-ordered owner, or None."""
    if not owner.plain or not leaf.size or len(leaf.shape) != len(owner.shape):
        return None
    parts = []
    for n, step, given, count in zip(
        leaf.shape, leaf.strides, owner.strides, owner.shape, strict=True
    ):
        first, start = divmod(start, given)
        jump, rest = divmod(step, given) if n > 1 else (1, 0)
        last = first + (n - 1) * jump
        if rest or jump == 0 or not (0 <= first < count and 0 <= last < count):
            return None
        if jump < 0:
            stop = str(last - 1) if last else ""
        else:
            stop = str(last + 1)
        parts.append(f"{first}:{stop}" + (f":{jump}" if jump != 1 else ""))
    return ", ".join(parts) if start == 0 else None
