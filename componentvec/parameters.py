"""The parameters of a model: which leaves are chosen, which are tied, where each of them lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from .access import fill, view
from .assembly import result_dtype
from .layouts import Layout
from .paths import Path, format_path
from .places import LeafPlan, c_strides
from .sharing import Place, find_places
from .tracing import is_traced, untraced
from .tree import BUFFER, TRAINABLE
from .walking import Walk, is_inexact, prune, walk

Select = str | Sequence[Any] | Callable[[str, Any], bool]
Tie = tuple[Any, Any]  # paths of alias and owner

_BY_ROLE = {"trainable": (TRAINABLE,), "buffers": (BUFFER,), "all": (TRAINABLE, BUFFER)}


def walk_model(model: Any) -> Walk:
    """Walk a model; a bare array is none."""
    walked = walk(model)
    if isinstance(walked.nodes[0], int):
        raise TypeError(
            f"a model is a dict, list, tuple, dataclass or registered class of parameters, got "
            f"{type(model).__name__}; wrap it in a dict"
        )
    return walked


def choose(
    walked: Walk, select: Select, scalars: bool = False, ties: Sequence[Tie] = ()
) -> tuple[dict[int, Place], list[Tie]]:
    """Places of the chosen leaves by their numbers, and the ties by name that concern them.

    An owner is named by its number too. KeyError for patterns and ties that name no leaf.
    """
    by_role = isinstance(select, str) and select in _BY_ROLE
    eligible = _eligible(walked, _BY_ROLE[str(select)] if by_role else (TRAINABLE,), scalars)
    names = PathStrings([walked.paths[number] for number in eligible])
    places = _find_places(walked, eligible, names)
    wanted, kept = [True] * len(eligible), list(ties)
    if ties or not by_role:
        shapes = {number: LeafPlan(shape_of(walked.values[number])) for number in eligible}
        preview = Layout._build(prune(walked.nodes, shapes)[0], np.dtype(float))
        joined = [_pair(preview, tie) for tie in ties]
        if not by_role:
            values = [walked.values[number] for number in eligible]
            wanted = _close(_wanted(preview, values, names, select), places, joined)
        kept = [tie for tie, (alias, _) in zip(ties, joined, strict=True) if wanted[alias]]
    chosen = {}
    for number, place, chosen_here in zip(eligible, places, wanted, strict=True):
        if chosen_here:
            if place.owner is not None:
                place = place._replace(owner=eligible[place.owner])
            chosen[number] = place
    return chosen, kept


def plans_of(walked: Walk, chosen: dict[int, Place]) -> dict[int, LeafPlan]:
    """How the chosen leaves are to be laid out; owners are numbered among the chosen."""
    rank = {number: i for i, number in enumerate(chosen)}
    plain: dict[tuple[int, ...], tuple[Place, LeafPlan]] = {}  # by shape: most leaves are alike
    plans = {}
    for number, place in chosen.items():
        shape = shape_of(walked.values[number])
        if shape not in plain:
            plain[shape] = Place(None, 0, c_strides(shape)), LeafPlan(shape)
        ordinary, plan = plain[shape]
        if place != ordinary:
            owner = None if place.owner is None else rank[place.owner]
            strides = None if place.strides == ordinary.strides else place.strides
            plan = LeafPlan(shape, strides, owner, place.start)
        plans[number] = plan
    return plans


def shape_of(value: Any) -> tuple[int, ...]:
    """Shape of a leaf, traced or not."""
    return value.shape if type(value) is np.ndarray else np.shape(untraced(value))


def is_python(value: Any) -> bool:
    """Whether a leaf is a number of Python's own, which has no say in dtypes."""
    plain = untraced(value)
    return isinstance(plain, float | complex) and not isinstance(plain, np.generic)


def require_plain(path: Path, array: Any) -> None:
    """TypeError for subclasses of ndarray, since the parameters come back as plain arrays."""
    cls = type(array)
    if issubclass(cls, np.ndarray) and cls not in (np.ndarray, np.memmap):
        what = (
            "what its mask hides" if issubclass(cls, np.ma.MaskedArray) else "what its class adds"
        )
        raise TypeError(
            f"{format_path(path)!r} is a {cls.__name__}, and {what} would be lost: parameters come "
            "back as plain arrays; make it one with np.array, or leave it out with select="
        )


def why_empty(walked: Walk, scalars: bool) -> str:
    """Which numbers of a model without parameters were not taken, and what would make them so."""
    or_scalars = "" if scalars else ", or pass scalars=True to destructure"
    found: dict[str, None] = {}
    for path, value in zip(walked.paths, walked.values, strict=True):
        kind = type(value).__name__
        name = repr(format_path(path))
        if isinstance(value, np.ndarray) and value.dtype.kind in "biu":
            found[f"{name} is {value.dtype}: make it float"] = None
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            found[f"{name} is {value.dtype}, but not selected"] = None
        elif isinstance(value, np.number):
            taken = or_scalars if isinstance(value, np.inexact) else ""
            found[f"{name} is a scalar, {kind}: make it np.array({value}){taken}"] = None
        elif type(value) in (int, float, complex) and isinstance(path[-1], int):
            name = repr(format_path(path[:-1]) or "the model")
            found[f"{name} is a list of Python numbers: make it np.array([...])"] = None
        elif type(value) in (int, float, complex):
            number = float(value) if kind == "int" else value
            taken = "" if kind == "int" else or_scalars
            found[f"{name} is a Python {kind}: make it np.array({number}){taken}"] = None
    return "; ".join([*found][:5]) or "it holds no arrays of floating or complex dtype"


def tie_by_name(
    own: Layout, vector: Any, values: Sequence[Any], ties: Sequence[Tie]
) -> tuple[Layout, Any]:
    """Layout and vector with ties added by name, between leaves of equal values and dtypes."""
    tied = own
    for pair in ties:
        tied = tied.tie(*pair)
        one, two = (values[own._ordinal(path)] for path in pair)
        kinds = [result_dtype(value) for value in (one, two)]
        if kinds[0] != kinds[1]:
            raise ValueError(
                f"cannot tie {pair[0]!r} to {pair[1]!r}: expected one dtype, got {kinds[0]} and "
                f"{kinds[1]}"
            )
        if not np.array_equal(untraced(one), untraced(two), equal_nan=True):
            raise ValueError(
                f"cannot tie {pair[0]!r} to {pair[1]!r}: expected equal values, got unequal ones"
            )
    parts = [
        (offset, leaf, vector._at(before, old, ()))
        for (_, before, old), (_, offset, leaf) in zip(own._leaves, tied._leaves, strict=True)
        if not leaf.alias
    ]
    return tied, fill(tied, parts)


class PathStrings(Sequence[str]):
    """Path strings that are written only when they are asked for: errors need few of them."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return PathStrings(self._paths[index])
        return format_path(self._paths[index])


def _eligible(walked: Walk, roles: Sequence[str], scalars: bool) -> list[int]:
    """Numbers of the leaves that are parameters by role and type."""
    inside = {number for inner in walked.vectors for number in inner.leaves}
    eligible = [
        number
        for number, (value, role) in enumerate(zip(walked.values, walked.roles, strict=True))
        if role in roles and is_inexact(value, scalars or number in inside)
    ]
    if walked.odd:
        prune(walked.nodes, dict.fromkeys(eligible, LeafPlan(())))  # only to check the keys
    return eligible


def _find_places(walked: Walk, eligible: Sequence[int], names: Sequence[str]) -> list[Place]:
    """The places of leaves: by their memory, and as they stand in containers at several places.

    Of two leaves that share memory but not their trace, one varies while the other is held: they
    are two parameters.
    """
    levels: dict[int, list[int]] = {}  # positions among the eligible leaves, by trace
    first: dict[int, int] = {}  # and by slot
    again: list[tuple[int, int]] = []
    for i, number in enumerate(eligible):
        slot, value = walked.slots[number], walked.values[number]
        if slot >= 0 and first.setdefault(slot, i) != i and 0 not in shape_of(value):
            again.append((i, first[slot]))
        else:
            levels.setdefault(_level(value), []).append(i)
    arrays = _memories(walked, eligible)
    places: dict[int, Place] = {}
    for members in levels.values():
        whole = len(members) == len(eligible)
        own = names if whole else [names[i] for i in members]
        for i, place in zip(members, find_places([arrays[i] for i in members], own), strict=True):
            if place.owner is not None and not whole:
                place = place._replace(owner=members[place.owner])
            places[i] = place
    for i, known in again:
        place = places[known]
        places[i] = place._replace(owner=known) if place.owner is None else place
    return [places[i] for i in range(len(eligible))]


def _level(value: Any) -> int:
    """The trace to which a leaf belongs; -1 for none."""
    return value._trace if is_traced(value) else -1


def _memories(walked: Walk, eligible: Sequence[int]) -> list[np.ndarray]:
    """The arrays whose memory tells of ties; a number has one only within a vector."""
    numbers: dict[int, np.ndarray] = {}
    for inner in walked.vectors:
        if is_traced(inner.value):
            vector = untraced(inner.value)
            places = vector._layout._leaves
            for number, (_, offset, leaf) in zip(inner.leaves, places, strict=True):
                numbers[number] = view(vector._root, vector._offset + offset, leaf)
    arrays = []
    for number in eligible:
        value = walked.values[number]
        if type(value) is not np.ndarray:
            plain = numbers[number] if number in numbers else untraced(value)
            value = plain if isinstance(plain, np.ndarray) else np.array(plain)
        arrays.append(value)
    return arrays


def _pair(preview: Layout, tie: Any) -> tuple[int, int]:
    """The numbers of two leaves that are to be tied by name."""
    if isinstance(tie, str) or not isinstance(tie, Sequence) or len(tie) != 2:
        raise TypeError(f"ties are pairs of paths (alias, owner), got {tie!r} among them")
    alias, owner = tie
    return preview._ordinal(alias), preview._ordinal(owner)


def _wanted(
    preview: Layout, values: Sequence[Any], names: Sequence[str], select: Any
) -> list[bool]:
    """Which of the leaves patterns or a function choose."""
    if callable(select):
        return [bool(select(name, value)) for name, value in zip(names, values, strict=True)]
    if not isinstance(select, str | list | tuple):
        raise TypeError(
            "select is 'trainable', 'buffers', 'all', a path pattern, a list of them or a "
            f"function, got {select!r}"
        )
    wanted = [False] * len(values)
    for pattern in [select] if isinstance(select, str) else select:
        matched = preview._matching([pattern])
        if not any(matched):
            known = ", ".join(names[:20]) or "none"
            raise KeyError(f"pattern {pattern!r} matches no trainable leaf: {known}")
        wanted = [a or b for a, b in zip(wanted, matched, strict=True)]
    return wanted


def _close(
    wanted: list[bool], places: Sequence[Place], joined: Sequence[tuple[int, int]]
) -> list[bool]:
    """The same choice with every leaf to which a chosen one is tied."""
    owners = [i if place.owner is None else place.owner for i, place in enumerate(places)]
    while True:
        groups = {owner for owner, chosen in zip(owners, wanted, strict=True) if chosen}
        more = [owner in groups for owner in owners]
        for a, b in joined:
            more[a] = more[b] = more[a] or more[b]
        if more == wanted:
            return wanted
        wanted = more
