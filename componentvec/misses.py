"""What is said where a path or pattern leads nowhere: which names there are, what would do."""

from __future__ import annotations

from typing import Any

from .entries import split_label
from .paths import SEQUENCE, format_path, unknown
from .places import Leaf


def show_path(path: Any) -> str:
    """A path as an error shows it."""
    return format_path(path) if isinstance(path, tuple) else str(path)


def no_component(group: Any, path: Any) -> str:
    """What is said of a path that leads nowhere in a group."""
    shown, reason = show_path(path), _reason(group, path)
    if reason is not None:
        return f"no component {shown!r}: {reason}"
    message = unknown(shown, _names_near(group, path))
    if all(isinstance(key, str | int) for key in group._keys(path) or ()):
        return message
    return f"{message}; a path is one leaf or one group, layout.mask chooses several"


def no_match(group: Any, pattern: Any) -> str:
    """What is said of a pattern that matches nothing in a group."""
    shown = show_path(pattern)
    reason = reason_for_pattern(group, pattern)
    if reason is None:
        reason = unknown(shown, [format_path(path) for path, _, _ in group._leaves])
    return f"pattern {shown!r} matches nothing: {reason}"


def reason_for_pattern(group: Any, pattern: Any) -> str | None:
    """Why a pattern matches nothing, where it names an entry of an array or an item too many."""
    return _reason(group, pattern, "bounds take arrays (low, high), fixed takes a boolean mask")


def _names_near(group: Any, path: Any) -> list[str]:
    """Path strings of the components of the innermost group that a path still reaches."""
    keys = (group._keys(path) or ())[:-1]
    while keys:
        found = group._descend(keys)
        if found is not None and not isinstance(found[1], Leaf):
            break
        keys = keys[:-1]
    return group._names(keys)


def _reason(group: Any, path: Any, remedy: str | None = None) -> str | None:
    """Why a path leads nowhere, where it names an entry of an array or an item too many."""
    keys, index = group._keys(path), ""
    if keys is None:  # as "w[0,1]", which is a label and no path
        name, index = split_label(str(path))
        keys = (*(group._keys(name) or ()), 0) if index else ()
    for depth, key in enumerate(keys):
        found = group._descend(keys[:depth])
        if found is None or group._descend(keys[: depth + 1]) is not None:
            continue
        name, node = format_path(keys[:depth]) or "the root", found[1]
        if not isinstance(node, Leaf):
            too_many = node._kind == SEQUENCE and type(key) is int
            return f"{name!r} has {len(node._children)} items" if too_many else None
        part = {"re": ".real", "im": ".imag"}.get(str(key)) if node.pairs else None
        if not part and not isinstance(key, int | slice):
            return None
        what = f"an array of shape {node.shape}" if node.shape else "a number"
        entry = part or index or format_path(keys[depth:])
        return f"{name!r} is {what}; {remedy or f'read {name!r}, then {entry} of it'}"
    return None
