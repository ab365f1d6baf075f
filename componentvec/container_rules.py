"""Rules for models that autograd traces itself: its boxes of dicts, lists and tuples.

Autograd's own rule for reading an item of a container copies the container for every item. Here all
leaves are read at once: each has a node of its own below one hub, and backward their gradients are
planted into one container of the model's kind, so that a gradient is linear in the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autograd.builtins import DictBox, SequenceBox
from autograd.core import JVPNode, defjvp_argnums, defvjp_argnums
from autograd.extend import primitive, vspace
from autograd.numpy.numpy_boxes import ArrayBox

from .rules import box_vector, leaf_node, node_of, tangent_node
from .tracing import is_traced, tracing
from .tree import Opened, add_opener, open_container
from .walking import Walk, rebuild, walk


def expand(box: Any) -> Any:
    """A traced container as a plain one of traced leaves."""
    walked = _walk(box._value)
    below = box._node
    if isinstance(below, JVPNode):
        tangents = _leaves(below.g)
        nodes = {slot: tangent_node(tangents[slot]) for slot in _leaves(box._value)}
    else:
        hub = node_of(below, lambda g: (_collect(walked, g.parts),))
        nodes = {slot: leaf_node(hub, slot) for slot in _leaves(box._value)}
    slots = _statics(walked)
    for found in walked.leaves:
        if found.slot in nodes:
            slots[found.slot] = ArrayBox(found.value, box._trace, nodes[found.slot])
    for slot, _, vector in walked.vectors:
        slots[slot] = box_vector(vector, box._trace, nodes[slot])
    return rebuild(walked.steps, slots)


def _walk(container: Any) -> Walk:
    """Walk a container, each place for itself: to autograd places are independent."""
    return walk(expand(container) if is_traced(container) else container, share=False)


def _statics(walked: Walk) -> list[Any]:
    """Slots with all leaves that are not traced."""
    slots: list[Any] = [None] * walked.size
    for found in walked.leaves:
        if found.slot >= 0:
            slots[found.slot] = found.value
    return slots


def _leaves(container: Any) -> dict[int, Any]:
    """The differentiable leaves of a container by their slots."""
    walked = _walk(container)
    leaves = {
        found.slot: found.value
        for found in walked.leaves
        if found.slot >= 0 and _is_differentiable(found.value)
    }
    return leaves | {slot: vector for slot, _, vector in walked.vectors}


def _is_differentiable(value: Any) -> bool:
    """Whether a leaf is a number or an array of floating or complex dtype."""
    plain = tracing.value(value) if is_traced(value) else value
    if isinstance(plain, np.ndarray):
        return plain.dtype.kind in "fc"
    return isinstance(plain, float | complex | np.inexact)


def _collect(walked: Walk, parts: Sequence[tuple[int, Any]]) -> Any:
    """The gradient of a container from the gradients of its leaves."""
    return plant(walked, [slot for slot, _ in parts], *[g for _, g in parts])


@primitive
def plant(walked: Walk, places: Sequence[int], *leaves: Any) -> Any:
    """A container of the walked kind with each leaf added in at its slot, zeros elsewhere."""
    slots: list[Any] = [None] * walked.size
    for found in walked.leaves:
        if found.slot >= 0 and _is_differentiable(found.value):
            slots[found.slot] = vspace(found.value).zeros()
    for slot, _, vector in walked.vectors:
        slots[slot] = vspace(vector).zeros()
    for slot, leaf in zip(places, leaves, strict=True):
        slots[slot] += leaf
    return rebuild(walked.steps, slots)


def _plant_vjp(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    places = args[1]

    def vjp(g: Any) -> list[Any]:
        leaves = _leaves(g)
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
