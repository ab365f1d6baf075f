"""Derivatives of component vectors: autograd's boxes, spaces and rules. Nothing else knows calculus.

Two things make gradients cheap. A leaf that is read from a traced vector gets its node made
directly, below one *hub* node a vector; backward, the gradients of all leaves meet at the hub as a
list of parts, and are put into one buffer at once. And wherever a vector is used as a whole,
autograd's own rules run, on plain arrays only: the nodes of vectors strip them (`flat`) on the way
in. So a component may be called ``shape``, and the gradient still has the vector's layout.

Two linear maps, adjoint to each other, carry it all: reading a leaf, and `scatter`, which puts
leaves into a buffer.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import JVPNode, VJPNode, defjvp_argnums, defvjp_argnums
from autograd.extend import Box, VSpace, primitive
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import getval, notrace_primitives, trace_primitives_map
from numpy.lib.mixins import NDArrayOperatorsMixin

from .access import view
from .conveniences import CONVENIENCES, keys
from .layouts import Layout
from .paths import MAPPING, Path, unknown
from .places import Leaf
from .sequences import ComponentList
from .tracing import tracing
from .tree import add_opener
from .vector import (
    ComponentVector,
    is_names,
    is_whole,
    open_vector,
    path_keys,
    select,
    through_lists,
    wrap,
)

Place = tuple[int, Leaf]

# -- gradients on their way back ---------------------------------------------------------------


class _Parts:
    """Gradients of leaves, with their places, on the way to one hub."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[tuple[Any, Any]]) -> None:
        self.parts = parts


class _PartsSpace(VSpace):
    """How parts add up: they are collected, and only the hub adds numbers."""

    def add(self, x_prev: _Parts, x_new: _Parts) -> _Parts:
        return _Parts(x_prev.parts + x_new.parts)

    def mut_add(self, x_prev: _Parts, x_new: _Parts) -> _Parts:
        x_prev.parts += x_new.parts
        return x_prev


_PARTS = _PartsSpace(None)
VSpace.register(_Parts, lambda value: _PARTS)


def node_of(parent: VJPNode, vjp: Any, kind: type = VJPNode) -> Any:
    """A node with one parent, made without looking anything up in autograd's tables."""
    node = kind.__new__(kind)
    node.parents = [parent]
    node.vjp = vjp
    return node


def leaf_node(hub: VJPNode, place: Any) -> VJPNode:
    """The node of a leaf that was read from a place below a hub."""
    return node_of(hub, lambda g: (_Parts([(place, g)]),))


def tangent_node(g: Any, kind: type = JVPNode) -> Any:
    """A node of forward mode with a given tangent."""
    node = kind.__new__(kind)
    node.g = g
    return node


# -- nodes of vectors: autograd's rules see plain arrays only ----------------------------------


class _VectorVJPNode(VJPNode):
    """A node of reverse mode below a traced vector."""

    __slots__ = ()

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Any
    ) -> None:
        super().__init__(flat(value), fun, tuple(map(flat, args)), kwargs, argnums, parents)
        vjp = self.vjp
        self.vjp = lambda g: vjp(flat(g))


class _VectorJVPNode(JVPNode):
    """A node of forward mode below a traced vector."""

    __slots__ = ()

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Any
    ) -> None:
        tangents = [tangent_node(flat(parent.g)) for parent in parents]
        args = tuple(map(flat, args))
        super().__init__(flat(value), fun, args, kwargs, argnums, tangents)
        if type(value) in (ComponentVector, VectorBox):
            self.g = _labelled(self.g, value._layout)


notrace_primitives[_VectorVJPNode] = notrace_primitives[VJPNode]
notrace_primitives[_VectorJVPNode] = notrace_primitives[JVPNode]


# -- traced vectors ----------------------------------------------------------------------------


class VectorBox(NDArrayOperatorsMixin):
    """A component vector, or a group of one, that autograd traces.

    It is no subclass of autograd's `Box`, whose public names would hide components. A group keeps
    the box of its root, and becomes an array with a node of its own only where it is used as one.
    """

    __slots__ = ("_hub", "_layout", "_node", "_origin", "_reads", "_source", "_trace", "_value")

    _value: Any  # the vector, plain or traced by an outer trace
    _trace: int
    _node: Any
    _layout: Layout
    _origin: tuple[VectorBox, int, Path] | None  # of a group: root, offset there, path
    _source: Any  # where the hub hangs: the node that made this vector
    _hub: Any  # the node at which gradients of leaves meet, once one was read
    _reads: dict[str, Any]

    def __init__(
        self, trace: int, layout: Layout, origin: tuple[VectorBox, int, Path] | None = None
    ) -> None:
        self._trace, self._layout, self._origin = trace, layout, origin
        self._hub, self._reads = None, {}

    # -- reading -------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        if type(key) is str:
            found = self._reads.get(key)
            return self._component(key) if found is None else found
        if is_names(key):
            return select(self, key)
        if is_whole(key):
            return self
        if isinstance(key, str):
            return self._component(str(key))
        return data_of(self)[flat(key)]

    def __getattr__(self, name: str) -> Any:
        if name in ("_value", "_node", "_source"):
            self._become_array()
            return getattr(self, name)
        if name[:1] == "_":
            raise AttributeError(f"a traced ComponentVector has no attribute {name!r}")
        found = self._reads.get(name)
        if found is not None:
            return found
        if name in self._layout._children:
            return self._component(name)
        if name in _TRACED_CONVENIENCES:
            return _TRACED_CONVENIENCES[name](self)
        if hasattr(np.ndarray, name):
            return getattr(data_of(self), name)
        raise AttributeError(unknown(name, self._layout._names(())))

    def _component(self, name: str) -> Any:
        """Read a component by its path string, and keep it."""
        try:
            offset, node = self._layout._find(name)
        except KeyError:
            found = through_lists(self, name)
            if found is None:
                raise
            return found
        path = () if isinstance(node, Leaf) else self._path + path_keys(self._layout, name)
        self._reads[name] = found = self._at(self._offset + offset, node, path)
        return found

    def _at(self, offset: int, node: Any, path: Path) -> Any:
        """What lies at an absolute offset of the root."""
        root = self._origin[0] if self._origin else self
        if isinstance(node, Leaf):
            return _read(root, offset, node)
        if isinstance(node, Layout) and node._kind == MAPPING:
            return self._group(offset, node, path)
        if isinstance(node, Layout):
            children = enumerate(node._children.values())
            node = [(number, offset + start, child) for number, (start, child) in children]
        return ComponentList(root, node, path)

    def _group(self, offset: int, node: Layout, path: Path) -> VectorBox:
        """A group at an absolute offset of the root."""
        root = self._origin[0] if self._origin else self
        return VectorBox(root._trace, node, (root, offset, path))

    def _become_array(self) -> None:
        """Give a group a value and a node of its own: its entries, read at once."""
        assert self._origin is not None
        root, offset, path = self._origin
        self._layout._require_whole(path)
        flat = _read(root, offset, Leaf(self._layout._shape))
        whole = _wrap_box(self._layout, flat)
        self._value, self._node, self._source = whole._value, whole._node, whole._source

    @property
    def _offset(self) -> int:
        """Where it begins in the root."""
        return self._origin[1] if self._origin else 0

    @property
    def _path(self) -> Path:
        """Where a group hangs, for errors."""
        return self._origin[2] if self._origin else ()

    @property
    def _root(self) -> Any:
        raise TypeError(_NO_WRITES)

    def __len__(self) -> int:
        return self._layout._size

    def __iter__(self) -> Any:
        return iter([data_of(self)[i] for i in range(len(self))])

    def __contains__(self, value: object) -> bool:
        return value in getval(self)

    def __bool__(self) -> bool:
        return bool(getval(self))

    def __dir__(self) -> list[str]:
        return [k for k in self._layout._children if isinstance(k, str) and k.isidentifier()]

    def __repr__(self) -> str:
        return f"traced {getval(self)!r}"

    def _ipython_key_completions_(self) -> list[str]:
        return keys(self)

    __hash__ = object.__hash__

    # -- writing, which nothing traced allows --------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(_NO_WRITES)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in VectorBox.__slots__:
            raise TypeError(_NO_WRITES)
        object.__setattr__(self, name, value)

    # -- NumPy ---------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "autograd traces this vector, so that it is no plain array: "
            "use componentvec.data(v), and functions of autograd.numpy"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            raise TypeError(_NO_WRITES)
        wrapper = trace_primitives_map.get(ufunc)
        if method != "__call__" or wrapper is None:
            raise TypeError(f"autograd has no rule for numpy.{ufunc.__name__} ({method})")
        return wrapper(*inputs, called_by_autograd_dispatcher=True, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.copy:
            return self
        wrapper = trace_primitives_map.get(func) or getattr(anp, func.__name__, None)
        if wrapper is None:
            raise TypeError(f"autograd has no rule for numpy.{func.__name__}")
        return wrapper(*args, **kwargs)


_NO_WRITES = (
    "autograd traces this vector, which cannot be written in place; build a new one with "
    "componentvec.merge, ComponentVector(...) or layout.pack"
)


def box_vector(value: Any, trace: int, node: Any) -> VectorBox:
    """The traced vector of a value and a node: what autograd calls for every vector."""
    layout, dtype = value._layout, getval(value)._buffer.dtype
    if dtype.kind not in "fc":
        raise TypeError(
            f"derivatives need a floating vector, got dtype {dtype}; v.astype(float) makes one"
        )
    box = VectorBox(trace, layout)
    box._value, box._source = value, node
    if type(node) is VJPNode:
        if node.parents:
            node = node_of(node, lambda g: (g,), _VectorVJPNode)
        else:  # a root: what the caller gets is a vector, and memory of its own
            node = node_of(node, lambda g: (_fresh(g, layout, dtype),), _VectorVJPNode)
    elif type(node) is JVPNode:
        node = tangent_node(_labelled(node.g, layout), _VectorJVPNode)
        box._source = node
    box._node = node
    return box


Box.types.add(VectorBox)
Box.type_mappings[ComponentVector] = box_vector
Box.type_mappings[VectorBox] = box_vector


def _read(root: VectorBox, offset: int, leaf: Leaf) -> ArrayBox:
    """Read a leaf of a traced vector: a view, with a node made directly."""
    inner = root._value
    value = inner._at(inner._offset + offset, leaf, ())
    node = root._node
    if isinstance(node, JVPNode):
        tangent = node.g
        return ArrayBox(
            value, root._trace, tangent_node(tangent._at(tangent._offset + offset, leaf, ()))
        )
    hub = root._hub
    if hub is None:
        layout, dtype = root._layout, getval(inner)._buffer.dtype
        hub = root._hub = node_of(
            root._source, lambda g: (_collect(layout, dtype, g.parts),), _HubNode
        )
    return ArrayBox(value, root._trace, leaf_node(hub, (offset, leaf)))


class _HubNode(VJPNode):
    """The node at which gradients of leaves meet."""

    __slots__ = ()


# -- the two maps, and what is built of them ---------------------------------------------------


def _collect(layout: Layout, dtype: np.dtype, parts: list[tuple[Place, Any]]) -> Any:
    """The gradient of a vector from the gradients of its leaves."""
    places = [place for place, _ in parts]
    return scatter((layout, dtype), places, True, *[g for _, g in parts])


@primitive
def scatter(space: tuple[Layout, np.dtype], places: Sequence[Place], dual: bool, *leaves: Any) -> Any:
    """A new vector with each leaf added in at its place, and zeros elsewhere.

    A complex leaf that is stored as a pair (re, im) is put there as it is, or, where `dual` is
    set, as a gradient: autograd's d/d(re) - i d/d(im) becomes the pair (d/d(re), d/d(im)).
    """
    layout, dtype = space
    buffer = _tiled(layout, dtype, places, leaves)
    if buffer is None:
        buffer = np.zeros(layout._size, dtype)
        for (offset, leaf), given in zip(places, leaves, strict=True):
            value = np.asarray(given)
            target = view(buffer, offset, leaf)
            if leaf.pairs:
                value = value.conj() if dual else value
            elif value.dtype.kind == "c" and dtype.kind != "c":
                value = value.real
            target += value
    return wrap(layout, buffer)


def _tiled(layout: Layout, dtype: np.dtype, places: Sequence[Place], leaves: Any) -> Any:
    """The buffer in one go where the leaves, put in order, fill it exactly once; else None."""
    order = sorted(range(len(places)), key=lambda i: places[i][0])
    end = 0
    flat = []
    for i in order:
        offset, leaf = places[i]
        value = leaves[i]
        if type(value) is not np.ndarray:
            value = np.asarray(value)
        if offset != end or not leaf.plain:
            return None
        if value.dtype != dtype or value.shape != leaf.shape:
            return None
        end += leaf.size
        flat.append(value.reshape(-1))
    if end != layout._size or not flat:
        return None
    return np.concatenate(flat)


def _scatter_vjp(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    (layout, _), places, dual = args[:3]

    def vjp(g: Any) -> list[Any]:
        g = _labelled(g, layout)
        return [_taken(g, places[n - 3], not dual) for n in argnums]

    return vjp


def _taken(vector: Any, place: Place, dual: bool) -> Any:
    """A leaf read from a place; pairs as a number, or as autograd's complex gradient."""
    offset, leaf = place
    value = vector._at(vector._offset + offset, leaf, ())
    return anp.conj(value) if dual and leaf.pairs else value


def _scatter_jvp(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    space, places, dual = args[:3]
    return scatter(space, [places[n - 3] for n in argnums], dual, *gs)


defvjp_argnums(scatter, _scatter_vjp)
defjvp_argnums(scatter, _scatter_jvp)


@primitive
def cast(value: Any, dtype: Any) -> Any:
    """A leaf in another dtype: of complex numbers the real part, where it is real."""
    array = np.asarray(value)
    kind = np.dtype(dtype).kind
    return (array.real if array.dtype.kind == "c" and kind != "c" else array).astype(dtype)


defvjp_argnums(cast, lambda _, ans, args, kw: lambda g: (cast(g, anp.result_type(args[0])),))
defjvp_argnums(cast, lambda _, gs, ans, args, kwargs: cast(gs[0], args[1]))


def _astype(v: VectorBox, dtype: Any) -> Any:
    """`astype` of a traced vector, for which autograd has no rule of forward mode."""
    return _layout_of(v)._with_dtype(np.dtype(dtype)).wrap(cast(data_of(v), dtype))


def _assemble(layout: Layout, parts: Sequence[tuple[int, Leaf, Any]]) -> Any:
    """A new vector from the values of its leaves, some of them traced."""
    places = [(offset, leaf) for offset, leaf, _ in parts]
    return scatter((layout, layout._dtype), places, False, *[value for _, _, value in parts])


def _wrap_box(layout: Layout, box: Any) -> VectorBox:
    """A traced vector on a traced array."""
    if type(box) is VectorBox:
        layout._require_equal(box._layout)
        return box
    value = box._value
    if isinstance(value, np.ndarray):
        value = np.ascontiguousarray(value) if value.ndim else value
    vector = layout.wrap(value)
    node = box._node
    if isinstance(node, JVPNode):
        return box_vector(vector, box._trace, tangent_node(node.g))
    return box_vector(vector, box._trace, node_of(node, lambda g: (flat(g),)))


def data_of(box: VectorBox) -> ArrayBox:
    """The traced buffer of a traced vector."""
    value = flat(box._value)
    node = box._node
    if isinstance(node, JVPNode):
        return ArrayBox(value, box._trace, tangent_node(flat(node.g)))
    return ArrayBox(value, box._trace, node_of(node, lambda g: (g,)))


def _layout_of(box: VectorBox) -> Layout:
    """The layout of a traced vector."""
    root = box._origin[0] if box._origin else box
    return box._layout._with_dtype(getval(root)._root.dtype)


def flat(value: Any) -> Any:
    """The buffer of a vector, plain or traced; anything else as it is."""
    kind = type(value)
    if kind is ComponentVector:
        return value._buffer
    return data_of(value) if kind is VectorBox else value


def _labelled(value: Any, layout: Layout) -> Any:
    """A flat array, plain or traced, as a vector; a vector as it is."""
    if type(value) in (ComponentVector, VectorBox):
        return value
    if type(value) is ArrayBox:
        return _wrap_box(layout, value)
    return wrap(layout, np.ascontiguousarray(value))


def _fresh(g: Any, layout: Layout, dtype: np.dtype) -> Any:
    """A gradient as a vector on memory of its own."""
    if type(g) in (VectorBox, ArrayBox):
        return _labelled(g, layout)
    entries = np.asarray(flat(g))
    if entries.dtype.kind == "c" and dtype.kind != "c":
        entries = entries.real
    buffer = np.empty(layout._size, dtype)
    buffer[...] = entries
    return wrap(layout, buffer)


# -- the space in which gradients of vectors live ----------------------------------------------


class VectorSpace(VSpace):
    """The vectors of one layout and dtype."""

    def __init__(self, value: ComponentVector) -> None:
        buffer = value._buffer
        self.layout, self.dtype, self.shape = value._layout, buffer.dtype, buffer.shape
        self.iscomplex = buffer.dtype.kind == "c"

    @property
    def size(self) -> int:
        return self.shape[0] * (2 if self.iscomplex else 1)

    @property
    def ndim(self) -> int:
        return 1

    def zeros(self) -> ComponentVector:
        return self.layout.zeros(self.dtype)

    def ones(self) -> ComponentVector:
        one = 1 + 1j if self.iscomplex else 1
        return self.layout.wrap(np.full(self.shape, one, self.dtype))

    def standard_basis(self) -> Any:
        for i in range(self.shape[0]):
            for unit in (1, 1j) if self.iscomplex else (1,):
                vector = self.zeros()
                vector[i] = unit
                yield vector

    def randn(self) -> ComponentVector:
        values = np.random.randn(*self.shape)
        if self.iscomplex:
            values = values + 1j * np.random.randn(*self.shape)
        return self.layout.wrap(values.astype(self.dtype))

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.real(np.dot(np.conj(flat(x)), flat(y)))

    def _covector(self, x: Any) -> Any:
        return np.conj(x)


VSpace.register(ComponentVector, VectorSpace)

_TRACED_CONVENIENCES = CONVENIENCES | {
    "copy": lambda v: lambda: v,
    "astype": lambda v: functools.partial(_astype, v),
}

add_opener(VectorBox, open_vector)
tracing.types = Box.types
tracing.vectors = {VectorBox}
tracing.value = getval
tracing.stack = anp.array
tracing.wrap = _wrap_box
tracing.assemble = _assemble
tracing.data = data_of
tracing.layout = _layout_of
tracing.where = anp.where
