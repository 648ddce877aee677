"""What more tools, and tools that look alike, do to the pass rate: one panel a model."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fcb_toolkit.errors import DataError
from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure
from fcb_toolkit.plots.rates import names, rates, side
from fcb_toolkit.plots.text import LINE, fit, lines

PANEL = 1.25
CONDITION = re.compile(r"((?:1_)?exact)|(\d+)_(random|close)")
KINDS = {"random": ("#0072B2", "o", "-"), "close": ("#D55E00", "s", "--")}


@figure
def tool_lists(
    frame: pd.DataFrame, *, over: str | None = None, width: str | float = "acl*"
) -> tuple[StyledFigure, pd.DataFrame]:
    """Pass rate with interval against the number of tools offered, for random and for close distractors.

    `frame` holds single-call rows with `condition` exact, 4_random, 4_close, 8_random, 8_close (or any
    `<number>_random|close`), or is a table of `fcb.summarize(runs, by=[over, "condition"])`.
    """
    over = side(frame, over)
    rows = rates(frame, [over, "condition"], "tool_lists")
    rows = rows.assign(
        tools=rows["condition"].map(lambda name: _read(name)[0]),
        kind=rows["condition"].map(lambda n: _read(n)[1]),
    )
    total, models = inches(width), names(rows, over)
    across = max(1, min(len(models), int(total / PANEL)))
    down = -(-len(models) // across)
    across = -(-len(models) // down)
    titles = {name: fit(name, (total - 0.45) / across - 0.12, 6.5) for name in models}
    head = max(lines(text) for text in titles.values()) * LINE
    fig = new_figure(total, down * (1.0 + head) + 0.45)
    grid = fig.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, name in zip(grid.flat, models, strict=False):
        axes.set_title(titles[name], loc="left", size=6.5)
        _panel(axes, rows[rows[over] == name])
    for axes in grid.flat[len(models) :]:
        axes.set_axis_off()
    for axes in grid.flat[max(0, len(models) - across) : len(models)]:
        axes.tick_params(labelbottom=True)
    sizes = sorted(rows["tools"].unique())
    grid[0, 0].set_xticks(range(len(sizes)), [str(size) for size in sizes])
    grid[0, 0].set_xlim(-0.35, len(sizes) - 0.65)
    grid[0, 0].set_ylim(0, 100)
    fig.supylabel("pass rate, %", fontsize=7.5)
    fig.supxlabel("tools offered", fontsize=7.5)
    handles, texts = grid[0, 0].get_legend_handles_labels()
    fig.legend(handles, [f"{text} distractors" for text in texts], loc="outside upper center", ncols=2)
    return fig, rows


def _read(condition: str) -> tuple[int, str]:
    found = CONDITION.fullmatch(condition)
    if found is None:
        raise DataError(
            f"plots.tool_lists: condition {condition!r}, expected exact or <number>_random or <number>_close; "
            "give single-call rows only"
        )
    return (int(found[2]), found[3]) if found[2] else (1, "exact")


def _panel(axes: Axes, part: pd.DataFrame) -> None:
    """Two lines that start at the same point, the list with the right tool alone."""
    sizes = {size: place for place, size in enumerate(sorted({1, *part["tools"]}))}
    start = part[part["kind"] == "exact"]
    for shift, (kind, (color, marker, dash)) in zip((-0.06, 0.06), KINDS.items(), strict=True):
        line = pd.concat([start, part[part["kind"] == kind]]).sort_values("tools")
        x = np.array([sizes[size] for size in line["tools"]]) + shift
        rate, low, high = (100 * line[name].to_numpy(float) for name in ("rate", "low", "high"))
        axes.vlines(x, low, high, color=color, lw=1.0, linestyles="solid")
        face = "white" if kind == "close" else color
        axes.plot(
            x, rate, color=color, marker=marker, linestyle=dash, markerfacecolor=face, ms=3.6, label=kind
        )
    axes.grid(True, axis="y")
    axes.grid(False, axis="x")
