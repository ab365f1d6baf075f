"""Which classes are walked, and which of their fields are trainable."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar, overload
from weakref import WeakKeyDictionary

from .instances import builtin_base, class_attribute, is_namedtuple, is_plain

TRAINABLE, BUFFER, STATIC = "trainable", "buffer", "static"

T = TypeVar("T")


class Registration(NamedTuple):
    """What `register` was told about a class; None where it is read off the instance."""

    fields: tuple[str, ...] | None
    trainable: tuple[str, ...] | None


_MARK = "componentvec"  # the key of a field's role in its metadata

# Weak keys: classes defined in a notebook cell or a test can go when their instances have gone.
_REGISTERED: WeakKeyDictionary[type, Registration] = WeakKeyDictionary()


@overload
def register(
    cls: type[T],
    *,
    fields: Iterable[str] | None = None,
    trainable: Iterable[str] | None = None,
) -> type[T]: ...


@overload
def register(
    cls: None = None,
    *,
    fields: Iterable[str] | None = None,
    trainable: Iterable[str] | None = None,
) -> Callable[[type[T]], type[T]]: ...


def register(
    cls: type[T] | None = None,
    *,
    fields: Iterable[str] | None = None,
    trainable: Iterable[str] | None = None,
) -> type[T] | Callable[[type[T]], type[T]]:
    """Have instances of a class walked: its fields become components.

    A function, a decorator, or a decorator with arguments. Subclasses inherit the registration
    until they have one of their own. Registering a class again replaces what was said before.

    Parameters
    ----------
    cls : type
        The class; left out where this is a decorator with arguments.
    fields : sequence of str, optional
        Names of the attributes that are walked, in the order of the components. All instance
        attributes, slots included, if left out, except what a dataclass marks with `static`.
        Other attributes are carried over as they are; ``fields=()`` makes instances static.
    trainable : collection of str, optional
        Names of the fields that the optimizer moves; the other fields are buffers. All fields
        if left out, except what a dataclass marks with `buffer`.

    Returns
    -------
    type
        The class itself, unchanged (as a decorator with arguments: the decorator).

    Raises
    ------
    TypeError
        If `cls` is no class, or one whose instances are more than their attributes (subclasses
        of dict, list, int, ndarray, ...), or if names are not strings.
    ValueError
        If `trainable` names something that is not in `fields`, or a name is given twice.

    Notes
    -----
    Instances are rebuilt without ``__new__``, ``__init__`` or ``__setattr__`` of the class. What
    a ``functools.cached_property`` has stored is no attribute: it is left behind, to be computed
    anew from the new values.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> @cv.register(fields=("scale", "mean"), trainable=("scale",))
    ... class Normalize:
    ...     def __init__(self, n):
    ...         self.scale, self.mean, self.name = np.ones(n), np.zeros(n), "norm"
    >>> vector, restructure = cv.destructure({"layer": Normalize(2)})
    >>> cv.labels(vector)
    ['layer.scale[0]', 'layer.scale[1]']
    >>> restructure(np.array([3.0, 4.0]))["layer"].name
    'norm'
    """
    registration = Registration(_names("fields", fields), _names("trainable", trainable))
    if registration.fields is not None:
        unknown = [n for n in registration.trainable or () if n not in registration.fields]
        if unknown:
            raise ValueError(
                f"register expected trainable names to be among the fields "
                f"({', '.join(registration.fields)}), got {', '.join(unknown)}"
            )
    if cls is None:
        return lambda cls: _enter(cls, registration)
    return _enter(cls, registration)


def buffer(**kw: Any) -> Any:
    """A dataclass field whose arrays are not trained: running means, scales of the data.

    Parameters
    ----------
    **kw
        What `dataclasses.field` takes.

    Returns
    -------
    dataclasses.Field
        The field, with a mark in its metadata.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import componentvec as cv
    >>> @dataclass
    ... class Normalize:
    ...     scale: np.ndarray
    ...     mean: np.ndarray = cv.buffer()
    >>> vector, restructure = cv.destructure(Normalize(np.ones(2), np.zeros(2)))
    >>> cv.labels(vector)
    ['scale[0]', 'scale[1]']
    """
    return _field(BUFFER, **kw)


def static(**kw: Any) -> Any:
    """A dataclass field that is never walked: its value is carried over as it is.

    Parameters
    ----------
    **kw
        What `dataclasses.field` takes.

    Returns
    -------
    dataclasses.Field
        The field, with a mark in its metadata.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import componentvec as cv
    >>> @dataclass
    ... class Spring:
    ...     stiffness: np.ndarray
    ...     table: np.ndarray = cv.static()
    >>> spring = Spring(np.array([2.0]), np.arange(1000.0))
    >>> vector, restructure = cv.destructure(spring)
    >>> cv.labels(vector)
    ['stiffness[0]']
    >>> restructure(vector).table is spring.table
    True
    """
    return _field(STATIC, **kw)


def registration_of(cls: type) -> Registration | None:
    """What was said about a class, or about the nearest of its bases."""
    for base in cls.__mro__:
        registration = _REGISTERED.get(base)
        if registration is not None:
            return registration
    return None


def marks_of(cls: type) -> dict[str, str] | None:
    """The fields of a dataclass and the roles that they are marked with; None for others."""
    if class_attribute(cls, "__dataclass_fields__") is None:
        return None
    return {field.name: field.metadata.get(_MARK, TRAINABLE) for field in dataclasses.fields(cls)}


def _enter(cls: type[T], registration: Registration) -> type[T]:
    """Put a class into the registry."""
    if not isinstance(cls, type):
        name = type(cls).__name__
        raise TypeError(f"register expected a class, got an instance of {name}")
    if not is_namedtuple(cls) and not is_plain(cls):
        base = builtin_base(cls)
        walked = issubclass(cls, (dict, list, tuple))
        raise TypeError(
            f"register expected a class whose instances are nothing but their attributes, got "
            f"{cls.__name__}, which is built on {base.__name__}"
            + ("; its items are walked without registration" if walked else "")
        )
    _REGISTERED[cls] = registration
    return cls


def _names(argument: str, names: Iterable[str] | None) -> tuple[str, ...] | None:
    """Names as a tuple, or an error that says what is wrong with them."""
    if names is None:
        return None
    expected = f"register expected {argument} to be a tuple of names, got"
    if isinstance(names, str):
        raise TypeError(f"{expected} the string {names!r}; write {argument}=({names!r},)")
    if argument == "fields" and isinstance(names, (set, frozenset)):
        raise TypeError(f"{expected} a set, which has no order")
    try:
        names = tuple(names)
    except TypeError:
        raise TypeError(f"{expected} {names!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{expected} {name!r} among them")
        if names.count(name) > 1:
            raise ValueError(f"{expected} {name!r} twice")
    return names


def _field(role: str, *, metadata: Any = None, **kw: Any) -> Any:
    """A dataclass field with its role in the metadata."""
    return dataclasses.field(metadata={**(metadata or {}), _MARK: role}, **kw)
