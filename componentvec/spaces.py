"""The spaces in which gradients of component vectors live, and how gradients add up there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from autograd.extend import VSpace

from .tracing import tracing
from .vector import ComponentVector, wrap


class VectorSpace(VSpace):
    """The vectors of one layout and dtype."""

    def __init__(self, value: ComponentVector) -> None:
        buffer = value._buffer
        self.layout, self.dtype, self.shape = value._layout, buffer.dtype, buffer.shape
        self.iscomplex = buffer.dtype.kind == "c"

    @property
    def size(self) -> int:
        return self.shape[0] * (2 if self.iscomplex else 1)

    @property
    def ndim(self) -> int:
        return 1

    def zeros(self) -> ComponentVector:
        return self._filled(0)

    def ones(self) -> ComponentVector:
        return self._filled(1 + 1j if self.iscomplex else 1)

    def standard_basis(self) -> Iterator[ComponentVector]:
        for i in range(self.shape[0]):
            for unit in (1, 1j) if self.iscomplex else (1,):
                vector = self._filled(0)
                vector[i] = unit
                yield vector

    def randn(self) -> ComponentVector:
        values = np.random.randn(*self.shape)  # noqa: NPY002  as autograd's own spaces do
        if self.iscomplex:
            values = values + 1j * np.random.randn(*self.shape)  # noqa: NPY002
        return wrap(self.layout, values.astype(self.dtype))

    def _filled(self, value: Any) -> ComponentVector:
        """A new vector whose entries are all the same."""
        return wrap(self.layout, np.full(self.shape, value, self.dtype))

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.real(np.dot(np.conj(flat(x)), flat(y)))

    def _covector(self, x: Any) -> Any:
        return np.conj(x)


class Parts:
    """Gradients of leaves with their places, as (place, gradient), on the way to one hub."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[tuple[Any, Any]]) -> None:
        self.parts = parts


class _PartsSpace(VSpace):
    """How parts add up: they are collected, and only the hub adds numbers."""

    def add(self, x_prev: Parts, x_new: Parts) -> Parts:
        return Parts(x_prev.parts + x_new.parts)

    def mut_add(self, x_prev: Parts, x_new: Parts) -> Parts:
        x_prev.parts += x_new.parts
        return x_prev


def flat(value: Any) -> Any:
    """The buffer of a vector, plain or traced; anything else as it is."""
    kind = type(value)
    if kind is ComponentVector:
        return value._buffer
    return tracing.data(value) if kind in tracing.vectors else value


_PARTS = _PartsSpace(None)
VSpace.register(Parts, lambda value: _PARTS)
VSpace.register(ComponentVector, VectorSpace)
