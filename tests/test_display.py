"""Looks: the text and HTML of layouts, vectors, lists and matrices."""

import json
import re
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import componentvec as cv
from componentvec.display import matrix_html, matrix_text
from componentvec.layouts import Layout
from componentvec.tables import array_text, number_text, shorten, table_html, table_text
from componentvec.tracing import tracing


def layout_of(*nodes, dtype="<f8"):
    """A layout from nodes as they stand in its JSON."""
    return Layout.from_json(json.dumps({"componentvec": 1, "dtype": dtype, "nodes": list(nodes)}))


def tied_layout(alias, owner=None):
    """A layout with an owner `enc.w` and an alias `dec.w`."""
    return layout_of(
        {"keys": ["enc", "dec"]},
        {"keys": ["w"]},
        owner or {"shape": [2, 3]},
        {"keys": ["w"]},
        alias,
    )


TRANSPOSED = {"shape": [3, 2], "strides": [1, 3], "owner": 0}

# -- layouts -------------------------------------------------------------------------------------


def test_layout_shows_path_shape_span_and_tie():
    """One line a leaf, columns aligned."""
    assert repr(tied_layout(TRANSPOSED)) == (
        "Layout: 6 entries, float64\nenc.w  (2, 3)  0:6\ndec.w  (3, 2)  = enc.w.T"
    )


def test_layout_aligns_columns_of_unequal_width():
    """Shapes and spans begin in the same column on every line."""
    layout = cv.ComponentVector(a=1.0, longer={"w": [[1.0, 2.0]]}).layout
    assert repr(layout).split("\n")[1:] == ["a         ()      0:1", "longer.w  (1, 2)  1:3"]


@pytest.mark.parametrize(
    ("alias", "shown"),
    [
        ({"shape": [2, 3], "owner": 0}, "= enc.w"),
        ({"shape": [6], "owner": 0}, "= enc.w.reshape(6,)"),
        ({"shape": [1, 2], "strides": [3, 1], "owner": 0, "start": 4}, "= enc.w[1:2, 1:3]"),
        ({"shape": [2], "strides": [4], "owner": 0}, "= part of enc.w"),
    ],
)
def test_layout_says_how_an_alias_reads_its_owner(alias, shown):
    """As Python would write it, where it would."""
    assert repr(tied_layout(alias)).endswith("  " + shown)


def test_layout_of_a_group_says_that_an_alias_lies_outside():
    """There is no name for its owner within the group."""
    layout = tied_layout(TRANSPOSED)["dec"]
    assert repr(layout) == "Layout: 0 entries, float64\nw  (3, 2)  tied to memory outside"


def test_layout_marks_complex_pairs_and_memory_order():
    """What a shape does not say of how a leaf is stored."""
    pairs = cv.ComponentVector(a=1.0, z=[1j, 2j]).layout
    assert repr(pairs).endswith("z  (2,)  1:5  (re, im)")
    fortran = layout_of({"keys": ["w"]}, {"shape": [2, 3], "strides": [1, 2]})
    assert repr(fortran).endswith("w  (2, 3)  0:6  strides (1, 2)")


def test_layout_counts_one_entry_and_none():
    """The first line is good English for any size."""
    assert repr(cv.ComponentVector(a=1.0).layout).startswith("Layout: 1 entry, float64\n")
    assert repr(cv.ComponentVector().layout) == "Layout: 0 entries, float64"


def test_long_layout_shows_its_two_ends():
    """Twenty lines are enough."""
    lines = repr(cv.ComponentVector({f"x{i}": float(i) for i in range(1000)}).layout).split("\n")
    assert len(lines) == 22
    assert lines[10:13] == ["x9    ()  9:10", "... (980 more)", "x990  ()  990:991"]


def test_long_paths_are_shortened_in_the_middle():
    """Both ends of a path say most."""
    tree = {"w": 1.0}
    for _ in range(500):
        tree = {"layer": tree}
    layout = cv.ComponentVector(tree).layout
    line = repr(layout).split("\n")[1]
    assert len(line) < 80
    assert line.startswith("layer.layer") and " ... " in line and ".w  ()  0:1" in line


def test_html_of_a_layout_shows_span_and_both_ends_of_a_tie():
    """The owner names its alias, the alias its owner."""
    page = tied_layout(TRANSPOSED)._repr_html_()
    assert cells(page) == [
        ["path", "shape", "span", "ties"],
        ["enc.w", "(2, 3)", "0:6", "dec.w"],
        ["dec.w", "(3, 2)", "", "= enc.w.T"],
    ]


def test_html_of_a_long_layout_is_short():
    """Forty rows and a gap."""
    layout = cv.ComponentVector({f"x{i}": float(i) for i in range(1000)}).layout
    rows = cells(layout._repr_html_())
    assert len(rows) == 42
    assert rows[21][0] == "... (960 more)"


def test_html_counts_many_aliases():
    """Three names, and how many there are."""
    nodes = [{"keys": list("abcdef")}, {"shape": [2]}, *[{"shape": [2], "owner": 0}] * 5]
    assert cells(layout_of(*nodes)._repr_html_())[1][3] == "b, c, d, ... (5 in all)"


# -- vectors -------------------------------------------------------------------------------------


def test_vector_is_one_line_that_python_can_read():
    """Names are arguments, groups dicts, sequences lists."""
    v = cv.ComponentVector(a=1, b=[2, 3], c={"w": [[4, 5]]}, layers=[{"w": 1}, {"w": 2}])
    assert repr(v) == (
        "ComponentVector(a=1.0, b=[2.0, 3.0], c={'w': [[4.0, 5.0]]}, "
        "layers=[{'w': 1.0}, {'w': 2.0}])"
    )


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        ({}, "ComponentVector()"),
        ([], "ComponentVector([])"),
        ({"odd key": 1.0, "b": 2.0}, "ComponentVector({'odd key': 1.0, 'b': 2.0})"),
        ({3: 1.0}, "ComponentVector({3: 1.0})"),
        ({"lambda": 1.0}, "ComponentVector({'lambda': 1.0})"),
        ({"dtype": 1.0}, "ComponentVector({'dtype': 1.0})"),
        ({"ﬁt": 1.0}, "ComponentVector({'ﬁt': 1.0})"),
        ([1.0, [2.0, 3.0]], "ComponentVector([1.0, [2.0, 3.0]])"),
        ({"a": []}, "ComponentVector(a=[])"),
        ({"a": np.zeros((0, 3))}, "ComponentVector(a=np.zeros((0, 3)))"),
        ({"a": [np.nan, np.inf, -np.inf]}, "ComponentVector(a=[nan, inf, -inf])"),
        ({"a": np.float32(0.1)}, "ComponentVector(a=0.1, dtype=float32)"),
        ({"z": 1 + 2j}, "ComponentVector(z=(1+2j), dtype=complex128)"),
        ({"z": 1 + 2j, "a": 0.5}, "ComponentVector(z=(1+2j), a=0.5)"),
        ({"z": complex(1, np.nan), "a": 0.5}, "ComponentVector(z=complex(1.0, nan), a=0.5)"),
        (
            {"a": [np.ones(1), np.ones(2)]},
            "ComponentVector(a=[np.array([1.0]), np.array([1.0, 1.0])])",
        ),
    ],
)
def test_line_of_unusual_vectors(tree, line):
    """Odd names, dtypes, empty arrays, and lists that must not be read as one array."""
    assert repr(cv.ComponentVector(tree)) == line


@pytest.mark.parametrize(
    ("dtype", "line"),
    [
        (int, "ComponentVector(a=1, b=[0, 1], dtype=int64)"),
        (bool, "ComponentVector(a=True, b=[False, True], dtype=bool)"),
        (">f4", "ComponentVector(a=1.0, b=[0.0, 1.0], dtype='>f4')"),
        ("f2", "ComponentVector(a=1.0, b=[0.0, 1.0], dtype=float16)"),
    ],
)
def test_line_shows_a_dtype_other_than_float64(dtype, line):
    """By name, and quoted where the bytes are swapped."""
    assert repr(cv.ComponentVector(a=1, b=[0, 1], dtype=dtype)) == line


def test_pairs_alone_show_their_dtype():
    """Without it the line would make a complex vector."""
    v = cv.ComponentVector(z=[1j], dtype=float)
    assert repr(v) == "ComponentVector(z=[1j], dtype=float64)"
    assert np.array_equal(read_back(v), v)


def read_back(v):
    """What Python makes of the line that shows a vector."""
    return eval(repr(v), {**vars(np), "np": np, "ComponentVector": cv.ComponentVector})


NUMBERS = st.floats(width=32) | st.integers(-99, 99) | st.complex_numbers(width=64)
ARRAYS = st.lists(NUMBERS, max_size=3) | st.sampled_from(
    [(0,), (0, 3), (2, 0), (), (1, 2), (2, 2)]
).map(np.ones)
KEYS = st.text(max_size=3) | st.integers(-9, 9)
TREES = st.recursive(
    NUMBERS | ARRAYS,
    lambda trees: st.dictionaries(KEYS, trees, max_size=3) | st.lists(trees, max_size=3),
    max_leaves=5,
)
ROOTS = st.dictionaries(KEYS, TREES, max_size=3) | st.lists(TREES, max_size=3)


def vector_of(tree, dtype=None):
    """A vector, unless the names are ambiguous or a list of numbers is ragged."""
    try:
        return cv.ComponentVector(tree, dtype=dtype)
    except (ValueError, TypeError):
        assume(False)


@given(ROOTS, st.sampled_from([None, "f4", "f8", "c16", ">f8"]))
def test_reading_the_line_back_gives_an_equal_vector(tree, dtype):
    """The line of a small vector is Python for that vector."""
    v = vector_of(tree, dtype)
    assume(len(repr(cv.asdict(v))) < 300)  # longer ones are abbreviated
    again = read_back(v)
    assert cv.layout(again) == cv.layout(v)
    assert cv.data(again).dtype == cv.data(v).dtype
    assert np.array_equal(cv.data(again), cv.data(v), equal_nan=True)


@given(ROOTS)
def test_any_vector_has_a_short_line_and_a_table(tree):
    """Whatever the names and shapes."""
    v = vector_of(tree)
    assert len(repr(v)) <= 400 and "\n" not in repr(v)
    assert len(cells(v._repr_html_())) == len(cv.layout(v).paths()) + 1
    assert len(repr(cv.layout(v)).split("\n")) == len(cv.layout(v).paths()) + 1


def test_long_arrays_are_abbreviated_like_numpy_s():
    """Three entries at each end."""
    assert repr(cv.ComponentVector(a=np.arange(100.0))) == (
        "ComponentVector(a=[0.0, 1.0, 2.0, ..., 97.0, 98.0, 99.0])"
    )
    v = cv.ComponentVector(a=np.arange(10**6).reshape(1000, 1000) / 3, b=1.0)
    assert repr(v) == (
        "ComponentVector(a=[[0.0, ..., 333.0], ..., [333000.0, ..., 333333.0]], b=1.0)"
    )


def nested(depth):
    """A tree of groups within groups."""
    tree = {"w": 1.0}
    for _ in range(depth):
        tree = {"a": tree, "b": [1.0, 2.0]}
    return tree


@pytest.mark.parametrize(
    "tree",
    [
        {"a": np.zeros(10**7)},
        {"a": np.zeros((2,) * 20), "z": np.full((3, 1000), 1 / 3 + 1j / 3)},
        {f"x{i}": i / 3 for i in range(10000)},
        [np.zeros(2) for _ in range(10000)],
        [{"w": np.zeros((50, 50))} for _ in range(10000)],
        {"sequence": [np.zeros(()) for _ in range(10000)]},
        {"group": {f"x{i}": i / 3 for i in range(10000)}},
        nested(500),
        {"x" * 10000: 1.0, "y y" * 10000: {"z" * 10000: 2.0}},
        {f"{i}" * 100: np.full((9, 9), i / 3) for i in range(100)},
    ],
    ids=range(10),
)
def test_large_vectors_have_short_lines_and_tables_at_once(tree):
    """A few hundred characters, and nothing formatted that is not shown."""
    v = cv.ComponentVector(tree)
    v.layout.paths()
    started = time.process_time()
    line, page, layout = repr(v), v._repr_html_(), repr(v.layout)
    assert time.process_time() - started < 1.0
    assert line.startswith("ComponentVector(") and line.endswith(")")
    assert len(line) <= 400 and "\n" not in line
    assert len(page) < 30000
    assert len(layout) < 5000


def test_line_that_cannot_be_short_counts_components():
    """Names and numbers that are too long for any abbreviation."""
    v = cv.ComponentVector(a=np.full((2,) * 9, np.pi), b=np.full((2,) * 9, np.pi))
    assert repr(v) == "ComponentVector(... 2 components)"


def test_alias_is_shown_as_what_it_is_tied_to():
    """It is no component of its own."""
    v = tied_layout(TRANSPOSED).wrap(np.arange(6.0))
    assert repr(v) == (
        "ComponentVector(enc={'w': [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]}, dec={'w': <enc.w.T>})"
    )
    assert [row[3] for row in cells(v._repr_html_())] == ["ties", "dec.w", "= enc.w.T"]


def test_group_with_an_alias_outside_is_shown_by_value():
    """It can be read by name, so it can be shown."""
    v = tied_layout(TRANSPOSED).wrap(np.arange(6.0))
    assert repr(v.dec) == "ComponentVector(w=[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]])"
    assert cells(v.dec._repr_html_())[1][2:] == [
        "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]",
        "tied to memory outside",
    ]


def test_names_of_attributes_do_not_get_in_the_way():
    """A component may be called as an attribute of arrays or of vectors is."""
    names = ["T", "shape", "dtype", "data", "layout", "_layout", "_root", "_offset", "__class__"]
    v = cv.ComponentVector({name: float(i) for i, name in enumerate(names)})
    assert repr(v).startswith("ComponentVector({'T': 0.0, 'shape': 1.0,")
    assert [row[0] for row in cells(v._repr_html_())][1:] == names


def test_read_only_buffers_and_memory_maps_are_shown(tmp_path):
    """Nothing is written or copied to show a vector."""
    layout = cv.ComponentVector(a=1.0, z=[1j, 2j], b=[[1.0, 2.0]]).layout
    buffer = np.arange(7.0)
    buffer.flags.writeable = False
    line = "ComponentVector(a=0.0, z=[(1+2j), (3+4j)], b=[[5.0, 6.0]])"
    assert repr(layout.wrap(buffer)) == line
    mapped = np.memmap(tmp_path / "x", float, "w+", shape=7)
    mapped[:] = buffer
    assert repr(layout.wrap(mapped)) == line


def test_list_shows_its_items():
    """In brackets, as the vector shows it."""
    v = cv.ComponentVector(layers=[{"w": [1.0, 2.0]}, {"w": [3.0, 4.0]}], p=[np.ones(1), {"a": 1}])
    assert repr(v.layers) == "ComponentList([{'w': [1.0, 2.0]}, {'w': [3.0, 4.0]}])"
    assert repr(v.layers[1:]) == "ComponentList([{'w': [3.0, 4.0]}])"
    assert "ComponentList: 2 items, float64" in v.layers._repr_html_()
    assert "ComponentList: 1 item, float64" in v.layers[1:]._repr_html_()
    assert cells(v.layers._repr_html_())[1:] == [
        ["[0].w", "(2,)", "[1.0, 2.0]", ""],
        ["[1].w", "(2,)", "[3.0, 4.0]", ""],
    ]
    assert [row[0] for row in cells(v.p._repr_html_())] == ["path", "[0]", "[1].a"]


def test_list_shows_an_alias_by_value():
    """Its owner may lie outside the list."""
    layout = cv.ComponentVector(layers=[{"w": [1.0]}, {"w": [2.0]}]).layout
    v = layout.tie("layers[1].w", "layers[0].w").wrap([5.0])
    assert repr(v.layers) == "ComponentList([{'w': [5.0]}, {'w': [5.0]}])"
    assert cells(v.layers._repr_html_())[2] == ["[1].w", "(1,)", "[5.0]", "tied"]


def test_traced_vectors_are_shown_by_value(monkeypatch):
    """Within a derivative, too, one may print."""

    class Box:
        def __init__(self, value):
            self.value = value

    def innermost(box):
        while isinstance(box, Box):
            box = box.value
        return box

    monkeypatch.setattr(tracing, "types", {Box})
    monkeypatch.setattr(tracing, "value", innermost, raising=False)
    v = cv.ComponentVector(a=1.0)
    assert cv.layouts.above.text(Box(Box(v))) == "ComponentVector(a=1.0)"


# -- HTML ----------------------------------------------------------------------------------------


def cells(page):
    """The cells of an HTML table, by row, without markup."""
    return [
        re.findall(r"<t[hd] [^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    ]


def test_html_of_a_vector_shows_path_shape_and_values():
    """Values are abbreviated."""
    v = cv.ComponentVector(a=1.0, c={"w": np.arange(2000.0).reshape(2, 1000)})
    page = v._repr_html_()
    assert "ComponentVector: 2001 entries, float64" in page
    assert cells(page) == [
        ["path", "shape", "values", "ties"],
        ["a", "()", "1.0", ""],
        ["c.w", "(2, 1000)", "[[0.0, ..., 999.0], [1000.0, ..., 1999.0]]", ""],
    ]


HOSTILE = "<script>alert('\"&')</script>"


def test_hostile_names_are_escaped_everywhere():
    """No name becomes markup."""
    v = cv.ComponentVector({HOSTILE: {HOSTILE: [1.0]}, "items": [{HOSTILE: 1.0}, {HOSTILE: 2.0}]})
    H = np.eye(3)
    pages = [v, v.layout, v["items"]]
    pages = [shown._repr_html_() for shown in pages] + [matrix_html(H, v.layout, v.layout)]
    for page in pages:
        assert "<script" not in page and "&lt;script&gt;" in page
        tags = set(re.findall(r"</?([a-z]+)", page))
        assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "br"}


@given(st.text(), st.text())
def test_no_text_becomes_markup(name, value):
    """Whatever stands in a table."""
    page = table_html([name], [[value]], name)
    inner = page.replace("<br>", "")
    assert inner.count("<") == len(
        re.findall(r"</?(?:table|caption|thead|tbody|tr|th|td)\b", inner)
    )


# -- matrices ------------------------------------------------------------------------------------

AXIS = cv.ComponentVector(a=1.0, b=[1.0, 2.0], c={"w": 3.0}).layout
LARGE = cv.ComponentVector(
    {"scalar": 1.0, "enc": {"w": np.zeros((9, 9))}, **{f"x{i}": np.zeros(2) for i in range(20)}}
).layout


def test_small_matrix_shows_entries_and_labels():
    """As a table."""
    text = matrix_text(np.arange(16.0).reshape(4, 4), AXIS, AXIS)
    assert text.split("\n") == [
        "ComponentMatrix: 4 x 4, float64",
        "         a  b[0]  b[1]   c.w",
        "a      0.0   1.0   2.0   3.0",
        "b[0]   4.0   5.0   6.0   7.0",
        "b[1]   8.0   9.0  10.0  11.0",
        "c.w   12.0  13.0  14.0  15.0",
    ]


def test_unlabelled_axis_of_a_small_matrix_has_numbers():
    """0-based, as all positions."""
    assert matrix_text(np.zeros((4, 2), int), AXIS, None).split("\n")[1:3] == [
        "      0  1",
        "a     0  0",
    ]


def test_large_matrix_names_the_components_of_its_axes():
    """Both ends of a long axis, with shapes."""
    assert matrix_text(np.zeros((LARGE.size, 4)), LARGE, AXIS) == (
        "ComponentMatrix: 122 x 4, float64\n"
        "rows: scalar, enc (81,), x0 (2,), x1 (2,), ..., x16 (2,), x17 (2,), x18 (2,), x19 (2,)\n"
        "columns: a, b (2,), c (1,)"
    )
    assert (
        matrix_text(np.zeros((122, 122)), LARGE, LARGE)
        .split("\n")[1]
        .startswith("rows, columns: scalar, enc (81,), ")
    )
    assert matrix_text(np.zeros((122, 9)), LARGE, None).endswith("\ncolumns: unlabelled")


def test_matrix_too_wide_for_a_table_names_its_components():
    """Even if it has few entries."""
    axis = cv.ComponentVector({"long name " + c * 30: 1.0 for c in "abcdefg"}).layout
    text = matrix_text(np.zeros((7, 7)), axis, axis)
    assert text.split("\n")[1].startswith("rows, columns: ")
    assert max(map(len, text.split("\n"))) <= 220


def test_empty_matrix_is_shown():
    """It has axes and no entries."""
    empty = cv.ComponentVector().layout
    assert matrix_text(np.zeros((0, 0)), empty, None) == (
        "ComponentMatrix: 0 x 0, float64\nrows: \ncolumns: unlabelled"
    )
    assert "0 x 0" in matrix_html(np.zeros((0, 0)), empty, empty)
    assert cells(matrix_html(np.zeros((0, 3)), cv.ComponentVector(a=[]).layout, None))[1] == [
        "a",
        "(0, 3)",
    ]


def test_block_table_shows_shape_and_range_of_each_block():
    """One row and one column a component."""
    H = np.arange(16.0).reshape(4, 4)
    H[1:3, 1:3] = 0.0
    H[3, 1] = np.nan
    assert cells(matrix_html(H, AXIS, AXIS)) == [
        ["", "a", "b", "c"],
        ["a", "()<br>0.0", "(2,)<br>1.0 to 2.0", "(1,)<br>3.0"],
        ["b", "(2,)<br>4.0 to 8.0", "(2, 2)<br>0.0", "(2, 1)<br>7.0 to 11.0"],
        ["c", "(1,)<br>12.0", "(1, 2)<br>nan to nan", "(1, 1)<br>15.0"],
    ]


def test_block_table_of_complex_matrices_shows_absolute_values():
    """Complex numbers have no range."""
    rows = cells(matrix_html(np.array([[3 + 4j, 0], [0, 1]]), None, None))
    assert rows == [["", "0:2"], ["0:2", "(2, 2)<br>abs 0.0 to 5.0"]]


def test_block_table_of_pairs_shows_a_trailing_axis():
    """A complex leaf stored as pairs has an axis (re, im)."""
    layout = cv.ComponentVector(a=1.0, z=[1j, 2j]).layout
    assert cells(matrix_html(np.zeros((5, 5)), layout, layout))[2] == [
        "z",
        "(2, 2)<br>0.0",
        "(2, 2, 2, 2)<br>0.0",
    ]


def test_block_table_leaves_out_aliases():
    """Their entries are their owner's."""
    layout = tied_layout(TRANSPOSED)
    assert cells(matrix_html(np.zeros((6, 6)), layout, layout))[0] == ["", "enc"]
    flat = layout_of({"keys": ["a", "b"]}, {"shape": [2]}, {"shape": [2], "owner": 0})
    assert cells(matrix_html(np.zeros((2, 2)), flat, None))[1:] == [["a", "(2, 2)<br>0.0"]]


def test_block_table_of_a_large_matrix_is_short():
    """Both ends of the axes; blocks that take long to look through show their shape alone."""
    H = np.broadcast_to(0.0, (122, 122))
    rows = cells(matrix_html(H, LARGE, LARGE))
    assert len(rows) == len(rows[0]) == 10
    assert rows[5] == ["..."] * 10
    huge = np.broadcast_to(0.0, (10**5, 10**5))
    assert cells(matrix_html(huge, None, None))[1] == ["0:100000", "(100000, 100000)"]


# -- tables and numbers --------------------------------------------------------------------------


def test_table_puts_numbers_to_the_right_and_text_to_the_left():
    """A column with any text is text; an empty cell is of either kind."""
    rows = [["a", "1.5", "x", ""], ["bc", "-10", "2", "nan"]]
    assert table_text(["label", "value", "m", "e"], rows) == (
        "label  value  m    e\na        1.5  x\nbc       -10  2  nan"
    )
    page = table_html(["label", "value"], [["a", "1.5"]])
    assert page.count("text-align:left") == 2 and page.count("text-align:right") == 2


def test_table_may_be_empty():
    """A header alone, or nothing."""
    assert table_text(["a", "b"], []) == "a  b"
    assert table_text([], []) == ""
    assert cells(table_html(["a", "b"], [])) == [["a", "b"]]


def test_long_text_loses_its_middle():
    """And is no longer than asked for."""
    assert shorten("abcdefghijkl", 12) == "abcdefghijkl"
    assert shorten("abcdefghijkl", 11) == "abc ... jkl"


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.float64(1.0), "1.0"),
        (np.float64(123456.0), "123456.0"),
        (np.float64(1 / 3), "0.333333"),
        (np.float64(-1e-300 / 3), "-3.33333e-301"),
        (np.float32(0.1), "0.1"),
        (np.complex128(1 / 3 + 2j / 3), "(0.3333+0.6667j)"),
        (np.complex128(1 + 2j), "(1+2j)"),
        (np.int64(-(2**63)), "-9223372036854775808"),
        (np.bool(True), "True"),
        (np.float64("nan"), "nan"),
    ],
)
def test_numbers_are_short(x, text):
    """Six digits, and no more than are needed."""
    assert number_text(x) == text


def test_numbers_wider_than_a_float_keep_their_range():
    """A long double is never shown as inf because it would not fit."""
    x = np.longdouble("1e400") if np.finfo(np.longdouble).max > 1e308 else np.longdouble(1)
    assert "inf" not in number_text(x)


def test_array_that_cannot_be_short_shows_its_ends():
    """First and last entry."""
    assert array_text(np.arange(1024.0).reshape((2,) * 10)) == "0.0, ..., 1023.0"
    assert array_text(np.array(2.0)) == "2.0"
