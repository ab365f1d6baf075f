"""What an instance stores, and blank instances into which that is written.

No method of the instance's class runs here, so that frozen classes, properties and ``__init__``
with side effects make no difference.
"""

from __future__ import annotations

import types
from functools import cached_property
from typing import Any, NamedTuple


class Stored(NamedTuple):
    """The ``__dict__`` of an instance, and its slots by defining class and name.

    `itself`: the instance is a dict that is its own ``__dict__``.
    """

    attributes: dict[str, Any]
    slots: dict[tuple[type, str], Any]
    itself: bool = False


def stored_in(x: Any) -> Stored:
    """What an instance stores, base classes first.

    The values of cached properties are left out: they belong to the old parameters and are
    computed anew when asked for.
    """
    cls = type(x)
    try:
        own = object.__getattribute__(x, "__dict__")
    except AttributeError:
        own = {}
    attributes = {} if own is x else dict(own)
    for name in [*attributes]:
        if isinstance(class_attribute(cls, name), cached_property):
            del attributes[name]
    slots = {}
    for owner in reversed(cls.__mro__):
        for name in _slot_names(owner):
            try:
                slots[owner, name] = vars(owner)[name].__get__(x)
            except AttributeError:
                continue
    return Stored(attributes, slots, own is x)


def restore(new: Any, stored: Stored) -> None:
    """Write attributes and slots into a blank instance."""
    if stored.itself:
        object.__setattr__(new, "__dict__", new)
    elif stored.attributes:
        object.__getattribute__(new, "__dict__").update(stored.attributes)
    for (owner, name), value in stored.slots.items():
        vars(owner)[name].__set__(new, value)


def blank(cls: type) -> Any:
    """An instance without any content; no ``__new__`` written in Python runs."""
    return builtin_base(cls).__new__(cls)


def builtin_base(cls: type) -> Any:
    """The builtin class that makes the instances of a class: for most classes, object."""
    return next(
        c for c in cls.__mro__ if isinstance(vars(c).get("__new__"), types.BuiltinFunctionType)
    )


def is_plain(cls: type) -> bool:
    """Whether instances are nothing but their attributes and slots."""
    return builtin_base(cls) in (object, types.SimpleNamespace)


def is_namedtuple(cls: type) -> bool:
    """Whether a class is a tuple whose items have names."""
    return issubclass(cls, tuple) and isinstance(class_attribute(cls, "_fields"), tuple)


def class_attribute(cls: type, name: str) -> Any:
    """An attribute of a class as it is written there, or None; no descriptor runs."""
    return next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), None)


def _slot_names(owner: type) -> list[str]:
    """Names of the slots that a class itself defines, in the order in which it lists them."""
    declared = vars(owner).get("__slots__")
    if declared is None:
        return []
    # Read off the descriptors: `__slots__` may be an iterator, and long used up.
    names = [n for n, d in vars(owner).items() if isinstance(d, types.MemberDescriptorType)]
    listed = [declared] if isinstance(declared, str) else [*declared]
    private = f"_{owner.__name__.lstrip('_')}"
    order = {n: i for i, name in enumerate(listed) for n in (name, private + name)}
    return sorted(names, key=lambda name: order.get(name, len(order)))
