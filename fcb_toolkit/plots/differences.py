"""Paired differences between models as a forest plot."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure, order, require
from fcb_toolkit.plots.rates import side
from fcb_toolkit.plots.rows import beside, height_of, name_lines, point, widest
from fcb_toolkit.plots.text import LINE, fit, labels
from fcb_toolkit.statistics import compare_all

FEW = 4
"""Models up to which every pair is drawn without being asked for a baseline."""


@figure
def differences(
    frame: pd.DataFrame, *, baseline: str | None = None, over: str | None = None, width: str | float = "acl*"
) -> tuple[StyledFigure, pd.DataFrame]:
    """Paired differences with intervals and Holm-corrected p: a line for each pair, zero marked.

    `frame` is what `fcb.to_frame` gives for two or more runs (one a model), or a table of
    `statistics.compare_all`. With a `baseline`, or with more than four models, each model is compared
    with one: the baseline, or the first. The grey band is what these items cannot show (less than the
    minimum detectable difference). p is of the permutation test, which equals McNemar's exact test
    where there are no clusters; Holm's correction is over the pairs that are drawn.
    """
    rows = frame if "difference" in frame.columns else _compared(frame, baseline, side(frame, over))
    require(rows, ["a", "b", "difference", "low", "high", "permutation_p_holm", "n"], "differences")
    one = rows["a"].nunique() == 1
    names = [str(row.b) if one else f"{row.b} \u2212 {row.a}" for row in rows.itertuples()]
    total = inches(width)
    label = labels(names, min(0.42 * total, 2.6))
    ticks = [label[name] for name in names]
    fig = new_figure(total, height_of(ticks) + 0.62 + (2 * LINE if one else 0))
    axes = fig.add_subplot()
    middles = name_lines(axes, ticks)
    for y, (_, row) in zip(middles, rows.iterrows(), strict=True):
        _line(axes, y, row)
    axes.set_xlim(*_limits(rows))
    axes.axvline(0, color="black", lw=0.7, zorder=1)
    room = total - widest(ticks) - 0.65
    axes.set_xlabel(fit(f"difference to {rows['a'].iloc[0]}, points" if one else "difference, points", room))
    axes.set_title("p (Holm)", loc="right", size=6.5)
    axes.locator_params(axis="x", nbins=4 if room < 1.9 else 7)
    return fig, rows


def _compared(frame: pd.DataFrame, baseline: str | None, over: str) -> pd.DataFrame:
    require(frame, [over, "outcome", "case_id"], "differences")
    models = order(frame[over])
    if baseline is not None and baseline not in models:
        raise UnknownName(f"baseline {over}", baseline, models)
    if baseline is None and len(models) <= FEW:
        return compare_all(frame, over=over)
    return compare_all(frame, over=over, baseline=baseline or models[0])


def _limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Room for every interval and for the grey band, zero always inside."""
    least = rows["minimum_detectable"].fillna(0).max() if "minimum_detectable" in rows else 0.0
    low, high = min(rows["low"].min(), -least, -0.05), max(rows["high"].max(), least, 0.05)
    margin = 0.04 * (high - low)
    return 100 * (low - margin), 100 * (high + margin)


def _line(axes: Axes, y: float, row: pd.Series[Any]) -> None:
    least = row.get("minimum_detectable")
    if least is not None and not pd.isna(least):
        axes.fill_betweenx([y - 0.5, y + 0.5], -100 * least, 100 * least, color="0.9", lw=0, zorder=0)
    if pd.isna(row["difference"]):
        axes.text(0, y, "no pair scored", ha="center", va="center", size=6.5)
        return
    found = row["permutation_p_holm"] < 0.05
    span = (100 * row["low"], 100 * row["difference"], 100 * row["high"])
    point(axes, y, span, color="#0072B2" if found else "0.35", marker="o" if found else "s")
    p = row["permutation_p_holm"]
    beside(axes, y, "<0.001" if p < 0.001 else f"{p:.3f}")
