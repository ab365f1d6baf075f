"""What users' functions return, as SciPy takes it: real numbers over the free entries.

A gradient, a Jacobian or a Hessian may come flat, labelled, or as a tree by name; a complex one
becomes one of pairs (re, im).
"""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from .conveniences import is_vector, layout
from .matrix import ComponentMatrix
from .packing import pack
from .pullbacks import name_type
from .rules import flat
from .tracing import untraced
from .unknowns import Unknowns, is_tree, product


def read(unknowns: Unknowns, values: Any, what: str) -> Any:
    """A flat array of what has the names of the unknowns: a vector, a tree or a flat array.

    It may be traced. ValueError for another size, KeyError for other names, TypeError for what is
    no number, or complex where all is real.
    """
    own = unknowns.layout
    if own is not None and is_tree(values):
        given = layout(values) if is_vector(values) else None
        if given is None or given not in (own, unknowns.entries):
            values = pack(own, values, () if given is not None else unknowns.spare)
    entries = flat(values)
    if isinstance(entries, list | tuple):
        entries = anp.array(entries)
    plain, size = np.asarray(untraced(entries)), unknowns.start.size
    if plain.dtype.kind not in "biufc":
        raise TypeError(f"{what} must hold numbers, got {name_type(values)}")
    expected = (size // 2, size) if unknowns.paired else (size,)
    if plain.size not in expected:
        raise ValueError(f"{what} must have {expected[0]} entries, got shape {plain.shape}")
    if plain.dtype.kind == "c" and not unknowns.paired and unknowns.start.dtype.kind != "c":
        raise TypeError(f"{what} must be real, got {plain.dtype}")
    return anp.reshape(entries, (-1,))


def values_and_derivatives(returned: Any, derivatives: str) -> tuple[Any, Any]:
    """What a function returns under ``jac=True``; TypeError for anything but a pair."""
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        raise TypeError(
            f"with jac=True the function must return a pair, its value and its {derivatives}, "
            f"got {name_type(returned)}"
        )
    return returned[0], returned[1]


def covector(unknowns: Unknowns, gradient: Any) -> np.ndarray:
    """A gradient that the user gives, over the free entries: new memory."""
    whole = _whole_covector(unknowns, gradient, "the gradient")
    return whole if unknowns.free is None else whole[unknowns.free]


def _whole_covector(unknowns: Unknowns, gradient: Any, what: str) -> np.ndarray:
    """A gradient that the user gives, over all real entries: new memory."""
    values = np.array(read(unknowns, gradient, what))
    if unknowns.paired and values.size < unknowns.start.size:
        return values.astype(complex).conj().view(float)
    values = values.astype(float, copy=False)
    if unknowns.is_model and is_tree(gradient) and not is_vector(gradient):
        values[unknowns.imaginary] *= -1.0
    return values


def restrict(
    unknowns: Unknowns, matrix: Any, what: str, *, rows: bool = False, pairs: bool = False
) -> Any:
    """A matrix that the user gives over all entries, for SciPy: real, over the free ones.

    Restricted are the columns, with `rows` both sides. Where `pairs` is set, each row of a
    complex matrix belongs to a complex number. Sparse matrices and linear operators stay what
    they are.
    """
    own, size, free = unknowns.layout, unknowns.start.size, unknowns.free
    if isinstance(matrix, ComponentMatrix):
        if matrix.cols is not None and own is not None and matrix.cols != unknowns.entries:
            own._require_equal(matrix.cols, "a plain array")
        matrix = np.asarray(matrix)
    elif is_tree(matrix):  # the gradient of one value
        matrix = _whole_covector(unknowns, matrix, what)
    sparse = issparse(matrix) or isinstance(matrix, LinearOperator)
    if not sparse:
        matrix = _real_matrix(np.atleast_2d(matrix), size, unknowns.paired, pairs, what)
    if matrix.shape[1] != size or (rows and matrix.shape[0] != size):
        expected = f"({size if rows else 'm'}, {size})"
        raise ValueError(f"{what} must have the shape {expected}, got {matrix.shape}")
    if free is None:
        return matrix
    if not sparse:
        matrix = matrix[:, free]
        return matrix[free] if rows else matrix
    selection = unknowns.selection
    matrix = product(matrix, selection)
    return product(selection.T, matrix) if rows else matrix


def _real_matrix(
    matrix: np.ndarray, size: int, complex_columns: bool, complex_rows: bool, what: str
) -> np.ndarray:
    """A Jacobian of complex numbers as one of their pairs (re, im).

    With complex columns, a row of a real result is a gradient by autograd's convention, and that
    of a complex one the derivative of an analytic function.
    """
    if matrix.ndim == 2 and matrix.dtype.kind == "O":
        raise TypeError(f"{what} must be a matrix of numbers, got {name_type(matrix[0, 0])}")
    if matrix.ndim != 2 or matrix.dtype.kind not in "biufc":
        raise TypeError(f"{what} must be a matrix of numbers, got shape {matrix.shape}")
    if complex_columns and matrix.shape[1] == size // 2:
        matrix = matrix.astype(complex)
        if complex_rows:
            matrix = np.stack([matrix, -1j * matrix], axis=1).reshape(-1, size // 2)
        return np.ascontiguousarray(matrix.conj()).view(float)
    if complex_rows and matrix.dtype.kind == "c":
        return np.stack([matrix.real, matrix.imag], axis=1).reshape(-1, matrix.shape[1])
    if matrix.dtype.kind == "c":
        raise TypeError(f"{what} must be real, got {matrix.dtype}")
    return matrix
