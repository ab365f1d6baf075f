"""Walking a whole model: its leaves by path, and how to build it again from new ones.

Every container and every leaf gets a numbered slot. To rebuild a model is to fill the slots of its
leaves and to run the steps, each of which makes one container from the slots of its children. A
container that stands at several places has one slot, and is made once. Nothing here recurses, so
nesting has no limit.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from .access import view
from .conveniences import is_vector
from .hidden import refuse_arrays_beside_items, refuse_hidden_arrays
from .paths import MAPPING, SEQUENCE, Path, check_key, format_path
from .places import GroupPlan, Leaf, LeafPlan, Plan
from .tracing import is_traced, untraced
from .tree import BUFFER, TRAINABLE, Opened, open_container

Rebuild = Callable[[Sequence[Any]], Any]


class Step(NamedTuple):
    """How the container in one slot is made of its children's slots."""

    slot: int
    rebuild: Rebuild
    children: itemgetter[Any]  # takes them out of all slots


class InnerVector(NamedTuple):
    """A component vector within a model; `leaves` are the numbers of its leaves, in its order.

    It is one value, made without steps. At a second place of the same vector the slot is -1.
    """

    slot: int
    path: Path
    value: Any
    leaves: range


class Walk(NamedTuple):
    """All of a model.

    `nodes` has, in preorder, groups and the numbers of leaves. A leaf is anything that is no
    container; `paths`, `values`, `roles` and `slots` go by its number. In a container that stands
    at several places, a leaf has a number for each of them, and one slot. Leaves of component
    vectors have none (-1). `odd`: some keys cannot be part of a path.
    """

    nodes: list[GroupPlan | int]
    paths: list[Path]
    values: list[Any]
    roles: list[str]
    slots: list[int]
    steps: list[Step]  # children before their parents; the root last, in slot 0
    vectors: list[InnerVector]
    size: int  # number of slots
    odd: bool


def walk(model: Any, share: bool = True) -> Walk:
    """Walk a model; unless `share` is set, each place of a container is one for itself.

    TypeError for what holds arrays and cannot be walked, ValueError for a cycle.
    """
    walker = _Walker(share)
    walker.visit((), model, TRAINABLE, None)
    frames = walker.frames
    while frames:
        frame = frames[-1]
        path, role, before, slots = frame.path, frame.role, frame.before, frame.slots
        for key, value, own in frame.rest:
            known = None if before is None else before[len(slots)]
            slots.append(
                walker.visit((*path, key), value, BUFFER if role == BUFFER else own, known)
            )
            if frames[-1] is not frame:
                break
        else:
            walker.leave()
    return walker.walked._replace(size=walker.size, odd=walker.odd)


class _Frame:
    """A container that is being walked, and what is left of it.

    `slots` are those of its children so far; `before` is the whole list where this container was
    walked at another place before.
    """

    __slots__ = ("before", "path", "rebuild", "rest", "role", "slot", "slots", "value")

    def __init__(
        self, path: Path, value: Any, role: str, slot: int, before: list[int] | None, opened: Opened
    ) -> None:
        self.path, self.value, self.role = path, value, role
        self.slot, self.before = slot, before
        self.rebuild = opened.rebuild
        self.slots: list[int] = []
        self.rest: Iterator[Any] = iter(())


class _Walker:
    """What is known in the middle of a walk."""

    def __init__(self, share: bool) -> None:
        self.walked = Walk([], [], [], [], [], [], [], 0, False)
        self.frames: list[_Frame] = []
        self.size = 0
        self.odd = False
        self.share = share
        self.seen: dict[tuple[int, str], int] = {}  # slots by container and role
        self.inside: dict[int, list[int]] = {}  # slots of the children, by slot of the container
        self.active: set[int] = set()  # containers that are open now
        self.alive: list[Any] = []  # containers are kept, so that no id is given out twice

    def visit(self, path: Path, value: Any, role: str, known: int | None) -> int:
        """Take in what stands at a path, and give its slot; a container is entered.

        `known` is the slot that it got at another place of the container around it.
        """
        if is_vector(value):
            return self._take_vector(path, value, role, known)
        opened = open_container(value)
        if opened is None:
            return self._take_leaf(path, value, role, self._new_slot() if known is None else known)
        if id(value) in self.active:
            raise ValueError(
                f"the model contains itself at {format_path(path)!r}: a cycle has no parameters "
                "in any order"
            )
        refuse_arrays_beside_items(value, opened, path)
        self.active.add(id(value))
        slot, is_new = self._slot_of(value, role, known)
        frame = _Frame(path, value, role, slot, None if is_new else self.inside[slot], opened)
        keys = opened.keys
        if opened.kind != SEQUENCE:
            keys = tuple(key if type(key) is str else self._key(key) for key in keys)
        frame.rest = iter(zip(keys, opened.values, opened.roles, strict=True))
        self.walked.nodes.append(GroupPlan(opened.kind, keys))
        self.frames.append(frame)
        return slot

    def leave(self) -> None:
        """Close the innermost container."""
        frame = self.frames.pop()
        self.active.discard(id(frame.value))
        if frame.before is None:
            self.inside[frame.slot] = frame.slots
            self.walked.steps.append(Step(frame.slot, frame.rebuild, _getter(frame.slots)))

    def _new_slot(self) -> int:
        """A slot that nothing has yet."""
        self.size += 1
        return self.size - 1

    def _slot_of(self, value: Any, role: str, known: int | None) -> tuple[int, bool]:
        """The slot of a container, and whether this is its first place."""
        self.alive.append(value)
        if known is None and self.share:
            known = self.seen.get((id(value), role))
        if known is not None:
            return known, False
        slot = self.seen[id(value), role] = self._new_slot()
        return slot, True

    def _take_leaf(self, path: Path, value: Any, role: str, slot: int) -> int:
        """Note a leaf."""
        if type(value) is not np.ndarray and not is_traced(value):
            refuse_hidden_arrays(value, path)
        _, paths, values, roles, slots, *_ = self.walked
        self.walked.nodes.append(len(paths))
        paths.append(path)
        values.append(value)
        roles.append(role)
        slots.append(slot)
        return slot

    def _take_vector(self, path: Path, vector: Any, role: str, known: int | None) -> int:
        """Note the leaves of a component vector: arrays all of them, also the numbers."""
        slot, is_new = self._slot_of(vector, role, known)
        first = len(self.walked.paths)
        for inner, offset, node in vector._layout._walk():
            if isinstance(node, Leaf):
                leaf = vector._at(vector._offset + offset, node, ())
                if isinstance(leaf, np.generic):
                    leaf = view(vector._root, vector._offset + offset, node)
                self._take_leaf(path + inner, leaf, role, -1)
            else:
                self.walked.nodes.append(GroupPlan(node._kind, tuple(node._children)))
        leaves = range(first, len(self.walked.paths))
        self.walked.vectors.append(InnerVector(slot if is_new else -1, path, vector, leaves))
        return slot

    def _key(self, key: Any) -> Any:
        """A key as a plain string or integer; an odd one as it is, for `prune` to refuse."""
        try:
            return check_key(key, ())
        except TypeError:
            self.odd = True
            return key


def is_inexact(value: Any, numbers: bool = True) -> bool:
    """Whether a leaf is an array of floating or complex dtype, or, if these count, a number."""
    if type(value) is np.ndarray:
        return value.dtype.kind in "fc"
    plain = untraced(value)
    if isinstance(plain, np.ndarray):
        return plain.dtype.kind in "fc"
    return (
        numbers
        and isinstance(plain, float | complex | np.inexact)
        and not isinstance(plain, enum.Enum)
    )


def rebuild(steps: Sequence[Step], slots: list[Any]) -> Any:
    """Make all containers from the slots of the leaves; the root is in slot 0."""
    for slot, build, children in steps:
        slots[slot] = build(children(slots))
    return slots[0]


def _getter(slots: Sequence[int]) -> itemgetter[Any]:
    """What takes the items of these slots, always as a list or a tuple."""
    if not slots:
        return itemgetter(slice(0, 0))
    first, last = slots[0], slots[-1]
    if len(slots) == last - first + 1 and all(b - a == 1 for a, b in pairwise(slots)):
        return itemgetter(slice(first, last + 1))
    return itemgetter(*slots)


#: what stands for a position of a sequence in which nothing is chosen
_NOTHING = GroupPlan(MAPPING, ())


def prune(
    nodes: Sequence[GroupPlan | int], plans: dict[int, LeafPlan]
) -> tuple[list[Plan], list[int], frozenset[Path]]:
    """The plan of the chosen leaves alone, their numbers in its order, and the paths cut off.

    A group without any chosen leaf goes; only in a sequence, where positions must stay, an empty
    group is left in its place. TypeError for a key of any other group that is no name.
    """
    children, kept = _children(nodes, plans)
    plan: list[Plan] = []
    order: list[int] = []
    spare: set[Path] = set()
    stack: list[tuple[int, Path]] = [(0, ())]
    while stack:
        position, path = stack.pop()
        node = nodes[position]
        if position and not kept[position]:
            plan.append(_NOTHING)
        elif isinstance(node, int):
            order.append(node)
            plan.append(plans[node])
        else:
            for key in node.keys if kept[position] else ():
                if type(key) not in (str, int):
                    check_key(key, path)
            named = list(zip(node.keys, children[position], strict=True))
            spare.update((*path, key) for key, child in named if not kept[child])
            if node.kind != SEQUENCE or not kept[position]:
                named = [(key, child) for key, child in named if kept[child]]
            plan.append(GroupPlan(node.kind, tuple(key for key, _ in named)))
            stack.extend((child, (*path, key)) for key, child in reversed(named))
    return plan, order, frozenset(spare)


def _children(
    nodes: Sequence[GroupPlan | int], plans: dict[int, LeafPlan]
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
