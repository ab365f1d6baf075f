"""Which leaves are parameters, selection, and ties: `componentvec.parameters`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import componentvec as cv
from model_strategies import ALL, BatchNorm, Dense, Level, models, parameters_of

W = np.arange(6.0).reshape(2, 3)
B = np.array([1.0, 2.0])


def paths(model, **options):
    """Path strings of the leaves that become parameters."""
    return cv.destructure(model, allow_empty=True, **options)[0].layout.paths()


def ties(model, **options):
    """The ties that are found."""
    return cv.destructure(model, **options)[0].layout.ties


# -- what is a parameter -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "F", "D", "G", ">f8"])
@pytest.mark.parametrize("shape", [(), (2,), (0,), (2, 0, 3)])
def test_floating_and_complex_arrays_are_parameters(dtype, shape):
    """Arrays without axes and without entries included."""
    assert paths({"w": np.zeros(shape, dtype)}) == ("w",)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(3),
        np.zeros(2, np.uint8),
        np.zeros(2, bool),
        np.zeros(2, object),
        np.zeros(2, "M8[s]"),
        np.zeros(2, [("x", float)]),
        np.array(["text"]),
        1.5,
        3,
        2j,
        True,
        None,
        "name",
        np.float64(1.0),
        np.complex64(1j),
        np.tanh,
        lambda: B,
        np.ndarray,
    ],
    ids=lambda value: type(value).__name__,
)
def test_everything_else_is_static(value):
    """It comes back as the same object."""
    vector, restructure = cv.destructure({"w": B, "x": value})
    assert vector.layout.paths() == ("w",)
    assert restructure(vector)["x"] is value


def test_scalars_adds_floating_numbers_alone():
    """Python's and NumPy's; integers, booleans and constants stay."""
    model = {
        "a": 1.5, "b": 2j, "c": np.float32(3), "d": np.float64(4), "e": np.complex64(1j),
        "n": 3, "t": True, "i": np.int64(2), "s": "1.5", "level": Level.HIGH,
    }  # fmt: skip
    assert paths(model) == ()
    assert paths(model, scalars=True) == ("a", "b", "c", "d", "e")


def test_a_memory_mapped_array_is_a_parameter(tmp_path):
    """It comes back as a plain array."""
    mapped = np.memmap(tmp_path / "w", "f8", "w+", shape=(3,))
    vector, restructure = cv.destructure({"w": mapped})
    assert type(restructure(vector)["w"]) is np.ndarray
    assert not np.shares_memory(cv.data(vector), mapped)


class Marked(np.ndarray):
    """A subclass that adds something."""


def test_other_subclasses_are_refused():
    """A matrix multiplies differently, a mask hides entries: plain arrays would not do the same."""
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(TypeError, match=r"'w' is a MaskedArray, and what its mask hides would be"):
        cv.destructure({"w": masked})
    for value in (np.eye(2).view(np.matrix), np.zeros(2).view(Marked)):
        with pytest.raises(TypeError, match="what its class adds would be lost: parameters come"):
            cv.destructure({"w": value})
        assert paths({"w": value, "b": B}, select="b") == ("b",)
        assert paths([BatchNorm(B, mean=value)]) == ("[0].gamma",)


def test_keys_beside_a_parameter_are_strings_or_integers():
    """Dicts without parameters may have any keys."""
    with pytest.raises(TypeError, match=r"keys are strings or integers, got \(1, 2\) in 'a' of"):
        cv.destructure({"a": {(1, 2): B}})
    for find in (cv.destructure, cv.trainables):
        with pytest.raises(TypeError, match="got True of type bool"):
            find({True: {"w": B}})
        with pytest.raises(TypeError, match="got None in 'a' of type NoneType"):
            find({"a": {None: 1, "w": B}})
    model = {"w": B, "table": {(1, 2): "x", None: [3, {1.5: 2}]}}
    vector, restructure = cv.destructure(model)
    assert vector.layout.paths() == ("w",)
    assert restructure(vector)["table"] == model["table"]
    assert restructure.pack(model).tolist() == B.tolist()
    assert paths({(1, 2): 3}) == ()


def test_ambiguous_names_are_refused():
    """A key that reads like the path of another component."""
    with pytest.raises(ValueError, match=r"ambiguous names: the key 'a\.b' reads like"):
        cv.destructure({"a.b": B, "a": {"b": B + 1}})
    assert paths({"a.b": "static", "a": {"b": B}}) == ("a.b",)


# -- select ------------------------------------------------------------------------------------

ENCODER = {
    "enc": {"w": W, "b": B},
    "dec": {"w": W + 1, "b": B + 1},
    "norm": BatchNorm(B + 2, mean=B + 3),
    "layers": [np.tanh, {"w": W + 4}, {"w": W + 5}],
    "n": 3,
}


@pytest.mark.parametrize(
    "select, expected",
    [
        ("enc", "enc.w enc.b"),
        ("enc.w", "enc.w"),
        (("enc", "dec.b"), "enc.w enc.b dec.b"),
        ([("enc", "w"), "dec.b"], "enc.w dec.b"),
        ("*.w", "enc.w dec.w"),
        ("**.b", "enc.b dec.b"),
        ("layers[1]", "layers[1].w"),
        ("layers[-1].w", "layers[2].w"),
        ("layers[*].w", "layers[1].w layers[2].w"),
        ("layers[2:].w", "layers[2].w"),
        ("**", "enc.w enc.b dec.w dec.b norm.gamma layers[1].w layers[2].w"),
        (["**.w", "**.w"], "enc.w dec.w layers[1].w layers[2].w"),
    ],
)
def test_patterns_choose_among_the_trainable_leaves(select, expected):
    """Patterns of layouts, one or several; a group covers its leaves, positions stay."""
    assert paths(ENCODER, select=select) == tuple(expected.split())


def test_a_function_chooses_by_path_string_and_leaf():
    """It is asked once a trainable leaf, with the array itself."""
    asked = []

    def select(path, leaf):
        asked.append((path, leaf))
        return leaf.ndim == 2

    assert paths(ENCODER, select=select) == ("enc.w", "dec.w", "layers[1].w", "layers[2].w")
    assert [path for path, _ in asked] == list(paths(ENCODER))
    assert asked[0][1] is W


@pytest.mark.parametrize(
    "pattern", ["encoder", "enc.weight", "norm.mean", "n", "layers[0]", "layers[7]", "*.*.*.*"]
)
def test_a_pattern_that_matches_no_trainable_leaf_is_an_error(pattern):
    """Unknown names, buffers and static parts alike."""
    with pytest.raises(KeyError, match=r"matches (nothing|no trainable leaf)"):
        cv.destructure(ENCODER, select=["enc", pattern])


def test_a_malformed_pattern_is_an_error():
    """It is said where it breaks."""
    with pytest.raises(ValueError, match=r"malformed path 'enc\.\[' at position"):
        cv.destructure(ENCODER, select="enc.[")


@pytest.mark.parametrize("select", [None, 3, {"enc"}, {"enc": True}])
def test_other_selections_are_refused(select):
    """It is said what would do."""
    with pytest.raises(TypeError, match="select is 'trainable', 'buffers', 'all', a path pattern"):
        cv.destructure(ENCODER, select=select)


def test_the_three_words_are_roles_and_names_only_within_a_list():
    """A component may be called all the same."""
    model = {"all": B, "buffers": B + 1}
    assert paths(model, select="all") == ("all", "buffers")
    assert paths(model, select=["all"]) == ("all",)
    with pytest.raises(ValueError, match="the model has no parameters"):
        cv.destructure(model, select="buffers")


def test_buffers_are_selected_by_role_alone():
    """By field name, never by value: the arrays are all equal."""
    ones = [np.ones(2) for _ in range(4)]
    model = {"bn": BatchNorm(ones[0], mean=ones[1], beta=ones[2]), "d": Dense(ones[3], np.ones(2))}
    assert paths(model) == ("bn.gamma", "bn.beta", "d.w")
    assert paths(model, select="buffers") == ("bn.mean", "d.b")
    assert paths(model, select="all") == ("bn.gamma", "bn.mean", "bn.beta", "d.w", "d.b")


def test_nothing_selected_is_no_parameter():
    """An empty list of patterns, and a function that declines."""
    for select in ([], lambda path, leaf: False):
        with pytest.raises(ValueError, match="'enc.w' is float64, but not selected"):
            cv.destructure(ENCODER, select=select)
        assert paths(ENCODER, select=select) == ()


def test_a_leaf_selected_at_one_place_is_selected_where_it_is_tied():
    """By memory, also through the array that contains both, and by name."""
    model = {"a": W[0], "whole": W, "b": W[1], "other": B, "twin": B.copy()}
    assert paths(model, select="a") == ("whole", "a", "b")
    assert paths(model, select="other", ties=[("twin", "other")]) == ("other", "twin")
    assert paths(model, select="twin", ties=[("twin", "other")]) == ("other", "twin")
    assert paths(model, select="a", ties=[("twin", "other")]) == ("whole", "a", "b")


def test_ties_by_name_and_by_memory_are_followed_together():
    """From one to the next, however far."""
    one, two = B.copy(), B.copy()
    model = {"a": one, "b": one, "c": two, "d": two, "e": B.copy(), "f": W}
    chosen = paths(model, select="b", ties=[("c", "a"), ("e", "d")])
    assert set(chosen) == {"a", "b", "c", "d", "e"}


def test_a_leaf_in_a_shared_container_is_selected_at_both_places():
    """It is one leaf, also where it can have no tie by memory."""
    shared = {"s": 1.5, "wide": np.broadcast_to(B, (2, 2))}
    model = {"x": shared, "y": shared, "z": 1.5}
    assert paths(model, select="y.s", scalars=True) == ("x.s", "y.s")
    vector, restructure = cv.destructure(model, scalars=True)
    assert len(vector) == 1 + 4 + 1
    assert vector.layout.ties == (("x.s", "y.s"), ("x.wide", "y.wide"))
    back = restructure(np.arange(6.0))
    assert back["x"] is back["y"] and back["x"]["s"] == 0.0
    assert back["x"]["wide"].tolist() == [[1.0, 2.0], [3.0, 4.0]]


# -- ties by memory ----------------------------------------------------------------------------


def test_equal_values_are_not_tied():
    """Two distinct arrays are two parameters."""
    vector, restructure = cv.destructure({"a": B, "b": B.copy()})
    assert vector.layout.ties == () and vector.tolist() == [1.0, 2.0, 1.0, 2.0]
    back = restructure(vector)
    assert back["a"] is not back["b"] and not np.shares_memory(back["a"], back["b"])


def test_the_same_array_a_transpose_a_reshape_and_a_slice_are_tied():
    """Stored once, under the leaf that contains the others."""
    model = {"row": W[1], "w": W, "same": W, "t": W.T, "flat": W.reshape(-1), "back": W[::-1]}
    vector, restructure = cv.destructure(model)
    assert vector.layout.ties == (("w", "row", "same", "t", "flat", "back"),)
    assert vector.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    back = restructure(np.arange(10.0, 16.0))
    assert back["t"].tolist() == [[10.0, 13.0], [11.0, 14.0], [12.0, 15.0]]
    assert back["row"].tolist() == [13.0, 14.0, 15.0]
    assert back["flat"].tolist() == [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]
    assert back["back"].tolist() == [[13.0, 14.0, 15.0], [10.0, 11.0, 12.0]]
    assert back["same"] is back["w"]


def test_views_of_one_buffer_that_share_no_entry_are_apart():
    """A restructured model is made of such views."""
    buffer = np.arange(6.0)
    assert ties({"a": buffer[:3], "b": buffer[3:], "even": B}) == ()
    assert ties({"even": buffer[::2], "odd": buffer[1::2]}) == ()


def test_leaves_without_a_memory_of_their_own_are_never_tied():
    """Empty, broadcast, self-overlapping: stored in full."""
    empty, wide = np.zeros((0, 2)), np.broadcast_to(B, (2, 2))
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(4.0), 2)
    vector, restructure = cv.destructure([empty, empty, wide, wide, windows, windows])
    assert vector.layout.ties == ()
    assert vector.tolist() == [1, 2, 1, 2] * 2 + [0, 1, 1, 2, 2, 3] * 2
    back = restructure(np.arange(20.0))
    assert back[2].tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_leaves_are_stored_in_c_order_unless_a_tie_needs_their_memory():
    """A Fortran-ordered array alone is stored by rows; with its flat memory, by columns."""
    f = np.asfortranarray(W)
    assert cv.destructure({"f": f})[0].tolist() == [0, 1, 2, 3, 4, 5]
    vector, restructure = cv.destructure({"f": f, "flat": f.T.reshape(-1)})
    assert vector.tolist() == [0, 3, 1, 4, 2, 5]
    assert restructure(vector)["f"].tolist() == W.tolist()


def test_a_buffer_is_never_tied_to_a_parameter():
    """It keeps the very array, unmoved."""
    model = BatchNorm(gamma=B, mean=B, beta=W, var=W[0])
    vector, restructure = cv.destructure(model)
    assert vector.layout.paths() == ("gamma", "beta")
    back = restructure(vector * 0 + 7)
    assert back.mean is B and back.var is model.var
    assert back.gamma.tolist() == [7.0, 7.0] and B.tolist() == [1.0, 2.0]


def test_with_all_selected_a_buffer_ties_as_any_leaf():
    """There are no two kinds then."""
    model = BatchNorm(gamma=B, mean=B)
    vector, restructure = cv.destructure(model, select="all")
    assert vector.layout.ties == (("gamma", "mean"),)
    back = restructure(vector)
    assert back.gamma is back.mean


def test_buffers_are_tied_among_themselves():
    """When they are what is selected."""
    assert ties(BatchNorm(B, mean=W, var=W.T), select="buffers") == (("mean", "var"),)


def test_a_partial_overlap_is_refused():
    """Both paths are named."""
    expected = "'a' and 'b' share part of their memory, and neither contains the other; copy one"
    with pytest.raises(ValueError, match=expected):
        cv.destructure({"a": W.reshape(-1)[:4], "b": W.reshape(-1)[2:]})


def test_one_memory_under_two_dtypes_is_refused():
    """Also the real part of a complex array."""
    z = np.zeros(2, complex)
    expected = r"'a' \(complex128\) and 'b' \(float64\) read the same memory under two dtypes"
    with pytest.raises(ValueError, match=expected):
        cv.destructure({"a": z, "b": z.real})
    with pytest.raises(ValueError, match="under two dtypes"):
        cv.destructure({"a": B, "b": B.view(np.float32)})


def test_overlaps_matter_only_among_what_may_be_selected():
    """Buffers and static arrays may lie anywhere."""
    model = BatchNorm(W[:, :2], mean=W[:, 1:], origin=W.view(np.float32))
    assert paths(model) == ("gamma",)
    with pytest.raises(ValueError, match="share part of their memory"):
        cv.destructure(model, select="all")


# -- ties by name ------------------------------------------------------------------------------


def test_ties_by_name_join_equal_leaves():
    """The alias becomes the same array as the owner."""
    model = {"a": B.copy(), "b": B.copy(), "c": [B.copy()]}
    vector, restructure = cv.destructure(model, ties=[("b", "a"), (("c", 0), "b")])
    assert vector.layout.ties == (("a", "b", "c[0]"),)
    assert vector.tolist() == [1.0, 2.0]
    back = restructure(vector)
    assert back["a"] is back["b"] is back["c"][0]


def test_an_owner_that_is_tied_by_memory_brings_its_aliases_along():
    """W and its transpose follow what W is tied to."""
    model = {"first": W.copy(), "w": W, "t": W.T}
    vector, restructure = cv.destructure(model, ties=[("w", "first")])
    assert vector.layout.ties == (("first", "w", "t"),)
    back = restructure(vector)
    assert back["t"].tolist() == W.T.tolist() and back["w"] is back["first"]


def test_numbers_can_be_tied_by_name():
    """By memory they never are."""
    vector, restructure = cv.destructure({"a": 1.5, "b": 1.5}, scalars=True, ties=[("b", "a")])
    assert vector.tolist() == [1.5]
    assert restructure(np.array([2.0])) == {"a": 2.0, "b": 2.0}


def test_nan_is_equal_to_itself_in_a_tie():
    """Where parameters are not there yet."""
    vector, _ = cv.destructure(
        {"a": np.array([np.nan]), "b": np.array([np.nan])}, ties=[("b", "a")]
    )
    assert len(vector) == 1


@pytest.mark.parametrize(
    "tie, error, text",
    [
        (("x", "a"), KeyError, "no component 'x'"),
        (("b", "x.y"), KeyError, r"no component 'x\.y'"),
        (("mean", "a"), KeyError, "no component 'mean'"),
        (("n", "a"), KeyError, "no component 'n'"),
        (("group", "a"), ValueError, "'group' is a group; expected a leaf"),
        (("c", "a"), ValueError, "cannot tie 'c' to 'a': expected equal values"),
        (("group.d", "a"), ValueError, r"cannot tie 'group\.d' to 'a': expected the same shape"),
        (("f", "a"), ValueError, "cannot tie 'f' to 'a': expected one dtype, got float32 and flo"),
        ("ba", TypeError, r"ties are pairs of paths \(alias, owner\), got 'ba' among them"),
        (("b", "a", "c"), TypeError, r"ties are pairs of paths"),
        (3, TypeError, "ties are pairs of paths"),
    ],
)
def test_ties_that_cannot_be_are_refused(tie, error, text):
    """Unknown names, unequal values, shapes and dtypes, and what is no pair."""
    model = {
        "a": B.copy(), "b": B.copy(), "c": B + 1, "f": B.astype(np.float32), "n": 3,
        "group": {"d": B.reshape(2, 1).copy()}, "norm": BatchNorm(W, mean=B.copy()),
    }  # fmt: skip
    with pytest.raises(error, match=text):
        cv.destructure(model, ties=[tie])


def test_a_single_pair_in_place_of_a_list_is_refused():
    """Its names are no pairs."""
    with pytest.raises(TypeError, match=r"got 'b' among them"):
        cv.destructure({"a": B, "b": B.copy()}, ties=("b", "a"))


def test_ties_by_name_join_up():
    """A leaf that is tied twice ties all three, and the last owner owns."""
    model = {"a": B.copy(), "b": B.copy(), "c": B.copy()}
    vector, _ = cv.destructure(model, ties=[("c", "a"), ("c", "b")])
    assert vector.layout.ties == (("b", "a", "c"),)


def test_a_part_of_a_leaf_is_tied_to_no_other():
    """The rest of its owner would have no place."""
    whole = np.arange(4.0)
    model = {"whole": whole, "part": whole[:2], "other": np.arange(2.0)}
    with pytest.raises(ValueError, match="it shares memory with 'whole' already"):
        cv.destructure(model, ties=[("part", "other")])


# -- laws --------------------------------------------------------------------------------------


@given(models(ALL))
def test_the_names_are_those_of_the_parameters(model):
    """All of them and no others, whatever stands around them."""
    expected = {path for path, _ in parameters_of(model)}
    layout = cv.destructure(model, allow_empty=True)[0].layout
    assert {path for path, _, _ in layout._leaves} == expected
    assert len(layout.paths()) == len(expected)


@given(models(), st.data())
def test_a_selection_by_paths_is_what_it_says_and_its_ties(model, data):
    """Nothing that shares no memory with a chosen leaf comes along."""
    found = dict(cv.trainables(model, paths=True))
    names = data.draw(st.lists(st.sampled_from(sorted(found)), min_size=1, max_size=3))
    layout = cv.destructure(model, select=names)[0].layout
    assert set(names) <= set(layout.paths())
    tied = {name for group in layout.ties for name in group}
    assert set(layout.paths()) <= set(names) | tied
