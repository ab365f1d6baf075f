"""Unknowns: how what is solved for becomes SciPy's x, and back.

SciPy sees one real axis: the free entries, each complex number as a pair (re, im). Users see
vectors, models or plain arrays, always whole. Everything between the two is here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from scipy.optimize import OptimizeResult
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from .assembly import as_pairs
from .conveniences import data, is_vector, layout, read_only
from .hidden import refuse_hidden_arrays
from .layouts import Layout
from .matrix import ComponentMatrix
from .paths import Path
from .places import LeafPlan
from .restructure import Restructure, destructure
from .tracing import is_traced, untraced
from .tree import open_container
from .vector import wrap


class Unknowns:
    """What is solved for: a vector, a model or a plain array, some entries of it fixed.

    `layout` names the entries as users see them, and `entries` the real ones, of which a complex
    number has two; both are None for a plain array. `start` holds the real entries of the start,
    `free` the positions of those that are solved for (None: all).
    """

    layout: Layout | None
    entries: Layout | None
    start: np.ndarray  # (N,), in double precision
    free: np.ndarray | None
    paired: bool  # whether x0 is complex
    shape: tuple[int, ...]  # of a plain array

    def __init__(
        self,
        x0: Any,
        name: str = "x0",
        *,
        fixed: Any = None,
        any_shape: bool = False,
        keep_complex: bool = False,
    ) -> None:
        self._restructure: Restructure | None = None
        self._working: Restructure | None = None  # the same in double precision
        self.layout = self.entries = self.free = None
        values = self._read_start(x0, name)
        self.paired = values.dtype.kind == "c" and not keep_complex
        values = values.astype(complex if values.dtype.kind == "c" else float, order="C")
        self.shape = values.shape
        self.start = values.reshape(-1)
        if self.paired:
            self.start = self.start.view(float)
        if self.layout is not None:
            self.layout = self.entries = self.layout._with_dtype(values.dtype)
            if self.paired:
                self.entries = layout_of_pairs(self.layout)
        if self._restructure is not None:
            assert self.layout is not None
            self._working = self._restructure._following(self.layout)
        if found := first_not_finite(self.start, self.name):
            raise ValueError(f"{name} is not finite: {found}")
        if self.layout is None and len(self.shape) > 1 and not any_shape:
            raise ValueError(f"{name} must have one axis, got shape {self.shape}; flatten it")
        if fixed is not None:
            self.fix(fixed)

    def _read_start(self, x0: Any, name: str) -> np.ndarray:
        """The values of the start, and what kind of thing it is."""
        if is_traced(x0):
            raise TypeError(f"{name} is traced by autograd, and a solver cannot be differentiated")
        if is_vector(x0):
            self.layout = layout(x0)
            return data(x0)
        if isinstance(x0, OptimizeResult):
            raise TypeError(f"{name} is the whole result of a solver; give its x or its model")
        if open_container(x0) is not None and not is_plain_list(x0, arrays=False):
            vector, self._restructure = destructure(x0)
            self.layout = self._restructure.layout
            return data(vector)
        if isinstance(x0, np.ma.MaskedArray):
            raise TypeError(f"{name}: a masked array has no place for its mask; use fixed=")
        try:
            values = np.atleast_1d(np.asarray(x0))
        except ValueError:
            values = np.empty(1, dtype=object)
        if values.dtype.kind not in "biufc":
            refuse_hidden_arrays(x0, ())  # with what to do about it
            raise TypeError(
                f"{name}: expected a ComponentVector, a model or an array of numbers, "
                f"got {type(x0).__name__}"
            )
        return values

    # -- entries ---------------------------------------------------------------------------------

    @property
    def is_model(self) -> bool:
        """Whether users get models."""
        return self._restructure is not None

    @property
    def spare(self) -> Container[Path]:
        """Paths of a model that are passed over in trees of its parameters."""
        return () if self._restructure is None else self._restructure._spare

    @property
    def x0(self) -> np.ndarray:
        """Where SciPy starts: new memory."""
        return self.start.copy() if self.free is None else self.start[self.free]

    @property
    def is_fixed(self) -> np.ndarray:
        """Which of the real entries are fixed."""
        mask = np.zeros(self.start.size, dtype=bool)
        if self.free is not None:
            mask[:] = True
            mask[self.free] = False
        return mask

    def fix(self, fixed: Any) -> None:
        """Take entries out of what is solved for: patterns, or a boolean mask."""
        mask = self._fixed_mask(fixed)
        if mask.any():
            self.free = np.flatnonzero(~mask)
            self._held = self.start[mask]
            self._order = np.argsort(np.concatenate([self.free, np.flatnonzero(mask)]))

    def _fixed_mask(self, fixed: Any) -> np.ndarray:
        """Which of the real entries are to be fixed."""
        if isinstance(fixed, str):
            fixed = [fixed]
        if isinstance(fixed, list | tuple) and not _are_booleans(fixed):
            if self.entries is None:
                raise TypeError("fixed: a plain array has no names, give a boolean mask")
            return self.entries.mask(*fixed)
        if is_vector(fixed) and self.layout is not None:
            self.layout._require_equal(layout(fixed), "a plain mask")
        mask = np.asarray(data(fixed) if is_vector(fixed) else fixed)
        if mask.dtype.kind != "b":
            raise TypeError(
                f"fixed: expected path patterns or a boolean mask, got {fixed!r:.80} "
                f"of type {type(fixed).__name__}"
            )
        if self.layout is None:
            mask = mask.reshape(-1) if mask.shape == self.shape else mask
        size = self.start.size
        if self.paired and mask.shape == (size // 2,):
            mask = np.repeat(mask, 2)
        if mask.shape != (size,):
            expected = size // 2 if self.paired else size
            raise ValueError(f"fixed: expected a mask of shape ({expected},), got {mask.shape}")
        return mask

    def name(self, position: int) -> str:
        """The label of a real entry, or its position."""
        return name_of_entry(self.entries, position, self.paired)

    # -- from SciPy's x to what users see --------------------------------------------------------

    @property
    def _direct(self) -> bool:
        """Whether SciPy's x is the very buffer of the vector."""
        return self.free is None and not self.paired

    def argument(self, x: Any) -> Any:
        """SciPy's x as what is differentiated: a vector where it is the buffer of one."""
        return wrap(self.layout, x) if self.layout is not None and self._direct else x

    def present(self, argument: Any) -> Any:
        """The argument, traced or not, as the vector, model or array that users get.

        What is not traced is lent read-only: it may be the solver's own memory.
        """
        traced = is_traced(argument)
        if not self._direct:
            argument = self._whole(argument)
        if not traced:
            argument = read_only(argument)
        if self.layout is not None and not is_vector(argument):
            argument = wrap(self.layout, argument)
        if self.layout is None:
            return anp.reshape(argument, self.shape) if len(self.shape) > 1 else argument
        if self._working is None:
            return argument
        if not traced and data(argument).dtype.kind != self.layout.dtype.kind:
            return self._stepping(argument)
        return self._working(argument)

    @functools.cached_property
    def _stepping(self) -> Restructure:
        """What puts real parameters with an imaginary step into the model."""
        assert self._restructure is not None and self.layout is not None
        return self._restructure._following(self.layout._with_dtype(np.dtype(complex)))

    def view(self, x: np.ndarray) -> Any:
        """SciPy's x, a plain array, as users get it; on its memory where that is possible."""
        return self.present(self.argument(x))

    def complete(self, x: Any) -> Any:
        """All real entries of SciPy's x, traced or not: fixed ones have their values."""
        return x if self.free is None else anp.concatenate([x, self._held])[self._order]

    def _whole(self, x: Any) -> Any:
        """All entries, in users' own numbers, of SciPy's x, traced or not."""
        x = self.complete(x)
        if self.paired:
            if is_traced(x):
                parts = anp.reshape(x, (-1, 2))
                return parts[:, 0] + 1j * parts[:, 1]
            x = np.ascontiguousarray(x).view(complex)
        return x

    def refuse_complex_step(self) -> None:
        """ValueError where complex numbers are stored as pairs, or numbers in other dtypes."""
        if self.paired or (self.layout is not None and self.layout._paired):
            raise ValueError(
                'jac="cs" steps into the complex plane, which complex components, solved as '
                'pairs (re, im), do not allow; use jac=None or jac="3-point"'
            )

    # -- results: whole, labelled, memory of their own -------------------------------------------

    def vector(self, x: Any) -> Any:
        """A solution: the fixed entries have their values."""
        return self._named(self._whole(np.array(x, dtype=self.start.dtype).reshape(-1)))

    def _named(self, whole: np.ndarray) -> Any:
        """All entries, in users' own numbers, as a vector or in the shape of the start."""
        return whole.reshape(self.shape) if self.layout is None else wrap(self.layout, whole)

    def put_solution(self, result: dict[str, Any], x: Any) -> None:
        """Put a solution into a result: as a vector, and as a model where users have one."""
        result["x"] = self.vector(x)
        if self.is_model:
            result["model"] = self.model(x)

    def model(self, x: Any) -> Any:
        """A solution as a model in its own dtypes."""
        assert self._restructure is not None
        own = self._restructure.layout
        return self._restructure(wrap(own, data(self.vector(x)).astype(own._dtype)))

    def gradient(self, g: Any) -> Any:
        """A gradient: zero at fixed entries, complex ones by autograd's convention."""
        return np.conj(self.direction(g)) if self.paired else self.direction(g)

    def spread(self, values: Any) -> np.ndarray:
        """Values of the free entries among all real ones, zeros elsewhere: new memory."""
        values = np.array(values).reshape(-1)
        if self.free is None:
            return values
        whole = np.zeros(self.start.size, dtype=values.dtype)
        whole[self.free] = values
        return whole

    def real_vector(self, values: Any) -> Any:
        """Values of the free real entries: zeros elsewhere, complex numbers as pairs."""
        whole = self.spread(values)
        return whole if self.entries is None else wrap(self.entries, whole)

    def matrix(self, matrix: np.ndarray) -> Any:
        """A matrix over the free entries on both sides: zeros at fixed ones."""
        if self.free is not None:
            whole = np.zeros((self.start.size,) * 2, dtype=matrix.dtype)
            whole[np.ix_(self.free, self.free)] = matrix
            matrix = whole
        if self.entries is None:
            return matrix
        return ComponentMatrix(matrix, self.entries, self.entries)

    def columns(self, matrix: Any, rows: Layout | None = None) -> Any:
        """A matrix whose columns are the free entries: zeros at fixed ones; sparse stays sparse."""
        if self.free is not None:
            if isinstance(matrix, np.ndarray):
                whole = np.zeros((len(matrix), self.start.size), dtype=matrix.dtype)
                whole[:, self.free] = matrix
                matrix = whole
            else:
                matrix = product(matrix, self.selection.T)
        if (self.entries is None and rows is None) or not isinstance(matrix, np.ndarray):
            return matrix
        return ComponentMatrix(matrix, rows, self.entries)

    def direction(self, p: Any) -> Any:
        """A direction over the free entries as users get it: whole, labelled, zero where fixed."""
        whole = self.spread(p)
        return self._named(whole.view(complex) if self.paired else whole)

    @functools.cached_property
    def selection(self) -> csr_array:
        """The matrix of shape (all, free) that puts free entries in their places."""
        assert self.free is not None
        shape = self.start.size, self.free.size
        ones = np.ones(self.free.size)
        return csr_array((ones, (self.free, np.arange(self.free.size))), shape=shape)

    @functools.cached_property
    def imaginary(self) -> np.ndarray:
        """Positions of imaginary parts in a real vector with pairs."""
        assert self.layout is not None
        found = [
            leaf.entries(offset)[..., 1].reshape(-1)
            for _, offset, leaf in self.layout._leaves
            if leaf.pairs and not leaf.alias
        ]
        return np.concatenate(found) if found else np.empty(0, dtype=np.intp)


def is_tree(value: Any) -> bool:
    """Whether a value is a vector or a container of components, but no list of numbers."""
    return open_container(value) is not None and not is_plain_list(value)


def is_plain_list(value: Any, arrays: bool = True) -> bool:
    """Whether a value is a list or tuple of numbers, or of such lists, and so one array.

    Arrays without axes are numbers, unless `arrays` is False.
    """
    if type(value) not in (list, tuple):
        return False
    return all(_is_number(item, arrays) or is_plain_list(item, arrays) for item in value)


def _is_number(value: Any, arrays: bool) -> bool:
    """Whether a value is one number, traced or not."""
    plain = untraced(value)
    if isinstance(plain, np.ndarray):
        return arrays and plain.ndim == 0
    return isinstance(plain, int | float | complex | np.generic)


def _are_booleans(values: Sequence[Any]) -> bool:
    """Whether a list is a mask."""
    return bool(values) and all(isinstance(value, bool | np.bool_) for value in values)


def name_of_entry(entries: Layout | None, position: int, paired: bool) -> str:
    """The label of a real entry, or its position where it has none."""
    if entries is not None:
        return repr(entries.labels()[position])
    if paired:
        position, part = divmod(position, 2)
        return f"entry {position}{('.re', '.im')[part]}"
    return f"entry {position}"


def first_not_finite(values: np.ndarray, name: Callable[[int], str]) -> str:
    """Name and value of the first entry that is not finite; empty where all are."""
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return ""
    position = int(np.argmax(wrong))
    return f"{name(position)} is {values[position]}"


def layout_of_pairs(own: Layout) -> Layout:
    """The layout that stores each complex number of another as a pair of reals, if it has any."""
    if own.dtype.kind != "c":
        return own
    plans = [
        as_pairs(plan) if isinstance(plan, LeafPlan) and 0 not in plan.shape else plan
        for plan in own._plan()
    ]
    return Layout._build(plans, np.dtype(float))


def product(left: Any, right: Any) -> Any:
    """A product of sparse matrices and linear operators."""
    if isinstance(left, LinearOperator) or isinstance(right, LinearOperator):
        return aslinearoperator(left) @ aslinearoperator(right)
    return left @ right
