"""What `rules` supplies for values that autograd traces, so that nothing below it knows calculus.

Until `rules` is imported no value is traced, and none of these functions is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Tracing:
    """Types of traced values, and what takes the place of NumPy's functions for them."""

    #: all types of traced values (a live set)
    types: set[type]
    #: types of traced component vectors
    vectors: set[type]
    #: the plain value within a traced one
    value: Callable[[Any], Any]
    #: a traced array of a nested list with traced numbers
    stack: Callable[[Any], Any]
    #: `wrap(layout, buffer)`: a traced vector on a traced buffer
    wrap: Callable[[Any, Any], Any]
    #: `assemble(layout, parts)`: a traced vector of (offset, leaf, value) parts
    assemble: Callable[[Any, Any], Any]
    #: the traced buffer of a traced vector, and its layout
    data: Callable[[Any], Any]
    layout: Callable[[Any], Any]
    #: `where(mask, new, old)`: an array that is new where a plain mask says so
    where: Callable[[Any, Any, Any], Any]

    def __init__(self) -> None:
        self.types, self.vectors = set(), set()


tracing = Tracing()


def is_traced(value: Any) -> bool:
    """Whether autograd traces the value."""
    return type(value) in tracing.types


def untraced(value: Any) -> Any:
    """The plain value within a traced one."""
    return tracing.value(value) if is_traced(value) else value
