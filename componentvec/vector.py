"""ComponentVector: one contiguous buffer, and a layout that names its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import layouts
from .access import fill, numbers, put, view
from .assembly import collect, settle
from .conveniences import CONVENIENCES, copy, is_vector, keys, layout
from .layouts import Layout
from .paths import MAPPING, SEQUENCE, Path, unknown
from .places import Leaf
from .protocols import ArrayProtocols, plain
from .selection import assign, is_names, is_whole, locate, read_leaf, select
from .sequences import ComponentList, items_of
from .tracing import is_traced, tracing
from .tree import TRAINABLE, Opened, add_opener, open_container

_ITEMS_ONLY = (
    "ComponentVector has no attribute {!r}; "
    "a component whose name begins with an underscore is reached as an item"
)


class ComponentVector(ArrayProtocols):
    """A one-axis array with named, nested components, each a view into one buffer.

    Parameters
    ----------
    tree
        Dict, list, tuple, namedtuple, dataclass instance or ComponentVector (whose ties are kept).
        Values are numbers, arrays, regular nested lists of numbers (one array each), dicts
        (groups), and lists or tuples of anything else (sequences). Data is copied once.
    dtype
        Dtype of the buffer. By default NumPy's result type of arrays and NumPy scalars, integers
        taken as float64; Python numbers have no say beside them. Where real and complex components
        meet, the vector is real, and a complex component takes two entries a number.
    **components
        Further components by name.

    Raises
    ------
    TypeError
        For None, strings, objects and ragged lists of numbers, with the path.
    ValueError
        For a name given twice, or names that make a path ambiguous.

    Notes
    -----
    A component's name always wins over an attribute: a component called ``T`` or ``shape`` is
    simply that component. What attributes give otherwise, `componentvec.data`, `layout`, `labels`
    and `asdict` give always.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=1.0, b=[2.0, 3.0], c={"w": [[4.0, 5.0]]})
    >>> v.c.w.tolist()
    [[4.0, 5.0]]
    >>> v.b[0] = 7.0
    >>> v.tolist()
    [1.0, 7.0, 3.0, 4.0, 5.0]
    >>> (2 * v)["c.w"].tolist()
    [[8.0, 10.0]]
    """

    # Components that were read stand in the instance's dictionary, where attribute access finds
    # them by itself. Scalars never do, as they would go stale, nor names with an underscore.
    __slots__ = ("__dict__", "__weakref__", "_data", "_layout", "_origin")

    _layout: Layout
    _data: np.ndarray | None  # the entries; of a group only once needed
    _origin: tuple[np.ndarray, int, Path] | None  # of a group: root, offset there, path

    def __new__(cls, tree: Any = None, /, *, dtype: Any = None, **components: Any) -> Any:
        if tree is None:
            tree = components
        elif components:
            tree = join(tree, components)
        elif open_container(tree) is None:
            raise TypeError(
                "a vector is made of named components: expected a dict, list, tuple, dataclass or "
                f"ComponentVector, got {type(tree).__name__}; name it, as in ComponentVector(x=...)"
            )
        return fill(*settle(collect(tree, graft), dtype))

    # -- reading ---------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        if type(key) is str:
            views = self.__dict__
            if key in views:
                return views[key]
            try:
                span, shape = self._layout._plain[key]
            except KeyError:
                return self._component(key)
            data = self._data
            if data is None:
                return self._component(key)
            found = views[key] = data[span].reshape(shape) if shape else data[span]
            return found
        if isinstance(key, str):
            return self[str.__str__(key)]
        if is_names(key):
            return select(self, key)
        if is_whole(key):
            return wrap(self._layout, self._buffer)
        _require_one_axis(key)
        return self._buffer[plain(key)]

    def __getattr__(self, name: str) -> Any:  # for what is no component that was read before
        place = self._layout._plain.get(name)
        data = self._data
        if place is not None and data is not None:
            span, shape = place
            found = self.__dict__[name] = data[span].reshape(shape) if shape else data[span]
            return found
        if name[:1] == "_":
            raise AttributeError(_ITEMS_ONLY.format(name))
        if name in self._layout._children:
            return self._component(name)
        if name in CONVENIENCES:
            return CONVENIENCES[name](self)
        if hasattr(np.ndarray, name) and name != "resize":  # the size is the layout's
            return getattr(self._buffer, name)
        raise AttributeError(unknown(name, self._layout._names()))

    def _component(self, name: str) -> Any:
        """Read a component by its path string, and keep it."""
        own = self._layout
        offset, node, path = locate(self, name)
        value = self._at(offset, node, path)
        if name[:1] == "_" or isinstance(value, np.generic):
            return value
        if isinstance(node, Leaf) and node.plain and name in own._found:
            low = offset - self._offset
            shape = node.shape if len(node.shape) > 1 else None
            own._plain[name] = slice(low, low + node.size), shape
        if not isinstance(node, list):  # made anew each time: slices know no end of spellings
            self.__dict__[name] = value
        return value

    def _at(self, offset: int, node: Any, path: Path) -> Any:
        """What lies at an absolute offset of the root: a view, or a scalar."""
        if isinstance(node, Leaf):
            value = view(self._root, offset, node)
            return value if node.shape else value[()]
        if isinstance(node, Layout) and node._kind == MAPPING:
            return _group(self._root, offset, node, path)
        items = items_of(node, offset) if isinstance(node, Layout) else node
        # On a vector of its own, so that what is kept here never refers back to this vector.
        owner = _group(self._root, self._offset, self._layout, self._path)
        return ComponentList(owner, items, path)

    @property
    def _buffer(self) -> np.ndarray:  # type: ignore[override]
        """The entries as one plain array; ValueError where an alias lies elsewhere."""
        data = self._data
        if data is None:
            self._layout._require_whole(self._path)
            data = self._root[self._offset : self._offset + self._layout._size]
            _set_data(self, data)
        return data

    @property
    def _root(self) -> np.ndarray:  # type: ignore[override]
        """The whole buffer in which this vector or group lies."""
        return self._origin[0] if self._origin else self._data  # type: ignore[return-value]

    @property
    def _offset(self) -> int:
        """Where it begins in the root."""
        return self._origin[1] if self._origin else 0

    @property
    def _path(self) -> Path:
        """Where a group hangs, for errors."""
        return self._origin[2] if self._origin else ()

    def __len__(self) -> int:
        return len(self._buffer)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._buffer)

    def __contains__(self, value: object) -> bool:
        return value in self._buffer

    def __bool__(self) -> bool:
        return bool(self._buffer)

    def __dir__(self) -> list[str]:
        return [k for k in self._layout._children if isinstance(k, str) and k.isidentifier()]

    def _ipython_key_completions_(self) -> list[str]:
        return keys(self)

    # -- writing ---------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:1] == "_":
            raise AttributeError(_ITEMS_ONLY.format(name))
        if name not in self._layout._children:
            message = unknown(name, self._layout._names())
            raise AttributeError(f"{message} (assignment never adds one)")
        self[name] = value

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            key = str.__str__(key)
            # What is written back as it was read, as by `v.a += 1`, is written already.
            if key not in self.__dict__ or self.__dict__[key] is not value:
                put(self._root, *locate(self, key), value)
        elif is_names(key):
            assign(self, key, value)
        elif is_whole(key) and not isinstance(value, ComponentVector) and _is_tree(value):
            put(self._root, self._offset, self._layout, self._path, value)
        else:
            _require_one_axis(key)
            if is_whole(key) and isinstance(value, ComponentVector):
                self._layout._require_equal(value._layout)
            buffer = self._buffer
            buffer[plain(key)] = numbers(plain(value), buffer.dtype, self._path)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name!r} cannot be deleted: a vector keeps its components")

    # -- copying ---------------------------------------------------------------------------------

    def __copy__(self) -> ComponentVector:
        return copy(self)

    def __deepcopy__(self, memo: Any) -> ComponentVector:
        return copy(self)

    def __reduce__(self) -> Any:
        return _restore, (layout(self), self._buffer)

    def __repr__(self) -> str:
        return layouts.above.text(self)

    def _repr_html_(self) -> str:
        return layouts.above.html(self)

    __hash__ = None  # type: ignore[assignment]


_set_layout = vars(ComponentVector)["_layout"].__set__
_set_data = vars(ComponentVector)["_data"].__set__
_set_origin = vars(ComponentVector)["_origin"].__set__
_new = object.__new__


def _group(root: np.ndarray, offset: int, layout: Layout, path: Path) -> ComponentVector:
    """A group on the memory of `root`."""
    v = _new(ComponentVector)
    _set_layout(v, layout)
    _set_data(v, None)
    _set_origin(v, (root, offset, path))
    return v


def wrap(layout: Layout, buffer: Any) -> Any:
    """`Layout.wrap`."""
    if type(buffer) is not np.ndarray:
        if is_traced(buffer):
            return tracing.wrap(layout, buffer)
        if isinstance(buffer, list | tuple) and any(map(is_traced, buffer)):
            return tracing.wrap(layout, tracing.stack(buffer))
        if isinstance(buffer, ComponentVector):
            layout._require_equal(buffer._layout)
        if isinstance(buffer, np.ma.MaskedArray):
            raise TypeError("a masked array has no place for its mask")
        buffer = np.asarray(buffer)
    if buffer.dtype is not layout._dtype:
        _require_dtype(layout, buffer)
    if buffer.shape != layout._shape or not buffer.flags.c_contiguous:
        _refuse_shape(layout, buffer)
    if layout._tied:
        layout._require_whole()
    v = _new(ComponentVector)
    _set_layout(v, layout)
    _set_data(v, buffer)
    _set_origin(v, None)
    return v


def _require_dtype(layout: Layout, buffer: np.ndarray) -> None:
    """TypeError for a buffer in which the components cannot be read."""
    kind = buffer.dtype.kind
    if kind not in "biufc":
        raise TypeError(f"a vector holds numbers, got a buffer of {buffer.dtype}")
    if layout._paired and (kind != "f" or buffer.itemsize < 4):
        raise TypeError(
            f"the layout stores complex components as pairs of reals, got a {buffer.dtype} buffer"
        )


def _refuse_shape(layout: Layout, buffer: np.ndarray) -> None:
    """ValueError for a buffer of the wrong shape or strides."""
    if buffer.ndim != 1:
        raise ValueError(f"a buffer has one axis, got shape {buffer.shape}")
    if buffer.size != layout._size:
        raise ValueError(f"the layout has {layout._size} entries, got {buffer.size}")
    raise ValueError("the buffer is not contiguous; np.ascontiguousarray makes a copy that is")


def graft(value: Any) -> tuple[Layout, list[Any]] | None:
    """Layout and leaves of a value that is a vector already."""
    if not is_vector(value):
        return None
    own = layout(value)
    return own, [read_leaf(value, number) for number in range(len(own._leaves))]


def join(tree: Any, components: dict[str, Any]) -> dict[Any, Any]:
    """A tree and further components; a name given twice is a ValueError."""
    group = open_container(tree)
    if group is None or group.kind != MAPPING:
        raise TypeError(
            f"components by name join a dict or another group of names, got {type(tree).__name__}"
        )
    joined = dict(zip(group.keys, group.values, strict=True))
    for name, value in components.items():
        if name in joined:
            raise ValueError(f"component {name!r} is given twice")
        joined[name] = value
    return joined


def _require_one_axis(key: Any) -> None:
    """IndexError for names where positions are expected."""
    if isinstance(key, tuple) and any(isinstance(name, str) for name in key):
        raise IndexError(
            f"a vector has one axis, got {key!r}: list names to choose several components, "
            f"v[{list(key)!r}], or join them to a path"
        )


def _is_tree(value: Any) -> bool:
    """Whether a value names what it holds, and so is no array."""
    group = open_container(value)
    return group is not None and group.kind == MAPPING


def _restore(layout: Layout, buffer: np.ndarray) -> ComponentVector:
    """The vector that was pickled."""
    return layout.wrap(buffer)


def open_vector(v: Any) -> Opened:
    """A vector as a container of its components."""
    kind, names = v._layout._kind, tuple(v._layout._children)
    components = tuple(
        v._at(v._offset + start, node, (*v._path, key))
        for key, (start, node) in v._layout._children.items()
    )

    def rebuild(children: Any) -> ComponentVector:
        named = dict(zip(names, children, strict=True))
        return ComponentVector(named if kind == MAPPING else list(children))

    return Opened(kind, names, components, (TRAINABLE,) * len(names), rebuild)


def _open_list(components: ComponentList) -> Opened:
    """A list of components as a container."""
    count = len(components)
    return Opened(SEQUENCE, tuple(range(count)), tuple(components), (TRAINABLE,) * count, list)


add_opener(ComponentVector, open_vector)
add_opener(ComponentList, _open_list)
layouts.above.wrap = wrap
