"""SciPy's options that have a number for each entry: labelled and whole for users."""

from __future__ import annotations

from typing import Any

import numpy as np

from .conveniences import is_vector
from .matrix import ComponentMatrix
from .returns import read, restrict
from .unknowns import Unknowns, is_tree

#: for each such option, the axes that go over the entries
_AXES: dict[str, tuple[int, ...]] = {
    "diag": (0,),
    "diff_step": (0,),
    "eps": (0,),
    "finite_diff_rel_step": (0,),
    "hess_inv0": (0, 1),
    "initial_simplex": (1,),
    "direc": (0, 1),
    "offset": (0,),
    "scale": (0,),
    "x_scale": (0,),
}


def reduced(options: dict[str, Any], unknowns: Unknowns) -> dict[str, Any]:
    """The options with plain arrays over the free real entries in place of whole, labelled ones.

    ValueError for another layout.
    """
    return {name: _reduce(name, value, unknowns) for name, value in options.items()}


def _reduce(name: str, value: Any, unknowns: Unknowns) -> Any:
    """One option."""
    axes = _AXES.get(name)
    if name == "jac_sparsity" and value is not None:
        return restrict(unknowns, value, name)
    if isinstance(value, list | tuple) and axes not in (None, (0,)):
        value = np.array([np.asarray(row) for row in value])  # which may be labelled
    elif is_vector(value) or (axes is not None and is_tree(value)):
        value = read(unknowns, value, name)
    elif isinstance(value, ComponentMatrix):
        value = np.asarray(value)
    if axes is None or not isinstance(value, np.ndarray | list | tuple):
        return value
    array = np.asarray(value)
    if unknowns.paired and array.dtype.kind == "c":
        array = np.ascontiguousarray(array).view(float)
    size = unknowns.start.size
    for axis in axes:
        if axis >= array.ndim:
            return value
        if unknowns.paired and array.shape[axis] == size // 2 and array.ndim == 1:
            array = np.repeat(array, 2)
        if unknowns.free is not None and array.shape[axis] == size:
            array = np.take(array, unknowns.free, axis=axis)
    return array
