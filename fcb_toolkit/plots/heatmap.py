"""Pass rates of models by category as a heat map with the numbers in it."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure
from fcb_toolkit.plots.rates import names, rates, side, with_overall
from fcb_toolkit.plots.rows import height_of, name_lines, places, widest
from fcb_toolkit.plots.text import LINE, fit, labels, lines

CELL = 0.42
"""Least inches of a cell: three digits in 6.5 points with room."""
MAP = "cividis"
"""Even in lightness, so that it reads the same in grey and for the colour-blind."""


@figure
def heatmap(
    frame: pd.DataFrame, *, by: str = "category", over: str | None = None, width: str | float = "acl*"
) -> tuple[StyledFigure, pd.DataFrame]:
    """Pass rates in percent: a row for each `over`, a column for each `by`, a dash where nothing was scored.

    `frame` is what `fcb.to_frame` gives, or a table of `fcb.summarize(runs, by=[over, by])`. Columns
    that do not fit side by side go into a second block below.
    """
    over = side(frame, over)
    rows = with_overall(frame, rates(frame, [over, by], "heatmap"), by, over)
    columns, models = names(rows, by), names(rows, over)
    total = inches(width)
    label = labels(models, min(0.4 * total, 1.9))
    margin = widest(list(label.values())) + 0.15
    fits = max(1, int((total - margin) / CELL))
    down = -(-len(columns) // fits)
    each = -(-len(columns) // down)
    heads = {name: fit(name, (total - margin) / each - 0.06, 6.5) for name in columns}
    head = max(lines(text) for text in heads.values()) * LINE + 0.12
    fig = new_figure(total, down * (height_of(list(label.values())) + head) + 0.1)
    grid = rows.pivot(index=over, columns=by, values="rate").reindex(index=models, columns=columns)
    for index, axes in enumerate(np.ravel(fig.subplots(down, 1, squeeze=False))):
        block = columns[index * each : (index + 1) * each]
        _block(axes, 100 * grid[block].to_numpy(float), list(label.values()), [heads[name] for name in block])
        axes.set_xlim(0, each)
    return fig, rows


def _block(axes: Axes, values: np.ndarray, ticks: list[str], heads: list[str]) -> None:
    middles = name_lines(axes, ticks)
    edges = [0.0]
    for middle in middles:
        edges.append(2 * middle - edges[-1])
    color = mpl.colormaps[MAP]
    axes.pcolormesh(
        np.arange(len(heads) + 1), edges, values, cmap=color, vmin=0, vmax=100, edgecolors="white", lw=0.8
    )
    for row, y in enumerate(places(ticks)):
        for column in range(len(heads)):
            value = values[row, column]
            known = not np.isnan(value)
            shade = "white" if known and _lightness(color(value / 100)) < 0.18 else "black"
            text = f"{value:.0f}" if known else "\u2013"
            axes.text(column + 0.5, y, text, ha="center", va="center", size=6.5, color=shade)
    axes.set_xticks(np.arange(len(heads)) + 0.5, heads, size=6.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def _lightness(color: tuple[float, float, float, float]) -> float:
    """Relative luminance (WCAG 2): at 0.18 white and black text have the same contrast."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
