"""ComponentVector: made, read, written and copied."""

import copy
import dataclasses
import gc
import json
import pickle
import threading
import tracemalloc
import weakref
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.paths import format_path
from strategies import (
    HOSTILE,
    arrays,
    is_array,
    leaves_of,
    made,
    numbers,
    real_leaves,
    tied_vectors,
    trees,
    vectors,
)

Point = namedtuple("Point", ["x", "y"])


@dataclass
class Layer:
    """A dataclass of components."""

    w: Any
    b: Any = 0.0
    name: str = cv.static(default="layer")


def vector(*args, **components):
    """A vector, for short."""
    return cv.ComponentVector(*args, **components)


def model():
    """A nested vector of 1, 2, 3, ... with a sequence."""
    v = vector(
        a=0.0,
        b=[0.0, 0.0],
        c={"a": 0.0, "b": np.zeros((2, 2))},
        layers=[{"w": [0.0, 0.0], "b": 0.0}, {"w": [0.0, 0.0], "b": 0.0}],
    )
    v[:] = np.arange(1.0, 15.0)
    return v


def shared():
    """A vector in which `dec.w` is `enc.w`, and `dec` so holds an alias from outside."""
    tree = {"enc": {"w": np.zeros((2, 3))}, "dec": {"w": np.zeros((2, 3)), "b": 0.0}}
    layout = vector(tree).layout.tie("dec.w", "enc.w")
    return layout.wrap(np.arange(7.0))


# -- making one ------------------------------------------------------------------------------------


def test_components_are_given_by_name_or_in_a_tree():
    """Keywords, a tree, or both."""
    v = vector({"a": 1.0}, b=[2.0, 3.0])
    assert v.tolist() == [1.0, 2.0, 3.0]
    assert v.layout == vector(a=1.0, b=[2.0, 3.0]).layout


def test_any_name_is_a_keyword():
    """The constructor's own parameters take no names away, but `dtype`."""
    v = vector(self=1.0, cls=2.0, tree=3.0)
    assert (v.self, v.cls, v.tree) == (1, 2, 3)
    assert vector({"dtype": 1.0})["dtype"] == 1.0


def test_a_name_given_twice_is_refused():
    """Neither value wins."""
    with pytest.raises(ValueError, match="component 'a' is given twice"):
        vector({"a": 1.0}, a=2.0)


def test_names_do_not_join_a_list():
    """A sequence has positions only."""
    for tree in ([1.0], (1.0,), 3.0):
        with pytest.raises(TypeError, match="components by name join a dict or another group"):
            vector(tree, a=2.0)


@pytest.mark.parametrize("tree", [3.0, "abc", np.zeros(3), {1.0}, object()])
def test_what_names_nothing_is_refused(tree):
    """A vector is made of named components."""
    with pytest.raises(TypeError, match="a vector is made of named components: expected a dict"):
        vector(tree)


def test_the_empty_vector_has_size_0():
    """No components are fine."""
    v = vector()
    assert (v.size, len(v), list(v), cv.asdict(v), dir(v)) == (0, 0, [], {}, [])
    assert v.dtype == float
    assert vector(None).layout == v.layout
    assert vector([]).layout != v.layout
    assert cv.asdict(vector([])) == []


def test_all_kinds_of_containers_are_trees():
    """Dicts, lists, tuples, namedtuples, dataclasses and vectors."""
    tree = {"a": 1.0, "b": [{"x": 2.0, "y": 3.0}]}
    for same in (
        OrderedDict(tree),
        {"a": 1.0, "b": (Point(2.0, 3.0),)},
        vector(tree),
        {"a": 1.0, "b": vector(tree).b},
        {"a": 1.0, "b": [vector(x=2.0, y=3.0)]},
    ):
        assert vector(same).layout == vector(tree).layout
        assert vector(same).tolist() == [1.0, 2.0, 3.0]
    assert cv.asdict(vector(Point(1.0, Layer([2.0])))) == {"x": 1.0, "y": {"w": [2.0], "b": 0.0}}


def test_static_fields_of_a_dataclass_are_passed_over():
    """What is never walked is no component."""
    assert vector(Layer([1.0, 2.0], 3.0)).layout.paths() == ("w", "b")


@dataclass(frozen=True)
class Slotted:
    """A frozen dataclass with slots and a buffer."""

    __slots__ = ("w", "mean")
    w: Any
    mean: Any


def test_frozen_dataclasses_with_slots_are_trees():
    """How the fields are stored does not matter."""
    assert vector(Slotted([1.0], 2.0)).tolist() == [1.0, 2.0]


def test_regular_lists_of_numbers_are_one_array():
    """Nested ones and tuples too, at any place but the root."""
    v = vector(a=[1.0, 2], b=[[1, 2.0], (3.0, np.float64(4.0))], c=(5.0,), d=[[[True]]])
    assert [v.layout.shape(name) for name in "abcd"] == [(2,), (2, 2), (1,), (1, 1, 1)]


def test_lists_of_anything_else_are_sequences():
    """Arrays, dicts, vectors and namedtuples, of whatever shapes."""
    v = vector(a=[np.zeros(2), np.zeros(3)], b=[1.0, [2.0, 3.0], {}], c=[np.array(1.0), 2.0])
    assert v.layout.paths() == ("a[0]", "a[1]", "b[0]", "b[1]", "c[0]", "c[1]")
    assert vector(a=[Point(1.0, 2.0)]).layout.paths() == ("a[0].x", "a[0].y")


def test_a_list_at_the_root_is_always_a_sequence():
    """Its items are components, numbers as well."""
    v = vector([1.0, [2.0, 3.0], {"a": 4.0}])
    assert v.layout.paths() == ("[0]", "[1]", "[2].a")
    assert v.keys() == ["[0]", "[1]", "[2]"]
    assert v["[1]"].tolist() == [2.0, 3.0]
    assert v["[2].a"] == 4.0
    assert v[1] == 2.0  # a position in the buffer
    assert vector((1.0, 2.0)).layout == vector([1.0, 2.0]).layout


def test_a_number_is_a_key():
    """Of a dict, and so no sequence."""
    v = vector({3: 1.0, "3": 2.0, "g": {0: 3.0}})
    assert v.keys() == ["[3]", "3", "g"]
    assert (v["[3]"], v["3"], v["g[0]"]) == (1.0, 2.0, 3.0)
    assert v.g.layout == vector({0: 0.0}).layout != vector([0.0]).layout


def test_zero_size_arrays_are_leaves():
    """Empty lists as well."""
    v = vector(a=[], b=np.zeros((2, 0, 3)), c=[[]], d=1.0, e=())
    assert v.tolist() == [1.0]
    assert [v[name].shape for name in "abce"] == [(0,), (2, 0, 3), (1, 0), (0,)]


def test_data_is_copied_once():
    """The vector is memory of its own, C-contiguous whatever came in."""
    w = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    v = vector(w=w, t=w.T, r=w[::-1])
    assert v.w.tolist() == w.tolist()
    assert v.t.tolist() == w.T.tolist()
    assert v.r.tolist() == w[::-1].tolist()
    assert not np.shares_memory(v, w)
    w[:] = 0
    assert v.w.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert v.w.flags.c_contiguous
    assert v.w.flags.writeable


def test_no_copy_is_made_beside_the_vector():
    """Building it takes its own memory and little more."""
    tree = {"w": np.zeros((1000, 100)), "layers": [{"b": np.zeros(100_000)} for _ in range(3)]}
    tracemalloc.start()
    v = vector(tree)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert v.nbytes == 3_200_000
    assert peak < 1.1 * v.nbytes


def test_the_constructor_never_ties():
    """The very same array twice is two components."""
    z = np.zeros(3)
    item = {"w": z}
    v = vector(x=z, y=z, items=[item, item])
    assert (v.size, v.layout.ties) == (12, ())
    v.x = 1.0
    assert v.y.tolist() == [0, 0, 0]


def test_ties_of_a_vector_are_kept():
    """As the whole tree, and as a group of one."""
    w = shared()
    v = vector(w)
    assert v.layout == w.layout
    assert not np.shares_memory(v, w)
    v = vector(before=[1.0, 2.0], model=w)
    assert v.layout.ties == (("model.enc.w", "model.dec.w"),)
    assert v.model.tolist() == w.tolist()
    v.model.dec.w[0, 0] = 50.0
    assert v.model.enc.w[0, 0] == 50.0


def test_an_alias_from_outside_becomes_entries_of_its_own():
    """A group without the owner has nothing to tie to."""
    w = shared()
    v = vector(w.dec)
    assert v.layout.paths() == ("w", "b")
    assert v.tolist() == [0, 1, 2, 3, 4, 5, 6]
    v = vector(enc=w.enc, dec=w.dec)
    assert (v.size, v.layout.ties) == (13, ())


def test_an_alias_that_comes_before_its_owner_is_kept():
    """Order says nothing about ownership."""
    layout = vector(a=[1.0, 2.0], b=[1.0, 2.0]).layout.tie("a", "b")
    assert vector(layout.wrap(np.ones(2))).layout == layout
    assert layout.ties == (("b", "a"),)


def test_ties_of_complex_pairs_are_kept():
    """In a vector of pairs, and in one of complex numbers."""
    layout = vector(x=1.0, z=[1j, 2j], t=[1j, 2j]).layout.tie("t", "z")
    w = layout.wrap(np.arange(5.0))
    assert vector(w).layout == layout
    assert vector(w, dtype=complex).layout.labels() == ["x", "z[0]", "z[1]"]
    assert vector({"g": w}).layout.ties == (("g.z", "g.t"),)
    inner = vector(z=w.z, dtype=complex)
    assert vector(a=inner).a.tolist() == [1 + 2j, 3 + 4j]


@given(tied_vectors())
def test_a_vector_of_a_vector_is_equal(drawn):
    """Ties of all kinds are kept."""
    v, _ = drawn
    again = vector(v)
    assert cv.layout(again) == cv.layout(v)
    assert cv.data(again).tolist() == cv.data(v).tolist()


@given(trees())
def test_components_are_what_was_given(tree):
    """Order, shapes and values, whatever the names are."""
    v = made(tree)
    leaves = leaves_of(tree)
    assert [path for path, _, _ in cv.layout(v)._leaves] == [path for path, _ in leaves]
    for path, array in leaves:
        got = v[format_path(path)]
        assert got.shape == array.shape
        assert np.array_equal(got, array)
        assert isinstance(got, np.ndarray if array.ndim else np.generic)


@given(vectors())
def test_asdict_and_pack_are_inverse(v):
    """A tree of the components makes the same vector."""
    layout, tree = cv.layout(v), cv.asdict(v)
    again = layout.pack(tree)
    assert cv.layout(again) == layout
    assert cv.data(again).dtype == cv.data(v).dtype
    assert cv.data(again).tolist() == cv.data(v).tolist()


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        ({"a": None}, "a"),
        ({"a": {"b": "text"}}, "a.b"),
        ({"a": [1.0, None]}, "a[1]"),
        ({"a": ["x", "y"]}, "a[0]"),
        ([{"odd key": b"bytes"}], "[0]['odd key']"),
        ({"a": np.array([None, 1.0])}, "a"),
        ({"a": np.array(["x"])}, "a"),
        ({"a": np.zeros(2, "datetime64[s]")}, "a"),
        ({"a": np.zeros(2, [("x", float)])}, "a"),
        ({"a": {1.0, 2.0}}, "a"),
        ({"a": object()}, "a"),
        ({"a": lambda: 1.0}, "a"),
        ({"a": range}, "a"),
        ({"a": [np.array(["x"])]}, "a[0]"),
    ],
)
def test_what_is_no_number_is_a_type_error_with_its_path(tree, path):
    """None, text, and objects of all sorts."""
    with pytest.raises(TypeError) as caught:
        vector(tree)
    assert str(caught.value).startswith(f"{path!r}: expected numbers, arrays, or dicts")


@pytest.mark.parametrize("ragged", [[[1.0, 2.0], [3.0]], [1.0, [2.0]], [[1.0], []], ((1,), (2, 3))])
def test_a_ragged_list_of_numbers_is_a_type_error(ragged):
    """It was meant as one array."""
    with pytest.raises(TypeError, match="'c.a': a ragged list of numbers is no array; make it a"):
        vector(c={"a": ragged})


def test_a_masked_array_is_refused():
    """Its mask would be lost."""
    with pytest.raises(TypeError, match="'a': a masked array has no place for its mask"):
        vector(a=np.ma.array([1.0, 2.0], mask=[True, False]))


def test_a_cycle_is_refused():
    """A tree that contains itself has no end."""
    tree = {"a": 1.0}
    tree["b"] = {"c": [tree]}
    with pytest.raises(ValueError, match="the tree contains itself at 'b.c.0.'"):
        vector(tree)
    numbers = [1.0]
    numbers.append(numbers)
    with pytest.raises(ValueError, match="the tree contains itself"):
        vector(a=numbers)


def test_one_container_at_two_places_is_no_cycle():
    """It is taken twice."""
    item = {"w": 1.0}
    assert vector(a=item, b=[item, item]).size == 3


def test_other_peoples_arrays_are_leaves():
    """Whatever NumPy makes an array of numbers."""
    pd = pytest.importorskip("pandas")
    xr = pytest.importorskip("xarray")
    v = vector(s=pd.Series([1.0, 2.0]), d=xr.DataArray([[3.0]]), r=range(2))
    assert v.tolist() == [1, 2, 3, 0, 1]
    with pytest.raises(TypeError, match="'s': expected numbers"):
        vector(s=pd.Series(["x"]))


def test_integers_of_any_length_are_numbers():
    """Python's have no limit, floats have one."""
    assert vector(a=10**30, b=[1, 2**80], c=2**63).tolist() == [1e30, 1.0, 2.0**80, 2.0**63]
    assert vector(a=[10**30, 1j]).tolist() == [1e30, 1j]
    with pytest.raises(ValueError, match="'a': an integer is too large for a float"):
        vector(a=10**400)


# -- dtype -----------------------------------------------------------------------------------------

F32, F64 = np.float32, np.float64
C64, C128 = np.complex64, np.complex128


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1.5], F64),
        ([1], F64),
        ([True], F64),
        ([np.arange(3)], F64),
        ([np.array([True])], F64),
        ([np.int8(1)], F64),
        ([np.zeros(2, F32)], F32),
        ([np.zeros(2, F32), 1.5], F32),
        ([np.zeros(2, F32), 1, True, [2.0, 3.0]], F32),
        ([F32(1), 1.5], F32),
        ([[F32(1), 1.5]], F32),
        ([[F32(1), np.int8(1)]], F64),
        ([[F32(1), F64(1)], 1.0], F64),
        ([np.zeros(2, F32), np.arange(2)], F64),
        ([np.zeros(2, F32), np.int8(1)], F64),
        ([np.zeros(2, F32), np.zeros(2)], F64),
        ([np.zeros(2, F32), np.float64(1)], F64),
        ([np.zeros(2, np.float16), 1.0], np.float16),
        ([np.zeros(2, np.float16), F32(1)], F32),
        ([np.zeros(2, ">f8")], F64),
        ([np.zeros(2, np.longdouble), 1.0], np.longdouble),
        # zero-size arrays have no say
        ([np.zeros(0), F32(1)], F32),
        ([[], F32(1)], F32),
        ([np.zeros(0, F32), 1.0], F64),
        ([np.zeros(0, complex), 1.0], F64),
        ([np.zeros(0), 1j], C128),
        ([[]], F64),
        ([np.zeros(0, complex)], F64),
        # all complex
        ([1j], C128),
        ([np.zeros(2, C64)], C64),
        ([np.zeros(2, C64), 1j], C64),
        ([np.zeros(2, C64), C128(1)], C128),
        ([[1j, 2.0]], C128),
        ([[C64(1), 2.0]], C64),
        ([[F32(1), 2j]], C64),
        # real and complex
        ([1.0, 1j], F64),
        ([F32(1), 1j], F32),
        ([np.zeros(2, C64), 1.0], F32),
        ([np.zeros(2, C64), F64(1)], F64),
        ([np.zeros(2, C64), np.arange(2)], F64),
        ([np.zeros(2), C64(1)], F64),
        ([np.zeros(2, np.float16), 1j], F32),
        ([C128(1), F32(1)], F64),
    ],
)
def test_the_dtype_is_what_numpy_makes_of_arrays_and_scalars(values, dtype):
    """Integers count as float64, and Python numbers have no say beside NumPy's."""
    v = vector({f"x{i}": value for i, value in enumerate(values)})
    assert v.dtype == v.layout.dtype == dtype
    assert v.dtype.isnative


@given(st.lists(arrays(shapes=st.just((1,))), min_size=1, max_size=4))
def test_the_dtype_agrees_with_numpy(values):
    """By `np.result_type`, with integers as float64."""
    wide = [x.dtype if x.dtype.kind in "fc" else np.dtype(float) for x in values]
    result = np.result_type(*wide)
    if result.kind == "c" and any(d.kind == "f" for d in wide):
        result = np.zeros(0, result).real.dtype
    assert vector({str(i): x for i, x in enumerate(values)}).dtype == result


def test_complex_components_of_a_real_vector_are_complex_views():
    """Two entries a number, read and written as one."""
    v = vector(x=1.0, z=[1 + 2j, 3 + 4j], s=5j)
    assert v.dtype == float
    assert v.tolist() == [1, 1, 2, 3, 4, 0, 5]
    assert v.z.dtype == complex
    assert np.shares_memory(v.z, v)
    assert isinstance(v.s, np.complex128)
    v.z[0] = 9j
    v.s = 7
    assert v.tolist() == [1, 0, 9, 3, 4, 7, 0]
    v.z *= 1j
    assert v.z.tolist() == [-9, -4 + 3j]


def test_complex_components_of_a_float32_vector_are_complex64():
    """Half the pair, half the number."""
    v = vector(x=F32(1), z=[1j], m=np.ones((2, 2), C64) * 2j)
    assert (v.dtype, v.z.dtype, v.m.dtype) == (F32, C64, C64)
    assert v.m.tolist() == [[2j, 2j], [2j, 2j]]


def test_a_complex_vector_has_one_entry_a_number():
    """If all of it is complex."""
    v = vector(z=[1j, 2.0], s=3j)
    assert (v.dtype, v.size, v.labels()) == (complex, 3, ["z[0]", "z[1]", "s"])


def test_dtype_overrides():
    """A wider or narrower float, integers, and complex for all."""
    tree = {"x": 1.0, "z": [1j, 2j]}
    assert vector(tree, dtype=complex).tolist() == [1, 1j, 2j]
    assert vector(tree, dtype=complex).layout.labels() == ["x", "z[0]", "z[1]"]
    assert vector(tree, dtype=F32).z.dtype == C64
    assert vector(z=1j, dtype=float).labels() == ["z.re", "z.im"]
    v = vector(n=[1, 2], x=3.0, dtype=int)
    assert (v.dtype, v.n.tolist()) == (int, [1, 2])
    assert vector(x=1.0, dtype="float32").dtype == F32
    assert vector(x=1.0, dtype=bool).tolist() == [True]
    assert vector(dtype=F32).dtype == F32


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_complex_components_do_not_fit_into_other_dtypes(dtype):
    """There are no pairs of integers, and none of half floats."""
    with pytest.raises(TypeError, match="complex components do not fit into a vector of"):
        vector(x=1.0, z=1j, dtype=dtype)


@pytest.mark.parametrize("dtype", [object, str, "datetime64[s]", [("x", float)]])
def test_a_vector_holds_numbers(dtype):
    """No other dtype is allowed."""
    with pytest.raises(TypeError, match="dtype must be numeric, got"):
        vector(x=1.0, dtype=dtype)


# -- reading ---------------------------------------------------------------------------------------


def test_components_are_read_by_attribute_name_and_path():
    """Three ways to the same memory."""
    v = model()
    assert v.c.b is v.c.b
    for b in (v.c.b, v["c"]["b"], v["c.b"], v["c"].b, v.c["b"]):
        assert b.tolist() == [[5, 6], [7, 8]]
        assert np.shares_memory(b, v.c.b)
    assert v["layers[1].w"].tolist() == v.layers[1].w.tolist() == v["layers[-1].w"].tolist()


def test_kinds_of_components():
    """An array is a view, a number a NumPy scalar, a group a vector, a sequence a list."""
    v = model()
    assert type(v.b) is np.ndarray
    assert type(v.a) is np.float64
    assert type(v.c) is cv.ComponentVector
    assert type(v.layers) is cv.ComponentList
    for part in (v.b, v.c, v.c.b, v.layers[0], v.layers[0].w):
        assert np.shares_memory(part, v)
    assert type(vector(x=np.array(1.0)).x) is np.float64
    assert type(vector(x=F32(1)).x) is F32


def test_each_vector_of_a_layout_reads_its_own_memory():
    """What was looked up once is used again, on other memory."""
    v = model()
    for i in range(3):
        w = v.layout.wrap(np.arange(14.0) + i)
        assert (w["b"] - i).tolist() == (w.b - i).tolist() == [1, 2]
        assert (w["c.b"] - i).tolist() == (w.c.b - i).tolist() == [[4, 5], [6, 7]]
        assert (w.c["b"] - i).tolist() == [[4, 5], [6, 7]]
        assert w["a"] == w.a == i
        w = v.layout.wrap(np.arange(14.0) + i)
        assert (w.b - i).tolist() == [1, 2]
        assert (w["layers[1].w"] - i).tolist() == (w.layers[1].w - i).tolist() == [11, 12]


def test_numbers_are_never_stale():
    """They are read anew each time, where arrays are views."""
    v = model()
    assert v.a == v["a"] == 1.0
    v[0] = 7.0
    assert v.a == v["a"] == 7.0
    v.c.a = 8.0
    assert v.c.a == v["c.a"] == 8.0


def test_repeated_reads_give_the_same_view():
    """A view is made once."""
    v = model()
    assert v.b is v.b is v["b"]
    assert v["c.b"] is v["c.b"]
    assert v.layers is v.layers


def test_a_list_of_names_gives_a_new_vector():
    """Nesting kept, in the order of the names."""
    v = model()
    w = v[["c.b", "a"]]
    assert w.layout == vector(c={"b": np.zeros((2, 2))}, a=0.0).layout
    assert w.tolist() == [5, 6, 7, 8, 1]
    w.a = 100.0
    assert v.a == 1.0
    assert v[["c"]].layout == vector(c={"a": 0.0, "b": np.zeros((2, 2))}).layout
    assert v[["c.b", "b", "c.a"]].layout.paths() == ("c.b", "c.a", "b")
    assert v.c[["b"]].tolist() == [5, 6, 7, 8]


def test_a_list_of_names_keeps_sequences_where_it_can():
    """Positions that do not count from 0 are names."""
    v = model()
    assert (
        v[["layers[0].w", "layers[1].w"]].layout
        == vector(layers=[{"w": [0.0, 0.0]}, {"w": [0.0, 0.0]}]).layout
    )
    assert v[["layers[1].b"]].layout == vector(layers={1: {"b": 0.0}}).layout
    assert v[["layers[-1].b"]].tolist() == [14.0]
    w = v[["layers[1]", "layers[0]"]]
    assert w.layout.paths() == ("layers[1].w", "layers[1].b", "layers[0].w", "layers[0].b")
    assert w["layers[1].b"] == 14.0
    assert v[["layers"]].layout["layers"] == v.layout["layers"]
    r = vector([1.0, 2.0, 3.0])
    assert r[["[0]", "[1]"]].layout == vector([1.0, 2.0]).layout
    assert r[["[2]"]].layout == vector({2: 3.0}).layout


def test_a_list_of_names_with_slices():
    """All items at once."""
    v = model()
    w = v[["layers[:].w"]]
    assert w.layout == vector(layers=[{"w": [0.0, 0.0]}, {"w": [0.0, 0.0]}]).layout
    assert w.tolist() == [9, 10, 12, 13]


def test_a_list_of_names_keeps_dtype_and_pairs():
    """A choice changes nothing about what is chosen."""
    v = vector(x=1.0, z=[1j, 2j])
    assert v[["z"]].labels() == ["z[0].re", "z[0].im", "z[1].re", "z[1].im"]
    assert v[["z"]].z.tolist() == [1j, 2j]
    assert vector(n=[1, 2], m=3, dtype=int)[["n"]].dtype == int
    assert vector(x=F32(1), y=2.0)[["y"]].dtype == F32


def test_a_list_of_names_keeps_ties():
    """Where owner and alias are chosen; else the alias has entries of its own."""
    v = shared()
    w = v[["dec.w", "enc"]]
    assert w.layout.ties == (("enc.w", "dec.w"),)
    assert w.size == 6
    w = v[["dec"]]
    assert (w.layout.ties, w.tolist()) == ((), [0, 1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a", "q"], KeyError, "no component 'q'"),
        (["a", "a"], ValueError, "component 'a' is chosen twice"),
        (["c.b", "c"], ValueError, "component 'c' is chosen twice, whole or in part"),
        (["c", "c.b"], ValueError, "'c.b' lies in 'c', which is chosen already"),
        (["a."], KeyError, "no component 'a.'"),
        (["layers[5:].w"], KeyError, "no component 'layers\\[5:\\].w'"),
        (["b[:]"], KeyError, "no component 'b\\[:\\]'"),
    ],
)
def test_a_list_of_names_that_makes_no_sense(names, error, message):
    """Unknown names, and a component twice."""
    with pytest.raises(error, match=message):
        model()[names]


def test_an_empty_list_is_an_index():
    """Of no entries, as for an ndarray."""
    assert model()[[]].tolist() == []


@pytest.mark.parametrize(
    "index",
    [
        3, -1, np.int64(2), True, None, slice(1, 4), slice(None, None, -1), slice(0, 100, 3),
        [0, 2], np.array([1, 1]), np.array([[0], [2]]), np.arange(14) > 5, (slice(1, 3),), (2,),
        (None, slice(0, 2)), (..., 0), [],
    ],
)  # fmt: skip
def test_positions_index_the_buffer(index):
    """As they do an ndarray, with plain results."""
    v = model()
    x = np.arange(1.0, 15.0)
    got, expected = v[index], x[index]
    assert type(got) is type(expected)
    assert np.array_equal(got, expected)
    assert np.shares_memory(got, v) == np.shares_memory(expected, x)


def test_a_labelled_mask_is_an_index():
    """What a comparison gives."""
    v = model()
    assert v[v > 12].tolist() == [13.0, 14.0]


def test_the_whole_stays_labelled():
    """On the same memory."""
    v = model()
    for whole in (v[:], v[...], v.c[:]):
        assert type(whole) is cv.ComponentVector
        assert np.shares_memory(whole, v)
    assert v[:].layout == v.layout
    assert v.c[...].layout == v.c.layout


def test_two_names_are_an_index_error():
    """A vector has one axis; the message shows the list."""
    v = model()
    for key in (("a", "b"), ("a", 0), (0, "a")):
        with pytest.raises(IndexError, match="a vector has one axis, got .*list names"):
            v[key]
        with pytest.raises(IndexError, match="a vector has one axis"):
            v[key] = 1.0


@pytest.mark.parametrize("index", [99, 1.5, slice("a", "b"), [1.5], ["a", 1], [99]])
def test_no_index_is_an_error_of_numpy(index):
    """Positions that are none."""
    with pytest.raises((IndexError, TypeError)):
        model()[index]


def test_an_unknown_name_comes_with_the_names_there_are():
    """As item a KeyError, as attribute an AttributeError, and the closest name is a guess."""
    v = vector(weight=1.0, bias=2.0, g={"weight": 1.0})
    with pytest.raises(KeyError) as caught:
        v["wieght"]
    assert caught.value.args[0] == (
        "no component 'wieght'; did you mean 'weight'? components: weight, bias, g"
    )
    with pytest.raises(
        AttributeError, match="no component 'wieght'; did you mean 'weight'. components: weight,"
    ):
        v.wieght
    with pytest.raises(KeyError, match="no component 'g.wieght'; did you mean 'g.weight'"):
        v["g.wieght"]
    with pytest.raises(KeyError, match="no component 'bias.x'.*components: weight, bias, g"):
        v["bias.x"]
    with pytest.raises(AttributeError, match="no component 'q'; components: weight"):
        v.g.q


def test_hasattr_and_getattr_work():
    """As for any object."""
    v = model()
    assert hasattr(v, "c")
    assert not hasattr(v, "q")
    assert getattr(v, "q", 5) == 5
    assert getattr(v, "a") == 1.0  # noqa: B009


def test_a_str_subclass_is_a_name():
    """NumPy's strings too."""
    v = model()
    assert v[np.str_("c.a")] == 4.0
    v[np.str_("c.a")] = 5.0
    assert v.c.a == 5.0


@given(tied_vectors())
def test_components_read_what_numpy_reads_at_their_places(drawn):
    """Ties, transposes and slices: always the buffer's own entries."""
    v, places = drawn
    buffer = cv.data(v)
    for path, index in places.items():
        got = v[format_path(path)]
        assert np.array_equal(got, buffer[index])
        if index.size and index.ndim:
            assert np.shares_memory(got, buffer)


# -- names win -------------------------------------------------------------------------------------


def test_the_class_defines_no_public_names():
    """Every name is free for components."""
    for cls in (cv.ComponentVector, cv.ComponentList):
        assert [name for name in dir(cls) if not name.startswith("_")] == []


@pytest.mark.parametrize("name", [name for name in HOSTILE if not name.startswith("_")])
def test_a_component_wins_over_any_attribute(name):
    """It is read and written by attribute and by item, first and again."""
    v = vector({"before": 0.0, name: [1.0, 2.0]})
    for _ in range(2):
        assert getattr(v, name).tolist() == [1.0, 2.0]
        assert v[name].tolist() == [1.0, 2.0]
    setattr(v, name, 5.0)
    v[name][1] = 6.0
    assert cv.data(v).tolist() == [0.0, 5.0, 6.0]
    assert cv.layout(v).size == 3
    assert cv.asdict(v)[name].tolist() == [5.0, 6.0]
    assert cv.labels(v)[0] == "before"


def test_what_attributes_are_without_such_components():
    """Conveniences first, then the ndarray's own."""
    v = model()
    assert v.layout is cv.layout(v)
    assert v.labels() == cv.labels(v) == v.layout.labels()
    assert v.keys() == ["a", "b", "c", "layers"]
    assert [type(x) for x in v.values()] == [
        np.float64, np.ndarray, cv.ComponentVector, cv.ComponentList,
    ]  # fmt: skip
    assert [name for name, _ in v.items()] == v.keys()
    assert v.items()[1][1] is v.b
    assert v.shape == (14,)
    assert v.ndim == 1
    assert v.size == 14
    assert v.T.tolist() == v.tolist()
    assert v.sum() == 105.0
    assert v.mean(axis=0) == 7.5
    assert type(v.real) is np.ndarray
    assert v.reshape(2, 7).shape == (2, 7)


def test_functions_reach_what_names_hide():
    """Always, whatever the components are called."""
    v = vector(data=1.0, layout=2.0, labels=3.0, asdict=4.0, keys=5.0)
    assert cv.data(v).tolist() == [1, 2, 3, 4, 5]
    assert cv.layout(v).paths() == ("data", "layout", "labels", "asdict", "keys")
    assert cv.labels(v) == ["data", "layout", "labels", "asdict", "keys"]
    assert cv.asdict(v) == {"data": 1, "layout": 2, "labels": 3, "asdict": 4, "keys": 5}


@pytest.mark.parametrize("function", [cv.data, cv.layout, cv.labels, cv.asdict])
@pytest.mark.parametrize("value", [np.zeros(3), {"a": 1.0}, None, [1.0]])
def test_functions_want_a_vector(function, value):
    """Anything else is a TypeError."""
    with pytest.raises(TypeError, match="expected a ComponentVector, got"):
        function(value)


def test_data_is_the_buffer_itself():
    """No copy, also of a group."""
    buffer = np.arange(14.0)
    v = model().layout.wrap(buffer)
    assert cv.data(v) is buffer
    assert np.shares_memory(cv.data(v.c), buffer)
    assert cv.data(v.c).tolist() == [3, 4, 5, 6, 7]


def test_names_with_an_underscore_are_items_only():
    """They are never mistaken for what the class needs."""
    names = ("_x", "__len__", "_layout", "_data", "_origin", "__dict__", "__class__", "__array__")
    v = vector({name: [1.0, 2.0] for name in names})
    for name in names:
        assert v[name].tolist() == [1.0, 2.0]
        v[name] = 3.0
    with pytest.raises(AttributeError, match="begins with an underscore is reached as an item"):
        v._x
    for name in ("_x", "_layout", "_new", "__class__"):
        with pytest.raises(AttributeError, match="is reached as an item"):
            setattr(v, name, 1.0)
    assert len(v) == 16
    assert np.asarray(v).tolist() == [3.0] * 16
    assert v["_x"].tolist() == [3.0, 3.0]
    assert cv.layout(v).paths() == names


def test_dir_lists_components():
    """And nothing else."""
    v = vector({"b": 1.0, "a": 2.0, "odd key": 3.0, 4: 5.0})
    assert dir(v) == ["a", "b"]
    assert dir(model().c) == ["a", "b"]
    assert v._ipython_key_completions_() == ["b", "a", "odd key", "[4]"]


def test_no_attribute_changes_the_size():
    """`ndarray.resize` would part the buffer from its layout."""
    with pytest.raises(AttributeError, match="no component 'resize'"):
        model().resize(3)


def test_a_vector_makes_a_dict_and_keywords():
    """By keys and items."""
    v = vector(a=1.0, b=[2.0, 3.0])
    assert dict(v) == {"a": 1.0, "b": v.b}
    assert {**v}["b"] is v.b
    assert (lambda a, b: (a, b.tolist()))(**v) == (1.0, [2.0, 3.0])
    assert dict(vector([1.0, {"x": 2.0}])).keys() == {"[0]", "[1]"}
    assert dict(vector({3: 1.0})) == {"[3]": 1.0}


def test_asdict_gives_views():
    """Dicts of groups, lists of sequences, and no copies."""
    v = model()
    tree = cv.asdict(v)
    assert {key: type(value) for key, value in tree.items()} == {
        "a": np.float64, "b": np.ndarray, "c": dict, "layers": list,
    }  # fmt: skip
    tree["c"]["b"][0, 0] = 50.0
    tree["layers"][1]["w"][:] = 60.0
    assert v.c.b[0, 0] == 50.0
    assert v.layers[1].w.tolist() == [60.0, 60.0]
    assert cv.asdict(v.c)["a"] == 4.0
    assert cv.asdict(vector([1.0, [2.0]]))[1].tolist() == [2.0]


# -- writing ---------------------------------------------------------------------------------------


def test_every_way_of_writing_reaches_the_buffer():
    """Attributes, items, parts, and in place."""
    buffer = np.zeros(14)
    v = model().layout.wrap(buffer)
    v.a = 1.0
    v["b"] = [2.0, 3.0]
    v["c.a"] = 4.0
    v.c.b = [[5.0, 6.0], [7.0, 8.0]]
    v.layers[0].w = [9.0, 10.0]
    v.layers[0]["b"] = 11.0
    v["layers[1].w"][0] = 12.0
    v.layers[1].w[1] = 13.0
    v["layers[-1].b"] = 14.0
    assert buffer.tolist() == list(range(1, 15))
    v.a += 1
    v.b *= 2
    v["c.b"] -= 1
    v.c.a **= 2
    v.layers[1].b /= 2
    assert buffer.tolist() == [2, 4, 6, 16, 4, 5, 6, 7, 9, 10, 11, 12, 13, 7]


def test_groups_are_written_in_place_as_arrays():
    """A group is a vector."""
    v = model()
    v.c *= 10
    v.layers[0] += 1
    assert v.tolist() == [1, 2, 3, 40, 50, 60, 70, 80, 10, 11, 12, 12, 13, 14]
    v.c[:] = 0
    v.c[1:3] = [1, 2]
    assert v.c.tolist() == [0, 1, 2, 0, 0]


def test_values_broadcast_into_a_component():
    """By NumPy's rules."""
    v = model()
    v.c.b = 1.0
    v.c.b = [2.0, 3.0]
    assert v.c.b.tolist() == [[2, 3], [2, 3]]
    v.c.b = [[4.0], [5.0]]
    assert v.c.b.tolist() == [[4, 4], [5, 5]]
    v.c = 6.0
    assert v.c.tolist() == [6.0] * 5
    v.c = np.arange(5)
    assert v.c.b.tolist() == [[1, 2], [3, 4]]
    v.layers = 7.0
    assert v.layers[1].w.tolist() == [7, 7]
    v.a = np.array(8)
    v.b = vector(x=1.0, y=2.0)
    assert v.tolist()[:3] == [8, 1, 2]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("b", [1.0, 2.0, 3.0], "'b' has shape \\(2,\\), got shape \\(3,\\)"),
        ("b", [[1.0, 2.0]], "'b' has shape \\(2,\\), got shape \\(1, 2\\)"),
        ("a", [1.0], "'a' has shape \\(\\), got shape \\(1,\\)"),
        ("c.b", [1.0, 2.0, 3.0], "'c.b' has shape \\(2, 2\\), got shape \\(3,\\)"),
        ("c.b", np.zeros((2, 2, 1)), "'c.b' has shape \\(2, 2\\), got shape \\(2, 2, 1\\)"),
        ("c", np.zeros(4), "'c' has shape \\(5,\\), got shape \\(4,\\)"),
        ("b", [], "'b' has shape \\(2,\\), got shape \\(0,\\)"),
        ("layers[1].w", np.zeros(3), "'layers.1..w' has shape \\(2,\\), got shape \\(3,\\)"),
    ],
)
def test_other_shapes_are_refused(name, value, message):
    """A ValueError with path, expected and given shape."""
    v = model()
    with pytest.raises(ValueError, match=message):
        v[name] = value
    assert v.tolist() == list(range(1, 15))


def test_the_path_in_an_error_is_the_whole_one():
    """However deep the group that was written to."""
    v = model()
    with pytest.raises(ValueError, match="'c.b' has shape"):
        v.c.b = np.zeros(3)
    with pytest.raises(ValueError, match="'layers.1..w' has shape"):
        v.layers[1].w = np.zeros(3)
    with pytest.raises(ValueError, match="'layers.0..w' has shape"):
        v["layers"][0]["w"] = np.zeros(3)


@pytest.mark.parametrize("value", [None, "1.0", 1j, [1.0, 1j], ["1", "2"], [None, 1.0], object()])
@pytest.mark.parametrize("name", ["a", "b", "c", "c.b", "layers"])
def test_values_of_other_kinds_are_refused(name, value):
    """None, text and complex numbers for a real component are a TypeError."""
    v = model()
    with pytest.raises((TypeError, KeyError) if name in ("c", "layers") else TypeError):
        v[name] = value
    assert v.tolist() == list(range(1, 15))


def test_a_kind_that_does_not_fit_is_named():
    """Real or no number at all, and where."""
    v = model()
    with pytest.raises(TypeError, match="'c.b' is real \\(float64\\), got complex values"):
        v.c.b = 1j
    with pytest.raises(TypeError, match="'c.b': expected numbers of shape .2, 2., got None"):
        v.c.b = None
    with pytest.raises(TypeError, match="'b': a ragged list of numbers is no array"):
        v.b = [[1.0], 2.0]


@pytest.mark.parametrize("value", [None, "1.0", 1j, [1j], [None]])
@pytest.mark.parametrize("index", [0, slice(0, 1), [0], np.arange(14) < 1, slice(None)])
def test_positions_take_numbers_of_the_kind_too(index, value):
    """An ndarray would parse the text, and drop the imaginary part."""
    v = model()
    with pytest.raises(TypeError, match="'the vector'.*(real|expected numbers)"):
        v[index] = value
    assert v.tolist() == list(range(1, 15))


def test_positions_are_written_as_in_an_ndarray():
    """Slices, masks and index arrays, plain or labelled."""
    v, x = model(), np.arange(1.0, 15.0)
    for index, value in (
        (3, 9.0),
        (slice(1, 4), [1, 2, 3]),
        (x > 10, 0.0),
        ([0, 1], [5, 6]),
        (slice(None, None, -1), np.arange(14)),
        (..., 7.0),
        (slice(2, 3), np.ones((1, 1))),
    ):
        x[index] = value
        v[index] = value
        assert v.tolist() == x.tolist()
    v[v > 6] = v[v > 6] * 2
    assert v.tolist() == np.where(x > 6, 2 * x, x).tolist()


def test_the_whole_is_written_from_a_vector_of_equal_layout():
    """Another layout is another meaning."""
    v, w = model(), model() * 2
    v[:] = w
    assert v.tolist() == w.tolist()
    v[...] = cv.asdict(model())
    assert v.tolist() == model().tolist()
    with pytest.raises(ValueError, match="layouts differ"):
        v[:] = vector(x=np.zeros(14))
    v[:] = np.asarray(vector(x=np.ones(14)))
    assert v.tolist() == [1.0] * 14


def test_a_group_is_assigned_name_by_name():
    """Dicts, vectors, dataclasses, in any order of names."""
    v = model()
    v.c = {"b": [[1, 2], [3, 4]], "a": 0}
    assert v.c.tolist() == [0, 1, 2, 3, 4]
    v.c = vector(b=np.full((2, 2), 5.0), a=6.0)
    assert v.c.tolist() == [6, 5, 5, 5, 5]
    v.layers[0] = Layer(w=[7.0, 8.0], b=9.0)
    assert v.layers[0].tolist() == [7, 8, 9]
    v["c"] = {"a": 1.0, "b": 2.0}
    assert v.c.tolist() == [1, 2, 2, 2, 2]


def test_a_sequence_is_assigned_item_by_item():
    """From lists, tuples, and lists of components."""
    v = model()
    v.layers = [{"w": [1, 2], "b": 3}, {"b": 4, "w": 5}]
    assert v.tolist()[8:] == [1, 2, 3, 5, 5, 4]
    v.layers = tuple(reversed(v.layers))
    assert v.tolist()[8:] == [5, 5, 4, 1, 2, 3]
    v.layers = model().layers
    assert v.tolist()[8:] == [9, 10, 11, 12, 13, 14]


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("c", {"a": 1.0}, KeyError, "no value for component 'c.b'; expected: c.a, c.b"),
        ("c", {"a": 1.0, "b": 2.0, "d": 3.0}, KeyError, "no component 'c.d'"),
        ("c", {"a": 1.0, "b": [1, 2, 3]}, ValueError, "'c.b' has shape \\(2, 2\\)"),
        ("c", {"a": 1.0, "b": None}, TypeError, "'c.b': expected numbers"),
        ("c", {"a": 1j, "b": 1.0}, TypeError, "'c.a' is real"),
        ("c", [1.0, 2.0], KeyError, "no component 'c.0.'"),
        ("layers", [{"w": 1.0, "b": 1.0}], KeyError, "no value for component 'layers.1.'"),
        ("layers", [1.0, 2.0], TypeError, "layers.0.: expected a mapping of w, b, got float"),
        ("layers", [{"w": 1.0, "b": 1.0}] * 3, KeyError, "no component 'layers.2.'"),
        ("layers", [{"w": 1.0, "b": 1.0}, {"w": 1.0}], KeyError, "no value for .*layers.1..b"),
    ],
)
def test_a_group_is_assigned_whole_or_not_at_all(name, value, error, message):
    """Everything is checked before anything is written."""
    v = model()
    with pytest.raises(error, match=message):
        v[name] = value
    assert v.tolist() == list(range(1, 15))


def test_components_may_be_assigned_from_one_another():
    """What is read is read before anything is written."""
    v = vector(c={"a": [1.0, 2.0], "b": [3.0, 4.0]}, layers=[{"w": 5.0}, {"w": 6.0}])
    v.c = {"a": v.c.b, "b": v.c.a}
    assert v.tolist() == [3, 4, 1, 2, 5, 6]
    v.c = {"a": v.c.a[::-1], "b": v.c.b[::-1]}
    assert v.tolist() == [4, 3, 2, 1, 5, 6]
    v.layers = [v.layers[1], v.layers[0]]
    assert v.tolist() == [4, 3, 2, 1, 6, 5]
    v.c.a = v[1:3]
    assert v.tolist() == [3, 2, 2, 1, 6, 5]
    v[1:] = v[:-1]
    assert v.tolist() == [3, 3, 2, 2, 1, 6]


def test_several_components_are_assigned_at_once():
    """A number to all, or a tree, or positions in their order."""
    v = model()
    v[["a", "c.b"]] = 0.0
    assert v.tolist() == [0, 2, 3, 4, 0, 0, 0, 0, 9, 10, 11, 12, 13, 14]
    v[["layers[-1].b", "a"]] = [20.0, 30.0]
    assert (v.a, v.layers[1].b) == (30.0, 20.0)
    v[["b", "c.a"]] = {"b": [1, 2], "c": {"a": 3}}
    v[["layers[:].w"]] = v[["layers[:].w"]] + 1
    assert v.tolist() == [30, 1, 2, 3, 0, 0, 0, 0, 10, 11, 11, 13, 14, 20]
    for value, error, message in (
        ([1.0, 2.0], ValueError, "'the vector' has shape \\(3,\\), got shape \\(2,\\)"),
        ({"b": 1.0}, KeyError, "no value for component 'c'; expected: b, c"),
        (1j, TypeError, "'the vector' is real \\(float64\\), got complex values"),
    ):
        with pytest.raises(error, match=message):
            v[["b", "c.a"]] = value
    assert v.tolist() == [30, 1, 2, 3, 0, 0, 0, 0, 10, 11, 11, 13, 14, 20]


def test_an_unknown_name_is_never_added():
    """As attribute an AttributeError, as item a KeyError, with the closest name."""
    v = model()
    for name in ("q", "layout", "shape", "keys"):
        with pytest.raises(AttributeError, match=f"no component '{name}'.*assignment never adds"):
            setattr(v, name, 1.0)
    for name in ("q", "c.q", "layers[2]", "layers[2:].w", "b[0]", "b[0:1]", "a b", "layers[:].q"):
        with pytest.raises(KeyError, match="no component"):
            v[name] = 1.0
    with pytest.raises(KeyError, match="no component 'q'"):
        v[["a", "q"]] = 1.0
    assert v.tolist() == list(range(1, 15))


def test_components_cannot_be_deleted():
    """A vector keeps its components."""
    v = model()
    with pytest.raises(AttributeError, match="'a' cannot be deleted"):
        del v.a
    with pytest.raises((AttributeError, TypeError), match="__delitem__|item deletion"):
        del v["a"]


def test_a_read_only_buffer_refuses_writes():
    """By name, by position, in place, in part."""
    buffer = np.arange(14.0)
    buffer.flags.writeable = False
    v = model().layout.wrap(buffer)
    for name, value in (("a", 1.0), ("b", 0.0), ("c", {"a": 1.0, "b": 1.0}), ("layers[:].w", 1.0)):
        with pytest.raises(ValueError, match="is read-only"):
            v[name] = value
    with pytest.raises(ValueError, match="'c' is read-only"):
        v.c = 1.0
    with pytest.raises(ValueError, match="'a' is read-only"):
        v[["a", "b"]] = 1.0
    for write in (
        lambda: v.__setitem__(0, 1.0),
        lambda: v.__setitem__(slice(None), 1.0),
        lambda: v.b.__setitem__(0, 1.0),
        lambda: v.__iadd__(1),
        lambda: v.layers.__setattr__("w", 1.0),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert buffer.tolist() == list(range(14))


def test_tied_names_agree_when_they_are_given_together():
    """Owner and alias take one value."""
    tree = {"g": {"a": [1.0, 2.0], "b": [1.0, 2.0], "c": 0.0}}
    v = vector(tree).layout.tie("g.b", "g.a").zeros()
    v.g = {"a": [3.0, 4.0], "c": 5.0}
    assert v.tolist() == [3, 4, 5]
    v.g = {"a": [6.0, 7.0], "b": (6, 7), "c": 8.0}
    assert v.tolist() == [6, 7, 8]
    v.g = {"a": np.nan, "b": np.nan, "c": 8.0}
    with pytest.raises(ValueError, match="'g.[ab]' and 'g.[ab]' are tied, and were given unequal"):
        v.g = {"a": [1.0, 2.0], "b": [1.0, 3.0], "c": 9.0}
    assert np.isnan(v.g.a).all()
    assert v.g.c == 8.0


def test_tied_parts_agree_when_they_are_given_together():
    """A transpose or a row of the owner, on the entries they share."""
    text = json.dumps(
        {
            "componentvec": 1,
            "dtype": "<f8",
            "nodes": [
                {"keys": ["g"]},
                {"keys": ["t", "w", "row"]},
                {"shape": [3, 2], "strides": [1, 3], "owner": 1},
                {"shape": [2, 3]},
                {"shape": [3], "owner": 1, "start": 3},
            ],
        }
    )
    v = cv.Layout.from_json(text).zeros()
    w = np.arange(6.0).reshape(2, 3)
    v.g = {"w": w, "t": w.T, "row": w[1]}
    assert v.g.tolist() == [0, 1, 2, 3, 4, 5]
    for wrong in ({"t": w.T + 1}, {"row": w[0]}, {"t": w.T, "row": 0.0}):
        with pytest.raises(ValueError, match="are tied, and were given unequal values"):
            v.g = {"w": w} | wrong
    assert v.g.tolist() == [0, 1, 2, 3, 4, 5]


@given(trees(real_leaves), st.data())
def test_what_is_written_is_read(tree, data):
    """And no other component changes."""
    v = made(tree)
    leaves = leaves_of(tree)
    if not leaves:
        return
    path, array = data.draw(st.sampled_from(leaves))
    value = data.draw(arrays(st.just(float), st.just(array.shape)))
    v[format_path(path)] = value
    for other, old in leaves:
        assert np.array_equal(v[format_path(other)], value if other == path else old)


@given(st.data(), st.lists(numbers, min_size=1, max_size=6))
def test_index_expressions_agree_with_ndarray(data, values):
    """Reading and writing by position, in any sequence, against an ndarray."""
    v = vector(a=values, b={"c": values})
    x = np.array(values * 2)
    for _ in range(data.draw(st.integers(1, 6))):
        index = data.draw(
            st.integers(-len(x), len(x) - 1)
            | st.slices(len(x))
            | st.lists(st.integers(-len(x), len(x) - 1), max_size=4)
            | arrays(st.just(bool), st.just((len(x),)))
            | st.just(...)
        )
        assert np.array_equal(v[index], x[index])
        value = data.draw(numbers | arrays(st.just(float), st.just(np.shape(x[index]))))
        x[index] = value
        v[index] = value
        assert cv.data(v).tolist() == x.tolist()
        assert v.b.c.tolist() == x[len(values) :].tolist()


class Store:
    """What a vector ought to do, done with a dict of arrays."""

    def __init__(self, v):
        self.v = v
        self.arrays = {path: np.array(v[path]) for path in v.layout.paths()}

    def agree(self):
        """Whether each component is what it should be, and the buffer their row."""
        for path, array in self.arrays.items():
            assert np.array_equal(self.v[path], array)
        row = [x for array in self.arrays.values() for x in array.ravel().tolist()]
        assert cv.data(self.v).tolist() == row


@given(st.data())
def test_sequences_of_writes_agree_with_a_dict_of_arrays(data):
    """Whole components, parts of them, groups and the buffer, in place or not."""
    store = Store(model())
    v, kept = store.v, store.arrays
    for _ in range(data.draw(st.integers(1, 8))):
        path = data.draw(st.sampled_from(sorted(kept)))
        x = data.draw(numbers)
        action = data.draw(st.sampled_from(["set", "add", "part", "group", "all", "stack"]))
        if action == "set":
            v[path] = x
            kept[path][...] = x
        elif action == "add":
            v[path] += x
            kept[path] += x
        elif action == "part" and kept[path].ndim:
            v[path][0] = x
            kept[path][0] = x
        elif action == "group":
            v.c = {"a": x, "b": v.c.b.T}
            kept["c.a"][...], kept["c.b"] = x, kept["c.b"].T.copy()
        elif action == "all":
            v *= 2
            for array in kept.values():
                array *= 2
        elif action == "stack":
            v.layers.w = [[x], [2 * x]]
            kept["layers[0].w"][:], kept["layers[1].w"][:] = x, 2 * x
        store.agree()


# -- groups with an alias from outside -------------------------------------------------------------


def test_a_group_with_an_outside_alias_is_read_and_written_by_name():
    """As any other."""
    v = shared()
    assert v.dec.w.tolist() == [[0, 1, 2], [3, 4, 5]]
    v.dec.w[0] = 7.0
    v.dec.b = 8.0
    v["dec"]["w"][1, 0] = 6.0
    v.dec.w *= 2
    assert v.enc.w.tolist() == [[14, 14, 14], [12, 8, 10]]
    v.dec = {"w": 1.0, "b": 2.0}
    assert v.tolist() == [1.0] * 6 + [2.0]
    v.dec = {"b": 3.0}
    assert v.dec.b == 3.0
    assert v.dec.keys() == ["w", "b"]
    assert dir(v.dec) == ["b", "w"]
    assert cv.asdict(v.dec)["w"].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert v.dec.layout.paths() == ("b", "w")
    assert v.dec[["b"]].tolist() == [3.0]
    assert "w" in dict(v.dec)


@pytest.mark.parametrize(
    "use",
    [
        len, list, np.asarray, np.copy, np.sum, bool, copy.copy, copy.deepcopy, pickle.dumps,
        cv.data,
        lambda g: g + 1, lambda g: 1 + g, lambda g: -g, lambda g: g == g, lambda g: np.exp(g),
        lambda g: g[0], lambda g: g[:], lambda g: g[1:], lambda g: 3.0 in g, lambda g: g.sum(),
        lambda g: g.copy(), lambda g: g.astype(int), lambda g: g.shape, lambda g: g @ g,
        lambda g: g.__iadd__(1), lambda g: g.__setitem__(0, 1.0),
        lambda g: g.__setitem__(slice(None), 1.0),
    ],
)  # fmt: skip
def test_a_group_with_an_outside_alias_is_no_array(use):
    """Wherever it is used as one, a ValueError names the alias by its full path."""
    v = vector(top=[{"m": shared()}])
    group = v.top[0].m.dec
    with pytest.raises(ValueError, match="'top.0..m.dec.w' is tied to memory outside this group"):
        use(group)
    assert v.top[0].m.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_such_a_group_takes_no_number_whole():
    """That would use it as an array."""
    v = shared()
    with pytest.raises(ValueError, match="'dec.w' is tied to memory outside this group"):
        v.dec = 0.0


def test_two_outside_aliases_of_one_owner_agree():
    """Also where the owner is not given."""
    tree = {"o": [1.0, 2.0], "g": {"a": [0.0, 0.0], "b": [0.0, 0.0]}}
    layout = vector(tree).layout.tie("g.a", "o").tie("g.b", "o")
    v = layout.wrap(np.zeros(2))
    v.g = {"a": [3.0, 4.0], "b": [3.0, 4.0]}
    assert v.o.tolist() == [3, 4]
    with pytest.raises(ValueError, match="are tied, and were given unequal values"):
        v.g = {"a": 1.0, "b": 2.0}
    v.g = {"b": 5.0}
    assert v.o.tolist() == [5, 5]


# -- as an array -----------------------------------------------------------------------------------


def test_len_iter_and_in_are_those_of_an_array():
    """Of one axis."""
    v = model()
    assert len(v) == 14
    assert list(v) == v.tolist()
    assert all(type(x) is np.float64 for x in v)
    assert 3.0 in v
    assert 99 not in v
    assert "a" not in v
    assert list(reversed(v)) == v.tolist()[::-1]


def test_a_vector_is_not_hashable():
    """It changes."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(vector(a=1.0))


def test_bool_is_that_of_numpy():
    """One entry has a truth, more are ambiguous."""
    assert bool(vector(a=1.0))
    assert not vector(a=0.0)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(vector(a=1.0, b=2.0))


def test_asarray_is_the_buffer():
    """No copy, unless one is asked for."""
    v = model()
    assert np.asarray(v) is cv.data(v)
    assert np.shares_memory(np.asarray(v.c), v)
    assert np.asarray(v, dtype=float) is cv.data(v)
    assert np.asarray(v, np.float32).dtype == np.float32
    assert not np.shares_memory(np.array(v), v)
    assert np.shares_memory(np.array(v, copy=False), v)
    with pytest.raises(ValueError, match="no array of float32 without a copy"):
        np.array(v, dtype=np.float32, copy=False)


# -- copies ----------------------------------------------------------------------------------------

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "method": lambda v: v.copy(),
    **{
        f"pickle {protocol}": lambda v, protocol=protocol: pickle.loads(pickle.dumps(v, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_copies_keep_labels_and_have_new_memory(make):
    """All of them writable."""
    for v in (model(), shared(), vector(x=F32(1), z=[1j]), vector(), vector([1.0]), model().c):
        w = make(v)
        assert type(w) is cv.ComponentVector
        assert w.layout == v.layout
        assert w.dtype == v.dtype
        assert w.layout.dtype == v.layout.dtype
        assert w.tolist() == v.tolist()
        assert not np.shares_memory(w, v)
        w[:] = 0


def test_pickle_keeps_the_dtype_of_the_buffer():
    """Which may not be the layout's."""
    v = vector(a=[1.0, 2.0]).layout.wrap(np.zeros(2, np.float32))
    again = pickle.loads(pickle.dumps(v))
    assert again.dtype == again.layout.dtype == np.float32


def test_the_buffer_is_pickled_out_of_band():
    """Protocol 5 hands the memory over, and takes it back."""
    v = vector(a=np.zeros(1000), b=1.0)
    buffers = []
    data = pickle.dumps(v, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    assert buffers[0].raw().nbytes == 8008
    assert len(data) < 1000
    sent = bytearray(buffers[0].raw())
    again = pickle.loads(data, buffers=[sent])
    assert again.layout == v.layout
    assert again.tolist() == v.tolist()
    again.b = 2.0
    assert np.frombuffer(sent)[-1] == 2.0


def test_only_the_group_is_pickled():
    """Not the vector in which it lies."""
    v = vector(big=np.zeros(10_000), small={"a": 1.0})
    assert len(pickle.dumps(v.small)) < 2000


def test_astype_makes_a_labelled_vector():
    """Of another dtype, where pairs allow it."""
    v = model().astype(np.float32)
    assert (v.dtype, v.layout.dtype, v.c.b.dtype) == (np.float32,) * 3
    assert v.layout == model().layout
    assert vector(a=1.7).astype(int).tolist() == [1]
    pairs = vector(x=1.0, z=1j)
    assert pairs.astype(np.float32).z.dtype == np.complex64
    for dtype in (int, complex, np.float16):
        assert type(pairs.astype(dtype)) is np.ndarray
    with pytest.raises(TypeError, match="a vector holds numbers"):
        v.astype(str)


@given(vectors())
def test_pickle_and_copy_keep_everything(v):
    """Hostile names, pairs, empty groups and all."""
    for again in (pickle.loads(pickle.dumps(v)), copy.deepcopy(v), copy.copy(v)):
        assert cv.layout(again) == cv.layout(v)
        assert cv.data(again).dtype == cv.data(v).dtype
        assert cv.data(again).tolist() == cv.data(v).tolist()


# -- size, memory, threads -------------------------------------------------------------------------


def test_a_vector_of_one_number():
    """The smallest that holds anything."""
    v = vector(a=1.5)
    assert (v.a, v.tolist(), v.labels(), len(v), v[0]) == (1.5, [1.5], ["a"], 1, 1.5)
    v.a = 2
    assert (v + 1).a == 3.0


def test_ten_million_entries():
    """Reading and wrapping touch none of them."""
    v = vector(a=np.zeros(10**7 - 1), b=1.0)
    assert v.size == 10**7
    assert v[["b"]].tolist() == [1.0]
    v.a[-1] = 3.0
    assert (v * 2).a[-1] == 6.0
    assert np.shares_memory(v.layout.wrap(cv.data(v)).a, v)


def test_ten_thousand_components():
    """All of them read, by item and as a tree."""
    v = vector({f"p{i}": [float(i), 0.0] for i in range(10_000)})
    assert sum(v[f"p{i}"][0] for i in range(10_000)) == sum(range(10_000))
    assert len(cv.asdict(v)) == 10_000
    assert v.p9999.tolist() == [9999.0, 0.0]


def test_five_hundred_levels():
    """By attributes, by path, and through every member."""
    tree = {"x": [1.0, 2.0]}
    for _ in range(500):
        tree = {"g": tree}
    v = vector(tree)
    path = ".".join(["g"] * 500 + ["x"])
    assert v[path].tolist() == [1.0, 2.0]
    group = v
    for _ in range(500):
        group = group.g
    assert group.x.tolist() == [1.0, 2.0]
    group.x = 3.0
    assert v.tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="g.g.g.x' has shape"):
        group.x = np.zeros(3)
    assert v.labels() == [f"{path}[0]", f"{path}[1]"]
    assert pickle.loads(pickle.dumps(v)).layout == v.layout
    assert v[[path]].layout == v.layout
    assert v.layout.pack(cv.asdict(v)).tolist() == v.tolist()
    v.g = cv.asdict(v)["g"]
    assert cv.merge(v, cv.asdict(v)).tolist() == v.tolist()
    assert vector(v).layout == v.layout
    assert (v + v).tolist() == [6.0, 6.0]
    del group, v, tree


def test_reading_leaves_no_cycles():
    """Memory is freed at once, not when the collector runs."""
    v = model()
    v.c.b, v.layers, v.layers[0].w, v.layers.w, v["layers[:].w"], v[["a"]], v[:]
    v + 1
    cv.asdict(v)
    buffer = weakref.ref(cv.data(v))
    vector_ref = weakref.ref(v)
    gc.disable()
    try:
        del v
        assert vector_ref() is None
        assert buffer() is None
    finally:
        gc.enable()


def test_components_outlive_the_vector():
    """They hold the memory that they need."""
    layers, group, b = (lambda v: (v.layers, v.c, v.b))(model())
    gc.collect()
    assert layers[1].w.tolist() == [12.0, 13.0]
    assert layers.w.shape == (2, 2)
    assert group.b.tolist() == [[5, 6], [7, 8]]
    assert b.tolist() == [2, 3]


def test_memory_from_elsewhere_is_used(tmp_path):
    """A file in memory, or part of another array."""
    file = np.memmap(tmp_path / "x.bin", float, "w+", shape=(14,))
    v = model().layout.wrap(file)
    v.c.b = 5.0
    assert file[4:8].tolist() == [5.0] * 4
    assert type(v.c.b) is type(np.asarray(v)) is np.ndarray
    whole = np.zeros(20)
    v = model().layout.wrap(whole[3:17])
    v.a = 1.0
    assert whole[3] == 1.0


def test_several_threads_read_one_vector():
    """Views are made and kept without a lock."""
    v = vector({f"p{i}": {"w": np.full(3, i)} for i in range(300)})
    wrong = []

    def read():
        for i in range(300):
            if v[f"p{i}.w"].tolist() != [i] * 3 or getattr(v, f"p{i}").w[0] != i:
                wrong.append(i)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@example({"a": 1.0})
@given(trees())
def test_a_tree_is_never_changed(tree):
    """Containers are read only."""

    def snapshot(value, root=False):
        if is_array(value, root):
            return repr(value)
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [(key, snapshot(child)) for key, child in items]

    before = snapshot(tree, True)
    made(tree)
    assert snapshot(tree, True) == before


def test_dataclasses_with_inherited_fields_are_trees():
    """All fields are components."""

    @dataclasses.dataclass
    class Deep(Layer):
        v: Any = 2.0

    assert vector(Deep([1.0])).layout.paths() == ("w", "b", "v")


@pytest.mark.parametrize(
    "name, expected",
    [
        ("w[0]", r"'w' is an array of shape \(3,\); read 'w', then \[0\] of it"),
        ("w[7]", r"'w' is an array of shape \(3,\)"),
        ("m[0,1]", r"'m' is an array of shape \(1, 2\); read 'm', then \[0,1\] of it"),
        ("z.re", "'z' is a number; read 'z', then .real of it"),
        ("layers[5].w", "'layers' has 2 items"),
        ("layers[0].w[0]", r"'layers\[0\].w' is an array of shape \(1,\)"),
    ],
)
def test_labels_and_items_too_many_are_no_components(name, expected):
    """The array or the list that the name reaches is named instead."""
    v = cv.ComponentVector(w=[1.0, 2.0, 3.0], m=[[1.0, 2.0]], z=1j, layers=[{"w": [1.0]}] * 2)
    H = cv.ComponentMatrix(np.eye(9), v.layout, v.layout)
    with pytest.raises(KeyError, match=expected):
        v[name]
    with pytest.raises(KeyError, match="columns: no component .*" + expected):
        H["w", name]


def test_an_item_too_many_is_an_error_with_their_number():
    """In reading and writing."""
    v = cv.ComponentVector(layers=[{"w": 1.0}] * 2)
    with pytest.raises(IndexError, match="'layers' has 2 items, got index 5"):
        v.layers[5]
    with pytest.raises(IndexError, match="'layers' has 2 items, got index -3"):
        v.layers[-3] = 0.0


def test_a_container_for_an_array_is_refused_with_the_shape():
    """In writing, packing and restructuring."""
    v = cv.ComponentVector(w=[1.0, 2.0], a=1.0)
    with pytest.raises(TypeError, match=r"'w': expected numbers of shape \(2,\), got a dict"):
        v.w = {"a": 1}
    with pytest.raises(TypeError, match=r"'w': expected numbers of shape \(2,\), got a dict"):
        v.layout.pack({"w": {"a": 1}, "a": 1.0})
    with pytest.raises(TypeError, match="'a': expected a number, got a dict"):
        cv.destructure({"a": np.array(1.0)})[1]({"a": {"b": 1.0}})


def test_a_list_for_names_is_refused_with_the_names():
    """A list is a tree, and no flat vector."""
    v = cv.ComponentVector(layers=[{"w": 1.0, "b": 2.0}])
    expected = r"expected a mapping with w, b, got a list, .* flat vector is np.array"
    with pytest.raises(KeyError, match=r"no component 'layers\[0\]\[0\]': " + expected):
        v.layers[0] = [1, 2]
    with pytest.raises(KeyError, match=r"no component '\[0\]': " + expected):
        v.layers[0].layout.pack([1, 2])


def test_what_is_no_component_comes_with_a_remedy():
    """None, and objects of one's own."""

    class Own:
        pass

    with pytest.raises(TypeError, match="got None; leave it out"):
        cv.ComponentVector(a=None)
    with pytest.raises(TypeError, match=r"of type Own; cv.register\(Own\) makes it a group"):
        cv.ComponentVector(a=Own())


@pytest.mark.parametrize("dtype", [object, str, "M8[s]", "S3"])
def test_a_vector_is_made_numbers_only(dtype):
    """As anywhere else."""
    with pytest.raises(TypeError, match="a vector holds numbers"):
        vector({"a": 1.0}).astype(dtype)
