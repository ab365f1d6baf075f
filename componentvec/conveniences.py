"""What can be asked of any vector, plain or traced, by function or by attribute."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .layouts import Layout
from .paths import MAPPING, SEQUENCE
from .places import Leaf
from .protocols import ArrayProtocols
from .tracing import tracing


def is_vector(value: Any) -> bool:
    """Whether a value is a component vector, plain or traced."""
    return isinstance(value, ArrayProtocols) or type(value) in tracing.vectors


def _require_vector(v: Any) -> None:
    """TypeError for what is no vector."""
    if not is_vector(v):
        raise TypeError(f"expected a ComponentVector, got {type(v).__name__}")


def data(v: Any) -> Any:
    """The buffer of a vector: a plain array of shape ``(size,)``, no copy.

    Whatever the components are called. TypeError for what is no vector, and ValueError for a group
    that holds an alias whose memory lies outside it.

    Examples
    --------
    >>> import componentvec as cv
    >>> cv.data(cv.ComponentVector(data=1.0, x=[2.0, 3.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    _require_vector(v)
    return v._buffer if isinstance(v, ArrayProtocols) else tracing.data(v)


def layout(v: Any) -> Layout:
    """The layout of a vector, whatever its components are called.

    TypeError for what is no vector.

    Examples
    --------
    >>> import componentvec as cv
    >>> cv.layout(cv.ComponentVector(layout=1.0, x=[2.0, 3.0])).paths()
    ('layout', 'x')
    """
    _require_vector(v)
    if isinstance(v, ArrayProtocols):
        return v._layout._with_dtype(v._root.dtype)
    return tracing.layout(v)


def labels(v: Any) -> list[str]:
    """One label for each entry of a vector, as `Layout.labels` gives them.

    TypeError for what is no vector.

    Examples
    --------
    >>> import componentvec as cv
    >>> cv.labels(cv.ComponentVector(a=1.0, b=[2.0, 3.0]))
    ['a', 'b[0]', 'b[1]']
    """
    return layout(v).labels()


def asdict(v: Any) -> Any:
    """The components of a vector as nested dicts and lists.

    Arrays are views, numbers NumPy scalars; a sequence is a list. TypeError for what is no vector.

    Examples
    --------
    >>> import componentvec as cv
    >>> tree = cv.asdict(cv.ComponentVector(a=1.0, b=[{"w": [2.0]}]))
    >>> tree["b"][0]["w"].tolist()
    [2.0]
    """
    _require_vector(v)
    root: Any = {} if v._layout._kind == MAPPING else []
    stack: list[tuple[Any, Any, int]] = [(root, v._layout, v._offset)]
    while stack:
        tree, node, base = stack.pop()
        for key, (start, child) in node._children.items():
            value: Any
            if isinstance(child, Leaf):
                value = v._at(base + start, child, ())
            else:
                value = {} if child._kind == MAPPING else []
                stack.append((value, child, base + start))
            if node._kind == SEQUENCE:
                tree.append(value)
            else:
                tree[key] = value
    return root


def keys(v: Any) -> list[str]:
    """Names by which the components of a vector are items; positions as ``"[0]"``."""
    return [key if isinstance(key, str) else f"[{key}]" for key in v._layout._children]


def values(v: Any) -> list[Any]:
    """The components of a vector, views as ever."""
    return [v[key] for key in keys(v)]


def items(v: Any) -> list[tuple[str, Any]]:
    """Names and components of a vector."""
    return [(key, v[key]) for key in keys(v)]


def copy(v: Any) -> Any:
    """A vector of the same layout with memory of its own."""
    return layout(v).wrap(data(v).copy())


def astype(v: Any, dtype: Any) -> Any:
    """A new vector of another dtype; plain where pairs (re, im) do not fit it."""
    own, chosen = layout(v), np.dtype(dtype)
    if chosen.kind not in "biufc":
        raise TypeError(f"a vector holds numbers, got dtype {chosen}")
    converted = data(v).astype(chosen)
    if own._paired and (chosen.kind != "f" or chosen.itemsize < 4):
        return converted
    return own._with_dtype(chosen).wrap(converted)


def read_only(x: Any) -> Any:
    """A vector or array on the same memory that refuses to be written."""
    lent = (data(x) if is_vector(x) else np.asanyarray(x)).view()
    lent.flags.writeable = False
    return x._layout.wrap(lent) if is_vector(x) else lent


#: what attributes give where no component has the name
CONVENIENCES: dict[str, Callable[[Any], Any]] = {
    "layout": layout,
    **{
        function.__name__: functools.partial(functools.partial, function)
        for function in (labels, keys, values, items, asdict, copy, astype)
    },
}
