"""Pass rate by category with intervals: one panel a category, one line a model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure
from fcb_toolkit.plots.rates import OVERALL, names, rates, side, with_overall
from fcb_toolkit.plots.reference import add_reference, footnote
from fcb_toolkit.plots.rows import beside, height_of, name_lines, point, widest
from fcb_toolkit.plots.text import LINE, fit, labels, lines

PANEL = 0.85
"""Least inches of a panel: below it, the ticks 0, 50 and 100 run into each other."""


@dataclass(frozen=True)
class Look:
    """How a panel is drawn."""

    counts: bool = False
    """n beside each number."""
    same: bool = False
    """All lines are one model's."""
    wide: bool = False
    """Room for ticks at the quarters."""


@figure
def accuracy(
    frame: pd.DataFrame,
    *,
    by: str = "category",
    over: str | None = None,
    reference: pd.DataFrame | None = None,
    width: str | float = "acl*",
) -> tuple[StyledFigure, pd.DataFrame]:
    """Pass rates with 95% intervals: a panel for each `by`, a line for each `over` (model or run).

    `frame` is what `fcb.to_frame` gives (summarised here, with a panel over all) or a table of
    `fcb.summarize(runs, by=[over, by])`. `reference` holds published numbers (`plots.published`);
    they are drawn hollow, without interval, named with a dagger and their source.
    `width` is inches or a venue's column (`plots.WIDTHS`).
    """
    over = side(frame, over)
    rows = rates(frame, [over, by], "accuracy")
    rows = with_overall(frame, rows, by, over)
    rows, notes = add_reference(rows, reference, by, over)
    if rows[over].nunique() == 1 or rows[by].nunique() == 1:
        return _single(rows, by, over, inches(width), notes), rows
    return _panels(rows, by, over, inches(width), notes), rows


def _single(rows: pd.DataFrame, by: str, over: str, width: float, notes: list[str]) -> StyledFigure:
    """One panel: only one model, or only one category."""
    one_model = rows[over].nunique() == 1
    line, title = (by, names(rows, over)[0]) if one_model else (over, names(rows, by)[0])
    kinds = names(rows, line)
    label = labels(kinds, width * 0.45)
    height = height_of([label[kind] for kind in kinds]) + 0.55
    fig = new_figure(width, height + LINE * len(notes))
    axes = fig.add_subplot()
    axes.set_title(fit(title, width * 0.8), loc="left")
    numbers = 1.1 if (rows["not_scored"] > 0).any() else 0.6
    wide = width - widest(list(label.values())) - numbers > 1.2
    ordered, look = rows.set_index(line).loc[kinds], Look(counts=True, same=one_model, wide=wide)
    _draw(axes, ordered, [label[kind] for kind in kinds], look)
    axes.set_xlabel("pass rate, %")
    footnote(fig, notes, width)
    return fig


def _panels(rows: pd.DataFrame, by: str, over: str, width: float, notes: list[str]) -> StyledFigure:
    panels, models = names(rows, by), names(rows, over)
    label = labels(models, min(width * 0.34, 1.9))
    margin = widest(list(label.values())) + 0.1
    columns = max(1, min(len(panels), int((width - margin) / PANEL)))
    down = math.ceil(len(panels) / columns)
    columns = math.ceil(len(panels) / down)
    titles = {
        name: _title(rows[rows[by] == name], name, (width - margin) / columns - 0.12) for name in panels
    }
    one = height_of(list(label.values())) + 0.30
    one += max(lines(text) for text in titles.values()) * LINE
    fig = new_figure(width, down * one + 0.2 + LINE * len(notes))
    grid = np.atleast_2d(fig.subplots(down, columns, sharex=True, sharey=True, squeeze=False))
    for axes, name in zip(grid.flat, panels, strict=False):
        part = rows[rows[by] == name].set_index(over).reindex(models)
        _draw(axes, part, [label[model] for model in models], Look())
        axes.set_title(titles[name], loc="left")
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    # sharex hides the ticks above an empty place of the last row.
    for axes in grid.flat[max(0, len(panels) - columns) : len(panels)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("pass rate, %")
    footnote(fig, notes, width)
    return fig


def _title(part: pd.DataFrame, name: str, room: float) -> str:
    n = part["n"].dropna().astype(int)
    low, high = (int(n.min()), int(n.max())) if len(n) else (0, 0)
    count = f"n={low}" if low == high else f"n={low} to {high}"
    return f"{fit(name, room)}\n{count}"


def _draw(axes: Axes, part: pd.DataFrame, ticks: list[str], look: Look) -> None:
    """Points with intervals, the number at the right edge; hollow where the number is not ours.

    With `look.same` the lines are categories of one model, and only the line over all looks different.
    """
    middles = name_lines(axes, ticks)
    for place, (y, (_, row)) in enumerate(zip(middles, part.iterrows(), strict=True)):
        if pd.isna(row["rate"]):
            if not pd.isna(row["n"]):
                axes.text(50, y, "not scored", ha="center", va="center", size=6.5, color="0.3")
            continue
        index = int(row.name == OVERALL) if look.same else place
        hollow = bool(row.get("published", False))
        color = "black" if hollow or (look.same and index) else None
        point(
            axes,
            y,
            (100 * row["low"], 100 * row["rate"], 100 * row["high"]),
            index=index,
            hollow=hollow,
            color=color,
        )
        beside(axes, y, _number(row, look.counts))
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100] if look.wide else [0, 50, 100])


def _number(row: pd.Series, counts: bool) -> str:
    text = f"{100 * row['rate']:.0f}"
    if counts and not pd.isna(row["n"]):
        text += f"   n={int(row['n'])}"
        if row["not_scored"] > 0:
            text += f", {int(row['not_scored'])} not scored"
    return text
