"""Nodes of autograd's graph at traced vectors, where its own rules see plain arrays only.

Whatever is computed from a traced vector has a node of these types, since autograd gives a result
the type of its arguments' node. They put buffers in place of vectors before a rule is looked up:
so a component may be called ``shape``, and every rule of autograd is right for vectors as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from autograd.core import (
    JVPNode,
    VJPNode,
    defjvp_argnums,
    defvjp_argnums,
    primitive_jvps,
    primitive_vjps,
)
from autograd.tracer import notrace_primitives, trace_primitives_map

from .adjoints import labelled, unlabelled
from .conveniences import is_vector
from .layouts import Layout
from .matrix import ComponentMatrix
from .spaces import Parts, flat
from .vector import ComponentVector

#: types with labels, plain and traced
LABELLED: set[type] = {ComponentVector, ComponentMatrix}

_new = object.__new__
_start_vjp, _start_jvp = VJPNode.__init__, JVPNode.__init__


class VectorVJPNode(VJPNode):
    """A node of reverse mode below a traced vector."""

    __slots__ = ()
    vjp: Callable[[Any], Any]

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Any
    ) -> None:
        if LABELLED.isdisjoint(map(type, args)):
            _start_vjp(self, value, fun, args, kwargs, argnums, parents)
        elif _takes_arrays(fun):
            args = tuple(map(_plain, args))
            _start_vjp(self, _plain(value), fun, args, kwargs, argnums, parents)
            layout = value._layout if is_vector(value) else None
            self.vjp = _before(unlabelled, layout, self.vjp)
        else:
            _start_vjp(self, value, fun, args, kwargs, argnums, parents)
            if is_vector(value):
                self.vjp = _before(labelled, value._layout, self.vjp)


class VectorJVPNode(JVPNode):
    """A node of forward mode below a traced vector; the tangent of a vector is a vector."""

    __slots__ = ()
    g: Any

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Any
    ) -> None:
        if not LABELLED.isdisjoint(map(type, args)) and _takes_arrays(fun):
            parents = [tangent_node(flat(parent.g)) for parent in parents]
            args = tuple(map(_plain, args))
            _start_jvp(self, _plain(value), fun, args, kwargs, argnums, parents)
        else:
            _start_jvp(self, value, fun, args, kwargs, argnums, parents)
        if is_vector(value):
            self.g = labelled(self.g, value._layout)


notrace_primitives[VectorVJPNode] = notrace_primitives[VJPNode]
notrace_primitives[VectorJVPNode] = notrace_primitives[JVPNode]


def _takes_arrays(fun: Any) -> bool:
    """Whether a primitive is a function of arrays; users' own keep the vectors they are given."""
    module = getattr(fun.fun, "__module__", None) or "numpy"  # some ufuncs know none
    return module.partition(".")[0] in ("autograd", "numpy", "scipy")


def _shelter(fun: Any) -> None:
    """Let a function's rules see plain arrays where the node is none of the above, too.

    An array that autograd traced before it met any vector has a plain node. Most rules do well with
    vectors among their arguments; those of these functions read attributes, or label gradients.
    """
    vjp, jvp = primitive_vjps[fun], primitive_jvps[fun]

    def sheltered_vjp(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return _before(unlabelled, None, vjp(argnums, ans, tuple(map(_plain, args)), kwargs))

    def sheltered_jvp(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return jvp(argnums, tuple(map(flat, gs)), ans, tuple(map(_plain, args)), kwargs)

    defvjp_argnums(fun, sheltered_vjp)
    defjvp_argnums(fun, sheltered_jvp)


def _plain(value: Any) -> Any:
    """The array within a vector or a matrix."""
    return value._data if type(value) is ComponentMatrix else flat(value)


def _before(
    convert: Callable[[Any, Any], Any], layout: Layout | None, vjp: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """A rule that gets gradients converted: labelled, or plain."""
    return lambda g: vjp(convert(g, layout))


for _function in (np.einsum, np.matmul, np.outer, np.where):
    _shelter(trace_primitives_map[_function])


# -- nodes that are made directly, without a look at autograd's tables -------------------------


def node_of(parent: VJPNode, vjp: Callable[[Any], Any], kind: type = VectorVJPNode) -> Any:
    """A node of reverse mode with one parent."""
    node: Any = _new(kind)
    node.parents = [parent]
    node.vjp = vjp
    return node


def leaf_node(hub: VJPNode, place: Any) -> VJPNode:
    """The node of a leaf, whose gradient is a part of what meets at a hub."""
    return node_of(hub, lambda g: (Parts([(place, g)]),))


def tangent_node(g: Any, kind: type = VectorJVPNode) -> Any:
    """A node of forward mode with a given tangent."""
    node: Any = _new(kind)
    node.g = g
    return node


def label_node(node: Any, layout: Layout) -> Any:
    """The node of a vector, given that of its buffer."""
    if isinstance(node, VJPNode):
        return node_of(node, lambda g: (unlabelled(g, layout),))
    return tangent_node(labelled(node.g, layout)) if isinstance(node, JVPNode) else node


def buffer_node(node: Any) -> Any:
    """The node of a buffer, given that of its vector."""
    if isinstance(node, VJPNode):
        return node_of(node, lambda g: (g,))
    return tangent_node(flat(node.g)) if isinstance(node, JVPNode) else node
