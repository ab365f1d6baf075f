"""VectorBox: a component vector that autograd traces, and that behaves as a plain one."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import primitive_vjps
from autograd.tracer import getval, trace_primitives_map
from numpy.lib.mixins import NDArrayOperatorsMixin

from .adjoints import cast
from .conveniences import CONVENIENCES, keys
from .hubs import NO_WRITES, LeafBox
from .layouts import Layout
from .paths import MAPPING, Path, unknown
from .places import Leaf
from .protocols import plain
from .selection import is_names, is_whole, locate, select
from .sequences import ComponentList, items_of
from .spaces import flat
from .tape import buffer_node, label_node
from .tracing import is_traced
from .vector import wrap

_NUMBER = Leaf(())


class VectorBox(NDArrayOperatorsMixin):
    """A component vector, or a group of one, that autograd traces.

    It is no subclass of autograd's `Box`, whose public names would hide components. A group has
    the reader of its root, and becomes an array, with a node of its own, only where it is used so.
    """

    # As in ComponentVector, components that were read stand in the instance's dictionary. What is
    # kept there refers to the reader and never back to this vector, so that there is no cycle.
    __slots__ = ("__dict__", "_data", "_layout", "_node", "_offset", "_path", "_reader", "_value")

    _value: Any  # the vector, plain or traced by an outer trace
    _node: Any
    _data: Any  # its buffer, once needed
    _layout: Layout
    _reader: Any
    _offset: int  # where it begins in the root
    _path: Path  # where a group hangs, for errors

    def __init__(self, reader: Any, layout: Layout, offset: int = 0, path: Path = ()) -> None:
        _set_reader(self, reader)
        _set_layout(self, layout)
        _set_offset(self, offset)
        _set_path(self, path)
        _set_data(self, None)

    # -- reading -------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        kind = type(key)
        if kind is str:
            found = self.__dict__.get(key)
            return self._component(key) if found is None else found
        if isinstance(key, str):
            return self[str.__str__(key)]
        if is_names(key):
            return select(self, key)
        if is_whole(key):
            return self
        if kind is slice:
            start, stop, step = key.indices(len(self))
            leaf = Leaf((len(range(start, stop, step)),), (step,))
            return self._entries(start, leaf)
        if kind is int or isinstance(key, np.integer):
            size = len(self)
            if not -size <= key < size:
                raise IndexError(f"index {key} is out of bounds: the vector has {size} entries")
            return self._entries(int(key) % size, _NUMBER)
        key = flat(plain(key))
        return data_of(self)[np.asarray(key) if type(key) is list else key]

    def __getattr__(self, name: str) -> Any:  # for what is no component that was read before
        if name[:1] == "_":
            if name in ("_value", "_node"):
                self._become_array()
                return getattr(self, name)
            raise AttributeError(
                f"a traced ComponentVector has no attribute {name!r}; "
                "a component whose name begins with an underscore is reached as an item"
            )
        if name in self._layout._children:
            return self._component(name)
        if name in _CONVENIENCES:
            return _CONVENIENCES[name](self)
        if hasattr(np.ndarray, name) and name != "resize":
            return _attribute(data_of(self), name)
        raise AttributeError(unknown(name, self._layout._names()))

    def _component(self, name: str) -> Any:
        """Read a component by its path string, and keep it."""
        found = self._layout._seek(name)
        if found is not None and isinstance(found[1], Leaf):
            value: Any = self._reader.read(self._offset + found[0], found[1])
        else:
            offset, node, path = locate(self, name)
            value = self._at(offset, node, path)
            if isinstance(node, list):  # made anew each time: slices know no end of spellings
                return value
        if name[:1] != "_":
            self.__dict__[name] = value
        return value

    def _at(self, offset: int, node: Any, path: Path) -> Any:
        """What lies at an absolute offset of the root."""
        if isinstance(node, Leaf):
            return self._reader.read(offset, node)
        if isinstance(node, Layout) and node._kind == MAPPING:
            return VectorBox(self._reader, node, offset, path)
        items = items_of(node, offset) if isinstance(node, Layout) else node
        owner = VectorBox(self._reader, self._layout, self._offset, self._path)
        return ComponentList(owner, items, path)

    def _entries(self, start: int, leaf: Leaf) -> Any:
        """Entries of the buffer, read as a leaf."""
        self._layout._require_whole(self._path)
        return self._reader.read(self._offset + start, leaf)

    def _become_array(self) -> None:
        """Give a group a buffer, a value and a node of its own: its entries, read at once."""
        data = self._entries(0, Leaf(self._layout._shape))
        _set_data(self, data)
        _set_value(self, wrap(self._layout, data._value))
        _set_node(self, label_node(data._node, self._layout))

    @property
    def _trace(self) -> int:
        return self._reader.trace

    @property
    def _root(self) -> Any:
        """The memory that is written: there is none."""
        raise TypeError(NO_WRITES)

    def __len__(self) -> int:
        return self._layout._size

    def __iter__(self) -> Iterator[Any]:
        return (self._entries(i, _NUMBER) for i in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return getval(value) in getval(self)

    def __bool__(self) -> bool:
        return bool(getval(self))

    def __dir__(self) -> list[str]:
        return [k for k in self._layout._children if isinstance(k, str) and k.isidentifier()]

    def __copy__(self) -> VectorBox:
        return self

    def __deepcopy__(self, memo: Any) -> VectorBox:
        return self

    def __repr__(self) -> str:
        return f"traced {getval(self)!r}"

    def _ipython_key_completions_(self) -> list[str]:
        return keys(self)

    __hash__ = object.__hash__

    # -- writing, which nothing traced allows --------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(NO_WRITES)

    def __setattr__(self, name: str, value: Any) -> None:
        raise TypeError(NO_WRITES)

    # -- NumPy ---------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "autograd traces this vector, so that it is no plain array: "
            "use componentvec.data(v), and functions of autograd.numpy"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            raise TypeError(NO_WRITES)
        if ufunc is np.positive:
            return self
        wrapper = trace_primitives_map.get(ufunc)
        if method != "__call__" or wrapper is None:
            raise TypeError(f"autograd has no rule for numpy.{ufunc.__name__} ({method})")
        inputs = tuple(anp.array(x) if type(x) in (list, tuple) else x for x in inputs)
        return wrapper(*inputs, called_by_autograd_dispatcher=True, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.copy:
            return self
        if func in _WRITING or kwargs.get("out") is not None:
            raise TypeError(NO_WRITES)
        name = func.__name__
        primitive = trace_primitives_map.get(func)
        function = getattr(anp, name, None) if func is getattr(np, name, None) else None
        if function is not None and function is not primitive and primitive not in primitive_vjps:
            bare = {key: _bare(x) for key, x in kwargs.items()}
            return function(*map(_bare, args), **bare)  # made of primitives, as concatenate is
        if primitive is not None and any(map(is_traced, args)):
            return primitive(*args, **kwargs)
        raise TypeError(f"autograd has no rule for numpy.{name} of these arguments")


def _comparing(name: str) -> Any:
    """A comparison: of plain values, as it has no derivative."""
    compare = getattr(operator, name)
    return lambda self, other: compare(getval(self), getval(other))


for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(VectorBox, f"__{_name}__", _comparing(_name))

_set_reader = vars(VectorBox)["_reader"].__set__
_set_layout = vars(VectorBox)["_layout"].__set__
_set_offset = vars(VectorBox)["_offset"].__set__
_set_path = vars(VectorBox)["_path"].__set__
_set_data = vars(VectorBox)["_data"].__set__
_set_value = vars(VectorBox)["_value"].__set__
_set_node = vars(VectorBox)["_node"].__set__

#: functions of NumPy that write into their first argument
_WRITING = (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)


def whole_box(reader: Any, layout: Layout, value: Any, node: Any) -> VectorBox:
    """The traced vector of a value and a node."""
    box = VectorBox(reader, layout)
    _set_value(box, value)
    _set_node(box, node)
    return box


def data_of(box: VectorBox) -> LeafBox:
    """The traced buffer of a traced vector."""
    if box._data is None:
        value, node = box._value, box._node  # for these a group reads its entries
        if box._data is None:
            _set_data(box, LeafBox(flat(value), box._trace, buffer_node(node)))
    return box._data


def layout_of(box: VectorBox) -> Layout:
    """The layout of a traced vector."""
    return box._layout._with_dtype(getval(box)._root.dtype)


def _astype(v: VectorBox, dtype: Any) -> Any:
    """`astype` of a traced vector, for which autograd has no rule of forward mode."""
    own, chosen = layout_of(v), np.dtype(dtype)
    if chosen.kind not in "fc":
        return getval(v).astype(chosen)
    converted = cast(data_of(v), chosen)
    if own._paired and (chosen.kind != "f" or chosen.itemsize < 4):
        return converted
    return own._with_dtype(chosen).wrap(converted)


def _attribute(data: LeafBox, name: str) -> Any:
    """An attribute that an ndarray has."""
    if hasattr(LeafBox, name):
        return getattr(data, name)
    plain_one: Any = getattr(getval(data), name)
    function: Any = getattr(anp, name, None)
    if name in ("real", "imag"):
        return function(data)
    if callable(plain_one) and function is not None:
        return functools.partial(function, data)
    if name in ("device", "flags", "itemsize", "nbytes", "strides"):
        return plain_one
    raise TypeError(f"autograd has no rule for ndarray.{name}: this vector is traced")


def _bare(value: Any) -> Any:
    """The value with buffers in place of vectors, also within lists and tuples."""
    if type(value) in (list, tuple):
        return type(value)(map(_bare, value))
    return flat(value)


_CONVENIENCES = CONVENIENCES | {
    "copy": lambda v: lambda: v,
    "astype": lambda v: functools.partial(_astype, v),
}
