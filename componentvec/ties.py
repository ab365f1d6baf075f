"""Ties of a layout: leaves that are names for one place, and how one more leaf is tied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .misses import show_path
from .nodes import Group, PathLike
from .paths import format_path
from .places import Leaf, LeafPlan, Plan, strides_of


def list_ties(group: Group) -> tuple[tuple[str, ...], ...]:
    """Path strings of leaves that share memory, each set of them with its owner first."""
    ties: dict[int, list[str]] = {}
    for path, offset, leaf in group._leaves:
        owner = group._owner_of(offset, leaf) if leaf.alias else None
        if owner is not None:
            names = ties.setdefault(owner, [format_path(group._leaves[owner][0])])
            names.append(format_path(path))
    return tuple(tuple(ties[owner]) for owner in sorted(ties))


def plan_tie(group: Group, alias: PathLike, owner: PathLike) -> list[Plan] | None:
    """The plan in which one leaf is another name for another; None where it is that already.

    KeyError for unknown names, ValueError where the two do not fit.
    """
    moved, kept = group._ordinal(alias), group._ordinal(owner)
    (_, at, a), (_, there, o) = group._leaves[moved], group._leaves[kept]
    if a.shape != o.shape or a.pairs != o.pairs:
        kinds = ["complex" if leaf.pairs else "real" for leaf in (a, o)]
        raise ValueError(
            f"expected the same shape and kind, got {a.shape} ({kinds[0]}) "
            f"and {o.shape} ({kinds[1]})"
        )
    if a.size == 0:
        raise ValueError("an array of no entries has no memory")
    if at == there and a.strides == o.strides:
        return None
    leaves = group._leaf_plans
    first, second = leaves[moved].owner, leaves[kept].owner
    first = moved if first is None else first
    second = kept if second is None else second
    if first == second or group._leaves[first][2].size != a.size:
        raise ValueError(f"it shares memory with {show_path(group._leaves[first][0])!r} already")
    return _retie(group._plan(), leaves, moved, kept)


def _retie(plans: Sequence[Plan], leaves: Sequence[LeafPlan], moved: int, kept: int) -> list[Plan]:
    """The plan in which leaf number `moved` is another name for leaf number `kept`.

    Where `moved` is itself an alias, it reaches all entries of its owner. What shares its memory
    comes along. ValueError where one of these leaves would have no even strides.
    """
    old, new = leaves[moved], leaves[kept]
    target = kept if new.owner is None else new.owner
    left = moved if old.owner is None else old.owner
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
            elif left in (number, plan.owner):
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
