"""Bounds by name, for all real entries of what is solved for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds

from .assembly import gather
from .conveniences import data, is_vector, layout
from .misses import show_path
from .places import Leaf
from .returns import read
from .selection import path_keys
from .unknowns import Unknowns, is_tree
from .vector import ComponentVector

_OPEN = (-np.inf, np.inf)


class Box(NamedTuple):
    """Lower and upper bounds of all real entries, and which of them must hold throughout."""

    low: np.ndarray  # (N,)
    high: np.ndarray  # (N,)
    keep_feasible: np.ndarray  # (N,), bool

    def free(self, unknowns: Unknowns) -> Bounds:
        """The bounds of the free entries, as SciPy takes them."""
        if unknowns.free is None:
            return Bounds(*self)
        return Bounds(*(side[unknowns.free] for side in self))

    def active(self, unknowns: Unknowns, x: np.ndarray) -> np.ndarray:
        """Which entries are at a bound: -1 at the lower, 1 at the upper one, else 0."""
        whole = unknowns.complete(x)
        active = np.zeros(whole.size, dtype=int)
        for side, mark in ((self.low, -1), (self.high, 1)):
            near = 1e-8 * np.maximum(np.abs(side), np.abs(unknowns.start))
            active[np.isfinite(side) & (np.abs(whole - side) <= near)] = mark
        active[unknowns.is_fixed] = 0
        return active


def read_bounds(bounds: Any, unknowns: Unknowns, *, in_pairs: bool) -> Box | None:
    """The bounds that a user gives, checked; None for none.

    They are a dict of path patterns to (low, high), a pair of vectors or trees, or SciPy's
    `Bounds`; or, in SciPy's own forms, a (low, high) for each entry (`in_pairs`), or two arrays.

    Raises
    ------
    KeyError
        For a pattern that matches nothing.
    ValueError
        For other sizes, a low above its high, and a start outside, with the label.
    TypeError
        For anything else.
    """
    if bounds is None or (isinstance(bounds, dict) and not bounds):
        return None
    size = unknowns.start.size
    keep_feasible: Any = False
    if isinstance(bounds, dict):
        low, high = _by_name(bounds, unknowns)
    else:
        if isinstance(bounds, Bounds):
            sides, keep_feasible = (bounds.lb, bounds.ub), bounds.keep_feasible
        else:
            sides = _two_sides(bounds, unknowns, in_pairs)
        low, high = (
            _side(side, unknowns, default) for side, default in zip(sides, _OPEN, strict=True)
        )
    keep_feasible = np.asarray(keep_feasible)
    if unknowns.paired and keep_feasible.shape == (size // 2,):
        keep_feasible = np.repeat(keep_feasible, 2)
    box = Box(low, high, np.broadcast_to(keep_feasible, size).copy())
    _require_order(box, unknowns)
    return box


def _by_name(bounds: dict[Any, Any], unknowns: Unknowns) -> tuple[np.ndarray, np.ndarray]:
    """Both sides from a dict of patterns."""
    own = unknowns.entries
    if own is None:
        raise TypeError("bounds: a plain array has no names; give a (low, high) for each entry")
    sides = own.full(-np.inf), own.full(np.inf)
    for pattern, given in bounds.items():
        name = show_path(pattern)
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise ValueError(f"bounds of {name!r}: expected a pair (low, high), got {given!r:.80}")
        matched = own._matching([pattern])
        found = own._seek(pattern)
        group = found if found is not None and not isinstance(found[1], Leaf) else None
        for side, value, default in zip(sides, given, _OPEN, strict=True):
            value = _opened(value, default)
            if group is not None and is_tree(value):
                for path, offset, leaf, item in gather(group[1], value, path_keys(own, pattern)):
                    _write(side, path, group[0] + offset, leaf, item, name)
            elif group is not None and np.ndim(value):
                side[pattern] = np.asarray(value)  # by position
            else:
                for chosen, (path, offset, leaf) in zip(matched, own._leaves, strict=True):
                    if chosen:
                        _write(side, path, offset, leaf, value, name)
    return data(sides[0]), data(sides[1])


def _opened(value: Any, default: float) -> Any:
    """One side of bounds, open where it is None, also within lists and dicts."""
    if type(value) is dict:
        return {name: _opened(item, default) for name, item in value.items()}
    if type(value) in (list, tuple):
        return [_opened(item, default) for item in value]
    return default if value is None else value


def _write(
    side: ComponentVector, path: Any, offset: int, leaf: Leaf, value: Any, name: str
) -> None:
    """One side of the bounds of a leaf; a real one holds for both parts of a complex number."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"bounds of {name!r}: expected numbers, got {value!r:.80}")
    shape = leaf.shape
    try:
        array = np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"bounds of {name!r}: {show_path(path)!r} has shape {shape}, got shape {array.shape}"
        ) from None
    if array.dtype.kind == "c" and not leaf.pairs:
        raise TypeError(f"bounds of {name!r}: {show_path(path)!r} is real, got complex bounds")
    data(side)[leaf.entries(offset)] = _both_parts(array) if leaf.pairs else array


def _both_parts(bounds: np.ndarray) -> np.ndarray:
    """Bounds of complex numbers as those of pairs (re, im); real ones hold for either part."""
    imaginary = bounds.imag if bounds.dtype.kind == "c" else bounds
    return np.stack([bounds.real, imaginary], axis=-1)


def _two_sides(bounds: Any, unknowns: Unknowns, in_pairs: bool) -> tuple[Any, Any]:
    """The sides of a pair of vectors or trees, or of SciPy's own forms."""
    try:
        parts = list(bounds)
    except TypeError:
        raise TypeError(
            "bounds: expected a dict of path patterns to (low, high), a pair of vectors or "
            f"scipy.optimize.Bounds, got {type(bounds).__name__}"
        ) from None
    if len(parts) == 2 and any(is_vector(part) or is_tree(part) for part in parts):
        return parts[0], parts[1]
    if not in_pairs:
        if len(parts) != 2:
            raise ValueError(f"bounds: expected two sides (low, high), got {len(parts)}")
        return parts[0], parts[1]
    expected = unknowns.start.size // 2 if unknowns.paired else unknowns.start.size
    if len(parts) not in (expected, unknowns.start.size):
        raise ValueError(f"bounds: expected {expected} pairs (low, high), got {len(parts)}")
    if any(np.shape(part) != (2,) for part in parts):
        raise ValueError("bounds: expected a pair (low, high) for each entry")
    return [part[0] for part in parts], [part[1] for part in parts]


def _side(side: Any, unknowns: Unknowns, default: float) -> np.ndarray:
    """One side of the bounds for all real entries."""
    size, side = unknowns.start.size, _opened(side, default)
    if is_vector(side) and unknowns.layout is not None:
        if layout(side) != unknowns.entries:
            unknowns.layout._require_equal(layout(side), "a plain array")
        side = data(side)
    elif unknowns.layout is not None and is_tree(side):
        side = read(unknowns, side, "bounds")
    values = np.asarray(side)
    if values.dtype.kind not in "biufc":
        raise TypeError(f"bounds: expected numbers, got {side!r:.80}")
    if unknowns.layout is None and values.shape == unknowns.shape:
        values = values.reshape(-1)
    if unknowns.paired and values.shape in ((size // 2,), (1,), ()):
        values = _both_parts(np.broadcast_to(values, size // 2)).reshape(-1)
    if values.dtype.kind == "c":
        raise TypeError("bounds: expected real numbers, got complex ones")
    if values.shape not in ((size,), (1,), ()):
        raise ValueError(f"bounds: expected {size} entries, got shape {values.shape}")
    return np.broadcast_to(values.astype(float), size).copy()


def _require_order(box: Box, unknowns: Unknowns) -> None:
    """ValueError where a low is above its high, or the start outside."""
    wrong = ~(box.low <= box.high)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"bounds of {unknowns.name(i)}: the low, {box.low[i]}, is not below the high, "
            f"{box.high[i]}"
        )
    start = unknowns.start
    for outside, relation, side in (
        (start < box.low, "below the low", box.low),
        (start > box.high, "above the high", box.high),
    ):
        outside = outside & ~unknowns.is_fixed
        if outside.any():
            i = int(np.argmax(outside))
            raise ValueError(
                f"x0 starts outside the bounds of {unknowns.name(i)}: {start[i]} is {relation}, "
                f"{side[i]}"
            )
