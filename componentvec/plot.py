"""Pictures of matrices and of components over time; they need the ``plot`` extra (matplotlib)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .layouts import Layout
from .matrix import ComponentMatrix
from .paths import format_path

_MOST_NAMES = 40  # more names on one axis cannot be read
_MOST_CURVES = 12  # more entries in one legend neither


def plot_blocks(H: ComponentMatrix, *, ax: Any = None, **imshow_options: Any) -> Any:
    """Draw a matrix as a heat map with the names of its blocks on the axes.

    Parameters
    ----------
    H : ComponentMatrix
        A matrix of real numbers; sides without a layout are numbered.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default the axes of a new figure.
    **imshow_options
        Passed to ``ax.imshow``. By default colours are centred on zero.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        Without matplotlib.
    TypeError
        For anything but a ComponentMatrix of real numbers.
    ValueError
        For a matrix without entries.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(a=1.0, b=[2.0, 3.0])
    >>> ax = cv.plot_blocks(cv.outer(v, v))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a', 'b']
    """
    if not isinstance(H, ComponentMatrix):
        raise TypeError(f"expected a ComponentMatrix, got {type(H).__name__}")
    if H.dtype.kind == "c":
        raise TypeError("a heat map needs real numbers; draw H.real, H.imag or np.abs(H)")
    if not H.size:
        raise ValueError(f"a matrix of shape {H.shape} has no entries to draw")
    ax = _axes(ax)
    data = np.asarray(H, dtype=float)
    finite = data[np.isfinite(data)]
    most = float(np.abs(finite).max(initial=0)) or 1.0
    options: dict[str, Any] = {"cmap": "RdBu_r", "interpolation": "nearest", "aspect": "auto"}
    if "norm" not in imshow_options:
        options |= {"vmin": -most, "vmax": most}
    image = ax.imshow(data, **(options | imshow_options))
    _name_axis(ax.yaxis, ax.axhline, H.rows)
    _name_axis(ax.xaxis, ax.axvline, H.cols)
    ax.tick_params(axis="x", rotation=60 if H.cols is not None else 0)
    ax.figure.colorbar(image, ax=ax)
    return ax


def plot_components(t: Any, Y: ComponentMatrix, *, ax: Any = None, **plot_options: Any) -> Any:
    """Draw the rows of a matrix as curves over `t`, labelled by their names.

    Parameters
    ----------
    t : array_like, shape (n,)
        What the columns stand for, as times.
    Y : ComponentMatrix, shape (m, n)
        A matrix of real numbers with labelled rows, as ``sol.y`` of `componentvec.solve_ivp`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default the axes of a new figure.
    **plot_options
        Passed to ``ax.plot``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        Without matplotlib.
    TypeError
        For anything but a ComponentMatrix of real numbers with labelled rows.
    ValueError
        Where `t` has not one entry a column.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> rows = cv.ComponentVector(prey=1.0, predator=2.0).layout
    >>> ax = cv.plot_components([0.0, 1.0], cv.ComponentMatrix(np.eye(2), rows, None))
    >>> [line.get_label() for line in ax.lines]
    ['prey', 'predator']
    """
    if not isinstance(Y, ComponentMatrix) or Y.rows is None:
        raise TypeError(f"expected a ComponentMatrix with labelled rows, got {type(Y).__name__}")
    if Y.dtype.kind == "c":
        raise TypeError("curves need real numbers; draw Y.real, Y.imag or np.abs(Y)")
    times = np.asarray(t)
    if times.shape != Y.shape[1:]:
        raise ValueError(f"t has shape {times.shape}, expected {Y.shape[1:]}: one entry a column")
    ax = _axes(ax)
    for label, row in zip(Y.rows.labels(), np.asarray(Y), strict=True):
        ax.plot(times, row, **({"label": _as_text(label)} | plot_options))
    if 0 < Y.shape[0] <= _MOST_CURVES:
        ax.legend()
    ax.set_xlabel("t")
    return ax


def _axes(ax: Any) -> Any:
    """The axes to draw on, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib: pip install "componentvec[plot]"', name="matplotlib"
        ) from error
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _as_text(name: str) -> str:
    """A name as matplotlib shows it: no mathematics, and in the legend whatever it begins with."""
    text = name.replace("$", r"\$")
    return "\u200b" + text if text.startswith("_") else text


def _name_axis(axis: Any, draw_line: Any, layout: Layout | None) -> None:
    """Put names in the middle of their entries, and thin lines between them."""
    if layout is None:
        return
    spans = _spans(layout)
    axis.set_ticks(
        [(start + stop - 1) / 2 for _, start, stop in spans],
        labels=[_as_text(name) for name, _, _ in spans],
    )
    for _, start, _ in spans[1:]:
        draw_line(start - 0.5, color="0.5", linewidth=0.5)


def _spans(layout: Layout) -> list[tuple[str, int, int]]:
    """Names with first and last entries: of leaves, or of top-level components if they are many."""
    leaves = [
        (path, *leaf.extent(offset))
        for path, offset, leaf in layout._leaves
        if leaf.size and not leaf.alias
    ]
    if len(leaves) <= _MOST_NAMES:
        return [(format_path(path), start, stop) for path, start, stop in leaves]
    groups: dict[str, tuple[int, int]] = {}
    for path, start, stop in leaves:
        name = format_path(path[:1])
        groups[name] = groups.get(name, (start, stop))[0], stop
    spans = [(name, start, stop) for name, (start, stop) in groups.items()]
    step = -(-len(spans) // _MOST_NAMES)
    return spans[::step]
