"""Layout: an immutable map from paths to places in one buffer.

What users see of it stands here; the tree within it is `nodes.Group`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .encoding import decode, encode
from .entries import find_entry, write_labels
from .misses import show_path
from .nodes import Group, PathLike
from .paths import format_path
from .places import Leaf
from .ties import list_ties, plan_tie

if TYPE_CHECKING:
    from .vector import ComponentVector


class _Above:
    """What `vector` and `display`, which stand above this module, supply when they are loaded."""

    wrap: Callable[[Layout, Any], ComponentVector]
    pack: Callable[[Layout, Any], ComponentVector]
    text: Callable[[Any], str]
    html: Callable[[Any], str]


above = _Above()


class Layout(Group):
    """Immutable map from paths to places (offset, shape, strides) in one buffer.

    Layouts come from vectors (``v.layout``), from `destructure` and from `Layout.from_json`. They
    are hashable, comparable, picklable and cheap to share. Wherever a path is an argument, a path
    string (``"enc.layers[0].w"``) or a tuple of keys (``("enc", "layers", 0, "w")``) will do.

    Attributes
    ----------
    size : int
        Number of buffer entries.
    dtype : numpy.dtype
        Dtype that a vector made by this layout has.
    ties : tuple of tuple of str
        Paths that share memory, each group with its owner first.

    Notes
    -----
    Two layouts are equal when they give the same paths, in the same kinds of container and the same
    order, the same places, shapes and owners. Dtypes are not compared.

    Look-ups are exact: first a top-level name as it stands, then a parsed path.

    Examples
    --------
    >>> import componentvec as cv
    >>> layout = cv.ComponentVector(a=1.0, b=[2.0, 3.0], c={"w": [[1.0, 2.0]]}).layout
    >>> layout.size
    5
    >>> layout.paths()
    ('a', 'b', 'c.w')
    >>> "c.w" in layout, "w" in layout
    (True, False)
    >>> layout["c"].labels()
    ['w[0,0]', 'w[0,1]']
    """

    __slots__ = ()

    __iter__ = None

    def __init__(self) -> None:
        raise TypeError(
            "layouts come from ComponentVector(...).layout, destructure and Layout.from_json"
        )

    # -- what it holds ---------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Number of buffer entries."""
        return self._size

    @property
    def dtype(self) -> np.dtype:
        """The dtype that a vector made by this layout has."""
        return self._dtype

    def paths(self) -> tuple[str, ...]:
        """Path strings of all leaves, in buffer order, then of tied aliases.

        Examples
        --------
        >>> import componentvec as cv
        >>> cv.ComponentVector({"w": [1.0], "odd key": [{"x": 2.0}]}).layout.paths()
        ('w', "['odd key'][0].x")
        """
        leaves = self._leaves
        own = [format_path(path) for path, _, leaf in leaves if not leaf.alias]
        return (*own, *(format_path(path) for path, _, leaf in leaves if leaf.alias))

    def labels(self) -> list[str]:
        """One label for each entry, `size` in all; aliases of tied leaves do not appear.

        Indices count from 0. Complex numbers that are stored as pairs have two entries.

        Examples
        --------
        >>> import componentvec as cv
        >>> cv.ComponentVector(a=1.0, w=[[2.0, 3.0]], z=4j).layout.labels()
        ['a', 'w[0,0]', 'w[0,1]', 'z.re', 'z.im']
        """
        return write_labels(self._leaves, self._size)

    @property
    def ties(self) -> tuple[tuple[str, ...], ...]:
        """Groups of path strings that share memory, each with its owner first."""
        return list_ties(self)

    def shape(self, path: PathLike) -> tuple[int, ...]:
        """Shape of a leaf.

        Raises
        ------
        KeyError
            For an unknown path.
        ValueError
            For a group.

        Examples
        --------
        >>> import componentvec as cv
        >>> cv.ComponentVector(c={"w": [[1.0, 2.0]]}).layout.shape("c.w")
        (1, 2)
        """
        return self._leaf(path)[1].shape

    def slice(self, path: PathLike) -> slice:
        """Slice of the buffer that holds the entries of a component.

        Raises
        ------
        KeyError
            For an unknown path.
        ValueError
            For a tied alias that is not contiguous (`index` has its entries), and for a group that
            holds an alias whose memory lies outside it.

        Examples
        --------
        >>> import componentvec as cv
        >>> layout = cv.ComponentVector(a=1.0, c={"w": [2.0, 3.0], "b": 4.0}).layout
        >>> layout.slice("c"), layout.slice(("c", "b"))
        (slice(1, 4, None), slice(3, 4, None))
        """
        offset, node = self._find(path)
        if isinstance(node, Group):
            node._require_whole(self._keys(path) or ())
            return slice(offset, offset + node._size)
        if node.alias and not (node.plain or (node.pairs and Leaf(node.shape, node.strides).plain)):
            raise ValueError(
                f"{show_path(path)!r} is tied, and its entries are not contiguous in the buffer; "
                "layout.index gives them"
            )
        low, high = node.extent(offset)
        self._require_inside(low, high, path)
        return slice(low, high)

    def index(self, label_or_path: PathLike) -> np.ndarray:
        """Flat integer indices of the entries of a component or a label.

        Returns
        -------
        ndarray of int, shape (n,)
            In the order of the component's own entries, also for aliases in any order of memory.

        Raises
        ------
        KeyError
            Where neither a path nor a label is so named.

        Examples
        --------
        >>> import componentvec as cv
        >>> layout = cv.ComponentVector(a=1.0, w=[[2.0, 3.0], [4.0, 5.0]]).layout
        >>> layout.index("w").tolist(), layout.index("w[1,0]").tolist()
        ([1, 2, 3, 4], [3])
        """
        if self._seek(label_or_path) is None:
            entry = find_entry(self, label_or_path)
            if entry is not None:
                return np.array([entry], dtype=np.intp)
        offset, node = self._find(label_or_path)
        if isinstance(node, Group):
            return self._group_entries(offset, node, label_or_path)
        low, high = node.extent(offset)
        self._require_inside(low, high, label_or_path)
        return node.entries(offset).ravel()

    def _group_entries(self, offset: int, group: Group, path: PathLike) -> np.ndarray:
        """Entries of a group, each once, with those of aliases whose memory lies outside it."""
        if group._outside is None:
            return np.arange(offset, offset + group._size, dtype=np.intp)
        entries = []
        for _, start, leaf in group._leaves:
            if not leaf.alias or group._owner_of(start, leaf) is None:
                low, high = leaf.extent(offset + start)
                self._require_inside(low, high, path)
                entries.append(leaf.entries(offset + start).ravel())
        return np.concatenate(entries)

    def mask(self, *patterns: PathLike) -> np.ndarray:
        """Boolean array of shape ``(size,)``, True where any pattern matches.

        Parameters
        ----------
        *patterns
            Path strings in which ``*`` stands for any one key, also a position, and ``**`` for any
            number of keys, none included: ``"layers[*].w"``, ``"**.bias"``. A group that matches
            covers its entries.

        Raises
        ------
        KeyError
            Where a pattern matches nothing.
        ValueError
            Where one is malformed.

        Examples
        --------
        >>> import componentvec as cv
        >>> layout = cv.ComponentVector(a={"w": [1.0, 2.0], "bias": 0.0}, bias=3.0).layout
        >>> layout.mask("**.bias").tolist()
        [False, False, True, True]
        """
        mask = np.zeros(self._size, dtype=bool)
        for chosen, (path, offset, leaf) in zip(
            self._matching(patterns), self._leaves, strict=True
        ):
            if not chosen:
                continue
            if leaf.alias:
                self._require_inside(*leaf.extent(offset), path)
            if leaf.plain:
                mask[offset : offset + leaf.size] = True
            else:
                mask[leaf.entries(offset)] = True
        return mask

    def __getitem__(self, path: PathLike) -> Layout:
        """The sub-layout of a group."""
        node = self._find(path)[1]
        if isinstance(node, Leaf):
            raise KeyError(f"{show_path(path)!r} is a leaf of shape {node.shape}, not a group")
        return node._with_dtype(self._dtype)

    def __contains__(self, path: object) -> bool:
        try:
            return self._seek(path) is not None
        except TypeError:
            return False

    # -- making vectors --------------------------------------------------------------------------

    def wrap(self, buffer: Any) -> ComponentVector:
        """A vector on that very memory: O(1), no copy.

        Parameters
        ----------
        buffer
            One axis of `size` entries, contiguous; a list is made an array.

        Returns
        -------
        ComponentVector
            With the dtype of the buffer. Writing to either is writing to both.

        Raises
        ------
        ValueError
            For a wrong size, another number of axes, or memory that is not contiguous.
        TypeError
            For a buffer of no numbers.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> layout = cv.ComponentVector(a=0.0, b=[0.0, 0.0]).layout
        >>> buffer = np.array([1.0, 2.0, 3.0])
        >>> v = layout.wrap(buffer)
        >>> v.b += 10
        >>> buffer.tolist()
        [1.0, 12.0, 13.0]
        """
        return above.wrap(self, buffer)

    def zeros(self, dtype: Any = None) -> ComponentVector:
        """A new vector of zeros.

        Examples
        --------
        >>> import componentvec as cv
        >>> cv.ComponentVector(a=1.0, b=[2.0, 3.0]).layout.zeros().tolist()
        [0.0, 0.0, 0.0]
        """
        return above.wrap(self, np.zeros(self._size, self._dtype if dtype is None else dtype))

    def full(self, value: Any) -> ComponentVector:
        """A new vector whose entries are all `value`, or broadcast from it.

        Raises
        ------
        TypeError
            For what is no number, and for a complex number in a real vector.

        Examples
        --------
        >>> import componentvec as cv
        >>> cv.ComponentVector(a=1.0, b=[2.0, 3.0]).layout.full(7).tolist()
        [7.0, 7.0, 7.0]
        """
        given = np.asarray(value)
        if given.dtype.kind not in "biufc" or (given.dtype.kind == "c" and self._dtype.kind != "c"):
            raise TypeError(f"entries of {self._dtype} cannot be filled with {value!r}")
        return above.wrap(self, np.full(self._size, given, self._dtype))

    def pack(self, tree: Any) -> ComponentVector:
        """A new vector from a nested tree with the same names.

        Parameters
        ----------
        tree
            Dicts, lists, dataclasses, vectors and so on. Leaves have the shapes of this layout,
            and tied aliases may be left out.

        Returns
        -------
        ComponentVector
            A copy, with the dtype of this layout.

        Raises
        ------
        KeyError
            For missing or unknown names.
        ValueError
            For other shapes, and for unequal values at tied names.
        TypeError
            For complex data in real components, and for what is no number.

        Examples
        --------
        >>> import componentvec as cv
        >>> layout = cv.ComponentVector(a=0.0, b=[0.0, 0.0]).layout
        >>> layout.pack({"b": [2, 3], "a": 1}).tolist()
        [1.0, 2.0, 3.0]
        """
        return above.pack(self, tree)

    # -- other layouts ---------------------------------------------------------------------------

    def to_json(self) -> str:
        """The layout as plain data, in JSON.

        Examples
        --------
        >>> import componentvec as cv
        >>> layout = cv.ComponentVector(a=[1.0, 2.0]).layout
        >>> cv.Layout.from_json(layout.to_json()) == layout
        True
        """
        self._require_whole()
        return encode(self._plan(), self._dtype)

    @classmethod
    def from_json(cls, s: str | bytes) -> Layout:
        """The layout that `to_json` wrote.

        Raises
        ------
        ValueError
            For anything else. Every place is checked to lie inside the buffer.

        Examples
        --------
        >>> import componentvec as cv
        >>> text = cv.ComponentVector(a=[1.0, 2.0]).layout.to_json()
        >>> cv.Layout.from_json(text).labels()
        ['a[0]', 'a[1]']
        """
        return cls._build(*decode(s))

    def tie(self, alias: PathLike, owner: PathLike) -> Layout:
        """A new layout in which the leaf `alias` is another name for the leaf `owner`.

        Both have the same shape. What shares the memory of `alias` comes along.

        Raises
        ------
        KeyError
            For unknown names.
        ValueError
            For unequal shapes, where the two share memory already or `alias` is a part of another
            leaf, or where one of its aliases could not be read from `owner` at even steps.

        Examples
        --------
        >>> import componentvec as cv
        >>> layout = cv.ComponentVector(a=[1.0, 2.0], b=[3.0, 4.0]).layout
        >>> tied = layout.tie("b", "a")
        >>> tied.size, tied.ties
        (2, (('a', 'b'),))
        """
        try:
            plan = plan_tie(self, alias, owner)
            return self if plan is None else Layout._build(plan, self._dtype)
        except ValueError as error:
            names = show_path(alias), show_path(owner)
            raise ValueError(f"cannot tie {names[0]!r} to {names[1]!r}: {error}") from None

    # -- comparing, copying ----------------------------------------------------------------------

    def __copy__(self) -> Layout:
        return self

    def __deepcopy__(self, memo: Any) -> Layout:
        return self

    def __reduce__(self) -> Any:
        return Layout.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return above.text(self)

    def _repr_html_(self) -> str:
        return above.html(self)
