"""Paths to components, written as text and taken apart again.

A path is a tuple of keys, a path string is the same as text: ``("enc", "layers", 0, "w")`` and
``"enc.layers[0].w"``. `format_path` and `parse_path` are inverse to each other.
"""

from __future__ import annotations

import ast
import difflib
import functools
import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any

Key = str | int
Path = tuple[Key, ...]

MAPPING, SEQUENCE = "mapping", "sequence"


class _Wildcard:
    """A key of a pattern that stands for other keys."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


ANY, DEEP = _Wildcard("*"), _Wildcard("**")

_TOKEN = re.compile(
    r"""
    (?P<dot>\.?)(?P<name>[^.\[\]'"\s]+)
    | \[(?:
        (?P<number>-?[0-9]+)
        | (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
        | (?P<any>\*)
        | (?P<slice>(?:-?[0-9]+)?:(?:-?[0-9]+)?(?::(?:-?[0-9]+)?)?)
    )\]
    """,
    re.VERBOSE | re.DOTALL,
)


def format_path(path: Iterable[Key]) -> str:
    """Write a path as text: ``("enc", 0, "odd key")`` is ``"enc[0]['odd key']"``."""
    parts: list[str] = []
    for key in path:
        if isinstance(key, str) and key.isidentifier():
            parts.append("." + key if parts else key)
        else:
            parts.append(f"[{key!r}]")
    return "".join(parts)


@functools.lru_cache(maxsize=1024)
def parse_path(text: str) -> tuple[Any, ...]:
    """Take a path string apart into names, positions, slices and wildcards.

    Raises ValueError where the text is malformed.
    """
    keys: list[Any] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            break
        name = token["name"]
        if name is not None:
            if bool(token["dot"]) != bool(keys):
                break
            if name in ("*", "**"):
                keys.append(ANY if name == "*" else DEEP)
            elif name.isidentifier():
                keys.append(name)
            else:
                break
        elif token["number"]:
            keys.append(_integer(token["number"], text))
        elif token["quoted"]:
            keys.append(_unquote(token["quoted"], text))
        elif token["any"]:
            keys.append(ANY)
        else:
            bounds = token["slice"].split(":")
            keys.append(slice(*(_integer(n, text) if n else None for n in bounds)))
        position = token.end()
    if position < len(text) or not keys:
        raise ValueError(
            f"malformed path {text!r} at position {position}: expected names joined by dots, "
            "positions in brackets, and other keys quoted, as in \"enc.layers[0]['odd key'].w\""
        )
    return tuple(keys)


def _integer(digits: str, text: str) -> int:
    """A position as a number; Python reads only so many digits."""
    try:
        return int(digits)
    except ValueError:
        raise ValueError(f"malformed path {text[:80]!r}...: a position is too long") from None


def _unquote(quoted: str, text: str) -> str:
    """The key within quotes."""
    try:
        return str(ast.literal_eval(quoted))
    except (SyntaxError, ValueError):
        raise ValueError(f"malformed path {text!r}: {quoted} is no quoted key") from None


def check_key(key: Any, parent: Sequence[Key]) -> Key:
    """The key as a plain string or integer, or a TypeError that says where it stands."""
    if isinstance(key, str):
        return str.__str__(key)  # not str(key): a subclass may say something else there
    if not isinstance(key, bool):
        try:
            return operator.index(key)
        except TypeError:
            pass
    where = f" in {format_path(parent)!r}" if parent else ""
    raise TypeError(
        f"keys are strings or integers, got {key!r}{where} of type {type(key).__name__}"
    )


def is_range(keys: Sequence[Any]) -> bool:
    """True for keys 0, 1, 2, ...: those of a sequence."""
    return all(type(key) is int and key == i for i, key in enumerate(keys))


def unknown(name: str, names: Iterable[str]) -> str:
    """What an error says of a name that is not there: the closest one and those there are."""
    names = list(names)
    near = difflib.get_close_matches(name, names[:1000], n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ";"
    return f"no component {name!r}{guess} components: {listing(names) or 'none'}"


def listing(names: Sequence[str], most: int = 20) -> str:
    """Names in one line: the first ones, and how many there are if that is not all."""
    rest = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
