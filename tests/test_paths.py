"""Path strings: written, taken apart, and refused."""

import enum

import numpy as np
import pytest
from hypothesis import given

from componentvec.paths import ANY, DEEP, check_key, format_path, parse_path, unknown
from strategies import paths

WRITTEN = [
    (("enc", "layers", 0, "w"), "enc.layers[0].w"),
    (("odd key", "w"), "['odd key'].w"),
    (("w", "odd key"), "w['odd key']"),
    ((3,), "[3]"),
    ((-1, "a"), "[-1].a"),
    (("",), "['']"),
    (("a.b",), "['a.b']"),
    (("it's",), '["it\'s"]'),
    (("3",), "['3']"),
    (("名前", "é"), "名前.é"),
    (("*", "**"), "['*']['**']"),
    (("class", "T"), "class.T"),
]


@pytest.mark.parametrize(("path", "text"), WRITTEN)
def test_a_path_is_written_with_dots_brackets_and_quotes(path, text):
    """Identifiers are joined by dots, positions bracketed, and all other keys quoted."""
    assert format_path(path) == text
    assert parse_path(text) == path


@given(paths)
def test_parsing_undoes_formatting(path):
    """Whatever the keys are, text and path are inverse to each other."""
    parsed = parse_path(format_path(path))
    assert parsed == path
    assert [type(key) for key in parsed] == [type(key) for key in path]


@given(paths, paths)
def test_two_paths_never_have_the_same_text(one, other):
    """A path string says which path it is."""
    assert (format_path(one) == format_path(other)) == (one == other)


def test_the_root_is_the_empty_text():
    """A path without keys has no text."""
    assert format_path(()) == ""


def test_either_quote_may_be_used():
    """Quoted keys are read as Python reads them."""
    assert parse_path("[\"odd key\"]['x']") == ("odd key", "x")


def test_wildcards_and_slices_are_parsed():
    """Patterns and slices are paths with other keys."""
    assert parse_path("*.w[*].**") == (ANY, "w", ANY, DEEP)
    assert parse_path("a[1:].b[:][::2][-1:0:-1]") == (
        "a",
        slice(1, None),
        "b",
        slice(None),
        slice(None, None, 2),
        slice(-1, 0, -1),
    )
    assert (repr(ANY), repr(DEEP)) == ("*", "**")


@pytest.mark.parametrize(
    "text",
    [
        "", ".", ".a", "a.", "a..b", "a b", " a", "a ", "a[", "a[]", "a]", "a[0", "a[b]", "a['b]",
        "a[0]b", "a.[0]", "3", "a.3", "a-b", "['a'", "['a'b]", "a.'b'", "a[1.5]", "a[1:2:3:4]",
        "***", "a*", "['\\N{no such}']",
    ],
)  # fmt: skip
def test_a_malformed_path_is_refused(text):
    """What is no path is a ValueError that shows how paths are written."""
    with pytest.raises(ValueError, match="malformed path"):
        parse_path(text)


@pytest.mark.parametrize("text", [f"a[{'9' * 5000}]", f"a[{'9' * 5000}:]"])
def test_a_position_of_thousands_of_digits_is_malformed(text):
    """Python reads only so many digits of an integer."""
    with pytest.raises(ValueError, match="malformed path .* too long"):
        parse_path(text)


@pytest.mark.parametrize("key", [None, 1.0, True, (1, 2), b"a"])
def test_other_keys_are_refused(key):
    """Keys are strings and integers."""
    with pytest.raises(TypeError, match="keys are strings or integers.*in 'a.b'"):
        check_key(key, ("a", "b"))


def test_keys_become_plain():
    """Subclasses of str and NumPy's integers are taken by their value."""

    class Name(str, enum.Enum):  # noqa: UP042
        A = "a"

    for key, plain in ((Name.A, "a"), (np.str_("b"), "b"), (np.int64(3), 3)):
        checked = check_key(key, ())
        assert (checked, type(checked)) == (plain, type(plain))


def test_an_unknown_name_comes_with_the_closest_one():
    """The message lists what there is, and guesses."""
    assert unknown("enc.wieght", ["enc.weight", "enc.bias"]) == (
        "no component 'enc.wieght'; did you mean 'enc.weight'? components: enc.weight, enc.bias"
    )
    assert unknown("q", ["a", "b"]) == "no component 'q'; components: a, b"
    assert unknown("q", []) == "no component 'q'; components: none"


def test_a_long_list_of_names_is_cut():
    """Thousands of names would hide the message."""
    text = unknown("n7x", [f"n{i}" for i in range(3000)])
    assert "did you mean 'n7'?" in text
    assert "(3000 in all)" in text
    assert len(text) < 300
