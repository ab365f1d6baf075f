"""ComponentList: sequences of components, and one name of all items at once."""

import collections.abc
import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from strategies import arrays, full_shapes


def model():
    """Three layers with equal layouts, with groups and numbers in them."""
    layer = {"w": np.zeros((2, 2)), "b": 0.0, "attn": {"q": [0.0, 0.0], "k": 0.0}}
    v = cv.ComponentVector(a=0.0, layers=[layer] * 3)
    v[:] = np.arange(25.0)
    return v


def rows(x, start, shape):
    """The part of each layer that begins at an entry, worked out by hand: 8 entries a layer."""
    size = int(np.prod(shape))
    return np.stack([x[1 + 8 * i + start :][:size].reshape(shape) for i in range(3)])


def test_a_list_is_a_sequence():
    """Length, index, negative index, slice and iteration."""
    v = model()
    layers = v.layers
    assert isinstance(layers, collections.abc.Sequence)
    assert len(layers) == 3
    assert layers[1].b == layers[-2].b == layers[np.int64(1)].b == 13.0
    assert [layer.b for layer in layers] == [5.0, 13.0, 21.0]
    assert [layer.b for layer in reversed(layers)] == [21.0, 13.0, 5.0]
    assert [layer.b for layer in layers[1:]] == [13.0, 21.0]
    assert [layer.b for layer in layers[::-2]] == [21.0, 5.0]
    assert type(layers[:2]) is cv.ComponentList
    assert len(layers[5:]) == 0
    assert type(layers[0]) is cv.ComponentVector
    assert np.shares_memory(layers[0], v)


@pytest.mark.parametrize(("index", "error"), [(3, IndexError), (-4, IndexError), (1.5, TypeError)])
def test_an_index_that_is_none(index, error):
    """As for a list."""
    with pytest.raises(error):
        model().layers[index]


def test_a_name_is_no_index():
    """It is an attribute of all items."""
    with pytest.raises(TypeError, match="items of 'layers' are numbered; for 'w' of all of them"):
        model().layers["w"]


def test_items_of_all_kinds():
    """Arrays are views, numbers scalars, lists again lists."""
    v = cv.ComponentVector(x=[np.zeros(2), {"a": 1.0}, [np.zeros(1)], np.array(3.0)])
    assert [type(item) for item in v.x] == [
        np.ndarray, cv.ComponentVector, cv.ComponentList, np.float64,
    ]  # fmt: skip
    v.x[0][:] = 5.0
    assert v.tolist() == [5.0, 5.0, 1.0, 0.0, 3.0]


def test_a_name_of_all_items_is_one_view():
    """Of shape (len, *shape), strided, and no copy."""
    v = model()
    x = v.tolist()
    for w in (v.layers.w, v.layers[:].w, v["layers[:].w"]):
        assert w.tolist() == rows(np.array(x), 0, (2, 2)).tolist()
        assert np.shares_memory(w, v)
        assert w.strides == (64, 16, 8)
    assert v.layers.b.tolist() == [5.0, 13.0, 21.0]
    assert v.layers[1:].w.shape == (2, 2, 2)
    assert v["layers[1:].b"].tolist() == [13.0, 21.0]
    assert v.layers[::-1].b.tolist() == v["layers[::-1].b"].tolist() == [21.0, 13.0, 5.0]
    assert v.layers[-1:].w.shape == (1, 2, 2)


def test_groups_of_all_items_are_lists_again():
    """So names nest."""
    v = model()
    assert type(v.layers.attn) is cv.ComponentList
    assert v.layers.attn.q.tolist() == [[6, 7], [14, 15], [22, 23]]
    assert v["layers[1:].attn.k"].tolist() == [16, 24]
    assert v.layers.attn[1].q.tolist() == [14, 15]
    assert v["layers[:][1].attn.q"].tolist() == [14, 15]
    assert v["layers[1:][0:1].b"].tolist() == [13]
    v = cv.ComponentVector(
        blocks=[{"heads": [{"w": 1.0}, {"w": 2.0}]}, {"heads": [{"w": 3.0}] * 2}]
    )
    assert v.blocks.heads[0].w.tolist() == [1.0, 2.0]
    assert v["blocks[1].heads[:].w"].tolist() == [3.0, 3.0]


def test_a_list_at_the_root_has_stacks_too():
    """By a path that begins with a slice."""
    v = cv.ComponentVector([{"w": [1.0, 2.0]}, {"w": [3.0, 4.0]}])
    assert v["[:].w"].tolist() == [[1, 2], [3, 4]]
    v["[1:].w"] = 0.0
    assert v.tolist() == [1, 2, 0, 0]


def test_complex_pairs_are_stacked():
    """As complex views."""
    v = cv.ComponentVector(x=1.0, layers=[{"z": [1j, 2j]}, {"z": [3j, 4j]}])
    assert v.layers.z.tolist() == [[1j, 2j], [3j, 4j]]
    v.layers.z += 1
    assert v.tolist() == [1, 1, 1, 1, 2, 1, 3, 1, 4]


@pytest.mark.parametrize(
    "items",
    [
        [{"w": 1.0}, {"w": [1.0]}],
        [{"w": 1.0}, {"w": 1.0, "b": 2.0}],
        [{"w": 1.0}, {"v": 1.0}],
        [{"w": 1.0, "b": 2.0}, {"b": 2.0, "w": 1.0}],
        [{"w": 1.0}, [np.zeros(1)]],
        [np.zeros(2), np.zeros(2)],
    ],
)
def test_unequal_items_have_no_common_names(items):
    """Nothing is put together that does not belong together."""
    v = cv.ComponentVector(items=0.0, x=items)
    with pytest.raises(AttributeError, match="items of 'x' are no groups of equal layouts: read"):
        v.x.w
    with pytest.raises(AttributeError, match="no groups of equal layouts"):
        v.x.w = 1.0
    with pytest.raises(KeyError, match="no component 'x.:..w': items of 'x'"):
        v["x[:].w"]
    assert dir(v.x) == []


def test_tied_items_are_unequal():
    """An alias is not what its owner is."""
    layout = model().layout.tie("layers[1].w", "layers[0].w")
    with pytest.raises(AttributeError, match="no groups of equal layouts"):
        layout.zeros().layers.b


def test_an_unknown_name_is_an_attribute_error():
    """With the closest one."""
    v = model()
    with pytest.raises(AttributeError, match="'layers': no component 'atn'; did you mean 'attn'"):
        v.layers.atn
    with pytest.raises(AttributeError, match="'layers': no component 'q'; components: w, b, attn"):
        v.layers.q = 1.0
    with pytest.raises(AttributeError, match="ComponentList has no attribute '_x'"):
        v.layers._x
    with pytest.raises(AttributeError, match="'layers' is empty: no item has 'w'"):
        v.layers[3:].w
    with pytest.raises(AttributeError, match="'x': no component 'w'; components: none"):
        cv.ComponentVector(x=[np.zeros(2)]).x.w
    with pytest.raises(AttributeError, match="'w' cannot be deleted"):
        del v.layers.w
    assert not hasattr(v.layers, "q")
    assert dir(v.layers) == ["attn", "b", "w"]


def test_user_names_win_over_those_of_a_sequence():
    """There is no `index` or `count` in the way."""
    v = cv.ComponentVector(x=[{"index": 1.0, "count": 2.0, "w": 3.0, "copy": 4.0}] * 2)
    assert v.x.index.tolist() == [1.0, 1.0]
    assert v.x.count.tolist() == [2.0, 2.0]
    v.x.copy = 5.0
    assert v.x.copy.tolist() == [5.0, 5.0]


def test_a_name_of_all_items_is_written():
    """By assignment, in place, in part, and by path."""
    v = model()
    v.layers.w = np.arange(12.0).reshape(3, 2, 2)
    assert [layer.w.tolist() for layer in v.layers] == [
        [[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]],
    ]  # fmt: skip
    v.layers.w += 1
    v.layers.attn.q *= 0
    v["layers[1:].w"] = [[5.0, 6.0]]
    v["layers[:].b"] += 100
    v.layers.w[0, 0] = 50.0
    v.layers[::2].attn.k = [7.0, 8.0]
    assert v.layers.w.tolist() == [[[50, 50], [3, 4]], [[5, 6], [5, 6]], [[5, 6], [5, 6]]]
    assert v.layers.b.tolist() == [105, 113, 121]
    assert v.layers.attn.q.tolist() == [[0, 0]] * 3
    assert v.layers.attn.k.tolist() == [7, 16, 8]


def test_a_group_of_all_items_is_written_by_name():
    """Each leaf for all items at once."""
    v = model()
    v.layers.attn = {"q": [[1.0, 2.0]], "k": [1.0, 2.0, 3.0]}
    assert v.layers.attn.q.tolist() == [[1, 2]] * 3
    assert v.layers.attn.k.tolist() == [1, 2, 3]
    v.layers[1:].attn = 0.0
    assert v.layers.attn.k.tolist() == [1, 0, 0]
    before = v.tolist()
    with pytest.raises(KeyError, match="no value for component 'layers.attn.k'"):
        v.layers.attn = {"q": 1.0}
    with pytest.raises(
        ValueError, match="'layers.attn.q' has shape \\(3, 2\\), got shape \\(2, 2\\)"
    ):
        v.layers.attn = {"k": 1.0, "q": np.zeros((2, 2))}
    assert v.tolist() == before


def test_items_are_written():
    """One, some, or all of them."""
    v = model()
    item = {"w": 1.0, "b": 2.0, "attn": {"q": 3.0, "k": 4.0}}
    v.layers[-1] = item
    assert v.tolist()[17:] == [1, 1, 1, 1, 2, 3, 3, 4]
    v.layers[:2] = [v.layers[2], v.layers[0]]
    assert v.tolist()[1:] == [1, 1, 1, 1, 2, 3, 3, 4, *range(1, 9), 1, 1, 1, 1, 2, 3, 3, 4]
    v["layers[1:]"] = [0.0, np.arange(8)]
    assert v.tolist()[9:] == [0.0] * 8 + list(range(8))
    v.layers[:] = item | {"b": [5.0, 6.0, 7.0]}
    assert v.layers.b.tolist() == [5, 6, 7]
    v.layers[0] += 1
    assert v.layers[0].tolist() == [2, 2, 2, 2, 6, 4, 4, 5]
    x = cv.ComponentVector(x=[np.zeros(2), np.zeros(3)])
    x.x[:] = [1.0, [1.0, 2.0, 3.0]]
    assert x.tolist() == [1, 1, 1, 2, 3]
    x.x[0] = 7
    x.x[1:] = 8
    assert x.tolist() == [7, 7, 8, 8, 8]


@pytest.mark.parametrize(
    ("index", "value", "error", "message"),
    [
        (slice(None), [0.0, 0.0], ValueError, "'layers': expected 3 items, got 2"),
        (slice(None), np.zeros((2, 8)), ValueError, "'layers': expected 3 items, got 2"),
        (slice(None), "abc", TypeError, "'layers': expected numbers"),
        (slice(None), None, TypeError, "'layers': expected numbers"),
        (slice(1, 3), [0.0, None], TypeError, "'layers.2.': expected numbers"),
        (slice(1, 3), [0.0, 1j], TypeError, "'layers.2.' is real"),
        (slice(1, 3), [0.0, np.zeros(3)], ValueError, "'layers.2.' has shape \\(8,\\)"),
        (0, {"w": 1.0}, KeyError, "no value for component 'layers.0..b'"),
        (0, np.zeros(3), ValueError, "'layers.0.' has shape"),
        (5, 0.0, IndexError, "'layers' has 3 items, got index 5"),
    ],
)
def test_items_are_written_whole_or_not_at_all(index, value, error, message):
    """Everything is checked before anything is written."""
    v = model()
    with pytest.raises(error, match=message):
        v.layers[index] = value
    assert v.tolist() == list(range(25))


def test_names_are_given_to_equal_items_only():
    """Unequal ones take values one by one."""
    v = cv.ComponentVector(x=[{"a": 1.0}, {"b": 1.0}], y=[np.zeros(2)])
    for name in ("x", "y"):
        with pytest.raises(ValueError, match="items with unequal layouts take values one by one"):
            v[name][:] = {"a": 1.0}


def test_items_without_entries_of_their_own_agree():
    """Aliases of one place are written once, or alike."""
    layout = cv.ComponentVector(o=[1.0, 2.0], x=[{"w": [1.0, 2.0]}, {"w": [1.0, 2.0]}]).layout
    v = layout.tie("x[0].w", "o").tie("x[1].w", "o").wrap(np.zeros(2))
    assert v.x.w.shape == (2, 2)
    v.x.w = [3.0, 4.0]
    assert v.o.tolist() == [3, 4]
    with pytest.raises(ValueError, match="'x.w' has items that share memory"):
        v.x.w = [[1.0, 2.0], [5.0, 6.0]]
    with pytest.raises(ValueError, match="'x.0..w' and 'x.1..w' are tied|'x.1..w' and 'x.0..w'"):
        v.x = [{"w": 1.0}, {"w": 2.0}]
    assert v.o.tolist() == [3, 4]


def test_an_empty_list():
    """Has no items and takes none."""
    v = cv.ComponentVector([])
    assert cv.asdict(v) == []
    w = cv.ComponentVector(x=[{}])
    assert (len(w.x), w.x[0].size) == (1, 0)
    w.x = [{}]
    with pytest.raises(AttributeError, match="'x.0.' is empty|no component 'w'"):
        w.x.w


def test_a_list_copies_to_a_list_of_copies():
    """Its items are vectors of their own then."""
    v = model()
    for layers in (copy.deepcopy(v.layers), pickle.loads(pickle.dumps(v.layers))):
        assert type(layers) is list
        assert [layer.tolist() for layer in layers] == [layer.tolist() for layer in v.layers]
        assert not np.shares_memory(layers[0], v)


def test_a_list_is_a_component_of_another_vector():
    """And a tree to pack."""
    v = model()
    w = cv.ComponentVector(a=1.0, layers=v.layers)
    assert w.layout == v.layout
    assert v.layout.pack({"a": 0.0, "layers": v.layers}).tolist() == v.tolist()
    assert cv.ComponentVector(v.layers).layout == v.layout["layers"]


def test_numpy_makes_an_array_of_equal_items():
    """As of any sequence of arrays."""
    assert np.array(model().layers).tolist() == np.arange(1.0, 25.0).reshape(3, 8).tolist()


@given(st.integers(1, 4), st.lists(full_shapes, min_size=1, max_size=3), st.data())
def test_stacks_agree_with_items(count, shapes, data):
    """Whatever the shapes are, read and written."""
    items = [
        {
            f"x{k}": data.draw(arrays(st.just(float), st.just(shape)))
            for k, shape in enumerate(shapes)
        }
        for _ in range(count)
    ]
    v = cv.ComponentVector(before=1.0, items=items, after=[2.0])
    for k, shape in enumerate(shapes):
        stack = v[f"items[:].x{k}"]
        assert stack.tolist() == np.stack([item[f"x{k}"] for item in items]).tolist()
        value = data.draw(arrays(st.just(float), st.just((count, *shape))))
        v[f"items[:].x{k}"] = value
        assert [v[f"items[{i}].x{k}"].tolist() for i in range(count)] == value.tolist()
    assert (v.before, v.after.tolist()) == (1.0, [2.0])
