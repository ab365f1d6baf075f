"""From a model to one vector and back: `destructure`, `trainables` and `Restructure`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import container_rules as container_rules  # so that traced containers can be walked
from .access import fill
from .assembly import Collected, settle
from .conveniences import is_vector
from .layouts import Layout
from .packing import pack
from .parameters import (
    Select,
    choose,
    is_python,
    plans_of,
    require_plain,
    tie_by_name,
    walk_model,
    why_empty,
)
from .paths import Path, format_path
from .reading import Recipe
from .rules import cast, flat
from .tracing import is_traced, untraced
from .tree import emptied, open_container
from .vector import wrap
from .walking import Walk, prune, rebuild


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
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError(f"parameters need a floating or complex dtype, got dtype {np.dtype(dtype)}")
    walked = walk_model(model)
    chosen, by_name = choose(walked, select, scalars, ties)
    if not chosen and not allow_empty:
        so = "" if scalars else "without scalars=True, "
        raise ValueError(f"{so}the model has no parameters: {why_empty(walked, scalars)}")
    plans, order, spare = prune(walked.nodes, plans_of(walked, chosen))
    values = [walked.values[number] for number in order]
    for number, value in zip(order, values, strict=True):
        if type(value) is not np.ndarray:
            require_plain(walked.paths[number], untraced(value))
    owned = [
        value if chosen[number].owner is None else None
        for number, value in zip(order, values, strict=True)
    ]
    own, parts = settle(Collected(plans, owned, [is_python(value) for value in values]), dtype)
    vector = fill(own, parts)
    if by_name:
        own, vector = tie_by_name(own, vector, values, by_name)
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
    walked = walk_model(model)
    chosen, _ = choose(walked, select, scalars)
    found = [number for number, place in chosen.items() if place.owner is None]
    values = [walked.values[number] for number in found]
    if not paths:
        return values
    names = [format_path(walked.paths[number]) for number in found]
    return list(zip(names, values, strict=True))


class Restructure:
    """Puts a vector of parameters back into the model: what `destructure` returns.

    ``restructure(p)`` takes a 1-D array, a ComponentVector of the layout, or a nested tree with the
    names of the parameters (also a model of the same structure). Containers are rebuilt without
    running ``__init__``; each parameter is a view into `p`; static parts and arrays that were not
    selected are the same objects as in the model.

    Notes
    -----
    Parameters whose dtype is the vector's follow `p`: a float32 model driven by a float64 solver
    computes in float64, on views. A parameter of another dtype comes back in its own, as a copy. A
    tree is packed into a new vector first, in the dtype of the layout.

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

    __slots__ = ("_layout", "_recipe", "_spare", "_steps", "_template")

    def __init__(
        self, walked: Walk, own: Layout, order: Sequence[int], spare: frozenset[Path]
    ) -> None:
        self._layout, self._steps, self._spare = own, walked.steps, spare
        self._recipe = Recipe(walked, own, order)
        self._template: list[Any] = [None] * walked.size  # slots, filled with all that stays
        chosen = set(order)
        for number, (slot, value) in enumerate(zip(walked.slots, walked.values, strict=True)):
            if slot >= 0 and number not in chosen:
                self._template[slot] = value
        for inner in walked.vectors:
            if inner.slot >= 0 and chosen.isdisjoint(inner.leaves):
                self._template[inner.slot] = inner.value

    @property
    def layout(self) -> Layout:
        """The layout of the vector.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> _, restructure = cv.destructure({"w": np.zeros(2), "n": 3})
        >>> restructure.layout.labels()
        ['w[0]', 'w[1]']
        """
        return self._layout

    @property
    def size(self) -> int:
        """Number of entries of the vector.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> w = np.zeros((2, 3))
        >>> cv.destructure({"enc": w, "dec": w.T})[1].size
        6
        """
        return self._layout._size

    def __call__(self, p: Any) -> Any:
        """A model of the same type whose parameters are views into `p`.

        Parameters
        ----------
        p
            1-D array of `size` entries, ComponentVector of the layout, or nested tree with the
            names of the parameters, in which tied aliases may be left out. Integers are taken as
            float, real data for complex parameters as complex; strided memory is copied once.

        Raises
        ------
        ValueError
            For a wrong length or number of axes, another layout, and unequal values at tied names.
        KeyError
            For missing or unknown names in a tree.
        TypeError
            For complex data in real parameters.
        """
        slots = self._template.copy()
        self._recipe.read(self._as_vector(p), slots)
        return rebuild(self._steps, slots)

    def pack(self, model: Any) -> Any:
        """A new vector from another model of the same structure, or a tree of its parameters.

        Raises
        ------
        KeyError
            For missing or unknown names.
        ValueError
            For other shapes, and where tied places disagree.
        TypeError
            For complex values of real parameters.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> _, restructure = cv.destructure({"w": np.zeros(2), "act": "tanh"})
        >>> restructure.pack({"w": np.ones(2), "act": "relu"}).tolist()
        [1.0, 1.0]
        """
        return pack(self._layout, model, self._spare)

    def __repr__(self) -> str:
        names = self._layout._names(())
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        return f"Restructure({self._layout._size} entries: {shown or 'none'})"

    def _as_vector(self, p: Any) -> Any:
        """What is given as a vector of the layout: no copy where dtype and strides allow it."""
        own = self._layout
        if is_vector(p):
            if own is not p._layout and own != p._layout:
                raise ValueError(
                    f"restructure expected a vector of its own layout, got one with another: "
                    f"{own._difference(p._layout)}; to go by position alone, give a plain array"
                )
        elif not isinstance(p, np.ndarray) and (not is_traced(p) or open_container(p) is not None):
            if open_container(p) is None:
                raise TypeError(
                    f"restructure expected a vector, a 1-D array or a tree of parameters, got "
                    f"{type(p).__name__}"
                )
            return self.pack(p)
        plain = np.asanyarray(flat(untraced(p)))
        self._require_entries(plain)
        wanted = _floating(plain.dtype, own._dtype)
        if wanted is not None:
            return wrap(own, cast(flat(p), wanted))
        if is_vector(p):
            return p
        return wrap(own, p if is_traced(p) else np.ascontiguousarray(p))

    def _require_entries(self, plain: np.ndarray) -> None:
        """An error where an array does not have the entries of the layout."""
        own = self._layout
        if plain.shape != own._shape:
            what = plain.size if plain.ndim == 1 else f"an array of shape {plain.shape}"
            raise ValueError(f"restructure expected {own._size} entries, got {what}")
        if plain.dtype.kind == "c" and own._dtype.kind != "c":
            raise TypeError(
                f"restructure expected real entries ({own._dtype}), got {plain.dtype}; complex "
                "parameters of a real vector are pairs (re, im)"
            )
        if isinstance(plain, np.ma.MaskedArray):
            raise TypeError(
                "restructure expected an array, got one with a mask, which would be lost; give "
                "np.asarray(p), or p.filled(...)"
            )

    def _following(self, own: Layout) -> Restructure:
        """The same for a layout of another dtype, with all parameters in that of the vector."""
        other = copy.copy(self)
        other._layout, other._recipe = own, self._recipe.following()
        return other

    def _gradient(self, g: Any) -> Any:
        """The gradient of a vector as a model: None where there is no parameter."""
        slots: list[Any] = [None] * len(self._template)
        self._recipe.read(g, slots, dual=True)
        return rebuild(
            [step._replace(rebuild=emptied(step.rebuild)) for step in self._steps], slots
        )


def _floating(dtype: np.dtype, own: np.dtype) -> np.dtype | None:
    """The dtype to which given entries are cast: integers to float, real ones to complex."""
    wanted = np.dtype(float) if dtype.kind in "biu" else dtype
    if own.kind == "c" and wanted.kind == "f":
        wanted = np.result_type(wanted, np.complex64)
    return None if wanted == dtype else wanted
