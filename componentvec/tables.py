"""Tables of text and HTML, and short forms of numbers, arrays and long names.

Nothing here knows layouts. All of it is short for any size, and HTML is escaped for any name.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

#: no colours, so that pages both light and dark show through
_TABLE = "border-collapse:collapse;font-family:monospace;font-size:90%"
_CELL = "padding:2px 10px;vertical-align:top;white-space:nowrap;text-align:"
_RULE = "border-bottom:1px solid;"


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as aligned text, columns two spaces apart, those of numbers to the right.

    An empty header is left out.
    """
    lines = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [_is_numeric(column[bool(header) :]) for column in columns]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def table_html(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str | None = None
) -> str:
    """A table as HTML, everything escaped; line ends within a cell stay line ends."""
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    sides = ["right" if _is_numeric(column) else "left" for column in columns]
    parts = [f'<table style="{_TABLE}">']
    if caption is not None:
        parts.append(f'<caption style="{_CELL}left;caption-side:top">{_escape(caption)}</caption>')
    for tag, rule, lines in (("th", _RULE, [header]), ("td", "", rows)):
        parts.append("<thead>" if tag == "th" else "<tbody>")
        for line in lines:
            cells = (
                f'<{tag} style="{_CELL}{side};{rule}">{_escape(cell)}</{tag}>'
                for cell, side in zip(line, sides, strict=True)
            )
            parts.append(f"<tr>{''.join(cells)}</tr>")
        parts.append("</thead>" if tag == "th" else "</tbody>")
    return "\n".join([*parts, "</table>"])


def _escape(text: str) -> str:
    """Text as HTML."""
    return html.escape(text).replace("\n", "<br>")


def _is_numeric(column: Iterable[str]) -> bool:
    """Whether a column holds numbers, and nothing but them and empty cells."""
    given = [cell for cell in column if cell not in ("", "...")]
    return bool(given) and all(map(_is_number, given))


def _is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        complex(text)
    except ValueError:
        return text in ("True", "False")
    return True


def shorten(text: str, most: int) -> str:
    """The text with its middle left out where it is longer than `most`."""
    if len(text) <= most:
        return text
    kept = most - 5
    return text[: kept - kept // 2] + " ... " + text[len(text) - kept // 2 :]


def shown(count: int, most: int | None) -> list[int | None]:
    """The positions that are shown of `count`: all, or both ends with None for the gap."""
    if most is None or count <= most:
        return list(range(count))
    tail = most // 2
    return [*range(most - tail), None, *range(count - tail, count)]


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape, not too long."""
    return shorten(str(shape), 40)


def dtype_text(dtype: np.dtype) -> str:
    """A dtype as NumPy writes it: by name, or quoted where the bytes are swapped."""
    return dtype.name if dtype.isnative else repr(dtype.str)


def number_text(x: Any, digits: int | None = 6) -> str:
    """A NumPy scalar as text, with that many digits at most, or (None) all that tell it apart."""
    text = str(x)
    if x.dtype.kind == "c" and not np.isfinite(x):
        return f"complex({x.real!s}, {x.imag!s})"  # Python cannot read nanj
    if digits is None or x.dtype.kind not in "fc" or x.real.itemsize > 8:  # wider than any float
        return text
    if x.dtype.kind == "c":
        short = f"({x:.{digits - 2}g})"
        return short if len(short) < len(text) > 2 * digits else text
    return text if len(text) <= digits + 2 else f"{x:.{digits}g}"


def array_tokens(a: np.ndarray, most: int, edge: int, digits: int | None = 6) -> Iterator[str]:
    """An array as nested lists, in pieces; with over `most` entries, only both ends of each axis.

    These are `edge` entries long, or one where there are several axes.
    """
    if a.ndim > 0 and a.size == 0:
        yield "[]" if a.ndim == 1 else f"np.zeros({a.shape})"
    elif a.size > most:
        yield from _nested(a, 2 * edge if a.ndim == 1 else 2, digits or 6)
    else:
        yield from _nested(a, None, digits)


def _nested(a: np.ndarray, most: int | None, digits: int | None) -> Iterator[str]:
    """One axis of an array after another; there are 64 at most."""
    if a.ndim == 0:
        yield number_text(a[()], digits)
        return
    yield "["
    for i in shown(len(a), most):
        if i is None:
            yield ", ..."
        else:
            yield ", " if i else ""
            yield from _nested(a[i, ...], most, digits)
    yield "]"


def joined(tokens: Iterable[str], limit: int) -> str | None:
    """The pieces joined, or None as soon as they are longer than `limit`."""
    parts, length = [], 0
    for token in tokens:
        length += len(token)
        if length > limit:
            return None
        parts.append(token)
    return "".join(parts)


def array_text(a: np.ndarray, limit: int = 80) -> str:
    """An array as one short text."""
    for edge in (3, 1):
        text = joined(array_tokens(a, 2 * edge, edge), limit)
        if text is not None:
            return text
    return f"{number_text(a[(0,) * a.ndim])}, ..., {number_text(a[(-1,) * a.ndim])}"
