"""Patterns of paths: which leaves of a tree of groups a pattern covers.

A pattern is a path whose keys may be wildcards. It is matched as a small automaton: a state is the
number of keys that a path has used up so far, and a path may be in several states at once.
"""

from __future__ import annotations

from typing import Any

from .paths import ANY, DEEP, SEQUENCE, Key
from .places import Leaf

States = frozenset[int]


def match(keys: tuple[Any, ...], root: Any) -> list[bool] | None:
    """For each leaf below `root`, in preorder, whether the pattern covers it; None: no match.

    A group that matches covers its leaves.
    """
    chosen: list[bool] = []
    hit = False
    stack: list[tuple[Any, States]] = [(root, _reach(keys, {0}))]
    while stack:
        node, states = stack.pop()
        covered = len(keys) in states
        hit = hit or covered
        if isinstance(node, Leaf):
            chosen.append(covered)
            continue
        count = len(node._children) if node._kind == SEQUENCE else None
        stack += [
            (child, states if covered else _advance(keys, states, key, count))
            for key, (_, child) in reversed(node._children.items())
        ]
    return chosen if hit else None


def _reach(keys: tuple[Any, ...], states: set[int]) -> States:
    """States of a pattern, with those that `**` reaches by standing for no key."""
    reached = set(states)
    for state in states:
        while state < len(keys) and keys[state] is DEEP:
            state += 1
            reached.add(state)
    return frozenset(reached)


def _advance(keys: tuple[Any, ...], states: States, key: Key, count: int | None) -> States:
    """States after one more key of a path; `count` is the length of the sequence it is in."""
    after = set()
    for state in states:
        wanted = keys[state]
        if wanted is DEEP:
            after.add(state)
        elif wanted is ANY or wanted == key:
            after.add(state + 1)
        elif count is not None and isinstance(wanted, slice):
            if key in range(*wanted.indices(count)):
                after.add(state + 1)
        elif count is not None and isinstance(wanted, int) and wanted + count == key:
            after.add(state + 1)
    return _reach(keys, after)
