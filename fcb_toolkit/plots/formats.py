"""Calls written as Python against calls written as JSON: two marks a model, joined."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure
from fcb_toolkit.plots.rates import names, rates, side
from fcb_toolkit.plots.reference import DAGGER, footnote, notes_of
from fcb_toolkit.plots.rows import beside, height_of, name_lines
from fcb_toolkit.plots.text import LINE, labels

LOOKS = (("#0072B2", "o", -0.2), ("#D55E00", "s", 0.2))


@figure
def formats(
    frame: pd.DataFrame,
    *,
    pair: tuple[str, str] = ("dpab/pythonic", "dpab/json"),
    over: str | None = None,
    reference: pd.DataFrame | None = None,
    width: str | float = "acl*",
) -> tuple[StyledFigure, pd.DataFrame]:
    """Pass rates of each model on the two benchmarks of `pair`, with intervals; the difference at the right.

    The tasks are the same and only the way of calling differs, so a line joins the two. `reference` has
    the columns model, benchmark, rate and source (`plots.published` of both), drawn hollow.
    """
    key = side(frame, over) if over or "rate" not in frame.columns else "model"
    rows = rates(frame, [key, "benchmark"], "formats")
    if "published" not in rows.columns:
        rows = rows.assign(published=False)
        if reference is not None and len(reference):
            added = reference.rename(columns={"model": key}).assign(published=True)
            added[key] = added[key].map(lambda name: f"{name}{DAGGER}")
            rows = pd.concat([rows, added], ignore_index=True)
    rows = rows[rows["benchmark"].isin(pair)]
    notes = notes_of(rows)
    total, models = inches(width), names(rows, key)
    label = labels(models, min(0.4 * total, 2.2))
    ticks = [label[name] for name in models]
    fig = new_figure(total, height_of(ticks) * 1.15 + 0.75 + LINE * len(notes))
    axes = fig.add_subplot()
    for y, name in zip(name_lines(axes, ticks), models, strict=True):
        _model(axes, y, rows[rows[key] == name].set_index("benchmark"), pair)
    axes.set_xlim(0, 100)
    axes.set_xlabel("pass rate, %")
    axes.set_title("difference", loc="right", size=6.5)
    handles = [
        Line2D([], [], color=color, marker=marker, linestyle="none", ms=4, label=benchmark)
        for (color, marker, _), benchmark in zip(LOOKS, pair, strict=True)
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=2)
    footnote(fig, notes, total)
    return fig, rows


def _model(axes: Axes, y: float, part: pd.DataFrame, pair: tuple[str, str]) -> None:
    known = {str(name): 100 * float(rate) for name, rate in part["rate"].items() if not pd.isna(rate)}
    if all(name in known for name in pair):
        ends = [known[name] for name in pair]
        axes.plot(ends, [y + LOOKS[0][2], y + LOOKS[1][2]], color="0.6", lw=0.7, zorder=1)
        beside(axes, y, f"{round(ends[1] - ends[0]):+d}".replace("+0", "0"))
    for (color, marker, shift), name in zip(LOOKS, pair, strict=True):
        if name not in known:
            continue
        row = part.loc[name]
        face = "white" if row["published"] else color
        if not row["published"]:
            axes.plot([100 * row["low"], 100 * row["high"]], [y + shift] * 2, color=color, lw=1.2)
        axes.plot(
            100 * row["rate"],
            y + shift,
            marker=marker,
            color=color,
            markerfacecolor=face,
            ms=4,
            linestyle="none",
            clip_on=False,
        )
