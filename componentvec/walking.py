"""Walking a whole model: its leaves by path, and how to build it again from new ones.

Every container and leaf gets a numbered slot. To rebuild a model is to fill the slots of its leaves
and to run the steps, each of which makes one container from the slots of its children; containers
that stand at several places are made once. Nothing here recurses, so nesting has no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .access import view
from .conveniences import is_vector
from .paths import MAPPING, SEQUENCE, Path, check_key, format_path
from .places import GroupPlan, Leaf, LeafPlan, Plan
from .tracing import is_traced
from .tree import BUFFER, TRAINABLE, Opened, open_container, refuse_hidden_arrays

Rebuild = Callable[[Sequence[Any]], Any]


class Found(NamedTuple):
    """A leaf of a model: anything that is no container."""

    path: Path
    value: Any
    role: str
    slot: int


class Step(NamedTuple):
    """How the container in one slot is made of its children's slots."""

    slot: int
    rebuild: Rebuild
    children: tuple[int, ...]


class Walk(NamedTuple):
    """All of a model: `nodes` in preorder (a group, or the number of a leaf), leaves, and steps."""

    nodes: list[GroupPlan | int]
    leaves: list[Found]
    steps: list[Step]
    vectors: list[tuple[int, Path, Any]]  # slot, path and value of component vectors
    size: int  # number of slots


class _Visit(NamedTuple):
    path: Path
    value: Any
    role: str
    slot: int
    opened: Opened | None
    live: bool  # whether this place is rebuilt, or holds what was rebuilt before


def walk(model: Any, share: bool = True) -> Walk:
    """Walk a model; where `share` is set, a container at several places has one slot.

    TypeError for what holds arrays and cannot be walked, ValueError for a cycle.
    """
    nodes: list[GroupPlan | int] = []
    leaves: list[Found] = []
    steps: list[Step] = []
    vectors: list[tuple[int, Path, Any]] = []
    slots: dict[tuple[int, str], int] = {}
    active: set[int] = set()
    alive: list[Any] = []  # what is walked is kept, so that no id is given out twice
    size = 1
    stack: list[_Visit | int] = [_Visit((), model, TRAINABLE, 0, open_container(model), True)]
    while stack:
        visit = stack.pop()
        if isinstance(visit, int):
            active.discard(visit)
            continue
        path, value, role, slot, opened, live = visit
        if opened is None:
            if not is_traced(value):
                refuse_hidden_arrays(value, path)
            nodes.append(len(leaves))
            leaves.append(Found(path, value, role, slot))
            continue
        if id(value) in active:
            raise ValueError(
                f"the model contains itself at {format_path(path)!r}: a cycle has no parameters "
                "in any order"
            )
        if is_vector(value):
            _walk_vector(path, value, role, nodes, leaves)
            if live:
                vectors.append((slot, path, value))
            continue
        alive.append((value, opened))
        active.add(id(value))
        stack.append(id(value))
        keys = tuple(check_key(key, path) for key in opened.keys)
        nodes.append(GroupPlan(opened.kind, keys))
        visits = []
        for key, child, own in zip(keys, opened.values, opened.roles, strict=True):
            child_role = BUFFER if role == BUFFER else own
            inner = open_container(child)
            known = slots.get((id(child), child_role)) if inner is not None else None
            child_slot = size if known is None else known
            size += known is None
            if share and inner is not None and known is None:
                slots[id(child), child_role] = child_slot
                alive.append(child)
            visits.append(
                _Visit((*path, key), child, child_role, child_slot, inner, live and known is None)
            )
        if live:
            steps.append(Step(slot, opened.rebuild, tuple(v.slot for v in visits)))
        stack.extend(reversed(visits))
    steps.reverse()  # children before their parents
    return Walk(nodes, leaves, steps, vectors, size)


def _walk_vector(
    path: Path, vector: Any, role: str, nodes: list[GroupPlan | int], leaves: list[Found]
) -> None:
    """The leaves of a component vector: arrays all of them, also the numbers."""
    for inner, offset, node in vector._layout._walk():
        if isinstance(node, Leaf):
            nodes.append(len(leaves))
            value = vector._at(vector._offset + offset, node, ())
            if isinstance(value, np.generic):
                value = view(vector._root, vector._offset + offset, node)
            leaves.append(Found(path + inner, value, role, -1))
        else:
            nodes.append(GroupPlan(node._kind, tuple(node._children)))


def rebuild(steps: Sequence[Step], slots: list[Any]) -> Any:
    """Make all containers from the slots of the leaves; the root is in slot 0."""
    for slot, build, children in steps:
        slots[slot] = build([slots[child] for child in children])
    return slots[0]


#: what stands for a position of a sequence in which nothing is chosen
_NOTHING = GroupPlan(MAPPING, ())


def prune(
    walked: Walk, plans: dict[int, LeafPlan]
) -> tuple[list[Plan], list[int], frozenset[Path]]:
    """The plan of the chosen leaves alone, their numbers in its order, and the paths cut off.

    A group without any chosen leaf goes; only in a sequence, where positions must stay, an empty
    group is left in its place.
    """
    children, kept = _children(walked.nodes, plans)
    plan: list[Plan] = []
    order: list[int] = []
    spare: set[Path] = set()
    stack: list[tuple[int, Path]] = [(0, ())]
    while stack:
        position, path = stack.pop()
        node = walked.nodes[position]
        if position and not kept[position]:
            plan.append(_NOTHING)
        elif isinstance(node, int):
            order.append(node)
            plan.append(plans[node])
        else:
            named = list(zip(node.keys, children[position], strict=True))
            spare.update((*path, key) for key, child in named if not kept[child])
            if node.kind != SEQUENCE or not kept[position]:
                named = [(key, child) for key, child in named if kept[child]]
            plan.append(GroupPlan(node.kind, tuple(key for key, _ in named)))
            stack.extend((child, (*path, key)) for key, child in reversed(named))
    return plan, order, frozenset(spare)


def _children(
    nodes: list[GroupPlan | int], plans: dict[int, LeafPlan]
) -> tuple[dict[int, list[int]], list[bool]]:
    """Positions of each group's children among the nodes, and which nodes hold a chosen leaf."""
    children: dict[int, list[int]] = {}
    kept = [False] * len(nodes)
    pending: list[int] = []  # read backwards, so that children come before their group
    for position in reversed(range(len(nodes))):
        node = nodes[position]
        if isinstance(node, int):
            kept[position] = node in plans
        else:
            own = children[position] = [pending.pop() for _ in node.keys]
            kept[position] = any(kept[child] for child in own)
        pending.append(position)
    return children, kept
