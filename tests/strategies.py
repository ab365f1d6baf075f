"""Hypothesis strategies for trees of components, layouts and vectors, with hostile names and ties.

What a layout ought to be is worked out here without the package: `leaves_of` takes a tree apart by
the words of the contract, and `Cells` follows every entry by a number of its own, so that a tie is
two leaves with the same numbers.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import componentvec as cv

HOSTILE = (
    "T", "shape", "data", "copy", "layout", "mean", "odd key", "a.b", "", "keys", "values", "items",
    "real", "dtype", "self", "tree", "cls", "class", "é", "名前", "a", "b", "w", "a[0]", "b[0].a",
    "[0]", "0", "'", '"', "\\", "\n", "*", "**", ":", "_private", "__len__", "__dict__", "_layout",
    "w.re", "\ud800",
)  # fmt: skip

keys = st.one_of(
    st.sampled_from(HOSTILE), st.integers(-2, 12), st.text(max_size=3), st.integers(-(2**70), 2**70)
)
paths = st.lists(keys, min_size=1, max_size=5).map(tuple)
shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
full_shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)
numbers = st.integers(-1000, 1000).map(lambda n: n / 8)  # exact in every floating dtype


dtypes = st.sampled_from([float, np.float32, complex, int, bool])


@st.composite
def arrays(draw: Any, dtypes: Any = dtypes, shapes: Any = shapes) -> np.ndarray:
    """Arrays of small exact numbers."""
    dtype = np.dtype(draw(dtypes))
    shape = draw(shapes)
    count = int(np.prod(shape)) * 2
    values = np.array([draw(numbers) for _ in range(count)], dtype=float)
    array = values[::2] + (1j * values[1::2] if dtype.kind == "c" else 0)
    return array.reshape(shape).astype(dtype)


#: NumPy numbers and arrays, Python numbers, and regular lists of them
leaves = st.one_of(
    numbers,
    st.integers(-9, 9),
    st.builds(complex, numbers, numbers),
    numbers.map(np.float32),
    arrays(),
    st.lists(numbers, max_size=3),
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=2),
)
real_leaves = st.one_of(numbers, arrays(st.just(float)), st.lists(numbers, max_size=3))


def trees(leaves: Any = leaves, max_leaves: int = 8) -> Any:
    """Trees whose root is a dict or a list."""

    def groups(children: Any) -> Any:
        apart = children.filter(lambda child: isinstance(child, dict | np.ndarray))
        return st.dictionaries(keys, children, max_size=4) | st.lists(apart, max_size=3)

    inner = st.recursive(leaves, groups, max_leaves=max_leaves)
    return st.dictionaries(keys, inner, max_size=5) | st.lists(inner, max_size=4)


@st.composite
def vectors(draw: Any, leaves: Any = leaves, **options: Any) -> Any:
    """Component vectors without ties."""
    return made(draw(trees(leaves, **options)))


def made(tree: Any) -> Any:
    """The vector of a tree, unless its names are ambiguous."""
    try:
        return cv.ComponentVector(tree)
    except ValueError as error:
        assert "ambiguous names" in str(error)
        assume(False)


def is_array(value: Any, root: bool = False) -> bool:
    """Whether a value is a leaf, as the contract has it."""
    if isinstance(value, dict):
        return False
    if not isinstance(value, list | tuple):
        return True
    return not root and all(
        not isinstance(item, dict | np.ndarray) and is_array(item) for item in value
    )


def leaves_of(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], np.ndarray]]:
    """Paths and arrays of all leaves of a tree, in order."""
    if is_array(tree, root=not path):
        return [(path, np.asarray(tree))]
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [leaf for key, child in items for leaf in leaves_of(child, (*path, key))]


class Cells:
    """What a layout of real leaves ought to be: a number for each entry of each leaf."""

    def __init__(self, tree: Any) -> None:
        self.cells: dict[tuple[Any, ...], np.ndarray] = {}
        self.aliases: set[tuple[Any, ...]] = set()
        count = 0
        for path, array in leaves_of(tree):
            self.cells[path] = np.arange(count, count + array.size).reshape(array.shape)
            count += array.size

    def tie(self, alias: Any, owner: Any) -> None:
        """Give the entries of one leaf the numbers of another, wherever they stand."""
        new = dict(zip(self.cells[alias].ravel().tolist(), self.cells[owner].ravel().tolist()))
        for path, cells in self.cells.items():
            flat = [new.get(cell, cell) for cell in cells.ravel().tolist()]
            self.cells[path] = np.array(flat, dtype=int).reshape(cells.shape)
        self.aliases.add(alias)

    def add_view(self, name: Any, view: np.ndarray) -> None:
        """Add an alias that has these entries."""
        self.cells[(name,)] = view
        self.aliases.add((name,))

    def index(self) -> dict[tuple[Any, ...], np.ndarray]:
        """Positions in the buffer: those of owners in order, and aliases as their owners."""
        position: dict[int, int] = {}
        for path, cells in self.cells.items():
            if path not in self.aliases:
                for cell in cells.ravel().tolist():
                    position[cell] = len(position)
        return {
            path: np.array([position[cell] for cell in cells.ravel().tolist()], dtype=int).reshape(
                cells.shape
            )
            for path, cells in self.cells.items()
        }


@st.composite
def tied(draw: Any, leaves: Any = real_leaves, most: int = 3) -> tuple[Any, Cells]:
    """A layout of real leaves with ties of all kinds, and what it ought to be."""
    tree = draw(trees(leaves))
    layout, cells = cv.layout(made(tree)), Cells(tree)
    for _ in range(draw(st.integers(0, most))):
        candidates = [p for p, c in cells.cells.items() if c.size and p not in cells.aliases]
        if not candidates:
            break
        owner = draw(st.sampled_from(candidates))
        if isinstance(tree, dict) and draw(st.booleans()):
            layout = _with_view(draw, layout, cells, owner)
            continue
        twins = [p for p in candidates if p != owner and _alike(cells, p, owner)]
        if twins:
            alias = draw(st.sampled_from(twins))
            try:
                layout = layout.tie(alias, owner)
            except ValueError as error:
                assert "no even strides" in str(error) or "already" in str(error)
            else:
                cells.tie(alias, owner)
    return layout, cells


def _alike(cells: Cells, one: Any, other: Any) -> bool:
    """Whether two leaves have the same shape."""
    return cells.cells[one].shape == cells.cells[other].shape


def _with_view(draw: Any, layout: Any, cells: Cells, owner: Any) -> Any:
    """The layout with one more name at its root, for part of a leaf."""
    data = json.loads(layout.to_json())
    name = f"view {len(cells.cells)}"
    if name in data["nodes"][0]["keys"]:
        return layout
    whole = np.arange(cells.cells[owner].size).reshape(cells.cells[owner].shape)
    view = draw(st.sampled_from([whole, whole.T, whole[::-1] if whole.ndim else whole]))
    if view.ndim and draw(st.booleans()):
        view = view[draw(st.integers(0, view.shape[0] - 1)) :: draw(st.integers(1, 2))]
    strides = [step // whole.itemsize for step in view.strides]
    start = int(view.ravel()[0])
    leaves = [node for node in data["nodes"] if "shape" in node]
    owners = [path for path, _, _ in layout._leaves]
    number = owners.index(owner)
    assert "owner" not in leaves[number]
    data["nodes"][0]["keys"].append(name)
    data["nodes"].append({"shape": view.shape, "strides": strides, "owner": number, "start": start})
    cells.add_view(name, cells.cells[owner].ravel()[view.ravel()].reshape(view.shape))
    return cv.Layout.from_json(json.dumps(data))


@st.composite
def tied_vectors(draw: Any) -> tuple[Any, dict[tuple[Any, ...], np.ndarray]]:
    """A vector of real leaves with ties, and the positions of its leaves."""
    layout, cells = draw(tied())
    return layout.wrap(np.arange(layout.size) / 8.0), cells.index()
