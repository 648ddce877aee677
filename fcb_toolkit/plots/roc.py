"""Receiver operating characteristic: right passes against wrong passes over all thresholds."""

from __future__ import annotations

import pandas as pd

from fcb_toolkit.plots.draw import COLORS, StyledFigure, figure, inches, new_figure, order, require

STYLES = ("-", "--", ":", "-.")


@figure
def roc(
    frame: pd.DataFrame, *, over: str = "curve", width: str | float = "acl"
) -> tuple[StyledFigure, pd.DataFrame]:
    """One curve for each value of `over`; the diagonal is chance.

    `frame` has `right` and `wrong` (shares between 0 and 1 that pass at a threshold), in the order of the
    thresholds: what `scoring.text_pairs.roc_points` gives.
    """
    require(frame, [over, "right", "wrong"], "roc")
    total = inches(width)
    fig = new_figure(total, min(total, 3.4) + 0.25 * frame[over].nunique())
    axes = fig.add_subplot()
    axes.plot([0, 100], [0, 100], color="0.7", lw=0.6)
    for index, name in enumerate(order(frame[over])):
        rows = frame[frame[over].map(str) == name]
        x, y = 100 * rows["wrong"].to_numpy(float), 100 * rows["right"].to_numpy(float)
        color, dashes = COLORS[index % len(COLORS)], STYLES[index % len(STYLES)]
        axes.plot(x, y, lw=1.2, label=name, color=color, ls=dashes)
    axes.set_xlabel("others that pass, %")
    axes.set_ylabel("paraphrases that pass, %")
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_aspect("equal")
    fig.legend(loc="outside lower center", frameon=False, fontsize=6.5)
    return fig, frame
