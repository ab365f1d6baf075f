"""The plan of a layout as JSON and back, every field of it checked."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .paths import MAPPING, SEQUENCE, check_key
from .places import GroupPlan, LeafPlan, Plan

_VERSION = 1
_FIELDS = ("shape", "strides", "owner", "start", "pairs")
_MOST_AXES = 64  # of an array; a pair (re, im) is one more
_DTYPE = re.compile(r"[<>|][biufc][0-9]{1,2}")


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
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not the JSON of a layout: {error}") from None
    if not isinstance(data, dict) or data.keys() != {"componentvec", "dtype", "nodes"}:
        raise ValueError("not the JSON of a layout: expected 'componentvec', 'dtype' and 'nodes'")
    version, nodes = data["componentvec"], data["nodes"]
    if type(version) is not int or version != _VERSION:
        raise ValueError(f"not the JSON of a layout: expected 'componentvec' to be {_VERSION}")
    if not isinstance(nodes, list):
        raise ValueError("not the JSON of a layout: expected a list of nodes")
    plans = []
    missing = 1  # nodes that are announced and still to come
    for node in nodes:
        if not 0 < missing <= len(nodes):
            break
        plan = _plan(node, len(nodes))
        missing += len(plan.keys) - 1 if isinstance(plan, GroupPlan) else -1
        plans.append(plan)
    if missing or len(plans) < len(nodes):
        raise ValueError("not the JSON of a layout: nodes are missing, or left over")
    return plans, _dtype(data["dtype"])


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of two fields with one name, Python would drop one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field is given twice")
    return found


def _plan(node: Any, most: int) -> Plan:
    """One node, checked."""
    fields = node.keys() if isinstance(node, dict) else set()
    if fields == {"keys"} and isinstance(node["keys"], list):
        try:
            return GroupPlan(MAPPING, tuple(check_key(key, ()) for key in node["keys"]))
        except TypeError:
            pass
    elif fields == {"items"} and _is_count(node["items"]) and node["items"] < most:
        return GroupPlan(SEQUENCE, tuple(range(node["items"])))
    elif "shape" in fields and fields <= set(_FIELDS):
        shape, strides, owner, start, pairs = (node.get(name) for name in _FIELDS)
        if (
            _are_numbers(shape)
            and len(shape) + bool(pairs) <= _MOST_AXES
            and all(n >= 0 for n in shape)
            and ("strides" not in node or (_are_numbers(strides) and len(strides) == len(shape)))
            and ("owner" not in node or _is_count(owner))
            and ("start" not in node or _is_count(start))
            and ("pairs" not in node or isinstance(pairs, bool))
        ):
            steps = None if strides is None else tuple(strides)
            return LeafPlan(tuple(shape), steps, owner, start or 0, bool(pairs))
    shown = f"with fields {', '.join(sorted(fields))[:80]}" if fields else type(node).__name__
    raise ValueError(f"not the JSON of a layout: bad node ({shown})")


def _are_numbers(numbers: Any) -> bool:
    """True for a list of plain integers that fit into a machine's word."""
    return isinstance(numbers, list) and all(
        type(n) is int and abs(n) <= sys.maxsize for n in numbers
    )


def _is_count(n: Any) -> bool:
    """True for a plain integer that can be a size or an offset."""
    return type(n) is int and 0 <= n <= sys.maxsize


def _dtype(text: Any) -> np.dtype:
    """The numeric dtype of that name."""
    if isinstance(text, str) and _DTYPE.fullmatch(text):
        try:
            dtype = np.dtype(text)
        except TypeError:
            pass
        else:
            if dtype.str == text:
                return dtype
    raise ValueError(f"not the JSON of a layout: bad dtype {str(text)[:80]!r}")
