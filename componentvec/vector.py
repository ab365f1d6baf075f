"""ComponentVector: one contiguous buffer, and a layout that names its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import layouts
from .access import checked, prepare, view, write
from .assembly import Part, collect, settle
from .conveniences import CONVENIENCES, copy, is_vector, keys, layout
from .layouts import Layout
from .paths import MAPPING, SEQUENCE, Path, format_path, parse_path, unknown
from .places import Leaf
from .protocols import ArrayProtocols, plain
from .sequences import ComponentList
from .tracing import is_traced, tracing
from .tree import TRAINABLE, Opened, add_opener, open_container


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

    __slots__ = ("__weakref__", "_data", "_layout", "_origin", "_views")

    _layout: Layout
    _data: np.ndarray | None  # the entries; of a group only once needed
    _origin: tuple[np.ndarray, int, Path] | None  # of a group: root, offset there, path
    _views: dict[str, Any]  # components that were read; never scalars, which would go stale

    def __new__(cls, tree: Any = None, /, *, dtype: Any = None, **components: Any) -> Any:
        if tree is None:
            tree = components
        elif components:
            tree = _join(tree, components)
        elif open_container(tree) is None:
            raise TypeError(
                "a vector is made of named components: expected a dict, list, tuple, dataclass or "
                f"ComponentVector, got {type(tree).__name__}; name it, as in ComponentVector(x=...)"
            )
        return fill(*settle(collect(tree, _graft), dtype))

    # -- reading ---------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        if type(key) is str:
            found = self._views.get(key)
            return self._component(key) if found is None else found
        if isinstance(key, str):
            return self._component(str(key))
        if is_names(key):
            return select(self, key)
        if is_whole(key):
            return wrap(self._layout, self._buffer)
        if isinstance(key, tuple) and any(isinstance(name, str) for name in key):
            raise IndexError(
                f"a vector has one axis, got {key!r}: list names to choose several components, "
                f"v[{list(key)!r}], or join them to a path"
            )
        return self._buffer[plain(key)]

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(
                f"ComponentVector has no attribute {name!r}; "
                "a component whose name begins with an underscore is read as an item"
            )
        found = self._views.get(name)
        if found is not None:
            return found
        if name in self._layout._children:
            return self._component(name)
        if name in CONVENIENCES:
            return CONVENIENCES[name](self)
        if hasattr(np.ndarray, name):
            return getattr(self._buffer, name)
        raise AttributeError(unknown(name, self._layout._names(())))

    def _component(self, name: str) -> Any:
        """Read a component by its path string, and keep the view."""
        plain_place = self._layout._plain.get(name)
        if plain_place is not None and self._data is not None:
            value = self._data[plain_place[0]].reshape(plain_place[1])
        else:
            value = self._look_up(name)
            if isinstance(value, np.generic):
                return value
        self._views[name] = value
        return value

    def _look_up(self, name: str) -> Any:
        """Read a component whose place is no plain slice, or not known yet."""
        layout = self._layout
        try:
            offset, node = layout._find(name)
        except KeyError:
            found = through_lists(self, name)
            if found is None:
                raise
            return found
        if isinstance(node, Leaf) and node.plain and node.shape:
            layout._plain[name] = slice(offset, offset + node.size), node.shape
        return self._at(self._offset + offset, node, self._path + path_keys(layout, name))

    def _at(self, offset: int, node: Any, path: Path) -> Any:
        """What lies at an absolute offset of the root: a view, or a scalar."""
        if isinstance(node, Leaf):
            value = view(self._root, offset, node)
            return value if node.shape else value[()]
        if isinstance(node, Layout) and node._kind == MAPPING:
            return self._group(offset, node, path)
        if isinstance(node, Layout):
            children = enumerate(node._children.values())
            node = [(number, offset + start, child) for number, (start, child) in children]
        return ComponentList(self, node, path)

    def _group(self, offset: int, node: Layout, path: Path) -> ComponentVector:
        """A group at an absolute offset of the root."""
        v = _new(ComponentVector)
        _set_layout(v, node)
        _set_data(v, None)
        _set_origin(v, (self._root, offset, path))
        _set_views(v, {})
        return v

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
        if name[:1] == "_" or name not in self._layout._children:
            raise AttributeError(
                unknown(name, self._layout._names(())) + " (assignment never adds one)"
            )
        self[name] = value

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self._assign(str(key), value)
        elif is_names(key):
            layout = select(self, key)._layout
            values = [plain(value)] * len(key)
            if open_container(value) is not None:
                new = layout.pack(value)
                values = [new[name] for name in key]
            for name, item in zip(key, values, strict=True):
                self._assign(name, item)
        else:
            if is_whole(key) and isinstance(value, ComponentVector):
                self._layout._require_equal(value._layout)
            if isinstance(key, tuple) and any(isinstance(name, str) for name in key):
                raise IndexError(f"a vector has one axis, got {key!r}")
            buffer, key = self._buffer, plain(key)
            buffer[key] = checked(plain(value), np.asarray(buffer[key]), self._path)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name!r} cannot be deleted: a vector keeps its components")

    def _assign(self, name: str, value: Any) -> None:
        """Write a component; everything is checked before anything is written."""
        found = self._views.get(name)
        if found is not None and found is value:  # v.a += 1 has written already
            return
        try:
            offset, node = self._layout._find(name)
        except KeyError:
            stacked = through_lists(self, name)
            if not isinstance(stacked, np.ndarray):
                raise
            write([(stacked, checked(value, stacked, (name,)))])
            return
        path = self._path + path_keys(self._layout, name)
        write(prepare(self._root, self._offset + offset, node, path, value))

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
_set_views = vars(ComponentVector)["_views"].__set__
_new = object.__new__


def wrap(layout: Layout, buffer: Any) -> Any:
    """`Layout.wrap`."""
    if type(buffer) is not np.ndarray:
        if is_traced(buffer):
            return tracing.wrap(layout, buffer)
        if isinstance(buffer, ComponentVector):
            layout._require_equal(buffer._layout)
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
    _set_views(v, {})
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


def fill(layout: Layout, parts: list[Part]) -> Any:
    """A new vector from the values of its leaves."""
    if any(is_traced(value) for _, _, value in parts):
        return tracing.assemble(layout, parts)
    buffer = np.empty(layout._size, layout._dtype)
    for offset, leaf, value in parts:
        if leaf.plain:
            buffer[offset : offset + leaf.size].reshape(leaf.shape)[...] = value
        elif leaf.size:
            view(buffer, offset, leaf)[...] = value
    return wrap(layout, buffer)


def _graft(value: Any) -> tuple[Layout, list[Any]] | None:
    """Layout and leaves of a value that is a vector already."""
    if not is_vector(value):
        return None
    own = layout(value)
    return own, [value._at(value._offset + at, leaf, path) for path, at, leaf in own._leaves]


def _join(tree: Any, components: dict[str, Any]) -> dict[Any, Any]:
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


def select(v: Any, names: list[str]) -> Any:
    """A new vector of some components, nesting kept, in the order of the names."""
    tree: dict[Any, Any] = {}
    for name in names:
        value, keys = v[name], path_keys(v._layout, name)
        group = tree
        for key in keys[:-1]:
            group = group.setdefault(key, {})
            if not isinstance(group, dict):
                raise ValueError(f"{name!r} lies in a component that is chosen already")
        if keys[-1] in group:
            raise ValueError(f"component {name!r} is chosen twice")
        group[keys[-1]] = value
    return ComponentVector(tree)


def through_lists(v: Any, name: str) -> Any:
    """What a path with slices names, as ``layers[:].w``; None where there is no slice."""
    try:
        keys = parse_path(name)
    except ValueError:
        return None
    where = next((i for i, key in enumerate(keys) if isinstance(key, slice)), None)
    if where is None:
        return None
    found = v[format_path(keys[:where])] if where else v._at(v._offset, v._layout, v._path)
    for key in keys[where:]:
        try:
            if isinstance(found, ComponentList):
                found = getattr(found, key) if isinstance(key, str) else found[key]
            elif is_vector(found) and isinstance(key, str):
                found = found[key]
            else:
                raise KeyError(f"no component {name!r}: {format_path(keys[:where])!r} is no list")
        except (AttributeError, IndexError) as error:
            raise KeyError(f"no component {name!r}: {error}") from None
    return found


def path_keys(layout: Layout, name: str) -> Path:
    """The keys of a path string: a top-level name stands for itself."""
    return (name,) if name in layout._children else parse_path(name)


def is_names(key: Any) -> bool:
    """Whether an index is a list of names."""
    return isinstance(key, list) and bool(key) and all(isinstance(name, str) for name in key)


def is_whole(key: Any) -> bool:
    """Whether an index is ``:`` or ``...``."""
    return key is Ellipsis or (type(key) is slice and key == slice(None))


def _restore(layout: Layout, buffer: np.ndarray) -> ComponentVector:
    """The vector that was pickled."""
    return layout.wrap(buffer)


def open_vector(v: ComponentVector) -> Opened:
    """A vector as a container of its components."""
    names = tuple(v._layout._children)
    components = tuple(
        v._at(v._offset + start, node, (*v._path, key))
        for key, (start, node) in v._layout._children.items()
    )

    def rebuild(children: Any) -> ComponentVector:
        return ComponentVector(dict(zip(names, children, strict=True)))

    return Opened(v._layout._kind, names, components, (TRAINABLE,) * len(names), rebuild)


def _open_list(components: ComponentList) -> Opened:
    """A list of components as a container."""
    count = len(components)
    return Opened(SEQUENCE, tuple(range(count)), tuple(components), (TRAINABLE,) * count, list)


add_opener(ComponentVector, open_vector)
add_opener(ComponentList, _open_list)
layouts.above.wrap = wrap
