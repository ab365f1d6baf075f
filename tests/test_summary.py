"""`summary`: a table of what was fitted."""

import re

import autograd.numpy as np
import pytest
import scipy.optimize

import componentvec as cv

T = np.linspace(0, 4, 9)
Y = 3 * np.exp(-0.7 * T) + np.array([1, -2, 3, 1, -1, 2, -3, 0, 1]) / 50


def start():
    """Two parameters in a group, one beside."""
    return cv.ComponentVector(peak={"height": 2.0, "rate": [1.0]}, level=0.0)


def residuals(v):
    """A decay over a level."""
    return v.peak.height * np.exp(-v.peak.rate[0] * T) + v.level - Y


def loss(v):
    """Half the sum of squares."""
    return 0.5 * np.sum(residuals(v) ** 2)


def test_table_has_label_value_and_standard_error():
    """A line each, in order, after a header."""
    res = cv.least_squares(residuals, start())
    table = cv.summary(res)
    lines = str(table).split("\n")
    assert lines[0].split() == ["parameter", "value", "standard", "error"]
    assert [line.split()[0] for line in lines[1:]] == ["peak.height", "peak.rate[0]", "level"]
    for line, value, error in zip(lines[1:], res.x, res.stderr):
        cells = line.split()
        assert float(cells[1]) == pytest.approx(value, abs=error / 10)
        assert float(cells[2]) == pytest.approx(error, rel=0.05)
    assert repr(table) == str(table)


def test_fixed_entries_are_marked_and_have_no_error():
    """They were not estimated."""
    lines = str(cv.summary(cv.least_squares(residuals, start(), fixed="level"))).split("\n")
    assert lines[3].split() == ["level", "0", "fixed"]
    assert "fixed" not in lines[1]


def test_entries_at_a_bound_are_marked():
    """With the side; in results of `least_squares` and of `minimize`."""
    bounds = {"level": (-1, 0.0), "peak.height": (0.5, 2.5)}
    for res in (
        cv.least_squares(residuals, start(), bounds=bounds),
        cv.minimize(loss, start(), bounds=bounds),
    ):
        lines = str(cv.summary(res)).split("\n")
        assert lines[1].endswith("at a bound (high)")
        assert "bound" not in lines[2]
    res = cv.minimize(loss, start(), bounds={"level": (0.0, 1.0)})
    assert ("at a bound (low)" in str(cv.summary(res))) == (res.x.level == 0)
    v = start()
    v.level = 0.7
    lines = str(cv.summary(cv.minimize(loss, v, bounds={"level": (0.5, 1.0)}))).split("\n")
    assert [line.endswith("at a bound (low)") for line in lines[1:4]] == [False, False, True]


def test_tied_entries_are_marked_with_the_other_names():
    """Those that share their memory."""
    w = np.array([[1.0, 2.0]])
    model = {"enc": w, "dec": w.T, "free": np.zeros(1)}
    res = cv.minimize(lambda m: np.sum((m["enc"] - 3) ** 2) + np.sum(m["free"] ** 2), model)
    lines = str(cv.summary(res)).split("\n")
    assert lines[1].split()[0] == "enc[0,0]" and lines[1].endswith("tied to dec")
    assert not lines[3].endswith("tied to dec")


def test_several_marks_stand_side_by_side():
    """Tied and fixed."""
    w = np.array([1.0])
    res = cv.minimize(lambda m: np.sum(m["a"] ** 2), {"a": w, "b": w}, fixed="b")
    assert str(cv.summary(res)).endswith("fixed; tied to b")


def test_standard_errors_may_come_from_a_covariance():
    """That of `covariance`, or an array."""
    res = cv.minimize(loss, start(), tol=1e-9)
    assert [row.stderr for row in cv.summary(res).rows] == [None] * 3
    cov = cv.covariance(loss, res.x)
    for given in (cov, np.asarray(cov)):
        table = cv.summary(res, given)
        errors = [row.stderr for row in table.rows]
        assert errors == pytest.approx(np.sqrt(np.diag(np.asarray(cov))))
        assert f"{errors[0]:.2g}" in str(table)


@pytest.mark.parametrize(
    "value, error, shown",
    [
        (3.14159265, 0.0271, ("3.142", "0.027")),
        (3.14159265, 0.0996, ("3.14", "0.10")),
        (123456.789, 12.3, ("123457", "12")),
        (-0.001, 1.234, ("0.0", "1.2")),
        (52280572.0, 3755507.0, ("5.23e+07", "3.8e+06")),
        (2e-12, 3.21e-14, ("2.000e-12", "3.2e-14")),
        (0.0, 1e-12, ("0e+00", "1.0e-12")),
        (3.14159265, 0.0, ("3.14159", "0")),
        (3.14159265, np.inf, ("3.14159", "inf")),
        (3.14159265, None, ("3.14159",)),
    ],
)
def test_values_have_the_digits_that_their_errors_leave(value, error, shown):
    """Two of the error; six where none is known."""
    x = cv.ComponentVector(a=value)
    cov = None if error is None else np.array([[error**2]])
    table = str(cv.summary(scipy.optimize.OptimizeResult(x=x), cov))
    assert tuple(table.split("\n")[1].split()[1:]) == shown


def test_a_footnote_says_where_errors_come_from():
    """Where nothing that is free has one."""
    note = "no standard errors: pass cov=, see cv.covariance"
    for fixed in (None, "level"):
        res = cv.minimize(loss, start(), fixed=fixed)
        assert str(cv.summary(res)).endswith("\n" + note)
        assert cv.summary(res)._repr_html_().endswith(f"<p>{note}</p>")
        assert note not in str(cv.summary(res, cv.covariance(loss, res.x, fixed=fixed)))
    assert note not in str(cv.summary(cv.least_squares(residuals, start())))


def test_unknown_and_infinite_errors_are_shown_as_such():
    """Empty, and inf."""
    assert len(str(cv.summary(cv.minimize(loss, start()))).split("\n")[1].split()) == 2
    res = cv.least_squares(lambda v: residuals(v)[:2], start())
    assert str(cv.summary(res)).count("inf") == 3


def test_rows_are_data_too():
    """Labels, numbers and marks."""
    rows = cv.summary(cv.least_squares(residuals, start(), fixed="level")).rows
    assert rows[0].label == "peak.height" and type(rows[0].value) is type(rows[0].stderr) is float
    assert rows[2].marks == ("fixed",) and rows[2].stderr is None


def test_html_is_a_table_of_the_same_and_escaped():
    """For notebooks; names may hold anything."""
    res = cv.minimize(lambda v: v["<b>"] ** 2, cv.ComponentVector({"<b>": 1.0}), fixed=[True])
    page = cv.summary(res)._repr_html_()
    assert page.startswith("<table") and page.endswith("</table>")
    assert "<b>" not in page and "&lt;b&gt;" in page
    assert "fixed" in page and "standard error" in page


def test_long_tables_lack_their_middle():
    """Both ends stay, and the number of those left out is told."""
    v = cv.ComponentVector(w=np.zeros(1000))
    res = cv.minimize(lambda v: np.sum(v.w**2), v, method="L-BFGS-B")
    lines = str(cv.summary(res)).split("\n")
    assert len(lines) == 63
    assert lines[1].startswith("w[0] ") and lines[-2].startswith("w[999]")
    assert re.match(r"\.\.\. \(940 more\)", lines[31])
    assert cv.summary(res)._repr_html_().count("<tr>") == 122
    assert len(cv.summary(res).rows) == 1000


def test_complex_numbers_have_two_rows():
    """With standard errors of both parts."""
    signal = (1.5 + 0.5j) * np.exp(1j * T) + 0.01 * np.cos(7 * T)
    res = cv.least_squares(lambda v: v.c * np.exp(1j * T) - signal, cv.ComponentVector(c=1 + 0j))
    rows = cv.summary(res).rows
    assert [row.label for row in rows] == ["c.re", "c.im"]
    assert [row.value for row in rows] == pytest.approx([1.5, 0.5], abs=0.01)
    assert rows[0].stderr == pytest.approx(res.stderr.c.real)
    plain = cv.minimize(lambda z: np.abs(z[0] - 1j) ** 2, np.array([1 + 1j]))
    assert [row.label for row in cv.summary(plain).rows] == ["x[0].re", "x[0].im"]


def test_results_of_scipy_itself_and_of_root_have_tables():
    """Plain ones have positions for labels."""
    res = scipy.optimize.minimize(lambda x: np.sum(x**2), [1.0, 2.0])
    assert [row.label for row in cv.summary(res).rows] == ["x[0]", "x[1]"]
    res = cv.root(lambda v: v.a - 1, cv.ComponentVector(a=0.0))
    assert cv.summary(res).rows[0][:2] == ("a", 1.0)
    assert str(cv.summary(cv.minimize(lambda v: 1.0, cv.ComponentVector()))).startswith("parameter")


def test_bad_input_says_what_is_expected():
    """What is no result, and covariances of something else."""
    with pytest.raises(TypeError, match="expected the result of a solver, got ComponentVector"):
        cv.summary(start())
    with pytest.raises(TypeError, match="expected the result of a solver, got dict"):
        cv.summary({"a": 1})
    res = cv.minimize(loss, start())
    with pytest.raises(ValueError, match=r"cov must have the shape \(3, 3\), got \(2, 2\)"):
        cv.summary(res, np.eye(2))
    other = cv.ComponentVector(a=np.zeros(3)).layout
    with pytest.raises(ValueError, match="layouts differ"):
        cv.summary(res, cv.ComponentMatrix(np.eye(3), other, other))
