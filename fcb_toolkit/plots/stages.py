"""Failures of format against failures of choice: the same cases, lost at which stage, run beside run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fcb_toolkit.errors import DataError
from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure, order, require
from fcb_toolkit.plots.flow import STAGES
from fcb_toolkit.plots.rates import side
from fcb_toolkit.plots.rows import beside, height_of, name_lines, point, widest
from fcb_toolkit.plots.text import fit
from fcb_toolkit.statistics import compare, summarize

TITLES: Mapping[str, str] = {
    "pass": "pass",
    "reply": "no whole reply",
    "format": "format: unreadable call",
    "decision": "choice: call or not",
    "tool": "choice: which tool",
    "arguments": "arguments",
    "text": "text of the answer",
    "execution": "program stopped",
    "values": "values",
    "other": "other kinds",
}
ALWAYS = ("pass", "format")
"""Drawn also where nothing is: no failure of format is a finding."""


@figure
def stages(
    frame: pd.DataFrame, *, over: str | None = None, width: str | float = "acl*"
) -> tuple[StyledFigure, pd.DataFrame]:
    """Shares of the cases that pass and that are lost at each stage (`flow.STAGES`), with intervals.

    Made for a free and a constrained run of one model: constrained decoding takes failures of format away,
    what is left is the choice. Only cases that every side has and that are scored on every side count. A
    call that was not made stands under choice, because a constrained reply may be plain text; where that
    share falls under constraint, format was behind it. With two sides the paired difference (second minus
    first, in points, with its 95% interval) stands at the right. Drawn rows: `over`, stage, rate, low,
    high, n, clusters, difference, difference_low, difference_high. Raises `DataError` for sides without a
    shared case.
    """
    key = side(frame, over)
    rows = frame if "stage" in frame.columns else _rows(frame, key)
    total, names = inches(width), order(rows[key])
    used = [
        stage for stage in TITLES if stage in ALWAYS or rows.loc[rows["stage"] == stage, "rate"].sum() > 0
    ]
    rows = rows[rows["stage"].isin(used)]
    room = min(0.42 * total, 2.4)
    ticks = [fit(text, room) for stage in used for text in (TITLES[stage], *names)]
    fig = new_figure(total, height_of(ticks) + 0.5)
    axes = fig.add_subplot()
    middles = name_lines(axes, ticks)
    for start in range(0, len(ticks), len(names) + 1):
        for label in axes.get_yticklabels()[start + 1 : start + 1 + len(names)]:
            label.set_color("0.35")
        stage = used[start // (len(names) + 1)]
        part = rows[rows["stage"] == stage]
        for index, name in enumerate(names):
            _line(axes, middles[start + 1 + index], part[part[key] == name].iloc[0], index)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 100)
    axes.set_xlabel(fit(f"% of {int(rows['n'].max())} cases", total - widest(ticks) - 0.3))
    if rows["difference"].notna().any():
        axes.set_title("difference", loc="right", size=6.5)
    return fig, rows


def _rows(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    require(frame, [key, "case_id", "outcome", "failure"], "stages")
    part = _shared(frame, key)
    kinds = {"pass": (), **STAGES, "other": ()}
    known = [kind for stage in STAGES.values() for kind in stage]
    failed = part["outcome"].eq("fail")
    tables = []
    for stage in kinds:
        if stage == "pass":
            here = part["outcome"].eq("pass")
        elif stage == "other":
            here = failed & ~part["failure"].isin(known)
        else:
            here = failed & part["failure"].isin(kinds[stage])
        table = summarize(part.assign(outcome=np.where(here, "pass", "fail")), by=[key]).assign(stage=stage)
        tables.append(_with_difference(table, part, here, key))
    columns = [key, "stage", "rate", "low", "high", "n", "clusters"]
    columns += ["difference", "difference_low", "difference_high"]
    return pd.concat(tables, ignore_index=True)[columns]


def _shared(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """The rows of cases and samples that are scored on every side."""
    scored = frame[frame["outcome"].isin(["pass", "fail"])].assign(**{key: frame[key].map(str)})
    item = ["case_id", *(["sample"] if "sample" in frame.columns else [])]
    sides = scored[key].nunique()  # a side without any verdict is left out
    everywhere = scored.groupby(item)[key].transform("nunique") == sides
    shared = scored[everywhere.to_numpy(bool)].reset_index(drop=True)
    if shared.empty:
        raise DataError(
            f"plots.stages: the {sides} sides of {key!r} share no scored case; give runs of the same cases"
        )
    return shared


def _with_difference(table: pd.DataFrame, part: pd.DataFrame, here: pd.Series[Any], key: str) -> pd.DataFrame:
    """The paired difference on the second row, where there are two."""
    table = table.assign(difference=np.nan, difference_low=np.nan, difference_high=np.nan)
    names = order(part[key])
    if len(names) != 2:
        return table
    outcomes = part.assign(outcome=np.where(here, "pass", "fail"))
    first, second = (outcomes[outcomes[key] == name] for name in names)
    found = compare(first, second)
    at = table.index[table[key] == names[1]]
    table.loc[at, ["difference", "difference_low", "difference_high"]] = [
        found.difference,
        found.low,
        found.high,
    ]
    return table


def _line(axes: Axes, y: float, row: pd.Series[Any], index: int) -> None:
    point(axes, y, (100 * row["low"], 100 * row["rate"], 100 * row["high"]), index=index)
    if not pd.isna(row["difference"]):
        low, high = (round(100 * row[f"difference_{end}"]) for end in ("low", "high"))
        beside(axes, y, f"{_signed(100 * row['difference'])} [{_signed(low)}, {_signed(high)}]")


def _signed(points: float) -> str:
    return f"{round(points):+d}".replace("+0", "0").replace("-", "\u2212")
