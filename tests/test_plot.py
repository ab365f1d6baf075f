"""Pictures: names on the axes and in the legend, and clear errors."""

import subprocess
import sys

import numpy as np
import pytest

import componentvec as cv

plt = pytest.importorskip("matplotlib.pyplot")
colors = pytest.importorskip("matplotlib.colors")


@pytest.fixture(autouse=True)
def _close():
    """No figure outlives its test."""
    yield
    plt.close("all")


@pytest.fixture
def v():
    """A scalar, a matrix and a group."""
    return cv.ComponentVector(a=1.0, w=[[1.0, -2.0], [3.0, 4.0]], group={"b": [5.0, 6.0]})


def names(axis):
    """The texts at the ticks of an axis."""
    return [text.get_text() for text in axis.get_ticklabels()]


def states(n=5):
    """Times, and the states of a small system over them."""
    t = np.linspace(0.0, 1.0, n)
    rows = cv.ComponentVector(prey=0.0, predators=[0.0, 0.0]).layout
    return t, cv.ComponentMatrix(np.arange(3.0)[:, None] + t, rows, None)


# -- plot_blocks ---------------------------------------------------------------------------------


def test_blocks_have_names_in_the_middle_of_their_entries(v):
    """One tick a leaf on both axes, and a thin line between blocks."""
    ax = cv.plot_blocks(cv.outer(v, v))
    assert names(ax.yaxis) == names(ax.xaxis) == ["a", "w", "group.b"]
    assert ax.get_yticks().tolist() == [0.0, 2.5, 5.5]
    lines = [line.get_ydata()[0] for line in ax.lines if line.get_xdata()[0] == 0]
    assert lines == [0.5, 4.5]


def test_the_picture_shows_the_data_with_zero_in_the_middle(v):
    """Colours are symmetric around zero, whatever the data."""
    H = cv.outer(v, v)
    (image,) = cv.plot_blocks(H).images
    assert np.array_equal(image.get_array(), np.asarray(H))
    assert image.get_clim() == (-36.0, 36.0)


def test_options_go_to_imshow(v):
    """What the caller says wins over the defaults."""
    (image,) = cv.plot_blocks(cv.outer(v, v), cmap="viridis", vmin=0.0).images
    assert image.get_cmap().name == "viridis" and image.get_clim() == (0.0, 36.0)
    norm = colors.SymLogNorm(1.0)
    (image,) = cv.plot_blocks(cv.outer(v, v), norm=norm).images
    assert image.norm is norm


def test_entries_that_are_not_finite_do_not_spoil_the_colours(v):
    """Infinite standard errors are common; the scale is that of the finite entries."""
    H = cv.outer(v, v)
    H["a", "a"] = np.inf
    H["w", "a"] = np.nan
    (image,) = cv.plot_blocks(H).images
    assert image.get_clim() == (-36.0, 36.0)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_matrix_without_a_scale_is_drawn_all_the_same(v, value):
    """All zeros, or nothing finite."""
    H = cv.ComponentMatrix(np.full((7, 7), value), v.layout, v.layout)
    (image,) = cv.plot_blocks(H).images
    assert image.get_clim() == (-1.0, 1.0)
    plt.gcf().canvas.draw()


def test_a_side_without_a_layout_is_numbered(v):
    """Its ticks are positions, and no line is drawn across it."""
    ax = cv.plot_blocks(cv.ComponentMatrix(np.ones((3, 7)), None, v.layout))
    assert names(ax.xaxis) == ["a", "w", "group.b"]
    assert all(set(name) <= set("0123456789.−-") for name in names(ax.yaxis))
    assert len(ax.lines) == 2


def test_aliases_and_arrays_without_entries_have_no_name():
    """A tied leaf stands at its owner, and an empty one nowhere."""
    w = np.ones((2, 3))
    v, _ = cv.destructure({"enc": w, "none": np.zeros(0), "dec": w.T, "b": np.ones(2)})
    assert names(cv.plot_blocks(cv.outer(v, v)).xaxis) == ["enc", "b"]


def test_many_leaves_are_named_by_their_groups():
    """More than forty names cannot be read: top-level names stand for all below them."""
    v = cv.ComponentVector({f"layer{i}": {f"w{j}": 1.0 for j in range(9)} for i in range(5)})
    ax = cv.plot_blocks(cv.outer(v, v))
    assert names(ax.yaxis) == [f"layer{i}" for i in range(5)]
    assert ax.get_yticks().tolist() == [4.0, 13.0, 22.0, 31.0, 40.0]


def test_aliases_do_not_widen_a_group():
    """What is tied elsewhere takes no room among many names either."""
    v = cv.ComponentVector({f"layer{i}": {f"w{j}": 1.0 for j in range(9)} for i in range(5)})
    tied = v.layout.tie("layer4.w8", "layer0.w0").zeros()
    ax = cv.plot_blocks(cv.outer(tied, tied))
    assert ax.get_yticks().tolist() == [4.0, 13.0, 22.0, 31.0, 39.5]


def test_many_groups_are_named_in_part():
    """Never more than forty names, at even steps."""
    v = cv.ComponentVector({f"c{i}": 1.0 for i in range(100)})
    shown = names(cv.plot_blocks(cv.outer(v, v)).yaxis)
    assert shown == [f"c{i}" for i in range(0, 100, 3)]


def test_names_are_shown_as_they_stand():
    """They are path strings: odd keys are quoted."""
    v = cv.ComponentVector({"odd key": 1.0, "price": {"in": 1.0}})
    ax = cv.plot_blocks(cv.outer(v, v))
    assert names(ax.yaxis) == ["['odd key']", "price.in"]


def test_blocks_are_drawn_on_given_axes(v):
    """A figure of the caller's own, and its axes returned."""
    figure, (left, right) = plt.subplots(1, 2)
    assert cv.plot_blocks(cv.outer(v, v), ax=right) is right
    assert right.images and not left.images
    figure.canvas.draw()


def test_blocks_of_anything_else_are_a_type_error(v):
    """A plain matrix has no blocks, and a complex one no heat."""
    with pytest.raises(TypeError, match="expected a ComponentMatrix, got ndarray"):
        cv.plot_blocks(np.eye(2))
    with pytest.raises(TypeError, match=r"needs real numbers; draw H\.real, H\.imag or np\.abs"):
        cv.plot_blocks(cv.outer(1j * v, v))


# -- plot_components -----------------------------------------------------------------------------


def test_each_row_is_a_curve_with_its_label():
    """Labels are those of the entries, and the legend shows them."""
    t, Y = states()
    ax = cv.plot_components(t, Y)
    assert [line.get_label() for line in ax.lines] == ["prey", "predators[0]", "predators[1]"]
    assert np.array_equal(ax.lines[1].get_ydata(), np.asarray(Y)[1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == Y.rows.labels()
    assert ax.get_xlabel() == "t"


def test_a_group_of_the_rows_is_drawn_alone():
    """A block by name is a matrix of its own."""
    t, Y = states()
    rows = cv.ComponentVector(lotka={"prey": 0.0, "predator": 0.0}, lorenz={"x": 0.0}).layout
    ax = cv.plot_components(t, cv.ComponentMatrix(np.asarray(Y), rows, None)["lotka"])
    assert [line.get_label() for line in ax.lines] == ["prey", "predator"]


def test_many_curves_have_no_legend():
    """More than a dozen names are no use."""
    t = np.linspace(0.0, 1.0, 4)
    rows = cv.ComponentVector(x=np.zeros(13)).layout
    ax = cv.plot_components(t, cv.ComponentMatrix(np.zeros((13, 4)), rows, None))
    assert len(ax.lines) == 13 and ax.get_legend() is None


def test_no_rows_give_no_curves():
    """An empty state is drawn as nothing, without a legend."""
    rows = cv.ComponentVector().layout
    ax = cv.plot_components([0.0, 1.0], cv.ComponentMatrix(np.zeros((0, 2)), rows, None))
    assert not ax.lines and ax.get_legend() is None


def test_options_go_to_plot():
    """A label of the caller's own, too, for all curves."""
    t, Y = states()
    ax = cv.plot_components(t, Y, linestyle="--", label="fit")
    assert {line.get_linestyle() for line in ax.lines} == {"--"}
    assert {line.get_label() for line in ax.lines} == {"fit"}


def test_curves_are_drawn_on_given_axes():
    """So that data and fit stand in one picture."""
    t, Y = states()
    _, ax = plt.subplots()
    ax.plot(t, t, "o")
    assert cv.plot_components(t, Y, ax=ax) is ax and len(ax.lines) == 4


def test_curves_of_anything_else_are_an_error():
    """Names on the rows are what this is for."""
    t, Y = states()
    with pytest.raises(TypeError, match="ComponentMatrix with labelled rows, got ndarray"):
        cv.plot_components(t, np.asarray(Y))
    with pytest.raises(TypeError, match="with labelled rows, got ComponentMatrix"):
        cv.plot_components(t, cv.ComponentMatrix(np.zeros((5, 3)), None, Y.rows))
    with pytest.raises(TypeError, match=r"curves need real numbers; draw Y\.real"):
        cv.plot_components(t, Y * 1j)


@pytest.mark.parametrize("t", [[0.0, 1.0], np.zeros((5, 1)), 3.0])
def test_times_have_one_entry_a_column(t):
    """The message has both shapes."""
    _, Y = states()
    with pytest.raises(ValueError, match=r"t has shape \(.*\), expected \(5,\): one entry a"):
        cv.plot_components(t, Y)


# -- without matplotlib --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["matplotlib", "matplotlib.pyplot"])
def test_without_matplotlib_one_error_says_what_to_install(monkeypatch, v, name):
    """The package works, and pictures say which extra they need."""
    monkeypatch.setitem(sys.modules, name, None)
    for module in [key for key in sys.modules if key.startswith(name + ".")]:
        monkeypatch.setitem(sys.modules, module, None)
    t, Y = states()
    for draw in (lambda: cv.plot_blocks(cv.outer(v, v)), lambda: cv.plot_components(t, Y)):
        with pytest.raises(ImportError, match=r'pip install "componentvec\[plot\]"') as caught:
            draw()
        assert caught.value.name == "matplotlib"


def test_matplotlib_is_not_imported_with_the_package():
    """Importing the package does not wait for matplotlib, nor start a backend."""
    code = "import sys, componentvec; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_matrix_without_entries_has_no_picture():
    """There is nothing to centre colours on."""
    empty = cv.ComponentVector().layout
    with pytest.raises(ValueError, match=r"shape \(0, 0\) has no entries"):
        cv.plot_blocks(cv.ComponentMatrix(np.zeros((0, 0)), empty, empty))


def test_names_are_text_and_no_mathematics():
    """A dollar sign is drawn as one, and a leading underscore does not hide a curve."""
    rows = cv.ComponentVector({"$\\frac$": 1.0, "_hidden": 2.0}).layout
    ax = cv.plot_components([0.0, 1.0], cv.ComponentMatrix(np.eye(2), rows, None))
    ax.figure.canvas.draw()
    shown = [text.get_text().strip("\u200b") for text in ax.get_legend().get_texts()]
    assert shown == ["['\\$\\\\frac\\$']", "_hidden"]
