"""New vectors from trees: `pack` by the names of a layout, `merge` for names that change."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from . import layouts
from .access import disagreement, view
from .assembly import gather, result_dtype
from .conveniences import data
from .layouts import Layout
from .paths import Path, format_path
from .places import Leaf
from .tracing import is_traced, tracing
from .vector import fill


def pack(layout: Layout, tree: Any, spare: Container[Path] = ()) -> Any:
    """`Layout.pack`; what stands at the `spare` paths of the tree is passed over."""
    layout._require_whole()
    parts = gather(layout, tree, spare=spare)
    for path, _, leaf, value in parts:
        given = np.shape(untraced(value))
        if given != leaf.shape:
            raise ValueError(f"{format_path(path)!r} has shape {leaf.shape}, got shape {given}")
        if not leaf.pairs and layout._dtype.kind != "c" and result_dtype(value).kind == "c":
            raise TypeError(f"{format_path(path)!r} is real, got complex values")
    v = fill(layout, [(at, leaf, value) for _, at, leaf, value in parts if not leaf.alias])
    if layout._tied:
        _require_ties(layout, untraced(data(v)), parts)
    return v


def _require_ties(
    layout: Layout, buffer: np.ndarray, parts: list[tuple[Path, int, Leaf, Any]]
) -> None:
    """ValueError where an alias was given another value than its owner."""
    for path, offset, leaf, value in parts:
        if not leaf.alias:
            continue
        stored = view(buffer, offset, leaf)
        given = np.asarray(untraced(value)).astype(stored.dtype)
        if not np.array_equal(stored, given, equal_nan=True):
            owner = layout._owner_of(offset, leaf)
            assert owner is not None
            raise ValueError(disagreement(path, layout._leaves[owner][0]))


def untraced(value: Any) -> Any:
    """The plain value within a traced one."""
    return tracing.value(value) if is_traced(value) else value


layouts.above.pack = pack
