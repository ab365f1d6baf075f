"""Reading leaves of traced vectors at next to no cost.

A leaf that is read gets its box and node made directly. In reverse mode the nodes of all leaves of
one vector hang below one *hub*: backward, their gradients meet there as a list of parts, and are
put into one buffer at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.core import JVPNode, VJPNode
from autograd.extend import Box
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import getval

from .access import view
from .adjoints import Place, gather_parts
from .places import Leaf
from .tape import VectorVJPNode, node_of, tangent_node
from .vector import ComponentVector

NO_WRITES = (
    "autograd traces this vector, which cannot be written in place; build a new one with "
    "componentvec.merge, ComponentVector(...) or layout.pack, and a new array as w = w + 1"
)

_new = object.__new__


class LeafBox(ArrayBox):
    """A leaf of a traced vector, which cannot be written in place, as it is a view."""

    __slots__ = ()

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(NO_WRITES)


def _refuse(self: LeafBox, *args: Any, **kwargs: Any) -> Any:
    """TypeError for a method that writes in place."""
    raise TypeError(NO_WRITES)


def _refuse_views(self: LeafBox, other: Any) -> Any:
    """TypeError for an operator that writes in place; a number is no view."""
    if isinstance(getval(self), np.ndarray):
        raise TypeError(NO_WRITES)
    return NotImplemented


#: methods of an ndarray that write into it
WRITERS = ("fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort")
for _name in WRITERS:
    setattr(LeafBox, _name, _refuse)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(LeafBox, f"__i{_name}__", _refuse_views)

Box.types.add(LeafBox)
Box.type_mappings[LeafBox] = ArrayBox  # where an inner trace begins at a leaf of an outer one


class Hub:
    """Reads leaves of a vector in reverse mode."""

    __slots__ = ("_parents", "_source", "_value", "trace")

    def __init__(self, value: Any, trace: int, source: VJPNode) -> None:
        self._value, self.trace, self._source = value, trace, source
        self._parents: list[VJPNode] | None = None  # the one hub, once anything was read

    def read(self, offset: int, leaf: Leaf) -> LeafBox:
        """A leaf at an absolute offset: a view."""
        if self._parents is None:
            layout, dtype = self._value._layout, getval(self._value)._root.dtype
            hub = node_of(self._source, lambda g: (gather_parts(layout, dtype, g.parts),))
            self._parents = [hub]
        node = _new(VectorVJPNode)
        node.parents = self._parents
        node.vjp = Place(offset, leaf)
        return LeafBox(_read(self._value, offset, leaf), self.trace, node)


class Tangents:
    """Reads leaves of a vector and of its tangent in forward mode."""

    __slots__ = ("_tangent", "_value", "trace")

    def __init__(self, value: Any, trace: int, tangent: Any) -> None:
        self._value, self.trace, self._tangent = value, trace, tangent

    def read(self, offset: int, leaf: Leaf) -> LeafBox:
        """A leaf at an absolute offset, with its tangent: both views."""
        node = tangent_node(_read(self._tangent, offset, leaf))
        return LeafBox(_read(self._value, offset, leaf), self.trace, node)


class Entries:
    """Reads leaves of a vector by autograd's own rule for items, whatever it traces for."""

    __slots__ = ("_entries", "trace")

    def __init__(self, value: Any, trace: int, node: Any) -> None:
        self._entries, self.trace = ArrayBox(value._buffer, trace, node), trace

    def read(self, offset: int, leaf: Leaf) -> Any:
        """A leaf at an absolute offset: a copy."""
        found = self._entries[leaf.entries(offset)]
        return found[..., 0] + 1j * found[..., 1] if leaf.pairs else found


def reader(value: Any, trace: int, node: Any) -> Hub | Tangents | Entries:
    """What reads leaves of a traced vector, by the mode of its node."""
    if isinstance(node, VJPNode):
        return Hub(value, trace, node)
    if isinstance(node, JVPNode):
        return Tangents(value, trace, node.g)
    return Entries(value, trace, node)


def _read(vector: Any, offset: int, leaf: Leaf) -> Any:
    """A leaf of a vector, plain or traced by an outer trace."""
    offset += vector._offset
    if type(vector) is not ComponentVector:
        return vector._at(offset, leaf, ())
    value = view(vector._root, offset, leaf)
    return value if leaf.shape else value[()]
