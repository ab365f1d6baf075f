"""Plans: the preorder lists of groups and leaves from which layouts are built.

A plan is what a layout is before its offsets are known. Constructors, JSON and ties all make a
plan; `grow` lays it out and checks it, which is why no other place has to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .places import GroupPlan, Leaf, LeafPlan, Plan, strides_of, tiles

Places = list[tuple[int, Any]]


def grow(plans: Sequence[Plan], make: Callable[[GroupPlan, Places, int, int], Any]) -> Any:
    """The root of the tree that a plan describes.

    `make(group, places, base, end)` makes a group from the (offset, node) of its children; owning
    leaves are laid out in the order of the plan. ValueError where the plan is no tree, or a leaf
    does not fit its place.
    """
    leaves = iter(_lay_out([plan for plan in plans if isinstance(plan, LeafPlan)]))
    groups: list[tuple[GroupPlan, Places, int]] = []
    root = None
    end = 0
    for plan in plans:
        if root is not None:
            raise ValueError("a layout has one root: nodes are left over")
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
    if root is None:
        raise ValueError("nodes of the layout are missing")
    return root


def _lay_out(plans: Sequence[LeafPlan]) -> Places:
    """Offset and leaf of each plan; every place is checked to lie where it should."""
    sizes = [Leaf(plan.shape, pairs=plan.pairs).size for plan in plans]
    lows, total = [], 0
    for plan, size in zip(plans, sizes, strict=True):
        lows.append(total)
        total += size if plan.owner is None else 0
    if total > sys.maxsize // 16:
        raise ValueError(f"a layout of {total} entries is larger than any memory")
    places: Places = []
    for low, plan in zip(lows, plans, strict=True):
        leaf = Leaf(plan.shape, plan.strides, alias=plan.owner is not None, pairs=plan.pairs)
        reach = leaf.extent(plan.start)
        if plan.owner is None:
            if leaf.size and (reach != (0, leaf.size) or not tiles(leaf)):
                raise ValueError(f"a leaf of shape {plan.shape} does not fill its place")
            places.append((low + plan.start, leaf))
            continue
        if not leaf.size or plan.owner >= len(plans) or plans[plan.owner].owner is not None:
            raise ValueError(f"a tied leaf of shape {plan.shape} has no owner")
        if plan.pairs != plans[plan.owner].pairs:
            raise ValueError(f"a tied leaf of shape {plan.shape} and its owner are of two kinds")
        if reach[0] < 0 or reach[1] > sizes[plan.owner]:
            raise ValueError(f"a tied leaf of shape {plan.shape} lies outside its owner")
        places.append((lows[plan.owner] + plan.start, leaf))
    return places


def retie(plans: Sequence[Plan], moved: int, kept: int) -> list[Plan]:
    """The plan in which leaf number `moved` is another name for leaf number `kept`.

    Aliases of `moved` come along. ValueError where one of them would have no even strides.
    """
    leaves = [plan for plan in plans if isinstance(plan, LeafPlan)]
    old, new = leaves[moved], leaves[kept]
    target = kept if new.owner is None else new.owner
    leaf = Leaf(new.shape, new.strides, pairs=new.pairs)
    table = np.empty(leaf.size, dtype=np.intp)
    table[Leaf(old.shape, old.strides, pairs=old.pairs).entries(old.start)] = leaf.entries(
        new.start
    )
    changed: list[Plan] = []
    number = 0
    for plan in plans:
        if isinstance(plan, LeafPlan):
            if number == moved:
                plan = LeafPlan(new.shape, leaf.strides, target, new.start, new.pairs)
            elif plan.owner == moved:
                plan = _follow(plan, table, target)
            number += 1
        changed.append(plan)
    return changed


def _follow(plan: LeafPlan, table: np.ndarray, owner: int) -> LeafPlan:
    """An alias of a leaf that moves: `table` maps entries of the old place to the new one."""
    index = table[Leaf(plan.shape, plan.strides, pairs=plan.pairs).entries(plan.start)]
    found = strides_of(index[..., 0] if plan.pairs else index)
    if found is None:
        raise ValueError(f"its alias of shape {plan.shape} would have no even strides")
    return LeafPlan(plan.shape, found[1], owner, found[0], plan.pairs)
