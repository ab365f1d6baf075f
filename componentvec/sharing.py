"""Which leaves share memory, and where each of them lies in the storage of another.

Memory is compared, never values. Addresses, steps and bounds count bytes of the memory that the
leaves have now; positions count entries of the storage that their owner will have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .storage import Memory, Storage, c_strides, read, store
from .storage import Place as Place

_MAX_WORK = 10**6  # candidate solutions to look at where memory interleaves intricately
_FEW = 8  # owners of a cluster that are better tried than looked at first


def find_places(arrays: Sequence[np.ndarray], names: Sequence[str]) -> list[Place]:
    """Find the leaves that are the same array, or a transpose, reshape or slice of another.

    Parameters
    ----------
    arrays : sequence of ndarray
        The leaves, of numeric dtypes.
    names : sequence of str
        Their path strings, for errors.

    Returns
    -------
    list of Place
        One a leaf. The leaf that contains others owns them, the first of several equal ones;
        every alias names an owner. Owners have C order, except where an alias can be read only
        from their memory order: then axes go by the length of their steps in memory, upwards.

    Raises
    ------
    ValueError
        Where two leaves share part of their memory and no leaf contains both, read it under two
        dtypes, or where one contains the other but cannot hold it as a strided view.

    Notes
    -----
    A leaf never ties if it is empty, or reaches one entry twice (broadcast, sliding windows).

    Leaves are taken in the order of falling size. One that overlaps an owner that is there
    already is contained in it or is an error, since a leaf that contained both would have come
    before them; so owners stay disjoint. Only leaves whose address ranges overlap are compared.
    """
    plain: dict[tuple[int, ...], Place] = {}  # by shape: most leaves own their place in C order
    places: list[Place] = []
    ranges: list[tuple[int, int, int]] = []  # lowest address, one past the highest, number
    for number, given in enumerate(arrays):
        array = given if type(given) is np.ndarray else np.asarray(given)
        shape = array.shape
        place = plain.get(shape)
        if place is None:
            place = plain[shape] = Place(None, 0, c_strides(shape))
        places.append(place)
        if array.size:
            ranges.append((*_bounds(array), number))
    for cluster in _clusters(ranges):
        for number, place in _tie(cluster, arrays, names):
            places[number] = place
    return places


def _bounds(array: np.ndarray) -> tuple[int, int]:
    """The lowest address of an array's bytes, and one past the highest."""
    low = array.__array_interface__["data"][0]
    if array.flags.forc:
        return low, low + array.nbytes
    reach = [(n - 1) * step for n, step in zip(array.shape, array.strides)]
    high = low + array.itemsize + sum(r for r in reach if r > 0)
    return low + sum(r for r in reach if r < 0), high


def _clusters(ranges: list[tuple[int, int, int]]) -> Iterator[list[int]]:
    """Groups of two leaves or more whose address ranges hang together."""
    cluster: list[int] = []
    end = 0
    for low, high, number in sorted(ranges):
        if low >= end:
            if len(cluster) > 1:
                yield sorted(cluster)
            cluster = []
        cluster.append(number)
        end = max(end, high)
    if len(cluster) > 1:
        yield sorted(cluster)


def _tie(
    cluster: list[int], arrays: Sequence[np.ndarray], names: Sequence[str]
) -> Iterator[tuple[int, Place]]:
    """The places of those leaves of a cluster that own others or are owned."""
    first: dict[object, int] = {}  # of the leaves that are equal in every respect
    twins: list[tuple[int, int]] = []  # the others, each with the first
    leaves = []
    for number in cluster:
        array = np.asarray(arrays[number])
        address = array.__array_interface__["data"][0]
        known = first.setdefault((address, array.shape, array.strides, array.dtype), number)
        if known != number:
            twins.append((number, known))
            continue
        leaf = _measure(number, array, address, names)
        if leaf is not None:
            leaves.append(leaf)
    places = {leaf.number: Place(None, 0, c_strides(leaf.array.shape)) for leaf in leaves}
    places.update(_settle(leaves, names))
    yield from places.items()
    for number, known in twins:
        if known in places:  # else it reaches an entry twice, and does not even tie to itself
            owner, start, strides = places[known]
            yield number, Place(known if owner is None else owner, start, strides)


def _measure(number: int, array: np.ndarray, address: int, names: Sequence[str]) -> Memory | None:
    """The memory of a leaf, or None if the leaf reaches one entry twice."""
    low, high = _bounds(array)
    if array.flags.forc:
        return Memory(number, array, address, low, high, array.itemsize if array.size > 1 else 0)
    axes = [(abs(step), n) for n, step in zip(array.shape, array.strides) if n > 1]
    reach, nested = array.itemsize, True
    for step, n in sorted(axes):
        nested = nested and step >= reach
        reach += (n - 1) * step
    unit = math.gcd(*(step for step, _ in axes))
    # With fewer slots than entries, some entry comes twice: no search for a broadcast array.
    if not nested and (unit == 0 or array.size > (reach - array.itemsize) // unit + 1):
        return None
    if not nested and _meets_itself(array, names[number]):
        return None
    return Memory(number, array, address, low, high, unit)


def _meets_itself(array: np.ndarray, name: str) -> bool:
    """Whether two entries share memory.

    Of two entries that do, let `axis` be the first on which they differ. Shifting both leaves
    one at 0 on all axes up to this, and the other at 1 or more on it.
    """
    for _ in range(array.ndim):
        if _overlap(array[:1], array[1:], f"entries of {name!r}"):
            return True
        array = array[0]
    return False


def _overlap(one: np.ndarray, other: np.ndarray, names: str) -> bool:
    """Whether two arrays share memory, or a ValueError where the search is too long."""
    shares_memory: Any = np.shares_memory  # its stubs leave out the bound
    try:
        return bool(shares_memory(one, other, max_work=_MAX_WORK))
    except np.exceptions.TooHardError:
        raise ValueError(
            f"whether {names} share memory is too hard to tell; make a copy for the model"
        ) from None


def _settle(cluster: list[Memory], names: Sequence[str]) -> Iterator[tuple[int, Place]]:
    """The places of those distinct leaves of a cluster that own others or are owned."""
    cluster.sort(key=lambda leaf: (-leaf.array.size, leaf.number))
    owners: list[tuple[Storage, list[tuple[Memory, Place]]]] = []
    bounds = np.empty((5, len(cluster)), dtype=np.int64)
    for leaf in cluster:
        for i in _near(leaf, bounds[:, : len(owners)]):
            storage, aliases = owners[i]
            place = _find_in(storage, leaf, names)
            if place is not None:
                aliases.append((leaf, place))
                break
        else:
            itemsize = leaf.array.itemsize
            bounds[:, len(owners)] = leaf.low, leaf.high, leaf.address, leaf.unit, itemsize
            owners.append((store(leaf, by_memory=True), []))
    for storage, aliases in owners:
        if aliases:
            yield from _choose_order(storage, aliases)


def _near(leaf: Memory, bounds: np.ndarray) -> Sequence[int]:
    """Numbers of the owners of which the leaf may share an entry: a quick look at many."""
    if bounds.shape[1] <= _FEW:
        return range(bounds.shape[1])
    low, high, address, unit, itemsize = bounds
    # The entries of both start on lattices of this common step (0: a single entry each).
    step = np.gcd(unit, leaf.unit)
    step[step == 0] = 1
    shift = (address - leaf.address) % step
    meets = (shift < leaf.array.itemsize) | (step - shift < itemsize)
    return np.flatnonzero(meets & (low < leaf.high) & (high > leaf.low)).tolist()


def _find_in(storage: Storage, leaf: Memory, names: Sequence[str]) -> Place | None:
    """The place of a leaf that an owner contains; None if the two share no entry."""
    owner = storage.leaf
    same_dtype = owner.array.dtype == leaf.array.dtype
    if same_dtype:
        inside, place = read(storage, leaf)
        if place is not None:
            return place
        if inside:
            raise ValueError(
                f"{names[leaf.number]!r} reads entries of {names[owner.number]!r} that are no "
                f"longer evenly spaced once the latter is stored without gaps; copy one of them"
            )
    first, second = sorted((leaf, owner), key=lambda memory: names[memory.number])
    one, other = names[first.number], names[second.number]
    if not _overlap(owner.array, leaf.array, f"{one!r} and {other!r}"):
        return None
    if same_dtype:
        raise ValueError(
            f"{one!r} and {other!r} share part of their memory, and neither contains the other; "
            f"copy one of them"
        )
    raise ValueError(
        f"{one!r} ({first.array.dtype}) and {other!r} ({second.array.dtype}) read the same "
        f"memory under two dtypes; copy one of them"
    )


def _choose_order(
    storage: Storage, aliases: list[tuple[Memory, Place]]
) -> Iterator[tuple[int, Place]]:
    """The places of an owner and its aliases: in C order if that can express all of them."""
    owner = storage.leaf
    ordered = store(owner, by_memory=False)
    if ordered[2:] == storage[2:]:
        storage = ordered
    else:
        moved = []
        for alias, _ in aliases:
            _, place = read(ordered, alias, known_inside=True)
            if place is None:
                break
            moved.append((alias, place))
        else:
            storage, aliases = ordered, moved
    yield owner.number, storage.place
    for alias, place in aliases:
        yield alias.number, place
