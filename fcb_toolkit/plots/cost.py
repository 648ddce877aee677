"""What accuracy costs: pass rate against reply tokens and seconds, one mark a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fcb_toolkit.errors import DataError
from fcb_toolkit.plots.draw import COLORS, MARKERS, StyledFigure, figure, inches, new_figure, require
from fcb_toolkit.plots.rates import side
from fcb_toolkit.plots.rows import widest
from fcb_toolkit.plots.text import LINE, labels, lines
from fcb_toolkit.statistics import summarize

AXES = {"reply_tokens": "reply tokens, mean", "seconds": "seconds a case, mean"}


@figure
def cost(
    frame: pd.DataFrame, *, over: str | None = None, width: str | float = "acl*"
) -> tuple[StyledFigure, pd.DataFrame]:
    """Pass rate with interval against mean reply tokens, and against mean seconds where they are known.

    `frame` is what `fcb.to_frame` gives. Tokens are of each model's own tokenizer: lengths of different
    families do not compare exactly. A model without either number is named in no panel.
    """
    key = side(frame, over)
    known = [name for name in AXES if name in frame.columns and frame[name].notna().any()]
    if not known:
        raise DataError("plots.cost: neither reply_tokens nor seconds is known for any row")
    rows = frame if "rate" in frame.columns else _rows(frame, key, known)
    total = inches(width)
    label = labels(list(rows[key]), min(0.3 * total, 1.7), 6.5)
    texts = [label[name] for name in rows[key]]
    beside = (total - widest(texts, 6.5) - 0.6) / len(known) > 1.1
    high = max(1.5, sum(lines(text) for text in texts) * LINE + 0.1)
    shape = (1, len(known)) if beside else (len(known), 1)
    fig = new_figure(total, shape[0] * (high + 0.5))
    grid = fig.subplots(*shape, sharey=True, squeeze=False)
    for axes, name in zip(grid.flat, known, strict=True):
        _panel(axes, rows, name)
    for line in grid:
        line[0].set_ylabel("pass rate, %")
        _names(line[-1], rows, known[-1] if beside else known[list(grid[:, 0]).index(line[0])], texts, high)
    grid[0, 0].set_ylim(0, 100)
    return fig, rows


def _rows(frame: pd.DataFrame, key: str, known: list[str]) -> pd.DataFrame:
    require(frame, [key, "outcome"], "cost")
    rows = summarize(frame, by=[key])
    rows[key] = rows[key].map(str)
    means = frame.assign(**{key: frame[key].map(str)}).groupby(key)[known].mean()
    return rows.assign(**{name: rows[key].map(means[name]) for name in known})


def _points(rows: pd.DataFrame, name: str) -> list[tuple[int, float, float, float, float]]:
    """(index, x, rate, low, high) in percent, of the rows that have both numbers."""
    columns = [rows[column].to_numpy(float) for column in (name, "rate", "low", "high")]
    points = [(i, x, 100 * r, 100 * a, 100 * b) for i, (x, r, a, b) in enumerate(zip(*columns, strict=True))]
    return [one for one in points if not np.isnan(one[1]) and not np.isnan(one[2])]


def _look(index: int) -> dict[str, Any]:
    return {
        "color": COLORS[index % len(COLORS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": "none",
    }


def _panel(axes: Axes, rows: pd.DataFrame, name: str) -> None:
    for index, x, rate, low, high in _points(rows, name):
        axes.vlines(x, low, high, color=COLORS[index % len(COLORS)], lw=1.0)
        axes.plot(x, rate, ms=4.5, zorder=3, clip_on=False, **_look(index))
    axes.set_xlim(0, float(rows[name].max()) * 1.08 or 1.0)
    axes.set_xlabel(AXES[name])
    axes.locator_params(axis="x", nbins=4)
    axes.grid(True, axis="both")


def _names(axes: Axes, rows: pd.DataFrame, name: str, texts: list[str], height: float) -> None:
    """The names in a column at the right, in the order of the rates, spread so that none overlap.

    A mark of the model's own look stands before each name, and a thin line leads to its point.
    """
    shown = sorted(_points(rows, name), key=lambda one: -one[2])
    rooms = [lines(texts[index]) * LINE * 0.97 * 100 / height for index, *_ in shown]
    right = axes.get_xlim()[1]
    ys = spread([rate for _, _, rate, _, _ in shown], rooms)
    for (index, x, rate, _, _), y in zip(shown, ys, strict=True):
        axes.plot([x, right * 1.04], [rate, y], color="0.75", lw=0.5, clip_on=False, zorder=1)
        axes.plot(right * 1.06, y, ms=4, clip_on=False, **_look(index))
        axes.annotate(
            texts[index],
            (right * 1.06, y),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            size=6.5,
            annotation_clip=False,
        )


def spread(wanted: list[float], rooms: list[float], low: float = 0.0, high: float = 100.0) -> list[float]:
    """Places from the top down, as near to the wanted ones as the room of each allows.

    `wanted` falls; neighbours end up at least half of both rooms apart, all within low and high if they fit.
    """
    places: list[float] = []
    top = high
    for want, room in zip(wanted, rooms, strict=True):
        place = min(want, top - room / 2)
        places.append(place)
        top = place - room / 2
    bottom = low
    for index in range(len(places) - 1, -1, -1):
        places[index] = max(places[index], bottom + rooms[index] / 2)
        bottom = places[index] + rooms[index] / 2
    return places
