"""Models for tests: classes of every kind that is walked, and hypothesis strategies for models.

What the leaves of a model are, their paths and their roles, is worked out here without the package,
by the words of the contract: `places_of` is the oracle.
"""

# ruff: noqa: RUF009 - a field is made by a call

from __future__ import annotations

import enum
from collections import OrderedDict, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import componentvec as cv

TRAINABLE, BUFFER = "trainable", "buffer"

# -- classes -----------------------------------------------------------------------------------

_refusing = False


@contextmanager
def no_initialisers():
    """While this lasts, every __init__, __post_init__ and __setattr__ below is an error."""
    global _refusing
    _refusing = True
    try:
        yield
    finally:
        _refusing = False


def _check():
    """Called by all that must not run."""
    assert not _refusing, "a model is rebuilt without running any code of its classes"


class Affine(NamedTuple):
    """A named tuple."""

    w: Any
    b: Any


@dataclass
class BatchNorm:
    """Trainable gamma and beta, buffers mean and var, a static origin, a plain number."""

    gamma: Any
    mean: Any = cv.buffer(default=None)
    beta: Any = None
    var: Any = cv.buffer(default=None)
    origin: Any = cv.static(default=None)
    eps: float = 1e-5

    def __post_init__(self):
        _check()


@dataclass(frozen=True)
class Frozen:
    """A frozen dataclass."""

    w: Any
    act: Any = np.tanh

    def __post_init__(self):
        _check()


@dataclass(slots=True)
class Slotted:
    """A dataclass with slots."""

    w: Any
    inner: Any = None

    def __post_init__(self):
        _check()


@dataclass
class Inherited(Slotted):
    """Fields in the slots of a base, and one in the instance's own dictionary."""

    extra: Any = None


@cv.register(fields=("w", "b"), trainable=("w",))
class Dense:
    """A registered class: a trainable field, a buffer, and a name that is carried over."""

    def __init__(self, w, b, name="dense"):
        _check()
        self.w, self.b, self.name = w, b, name

    def __setattr__(self, name, value):
        _check()
        object.__setattr__(self, name, value)


class DenseChild(Dense):
    """A subclass, which inherits the registration."""


@cv.register
class Pair:
    """A registered class with slots, all of them fields."""

    __slots__ = ("first", "second")

    def __init__(self, first, second):
        _check()
        self.first, self.second = first, second


class Params(dict):
    """A subclass of dict."""


class Layers(list):
    """A subclass of list."""


class Unregistered:
    """An object that is not walked."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Level(float, enum.Enum):
    """A constant that is a float too."""

    HIGH = 2.0


@dataclass
class Kept:
    """Buffers alone."""

    arrays: list = cv.buffer()


_FIELDS = {
    Kept: (("arrays", BUFFER),),
    BatchNorm: (("gamma", TRAINABLE), ("mean", BUFFER), ("beta", TRAINABLE), ("var", BUFFER))
    + (("eps", TRAINABLE),),
    Frozen: (("w", TRAINABLE), ("act", TRAINABLE)),
    Slotted: (("w", TRAINABLE), ("inner", TRAINABLE)),
    Inherited: (("w", TRAINABLE), ("inner", TRAINABLE), ("extra", TRAINABLE)),
    Dense: (("w", TRAINABLE), ("b", BUFFER)),
    DenseChild: (("w", TRAINABLE), ("b", BUFFER)),
    Pair: (("first", TRAINABLE), ("second", TRAINABLE)),
}

# -- the oracle --------------------------------------------------------------------------------


def children_of(x):
    """Key, value and role of what a container holds; None for a leaf."""
    if type(x) in _FIELDS:
        return [(name, getattr(x, name), role) for name, role in _FIELDS[type(x)]]
    if isinstance(x, Affine):
        return [(name, getattr(x, name), TRAINABLE) for name in x._fields]
    if isinstance(x, dict):
        return [(key, value, TRAINABLE) for key, value in x.items()]
    if isinstance(x, list | tuple):
        return [(number, value, TRAINABLE) for number, value in enumerate(x)]
    return None


def places_of(model):
    """Path, value and role of everything in a model, containers too, in the order of a walk."""
    found = []

    def go(path, value, role):
        found.append((path, value, role))
        for key, child, own in children_of(value) or ():
            go((*path, key), child, BUFFER if role == BUFFER else own)

    go((), model, TRAINABLE)
    return found


def is_parameter(value):
    """Whether a value is an array that can be a parameter."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def parameters_of(model, role=TRAINABLE):
    """Path and array of the parameters of one role."""
    return [(path, x) for path, x, own in places_of(model) if own == role and is_parameter(x)]


def ties(array):
    """Whether a leaf can be tied: it has entries, and reaches none of them twice."""
    offsets = np.zeros(array.shape, dtype=int)
    for axis, (n, step) in enumerate(zip(array.shape, array.strides)):
        offsets += (np.arange(n) * step).reshape((n,) + (1,) * (array.ndim - axis - 1))
    return array.size > 0 and np.unique(offsets).size == array.size


def require_same(before, after):
    """Two models have the same types, keys, dtypes and values; all but parameters are the same."""
    ours, theirs = places_of(before), places_of(after)
    assert [path for path, _, _ in ours] == [path for path, _, _ in theirs]
    for (_, one, role), (_, other, _) in zip(ours, theirs):
        assert type(one) is type(other)
        if children_of(one) is not None:
            if isinstance(one, defaultdict):
                assert one.default_factory is other.default_factory
            if isinstance(one, dict):
                assert all(a is b for a, b in zip(one, other))  # the very keys
            for carried in ("name", "origin"):
                assert getattr(one, carried, None) is getattr(other, carried, None)
        elif is_parameter(one) and role == TRAINABLE:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
            assert one.shape == other.shape
        else:
            assert one is other


def require_same_identities(before, after):
    """What was one object at two places is one object again; what shared memory, shares it."""
    ours, theirs = places_of(before), places_of(after)
    at = {path: value for path, value, _ in ours}
    # A container at two places has its leaves at two places, and holds them once.
    homes = [(id(at[path[:-1]]), path[-1]) if path else None for path, _, _ in ours]
    for i, (_, one, role) in enumerate(ours):
        for j in range(i):
            other, same = ours[j][1], theirs[i][1] is theirs[j][1]
            if role != ours[j][2] or type(one) is not type(other):
                continue
            if children_of(one) is not None:
                assert same == (one is other)
            elif is_parameter(one) and role == TRAINABLE:
                at_home = homes[i] == homes[j]
                if one is other and (ties(one) or not one.size or at_home):
                    assert same
                tied = at_home or (ties(one) and ties(other))
                shared = tied and np.shares_memory(one, other)
                assert np.shares_memory(theirs[i][1], theirs[j][1]) == shared


# -- strategies --------------------------------------------------------------------------------

keys = st.sampled_from(("w", "b", "T", "shape", "odd key", "é", "0", "_private", 3, -1, "layers"))
statics = st.sampled_from(
    (
        None,
        3,
        1.5,
        "name",
        True,
        np.tanh,
        len,
        np.arange(3),
        np.float64(2.0),
        2j,
        np.zeros(2, object),
    )
)
numbers = st.integers(-40, 40).map(lambda n: n / 8)  # exact in all dtypes
shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
full_shapes = st.lists(st.integers(1, 3), max_size=2).map(tuple)
REAL = (np.float64,)
FLOATING = (np.float64, np.float32, np.float16)
ALL = (*FLOATING, np.complex128, np.complex64)


@st.composite
def arrays(draw, dtypes=REAL, shapes=shapes):
    """Arrays of small exact numbers in C, Fortran or reversed order."""
    shape, dtype = draw(shapes), np.dtype(draw(st.sampled_from(dtypes)))
    size = int(np.prod(shape))
    values = np.array(draw(st.lists(numbers, min_size=2 * size, max_size=2 * size)), dtype=float)
    array = (values[:size] + 1j * values[size:] if dtype.kind == "c" else values[:size]).astype(
        dtype
    )
    array = array.reshape(shape, order=draw(st.sampled_from("CF")))
    return array[::-1] if shape and draw(st.booleans()) else array


def views_of(array):
    """Views that the array contains: itself, transposed, reshaped, cut out, and repeated."""
    views = [array, array, array.T]
    if array.flags.c_contiguous:
        views.append(array.reshape(-1))
    if array.ndim:
        views += [array[1:], array[::-1], array[::2], np.broadcast_to(array, (2, *array.shape))]
    if array.ndim > 1:
        views += [array[..., 0:1], array[:, 1:].T]
    return views


def trees(leaves, buffers=True):
    """Nested containers of every kind that is walked."""

    def extend(children):
        held = children if buffers else statics
        named = st.dictionaries(keys, children, max_size=3)
        listed = st.lists(children, max_size=3)
        return st.one_of(
            named,
            named.map(OrderedDict),
            named.map(lambda d: defaultdict(list, d)),
            named.map(Params),
            listed,
            listed.map(Layers),
            listed.map(tuple),
            st.builds(Affine, children, children),
            st.builds(BatchNorm, children, held, children, held, children),
            st.builds(Frozen, children),
            st.builds(Slotted, children, children),
            st.builds(Inherited, children, children, children),
            st.builds(Dense, children, held),
            st.builds(DenseChild, children, held),
            st.builds(Pair, children, children),
            children.map(lambda child: {"twice": child, "again": [child]}),
        )

    return st.recursive(leaves, extend, max_leaves=8)


@st.composite
def models(draw, dtypes=REAL, buffers=True, shapes=shapes):
    """Models with ties of every kind, buffers on parameters' memory, statics, shared containers.

    The arrays from which views are taken stand in the model, before or after the rest, as
    parameters and where there are buffers as buffers too, so that no two leaves of one role share a
    part that neither contains.
    """
    bases = draw(st.lists(arrays(dtypes, shapes), min_size=1, max_size=3))
    views = [view for base in bases for view in views_of(base)]
    leaves = st.one_of(st.sampled_from(views), arrays(dtypes, shapes), statics)
    rest = draw(trees(leaves, buffers))
    parts = {"bases": bases, "rest": rest}
    if buffers:
        parts["kept"] = Kept(bases)
    return dict(reversed(parts.items())) if draw(st.booleans()) else parts
