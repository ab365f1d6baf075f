"""Matrices with names on both axes: blocks, products and NumPy functions, and what refuses."""

import copy
import itertools
import json
import math
import pickle

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.blocks import even_step


def vector():
    """The vector of the worked example: 8 entries, ``a``, ``b`` and ``c``."""
    return cv.ComponentVector(a=2.0, b=[3.0, 4.0, 5.0], c=[[1.0, 2.0], [3.0, 4.0]])


def grouped():
    """A layout with a group, a list and scalars: ``s``, ``g.x``, ``g.y``, ``l[0]``, ``l[1].w``."""
    tree = {"s": 0.0, "g": {"x": [0.0, 0.0], "y": 0.0}, "l": [np.zeros((1, 2)), {"w": 0.0}]}
    return cv.ComponentVector(tree).layout


def tied():
    """``enc.w`` of shape (2, 3), ``dec.w`` its transpose, ``dec.b`` of two, 8 entries."""
    nodes = [
        {"keys": ["enc", "dec"]},
        {"keys": ["w"]},
        {"shape": [2, 3]},
        {"keys": ["w", "b"]},
        {"shape": [3, 2], "strides": [1, 3], "owner": 0},
        {"shape": [2]},
    ]
    return layout_of(nodes)


def layout_of(nodes):
    """The layout of a list of nodes."""
    return cv.Layout.from_json(json.dumps({"componentvec": 1, "dtype": "<f8", "nodes": nodes}))


def numbered(rows, cols):
    """A matrix whose entry (i, j) is 100 i + j."""
    data = 100.0 * np.arange(rows.size)[:, None] + np.arange(cols.size)
    return cv.ComponentMatrix(data, rows, cols)


def positive(layout, seed=0):
    """A symmetric positive definite matrix with labels."""
    a = np.random.default_rng(seed).normal(size=(layout.size, layout.size))
    return cv.ComponentMatrix(a @ a.T + layout.size * np.eye(layout.size), layout, layout)


def is_view(block, H):
    """Whether writing into the block writes into the matrix."""
    return np.shares_memory(np.asarray(block), np.asarray(H))


def same(result, data, rows, cols):
    """Assert that a result is a matrix of that data and these layouts."""
    assert isinstance(result, cv.ComponentMatrix)
    np.testing.assert_allclose(np.asarray(result), np.asarray(data), rtol=1e-12, atol=1e-12)
    assert result.rows == rows and result.cols == cols


def same_vector(result, data, layout):
    """Assert that a result is a vector of that data and that layout."""
    assert isinstance(result, cv.ComponentVector)
    np.testing.assert_allclose(np.asarray(result), np.asarray(data), rtol=1e-12, atol=1e-12)
    assert cv.layout(result) == layout


def same_array(result, data):
    """Assert that a result is a plain array of that data."""
    assert type(result) is np.ndarray
    np.testing.assert_allclose(result, np.asarray(data), rtol=1e-12, atol=1e-12)


# -- making one -------------------------------------------------------------------------------


def test_constructor_shares_data():
    """Writing into the matrix writes into the array it was made of."""
    v = vector()
    data = np.zeros((8, 8))
    H = cv.ComponentMatrix(data, v.layout, v.layout)
    H["a", "b"] = 7.0
    assert data[0, 1:4].tolist() == [7.0, 7.0, 7.0]
    assert np.asarray(H) is data


def test_lists_are_accepted():
    """A nested list is made an array."""
    layout = cv.ComponentVector(a=1.0, b=2.0).layout
    H = cv.ComponentMatrix([[1.0, 2.0], [3.0, 4.0]], layout, None)
    assert H["b", :].tolist() == [3.0, 4.0]


def test_subclasses_of_ndarray_are_taken_as_their_plain_memory():
    """A memory map or np.matrix stays shared, as an ndarray."""
    data = np.zeros((2, 2))
    H = cv.ComponentMatrix(data.view(type("Mine", (np.ndarray,), {})), None, None)
    assert type(np.asarray(H)) is np.ndarray and np.shares_memory(np.asarray(H), data)


def test_a_matrix_can_be_labelled_anew():
    """Made of another matrix, it shares the data and has the layouts given."""
    v = vector()
    H = numbered(v.layout, v.layout)
    K = cv.ComponentMatrix(H, None, v.layout)
    assert np.asarray(K) is np.asarray(H) and K.rows is None


@pytest.mark.parametrize(
    ("shape", "sides", "match"),
    [
        ((7, 8), 2, r"rows: the layout has 8 entries, the data 7"),
        ((8, 7), 2, r"cols: the layout has 8 entries, the data 7"),
        ((8,), 0, r"two axes, got data of shape \(8,\)"),
        ((8, 8, 1), 2, r"two axes, got data of shape \(8, 8, 1\)"),
        ((), 0, r"two axes, got data of shape \(\)"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(shape, sides, match):
    """ValueError that says which side, expected and given."""
    layout = vector().layout if sides else None
    with pytest.raises(ValueError, match=match):
        cv.ComponentMatrix(np.zeros(shape), layout, layout)


@pytest.mark.parametrize(
    "data",
    [[["x"]], [[None]], [[object()]], np.zeros((1, 1), "M8[s]"), np.zeros((1, 1), [("f", float)])],
)
def test_data_that_are_no_numbers_are_refused(data):
    """TypeError with the dtype."""
    with pytest.raises(TypeError, match="holds numbers, got data of"):
        cv.ComponentMatrix(data, None, None)


def test_masked_and_ragged_data_are_refused():
    """There is no place for a mask, and rows have equal lengths."""
    with pytest.raises(TypeError, match="masked array"):
        cv.ComponentMatrix(np.ma.masked_array([[1.0]], [[True]]), None, None)
    with pytest.raises(ValueError, match="ragged"):
        cv.ComponentMatrix([[1.0], [1.0, 2.0]], None, None)


def test_sides_are_layouts_or_none():
    """TypeError otherwise, with a hint for a vector."""
    v = vector()
    data = np.zeros((8, 8))
    with pytest.raises(TypeError, match=r"rows: expected a Layout .* ComponentVector.*v\.layout"):
        cv.ComponentMatrix(data, v, None)
    with pytest.raises(TypeError, match="cols: expected a Layout or None, got list"):
        cv.ComponentMatrix(data, None, ["a"])


def test_a_layout_with_an_alias_outside_is_refused():
    """The memory of each side must be its own."""
    with pytest.raises(ValueError, match="'w' is tied to memory outside"):
        cv.ComponentMatrix(np.zeros((2, 2)), tied()["dec"], None)


# -- attributes -------------------------------------------------------------------------------


def test_attributes_are_those_of_the_data():
    """rows, cols, shape, dtype, ndim, size and len."""
    v, w = vector().layout, cv.ComponentVector(x=1.0).layout
    J = cv.ComponentMatrix(np.zeros((1, 8), np.float32), w, v)
    assert J.rows is w and J.cols is v
    assert (J.shape, J.dtype, J.ndim, J.size, len(J)) == ((1, 8), np.float32, 2, 8, 1)


@pytest.mark.parametrize("name", ["rows", "cols", "shape", "T", "w"])
def test_attributes_cannot_be_set(name):
    """Blocks are items, and the rest is fixed."""
    H = numbered(vector().layout, vector().layout)
    with pytest.raises(AttributeError):
        setattr(H, name, None)


def test_components_may_have_any_name():
    """A component called T, rows or shape is a block, and no attribute is lost."""
    layout = cv.ComponentVector(T=1.0, rows=2.0, shape=[3.0], **{"odd key": 4.0}).layout
    H = numbered(layout, layout)
    assert H["T", "shape"].tolist() == [2.0] and H["rows", "odd key"] == 103.0
    assert H["['odd key']", "T"] == 300.0
    assert H.shape == (4, 4) and H.T.rows is layout


def test_reductions_are_those_of_an_ndarray():
    """Each gives what the data give."""
    H = numbered(vector().layout, vector().layout)
    data = np.asarray(H)
    for name in ("sum", "mean", "max", "min", "any", "all", "std", "var", "argmax", "argmin"):
        assert getattr(H, name)() == getattr(data, name)()
        assert getattr(H, name)(axis=0).tolist() == getattr(data, name)(axis=0).tolist()
    assert H.trace() == data.trace() and H.tolist() == data.tolist()
    assert H.diagonal().tolist() == data.diagonal().tolist() and H.flat[3] == 3.0
    assert np.sum(H) == data.sum() and type(np.sum(H, axis=1)) is np.ndarray


def test_methods_that_keep_positions_keep_labels():
    """astype, real, imag, conj, round, clip, transpose and dot."""
    layout = vector().layout
    H = numbered(layout, layout)
    data = np.asarray(H)
    Z = H + 1j * H
    same(H.astype(np.float32), data, layout, layout)
    assert H.astype(int).dtype == int and is_view(H.astype(float, copy=False), H)
    for result, expected in (
        (Z.real, data),
        (Z.imag, data),
        (Z.conj(), data - 1j * data),
        (Z.conjugate(), data - 1j * data),
        ((H / 3).round(1), (data / 3).round(1)),
        (H.clip(0.0, 2.0), data.clip(0.0, 2.0)),
        (H.transpose(), data.T),
        (H.dot(H), data @ data),
    ):
        same(result, expected, layout, layout)


def test_unknown_attributes_say_where_blocks_are():
    """AttributeError with the item; there is no resizing either."""
    H = numbered(vector().layout, vector().layout)
    with pytest.raises(AttributeError, match=r"no attribute 'b'; blocks are items, as in H\['b'\]"):
        H.b
    with pytest.raises(AttributeError, match="no attribute 'resize'"):
        H.resize
    with pytest.raises(AttributeError, match="no attribute '_b'$"):
        H._b


def test_astype_of_no_numbers_is_refused():
    """TypeError with the dtype."""
    with pytest.raises(TypeError, match="holds numbers"):
        numbered(vector().layout, vector().layout).astype(object)


# -- blocks: the worked example ---------------------------------------------------------------


def worked_jacobian():
    """J of ``d = a*c + b[0]`` at the worked example, by hand."""
    v = vector()
    out = cv.ComponentVector(d=np.zeros((2, 2))).layout
    data = np.zeros((4, 8))
    data[:, 0] = [1.0, 2.0, 3.0, 4.0]  # d d / d a = c
    data[:, 1] = 1.0  # d d / d b[0]
    data[:, 4:] = 2.0 * np.eye(4)  # d d / d c = a
    return cv.ComponentMatrix(data, out, v.layout)


def test_blocks_of_the_worked_jacobian():
    """Shapes are those of the output, then of the component."""
    v, J = vector(), worked_jacobian()
    assert np.array_equal(J["d", "a"], v.c)
    assert J["d", "b"].shape == (2, 2, 3)
    assert (J["d", "b"][..., 0] == 1).all() and (J["d", "b"][..., 1:] == 0).all()
    assert J["d", "c"].shape == (2, 2, 2, 2)
    assert np.array_equal(J["d", "c"], 2 * np.eye(4).reshape(2, 2, 2, 2))
    assert J.T["b", "d"].shape == (3, 2, 2)
    assert np.array_equal(J.T["b", "d"], np.moveaxis(J["d", "b"], -1, 0))


def test_blocks_of_the_worked_hessian():
    """The Hessian of ``sum(a**3) + a[0]*b[0]`` at ``a = [1,2], b = [4,7]``."""
    v = cv.ComponentVector(a=[1.0, 2.0], b=[4.0, 7.0])
    data = np.array([[6, 0, 1, 0], [0, 12, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0.0]])
    H = cv.ComponentMatrix(data, v.layout, v.layout)
    assert H["a", "a"].tolist() == [[6, 0], [0, 12]]
    assert H["a", "b"].tolist() == [[1, 0], [0, 0]]
    assert H["b", "a"].tolist() == [[1, 0], [0, 0]]


def test_a_leaf_by_a_leaf_is_a_view():
    """Of shape ``w.shape + b.shape``; writing into it writes into the data."""
    H = numbered(vector().layout, vector().layout)
    block = H["c", "b"]
    assert type(block) is np.ndarray and block.shape == (2, 2, 3) and is_view(block, H)
    block[1, 0, 2] = -1.0
    assert np.asarray(H)[6, 3] == -1.0


def test_two_scalars_give_a_numpy_scalar():
    """Not an array of no axes."""
    block = numbered(vector().layout, vector().layout)["a", "a"]
    assert isinstance(block, np.float64) and block == 0.0


def test_a_group_by_a_group_is_a_matrix_with_their_layouts():
    """A view of part of the data."""
    layout = grouped()
    H = numbered(layout, layout)
    block = H["g", "l"]
    same(block, np.asarray(H)[1:4, 4:7], layout["g"], layout["l"])
    assert is_view(block, H)
    assert block["y", "[1].w"] == 306.0 and H["g", "g"]["x", "y"].tolist() == [103.0, 203.0]


@pytest.mark.parametrize("key", [np.s_[:], np.s_[...], np.s_[:, :], np.s_[..., :]])
def test_the_whole_is_a_matrix_of_the_same_layouts(key):
    """As ``v[:]`` stays labelled."""
    H = numbered(grouped(), vector().layout)
    block = H[key]
    same(block, H, H.rows, H.cols)
    assert is_view(block, H)


@pytest.mark.parametrize("whole", [np.s_[:], ...])
def test_a_colon_on_a_labelled_side_keeps_its_layout(whole):
    """Opposite a group."""
    H = numbered(grouped(), vector().layout)
    same(H["g", whole], np.asarray(H)[1:4], H.rows["g"], H.cols)
    K = H.T
    same(K[whole, "l"], np.asarray(K)[:, 4:7], K.rows, K.cols["l"])


def test_a_colon_on_a_side_without_labels_is_a_slice():
    """A leaf opposite it keeps its shape, a group its labels; of two such sides nothing remains."""
    layout = vector().layout
    y = cv.ComponentMatrix(np.arange(40.0).reshape(8, 5), layout, None)
    assert type(y["c"]) is np.ndarray and y["c"].shape == (2, 2, 5) and is_view(y["c"], y)
    assert y["a"].tolist() == [0, 1, 2, 3, 4] and y["b", :].shape == (3, 5)
    assert y.T[:, "c"].shape == (5, 2, 2) and y.T[..., "a"].shape == (5,)
    same(y[:], y, layout, None)
    same(y[:, :], y, layout, None)
    bare = cv.ComponentMatrix(y, None, None)
    assert type(bare[:, :]) is np.ndarray and is_view(bare[:, :], y)
    nested = cv.ComponentMatrix(np.zeros((7, 2)), grouped(), None)
    same(nested["g"], np.zeros((3, 2)), grouped()["g"], None)


def test_a_leaf_opposite_a_group_is_one_axis_without_labels():
    """Of its entries in leaf order; the group keeps its layout."""
    layout = grouped()
    H = numbered(vector().layout, layout)
    block = H["c", "g"]
    same(block, np.asarray(H)[4:8, 1:4], None, layout["g"])
    assert is_view(block, H)
    same(H.T["l", "c"], np.asarray(H).T[4:7, 4:8], layout["l"], None)
    same(H["a", "g"], np.asarray(H)[:1, 1:4], None, layout["g"])
    same(H["c", :], np.asarray(H)[4:8], None, layout)
    same(H[:, "l[0]"], np.asarray(H)[:, 4:6], vector().layout, None)


def test_one_name_is_a_name_of_the_rows():
    """``H["w"]`` is ``H["w", :]``."""
    layout = grouped()
    H = numbered(layout, vector().layout)
    same(H["g"], H["g", :], layout["g"], vector().layout)
    same(H["g.x"], np.asarray(H)[1:3], None, vector().layout)


def test_an_alias_opposite_a_group_must_be_evenly_spaced():
    """A transposed alias is a view opposite a leaf, and a ValueError opposite a group."""
    layout = tied()
    H = numbered(layout, layout)
    order = [0, 3, 1, 4, 2, 5]
    assert np.array_equal(
        H["dec.w", "dec.b"], np.asarray(H)[np.ix_(order, [6, 7])].reshape(3, 2, 2)
    )
    assert is_view(H["dec.w", "enc.w"], H)
    same(H["enc.w", "enc"], np.asarray(H)[:6, :6], None, layout["enc"])
    with pytest.raises(ValueError, match=r"rows: the entries of 'dec\.w'.*not evenly spaced"):
        H["dec.w", "enc"]
    with pytest.raises(ValueError, match=r"columns: the entries of 'dec\.w'.*not evenly spaced"):
        H[:, "dec.w"]


def test_an_evenly_spaced_alias_opposite_a_group_is_a_view():
    """Also one that runs backwards, or is a column."""
    nodes = [
        {"keys": ["w", "column", "back"]},
        {"shape": [2, 3]},
        {"shape": [2], "strides": [3], "owner": 0, "start": 1},
        {"shape": [2, 3], "strides": [-3, -1], "owner": 0, "start": 5},
    ]
    layout = layout_of(nodes)
    H = numbered(layout, layout)
    same(H["column", :], np.asarray(H)[1::3], None, layout)
    same(H[:, "back"], np.asarray(H)[:, ::-1], layout, None)
    assert is_view(H[:, "back"], H)


def test_a_group_with_an_alias_outside_is_refused():
    """ValueError that names the alias; the leaf itself is read as any other."""
    layout = tied()
    H = numbered(layout, layout)
    with pytest.raises(ValueError, match=r"'dec\.w' is tied to memory outside this group"):
        H["dec", :]
    with pytest.raises(ValueError, match=r"'dec\.w' is tied to memory outside this group"):
        H["enc.w", "dec"]
    assert H["dec.w", "dec.w"].shape == (3, 2, 3, 2)


def test_an_integer_drops_its_side():
    """A leaf keeps its shape; a group, and ``:``, is a plain strided view."""
    layout = grouped()
    J = numbered(vector().layout, layout)
    data = np.asarray(J)
    assert np.array_equal(J["c", 3], data[4:8, 3].reshape(2, 2)) and is_view(J["c", 3], J)
    assert J["a", np.int64(-1)] == data[0, -1] and isinstance(J["a", 0], np.float64)
    assert np.array_equal(J[2, "g.x"], data[2, 1:3])
    for block, expected in (
        (J[2, "g"], data[2, 1:4]),
        (J.T["l", 5], data[5, 4:7]),
        (J[:, 1], data[:, 1]),
        (J[1], data[1]),
        (J[1, :], data[1]),
    ):
        same_array(block, expected)
        assert is_view(block, J)
    assert J[2, 3] == 203.0


def test_slices_and_index_arrays_act_on_the_data():
    """The results are plain; slices are views."""
    H = numbered(vector().layout, grouped())
    data = np.asarray(H)
    mask = np.array([True, False] * 4)
    for block, expected in (
        (H[1:3], data[1:3]),
        (H[1:3, ::2], data[1:3, ::2]),
        (H[:, 1:3], data[:, 1:3]),
        (H[[0, 2], [1, 3]], data[[0, 2], [1, 3]]),
        (H[mask], data[mask]),
        (H["c", 1:3], data[4:8, 1:3].reshape(2, 2, 2)),
        (H[::-2, "g"], data[::-2, 1:4]),
        (H["c", [5, 0]], data[4:8, [5, 0]].reshape(2, 2, 2)),
        (H["c", (5, 0)], data[4:8, [5, 0]].reshape(2, 2, 2)),
        (H[mask, "l[0]"], data[mask, 4:6].reshape(4, 1, 2)),
        (H[[[0, 1], [2, 3]], "g"], data[np.array([[0, 1], [2, 3]]), 1:4]),
        (H["c", []], np.zeros((2, 2, 0))),
        (H[None], data[None]),
        (H[()], data),
    ):
        same_array(block, expected)
    assert is_view(H["c", 1:3], H) and is_view(H[::-2, "g"], H)


def test_labelled_masks_index_as_their_data():
    """A comparison of the matrix, or of a vector."""
    v = vector()
    H = numbered(v.layout, v.layout)
    data = np.asarray(H)
    same_array(H[H > 250], data[data > 250])
    same_array(H[v > 3, "b"], data[v.layout.wrap(np.asarray(v)) > 3][:, 1:4])
    H[H > 250] = 0
    assert data.max() <= 250


def test_a_complex_leaf_stored_as_pairs_has_a_trailing_axis_of_two():
    """The last axis is re and im, for scalars too."""
    layout = cv.ComponentVector(x=[1.0], z=[1j, 2j, 3j], u=1j).layout
    H = numbered(layout, layout)
    data = np.asarray(H)
    assert np.array_equal(H["z", "x"], data[1:7, :1].reshape(3, 2, 1))
    assert np.array_equal(H["x", "u"], data[:1, 7:].reshape(1, 2))
    assert H["z", "z"].shape == (3, 2, 3, 2) and H["u", "u"].shape == (2, 2)
    assert H["u", 0].tolist() == [700.0, 800.0]
    same(H["z", :], data[1:7], None, layout)


def test_a_path_may_be_a_tuple_with_a_name():
    """A pair of keys is row and column; a path within it is a tuple of its own."""
    layout = grouped()
    H = numbered(layout, layout)
    assert np.array_equal(H[("g", "x"), ("l", 0)], H["g.x", "l[0]"])
    assert H[("s",), ("l", 1, "w")] == 6.0


def test_positions_may_count_from_the_end():
    """As in any path of a sequence."""
    H = numbered(grouped(), grouped())
    assert H["l[-1].w", "s"] == 600.0


def test_blocks_of_a_list_of_components():
    """The list is a group whose components are positions."""
    layout = cv.ComponentVector([1.0, [2.0, 3.0]]).layout
    H = numbered(layout, layout)
    assert H["[0]", "[1]"].tolist() == [1.0, 2.0]


def test_unknown_names_are_key_errors_with_the_closest():
    """And the side."""
    H = numbered(grouped(), vector().layout)
    with pytest.raises(KeyError, match=r"rows: no component 'g\.z'.*g\.x, g\.y"):
        H["g.z", "a"]
    with pytest.raises(KeyError, match="columns: no component 'bb'; did you mean 'b'"):
        H["s", "bb"]
    with pytest.raises(KeyError, match="rows: no component 'w'"):
        H["w"] = 0.0
    with pytest.raises(KeyError, match="rows: no component"):
        H["a..b"]


def test_a_name_on_a_side_without_labels_is_a_key_error():
    """That says so."""
    y = cv.ComponentMatrix(np.zeros((8, 3)), vector().layout, None)
    with pytest.raises(KeyError, match="columns: no component 'a', for this side has no labels"):
        y["a", "a"]


@pytest.mark.parametrize("name", ["l[:].w", "l[*].w", "**.w"])
def test_paths_of_several_components_are_no_block(name):
    """KeyError with the remedy."""
    H = numbered(grouped(), grouped())
    with pytest.raises(KeyError, match=r"a path is one leaf or one group.*layout\.mask"):
        H[name, "s"]


def test_a_list_of_names_is_no_block():
    """IndexError with the remedy."""
    H = numbered(grouped(), grouped())
    with pytest.raises(IndexError, match="a list of names is no block"):
        H[["s", "g"]]
    with pytest.raises(IndexError, match="columns: a list of names"):
        H["s", ["s", "g"]]


def test_more_than_two_keys_are_refused():
    """A matrix has two axes."""
    H = numbered(grouped(), grouped())
    with pytest.raises(IndexError, match="two axes, got 3 keys"):
        H["s", "g", "l"]


@pytest.mark.parametrize(
    "index", [None, True, 1.5, [1.5], np.ones((7, 7), bool), np.zeros(0), b"s", {"s": 1}]
)
def test_what_indexes_nothing_is_an_index_error(index):
    """Opposite a name."""
    H = numbered(grouped(), grouped())
    with pytest.raises(IndexError, match="columns: expected a path"):
        H["s", index]
    with pytest.raises(IndexError, match="rows: expected a path"):
        H[index, "s"]


@pytest.mark.parametrize("index", [7, -8, [9], np.ones(3, bool)])
def test_indices_out_of_bounds_are_index_errors(index):
    """NumPy's own."""
    H = numbered(grouped(), grouped())
    with pytest.raises(IndexError):
        H["g.x", index]


# -- writing ----------------------------------------------------------------------------------


def test_assigning_to_a_block_writes_through():
    """To leaf, scalar, group, leaf by group, and with slices, integers and index arrays."""
    layout = grouped()
    for key, index in (
        (("g.x", "l[0]"), np.s_[1:3, 4:6]),
        (("s", "s"), np.s_[0, 0]),
        (("g", "l"), np.s_[1:4, 4:7]),
        (("g.x", "l"), np.s_[1:3, 4:7]),
        ("g", np.s_[1:4]),
        ((slice(None), "l[1].w"), np.s_[:, 6:7]),
        (("g.x", 2), np.s_[1:3, 2]),
        ((2, "g"), np.s_[2, 1:4]),
        (("g.x", slice(0, 6, 2)), np.s_[1:3, 0:6:2]),
        (("g.x", [6, 0]), np.s_[1:3, [6, 0]]),
        (([6, 0], "g.x"), np.s_[[6, 0], 1:3]),
        (np.s_[2, 3], np.s_[2, 3]),
        (np.s_[:], np.s_[:]),
        (np.s_[1:3], np.s_[1:3]),
    ):
        H = numbered(layout, layout)
        expected = np.asarray(H).copy()
        H[key] = -5.0
        expected[index] = -5.0
        assert np.array_equal(np.asarray(H), expected), key


def test_values_are_broadcast_into_the_block():
    """As NumPy does."""
    H = numbered(vector().layout, vector().layout)
    H["c", "b"] = [1.0, 2.0, 3.0]
    assert (H["c", "b"] == [1.0, 2.0, 3.0]).all()
    H["c", "b"] = np.arange(4.0).reshape(2, 2, 1)
    assert np.asarray(H)[4:8, 2].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_augmented_assignment_writes_into_the_block():
    """For arrays, scalars and matrices."""
    H = numbered(grouped(), grouped())
    before = np.asarray(H).copy()
    H["g.x", "l[0]"] += 1.0
    H["s", "s"] += 2.0
    H["l", "l"] *= 3.0
    before[1:3, 4:6] += 1.0
    before[0, 0] += 2.0
    before[4:7, 4:7] *= 3.0
    assert np.array_equal(np.asarray(H), before)


def test_a_block_may_be_given_from_the_same_memory():
    """Overlaps are minded."""
    H = numbered(vector().layout, vector().layout)
    data = np.asarray(H).copy()
    H["b", "c"] = np.moveaxis(H["c", "b"], -1, 0)
    assert np.array_equal(np.asarray(H)[1:4, 4:8], data[4:8, 1:4].T)
    H = numbered(vector().layout, vector().layout)
    H[:] = H.T
    assert np.array_equal(np.asarray(H), data.T)


@pytest.mark.parametrize(
    ("key", "value", "match"),
    [
        (
            ("b", "c"),
            [1.0, 2.0, 3.0],
            r"block \['b', 'c'\] has shape \(3, 2, 2\), got shape \(3,\)",
        ),
        (("a", "a"), [1.0], r"block \['a', 'a'\] has shape \(\), got shape \(1,\)"),
        ("b", np.zeros((3, 7)), r"block \['b'\] has shape \(3, 8\), got shape \(3, 7\)"),
        (("b", slice(1, 3)), np.zeros(3), r"block \['b', 1:3\] has shape \(3, 2\)"),
        (("b", slice(None, None, 2)), np.zeros(3), r"block \['b', ::2\] has shape \(3, 4\)"),
        ((..., "b"), np.zeros(2), r"block \[\.\.\., 'b'\] has shape \(8, 3\)"),
        ((3, "b"), np.zeros(2), r"block \[3, 'b'\] has shape \(3,\)"),
        (
            ("b", np.array([1, 2])),
            np.zeros(3),
            r"\['b', array of shape \(2,\)\] has shape \(3, 2\)",
        ),
        (("b", "b"), [[1.0], [1.0, 2.0]], "ragged"),
    ],
)
def test_values_of_another_shape_are_refused(key, value, match):
    """ValueError with block, expected and given; nothing is written."""
    H = numbered(vector().layout, vector().layout)
    before = np.asarray(H).copy()
    with pytest.raises(ValueError, match=match):
        H[key] = value
    assert np.array_equal(np.asarray(H), before)


@pytest.mark.parametrize("value", [None, "x", {"a": 1.0}, [None], object()])
def test_values_that_are_no_numbers_are_refused(value):
    """TypeError with the block."""
    H = numbered(vector().layout, vector().layout)
    with pytest.raises(TypeError, match=r"block \['b', 'b'\]: expected numbers, got"):
        H["b", "b"] = value
    with pytest.raises(TypeError, match="masked array"):
        H["b", "b"] = np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False])


@pytest.mark.parametrize("key", [("b", "b"), ("b", 1), np.s_[1:3, 0], ("b", [0, 1])])
def test_complex_values_for_a_real_matrix_are_refused(key):
    """TypeError: the imaginary part is never dropped."""
    H = numbered(vector().layout, vector().layout)
    with pytest.raises(TypeError, match=r"is real \(float64\), got complex values"):
        H[key] = 1j


@pytest.mark.parametrize("key", [("b", "b"), ("a", "a"), ("b", [0, 1]), 3, np.s_[:]])
def test_a_read_only_matrix_refuses_writes(key):
    """ValueError that says so; its blocks are read-only views."""
    data = np.zeros((8, 8))
    data.flags.writeable = False
    H = cv.ComponentMatrix(data, vector().layout, vector().layout)
    with pytest.raises(ValueError, match=r"is read-only; H\.copy\(\) is not"):
        H[key] = 1.0
    assert not H["b", "c"].flags.writeable and not np.asarray(H["b"]).flags.writeable


def test_a_labelled_value_must_have_the_layouts_of_its_block():
    """Where both have labels; otherwise it goes by position."""
    layout, other = grouped(), cv.ComponentVector(p=[0.0, 0.0], q=0.0).layout
    H = numbered(layout, layout)
    K = numbered(layout["g"], layout["g"])
    H["g", "g"] = K
    assert np.array_equal(np.asarray(H)[1:4, 1:4], np.asarray(K))
    H["g", "g"] = layout["g"].zeros()
    assert (np.asarray(H)[1:4, 1:4] == 0.0).all()
    H["g.x", "l[0]"] = numbered(cv.ComponentVector(x=1.0).layout, other)[:, "p"]
    with pytest.raises(ValueError, match=r"block \['g', 'g'\]: layouts differ: 'x' here, 'p'"):
        H["g", "g"] = numbered(other, other)
    with pytest.raises(ValueError, match=r"block \['g', 'g'\]: layouts differ"):
        H["g", "g"] = other.zeros()


# -- transposes and products ------------------------------------------------------------------


def test_transpose_swaps_layouts():
    """A view; entries are not conjugated."""
    rows, cols = grouped(), vector().layout
    Z = numbered(rows, cols) * (1 + 2j)
    same(Z.T, np.asarray(Z).T, cols, rows)
    assert is_view(Z.T, Z)
    for result in (np.transpose(Z), np.transpose(Z, (1, 0)), np.transpose(Z, (-1, 0))):
        same(result, np.asarray(Z).T, cols, rows)
    same(np.swapaxes(Z, 0, 1), np.asarray(Z).T, cols, rows)
    same(np.swapaxes(Z, -1, 1), Z, rows, cols)
    same(np.transpose(Z, (0, 1)), Z, rows, cols)
    same(np.matrix_transpose(Z), Z.T, cols, rows)
    same(np.linalg.matrix_transpose(Z), Z.T, cols, rows)


def test_transposing_along_axes_there_are_not_is_numpys_error():
    """Not one of the labels."""
    with pytest.raises(ValueError, match="axes don't match"):
        np.transpose(numbered(grouped(), grouped()), (0, 1, 2))


def operands():
    """Two layouts, a matrix of one by the other, its data, and a vector of each."""
    rows, cols = grouped(), vector().layout
    J = numbered(rows, cols)
    return rows, cols, J, np.asarray(J), rows.full(2.0), cols.full(3.0)


def test_matrix_times_vector_has_the_layout_of_the_rows():
    """If the vector has that of the columns, is plain, or the columns have none."""
    rows, cols, J, data, u, v = operands()
    x = np.asarray(v)
    open_cols = cv.ComponentMatrix(data, rows, None)
    for result in (J @ v, J @ x, J @ x.tolist(), open_cols @ v, open_cols @ x):
        same_vector(result, data @ x, rows)
    for result in (np.matmul(J, v), np.dot(J, v), np.dot(J, x), np.linalg.matmul(J, J.T) @ u):
        assert cv.layout(result) == rows
    same_array(cv.ComponentMatrix(data, None, cols) @ v, data @ x)
    same_array(cv.ComponentMatrix(data, None, None) @ v, data @ x)


def test_vector_times_matrix_has_the_layout_of_the_columns():
    """Likewise."""
    rows, cols, J, data, u, v = operands()
    y = np.asarray(u)
    open_rows = cv.ComponentMatrix(data, None, cols)
    for result in (u @ J, y @ J, y.tolist() @ J, u @ open_rows, y @ open_rows):
        same_vector(result, y @ data, cols)
    for result in (np.matmul(u, J), np.dot(u, J), np.dot(y, J)):
        same_vector(result, y @ data, cols)
    same_array(u @ cv.ComponentMatrix(data, rows, None), y @ data)


def test_matrix_times_matrix_keeps_the_outer_layouts():
    """With plain matrices on either side too; without any label it is an array."""
    rows, cols, J, data, u, v = operands()
    same(J @ J.T, data @ data.T, rows, rows)
    same(J.T @ J, data.T @ data, cols, cols)
    same(np.dot(J, J.T), data @ data.T, rows, rows)
    same(J @ data.T, data @ data.T, rows, None)
    same(data.T @ J, data.T @ data, None, cols)
    same(np.dot(data.T, J), data.T @ data, None, cols)
    same(np.linalg.matmul(J, data.T), data @ data.T, rows, None)
    same_array(cv.ComponentMatrix(data, None, cols) @ data.T, data @ data.T)
    same(J @ scipy.sparse.eye_array(8), data, rows, None)
    assert (u @ J @ v) == np.asarray(u) @ data @ np.asarray(v)


def test_products_over_unequal_layouts_are_refused():
    """ValueError with the first difference, even where the sizes fit."""
    rows, cols, J, data, u, v = operands()
    other = cv.ComponentVector(a=2.0, b=[3.0, 4.0, 5.0], d=np.zeros(4))
    for product in (
        lambda: J @ other,
        lambda: np.dot(J, other),
        lambda: other @ J.T,
        lambda: J @ numbered(other.layout, rows),
        lambda: np.linalg.matmul(numbered(rows, other.layout), J.T),
    ):
        with pytest.raises(
            ValueError,
            match=r"a product sums over: layouts differ: '[cd]' here, '[cd]' there.*np\.as",
        ):
            product()


def test_plain_operands_of_another_size_are_numpys_errors():
    """As for arrays."""
    J = operands()[2]
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        J @ np.ones(3)
    with pytest.raises(ValueError, match="does not have enough dimensions"):
        J @ 2.0


def test_stacks_of_matrices_give_plain_products():
    """Three axes have no labels."""
    _, _, J, data, _, _ = operands()
    stack = np.ones((2, 8, 1))
    same_array(J @ stack, data @ stack)
    same_array(np.dot(J, stack), np.dot(data, stack))


def test_products_may_be_written_into_given_arrays():
    """A plain one, or one whose layouts fit."""
    rows, cols, J, data, u, v = operands()
    out, plain_out = rows.zeros(), np.zeros(7)
    assert np.matmul(J, v, out=out) is out and out[1] == (data @ np.asarray(v))[1]
    assert np.matmul(J, v, out=plain_out) is plain_out
    assert np.dot(J, v, out=out) is out
    square = numbered(rows, rows)
    expected = np.asarray(square) @ np.asarray(square)
    square @= square.copy()
    same(square, expected, rows, rows)
    with pytest.raises(ValueError, match="the result and out: layouts differ"):
        np.matmul(J.T, u, out=cv.ComponentVector(x=np.zeros(8)))


def test_products_that_do_not_fit_pairs_are_plain():
    """A complex or integer result has no place in a vector of pairs."""
    layout = cv.ComponentVector(x=[1.0], z=1j).layout
    H = numbered(layout, layout)
    same_vector(H @ layout.full(1.0), np.asarray(H).sum(1), layout)
    same_array(H @ (1j * np.ones(3)), 1j * np.asarray(H).sum(1))
    same_array(H.astype(int) @ np.ones(3, int), np.asarray(H).sum(1))


# -- element by element -----------------------------------------------------------------------


def test_arithmetic_keeps_layouts():
    """With scalars, equal layouts, and plain arrays of the same shape, on either side."""
    rows, cols, J, data, _, _ = operands()
    D = data + 1.0
    K = cv.ComponentMatrix(D, grouped(), vector().layout)
    for result, expected in (
        (J + 1, data + 1),
        (1 - J, 1 - data),
        (2.0 * J, 2 * data),
        (np.float64(2.0) * J, 2 * data),
        (J / np.float32(2), data / 2),
        (1 / K, 1 / D),
        (J + K, data + D),
        (J - D, data - D),
        (D - J, D - data),
        (J * D.tolist(), data * D),
        (J / K, data / D),
        (-J, -data),
        (+J, data),
        (abs(-J), data),
        (J**2, data**2),
        (J // 2, data // 2),
        (J % 2, data % 2),
        (np.exp(-J), np.exp(-data)),
        (np.sqrt(J), np.sqrt(data)),
        (np.maximum(J, 5.0), np.maximum(data, 5.0)),
        (np.divmod(J, 3)[0], data // 3),
        (np.modf(J / 2)[0], np.modf(data / 2)[0]),
    ):
        same(result, expected, rows, cols)


def test_comparisons_are_element_wise():
    """And keep layouts."""
    rows, cols, J, data, _, _ = operands()
    for result, expected in (
        (J == J, data == data),
        (np.not_equal(J, data), data != data),
        (J < 3, data < 3),
        (np.int64(3) > J, data < 3),
        ((J > 3) & ~(J > 5), (data > 3) & (data <= 5)),
    ):
        same(result, expected, rows, cols)
        assert result.dtype == bool


@pytest.mark.parametrize(
    "operation", [np.add, np.subtract, np.multiply, np.divide, np.equal, np.less, np.hypot]
)
def test_unequal_layouts_are_refused(operation):
    """ValueError with the first difference, comparisons included."""
    rows, cols = grouped(), vector().layout
    other = cv.ComponentVector(a=2.0, b=[3.0, 4.0, 5.0], d=np.zeros(4)).layout
    with pytest.raises(ValueError, match=r"operands: layouts differ: 'c' here, 'd' there.*asarray"):
        operation(numbered(rows, cols), numbered(rows, other))
    with pytest.raises(ValueError, match="operands: layouts differ"):
        operation(numbered(cols, rows), numbered(other, rows))


def test_a_side_without_labels_takes_those_of_the_other_operand():
    """As a plain array does."""
    rows, cols, J, data, _, _ = operands()
    K = cv.ComponentMatrix(data, rows, None)
    same(K + cv.ComponentMatrix(data, None, cols), 2 * data, rows, cols)
    same(K + K, 2 * data, rows, None)
    assert type(cv.ComponentMatrix(data, None, None) + 1) is np.ndarray


def test_vectors_are_broadcast_along_the_columns():
    """A vector of the columns' layout, or a plain one; of another layout it is a ValueError."""
    rows, cols, J, data, u, v = operands()
    x = np.asarray(v)
    for result in (J * v, v * J, J * x, x * J):
        same(result, data * x, rows, cols)
    same(J * np.asarray(u)[:, None], data * 2.0, rows, cols)
    with pytest.raises(ValueError, match="operands: layouts differ"):
        numbered(rows, rows) * cv.ComponentVector(x=np.zeros(7))


def test_results_of_another_shape_lose_the_labels_that_do_not_fit():
    """A side that grew has none, and three axes have none."""
    rows, cols, J, data, _, _ = operands()
    one = cv.ComponentMatrix(data[:1], cv.ComponentVector(a=1.0).layout, cols)
    same(one + data, data[:1] + data, None, cols)
    same_array(J + np.zeros((2, 1, 1)), np.array([data, data]))
    same_array(np.zeros_like(J, shape=(8,)), np.zeros(8))


def test_in_place_operators_write_into_the_data():
    """And keep the matrix."""
    rows, cols, J, data, _, v = operands()
    K = J
    K += 1.0
    K *= data.copy()
    K -= v
    assert K is J and data[1, 1] == 102.0 * 102.0 - 3.0


def test_out_takes_matrices_and_arrays():
    """The result is the very object given."""
    rows, cols, J, data, _, _ = operands()
    out, plain_out = np.zeros_like(J), np.zeros((7, 8))
    assert np.add(J, 1, out=out) is out and np.asarray(out)[0, 0] == 1.0
    assert np.add(J, 1, out=plain_out) is plain_out and plain_out[0, 1] == 2.0
    assert np.add(data, 1, out=out) is out
    assert np.clip(J, 0, 1, out=out) is out and out.max() == 1.0
    first, second = np.zeros_like(J), np.zeros_like(J)
    assert np.divmod(J, 3, out=(first, None))[0] is first
    assert np.divmod(J, 3, out=(None, second))[1] is second
    with pytest.raises(ValueError, match="operands: layouts differ"):
        np.add(numbered(rows, rows), 1, out=square())


def square():
    """A matrix of the size of `grouped`, with other names."""
    layout = cv.ComponentVector(x=np.zeros(7)).layout
    return numbered(layout, layout)


def test_reductions_and_other_methods_of_ufuncs_are_plain():
    """As those of the data."""
    _, _, J, data, _, v = operands()
    same_array(np.add.reduce(J), data.sum(0))
    same_array(np.add.accumulate(J), data.cumsum(0))
    same_array(np.multiply.outer(J, [1.0, 2.0]), np.multiply.outer(data, [1.0, 2.0]))
    np.add.at(J, (0, 0), 5.0)
    assert data[0, 0] == 5.0
    same_array(np.matmul(J, v[:, None], axes=[(0, 1), (0, 1), (1, 0)]), (data @ v[:, None]).T)


def test_functions_that_keep_positions_keep_layouts():
    """copy, zeros_like, where, clip and their like."""
    rows, cols, J, data, _, _ = operands()
    for result, expected in (
        (np.copy(J), data),
        (np.zeros_like(J), 0 * data),
        (np.ones_like(J), 0 * data + 1),
        (np.full_like(J, 3.0), 0 * data + 3),
        (np.where(J > 3, J, 0.0), np.where(data > 3, data, 0.0)),
        (np.where(data > 3, J, data), data),
        (np.clip(J, 1, 5), np.clip(data, 1, 5)),
        (np.nan_to_num(J), data),
        (np.round(J / 3, 1), np.round(data / 3, 1)),
        (np.real(J + 1j), data),
        (np.imag(J + 1j), 0 * data + 1),
        (np.conj(J + 1j), data - 1j),
        (np.isclose(J, data), data == data),
        (np.tril(J), np.tril(data)),
        (np.triu(m=J, k=1), np.triu(data, 1)),
    ):
        same(result, expected, rows, cols)
    assert np.empty_like(J).rows == rows and not is_view(np.copy(J), J)
    assert np.array_equal(J, data) and np.allclose(J, J) and np.array_equiv(J, J)
    np.testing.assert_allclose(J, data)


def test_comparing_functions_want_equal_layouts():
    """ValueError otherwise."""
    with pytest.raises(ValueError, match="layouts differ"):
        np.allclose(numbered(grouped(), grouped()), square())


def test_other_functions_give_plain_results():
    """They act on the data, also within lists."""
    _, _, J, data, u, v = operands()
    same_array(np.sort(J), np.sort(data))
    same_array(np.concatenate([J, data]), np.concatenate([data, data]))
    same_array(np.block([[J], [J]]), np.block([[data], [data]]))
    same_array(np.einsum("ij,j", J, v), data @ np.asarray(v))
    same_array(np.cumsum(J, axis=0), data.cumsum(0))
    same_array(np.linalg.lstsq(J, u)[0], np.linalg.lstsq(data, np.asarray(u))[0])
    assert np.shape(J) == (7, 8) and np.ndim(J) == 2 and np.linalg.norm(J) == np.linalg.norm(data)
    same_array(np.atleast_3d(J), data[:, :, None])
    assert np.sum(J, where=J > 3) == data[data > 3].sum()


def test_what_is_no_number_gives_plain_results():
    """An array of objects is no matrix."""
    J = operands()[2]
    assert type(np.add(J, 0, dtype=object)) is np.ndarray
    with pytest.raises(TypeError):
        J + None


def test_foreign_operands_handle_the_operation():
    """NotImplemented, so that they may."""

    class Foreign:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "theirs"

        def __array_function__(self, func, types, args, kwargs):
            return "theirs"

    J = operands()[2]
    assert J + Foreign() == "theirs" and np.matmul(J, Foreign()) == "theirs"
    assert np.dot(J, Foreign()) == "theirs"


def test_asarray_is_the_data():
    """No copy; np.array copies, and another dtype does."""
    J = operands()[2]
    data = np.asarray(J)
    assert np.asarray(J) is data and not np.shares_memory(np.array(J), data)
    assert np.asarray(J, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(J, dtype=np.float32, copy=False)


# -- linear algebra ---------------------------------------------------------------------------


def test_solve_has_the_layout_of_the_columns():
    """A matrix on the right keeps its own columns."""
    rows = cv.ComponentVector(p=np.zeros(5), q=np.zeros(3)).layout
    cols = vector().layout
    data = np.asarray(positive(cols))
    H = cv.ComponentMatrix(data, rows, cols)
    b = np.arange(8.0)
    expected = np.linalg.solve(data, b)
    for right in (rows.wrap(b), b, b.tolist()):
        same_vector(np.linalg.solve(H, right), expected, cols)
    right = np.eye(8)[:, :3]
    same(np.linalg.solve(H, right), np.linalg.inv(data)[:, :3], cols, None)
    K = numbered(rows, grouped())
    same(np.linalg.solve(H, K), np.linalg.solve(data, np.asarray(K)), cols, grouped())
    same(np.linalg.solve(data, K), np.linalg.solve(data, np.asarray(K)), None, grouped())
    same_array(np.linalg.solve(cv.ComponentMatrix(data, rows, None), rows.wrap(b)), expected)
    same_array(np.linalg.solve(H, np.ones((1, 8, 1)))[0, :, 0], np.linalg.solve(data, np.ones(8)))
    # what is solved for is what the matrix multiplies
    same_vector(H @ np.linalg.solve(H, rows.wrap(b)), b, rows)
    with pytest.raises(ValueError, match="right-hand side: layouts differ: 'p' here, 'a' there"):
        np.linalg.solve(H, cols.wrap(b))


def test_inverse_has_the_layouts_swapped():
    """And so has the pseudo-inverse."""
    rows, cols = cv.ComponentVector(p=np.zeros(8)).layout, vector().layout
    data = np.asarray(positive(cols))
    H = cv.ComponentMatrix(data, rows, cols)
    same(np.linalg.inv(H), np.linalg.inv(data), cols, rows)
    same(np.linalg.inv(H) @ H, np.eye(8), cols, cols)
    J = numbered(grouped(), cols)
    same(np.linalg.pinv(J), np.linalg.pinv(np.asarray(J)), cols, grouped())


def test_diagonal_has_the_layout_that_both_sides_have():
    """New memory; plain where they have not, and off the main diagonal."""
    layout = vector().layout
    H = numbered(layout, layout)
    diagonal = np.diag(H)
    same_vector(diagonal, np.asarray(H).diagonal(), layout)
    diagonal[:] = 0.0
    assert np.asarray(H)[1, 1] == 101.0
    same_array(np.diag(H, 1), np.asarray(H).diagonal(1))
    same_array(np.diag(numbered(layout, grouped())), [0, 101, 202, 303, 404, 505, 606])
    same_array(np.diag(cv.ComponentMatrix(H, layout, None)), np.asarray(H).diagonal())
    same_array(np.diag(cv.ComponentMatrix(H, None, None)), np.asarray(H).diagonal())
    one = cv.ComponentVector(x=1.0).layout
    single = np.diag(cv.ComponentMatrix([[5.0]], one, one))
    single[0] = 6.0
    assert single.tolist() == [6.0]


def test_cholesky_keeps_rows_and_columns():
    """``L @ L.T`` is the matrix."""
    H = positive(vector().layout)
    L = np.linalg.cholesky(H)
    same(L, np.linalg.cholesky(np.asarray(H)), H.rows, H.cols)
    same(L @ L.T, H, H.rows, H.cols)
    same(np.linalg.cholesky(H, upper=True), np.asarray(L).T, H.rows, H.cols)


def test_eigh_gives_vectors_with_labelled_rows():
    """And plain values, in NumPy's named pair."""
    layout = vector().layout
    H = positive(layout)
    values, vectors = np.linalg.eigh(H)
    result = np.linalg.eigh(H, UPLO="U")
    same_array(result.eigenvalues, values)
    assert result.eigenvectors.rows == layout and result.eigenvectors.cols is None
    same(H @ vectors, np.asarray(vectors) * values, layout, None)
    assert vectors["c"].shape == (2, 2, 8)
    assert type(np.linalg.eigh(cv.ComponentMatrix(H, None, layout)).eigenvectors) is np.ndarray


def test_singular_matrices_are_numpys_errors():
    """LinAlgError."""
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        np.linalg.inv(cv.ComponentMatrix(np.zeros((8, 8)), vector().layout, None))


def test_outer_is_labelled():
    """A plain argument gives None for its side."""
    u, v = grouped().full(2.0), vector()
    expected = np.outer(np.asarray(u), np.asarray(v))
    same(cv.outer(u, v), expected, cv.layout(u), cv.layout(v))
    same(cv.outer(u, np.asarray(v)), expected, cv.layout(u), None)
    same(cv.outer(np.asarray(u).tolist(), v), expected, None, cv.layout(v))
    same(cv.outer([1.0, 2.0], [3.0]), [[3.0], [6.0]], None, None)
    assert cv.outer(v, 1j * v).dtype == complex
    assert cv.outer(v, v)["c", "b"].shape == (2, 2, 3)
    with pytest.raises(TypeError):
        cv.outer(v, "x")


# -- within derivatives -----------------------------------------------------------------------


def test_a_matrix_is_a_constant_that_autograd_differentiates_through():
    """It acts as its data; the gradient of ``x @ H @ x`` is ``(H + H.T) @ x``."""
    layout = vector().layout
    H = numbered(layout, layout)
    data, x = np.asarray(H), np.arange(8.0)
    expected = (data + data.T) @ x
    for loss in (
        lambda x: x @ (H @ x),
        lambda x: (x @ H) @ x,
        lambda x: anp.sum(x * anp.dot(H, x)),
        lambda x: anp.sum((H * x) * anp.outer(x, np.ones(8))),
    ):
        np.testing.assert_allclose(np.asarray(autograd.grad(loss)(x)), expected)
        same_vector(autograd.grad(loss)(layout.wrap(x)), expected, layout)


def test_a_matrix_holds_no_traced_values():
    """TypeError for making one, for writing, and for outer."""
    layout = vector().layout
    H = numbered(layout, layout)

    def fails(function, match):
        with pytest.raises(TypeError, match=match):
            autograd.grad(function)(np.ones(8))

    fails(lambda x: cv.ComponentMatrix(anp.outer(x, x), layout, None), "cannot hold a value that")
    fails(lambda x: cv.outer(x, x), "cannot hold a value that autograd traces")
    fails(lambda x: H.__setitem__(("b", "b"), x[:3]), r"block \['b', 'b'\].*cannot be written")


# -- the rest ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda H: H.copy(),
        lambda H: pickle.loads(pickle.dumps(H, 2)),
        lambda H: pickle.loads(pickle.dumps(H, 5)),
        np.copy,
    ],
)
def test_copies_keep_labels_and_have_memory_of_their_own(copied):
    """Of a strided part too."""
    H = numbered(tied(), grouped())
    for K in (H, H.T, H["enc", "g"]):
        L = copied(K)
        same(L, K, K.rows, K.cols)
        assert not is_view(L, H)
        L[:] = -1.0
        assert np.asarray(H).min() >= 0.0


def test_pickle_leaves_the_data_out_of_band():
    """Protocol 5 hands the memory over as it is."""
    H = numbered(vector().layout, vector().layout)
    buffers = []
    pickled = pickle.dumps(H, 5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and buffers[0].raw().nbytes == 8 * 64
    same(pickle.loads(pickled, buffers=buffers), H, H.rows, H.cols)


def test_matrices_are_not_hashable_and_bool_is_numpys():
    """As for arrays."""
    H = numbered(vector().layout, vector().layout)
    with pytest.raises(TypeError, match="unhashable"):
        hash(H)
    with pytest.raises(ValueError, match="truth value"):
        bool(H)
    assert not cv.ComponentMatrix([[0.0]], None, None)


def test_iteration_goes_over_plain_rows():
    """Which are views; ``in`` is that of the data."""
    H = numbered(vector().layout, vector().layout)
    rows = list(H)
    assert len(rows) == len(H) == 8 and type(rows[0]) is np.ndarray and is_view(rows[3], H)
    assert 305.0 in H and -1.0 not in H


def test_repr_is_short_and_html_is_a_table():
    """Of any size."""
    small = repr(numbered(vector().layout, vector().layout))
    assert "a" in small and "c" in small
    big = cv.ComponentVector({f"name{i}": np.zeros(10) for i in range(60)}).layout
    H = cv.ComponentMatrix(np.zeros((600, 600)), big, big)
    assert len(repr(H)) < 4000 and "<table" in H._repr_html_()


def test_empty_sides_are_legal():
    """Matrices, leaves and groups of no entries."""
    layout = cv.ComponentVector(e=[], g={}, x=[1.0, 2.0]).layout
    H = numbered(layout, layout)
    assert H["e", "x"].shape == (0, 2) and H["e", "e"].shape == (0, 0)
    same(H["g", "x"], np.zeros((0, 2)), layout["g"], None)
    same(H["e", :], np.zeros((0, 2)), None, layout)
    none = cv.ComponentVector().layout
    same_vector(cv.ComponentMatrix(np.zeros((0, 2)), none, layout) @ np.ones(2), [], none)
    same_vector(none.zeros() @ cv.ComponentMatrix(np.zeros((0, 2)), none, layout), [0, 0], layout)
    same(cv.ComponentMatrix([[]], None, none), np.zeros((1, 0)), None, none)


# -- laws, over random layouts ----------------------------------------------------------------

HOSTILE = ["a", "b", "T", "shape", "rows", "odd key", "a.b", "0", "", "é", "'", 'q"', "[x]", "\n"]


def c_strides(shape, item):
    """Strides of C order in entries."""
    return [item * math.prod(shape[i + 1 :]) for i in range(len(shape))]


@st.composite
def layouts(draw):
    """Layouts of groups, lists, ties of any strides, pairs, empty leaves, and hostile names."""
    nodes, owners = [], []

    def leaf():
        """A leaf, or an alias of one there is."""
        if owners and draw(st.booleans()):
            number, shape, pairs = draw(st.sampled_from(owners))
            nodes.append(alias(number, shape, pairs))
        else:
            shape = draw(st.sampled_from([[], [1], [3], [2, 3], [2, 1, 2], [0], [2, 0]]))
            pairs = 0 not in shape and draw(st.integers(0, 3)) == 0
            if 0 not in shape:
                owners.append((count(), shape, pairs))
            nodes.append({"shape": shape, "pairs": pairs})

    def count():
        """Number of leaves so far."""
        return sum("shape" in node for node in nodes)

    def alias(number, shape, pairs):
        """Part of a leaf in any order: axes permuted, reversed, thinned."""
        steps, start, kept = c_strides(shape, 2 if pairs else 1), 0, []
        for n, step in zip(shape, steps, strict=True):
            how = draw(st.sampled_from(["all", "back", "first", "last", "drop"]))
            if how == "back":
                start, entry = start + (n - 1) * step, (n, -step)
            elif how == "last":
                start, entry = start + (n - 1) * step, (1, step)
            else:
                entry = (n if how == "all" else 1, step)
            if how != "drop":
                kept.append(entry)
        kept = draw(st.permutations(kept))
        node = {"shape": [n for n, _ in kept], "strides": [s for _, s in kept]}
        return node | {"owner": number, "start": start, "pairs": pairs}

    def group(depth):
        """A group of a few components."""
        names = draw(st.lists(st.sampled_from(HOSTILE), max_size=4, unique=True))
        if draw(st.booleans()) and depth:
            nodes.append({"items": len(names)})
        else:
            nodes.append({"keys": names})
        for _ in names:
            if depth < 2 and draw(st.integers(0, 2)) == 0:
                group(depth + 1)
            else:
                leaf()

    group(0)
    try:
        return layout_of(nodes)
    except ValueError as error:
        assert "ambiguous" in str(error)
        return cv.ComponentVector(a=1.0).layout


@st.composite
def matrices(draw):
    """Matrices over random layouts, of any memory order."""
    rows, cols = draw(layouts()), draw(layouts())
    m, n = rows.size, cols.size
    data = np.arange(float(4 * (m + 1) * (n + 1)))
    order = draw(st.sampled_from(["C", "F", "strided", "reversed"]))
    if order in "CF":
        data = np.array(data[: m * n].reshape(m, n), order=order)
    elif order == "strided":
        data = data.reshape(2 * (m + 1), 2 * (n + 1))[1 : 2 * m + 1 : 2, 2 : 2 * n + 2 : 2]
    else:
        data = data[: m * n].reshape(m, n)[::-1, ::-1]
    return cv.ComponentMatrix(data, rows, cols)


def all_paths(layout):
    """Tuples of keys of all components, groups and leaves, with whether each is a leaf."""
    return [(path, hasattr(node, "entries")) for path, _, node in layout._walk() if path]


def oracle(layout, path, is_leaf):
    """Flat indices of a component in leaf order, and the shape of its axes."""
    index = layout.index(path)
    if not is_leaf:
        return index, (len(index),)
    shape = layout.shape(path)
    return index, shape if len(index) == math.prod(shape) else (*shape, 2)


def whole(layout, path, is_leaf):
    """Whether a component is an array: groups with aliases outside are not."""
    try:
        return is_leaf or layout.slice(path) is not None
    except ValueError:
        return False


def is_even(index):
    """Whether entries are evenly spaced."""
    return len(set(np.diff(index).tolist())) <= 1


@given(matrices(), st.data())
def test_every_block_is_what_index_arrays_give(H, data):
    """A view of the entries that the index of each component names, whatever the memory."""
    plain = np.asarray(H)
    rows = [p for p in all_paths(H.rows) if any(isinstance(key, str) for key in p[0])]
    cols = [p for p in all_paths(H.cols) if any(isinstance(key, str) for key in p[0])]
    if not rows or not cols:
        return
    (p, p_leaf), (q, q_leaf) = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(cols))
    if not whole(H.rows, p, p_leaf) or not whole(H.cols, q, q_leaf):
        with pytest.raises(ValueError, match="tied to memory outside this group"):
            H[p, q]
        return
    i, i_shape = oracle(H.rows, p, p_leaf)
    j, j_shape = oracle(H.cols, q, q_leaf)
    expected = plain[np.ix_(i, j)]
    if p_leaf and q_leaf:
        block = H[p, q]
        assert np.shape(block) == i_shape + j_shape
        assert np.array_equal(block, expected.reshape(i_shape + j_shape))
        assert not np.shape(block) or not block.size or np.shares_memory(block, plain)
        assert np.array_equal(H.T[q, p], expected.T.reshape(j_shape + i_shape))
    elif (p_leaf and not is_even(i)) or (q_leaf and not is_even(j)):
        with pytest.raises(ValueError, match="not evenly spaced"):
            H[p, q]
    else:
        block = H[p, q]
        assert isinstance(block, cv.ComponentMatrix)
        assert np.array_equal(np.asarray(block), expected)
        assert block.rows == (None if p_leaf else H.rows[p])
        assert block.cols == (None if q_leaf else H.cols[q])
        assert not block.size or is_view(block, H)
    n = data.draw(st.integers(0, plain.shape[1] - 1)) if plain.shape[1] else None
    if n is not None:
        assert np.array_equal(H[p, n], plain[i, n].reshape(i_shape))
        some = data.draw(st.lists(st.integers(0, plain.shape[1] - 1), max_size=3))
        picked = plain[np.ix_(i, np.array(some, int))]
        assert np.array_equal(H[p, some], picked.reshape((*i_shape, len(some))))
        assert np.array_equal(
            H[p, ::-2], plain[i][:, ::-2].reshape(*i_shape, (plain.shape[1] + 1) // 2)
        )


@given(matrices(), st.data())
def test_every_block_is_written_through(H, data):
    """What is assigned is what index arrays would have assigned."""
    rows = [p for p in H.rows.paths() if p]
    cols = [p for p in H.cols.paths() if p]
    if not rows or not cols:
        return
    p, q = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(cols))
    expected = np.array(H)
    i, i_shape = oracle(H.rows, p, True)
    j, j_shape = oracle(H.cols, q, True)
    values = -1.0 - np.arange(float(len(i) * len(j)))
    H[p, q] = values.reshape(i_shape + j_shape)
    expected[np.ix_(i, j)] = values.reshape(len(i), len(j))
    assert np.array_equal(np.asarray(H), expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6)), max_size=4))
def test_even_step_is_the_one_difference_of_all_neighbours(axes):
    """Or None where there are several."""
    shape, strides = [n for n, _ in axes], [step for _, step in axes]
    index = [
        sum(i * step for i, step in zip(place, strides, strict=True))
        for place in itertools.product(*map(range, shape))
    ]
    step = even_step(shape, strides)
    steps = set(np.diff(index).tolist())
    assert step is None if len(steps) > 1 else steps <= {step}


@given(matrices(), st.integers(0, 2**32 - 1))
def test_products_and_sums_are_those_of_the_data(H, seed):
    """With the labels of the sides that survive."""
    data = np.asarray(H)
    x = np.random.default_rng(seed).normal(size=data.shape[1])
    np.testing.assert_allclose(np.asarray(H @ x), data @ x)
    np.testing.assert_allclose(np.asarray(H @ H.cols.wrap(x)), data @ x)
    assert cv.layout(H @ x) == H.rows
    np.testing.assert_allclose(np.asarray(H.cols.wrap(x) @ H.T), data @ x)
    same(H @ H.T, data @ data.T, H.rows, H.rows)
    same(H - H.T.T, 0 * data, H.rows, H.cols)
    same(pickle.loads(pickle.dumps(H)), data, H.rows, H.cols)
