"""The linear maps between a vector and its leaves, each with its adjoint.

Reading a leaf and scattering leaves into a vector are adjoint to each other, so that each is the
derivative of the other, at any order. `cast` is its own adjoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defjvp_argnums, defvjp_argnums, primitive
from autograd.numpy.numpy_vjps import match_complex

from .access import view
from .conveniences import is_vector
from .layouts import Layout
from .places import Leaf
from .spaces import Parts, flat
from .tracing import is_traced
from .vector import wrap


class Place:
    """Where a leaf lies in a vector.

    Called with the gradient of the leaf, it gives the leaf's part of the vector's gradient.
    """

    __slots__ = ("leaf", "offset")

    def __init__(self, offset: int, leaf: Leaf) -> None:
        self.offset, self.leaf = offset, leaf

    def __call__(self, g: Any) -> tuple[Parts]:
        return (Parts([(self, g)]),)


def gather_parts(layout: Layout, dtype: np.dtype, parts: Sequence[tuple[Place, Any]]) -> Any:
    """The gradient of a vector from the gradients of its leaves."""
    places, leaves = zip(*parts, strict=True)
    return scatter(layout, dtype, places, True, *leaves)


@primitive
def scatter(
    layout: Layout, dtype: np.dtype, places: Sequence[Place], dual: bool, *leaves: Any
) -> Any:
    """A new vector with each leaf added in at its place, and zeros elsewhere.

    A complex leaf that is stored as a pair (re, im) is put there as it is, or, where `dual` is
    set, as a gradient: autograd's d/d(re) - i d/d(im) becomes the pair (d/d(re), d/d(im)).
    """
    arrays = [leaf if type(leaf) is np.ndarray else np.asarray(leaf) for leaf in leaves]
    if dtype.kind != "c":
        for i, array in enumerate(arrays):
            if array.dtype.kind == "c" and not places[i].leaf.pairs:
                arrays[i] = array.real
    buffer = _joined(layout, dtype, places, arrays)
    if buffer is None:
        buffer = np.zeros(layout._size, dtype)
        for place, array in zip(places, arrays, strict=True):
            target = view(buffer, place.offset, place.leaf)
            target += array.conj() if dual and place.leaf.pairs else array
    return wrap(layout, buffer)


def _joined(
    layout: Layout, dtype: np.dtype, places: Sequence[Place], arrays: Sequence[np.ndarray]
) -> np.ndarray | None:
    """The buffer, made in one go where the leaves are plain slices that do not overlap."""
    offsets = [place.offset for place in places]
    pieces = []
    end = 0
    for i in sorted(range(len(offsets)), key=offsets.__getitem__):
        offset, leaf, array = offsets[i], places[i].leaf, arrays[i]
        if offset < end or not leaf.plain or array.shape != leaf.shape:
            return None
        if offset > end:
            pieces.append(np.zeros(offset - end, dtype))
        pieces.append(array if array.ndim == 1 else array.reshape(-1))
        end = offset + leaf.size
    if end < layout._size:
        pieces.append(np.zeros(layout._size - end, dtype))
    return np.concatenate(pieces, dtype=dtype, casting="same_kind") if pieces else None


def _scatter_vjp(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    layout, _, places, dual = args[:4]

    def vjp(g: Any) -> list[Any]:
        vector = labelled(g, layout)
        return [_taken(vector, places[n - 4], not dual, args[n]) for n in argnums]

    return vjp


def _taken(vector: Any, place: Place, dual: bool, target: Any) -> Any:
    """A leaf read from its place: complex or real as the target is, pairs conjugated if dual."""
    leaf = place.leaf
    value = vector._at(vector._offset + place.offset, leaf, ())
    return match_complex(target, anp.conj(value) if dual and leaf.pairs else value)


def _scatter_jvp(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    layout, dtype, places, dual = args[:4]
    return scatter(layout, dtype, [places[n - 4] for n in argnums], dual, *gs)


defvjp_argnums(scatter, _scatter_vjp)
defjvp_argnums(scatter, _scatter_jvp)


def labelled(value: Any, layout: Layout) -> Any:
    """A flat array, plain or traced, as a vector; a vector of that layout as it is."""
    if is_vector(value):
        layout._require_equal(value._layout)
        return value
    return wrap(layout, value if is_traced(value) else np.ascontiguousarray(value))


def unlabelled(value: Any, layout: Layout | None) -> Any:
    """The buffer of a vector, of that layout where one is given; an array as it is."""
    if layout is not None and is_vector(value):
        layout._require_equal(value._layout)
    return flat(value)


@primitive
def cast(value: Any, dtype: Any) -> Any:
    """A leaf in another dtype: of complex numbers the real part, where it is real."""
    array = np.asarray(value)
    kind = np.dtype(dtype).kind
    return (array.real if array.dtype.kind == "c" and kind != "c" else array).astype(dtype)


defvjp_argnums(cast, lambda _, ans, args, kw: lambda g: (cast(g, anp.result_type(args[0])),))
defjvp_argnums(cast, lambda _, gs, ans, args, kwargs: cast(gs[0], args[1]))
