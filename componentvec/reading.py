"""Reading the parameters of a model out of a vector, each into its slot.

What depends on the layout alone is worked out once. Then reading is slicing: a copy is made only
where a leaf keeps a dtype of its own, or where a component vector of the model is no single piece.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np

from .access import fill, view
from .assembly import real_dtype, result_dtype
from .conveniences import layout
from .layouts import Layout
from .parameters import is_python
from .paths import MAPPING, Path
from .places import Leaf
from .rules import cast
from .tracing import untraced
from .vector import ComponentVector, wrap
from .walking import InnerVector, Walk


class _Cut(NamedTuple):
    """A leaf to read into a slot, and the dtype to give it if it does not follow the vector."""

    slot: int
    offset: int
    leaf: Leaf
    scalar: bool
    dtype: np.dtype | None
    storage: tuple[int, int]  # where its owner's entries lie


class _Piece(NamedTuple):
    """A component vector of the model whose entries lie in one piece, as in the model."""

    slot: int
    layout: Layout
    offset: int
    entries: Leaf
    dtype: np.dtype | None


class _Group(NamedTuple):
    """A component vector of the model that has become a group with leaves elsewhere."""

    slot: int
    path: Path


class _Mended(NamedTuple):
    """A component vector of the model that is put together from copies.

    Each part has the place in the model's own vector, and the place in the vector of parameters
    (None: not selected).
    """

    slot: int
    value: Any
    parts: list[tuple[int, Leaf, tuple[int, Leaf] | None]]
    dtype: np.dtype | None


class Recipe:
    """How the slots of a model are filled from a vector of a layout."""

    __slots__ = ("_cuts", "_plain", "_same", "_vectors")

    def __init__(self, walked: Walk, own: Layout, order: Sequence[int]) -> None:
        self._plain: list[tuple[int, slice, tuple[int, ...], Leaf]] = []
        self._cuts: list[_Cut] = []  # all other leaves
        self._same: list[tuple[int, int]] = []  # slots that hold what another slot holds
        self._vectors: list[_Piece | _Group | _Mended] = []
        self._place_leaves(walked, own, order)
        if walked.vectors:
            at = dict(zip(order, own._leaves, strict=True))
            for inner in walked.vectors:
                places = [at[number][1:] if number in at else None for number in inner.leaves]
                if inner.slot >= 0 and any(place is not None for place in places):
                    self._vectors.append(_place_vector(inner, places, own._dtype))

    def _place_leaves(self, walked: Walk, own: Layout, order: Sequence[int]) -> None:
        """Say for each slot where its leaf is read."""
        first: dict[Any, int] = {}
        dtypes: dict[Any, np.dtype | None] = {}
        storages: dict[int, tuple[int, int]] = {}
        placed: set[int] = set()
        for number, (_, offset, leaf) in zip(order, own._leaves, strict=True):
            slot, value = walked.slots[number], walked.values[number]
            if slot < 0 or slot in placed:
                continue
            placed.add(slot)
            scalar = not isinstance(untraced(value), np.ndarray)
            kind = result_dtype(value), is_python(value), leaf.pairs
            if kind not in dtypes:
                dtypes[kind] = _own_dtype(*kind, own._dtype)
            dtype = dtypes[kind]
            if not scalar:
                # An empty leaf has no place, but may be one object at two places.
                place = (offset, leaf.shape, leaf.strides, dtype) if leaf.size else id(value)
                known = first.setdefault(place, slot)
                if known != slot:
                    self._same.append((slot, known))
                    continue
                if leaf.plain and dtype is None:
                    cut = slice(offset, offset + leaf.size)
                    self._plain.append((slot, cut, leaf.shape, leaf))
                    continue
            if not storages:
                for low, owner in zip(*own._owners, strict=True):
                    storages[owner] = low, low + own._leaves[owner][2].size
            owned = own._owner_of(offset, leaf) if leaf.size else None
            storage = (offset, offset) if owned is None else storages[owned]
            self._cuts.append(_Cut(slot, offset, leaf, scalar, dtype, storage))

    def following(self) -> Recipe:
        """The same with all leaves in the dtype of the vector."""
        other = copy.copy(self)
        other._cuts = [cut._replace(dtype=None) for cut in self._cuts]
        other._vectors = [
            inner if isinstance(inner, _Group) else inner._replace(dtype=None)
            for inner in self._vectors
        ]
        return other

    def read(self, vector: Any, slots: list[Any], dual: bool = False) -> None:
        """Fill the slots from a vector, plain or traced.

        `dual`: the vector is a gradient, in which pairs (d/d(re), d/d(im)) stand for autograd's
        d/d(re) - i d/d(im).
        """
        if type(vector) is ComponentVector:
            buffer = vector._buffer
            for slot, cut, shape, _ in self._plain:
                slots[slot] = buffer[cut].reshape(shape)
            _read_cuts(self._cuts, buffer, slots)
        else:
            base, at = vector._offset, vector._at
            for slot, cut, shape, leaf in self._plain:
                where = base + cut.start
                slots[slot] = at(where, leaf, ()) if shape else _without_axes(vector, where, leaf)
            for slot, offset, leaf, scalar, dtype, _ in self._cuts:
                axes = leaf.shape or scalar
                where = base + offset
                value = at(where, leaf, ()) if axes else _without_axes(vector, where, leaf)
                if dtype is not None:
                    value = cast(value, dtype)[()] if scalar else cast(value, dtype)
                slots[slot] = value
        if dual:
            for slot, _, leaf, scalar, _, _ in self._cuts:
                if leaf.pairs:
                    slots[slot] = _conjugated(slots[slot], scalar)
        for slot, first in self._same:
            slots[slot] = slots[first]
        for inner in self._vectors:
            slots[inner.slot] = _read_vector(vector, inner, dual)


def _own_dtype(dtype: np.dtype, python: bool, pairs: bool, vector: np.dtype) -> np.dtype | None:
    """The dtype that a leaf has for itself, or None where it follows the vector.

    Python numbers, which have no say in the vector's dtype, have none for themselves either.
    """
    if python:
        return real_dtype(vector) if dtype.kind == "f" and vector.kind == "c" else None
    stored = real_dtype(dtype) if pairs else dtype
    return None if stored == vector else dtype


def _without_axes(vector: Any, offset: int, leaf: Leaf) -> Any:
    """A leaf of a traced vector that is an array without axes, and is not to become a number."""
    return anp.reshape(vector._at(offset, Leaf((1,), pairs=leaf.pairs), ()), ())


def _read_cuts(cuts: Sequence[_Cut], buffer: np.ndarray, slots: list[Any]) -> None:
    """Read leaves that are no plain slices; those of one owner and another dtype share a copy."""
    copies: dict[Any, np.ndarray] = {}
    for slot, offset, leaf, scalar, dtype, storage in cuts:
        value = view(buffer, offset, leaf)
        if dtype is not None:
            key = storage, dtype
            if key not in copies:
                copies[key] = cast(
                    buffer[slice(*storage)], real_dtype(dtype) if leaf.pairs else dtype
                )
            value = view(copies[key], offset - storage[0], leaf)
        slots[slot] = value[()] if scalar else value


def _conjugated(value: Any, scalar: bool) -> Any:
    """The complex conjugate of a number, or of an array, which stays one without axes too."""
    conjugate = anp.conj(value)
    return conjugate if scalar or not isinstance(conjugate, np.generic) else np.asarray(conjugate)


# -- component vectors within the model --------------------------------------------------------


def _place_vector(
    inner: InnerVector, places: Sequence[Any], dtype: np.dtype
) -> _Piece | _Group | _Mended:
    """Say how a component vector of the model is made again."""
    slot, path, value, _ = inner
    own = layout(value)
    pairs = own._dtype.kind == "c" and dtype.kind != "c"
    kind = _own_dtype(own._dtype, False, pairs, dtype)
    if None not in places and own._outside is None:
        offset = _offset_of_piece(own, places, pairs)
        if offset is not None:
            return _Piece(slot, own, offset, Leaf(own._shape, pairs=pairs), kind)
    if None not in places and kind is None and not pairs and own._kind == MAPPING:
        return _Group(slot, path)
    if own._outside is not None:
        value = ComponentVector(value)
    parts = [
        (offset, leaf, place)
        for (_, offset, leaf), place in zip(layout(value)._leaves, places, strict=True)
        if not leaf.alias
    ]
    return _Mended(slot, value, parts, kind)


def _offset_of_piece(own: Layout, places: Sequence[Any], pairs: bool) -> int | None:
    """Where the entries of a vector lie in one piece, as they do in itself; None if they do not.

    `pairs`: the vector is complex, and its numbers have become pairs (re, im).
    """
    step = 2 if pairs else 1
    base = None
    for (_, offset, leaf), (at, found) in zip(own._leaves, places, strict=True):
        if not leaf.size:
            continue
        if base is None:
            base = at - step * offset
        strides = tuple(step * stride for stride in leaf.strides)
        here = at - step * offset, found.shape, found.strides, found.pairs
        if here != (base, leaf.shape, strides, leaf.pairs or pairs):
            return None
    return base or 0


def _read_vector(vector: Any, inner: _Piece | _Group | _Mended, dual: bool) -> Any:
    """A component vector of the model."""
    if isinstance(inner, _Piece):
        _, own, offset, leaf, dtype = inner
        entries = _at(vector, offset, leaf)
        if dtype is not None:
            entries = cast(entries, dtype)
        return wrap(own, anp.conj(entries) if dual and leaf.pairs else entries)
    if isinstance(inner, _Group):
        offset, node = vector._layout._find(inner.path)
        return vector._at(vector._offset + offset, node, inner.path)
    value = inner.value
    own = layout(value)
    if inner.dtype is None:
        dtype = untraced(vector)._root.dtype
        if own._dtype.kind == "c":
            dtype = np.result_type(dtype, np.complex64)
        own = own._with_dtype(dtype)
    filled = []
    for start, leaf, place in inner.parts:
        if place is None:
            filled.append((start, leaf, value._at(value._offset + start, leaf, ())))
            continue
        part = _at(vector, *place)
        if dual and place[1].pairs != leaf.pairs:
            part = anp.conj(part)
        if own._dtype.kind != "c" and not leaf.pairs:
            part = cast(part, own._dtype)
        filled.append((start, leaf, part))
    return fill(own, filled)


def _at(vector: Any, offset: int, leaf: Leaf) -> Any:
    """What lies at an offset of a vector."""
    return vector._at(vector._offset + offset, leaf, ())
