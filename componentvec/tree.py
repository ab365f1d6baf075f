"""Containers to children and back: what is walked, and what is rebuilt from new children.

Everything here goes one level deep; walking a whole model is the caller's job.
"""

from __future__ import annotations

import enum
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .instances import (
    Stored,
    blank,
    builtin_base,
    class_attribute,
    is_namedtuple,
    is_plain,
    restore,
    stored_in,
)
from .paths import MAPPING, SEQUENCE
from .registry import BUFFER as BUFFER
from .registry import STATIC, Registration, marks_of, registration_of
from .registry import TRAINABLE as TRAINABLE
from .registry import buffer as buffer
from .registry import register as register
from .registry import static as static

T = TypeVar("T")


class Opened(NamedTuple):
    """A container taken apart. `rebuild` makes another one of the same type from new children.

    `rebuild` holds what is carried over and none of the children, and pickles where that does.
    """

    kind: str
    keys: tuple[Any, ...]
    values: tuple[Any, ...]
    roles: tuple[str, ...]
    rebuild: Callable[[Sequence[Any]], object]


# Only for classes of this package and of its dependencies, which live as long as it does.
OPENERS: dict[type, Callable[[Any], Opened]] = {}

# The exact types of most static values: a first, cheap look.
ATOMS = frozenset(
    (float, int, bool, complex, str, bytes, type(None), np.ndarray, np.float64, types.FunctionType)
)
# Static whatever they hold: functions and what they close over, constants, NumPy's own objects.
NEVER_WALKED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    type,
    partial,
    enum.Enum,
    np.ndarray,
    np.generic,
    np.ufunc,
    np.dtype,
)
_ITEMS = (dict, list, tuple)
_FACTORY: Any = vars(defaultdict)["default_factory"]


def open_container(x: Any) -> Opened | None:
    """Take a container apart, one level deep; None for anything that is not walked.

    Raises TypeError where a class has both items and fields, and AttributeError where an
    instance lacks a field that its class was registered with.
    """
    cls = type(x)
    if cls is dict:
        keys = tuple(x)
        roles = (TRAINABLE,) * len(keys)
        return Opened(MAPPING, keys, tuple(x.values()), roles, partial(_build_dict, keys))
    if cls is list or cls is tuple:
        return Opened(SEQUENCE, tuple(range(len(x))), tuple(x), (TRAINABLE,) * len(x), cls)
    if cls in ATOMS:
        return None
    opener = OPENERS.get(cls)
    if opener is not None:
        return opener(x)
    if issubclass(cls, NEVER_WALKED):
        return None
    registration = registration_of(cls)
    if is_namedtuple(cls) and tuple.__len__(x) == len(cls._fields):
        return _open_namedtuple(x, cls, registration)
    marks = marks_of(cls)
    has_items = issubclass(cls, _ITEMS)
    if marks is None and registration is None:
        return _open_items(x, cls) if has_items else None
    if has_items and builtin_base(cls).__len__(x):
        raise TypeError(
            f"a {cls.__name__} has both items and fields, and only one of them can be walked; "
            f"keep the items in a field of their own"
        )
    if not has_items and not is_plain(cls):
        return None
    return _open_object(x, cls, registration, marks or {})


def emptied(rebuild: Callable[[Sequence[Any]], object]) -> Callable[[Sequence[Any]], object]:
    """The same rebuilding, with None in place of all that is carried over beside the children.

    Only the factory of a defaultdict, which is part of its type, stays.
    """
    if not isinstance(rebuild, partial) or rebuild.func is _build_dict:
        return rebuild
    cls, stored, *rest = rebuild.args
    stored = stored._replace(
        attributes=dict.fromkeys(stored.attributes), slots=dict.fromkeys(stored.slots)
    )
    if rebuild.func is _build_namedtuple:
        rest[0] = [None] * len(rest[0])
    return partial(rebuild.func, cls, stored, *rest)


def beside_items(x: Any, opened: Opened) -> dict[str, Any]:
    """What a dict, list or tuple of an unregistered class stores beside its items, by name."""
    rebuild = opened.rebuild
    if not isinstance(rebuild, partial) or rebuild.func not in _ITEM_BUILDERS:
        return {}
    if rebuild.func is _build_namedtuple and registration_of(type(x)) is not None:
        return {}  # its fields say what is walked
    stored = rebuild.args[1]
    return {name: value for (_, name), value in stored.slots.items()} | stored.attributes


def add_opener(cls: type[T], opener: Callable[[T], Opened]) -> None:
    """Open instances of exactly this class by a function of their own."""
    OPENERS[cls] = opener


def _open_object(
    x: Any, cls: type, registration: Registration | None, marks: dict[str, str]
) -> Opened:
    """Open an object by its fields; `marks` are the roles that a dataclass gives them."""
    stored = stored_in(x)
    slots = {name: owner for owner, name in stored.slots}
    own = (*slots, *stored.attributes)
    places: dict[str, type | None] = {}
    values: list[Any] = []
    for name, needed in _fields(registration, marks if registration is None else own, marks):
        if name in slots:
            place: type | None = slots[name]
            value = stored.slots.pop((slots[name], name))
        elif name in stored.attributes:
            place, value = dict, stored.attributes[name]
            stored.attributes[name] = None  # so that the name keeps its turn among the others
        else:
            place = None
            try:
                value = object.__getattribute__(x, name)
            except AttributeError:
                if not needed:
                    continue
                raise AttributeError(
                    f"a {cls.__name__} has no attribute {name!r}, which its class is "
                    f"registered with"
                ) from None
            attribute = class_attribute(cls, name)
            if isinstance(attribute, property) and attribute.fset is None:
                raise AttributeError(
                    f"field {name!r} of {cls.__name__} is a property that cannot be set; "
                    f"register the attribute behind it"
                )
        places[name] = place
        values.append(value)
    rebuild = partial(_build_object, cls, stored, tuple(places.items()))
    roles = _roles(tuple(places), registration, marks)
    return Opened(MAPPING, tuple(places), tuple(values), roles, rebuild)


def _fields(
    registration: Registration | None, own: Iterable[str], marks: dict[str, str]
) -> list[tuple[str, bool]]:
    """Names of the fields that are walked, and whether an instance must have them.

    `own` are the names to choose from where a registration does not say.
    """
    if registration is not None and registration.fields is not None:
        return [(name, True) for name in registration.fields]
    needed = (registration and registration.trainable) or ()
    names = [name for name in own if name in needed or marks.get(name) != STATIC]
    return [(name, name in needed) for name in dict.fromkeys((*names, *needed))]


def _roles(
    names: Iterable[str], registration: Registration | None, marks: dict[str, str]
) -> tuple[str, ...]:
    """The role of each field: what the registration says, or else its mark."""
    if registration is None or registration.trainable is None:
        return tuple(BUFFER if marks.get(name) == BUFFER else TRAINABLE for name in names)
    return tuple(TRAINABLE if name in registration.trainable else BUFFER for name in names)


def _open_namedtuple(x: Any, cls: type, registration: Registration | None) -> Opened:
    """Open a named tuple by its fields."""
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    items = list(tuple.__iter__(x))
    positions = []
    values = []
    for name, _ in _fields(registration, names, {}):
        if name not in names:
            raise AttributeError(
                f"a {cls.__name__} has no field {name!r}, which its class is registered with"
            )
        position = names.index(name)
        positions.append(position)
        values.append(items[position])
        items[position] = None
    keys = tuple(names[i] for i in positions)
    rebuild = partial(_build_namedtuple, cls, stored_in(x), items, positions)
    return Opened(MAPPING, keys, tuple(values), _roles(keys, registration, {}), rebuild)


def _open_items(x: Any, cls: type) -> Opened | None:
    """Open an instance of a subclass of dict, list or tuple by its items.

    By the methods of the builtin class: those of the subclass may do anything.
    """
    if (
        class_attribute(cls, "n_sequence_fields") is not None
    ):  # results of the operating system, all numbers
        return None
    kind: str = SEQUENCE
    if issubclass(cls, dict):
        kind, base = MAPPING, _dict_base(cls)
        keys, values = tuple(base.keys(x)), tuple(base.values(x))
        factory = _FACTORY.__get__(x) if issubclass(cls, defaultdict) else None
        rebuild = partial(_build_mapping, cls, stored_in(x), factory, keys)
    else:
        values = tuple((list if issubclass(cls, list) else tuple).__iter__(x))
        keys = tuple(range(len(values)))
        rebuild = partial(_build_sequence, cls, stored_in(x))
    return Opened(kind, keys, values, (TRAINABLE,) * len(keys), rebuild)


def _dict_base(cls: type) -> type[dict[Any, Any]]:
    """The class whose methods reach the items: an OrderedDict keeps an order of its own."""
    return OrderedDict if issubclass(cls, OrderedDict) else dict


def _build_dict(keys: tuple[Any, ...], children: Iterable[Any]) -> dict[Any, Any]:
    """A plain dict of these children."""
    return dict(zip(keys, children))


def _build_object(
    cls: type,
    stored: Stored,
    places: tuple[tuple[str, type | None], ...],
    children: Sequence[Any],
) -> object:
    """An object of the class, its fields written to the places they were read from."""
    new = blank(cls)
    restore(new, stored)
    for (name, place), child in zip(places, children, strict=True):
        if place is dict:
            object.__getattribute__(new, "__dict__")[name] = child
        elif place is None:
            object.__setattr__(new, name, child)
        else:
            vars(place)[name].__set__(new, child)
    return new


def _build_namedtuple(
    cls: type, stored: Stored, items: list[Any], positions: list[int], children: Sequence[Any]
) -> object:
    """A named tuple with these children at their positions among the other items."""
    items = [*items]
    for position, child in zip(positions, children, strict=True):
        items[position] = child
    return _build_sequence(cls, stored, items)


def _build_mapping(
    cls: type,
    stored: Stored,
    factory: Callable[[], Any] | None,
    keys: tuple[Any, ...],
    children: Sequence[Any],
) -> object:
    """An instance of a subclass of dict with these children."""
    new = blank(cls)
    restore(new, stored)
    if issubclass(cls, defaultdict):
        _FACTORY.__set__(new, factory)
    base = _dict_base(cls)
    for key, child in zip(keys, children, strict=True):
        base.__setitem__(new, key, child)
    return new


def _build_sequence(cls: type, stored: Stored, children: Sequence[Any]) -> object:
    """An instance of a subclass of list or tuple with these children."""
    new: Any
    if issubclass(cls, tuple):
        new = tuple.__new__(cls, children)
    else:
        new = blank(cls)
        list.extend(new, children)
    restore(new, stored)
    return new


_ITEM_BUILDERS = (_build_namedtuple, _build_mapping, _build_sequence)
