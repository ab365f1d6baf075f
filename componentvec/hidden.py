"""Arrays that hide in objects that are not walked: parameters are never dropped silently."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .instances import class_attribute, stored_in
from .paths import format_path
from .tracing import is_traced, tracing
from .tree import ATOMS, NEVER_WALKED, OPENERS, Opened, beside_items, open_container

# Collections that are not walked, but in which arrays may hide.
_COLLECTIONS = (dict, list, tuple, set, frozenset, deque, types.MappingProxyType)


def refuse_hidden_arrays(x: Any, path: Sequence[Any]) -> None:
    """Raise TypeError where an object that is not walked holds floating or complex arrays.

    Looked through: attributes, slots, collections, and the objects in them. Functions, classes,
    modules and NumPy's own objects are static, whatever they hold.
    """
    cls = type(x)
    if cls in ATOMS or issubclass(cls, NEVER_WALKED) or open_container(x) is not None:
        return
    stored = stored_in(x)
    held = {name: value for (_, name), value in stored.slots.items()} | stored.attributes
    cleared: dict[int, Any] = {}
    shown = _names_of_arrays(held, cleared)
    where = _where(path)
    article = "an" if cls.__name__[0] in "AEIOUaeiou" else "a"
    if shown:
        raise TypeError(
            f"{where} is {article} {cls.__name__}, which is not registered and holds arrays in "
            f"{shown}; register it with cv.register({cls.__name__}), or mark the field with "
            "cv.static() (outside a dataclass, "
            f"cv.register({cls.__name__}, fields=()) does the same)"
        )
    if _holds_array(x, cleared):
        wanted = "a dict, a list or a tuple" if issubclass(cls, _COLLECTIONS) else "a NumPy array"
        raise TypeError(
            f"{where} is {article} {cls.__name__}, which is not walked, and holds arrays; make it "
            f"{wanted}, or mark the field with cv.static()"
        )


def refuse_arrays_beside_items(x: Any, opened: Opened, path: Sequence[Any]) -> None:
    """Raise TypeError where a dict, list or tuple of an own class has arrays in attributes.

    Only its items are walked. A class that is registered, and a dataclass, say what is walked.
    """
    held = beside_items(x, opened)
    shown = _names_of_arrays(held, {}) if held else ""
    if shown:
        name = type(x).__name__
        raise TypeError(
            f"{_where(path)}, of class {name}, holds arrays in {shown} beside its items, and only "
            f"the items are walked; make them items, or keep the items in a field too and register "
            f"the class with cv.register({name}), or mark the field with cv.static()"
        )


def _where(path: Sequence[Any]) -> str:
    """A place in the model, in words."""
    return repr(format_path(path)) if path else "the model"


def _names_of_arrays(held: dict[str, Any], cleared: dict[int, Any]) -> str:
    """The names of the attributes that hold arrays, cut where there are many."""
    names = [str(name) for name, value in held.items() if _holds_array(value, cleared)]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _holds_array(value: Any, cleared: dict[int, Any]) -> bool:
    """Whether a floating or complex array is found in a value, at any depth.

    `cleared` has what was looked through and found empty, by id. It keeps those values alive, so
    that no other can get the id of one of them; what is found empty here joins it.
    """
    seen: dict[int, Any] = {}
    stack = [value]
    while stack:
        item = stack.pop()
        cls = type(item)
        if issubclass(cls, np.ndarray):
            if item.dtype.kind in "fc":
                return True
        elif not (
            cls in ATOMS or id(item) in seen or id(item) in cleared or issubclass(cls, NEVER_WALKED)
        ):
            seen[id(item)] = item
            if _is_array_like(item, cls):
                return True
            stack.extend(_contents(item, cls))
    cleared.update(seen)
    return False


def _is_array_like(x: Any, cls: type) -> bool:
    """Whether an object of another library presents itself as an array of floating numbers."""
    protocols = [class_attribute(cls, name) for name in ("__array__", "__array_interface__")]
    if protocols == [None, None] or is_traced(x) or open_container(x) is not None:
        return False
    try:
        kind = getattr(getattr(x, "dtype", None), "kind", None)
        return (kind or np.asarray(x).dtype.kind) in "fc"
    except Exception:  # whatever it is, it is not known to be harmless
        return True


def _contents(x: Any, cls: type) -> Iterator[Any]:
    """Whatever an object stores."""
    if is_traced(x):
        yield tracing.value(x)
        return
    opened = None if cls in OPENERS else open_container(x)  # theirs may be numbers of an array
    if opened is not None:
        yield from opened.values
        yield from beside_items(x, opened).values()
        return
    if issubclass(cls, (dict, types.MappingProxyType)):
        yield from x.values()
    elif issubclass(cls, _COLLECTIONS):
        yield from x
    stored = stored_in(x)
    yield from stored.slots.values()
    yield from stored.attributes.values()
