"""The plan of a layout as JSON and back, every field of it checked."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .paths import MAPPING, SEQUENCE, check_key
from .places import GroupPlan, LeafPlan, Plan

_VERSION = 1


def encode(plans: Sequence[Plan], dtype: np.dtype) -> str:
    """Write a plan as JSON; the list is flat, so that nesting knows no limit."""
    nodes: list[dict[str, Any]] = []
    for plan in plans:
        if isinstance(plan, LeafPlan):
            node: dict[str, Any] = {"shape": plan.shape}
            if plan.strides is not None:
                node["strides"] = plan.strides
            if plan.owner is not None:
                node["owner"] = plan.owner
            if plan.start:
                node["start"] = plan.start
            if plan.pairs:
                node["pairs"] = True
        elif plan.kind == MAPPING:
            node = {"keys": plan.keys}
        else:
            node = {"items": len(plan.keys)}
        nodes.append(node)
    return json.dumps({"componentvec": _VERSION, "dtype": dtype.str, "nodes": nodes})


def decode(text: str | bytes) -> tuple[list[Plan], np.dtype]:
    """Read what `encode` wrote; ValueError where it is anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not the JSON of a layout: {error}") from None
    if not isinstance(data, dict) or data.get("componentvec") != _VERSION:
        raise ValueError(f"not the JSON of a layout: expected 'componentvec' to be {_VERSION}")
    nodes = data.get("nodes")
    if not isinstance(nodes, list) or set(data) != {"componentvec", "dtype", "nodes"}:
        raise ValueError("not the JSON of a layout: expected a dtype and a list of nodes")
    return [_plan(node, len(nodes)) for node in nodes], _dtype(data["dtype"])


def _plan(node: Any, most: int) -> Plan:
    """One node, checked."""
    if isinstance(node, dict):
        fields = set(node)
        if fields == {"keys"} and isinstance(node["keys"], list):
            try:
                return GroupPlan(MAPPING, tuple(check_key(key, ()) for key in node["keys"]))
            except TypeError as error:
                raise ValueError(f"not the JSON of a layout: {error}") from None
        if fields == {"items"} and _is_count(node["items"]) and node["items"] <= most:
            return GroupPlan(SEQUENCE, tuple(range(node["items"])))
        if "shape" in fields <= {"shape", "strides", "owner", "start", "pairs"}:
            shape, strides = node["shape"], node.get("strides", [])
            counts = [node.get("owner", 0), node.get("start", 0)]
            if (
                isinstance(shape, list)
                and isinstance(strides, list)
                and len(shape) <= 64
                and len(strides) in ((len(shape),) if "strides" in node else (0,))
                and all(_is_count(n) for n in shape + counts)
                and all(_is_count(abs(n)) for n in strides if type(n) is int)
                and all(type(n) is int for n in strides)
                and isinstance(node.get("pairs", False), bool)
            ):
                return LeafPlan(
                    tuple(shape),
                    tuple(strides) if "strides" in node else None,
                    node.get("owner"),
                    node.get("start", 0),
                    node.get("pairs", False),
                )
    raise ValueError(f"not the JSON of a layout: bad node {str(node)[:80]}")


def _is_count(n: Any) -> bool:
    """True for a plain integer that can be a size or an offset."""
    return type(n) is int and 0 <= n <= sys.maxsize


def _dtype(text: Any) -> np.dtype:
    """The numeric dtype of that name."""
    try:
        if isinstance(text, str):
            dtype = np.dtype(text)
            if dtype.kind in "biufc" and dtype.str == text:
                return dtype
    except (TypeError, ValueError, SyntaxError):
        pass
    raise ValueError(f"not the JSON of a layout: bad dtype {str(text)[:80]!r}")
