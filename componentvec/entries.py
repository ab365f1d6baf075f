"""Labels: the names of single entries, and the entries that they name.

A label is the path string of a leaf, the index of an entry in it, and for a complex number that is
stored as a pair, which part of it: ``"enc.w[2,1]"``, ``"z[0].re"``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .paths import Path, format_path, parse_path
from .places import Leaf

_COUNT = r"(?:0|[1-9][0-9]{0,17})"
_INDEX = re.compile(rf"\[({_COUNT}(?:,{_COUNT})*)\]\Z")
_PARTS = (".re", ".im")


def write_labels(leaves: Sequence[tuple[Path, int, Leaf]], size: int) -> list[str]:
    """One label for each of `size` entries, by the leaves that own them."""
    labels = [""] * size
    for path, offset, leaf in leaves:
        if leaf.alias:
            continue
        text = format_path(path)
        entries = leaf.entries(offset).reshape(-1, 2 if leaf.pairs else 1).tolist()
        for index, found in zip(np.ndindex(leaf.shape), entries, strict=True):
            label = f"{text}[{','.join(map(str, index))}]" if index else text
            for entry, part in zip(found, _PARTS if leaf.pairs else ("",), strict=True):
                labels[entry] = label + part
    return labels


def split_label(label: str) -> tuple[str, str]:
    """The path and the index, as text, of a label that no path is; the index may be missing."""
    label = label.removesuffix(".re").removesuffix(".im")
    index = _INDEX.search(label)
    return (label, "") if index is None else (label[: index.start()], index[0])


def find_entry(group: Any, label: Any) -> int | None:
    """The entry of a label that is no path, or None."""
    if not isinstance(label, str):
        return None
    part = label[-3:] if label.endswith(_PARTS) else ""
    for end in (part, "") if part else ("",):
        name = label.removesuffix(end)
        found: tuple[str, tuple[int, ...]] | None = (name, ()) if end else None
        index = _INDEX.search(name)
        if index is not None and (not end or group._seek(name) is None):
            found = name[: index.start()], tuple(map(int, index[1].split(",")))
        entry = _entry_at(group, *found, end) if found else None
        if entry is not None:
            return entry
    return None


def _entry_at(group: Any, path: str, index: tuple[int, ...], part: str) -> int | None:
    """The entry of a leaf at an index, or None where there is no such entry."""
    offset, leaf = group._seek(path) or (0, None)
    if not isinstance(leaf, Leaf) or leaf.pairs != bool(part):
        return None
    if len(index) != len(leaf.shape) or any(i >= n for i, n in zip(index, leaf.shape, strict=True)):
        return None
    steps = (i * step for i, step in zip(index, leaf.strides, strict=True))
    entry = offset + sum(steps) + (part == ".im")
    return entry if 0 <= entry < group._size else None


def refuse_ambiguous(group: Any) -> None:
    """ValueError where a key, as it stands, is the path or a label of another component."""
    for key in group._children:
        if not isinstance(key, str) or key.isidentifier():
            continue
        if _is_path(group, key) or find_entry(group, key) is not None:
            raise ValueError(
                f"ambiguous names: the key {key!r} reads like the path of another component; "
                "rename one of them"
            )


def _is_path(group: Any, key: str) -> bool:
    """Whether a key, taken apart, is the path of another component."""
    try:
        keys = parse_path(key)
    except ValueError:
        return False
    plain = list(itertools.takewhile(lambda part: isinstance(part, str | int), keys))
    if len(plain) < len(keys) and not isinstance(keys[len(plain)], slice):
        return False  # a wildcard, which no path has
    return bool(plain) and keys != (key,) and group._descend(plain) is not None
