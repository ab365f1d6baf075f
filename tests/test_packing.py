"""New vectors from trees: by the names of a layout, and merged with other components."""

import json
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.paths import format_path
from strategies import arrays, made, real_leaves, tied_vectors, trees, vectors

F32 = np.float32
Point = namedtuple("Point", ["x", "y"])


@dataclass
class Layer:
    """A dataclass of components."""

    w: Any
    b: Any


def vector(*args, **components):
    """A vector, for short."""
    return cv.ComponentVector(*args, **components)


def model():
    """A nested vector of 1, 2, 3, ..."""
    v = vector(a=0.0, b=[0.0, 0.0], c={"a": 0.0, "b": [0.0, 0.0]}, xs=[{"w": 0.0}, {"w": 0.0}])
    v[:] = np.arange(1.0, 9.0)
    return v


def strided(start=None):
    """A vector in which `t` is the transpose of `w`, and `row` a row of it."""
    text = json.dumps(
        {
            "componentvec": 1,
            "dtype": "<f8",
            "nodes": [
                {"keys": ["t", "w", "row", "x"]},
                {"shape": [3, 2], "strides": [1, 3], "owner": 1},
                {"shape": [2, 3]},
                {"shape": [3], "owner": 1, "start": 3},
                {"shape": []},
            ],
        }
    )
    return cv.Layout.from_json(text).wrap(np.arange(7.0))


# -- pack ------------------------------------------------------------------------------------------


def test_pack_makes_a_vector_by_the_names():
    """In any order, from any kinds of containers."""
    layout = model().layout
    tree = {"c": {"b": (5, 6), "a": 4}, "xs": ({"w": 7}, {"w": 8}), "b": np.array([2, 3]), "a": 1}
    assert layout.pack(tree).tolist() == list(range(1, 9))
    assert layout.pack(model()).tolist() == list(range(1, 9))
    assert vector(p=Point(1.0, 2.0)).layout.pack({"p": Point(3.0, 4.0)}).tolist() == [3.0, 4.0]
    assert vector(p=Layer([1.0], 2.0)).layout.pack({"p": {"b": 4.0, "w": [3.0]}}).tolist() == [3, 4]
    assert vector([1.0, [2.0]]).layout.pack([3, [4]]).tolist() == [3.0, 4.0]
    assert vector([1.0, [2.0]]).layout.pack({1: [4], 0: 3}).tolist() == [3.0, 4.0]


def test_pack_copies():
    """The vector is memory of its own, with the layout's dtype."""
    b = np.array([2.0, 3.0])
    layout = vector(b=b).layout
    v = layout.pack({"b": b})
    assert not np.shares_memory(v, b)
    assert vector(b=b, dtype=F32).layout.pack({"b": b}).dtype == F32
    assert v.layout is layout


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"a": [1.0]}, ValueError, "'a' has shape \\(\\), got shape \\(1,\\)"),
        ({"b": 1.0}, ValueError, "'b' has shape \\(2,\\), got shape \\(\\)"),
        ({"b": 1j * np.ones(2)}, TypeError, "'b' is real, got complex values"),
        ({"b": None}, TypeError, "'b': expected numbers"),
        ({"b": [[1.0], 2.0]}, TypeError, "'b': a ragged list"),
        ({"c": 1.0}, TypeError, "c: expected a mapping of a, b, got float"),
        ({"c": {"a": 1.0}}, KeyError, "no value for component 'c.b'; expected: c.a, c.b"),
        ({"c": {"a": 1.0, "b": [1, 2], "d": 1.0}}, KeyError, "no component 'c.d'"),
        ({"xs": [{"w": 1.0}]}, KeyError, "no value for component 'xs.1.'"),
        ({"q": 1.0}, KeyError, "no component 'q'"),
    ],
)
def test_what_cannot_be_packed(change, error, message):
    """Other shapes, kinds and names."""
    tree = cv.asdict(model()) | change
    with pytest.raises(error, match=message):
        model().layout.pack(tree)


@pytest.mark.parametrize("tree", [3.0, None, np.zeros(8), "abc"])
def test_a_tree_is_needed_to_pack(tree):
    """An array has no names."""
    with pytest.raises(TypeError, match="the tree: expected a mapping of a, b, c, xs, got"):
        model().layout.pack(tree)


def test_the_first_name_that_is_missing_is_reported():
    """In the order of the layout."""
    with pytest.raises(KeyError, match="no value for component 'a'"):
        model().layout.pack({})


def test_of_thousands_of_names_an_error_shows_twenty():
    """And says how many there are."""
    layout = vector({f"x{i}": 1.0 for i in range(10_000)}).layout
    shown = "x0, x1, .*, x19, \\.\\.\\. \\(10000 in all\\)"
    with pytest.raises(KeyError, match=f"'x0'; expected: {shown}") as missing:
        layout.pack({})
    with pytest.raises(TypeError, match=f"expected a mapping of {shown}, got float") as other:
        layout.pack(1.0)
    with pytest.raises(KeyError, match=f"expected a mapping with {shown}, got a list") as listed:
        layout.pack([1.0])
    assert all(len(str(caught.value)) < 300 for caught in (missing, other, listed))


def test_tied_aliases_may_be_left_out():
    """And must agree with their owner where they are given."""
    layout = strided().layout
    w = np.arange(6.0).reshape(2, 3)
    for aliases in ({}, {"t": w.T}, {"row": w[1]}, {"t": w.T, "row": [3, 4, 5]}):
        assert layout.pack({"w": w, "x": 6.0} | aliases).tolist() == list(range(7))
    for wrong in ({"t": w.T + 1}, {"row": w[0]}):
        with pytest.raises(ValueError, match="'(t|row)' and 'w' are tied, and were given unequal"):
            layout.pack({"w": w, "x": 6.0} | wrong)
    with pytest.raises(KeyError, match="no value for component 'w'"):
        layout.pack({"t": w.T, "x": 6.0})
    nan = np.full((2, 3), np.nan)
    assert np.isnan(layout.pack({"w": nan, "t": nan.T, "x": 0.0}).w).all()


def test_a_group_of_aliases_may_be_left_out():
    """Whole, but a group that is merely empty may not."""
    layout = vector(o=[1.0], g={"h": {"a": [1.0]}}).layout.tie("g.h.a", "o")
    assert layout.pack({"o": [2.0]}).tolist() == [2.0]
    with pytest.raises(KeyError, match="no value for component 'g'"):
        vector(o=[1.0], g={}).layout.pack({"o": [2.0]})


def test_complex_values_are_packed_as_pairs():
    """Real values for complex components are fine."""
    layout = vector(x=1.0, z=[1j, 2j]).layout
    assert layout.pack({"x": 1.0, "z": [2j, 3]}).tolist() == [1, 0, 2, 3, 0]


def test_trees_of_arrays_are_packed_whatever_their_memory_is():
    """Nested, in any memory order and dtype, in an order of their own."""
    tree = {"a": np.ones((2, 3)), "g": [np.zeros(2), {"b": np.arange(4.0).reshape(2, 2)}], "e": {}}
    layout = vector(tree).layout
    assert layout.pack(tree).tolist() == [1] * 6 + [0, 0, 0, 1, 2, 3]
    other = {
        "e": {},
        "g": [np.arange(4.0)[::2], {"b": np.asfortranarray([[4.0, 5.0], [6.0, 7.0]])}],
        "a": np.arange(6.0).reshape(3, 2).T,
    }
    packed = layout.pack(other)
    assert packed.tolist() == [0, 2, 4, 1, 3, 5, 0, 2, 4, 5, 6, 7]
    assert packed.layout == layout
    for dtype in (int, np.float32, ">f8"):
        again = layout.pack(other | {"a": other["a"].astype(dtype)})
        assert again.tolist() == packed.tolist()
        assert again.dtype == float
    for wrong in ({"a": np.ones((3, 2))}, {"g": [np.zeros(3), other["g"][1]]}):
        with pytest.raises(ValueError, match="has shape"):
            layout.pack(other | wrong)
    for wrong in ({"g": [np.zeros(2)]}, {"g": {0: np.zeros(2), 2: {}}}, {"e": {"x": np.ones(1)}}):
        with pytest.raises(KeyError, match="component"):
            layout.pack(other | wrong)


def test_an_array_without_entries_fits_whatever_its_dtype():
    """There is nothing to lose."""
    assert vector(x=np.zeros(0), y=1.0).layout.pack({"x": np.zeros(0, complex), "y": 2}).y == 2


@given(tied_vectors())
def test_packing_undoes_asdict(drawn):
    """With all aliases, and without any."""
    v, _ = drawn
    layout = cv.layout(v)
    assert cv.data(layout.pack(cv.asdict(v))).tolist() == cv.data(v).tolist()


# -- merge -----------------------------------------------------------------------------------------


def test_merge_replaces_components_and_adds_new_ones():
    """The order is kept, new ones follow, and the vector stays as it was."""
    v = model()
    w = cv.merge(v, b=[20.0, 30.0], d=9.0, c={"a": 40.0})
    assert w.layout.paths() == (*v.layout.paths(), "d")
    assert w.tolist() == [1, 20, 30, 40, 5, 6, 7, 8, 9]
    assert v.tolist() == list(range(1, 9))
    assert not np.shares_memory(w, v)


def test_merge_takes_trees_and_keywords():
    """Dicts, dataclasses, namedtuples and vectors, and names beside them."""
    v = vector(w=[1.0], b=2.0, x=3.0)
    for other in ({"w": [5.0], "b": 6.0}, Layer([5.0], 6.0), vector(w=[5.0], b=6.0)):
        assert cv.merge(v, other).tolist() == [5, 6, 3]
        assert cv.merge(v, other, x=7.0, y=8.0).tolist() == [5, 6, 7, 8]
    assert cv.merge(vector(x=1.0), Point(2.0, 3.0)).tolist() == [2.0, 3.0]
    assert cv.merge(vector(v=1.0, other=2.0), v=3.0, other=4.0).tolist() == [3.0, 4.0]
    assert cv.merge(v).tolist() == cv.merge(v, {}).tolist() == [1, 2, 3]
    assert not np.shares_memory(cv.merge(v), v)
    assert cv.merge(vector(), a=1.0).layout == vector(a=1.0).layout


def test_the_shape_may_change():
    """A leaf becomes another leaf, a group, or a sequence, and the other way round."""
    v = model()
    for value in ([1.0, 2.0, 3.0], 5.0, {"x": 1.0}, [np.zeros(2), np.zeros(3)], [], {}):
        for name in ("b", "c", "xs"):
            if isinstance(value, dict) and (name == "c" or not value):
                continue  # merged name by name, or changing nothing
            w = cv.merge(v, {name: value})
            assert w.layout == vector(cv.asdict(v) | {name: value}).layout
            assert w.a == 1.0


def test_groups_merge_name_by_name():
    """At any depth."""
    v = vector(g={"h": {"a": 1.0, "b": 2.0}, "c": 3.0})
    w = cv.merge(v, g={"h": {"b": 20.0, "d": 4.0}, "e": {"f": 5.0}})
    assert w.layout.paths() == ("g.h.a", "g.h.b", "g.h.d", "g.c", "g.e.f")
    assert w.tolist() == [1, 20, 4, 3, 5]
    assert cv.merge(v, g=vector(c=[1.0, 2.0])).g.c.tolist() == [1, 2]


def test_lists_of_equal_length_merge_item_by_item():
    """Others take the place of the sequence."""
    v = vector(xs=[{"w": 1.0, "b": 2.0}, {"w": 3.0, "b": 4.0}])
    w = cv.merge(v, xs=[{"b": 20.0}, {"w": 30.0}])
    assert w.layout == v.layout
    assert w.tolist() == [1, 20, 30, 4]
    assert cv.merge(v, xs=[{"b": 20.0}]).layout == vector(xs=[{"b": 0.0}]).layout
    assert cv.merge(v, xs=(*v.xs, {"w": 9.0})).tolist() == [1, 2, 3, 4, 9]
    assert cv.merge(v, xs={1: {"w": 30.0}}).tolist() == [1, 2, 30, 4]
    assert cv.merge(v, xs={7: 1.0}).layout == vector(xs={7: 1.0}).layout
    assert cv.merge(v, xs=v.xs[::-1]).tolist() == [3, 4, 1, 2]


def test_a_vector_of_a_list_merges_with_a_list():
    """Item by item, or by position, or as a whole."""
    v = vector([1.0, [2.0, 3.0]])
    assert cv.merge(v, [10.0, [20.0, 30.0]]).tolist() == [10, 20, 30]
    assert cv.merge(v, {1: [5.0]}).tolist() == [1, 5]
    assert cv.merge(v, [1.0, 2.0, 3.0]).layout == vector([0.0, 0.0, 0.0]).layout
    assert cv.merge(v, vector([7.0, [8.0, 9.0]])).tolist() == [7, 8, 9]
    assert cv.merge(v, []).size == 0


def test_a_number_takes_the_place_of_an_array():
    """Nothing is broadcast, since shapes may change."""
    assert cv.merge(vector(b=[1.0, 2.0]), b=5.0).tolist() == [5.0]


@pytest.mark.parametrize("v", [None, {"a": 1.0}, np.zeros(3), [1.0]])
def test_merge_wants_a_vector(v):
    """Anything else is a TypeError."""
    with pytest.raises(TypeError, match="merge expected a ComponentVector, got"):
        cv.merge(v, a=1.0)


def test_a_name_given_twice_is_refused():
    """In the tree and by name."""
    with pytest.raises(ValueError, match="component 'a' is given twice"):
        cv.merge(vector(a=1.0), {"a": 2.0}, a=3.0)


@pytest.mark.parametrize(
    ("v", "other", "message"),
    [
        (vector(a=1.0), 3.0, "merge expected components by name, got float"),
        (vector(a=1.0), [1.0], "merge expected components by name, got list"),
        (vector(a=1.0), vector([1.0]), "merge expected components by name, got ComponentVector"),
        (vector([1.0]), {"a": 1.0}, "merge expected a list, or a dict by position, got dict"),
        (vector([1.0]), {3: 1.0}, "merge expected a list, or a dict by position, got dict"),
    ],
)
def test_what_does_not_name_components_is_refused(v, other, message):
    """The root keeps its kind."""
    with pytest.raises(TypeError, match=message):
        cv.merge(v, other)


def test_what_is_no_component_is_refused():
    """With its path, as the constructor does."""
    for value in (None, "text", {"x": None}):
        with pytest.raises(TypeError, match="'c.a.*: expected numbers"):
            cv.merge(model(), c={"a": value})
    with pytest.raises(TypeError, match="components by name join a dict"):
        cv.merge(model(), 3.0, a=1.0)
    with pytest.raises(TypeError, match="keys are strings or integers"):
        cv.merge(model(), {None: 1.0})
    with pytest.raises(ValueError, match="ambiguous names: the key 'c.a'"):
        cv.merge(model(), {"c.a": 1.0})
    tree = {"new": {}}
    tree["new"]["x"] = tree
    with pytest.raises(ValueError, match="the tree contains itself at 'new.x.new'"):
        cv.merge(model(), tree)


@pytest.mark.parametrize(
    ("old", "new", "dtype"),
    [
        (F32(1), 2.0, F32),
        (F32(1), 2, F32),
        (F32(1), [1.0, 2.0], F32),
        (F32(1), F32(2), F32),
        (F32(1), np.float64(2), float),
        (F32(1), np.arange(2), float),
        (1.0, F32(2), float),
        (1j, 2j, complex),
        (np.complex64(1), 2j, np.complex64),
        (np.complex64(1), [1.0, 2.0], F32),
        (F32(1), 1j, np.complex64),
        (1.0, [1j], complex),
    ],
)
def test_the_dtype_is_what_the_constructor_gives(old, new, dtype):
    """The vector's own has a say, and Python numbers have none."""
    v = cv.merge(vector(a=old), a=new)
    assert v.dtype == v.layout.dtype == dtype


def test_integers_stay_integers_among_integers():
    """A vector of them says so."""
    v = vector(n=[1, 2], m=3, dtype=np.int32)
    assert cv.merge(v, m=5).dtype == np.int32
    assert cv.merge(v, m=np.int64(5)).dtype == np.int64
    assert cv.merge(v, m=2.5).tolist() == [1.0, 2.0, 2.5]
    assert cv.merge(vector(b=True, dtype=bool), b=3).tolist() == [3]
    assert cv.merge(vector(b=True, dtype=bool), b=False).dtype == bool


def test_complex_components_stay_complex():
    """A real value in the place of a complex one is a complex number."""
    v = vector(x=1.0, z=[1j, 2j])
    w = cv.merge(v, z=[3.0, 4.0])
    assert w.layout == v.layout
    assert w.z.tolist() == [3, 4]
    w = cv.merge(v, x=1j)  # another kind: all are complex now
    assert (w.dtype, w.x) == (complex, 1j)
    only = vector(z=1j, dtype=float)
    assert cv.merge(only, z=2j).layout == only.layout
    assert cv.merge(vector(z=1j), z=2.0).tolist() == [2 + 0j]
    assert cv.merge(vector(z=1j), x=2.0).labels() == ["z.re", "z.im", "x"]
    assert cv.merge(vector(x=1.0), z=2j).labels() == ["x", "z.re", "z.im"]


def test_ties_are_kept():
    """What is written to an alias or an owner is read by all their names."""
    v = strided()
    w = cv.merge(v, x=60.0)
    assert w.layout == v.layout
    assert w.tolist() == [0, 1, 2, 3, 4, 5, 60]
    new = np.arange(10.0, 16.0).reshape(2, 3)
    for change in ({"w": new}, {"t": new.T}, {"w": new, "t": new.T}, {"t": new.T, "row": new[1]}):
        w = cv.merge(v, change)
        assert w.layout == v.layout
        assert w.tolist() == [10, 11, 12, 13, 14, 15, 6]
    assert cv.merge(v, row=[7.0, 8.0, 9.0]).w.tolist() == [[0, 1, 2], [7, 8, 9]]


def test_tied_names_agree():
    """Owner and alias, or two aliases, that are given unequal values are a ValueError."""
    v, new = strided(), np.ones((2, 3))
    for change in (
        {"w": new, "t": 2 * new.T},
        {"w": new, "row": [1.0, 2.0, 3.0]},
        {"t": new.T, "row": [1.0, 2.0, 3.0]},
    ):
        with pytest.raises(ValueError, match="'(t|row)' and 'w' are tied, and were given unequal"):
            cv.merge(v, change)


def test_an_alias_of_another_shape_ends_its_tie():
    """The owner keeps its values."""
    v = strided()
    w = cv.merge(v, t=[1.0, 2.0])
    assert w.layout.ties == (("w", "row"),)
    assert w.layout.paths() == ("t", "w", "x", "row")
    assert w.tolist() == [1, 2, 0, 1, 2, 3, 4, 5, 6]


def test_an_owner_of_another_shape_leaves_its_aliases_alone():
    """They keep the old values as entries of their own."""
    v = strided()
    w = cv.merge(v, w=5.0)
    assert w.layout.ties == ()
    assert w.t.tolist() == v.t.tolist()
    assert w.row.tolist() == [3, 4, 5]
    assert w.size == 6 + 1 + 3 + 1
    w = cv.merge(v, w=5.0, row=[7.0, 8.0, 9.0])
    assert w.row.tolist() == [7, 8, 9]
    assert w.t.tolist() == v.t.tolist()


def test_an_owner_may_go_with_its_group():
    """What takes the place of a group takes all of it."""
    layout = vector(g={"o": [1.0, 2.0]}, a=[1.0, 2.0]).layout.tie("a", "g.o")
    v = layout.wrap(np.array([3.0, 4.0]))
    w = cv.merge(v, g=1.0)
    assert (w.layout.paths(), w.tolist()) == (("g", "a"), [1, 3, 4])


def test_ties_of_new_components_are_kept():
    """A vector that is merged in keeps its own."""
    w = cv.merge(vector(a=1.0), sub=strided())
    assert w.layout.ties == (("sub.w", "sub.t", "sub.row"),)
    assert w.tolist() == [1, 0, 1, 2, 3, 4, 5, 6]
    w = cv.merge(vector(a=1.0, sub=2.0), sub=strided(), b=strided())
    assert len(w.layout.ties) == 2


def test_a_group_with_an_outside_alias_is_merged():
    """The alias has entries of its own then."""
    layout = vector(o=[1.0, 2.0], g={"a": [1.0, 2.0], "b": 3.0}).layout.tie("g.a", "o")
    v = layout.wrap(np.arange(3.0))
    assert cv.merge(v.g, b=9.0).tolist() == [0, 1, 9]
    assert cv.merge(v.g, a=[7.0, 8.0]).tolist() == [7, 8, 2]


def test_merging_reaches_any_depth():
    """Thousands of levels."""
    tree = {"x": 1.0, "y": 2.0}
    change = {"x": 5.0}
    for _ in range(1000):
        tree, change = {"g": tree}, {"g": change}
    assert cv.merge(vector(tree), change).tolist() == [5.0, 2.0]


@given(tied_vectors(), st.data())
def test_with_equal_shapes_merge_is_copy_and_assign(drawn, data):
    """One component at a time, ties and all."""
    v, places = drawn
    if not places:
        return
    path = data.draw(st.sampled_from(sorted(places, key=repr)))
    value = data.draw(arrays(st.just(float), st.just(places[path].shape)))
    tree = value
    for key in reversed(path):
        tree = {key: tree}
    expected = cv.layout(v).wrap(cv.data(v).copy())
    expected[format_path(path)] = value
    merged = cv.merge(v, tree)
    assert cv.layout(merged) == cv.layout(v)
    assert cv.data(merged).tolist() == cv.data(expected).tolist()


@given(vectors())
def test_merging_a_vector_with_itself_changes_nothing(v):
    """By a tree, by the vector, and by nothing."""
    for other in (cv.asdict(v), v, None):
        merged = cv.merge(v, other)
        assert cv.layout(merged) == cv.layout(v)
        assert cv.data(merged).dtype == cv.data(v).dtype
        assert cv.data(merged).tolist() == cv.data(v).tolist()


def deep(old, new):
    """Two trees of dicts, merged by plain recursion."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: deep(old.get(key), value) for key, value in new.items()}
    return new


@given(
    st.dictionaries(st.sampled_from("abcd"), trees(real_leaves, max_leaves=3), max_size=3),
    st.dictionaries(st.sampled_from("abcd"), trees(real_leaves, max_leaves=3), max_size=3),
)
def test_merge_agrees_with_merged_dicts(old, new):
    """Without sequences, what comes out is the vector of the merged trees."""
    dicts = [
        {key: child for key, child in tree.items() if not _has_lists(child)} for tree in (old, new)
    ]
    expected = made(deep(*dicts))
    merged = cv.merge(made(dicts[0]), made(dicts[1]))
    assert cv.layout(merged) == cv.layout(expected)
    assert cv.data(merged).tolist() == cv.data(expected).tolist()


def _has_lists(tree):
    """Whether there are sequences in a tree, or regular lists."""
    if isinstance(tree, dict):
        return any(map(_has_lists, tree.values()))
    return isinstance(tree, list)


# -- traced ----------------------------------------------------------------------------------------


def test_gradients_go_through_merge():
    """To the vector and to the values, replaced, added and tied."""
    autograd = pytest.importorskip("autograd")
    v, row = strided(), np.array([7.0, 8.0, 9.0])
    weights = np.arange(1.0, 20.0)

    def loss(v, row, new):
        merged = cv.merge(v, row=row, new=new, x=new[0] * v.x)
        data = cv.data(merged)
        return autograd.numpy.sum(weights[: merged.size] * data**2) + autograd.numpy.sum(
            merged.t**3
        )

    new = np.array([2.0, 3.0])
    gradients = [autograd.grad(loss, k)(v, row, new) for k in range(3)]
    point = [cv.data(v).copy(), row, new]
    for k, gradient in enumerate(gradients):
        for i in range(point[k].size):
            step = np.zeros(point[k].size)
            step[i] = 1e-6
            ends = []
            for sign in (1, -1):
                at = [x + sign * step if j == k else x for j, x in enumerate(point)]
                ends.append(loss(v.layout.wrap(at[0]), at[1], at[2]))
            assert np.isclose(
                np.asarray(gradient)[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-4
            )


def test_a_real_gradient_stays_real_in_a_complex_component():
    """A traced real value for a complex component."""
    autograd = pytest.importorskip("autograd")
    v = vector(x=1.0, z=[1j, 2j])

    def loss(x):
        return autograd.numpy.sum(cv.data(cv.merge(v, z=x)) ** 2)

    gradient = autograd.grad(loss)(np.array([3.0, 4.0]))
    assert gradient.dtype == float
    assert gradient.tolist() == [6.0, 8.0]


def test_traced_values_that_disagree_are_refused():
    """Ties are checked by value while autograd traces."""
    autograd = pytest.importorskip("autograd")
    v = strided()

    def loss(w):
        return autograd.numpy.sum(cv.data(cv.merge(v, w=w, t=w.T * 2)))

    with pytest.raises(ValueError, match="'t' and 'w' are tied, and were given unequal values"):
        autograd.grad(loss)(np.ones((2, 3)))
    with pytest.raises(TypeError, match="autograd traces"):
        autograd.grad(lambda x: v.__setitem__("x", x))(1.0)


def test_a_list_of_traced_numbers_is_wrapped():
    """As one of plain numbers."""
    autograd = pytest.importorskip("autograd")
    layout = vector(a=1.0, b=2.0).layout
    assert autograd.grad(lambda x: layout.wrap([x, x**2]).b)(3.0) == 6.0


def test_a_choice_of_components_is_differentiable():
    """The gradient is that of the chosen entries."""
    autograd = pytest.importorskip("autograd")
    v = model()
    gradient = autograd.grad(lambda v: autograd.numpy.sum(cv.data(v[["c.b", "a"]]) ** 2))(v)
    assert gradient.tolist() == [2, 0, 0, 0, 10, 12, 0, 0]
    assert gradient.layout == v.layout
