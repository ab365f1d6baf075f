"""Layouts: paths to places in one buffer, and what can be asked of them."""

import copy
import itertools
import json
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.paths import format_path, parse_path
from strategies import HOSTILE, Cells, keys, made, real_leaves, tied, trees, vectors

MODEL = {
    "enc": {"w": np.zeros((2, 3)), "bias": np.zeros(2)},
    "layers": [{"w": np.zeros((2, 2)), "bias": 0.0}, {"w": np.zeros((2, 2)), "bias": 0.0}],
    "bias": 0.0,
}


def layout_of(*args, **components):
    """The layout of a vector made of these components."""
    return cv.ComponentVector(*args, **components).layout


def tied_model():
    """A layout in which `dec.w` is `enc.w`."""
    tree = {
        "enc": {"w": np.zeros((2, 3)), "b": np.zeros(2)},
        "dec": {"w": np.zeros((2, 3)), "b": 0},
    }
    return layout_of(tree).tie("dec.w", "enc.w")


def nodes(*nodes, dtype="<f8", **more):
    """The JSON of a layout."""
    return json.dumps({"componentvec": 1, "dtype": dtype, "nodes": list(nodes)} | more)


def transposed(shape=(2, 3)):
    """A layout in which `t` is the transpose of `w`."""
    owner = {"shape": shape}
    strides = [1, shape[1]]
    alias = {"shape": shape[::-1], "strides": strides, "owner": 0}
    return cv.Layout.from_json(nodes({"keys": ["w", "t"]}, owner, alias))


# -- what it holds ---------------------------------------------------------------------------------


def test_size_counts_buffer_entries():
    """One entry for each number, tied ones counted once."""
    assert layout_of(MODEL).size == 6 + 2 + 2 * 5 + 1
    assert tied_model().size == 6 + 2 + 1
    assert layout_of().size == 0


def test_dtype_is_that_of_the_vectors_it_makes():
    """The layout of a float32 vector makes float32 vectors."""
    layout = layout_of(a=np.zeros(2, np.float32))
    assert layout.dtype == layout.zeros().dtype == layout.pack({"a": [1, 2]}).dtype == np.float32


def test_paths_go_in_buffer_order_and_aliases_follow():
    """Owners as they lie in the buffer, then other names for them."""
    assert layout_of(MODEL).paths() == (
        "enc.w", "enc.bias", "layers[0].w", "layers[0].bias", "layers[1].w", "layers[1].bias",
        "bias",
    )  # fmt: skip
    assert tied_model().paths() == ("enc.w", "enc.b", "dec.b", "dec.w")


def test_order_is_that_of_insertion():
    """Names are never sorted."""
    assert layout_of(z=1.0, a=2.0, m=3.0).paths() == ("z", "a", "m")


def test_labels_name_every_entry():
    """A label is the path of a leaf and an index that counts from 0."""
    layout = layout_of(a=1.0, b=[1.0, 2.0], c={"odd key": [[1.0], [2.0]]}, d=[])
    assert layout.labels() == ["a", "b[0]", "b[1]", "c['odd key'][0,0]", "c['odd key'][1,0]"]


def test_labels_of_complex_pairs_end_in_re_and_im():
    """A complex number in a real vector has two entries."""
    layout = layout_of(x=1.0, z=[1j, 2.0], s=3j)
    assert layout.labels() == ["x", "z[0].re", "z[0].im", "z[1].re", "z[1].im", "s.re", "s.im"]


def test_aliases_do_not_appear_among_labels():
    """Each entry has the label of its owner."""
    layout = tied_model()
    assert layout.labels()[:2] == ["enc.w[0,0]", "enc.w[0,1]"]
    assert not any(label.startswith("dec.w") for label in layout.labels())


def test_ties_are_groups_with_the_owner_first():
    """Each group has all names for one memory."""
    layout = layout_of(a=[1.0, 2.0], b=[1.0, 2.0], c=1.0, d=[1.0, 2.0], e=2.0)
    assert layout.ties == ()
    layout = layout.tie("a", "d").tie("b", "a").tie("c", "e")
    assert layout.ties == (("d", "a", "b"), ("e", "c"))


def test_slice_is_where_a_component_lies():
    """Leaves and groups lie in one piece."""
    layout = layout_of(MODEL)
    assert layout.slice("enc.w") == slice(0, 6)
    assert layout.slice("enc") == slice(0, 8)
    assert layout.slice(("layers", 1, "bias")) == slice(17, 18)
    assert layout.slice("layers[-1].bias") == slice(17, 18)


def test_slice_of_an_alias_is_that_of_its_owner():
    """A contiguous alias lies where the owner lies."""
    assert tied_model().slice("dec.w") == tied_model().slice("enc.w") == slice(0, 6)


def test_slice_of_an_alias_that_is_not_contiguous_is_refused():
    """The entries of a transpose are in another order: `index` gives them."""
    layout = transposed()
    with pytest.raises(ValueError, match="'t' is tied, and its entries are not contiguous"):
        layout.slice("t")
    assert layout.index("t").tolist() == [0, 3, 1, 4, 2, 5]


def test_slice_of_complex_pairs_counts_entries():
    """A complex number takes two entries."""
    assert layout_of(x=1.0, z=[1j, 2j]).slice("z") == slice(1, 5)


def test_shape_is_that_of_a_leaf():
    """A group has none."""
    layout = layout_of(MODEL)
    assert layout.shape("enc.w") == (2, 3)
    assert layout.shape(("bias",)) == ()
    assert layout_of(z=1j, x=1.0).shape("z") == ()
    with pytest.raises(ValueError, match="'enc' is a group; expected a leaf"):
        layout.shape("enc")


def test_an_item_is_the_layout_of_a_group():
    """A sub-layout is again a layout."""
    layout = layout_of(MODEL)
    assert layout["enc"] == layout_of(MODEL["enc"])
    assert layout["layers"] == layout_of(MODEL["layers"])
    assert layout["layers[0]"] == layout["layers", 1] == layout["layers"]["[0]"]
    assert layout[()] is layout
    with pytest.raises(KeyError, match="'enc.w' is a leaf of shape \\(2, 3\\), not a group"):
        layout["enc.w"]


def test_in_tells_whether_there_is_a_path():
    """Groups and leaves are paths; labels, patterns and other values are none."""
    layout = layout_of(MODEL)
    for path in ("enc", "enc.w", ("layers", 0, "w"), "layers[-2].w", ()):
        assert path in layout
    for path in (
        "en",
        "encw",
        "enc.w[0,0]",
        "*",
        "layers[2]",
        "layers[:]",
        "a b",
        "",
        3,
        None,
        [1],
    ):
        assert path not in layout


def test_index_gives_flat_positions():
    """Of a leaf, a group or a label, always one axis."""
    layout = layout_of(MODEL)
    assert layout.index("enc.bias").tolist() == [6, 7]
    assert layout.index("layers").tolist() == list(range(8, 18))
    assert layout.index("layers[1].w[1,0]").tolist() == [15]
    assert layout.index(("bias",)).tolist() == [18]
    assert layout.index("enc.w").dtype == np.intp


def test_index_of_complex_pairs():
    """An entry of a complex number is its real or its imaginary part."""
    layout = layout_of(x=1.0, z=[1j, 2j])
    assert layout.index("z").tolist() == [1, 2, 3, 4]
    assert layout.index("z[1].im").tolist() == [4]


@pytest.mark.parametrize(
    "label",
    ["b[2]", "b[-1]", "b[0,0]", "b[00]", "b[]", "a[0]", "b.re", f"b[{'9' * 5000}]", "c[0]", "q"],
)
def test_index_of_no_label_is_a_key_error(label):
    """Labels are exact."""
    with pytest.raises(KeyError, match="no component"):
        layout_of(a=1.0, b=[1.0, 2.0], c={"d": 1.0}).index(label)


@given(vectors())
def test_labels_and_indices_are_inverse(v):
    """The label of an entry leads to it."""
    layout = cv.layout(v)
    labels = layout.labels()
    assert len(labels) == len(set(labels)) == layout.size
    for position, label in enumerate(labels):
        assert layout.index(label).tolist() == [position]


@given(tied())
def test_every_leaf_lies_where_its_entries_do(drawn):
    """Places of owners and aliases agree with entries that are followed one by one."""
    layout, cells = drawn
    expected = cells.index()
    assert {path for path, _, _ in layout._leaves} == set(expected)
    assert layout.size == len(
        set(itertools.chain(*(e.ravel().tolist() for e in expected.values())))
    )
    for path, positions in expected.items():
        assert layout.index(path).tolist() == positions.ravel().tolist()
        assert layout.index(format_path(path)).tolist() == positions.ravel().tolist()
        assert layout.shape(path) == positions.shape
        try:
            found = layout.slice(path)
        except ValueError:
            assert path in cells.aliases
        else:
            assert list(range(layout.size)[found]) == positions.ravel().tolist()


@given(tied())
def test_leaves_that_share_entries_are_tied(drawn):
    """The groups of ties are those of leaves with a common entry, owner first."""
    layout, cells = drawn
    groups: dict[tuple, list[str]] = {}
    owners = [path for path in cells.cells if path not in cells.aliases]
    for path in cells.cells:
        if path in cells.aliases:
            mine = set(cells.cells[path].ravel().tolist())
            owner = next(o for o in owners if mine & set(cells.cells[o].ravel().tolist()))
            groups.setdefault(owner, [format_path(owner)]).append(format_path(path))
    assert {group[0]: group for group in layout.ties} == {
        group[0]: tuple(group) for group in groups.values()
    }


# -- looking up ------------------------------------------------------------------------------------


def test_look_ups_are_exact():
    """No name stands for a longer one."""
    layout = layout_of(aa=1.0, ab=[1.0])
    with pytest.raises(KeyError, match="no component 'a'"):
        layout.index("a")


def test_a_top_level_name_as_it_stands_comes_first():
    """A name with a dot is found by itself, and quoted."""
    layout = layout_of({"a.b": 1.0, "x": [2.0]})
    assert layout.paths() == ("['a.b']", "x")
    assert layout.index("a.b").tolist() == layout.index("['a.b']").tolist() == [0]
    inner = layout_of(g={"a.b": 1.0})
    assert "g['a.b']" in inner
    assert "g.a.b" not in inner


def test_an_unknown_path_is_a_key_error_with_the_closest_name():
    """The names of the group that was reached are listed."""
    layout = layout_of(MODEL)
    with pytest.raises(
        KeyError,
        match="no component 'enc.biass'; did you mean 'enc.bias'. components: enc.w, enc.bias",
    ):
        layout.slice("enc.biass")
    with pytest.raises(KeyError, match="no component 'enc.w.x'.*components: enc.w, enc.bias"):
        layout.shape("enc.w.x")
    with pytest.raises(KeyError, match="no component 'q.r'; components: enc, layers, bias"):
        layout["q.r"]
    with pytest.raises(KeyError, match="no component .*layers.2.*: 'layers' has 2 items"):
        layout.index(("layers", 2))


@pytest.mark.parametrize("path", ["layers[*].w", "layers[0:1].w", "**.w", "*"])
def test_a_pattern_is_no_path(path):
    """A KeyError that says what is."""
    layout = layout_of(MODEL)
    for look_up in (layout.slice, layout.shape, layout.index, layout.__getitem__):
        with pytest.raises(KeyError, match="no component .*layout.mask chooses several"):
            look_up(path)


@pytest.mark.parametrize("key", [None, 1.5, b"a", ("a", None), True])
def test_a_path_of_other_keys_is_a_type_error(key):
    """Keys are strings and integers."""
    with pytest.raises(TypeError, match="keys are strings or integers"):
        layout_of(a=1.0).slice(key)


@pytest.mark.parametrize("key", [None, 1.5, b"a", (1, 2), True])
def test_a_tree_with_other_keys_is_refused(key):
    """Keys of a tree are strings and integers too."""
    with pytest.raises(TypeError, match="keys are strings or integers, got .* in 'c'"):
        layout_of(c={key: 1.0})
    with pytest.raises(TypeError, match="keys are strings or integers"):
        layout_of(c={1: 1.0}).pack({"c": {key: 1.0}})


@pytest.mark.parametrize(
    "tree",
    [
        {"a.b": 1.0, "a": {"b": 2.0}},
        {"a": {"b": 2.0}, "a.b": 1.0},
        {"b": [1.0, 2.0], "b[0]": 3.0},
        {"b": [[1.0, 2.0]], "b[0,1]": 3.0},
        {"b": [{"a": 1.0}], "b[0].a": 3.0},
        {"b": [{"a": 1.0}], "b[:].a": 3.0},
        {"z": 1j, "x": 1.0, "z.re": 3.0},
        {"a": 1.0, "['a']": 2.0},
        {3: 1.0, "[3]": 2.0},
        {"x": {"a.b": 1.0, "a": {"b": 2.0}}},
    ],
)
def test_ambiguous_names_are_refused(tree):
    """A key that reads like the path or the label of another component is a ValueError."""
    with pytest.raises(ValueError, match="ambiguous names: the key .* rename one of them"):
        layout_of(tree)


@pytest.mark.parametrize(
    "tree",
    [
        {"a.b": 1.0, "a": {"c": 2.0}},
        {"b[2]": 1.0, "b": [1.0, 2.0]},
        {"b[0].re": 1.0, "b": [1.0, 2.0]},
        {3: 1.0, "3": 2.0},
        {"*": 1.0, "**": 2.0, "a.*": 3.0, "a": {"b": 4.0}},
        {"x": {"a.b": 1.0}, "a": {"b": 2.0}},
        {"a": 1.0, "A": 2.0, "aa": 3.0},
    ],
)
def test_names_that_only_look_alike_are_fine(tree):
    """What no look-up confuses is no reason to complain."""
    layout = layout_of(tree)
    assert len(set(layout.paths())) == len(layout._leaves)


@given(st.lists(st.sampled_from(HOSTILE), unique=True, max_size=8))
def test_hostile_names_are_found(names):
    """Names of attributes, quotes, blanks and dots are names like others."""
    v = made({name: float(i) for i, name in enumerate(names)})
    for i, name in enumerate(names):
        assert v[name] == i
        assert cv.layout(v).index(name).tolist() == [i]


# -- masks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        (["bias"], ["bias"]),
        (["enc"], ["enc.w", "enc.bias"]),
        (["**.bias"], ["enc.bias", "layers[0].bias", "layers[1].bias", "bias"]),
        (["*.bias"], ["enc.bias"]),
        (["layers[*].w"], ["layers[0].w", "layers[1].w"]),
        (["layers.*.w"], ["layers[0].w", "layers[1].w"]),
        (["layers[-1].w"], ["layers[1].w"]),
        (["layers[1:].w"], ["layers[1].w"]),
        ([("layers", 0)], ["layers[0].w", "layers[0].bias"]),
        (["layers[0].**"], ["layers[0].w", "layers[0].bias"]),
        (["*.*.w", "bias"], ["layers[0].w", "layers[1].w", "bias"]),
        (["**"], ["enc", "layers", "bias"]),
        (["**.layers.**.bias"], ["layers[0].bias", "layers[1].bias"]),
        ([], []),
    ],
)
def test_patterns_choose_entries(patterns, chosen):
    """`*` is one key, also a position, and `**` any number of keys, none included."""
    layout = layout_of(MODEL)
    expected = np.zeros(layout.size, bool)
    for path in chosen:
        expected[layout.slice(path)] = True
    mask = layout.mask(*patterns)
    assert mask.dtype == bool
    assert mask.tolist() == expected.tolist()


def covers(pattern, path):
    """Whether a pattern matches a path or a group above it, by plain recursion."""
    if not pattern:
        return True
    if repr(pattern[0]) == "**":
        return covers(pattern[1:], path) or (bool(path) and covers(pattern, path[1:]))
    return bool(path) and (
        (repr(pattern[0]) == "*" or pattern[0] == path[0]) and covers(pattern[1:], path[1:])
    )


@given(trees(real_leaves), st.data())
def test_masks_agree_with_brute_force(tree, data):
    """For each entry, some pattern covers the path of its leaf, or its mask is False."""
    layout, leaves = cv.layout(made(tree)), Cells(tree).cells
    # a negative position counts from the end of a sequence, which the brute force does not know
    known = [key for path in leaves for key in path if isinstance(key, str) or key >= 0] or ["a"]
    key = st.sampled_from([*[format_path((k,)) for k in known], "*", "**"])
    text = ""
    for part in data.draw(st.lists(key, min_size=1, max_size=4)):
        text += part if not text or part.startswith("[") else "." + part
    if text in layout._children:
        return
    pattern = parse_path(text)
    expected = [covers(pattern, path) for path, cells in leaves.items() for _ in range(cells.size)]
    try:
        assert layout.mask(text).tolist() == expected
    except KeyError:
        assert not any(expected)


@given(tied(), st.data())
def test_the_mask_of_an_alias_covers_the_shared_entries(drawn, data):
    """A tied name stands for the entries of its owner."""
    layout, cells = drawn
    if not cells.cells:
        return
    path = data.draw(st.sampled_from(sorted(cells.cells, key=repr)))
    expected = np.zeros(layout.size, bool)
    expected[cells.index()[path]] = True
    assert layout.mask(path).tolist() == expected.tolist()


def test_the_mask_of_complex_pairs_covers_both_parts():
    """A complex leaf is its real and its imaginary entries."""
    assert layout_of(x=1.0, z=[1j, 2j]).mask("z").tolist() == [False, True, True, True, True]


def test_a_pattern_that_matches_nothing_is_a_key_error():
    """Nothing is chosen by mistake."""
    layout = layout_of(MODEL)
    for pattern in ("bais", "enc.*.w", "**.x", ("enc", "x"), "layers[2:].w", "bias.**.x"):
        with pytest.raises(KeyError, match="matches nothing: no component .*; .*components: "):
            layout.mask("bias", pattern)


def test_a_malformed_pattern_is_a_value_error():
    """Half a wildcard is no pattern."""
    for pattern in ("", "lay*", "enc.", "layers[", "a b"):
        with pytest.raises(ValueError, match="malformed path"):
            layout_of(MODEL).mask(pattern)


def test_a_pattern_of_another_type_is_refused():
    """Several patterns are several arguments."""
    with pytest.raises(TypeError, match="a pattern is a path string or a tuple of keys, got"):
        layout_of(MODEL).mask(["enc", "bias"])


def test_many_double_wildcards_take_no_time():
    """A pattern is matched state by state, not by trying out all ways."""
    layout = layout_of({"a": {"a": {"a": {"a": {"a": {"a": {"b": 1.0}}}}}}, "c": 1.0})
    assert layout.mask("**" + ".**.a" * 6 + ".**.b").tolist() == [True, False]


# -- making vectors --------------------------------------------------------------------------------


def test_wrap_is_a_vector_on_that_very_memory():
    """Nothing is copied, either way."""
    layout, buffer = layout_of(MODEL), np.arange(19.0)
    v = layout.wrap(buffer)
    assert cv.data(v) is buffer
    v.enc.bias = 0.0
    assert buffer[6:8].tolist() == [0, 0]
    buffer[18] = 5.0
    assert v.bias == 5.0


@pytest.mark.parametrize(
    ("buffer", "message"),
    [
        (np.zeros(3), "the layout has 2 entries, got 3"),
        (np.zeros((2, 1)), "a buffer has one axis, got shape \\(2, 1\\)"),
        (np.zeros(()), "a buffer has one axis, got shape \\(\\)"),
        (np.zeros(4)[::2], "the buffer is not contiguous; np.ascontiguousarray"),
        (np.zeros(2)[::-1], "the buffer is not contiguous"),
    ],
)
def test_a_buffer_that_does_not_fit_is_refused(buffer, message):
    """Wrong size, two axes and gaps are a ValueError."""
    with pytest.raises(ValueError, match=message):
        layout_of(a=[1.0, 2.0]).wrap(buffer)


@pytest.mark.parametrize("buffer", [["a", "b"], np.array([None, 1.0]), np.array(["x", "y"])])
def test_a_buffer_of_no_numbers_is_refused(buffer):
    """Vectors hold numbers."""
    with pytest.raises(TypeError, match="a vector holds numbers, got a buffer of"):
        layout_of(a=[1.0, 2.0]).wrap(buffer)


def test_a_masked_buffer_is_refused():
    """A mask would be lost without a word."""
    with pytest.raises(TypeError, match="a masked array has no place for its mask"):
        layout_of(a=[1.0, 2.0]).wrap(np.ma.array([1.0, 2.0], mask=[True, False]))


def test_pairs_want_a_real_buffer():
    """Complex components of a real layout are read from floats."""
    layout = layout_of(x=1.0, z=1j)
    for dtype in (complex, int, np.float16):
        with pytest.raises(TypeError, match="complex components as pairs of reals, got a"):
            layout.wrap(np.zeros(3, dtype))
    assert layout.wrap(np.zeros(3, np.float32)).z.dtype == np.complex64


def test_a_vector_is_wrapped_only_if_its_layout_is_the_same():
    """Names are not changed by accident."""
    v = cv.ComponentVector(a=[1.0, 2.0])
    assert np.shares_memory(v.layout.wrap(v), v)
    with pytest.raises(ValueError, match="layouts differ: 'b' here, 'a' there"):
        layout_of(b=[1.0, 2.0]).wrap(v)


def test_the_vector_has_the_dtype_of_its_buffer():
    """A layout is for vectors of any dtype."""
    v = layout_of(a=[1.0, 2.0]).wrap(np.arange(2, dtype=np.int16))
    assert v.dtype == v.layout.dtype == np.int16
    assert v.layout == layout_of(a=[1.0, 2.0])


def test_foreign_byte_order_is_kept():
    """A buffer from a file is used as it is, pairs included."""
    v = layout_of(x=1.0, z=1j).wrap(np.array([1.0, 2.0, 3.0], ">f8"))
    assert (v.x, v.z) == (1.0, 2 + 3j)


def test_zeros_and_full_make_new_vectors():
    """With the layout's dtype, or the one that is asked for."""
    layout = layout_of(a=[1.0, 2.0], b=3.0)
    assert layout.zeros().tolist() == [0.0, 0.0, 0.0]
    assert layout.zeros(np.float32).dtype == np.float32
    assert layout.full(7).tolist() == [7.0, 7.0, 7.0]
    assert layout.full([1, 2, 3]).b == 3.0
    assert layout.full(7).dtype == float
    assert layout_of(a=1j).full(2).tolist() == [2 + 0j]


@pytest.mark.parametrize("value", [None, "1.0", 1j, [1.0, None]])
def test_full_takes_numbers_of_the_kind(value):
    """Nothing becomes NaN or loses its imaginary part."""
    with pytest.raises(TypeError, match="entries of float64 cannot be filled with"):
        layout_of(a=[1.0, 2.0]).full(value)


# -- JSON, pickle, comparison ----------------------------------------------------------------------


@given(tied())
def test_layouts_survive_json_pickle_and_copy(drawn):
    """Plain data holds all there is."""
    layout, _ = drawn
    for again in (
        cv.Layout.from_json(layout.to_json()),
        cv.Layout.from_json(layout.to_json().encode()),
        pickle.loads(pickle.dumps(layout)),
    ):
        assert again == layout
        assert hash(again) == hash(layout)
        assert (again.paths(), again.labels(), again.ties) == (
            layout.paths(), layout.labels(), layout.ties,
        )  # fmt: skip
        assert again.dtype == layout.dtype
    assert copy.copy(layout) is copy.deepcopy(layout) is layout


@given(vectors())
def test_layouts_of_all_dtypes_survive_json(v):
    """Pairs and other dtypes included."""
    layout = cv.layout(v)
    again = cv.Layout.from_json(layout.to_json())
    assert again == layout
    assert again.dtype == layout.dtype


def test_json_is_plain_data():
    """Anybody can read it."""
    data = json.loads(tied_model().to_json())
    assert data["dtype"] == "<f8"
    assert data["nodes"][0] == {"keys": ["enc", "dec"]}
    assert data["nodes"][2] == {"shape": [2, 3]}
    assert data["nodes"][5] == {"shape": [2, 3], "owner": 0}


def test_layouts_are_equal_by_what_they_give():
    """Paths, containers, order, places, shapes and owners count; dtypes do not."""
    layout = layout_of(MODEL)
    assert layout == layout_of(MODEL, dtype=np.float32)
    assert layout == layout_of(
        enc={"w": [[1, 2, 3], [4, 5, 6]], "bias": (1, 2)},
        layers=(MODEL["layers"][0], {"w": np.ones((2, 2)), "bias": np.float32(1)}),
        bias=np.zeros(()),
    )
    others = [
        layout_of(MODEL | {"bias": [0.0]}),
        layout_of(MODEL | {"more": []}),
        layout_of(MODEL | {"layers": {0: MODEL["layers"][0], 1: MODEL["layers"][1]}}),
        layout_of({"bias": 0.0} | {k: MODEL[k] for k in ("enc", "layers")}),
        layout_of(MODEL).tie("layers[1].bias", "bias"),
        layout_of(MODEL).tie("bias", "layers[1].bias"),
        layout_of(MODEL | {"bias": 1j}),
        layout_of(MODEL, dtype=complex),
    ]
    assert others[-1] == layout
    for other in others[:-1]:
        assert other != layout
    assert layout != "layout"


def test_an_empty_group_counts():
    """Where a group stands, it is part of the tree."""
    assert layout_of({"a": {}}) != layout_of() != layout_of([])
    assert layout_of({"a": {}}).paths() == ()
    assert "a" in layout_of({"a": {}})


def test_steps_that_nobody_takes_do_not_count():
    """The transpose of a row is a column, whatever its strides say."""
    a, b = (
        cv.Layout.from_json(
            nodes({"keys": ["w", "t"]}, {"shape": [1, 3]}, {"shape": [3, 1], "owner": 0} | strides)
        )
        for strides in ({}, {"strides": [1, 3]})
    )
    assert a == b
    assert a.slice("t") == slice(0, 3)


def test_equal_layouts_are_one_key():
    """Layouts are hashable."""
    assert {layout_of(MODEL): 1}[layout_of(MODEL, dtype=np.float32)] == 1


def test_a_layout_never_changes():
    """It has no attributes to set, and what it gives is not part of it."""
    layout = layout_of(MODEL)
    for name in ("size", "dtype", "ties", "more"):
        with pytest.raises(AttributeError):
            setattr(layout, name, 3)
    with pytest.raises(TypeError):
        layout["enc"] = layout
    layout.labels().clear()
    layout.mask("enc")[:] = False
    layout.index("enc.w")[:] = 0
    layout.tie("layers[0].w", "layers[1].w")
    assert layout == layout_of(MODEL)
    assert len(layout.labels()) == 19


def test_layouts_are_neither_built_nor_iterated():
    """They come from vectors and JSON, and `in` asks for paths."""
    with pytest.raises(TypeError, match="layouts come from ComponentVector"):
        cv.Layout()
    with pytest.raises(TypeError):
        iter(layout_of(MODEL))


# -- ties ------------------------------------------------------------------------------------------


def test_tie_makes_another_name_for_one_place():
    """The alias's own entries go."""
    layout = layout_of(a=[1.0, 2.0], b=3.0, c=[4.0, 5.0])
    tied = layout.tie("a", "c")
    assert tied is not layout
    assert tied.size == 3
    assert tied.paths() == ("b", "c", "a")
    v = tied.wrap(np.arange(3.0))
    assert np.shares_memory(v.a, v.c)
    v.a = [7.0, 8.0]
    assert v.c.tolist() == [7.0, 8.0]


def test_paths_to_tie_may_be_strings_or_tuples():
    """As everywhere."""
    layout = layout_of(MODEL)
    assert layout.tie(("layers", 1, "w"), "layers[0].w") == layout.tie(
        "layers[1].w", ("layers", 0, "w")
    )


def test_a_tie_to_an_alias_is_one_to_its_owner():
    """There is one owner, whoever is asked."""
    layout = layout_of(a=[1.0], b=[2.0], c=[3.0])
    assert layout.tie("b", "a").tie("c", "b") == layout.tie("b", "a").tie("c", "a")


def test_aliases_come_along():
    """Whatever was tied to an alias is tied to the new owner, as the same part of it."""
    json_of = nodes(
        {"keys": ["w", "t", "row", "other"]},
        {"shape": [2, 3]},
        {"shape": [3, 2], "strides": [1, 3], "owner": 0},
        {"shape": [3], "owner": 0, "start": 3},
        {"shape": [2, 3]},
    )
    layout = cv.Layout.from_json(json_of).tie("w", "other")
    assert layout.ties == (("other", "w", "t", "row"),)
    v = layout.wrap(np.arange(6.0))
    assert v.t.tolist() == v.w.T.tolist()
    assert v.row.tolist() == v.w[1].tolist() == [3, 4, 5]


def test_an_alias_that_would_have_no_even_strides_is_refused():
    """A reshape of the alias cannot follow it into a transpose."""
    layout = cv.Layout.from_json(
        nodes(
            {"keys": ["w", "flat", "o", "t"]},
            {"shape": [3, 2]},
            {"shape": [6], "owner": 0},
            {"shape": [2, 3]},
            {"shape": [3, 2], "strides": [1, 3], "owner": 2},
        )
    )
    with pytest.raises(ValueError, match="cannot tie 'w' to 't': its alias of shape \\(6,\\)"):
        layout.tie("w", "t")


def test_complex_pairs_are_tied_as_pairs():
    """Aliases of complex leaves too."""
    layout = layout_of(x=1.0, z=[1j, 2j], y=[3j, 4j])
    tied = layout.tie("y", "z").tie("z", "z")
    assert tied.labels() == ["x", "z[0].re", "z[0].im", "z[1].re", "z[1].im"]
    v = tied.wrap(np.arange(5.0))
    v.y = [1j, 2.0]
    assert v.z.tolist() == [1j, 2.0]
    assert v.layout.tie("y", "z") is v.layout


def test_a_leaf_is_tied_to_itself_already():
    """Tying what is tied changes nothing."""
    layout = tied_model()
    assert layout.tie("dec.w", "enc.w") is layout
    assert layout.tie("enc.w", "dec.w") is layout
    assert layout.tie("enc.b", "enc.b") is layout


@pytest.mark.parametrize(
    ("alias", "owner", "error", "message"),
    [
        ("q", "a", KeyError, "no component 'q'"),
        ("a", "q", KeyError, "no component 'q'"),
        ("a", "c", ValueError, "cannot tie 'a' to 'c': .* got \\(2,\\) \\(real\\) and \\(3,\\)"),
        ("a", "z", ValueError, "got \\(2,\\) \\(real\\) and \\(2,\\) \\(complex\\)"),
        ("g", "a", ValueError, "'g' is a group; expected a leaf"),
        ("e", "f", ValueError, "an array of no entries has no memory"),
        ("t", "s", ValueError, "it shares memory with 's' already"),
        ("p", "b", ValueError, "it shares memory with 'c' already"),
    ],
)
def test_what_cannot_be_tied(alias, owner, error, message):
    """Unknown names, other shapes and kinds, groups, and leaves that share memory already."""
    c, s = np.ones(3), np.ones((2, 2))
    model = {"a": np.ones(2), "b": np.ones(2), "c": c, "p": c[:2], "s": s, "t": s.T}
    model |= {"z": np.ones(2) * 1j, "g": {"x": np.ones(1)}, "e": np.ones(0), "f": np.ones(0)}
    layout = cv.destructure(model)[0].layout
    with pytest.raises(error, match=message):
        layout.tie(alias, owner)


def test_what_shares_the_memory_of_an_alias_comes_along():
    """A tie of an alias moves its owner, whose other aliases follow."""
    layout = layout_of(a=1.0, b=1.0, c=1.0).tie("b", "a").tie("b", "c")
    assert (layout.ties, layout.size) == ((("c", "a", "b"),), 1)
    w = np.arange(6.0).reshape(2, 3)
    model = {"a": w, "at": w.T, "c": w.T.copy()}
    vector, restructure = cv.destructure(model, ties=[("at", "c")])
    assert vector.layout.ties == (("c", "a", "at"),)
    assert vector.tolist() == [0, 3, 1, 4, 2, 5]  # those of c, row by row
    again = restructure(vector)
    assert all(np.array_equal(again[name], model[name]) for name in model)


# -- groups with an alias that lies outside --------------------------------------------------------


def test_the_layout_of_a_group_with_an_outside_alias_is_no_array():
    """What needs all its entries in one place names the alias."""
    layout = tied_model()
    dec = layout["dec"]
    assert dec.paths() == ("b", "w")
    assert (dec.shape("w"), dec.size, dec.ties) == ((2, 3), 1, ())
    assert dec.mask("b").tolist() == dec.mask(("b",)).tolist() == [True]
    for use in (
        lambda: dec.wrap(np.zeros(1)),
        dec.zeros,
        dec.to_json,
        lambda: dec.pack({"w": np.zeros((2, 3)), "b": 1.0}),
        lambda: dec.slice(()),
        lambda: dec.mask("w"),
        lambda: dec.index("w"),
        lambda: dec.slice("w"),
        lambda: pickle.dumps(dec),
    ):
        with pytest.raises(ValueError, match="'w' is tied to memory outside this group"):
            use()
    with pytest.raises(ValueError, match="'dec.w' is tied to memory outside this group"):
        layout.slice("dec")
    assert sorted(layout.index("dec")) == np.flatnonzero(layout.mask("dec")).tolist()


def test_the_layout_of_a_group_with_an_inside_alias_is_whole():
    """Owner and alias in one group are no trouble."""
    tree = {"g": {"a": [1.0, 2.0], "b": [1.0, 2.0]}, "x": 1.0}
    layout = layout_of(tree).tie("g.b", "g.a")
    assert layout["g"].ties == (("a", "b"),)
    assert layout["g"] == layout_of(tree["g"]).tie("b", "a")
    assert layout["g"].zeros().size == 2


# -- size ------------------------------------------------------------------------------------------


def nest(depth, leaf=1.0):
    """A leaf within so many groups, dicts and lists in turn."""
    tree = leaf
    for level in range(depth):
        tree = {"g": tree} if level % 2 else [{"g": tree}]
    return {"root": tree}


def test_nesting_knows_no_limit():
    """Every member works at thousands of levels, where Python's own recursion ends at one."""
    v = cv.ComponentVector(nest(2000))
    layout = v.layout
    (path,) = layout.paths()
    assert layout.labels() == [path]
    assert layout.index(path).tolist() == [0]
    assert layout.mask("**.g").tolist() == [True]
    assert layout == layout_of(nest(2000)) != layout_of(nest(2001))
    assert hash(layout) == hash(layout_of(nest(2000)))
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert layout.pack(nest(2000, 3.0)).tolist() == [3.0]
    assert layout_of(nest(2000, [1.0])) != layout
    del v, layout


def test_ten_thousand_leaves_are_looked_up():
    """Each by its own path, and each entry by its label."""
    layout = layout_of({f"p{i}": {"w": [0.0, 1.0]} for i in range(10_000)})
    assert len(layout.paths()) == 10_000
    for i in range(0, 10_000, 997):
        assert layout.slice(f"p{i}.w") == slice(2 * i, 2 * i + 2)
        assert layout.index(f"p{i}.w[1]").tolist() == [2 * i + 1]
    assert layout.mask("*.w").all()


def test_odd_names_cost_no_more_than_others():
    """Looking for ambiguous names makes no suggestions for each of them."""
    layout = layout_of({f"block.{i}.weight": 1.0 for i in range(3000)} | {"a.b": 1.0, "c d": 2.0})
    assert layout.size == 3002


# -- JSON that is none -----------------------------------------------------------------------------

LEAF = {"shape": [2]}
ROOT = {"keys": ["a"]}


def test_what_to_json_writes_is_read():
    """The smallest layouts there are."""
    assert cv.Layout.from_json(nodes({"keys": []})) == layout_of()
    assert cv.Layout.from_json(nodes({"items": 0})) == layout_of([])
    assert cv.Layout.from_json(nodes(ROOT, LEAF)) == layout_of(a=[0.0, 0.0])


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "null", "3", "[]", "{}", '"x"', b"\xff\xfe", "[" * 100_000,
        '{"componentvec": 1, "dtype": "<f8", "nodes": ' + '{"a": ' * 100_000,
        nodes(),
        nodes(ROOT, LEAF, LEAF),
        nodes(ROOT),
        nodes(LEAF),
        nodes({"keys": []}, {"keys": ["a", "b"]}, LEAF),
        nodes({"keys": []}, LEAF),
        json.dumps({"componentvec": 1, "dtype": "<f8", "nodes": {"shape": [2]}}),
        nodes({"keys": ["a", "b"]}, {"shape": [2**58]}, {"shape": [2**58]}),
        nodes({"keys": ["a", "b"]}, LEAF),
        nodes({"keys": ["a", "a"]}, LEAF, LEAF),
        nodes({"keys": ["a.b", "a"]}, LEAF, {"keys": ["b"]}, LEAF),
        nodes({"keys": "a"}, LEAF),
        nodes({"keys": [1.5]}, LEAF),
        nodes({"keys": [None]}, LEAF),
        nodes({"keys": [True]}, LEAF),
        nodes({"keys": [["a"]]}, LEAF),
        nodes({"items": -1}),
        nodes({"items": 1.0}, LEAF),
        nodes({"items": True}, LEAF),
        nodes({"items": 10**9}),
        nodes({"items": 2}, {"items": 2}, {"items": 2}),
        nodes({"keys": ["a"], "items": 1}, LEAF),
        nodes(ROOT, {"shape": 2}),
        nodes(ROOT, {"shape": [-1]}),
        nodes(ROOT, {"shape": [2.0]}),
        nodes(ROOT, {"shape": [True]}),
        nodes(ROOT, {"shape": ["2"]}),
        nodes(ROOT, {"shape": [1] * 65}),
        nodes(ROOT, {"shape": [1] * 64, "pairs": True}),
        nodes(ROOT, {"shape": [10**30]}),
        nodes(ROOT, {"shape": [2**62]}),
        nodes(ROOT, {"shape": [2**40, 2**40]}),
        nodes(ROOT, {"shape": [2**40, 2**40, 0]}),
        nodes(ROOT, {"shape": [float("nan")]}),
        nodes(ROOT, {"shape": [float("inf")]}),
        nodes(ROOT, {"shape": [2], "more": 1}),
        nodes(ROOT, {"shape": [2], "strides": [2]}),
        nodes(ROOT, {"shape": [2], "strides": [0]}),
        nodes(ROOT, {"shape": [2], "strides": []}),
        nodes(ROOT, {"shape": [2], "strides": 1}),
        nodes(ROOT, {"shape": [2], "strides": [1.0]}),
        nodes(ROOT, {"shape": [2], "strides": [10**30]}),
        nodes(ROOT, {"shape": [2], "start": 1}),
        nodes(ROOT, {"shape": [0], "start": 1}),
        nodes(ROOT, {"shape": [2], "start": -1}),
        nodes(ROOT, {"shape": [2], "start": None}),
        nodes(ROOT, {"shape": [2], "owner": 0}),
        nodes(ROOT, {"shape": [2], "owner": 1}),
        nodes(ROOT, {"shape": [2], "owner": -1}),
        nodes(ROOT, {"shape": [2], "owner": None}),
        nodes(ROOT, {"shape": [2], "pairs": 1}),
        nodes(ROOT, {"shape": [2], "pairs": True}, dtype="<c16"),
        nodes(ROOT, {"shape": [2], "pairs": True}, dtype="<f2"),
        nodes(ROOT, {"shape": [2], "pairs": True}, dtype="<i8"),
        nodes(ROOT, None),
        nodes(ROOT, [2]),
        nodes(ROOT, {}),
        nodes(ROOT, LEAF, dtype="float64"),
        nodes(ROOT, LEAF, dtype="<f3"),
        nodes(ROOT, LEAF, dtype="O"),
        nodes(ROOT, LEAF, dtype="|O"),
        nodes(ROOT, LEAF, dtype="<U1"),
        nodes(ROOT, LEAF, dtype="<f8,<f8"),
        nodes(ROOT, LEAF, dtype=["<f8"]),
        nodes(ROOT, LEAF, dtype=None),
        nodes(ROOT, LEAF, dtype="a"),
        nodes(ROOT, LEAF, more=1),
        nodes(ROOT, LEAF, componentvec=2),
        nodes(ROOT, LEAF, componentvec=True),
        nodes(ROOT, LEAF)[:-1],
        nodes(ROOT, LEAF) + "x",
        nodes(ROOT, LEAF).replace('"nodes"', '"nodes": [], "nodes"'),
        nodes(ROOT, LEAF).replace('"shape"', '"shape": [3], "shape"'),
        nodes(ROOT, LEAF).replace("[2]", "[" + "9" * 5000 + "]"),
        nodes(ROOT, LEAF).replace("[2]", "[" * 900 + "]" * 900),
        json.dumps({"componentvec": 1, "nodes": [ROOT, LEAF]}),
    ],
)  # fmt: skip
def test_any_other_json_is_a_value_error(text):
    """Wrong types, sizes, names and nestings, all with a word on what is wrong."""
    with pytest.raises(ValueError, match=".{10}"):
        cv.Layout.from_json(text)


@pytest.mark.parametrize(
    "alias",
    [
        {"shape": [2, 2], "owner": 0, "start": 3},
        {"shape": [7], "owner": 0},
        {"shape": [2], "owner": 0, "start": 6},
        {"shape": [2], "owner": 0, "strides": [6]},
        {"shape": [2], "owner": 0, "strides": [-1]},
        {"shape": [2], "owner": 0, "strides": [0]},
        {"shape": [3, 3], "owner": 0, "strides": [1, 1]},
        {"shape": [2, 3], "owner": 0, "strides": [2, 1]},
        {"shape": [10**8, 10**9], "owner": 0, "strides": [0, 0]},
        {"shape": [0], "owner": 0},
        {"shape": [2], "owner": 1},
        {"shape": [2], "owner": 2},
        {"shape": [2], "owner": 7},
        {"shape": [1], "owner": 0, "pairs": True},
    ],
)
def test_an_alias_that_does_not_lie_in_its_owner_is_refused(alias):
    """Places outside, entries reached twice, and owners that are none."""
    with pytest.raises(ValueError, match="a tied leaf of shape"):
        cv.Layout.from_json(
            nodes({"keys": ["w", "x", "t"]}, {"shape": [2, 3]}, {"shape": [2], "owner": 0}, alias)
        )


@pytest.mark.parametrize(
    "alias", [{"start": 1}, {"strides": [1]}, {"strides": [3]}, {"start": 1, "strides": [-1]}]
)
def test_an_alias_that_parts_pairs_is_refused(alias):
    """A complex number is read from its own two entries."""
    with pytest.raises(ValueError, match="a tied leaf of shape"):
        cv.Layout.from_json(
            nodes(
                {"keys": ["z", "y"]},
                {"shape": [3], "pairs": True},
                {"shape": [2], "owner": 0, "pairs": True} | alias,
            )
        )


@pytest.mark.parametrize(
    "alias",
    [
        {"shape": [2, 2], "strides": [3, 2]},
        {"shape": [3, 2], "strides": [1, 3]},
        {"shape": [6], "strides": [-1], "start": 5},
        {"shape": [], "start": 5},
        {"shape": [2, 2], "strides": [2, 3]},
    ],
)
def test_an_alias_may_be_any_view_without_repeats(alias):
    """Strided, reversed, and interleaved ones too."""
    layout = cv.Layout.from_json(nodes({"keys": ["w", "t"]}, {"shape": [6]}, {"owner": 0} | alias))
    entries = layout.index("t").tolist()
    assert len(set(entries)) == len(entries)
    assert layout.wrap(np.arange(6.0)).t.ravel().tolist() == entries


def test_an_interleaved_alias_too_large_to_look_at_is_refused():
    """Whether it repeats entries would take too long to find out."""
    text = nodes(
        {"keys": ["w", "t"]},
        {"shape": [2**50]},
        {"shape": [2**24, 2], "strides": [2, 2**25 - 3], "owner": 0},
    )
    with pytest.raises(ValueError, match="reaches an entry twice"):
        cv.Layout.from_json(text)


def test_an_owner_may_keep_another_memory_order():
    """Its entries fill its place once, in any order of axes and any direction."""
    for strides, start in (([1, 2], 0), ([-1, 2], 1), ([-3, -1], 5)):
        layout = cv.Layout.from_json(
            nodes(ROOT, {"shape": [2, 3], "strides": strides, "start": start})
        )
        assert sorted(layout.index("a").tolist()) == list(range(6))
        assert layout.slice("a") == slice(0, 6)
        labels = layout.labels()
        v = layout.wrap(np.arange(6.0))
        assert v.a[1, 2] == labels.index("a[1,2]")
        assert cv.Layout.from_json(layout.to_json()) == layout


def test_what_is_no_text_is_a_type_error():
    """JSON is text or bytes."""
    with pytest.raises(TypeError):
        cv.Layout.from_json(3)


@given(tied(), st.data())
def test_damaged_json_is_a_value_error_or_another_layout(drawn, data):
    """Whatever is changed, no other exception comes out, and no place lies outside."""
    layout, _ = drawn
    text = layout.to_json()
    position = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from(list('0123456789-[]{},:"ae.')) | st.just(""))
    damaged = text[:position] + other + text[position + 1 :]
    try:
        again = cv.Layout.from_json(damaged)
    except ValueError:
        return
    if again.size < 10**6:
        v = again.zeros()
        for path in again.paths():
            v[path]


@example(["a", "a.b"])
@given(st.lists(keys, min_size=1, max_size=4))
def test_a_path_of_the_layout_is_found_as_text_and_as_tuple(names):
    """All spellings of one path lead to one place."""
    tree = 1.0
    for name in reversed(names):
        tree = {name: tree, **({"other": 2.0} if name != "other" else {})}
    layout = cv.layout(made(tree))
    path = tuple(names)
    text = format_path(path)
    assert layout.index(path).tolist() == layout.index(text).tolist()
    assert layout.shape(path) == layout.shape(text) == ()
    assert path in layout
    assert text in layout


@pytest.mark.parametrize("text", ["a", "c", "c.w", "layers", "layers[1]", "layers[1].w"])
def test_each_member_takes_a_path_as_text_or_as_tuple(text):
    """With one answer, for groups and for leaves."""
    layout = layout_of(a=1.0, c={"w": [2.0, 3.0]}, layers=[{"w": [4.0]}, {"w": [5.0, 6.0]}])
    path = parse_path(text)
    assert path in layout and text in layout
    assert layout.slice(path) == layout.slice(text)
    assert layout.index(path).tolist() == layout.index(text).tolist()
    assert layout.mask(path).tolist() == layout.mask(text).tolist()
    assert np.flatnonzero(layout.mask(path)).tolist() == layout.index(path).tolist()
    if path[-1] in ("a", "w"):
        assert layout.shape(path) == layout.shape(text)
    else:
        assert layout[path] == layout[text]
