"""Derivatives of component vectors: what autograd is told of them. Nothing else knows calculus.

Two things make gradients cheap. A leaf that is read from a traced vector gets its node made
directly (`hubs`), and backward the gradients of all leaves are put into one buffer at once. And
wherever a vector is used as a whole, autograd's own rules run, on plain arrays only (`tape`).

Two linear maps, adjoint to each other, carry it all: reading a leaf, and `adjoints.scatter`, which
puts leaves into a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import JVPNode, VJPNode
from autograd.extend import Box
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import getval

from .adjoints import Place, labelled, scatter, unlabelled
from .adjoints import cast as cast
from .boxes import VectorBox as VectorBox
from .boxes import data_of, layout_of, whole_box
from .hubs import reader
from .layouts import Layout
from .matrix import ComponentMatrix
from .places import Leaf
from .spaces import flat as flat
from .tape import LABELLED, label_node
from .tape import leaf_node as leaf_node
from .tape import node_of as node_of
from .tape import tangent_node as tangent_node
from .tracing import is_traced, tracing
from .tree import add_opener
from .vector import ComponentVector, open_vector, wrap


def box_vector(value: Any, trace: int, node: Any) -> VectorBox:
    """The traced vector of a value and a node: what autograd calls for every vector."""
    layout, dtype = value._layout, getval(value)._root.dtype
    if dtype.kind not in "fc":
        raise TypeError(
            f"derivatives need a floating vector, got dtype {dtype}; v.astype(float) makes one"
        )
    below = node
    if isinstance(node, JVPNode):
        below = node = label_node(node, layout)
    elif type(node) is VJPNode and not node.parents:  # a root: what the caller gets is fresh
        node = node_of(node, lambda g: (_fresh(g, layout, dtype),))
    elif type(node) is VJPNode:  # made of a plain array or a container
        vjp = node.vjp
        node.vjp = lambda g: tuple(map(flat, vjp(labelled(g, layout))))
    return whole_box(reader(value, trace, below), layout, value, node)


def _fresh(g: Any, layout: Layout, dtype: np.dtype) -> Any:
    """A gradient as a vector of the dtype, on memory of its own."""
    entries = unlabelled(g, layout)
    if is_traced(g):
        return labelled(cast(entries, dtype), layout)
    entries = np.asarray(entries)
    if entries.dtype.kind == "c" and dtype.kind != "c":
        entries = entries.real
    buffer = np.empty(layout._size, dtype)
    buffer[...] = entries
    return wrap(layout, buffer)


def wrap_box(layout: Layout, box: Any) -> VectorBox:
    """A traced vector on a traced buffer."""
    if type(box) is VectorBox:
        layout._require_equal(box._layout)
        return box
    if not hasattr(type(box), "dtype"):  # a traced list
        box = anp.array(box)
    value = box._value
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = np.ascontiguousarray(value)
    return box_vector(wrap(layout, value), box._trace, label_node(box._node, layout))


def _box_matrix(value: ComponentMatrix, trace: int, node: Any) -> ArrayBox:
    """A traced array without the labels of a matrix, which holds nothing traced."""
    return ArrayBox(value._data, trace, node)


def _assemble(layout: Layout, parts: Sequence[tuple[int, Leaf, Any]]) -> Any:
    """A new vector from the values of its leaves, some of them traced."""
    places = [Place(offset, leaf) for offset, leaf, _ in parts]
    return scatter(layout, layout._dtype, places, False, *[value for _, _, value in parts])


Box.types.add(VectorBox)
Box.type_mappings[ComponentVector] = box_vector
Box.type_mappings[VectorBox] = box_vector
Box.type_mappings[ComponentMatrix] = _box_matrix
add_opener(VectorBox, open_vector)
tracing.types = Box.types
tracing.vectors.add(VectorBox)
LABELLED.add(VectorBox)
tracing.value = getval
tracing.stack = anp.array
tracing.wrap = wrap_box
tracing.assemble = _assemble
tracing.data = data_of
tracing.layout = layout_of
tracing.where = anp.where
