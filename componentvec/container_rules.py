"""Rules for models that autograd traces itself: its boxes of dicts, lists and tuples.

Autograd's own rule for reading an item of a container copies the container for every item. Here all
leaves are read at once: each has a node of its own below one hub, and backward their gradients are
planted into one container of the model's kind, so that a gradient is linear in the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd.builtins import DictBox, SequenceBox
from autograd.core import JVPNode, VJPNode, defjvp_argnums, defvjp_argnums
from autograd.extend import primitive, vspace
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import notrace_primitives

from .rules import box_vector, leaf_node, node_of, tangent_node
from .tracing import is_traced
from .tree import Opened, add_opener, open_container
from .walking import Walk, is_inexact, rebuild, walk


class _KeptVJPNode(VJPNode):
    """The node of a traced container, with the container of traced leaves that was made of it."""

    __slots__ = ("expanded",)


class _KeptJVPNode(JVPNode):
    """The same in forward mode."""

    __slots__ = ("expanded",)


notrace_primitives[_KeptVJPNode] = notrace_primitives[VJPNode]
notrace_primitives[_KeptJVPNode] = notrace_primitives[JVPNode]


def expand(box: Any) -> Any:
    """A traced container as a plain one of traced leaves; the same one whenever it is asked for."""
    if not hasattr(box._node, "expanded"):
        expanded = _expand(box)
        if isinstance(box._node, JVPNode):
            box._node = tangent_node(box._node.g, _KeptJVPNode)
        else:
            box._node = node_of(box._node, lambda g: (g,), _KeptVJPNode)
        box._node.expanded = expanded
    return box._node.expanded


def _expand(box: Any) -> Any:
    """Make the container of traced leaves."""
    walked = _walk(box._value)
    below = box._node
    leaves = _leaves(walked)
    if isinstance(below, JVPNode):
        tangents = _leaves(_walk(below.g))
        nodes = {slot: tangent_node(tangents[slot]) for slot in leaves}
    else:
        hub = node_of(below, lambda g: (_collect(walked, g.parts),))
        nodes = {slot: leaf_node(hub, slot) for slot in leaves}
    slots: list[Any] = [None] * walked.size
    for slot, value in zip(walked.slots, walked.values, strict=True):
        if slot >= 0:
            slots[slot] = ArrayBox(value, box._trace, nodes[slot]) if slot in nodes else value
    for inner in walked.vectors:
        slots[inner.slot] = box_vector(inner.value, box._trace, nodes[inner.slot])
    return rebuild(walked.steps, slots)


def _walk(container: Any) -> Walk:
    """Walk a container, each place for itself: to autograd places are independent."""
    return walk(expand(container) if is_traced(container) else container, share=False)


def _leaves(walked: Walk) -> dict[int, Any]:
    """The differentiable leaves by their slots; a component vector is one."""
    leaves = {
        slot: value
        for slot, value in zip(walked.slots, walked.values, strict=True)
        if slot >= 0 and is_inexact(value)
    }
    return leaves | {inner.slot: inner.value for inner in walked.vectors}


def _collect(walked: Walk, parts: Sequence[tuple[int, Any]]) -> Any:
    """The gradient of a container from the gradients of its leaves."""
    return plant(walked, [slot for slot, _ in parts], *[g for _, g in parts])


@primitive
def plant(walked: Walk, places: Sequence[int], *leaves: Any) -> Any:
    """A container of the walked kind with each leaf added in at its slot, zeros elsewhere."""
    slots: list[Any] = [None] * walked.size
    for slot, value in _leaves(walked).items():
        slots[slot] = vspace(value).zeros()
    for slot, leaf in zip(places, leaves, strict=True):
        slots[slot] += leaf
    return rebuild(walked.steps, slots)


def _plant_vjp(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    places = args[1]

    def vjp(g: Any) -> list[Any]:
        leaves = _leaves(_walk(g))
        return [leaves[places[n - 2]] for n in argnums]

    return vjp


def _plant_jvp(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    walked, places = args[:2]
    return plant(walked, [places[n - 2] for n in argnums], *gs)


defvjp_argnums(plant, _plant_vjp)
defjvp_argnums(plant, _plant_jvp)


def _open_traced(box: Any) -> Opened:
    """A traced container, opened."""
    opened = open_container(expand(box))
    assert opened is not None
    return opened


add_opener(DictBox, _open_traced)
add_opener(SequenceBox, _open_traced)
