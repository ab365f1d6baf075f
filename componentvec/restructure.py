"""From a model to one vector and back: `destructure`, `trainables` and `Restructure`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np

from .access import view
from .assembly import Collected, result_dtype, settle
from .conveniences import is_vector, layout
from .layouts import Layout
from .packing import pack, untraced
from .paths import Path, format_path
from .places import Leaf, LeafPlan, c_strides
from .rules import cast
from .sharing import Place, find_places
from .tracing import is_traced
from .tree import BUFFER, TRAINABLE, emptied, open_container
from .vector import ComponentVector, fill, wrap
from .walking import Found, Step, Walk, prune, rebuild, walk

Select = str | Sequence[str] | Callable[[str, Any], bool]
_BY_ROLE = {"trainable": (TRAINABLE,), "buffers": (BUFFER,), "all": (TRAINABLE, BUFFER)}


def destructure(
    model: Any,
    *,
    select: Select = "trainable",
    scalars: bool = False,
    dtype: Any = None,
    ties: Sequence[tuple[Any, Any]] = (),
    allow_empty: bool = False,
) -> tuple[Any, Restructure]:
    """Take the parameters of a model into one vector, with a function that puts them back.

    Parameters
    ----------
    model
        Nested dicts, lists, tuples, namedtuples, dataclass instances, ComponentVectors and
        instances of registered classes. Its arrays of floating or complex dtype are parameters.
    select
        ``"trainable"``, ``"buffers"`` or ``"all"``; or a path pattern, or several, or
        ``f(path_string, leaf) -> bool``, which choose among the trainable leaves.
    scalars
        Take Python floats and NumPy inexact scalars as parameters too.
    dtype
        Dtype of the vector; by default that of the parameters together.
    ties
        Pairs of paths ``(alias, owner)`` to tie by name, beside those that memory shows.
    allow_empty
        Whether a model without any parameter is fine.

    Returns
    -------
    vector : ComponentVector
        The parameters by name, copied; leaves that share memory are stored once.
    restructure : Restructure
        ``restructure(p)`` is a model of the same type whose parameters are views into `p`.

    Raises
    ------
    TypeError
        For a model that is no container, and for an instance of an unregistered class that holds
        arrays.
    ValueError
        For a model without parameters, a cycle, arrays that share part of their memory, and ties
        between unequal leaves.
    KeyError
        For a pattern that matches nothing, and ties between unknown names.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> w = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    >>> vector, restructure = cv.destructure({"enc": w, "dec": w.T, "name": "tied"})
    >>> vector.tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> model = restructure(vector)
    >>> np.shares_memory(model["enc"], model["dec"]), model["name"]
    (True, 'tied')
    """
    walked = _walk_model(model)
    chosen, by_name = _choose(walked, select, scalars, ties)
    if not chosen and not allow_empty:
        raise ValueError(
            "the model has no parameters: no selected arrays of floating or complex dtype "
            "(scalars=True takes Python floats too, allow_empty=True allows it)"
        )
    plans, order, spare = prune(walked, _plans(walked, chosen))
    values = [walked.leaves[number].value for number in order]
    places = [chosen[number] for number in order]
    owned = [
        value if place.owner is None else None
        for value, place in zip(values, places, strict=True)
    ]
    weak = [isinstance(value, float | complex) and _is_python(value) for value in values]
    own, parts = settle(Collected(plans, owned, weak), dtype)
    vector = fill(own, parts)
    if by_name:
        own, vector = _tie_by_name(own, vector, [walked.leaves[n] for n in order], by_name)
    return vector, Restructure(walked, own, order, spare)


def trainables(
    model: Any, *, paths: bool = False, select: Select = "trainable", scalars: bool = False
) -> list[Any]:
    """The parameter arrays of a model themselves, no copies, each shared array once.

    Parameters
    ----------
    model, select, scalars
        As for `destructure`.
    paths
        Whether to give pairs of path string and array.

    Returns
    -------
    list
        Arrays, or ``(path string, array)`` pairs; empty where there is no parameter.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> w = np.array([1.0, 2.0])
    >>> [path for path, _ in cv.trainables({"a": w, "b": w, "n": 3}, paths=True)]
    ['a']
    """
    walked = _walk_model(model)
    chosen, _ = _choose(walked, select, scalars, ())
    found = [walked.leaves[number] for number in sorted(chosen) if chosen[number].owner is None]
    return [(format_path(leaf.path), leaf.value) if paths else leaf.value for leaf in found]


# -- choosing parameters -----------------------------------------------------------------------


def _walk_model(model: Any) -> Walk:
    """Walk a model; a bare array is none."""
    walked = walk(model)
    if isinstance(walked.nodes[0], int):
        raise TypeError(
            f"a model is a dict, list, tuple, dataclass or registered class of parameters, got "
            f"{type(model).__name__}; wrap it in a dict"
        )
    return walked


def _is_parameter(found: Found, scalars: bool) -> bool:
    """Whether a leaf is a parameter by its type: a floating or complex array."""
    plain = untraced(found.value)
    if isinstance(plain, np.ndarray) or found.slot < 0:  # numbers too, in a component vector
        return result_dtype(plain).kind in "fc"
    return scalars and isinstance(plain, float | complex | np.inexact)


def _is_python(value: Any) -> bool:
    """Whether a scalar is Python's own."""
    return not isinstance(value, np.generic)


def _choose(
    walked: Walk, select: Select, scalars: bool, ties: Sequence[tuple[Any, Any]]
) -> tuple[dict[int, Place], list[tuple[Any, Any]]]:
    """The places of the chosen leaves by their numbers, and the ties to make by name."""
    roles = _BY_ROLE.get(select, (TRAINABLE,)) if isinstance(select, str) else (TRAINABLE,)
    eligible = [
        number
        for number, leaf in enumerate(walked.leaves)
        if leaf.role in roles and _is_parameter(leaf, scalars)
    ]
    names = [format_path(walked.leaves[number].path) for number in eligible]
    arrays = [_memory(walked.leaves[number].value) for number in eligible]
    places = find_places(arrays, names)
    owners = [i if place.owner is None else place.owner for i, place in enumerate(places)]
    joined: list[tuple[int, int]] = []
    wanted = [True] * len(eligible)
    if ties or not isinstance(select, str) or select not in _BY_ROLE:
        shapes = {number: LeafPlan(_shape(walked.leaves[number].value)) for number in eligible}
        preview = Layout._build(prune(walked, shapes)[0], np.dtype(float))
        joined = [(preview._ordinal(alias), preview._ordinal(owner)) for alias, owner in ties]
        if not isinstance(select, str) or select not in _BY_ROLE:
            wanted = _wanted(preview, [walked.leaves[n] for n in eligible], names, select)
    while True:  # a leaf is chosen wherever it is tied
        groups = {owners[i] for i, chosen in enumerate(wanted) if chosen}
        more = [owner in groups for owner in owners]
        for a, b in joined:
            more[a] = more[b] = more[a] or more[b]
        if more == wanted:
            break
        wanted = more
    chosen = {
        eligible[i]: place._replace(owner=None if place.owner is None else eligible[place.owner])
        for i, place in enumerate(places)
        if wanted[i]
    }
    kept = [pair for pair, (a, _) in zip(ties, joined, strict=True) if wanted[a]]
    return chosen, kept


def _wanted(
    preview: Layout, leaves: Sequence[Found], names: Sequence[str], select: Any
) -> list[bool]:
    """Which of the leaves patterns or a function choose."""
    if callable(select):
        return [bool(select(name, leaf.value)) for name, leaf in zip(names, leaves, strict=True)]
    if not isinstance(select, str | list | tuple):
        raise TypeError(
            "select is 'trainable', 'buffers', 'all', a path pattern, a list of them or a "
            f"function, got {select!r}"
        )
    wanted = [False] * len(leaves)
    for pattern in [select] if isinstance(select, str) else select:
        matched = preview._matching([pattern])
        if not any(matched):
            raise KeyError(f"pattern {pattern!r} matches no trainable leaf: {', '.join(names[:20])}")
        wanted = [a or b for a, b in zip(wanted, matched, strict=True)]
    return wanted


def _memory(value: Any) -> np.ndarray:
    """The array whose memory tells of ties; numbers have none of their own."""
    plain = untraced(value)
    return plain if isinstance(plain, np.ndarray) else np.array(plain)


def _shape(value: Any) -> tuple[int, ...]:
    """Shape of a leaf, traced or not."""
    return np.shape(untraced(value))


def _plans(walked: Walk, chosen: dict[int, Place]) -> dict[int, LeafPlan]:
    """How the chosen leaves are to be laid out; owners are numbered among the chosen."""
    rank = {number: i for i, number in enumerate(sorted(chosen))}
    plans = {}
    for number, place in chosen.items():
        shape = _shape(walked.leaves[number].value)
        owner = None if place.owner is None else rank[place.owner]
        strides = None if place.strides == c_strides(shape) else place.strides
        plans[number] = LeafPlan(shape, strides, owner, place.start)
    return plans


def _tie_by_name(
    own: Layout, vector: Any, leaves: Sequence[Found], ties: Sequence[tuple[Any, Any]]
) -> tuple[Layout, Any]:
    """Layout and vector with ties added by name, between leaves of equal values and dtypes."""
    tied = own
    for pair in ties:
        tied = tied.tie(*pair)
        one, two = (leaves[own._ordinal(path)].value for path in pair)
        kinds = [result_dtype(value) for value in (one, two)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"cannot tie {pair[0]!r} to {pair[1]!r}: {kinds[0]} and {kinds[1]}")
        if not np.array_equal(untraced(one), untraced(two), equal_nan=True):
            raise ValueError(f"cannot tie {pair[0]!r} to {pair[1]!r}: their values are unequal")
    parts = [
        (offset, leaf, vector._at(before, old, ()))
        for (_, before, old), (_, offset, leaf) in zip(own._leaves, tied._leaves, strict=True)
        if not leaf.alias
    ]
    return tied, fill(tied, parts)


# -- and back ----------------------------------------------------------------------------------


class _Cut(NamedTuple):
    """A leaf to read from the vector into a slot, and the dtype to give it if not the vector's."""

    slot: int
    offset: int
    leaf: Leaf
    scalar: bool
    dtype: np.dtype | None
    storage: tuple[int, int]  # where its owner's entries lie


class Restructure:
    """Puts a vector of parameters back into the model: what `destructure` returns.

    ``restructure(p)`` takes a 1-D array, a ComponentVector of the layout, or a nested tree with the
    names of the parameters. Containers are rebuilt without running ``__init__``; each parameter is
    a view into `p`; static parts are the same objects as in the model.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> vector, restructure = cv.destructure({"w": np.array([1.0, 2.0]), "act": "tanh"})
    >>> restructure
    Restructure(2 entries: w)
    >>> restructure(np.array([3.0, 4.0]))["w"].tolist()
    [3.0, 4.0]
    >>> restructure.pack({"w": [5, 6]}).tolist()
    [5.0, 6.0]
    """

    __slots__ = ("_cuts", "_layout", "_plain", "_same", "_spare", "_steps", "_template", "_vectors")

    def __init__(
        self, walked: Walk, own: Layout, order: Sequence[int], spare: frozenset[Path]
    ) -> None:
        self._layout, self._steps, self._spare = own, walked.steps, spare
        self._template: list[Any] = [None] * walked.size
        self._plain: list[tuple[int, slice, tuple[int, ...]]] = []
        self._cuts: list[_Cut] = []  # all other leaves
        self._same: list[tuple[int, int]] = []  # slots that hold what another slot holds
        self._vectors: list[tuple[int, Any, Any]] = []
        chosen = set(order)
        for number, found in enumerate(walked.leaves):
            if number not in chosen and found.slot >= 0:
                self._template[found.slot] = found.value
        self._place_leaves([walked.leaves[number] for number in order], walked.steps)
        for slot, path, value in walked.vectors:
            self._place_vector(slot, path, value)

    def _place_leaves(self, leaves: Sequence[Found], steps: Sequence[Step]) -> None:
        """Say for each slot where its leaf is read."""
        used = {slot for step in steps for slot in step.children}
        first: dict[Any, int] = {}
        storages = {}
        for low, number in zip(*self._layout._owners, strict=True):
            storages[number] = low, low + self._layout._leaves[number][2].size
        for number, found in enumerate(leaves):
            _, offset, leaf = self._layout._leaves[number]
            if found.slot not in used:
                continue
            dtype = _own_dtype(result_dtype(found.value), self._layout._dtype)
            steps_taken = tuple(s for n, s in zip(leaf.shape, leaf.strides, strict=True) if n > 1)
            place = offset, leaf.shape, steps_taken, leaf.pairs, dtype
            scalar = not isinstance(untraced(found.value), np.ndarray)
            if leaf.size and not scalar and first.setdefault(place, found.slot) != found.slot:
                self._same.append((found.slot, first[place]))
            elif leaf.plain and not scalar and dtype is None:
                cut = slice(offset, offset + leaf.size)
                self._plain.append((found.slot, cut, leaf.shape))
            else:
                owner = self._layout._owner_of(offset, leaf) if leaf.size else None
                storage = (offset, offset) if owner is None else storages[owner]
                self._cuts.append(_Cut(found.slot, offset, leaf, scalar, dtype, storage))

    def _place_vector(self, slot: int, path: Path, value: Any) -> None:
        """Say how a component vector within the model is made again."""
        inner = layout(value)
        here = [(path + keys) in self._layout for keys, _, _ in inner._leaves]
        if not any(here):
            self._template[slot] = value
            return
        dtype = _own_dtype(inner._dtype, self._layout._dtype)
        if not all(here):
            self._vectors.append((slot, path, value))
        else:
            self._vectors.append((slot, path, dtype))

    # -- what users call -----------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """The layout of the vector."""
        return self._layout

    @property
    def size(self) -> int:
        """Number of entries of the vector."""
        return self._layout._size

    def __call__(self, p: Any) -> Any:
        """A model of the same type whose parameters are views into `p`."""
        return self._rebuild(self._as_vector(p), self._template.copy())

    def pack(self, model: Any) -> Any:
        """A new vector from another model of the same structure, or a tree of its parameters.

        Raises
        ------
        KeyError
            For missing or unknown names.
        ValueError
            For other shapes, and where tied places disagree.
        TypeError
            For complex values of real leaves.
        """
        return pack(self._layout, model, self._spare)

    def __repr__(self) -> str:
        names = self._layout._names(())
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        return f"Restructure({self._layout._size} entries: {shown or 'none'})"

    # -- inside --------------------------------------------------------------------------------

    def _as_vector(self, p: Any) -> Any:
        """What is given as a vector of the layout: no copy where dtype and strides allow it."""
        own = self._layout
        if is_vector(p):
            own._require_equal(p._layout, "a plain array")
            return p
        if is_traced(p) and open_container(p) is None:
            if np.ndim(untraced(p)) != 1:
                raise ValueError(f"restructure expected one axis, got shape {_shape(p)}")
            return own.wrap(p)
        if not isinstance(p, np.ndarray):
            if open_container(p) is None:
                raise TypeError(
                    f"restructure expected a vector, a 1-D array or a tree of parameters, got "
                    f"{type(p).__name__}"
                )
            return self.pack(p)
        if p.shape != own._shape:
            what = f"{p.size} entries" if p.ndim == 1 else f"shape {p.shape}"
            raise ValueError(f"restructure expected {own._size} entries, got {what}")
        kind = p.dtype.kind
        if kind == "c" and own._dtype.kind != "c":
            raise TypeError(f"restructure expected real entries ({own._dtype}), got {p.dtype}")
        if kind in "biu":
            p = p.astype(float)
        if own._dtype.kind == "c" and kind != "c":
            p = p.astype(np.result_type(p.dtype, np.complex64))
        return wrap(own, np.ascontiguousarray(p))

    def _gradient(self, g: Any) -> Any:
        """The gradient of a vector as a model: None where there is no parameter."""
        hollow = [Step(slot, emptied(build), children) for slot, build, children in self._steps]
        return self._rebuild(g, [None] * len(self._template), hollow, dual=True)

    def _rebuild(self, vector: Any, slots: list[Any], steps: Any = None, dual: bool = False) -> Any:
        """The model of a vector; `dual` reads pairs as autograd's complex gradient."""
        if type(vector) is ComponentVector:
            buffer = vector._buffer
            for slot, cut, shape in self._plain:
                slots[slot] = buffer[cut].reshape(shape)
            _read_cuts(self._cuts, buffer, slots)
        else:
            for slot, cut, shape in self._plain:
                slots[slot] = vector._at(vector._offset + cut.start, Leaf(shape), ())
            for slot, offset, leaf, _, dtype, _ in self._cuts:
                value = vector._at(vector._offset + offset, leaf, ())
                slots[slot] = value if dtype is None else cast(value, dtype)
        if dual:
            for cut in self._cuts:
                if cut.leaf.pairs:
                    slots[cut.slot] = anp.conj(slots[cut.slot])
        for slot, first in self._same:
            slots[slot] = slots[first]
        for slot, path, how in self._vectors:
            slots[slot] = self._inner_vector(vector, path, how)
        return rebuild(steps or self._steps, slots)

    def _inner_vector(self, vector: Any, path: Path, how: Any) -> Any:
        """A component vector within the model: on the memory of the whole, where it can be."""
        offset, node = self._layout._find(path) if path else (0, self._layout)
        if how is None or isinstance(how, np.dtype):
            inner = vector._group(vector._offset + offset, node, path)
            return inner if how is None else ComponentVector(inner, dtype=how)
        parts = []
        for keys, start, leaf in layout(how)._leaves:
            at = self._layout._find(path + keys) if path + keys in self._layout else None
            source, begin, place = (how, start, leaf) if at is None else (vector, *at)
            if not leaf.alias:
                parts.append((start, leaf, source._at(source._offset + begin, place, ())))
        return fill(layout(how), parts)


def _own_dtype(dtype: np.dtype, vector: np.dtype) -> np.dtype | None:
    """The dtype that a leaf has for itself, or None where it is the vector's."""
    if dtype == vector:
        return None
    paired = vector.kind == "f" and dtype.kind == "c"
    return None if paired and np.empty(0, dtype).real.dtype == vector else dtype


def _read_cuts(cuts: Sequence[_Cut], buffer: np.ndarray, slots: list[Any]) -> None:
    """Read leaves that are no plain slices; those of one owner and another dtype share a copy."""
    copies: dict[tuple[int, int], np.ndarray] = {}
    for slot, offset, leaf, scalar, dtype, storage in cuts:
        value = view(buffer, offset, leaf)
        if dtype is not None:
            if storage not in copies:
                copies[storage] = _astype(buffer[slice(*storage)], dtype, leaf.pairs)
            value = view(copies[storage], offset - storage[0], leaf)
        slots[slot] = value[()] if scalar else value


def _astype(entries: np.ndarray, dtype: np.dtype, pairs: bool) -> np.ndarray:
    """Entries in the dtype of a leaf; pairs in the dtype of its real part."""
    if dtype.kind != "c":
        return entries.real.astype(dtype)
    return entries.astype(np.empty(0, dtype).real.dtype if pairs else dtype)
