"""What a fit says: a table of labels, values and standard errors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .conveniences import data, is_vector, layout
from .layouts import Layout
from .matrix import ComponentMatrix
from .paths import format_path
from .tables import shorten, shown, table_html, table_text
from .unknowns import layout_of_pairs

_MOST_ROWS = 60  # that the text shows; HTML shows twice as many
_LONGEST_LABEL = 60
_HEADER = ("parameter", "value", "standard error", "")


class Row(NamedTuple):
    """One entry of what was fitted; `stderr` is None where it is not known."""

    label: str
    value: float
    stderr: float | None
    marks: tuple[str, ...]


class Summary:
    """A table of what was fitted, as `summary` makes it; ``rows`` has it as data."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def __str__(self) -> str:
        return table_text(_HEADER, self._cells(_MOST_ROWS)) + self._footnote

    __repr__ = __str__

    def _repr_html_(self) -> str:
        note = self._footnote.strip()
        return table_html(_HEADER, self._cells(2 * _MOST_ROWS)) + (f"<p>{note}</p>" if note else "")

    @property
    def _footnote(self) -> str:
        """A last line where no error is known."""
        free = [row for row in self.rows if "fixed" not in row.marks]
        unknown = free and all(row.stderr is None for row in free)
        return "\nno standard errors: pass cov=, see cv.covariance" if unknown else ""

    def _cells(self, most: int) -> list[list[str]]:
        """The table as text, without its middle where it is long."""
        cells = []
        for position in shown(len(self.rows), most):
            if position is None:
                left_out = len(self.rows) - most
                cells.append([f"... ({left_out} more)", "...", "...", ""])
                continue
            label, value, stderr, marks = self.rows[position]
            cells.append(
                [shorten(label, _LONGEST_LABEL), *_digits(value, stderr), "; ".join(marks)]
            )
        return cells


def _digits(value: float, stderr: float | None) -> tuple[str, str]:
    """A value to the precision of its error, which has two digits; without one, six digits."""
    if stderr is None:
        return f"{value:.6g}", ""
    if not 0 < stderr < math.inf or not math.isfinite(value):
        return f"{value:.6g}", f"{stderr:.2g}"
    last = math.floor(math.log10(float(f"{stderr:.1e}"))) - 1  # the place of the second digit
    size = math.floor(math.log10(abs(value))) if value else last
    if -8 <= last <= 2 and size < 9:
        places = max(-last, 0)
        return f"{value:z.{places}f}", f"{stderr:.{places}f}"
    return f"{value:.{min(max(size - last, 0), 16)}e}", f"{stderr:.1e}"


def summary(res: Any, cov: Any = None) -> Summary:
    """A table of the result of a solver: label, value, standard error and marks.

    Parameters
    ----------
    res
        What `minimize`, `least_squares` or `root` returned.
    cov
        Covariance of all entries, as `covariance` gives it. By default the standard errors are
        those of the result, where it has any.

    Returns
    -------
    Summary
        Its `str` is the table as text, and notebooks show it as HTML; long ones lack their middle.
        Marked are entries that are fixed, at a bound, and tied to other names. A complex number
        has two rows (re, im).

    Raises
    ------
    TypeError
        `res` is no result of a solver.
    ValueError
        `cov` has another layout or size than the result.

    Examples
    --------
    >>> import componentvec as cv
    >>> start = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    >>> def loss(v):
    ...     return 2 * (v.a - 3) ** 2 + (v.b**2).sum()
    >>> res = cv.minimize(loss, start, bounds={"b": (1, None)}, fixed=[False, False, True])
    >>> print(cv.summary(res, cv.covariance(loss, res.x, fixed=res.fixed)))
    parameter  value  standard error
    a           3.00            0.50
    b[0]        1.00            0.71  at a bound (low)
    b[1]           3                  fixed
    """
    x = res.get("x") if isinstance(res, dict) else None
    if x is None:
        raise TypeError(f"expected the result of a solver, got {type(res).__name__}")
    own = layout_of_pairs(layout(x)) if is_vector(x) else None
    values = np.ravel(data(x) if is_vector(x) else x)
    paired = values.dtype.kind == "c"
    values = np.ascontiguousarray(values).view(float) if paired else values
    if own is not None:
        labels = own.labels()
    else:
        parts = (".re", ".im") if paired else ("",)
        labels = [f"x[{i}]{part}" for i in range(values.size // len(parts)) for part in parts]
    errors = _standard_errors(res, cov, own, values.size)
    fixed = np.asarray(res.get("fixed", np.zeros(values.size, dtype=bool)))
    active = np.asarray(res.get("active_mask", np.zeros(values.size, dtype=int)))
    tied = _ties(own)
    rows = []
    for i, label in enumerate(labels):
        marks = ["fixed"] if fixed[i] else []
        if active[i]:
            marks.append(f"at a bound ({'low' if active[i] < 0 else 'high'})")
        if i in tied:
            marks.append(f"tied to {tied[i]}")
        error = None if errors is None or fixed[i] else float(errors[i])
        rows.append(Row(label, float(values[i]), error, tuple(marks)))
    return Summary(rows)


def _standard_errors(res: Any, cov: Any, own: Layout | None, size: int) -> np.ndarray | None:
    """Standard errors of all real entries, from a covariance or from the result; None: unknown."""
    if cov is None:
        errors = res.get("stderr")
        return None if errors is None else np.asarray(errors)
    if isinstance(cov, ComponentMatrix) and cov.rows is not None and own is not None:
        own._require_equal(cov.rows, "a plain array")
    matrix = np.asarray(cov)
    if matrix.shape != (size, size):
        raise ValueError(f"cov must have the shape {(size, size)}, got {matrix.shape}")
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.diag(matrix))


def _ties(own: Layout | None) -> dict[int, str]:
    """For each entry that is shared, the names that share it with its label."""
    names: dict[int, list[str]] = {}
    if own is not None and own._tied:
        for path, offset, leaf in own._leaves:
            if leaf.alias:
                for entry in leaf.entries(offset).reshape(-1).tolist():
                    names.setdefault(entry, []).append(format_path(path))
    return {entry: ", ".join(dict.fromkeys(found)) for entry, found in names.items()}
