"""Plans: the preorder lists of groups and leaves from which layouts are built.

A plan is what a layout is before its offsets are known. Constructors, JSON and ties all make a
plan; `grow` lays it out and checks it, which is why no other place has to.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .places import GroupPlan, Leaf, LeafPlan, Plan, repeats, tiles

Places = list[tuple[int, Any]]

#: entries that a buffer can have, at 16 bytes each
_MOST = sys.maxsize // 16


def grow(plans: Sequence[Plan], make: Callable[[GroupPlan, Places, int, int], Any]) -> Any:
    """The root of the tree that a plan describes.

    `make(group, places, base, end)` makes a group from the (offset, node) of its children; owning
    leaves are laid out in the order of the plan. ValueError where a name is given twice, or a leaf
    does not fit its place.
    """
    leaves = iter(_lay_out([plan for plan in plans if isinstance(plan, LeafPlan)]))
    groups: list[tuple[GroupPlan, Places, int]] = []
    root = None
    end = 0
    for plan in plans:
        assert root is None
        if isinstance(plan, GroupPlan):
            if len(set(plan.keys)) < len(plan.keys):
                raise ValueError(f"a name is given twice: {plan.keys}")
            groups.append((plan, [], end))
        elif not groups:
            raise ValueError("the root of a layout is a group")
        else:
            offset, leaf = next(leaves)
            groups[-1][1].append((offset, leaf))
            end += 0 if leaf.alias else leaf.size
        while groups and len(groups[-1][1]) == len(groups[-1][0].keys):
            group, places, base = groups.pop()
            node = make(group, places, base, end)
            if groups:
                groups[-1][1].append((base, node))
            else:
                root = node
    assert root is not None
    return root


def _lay_out(plans: Sequence[LeafPlan]) -> Places:
    """Offset and leaf of each plan; every place is checked to lie where it should."""
    sizes, lows, total = [], [], 0
    for plan in plans:
        size = math.prod(plan.shape) * (2 if plan.pairs else 1)
        if (size or math.prod(n or 1 for n in plan.shape)) > _MOST:
            raise ValueError(f"an array of shape {plan.shape} is larger than any memory")
        sizes.append(size)
        lows.append(total)
        total += size if plan.owner is None else 0
    if total > _MOST:
        raise ValueError(f"a layout of {total} entries is larger than any memory")
    places: Places = []
    for low, plan in zip(lows, plans, strict=True):
        leaf = Leaf(plan.shape, plan.strides, alias=plan.owner is not None, pairs=plan.pairs)
        if plan.owner is not None:
            _require_inside(plan, leaf, plans, sizes)
            low = lows[plan.owner]
        elif plan.strides is not None or plan.start:
            reach = leaf.extent(plan.start)
            if reach != (0, leaf.size) or (leaf.size and not tiles(leaf)):
                raise ValueError(f"a leaf of shape {plan.shape} does not fill its place")
        places.append((low + plan.start, leaf))
    return places


def _require_inside(
    plan: LeafPlan, leaf: Leaf, plans: Sequence[LeafPlan], sizes: Sequence[int]
) -> None:
    """ValueError for an alias that does not lie among the entries of an owner."""
    what = f"a tied leaf of shape {plan.shape}"
    owner = plan.owner
    if not leaf.size or owner is None or owner >= len(plans) or plans[owner].owner is not None:
        raise ValueError(f"{what} has no owner")
    if plan.pairs != plans[owner].pairs:
        raise ValueError(f"{what} and its owner are of two kinds")
    low, high = leaf.extent(plan.start)
    if low < 0 or high > sizes[owner]:
        raise ValueError(f"{what} lies outside its owner")
    if plan.pairs and any(step % 2 for step in (plan.start, *leaf.strides)):
        raise ValueError(f"{what} parts pairs (re, im)")
    if leaf.size > sizes[owner] or repeats(leaf):
        raise ValueError(f"{what} reaches an entry twice")
