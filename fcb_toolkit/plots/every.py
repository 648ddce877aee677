"""All figures that a frame holds the rows for: what `fcb report` writes.

for name, fig in fcb.plots.every(fcb.to_frame(runs)).items(): fcb.plots.save(fig, f"figures/{name}")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from fcb_toolkit.plots.accuracy import accuracy
from fcb_toolkit.plots.agreement import judge_agreement, official_vs_ours
from fcb_toolkit.plots.cost import AXES, cost
from fcb_toolkit.plots.differences import differences
from fcb_toolkit.plots.draw import StyledFigure, require
from fcb_toolkit.plots.failures import failures
from fcb_toolkit.plots.flow import flow
from fcb_toolkit.plots.formats import formats
from fcb_toolkit.plots.heatmap import heatmap
from fcb_toolkit.plots.rates import side
from fcb_toolkit.plots.tool_lists import CONDITION, tool_lists

Needs = Callable[[pd.DataFrame], pd.DataFrame]


def every(frame: pd.DataFrame, *, width: str | float = "acl*") -> dict[str, StyledFigure]:
    """Name -> figure, for each figure whose rows the frame holds, in the order of a paper.

    `frame` is one of `fcb.to_frame`; `DataError` names the first column that it lacks.
    """
    found, frame = {}, frame.reset_index(drop=True)
    if not frame.empty:
        columns = ("outcome", "failure", "benchmark", "category", "condition", "cluster", "case_id", "sample")
        require(frame, columns, "every")
    for name, (needs, draw) in EVERY.items():
        part = needs(frame)
        if not part.empty:
            found[name] = draw(part, width=width)
    return found


def _scored(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if frame["outcome"].isin(["pass", "fail"]).any() else frame.iloc[:0]


def _grid(frame: pd.DataFrame) -> pd.DataFrame:
    wide = frame[side(frame, None)].nunique() > 1 and frame["category"].nunique() > 1
    return _scored(frame) if wide else frame.iloc[:0]


def _tool_lists(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of tool lists that differ in length or closeness, one benchmark (the first that has them)."""
    part = frame[frame["condition"].map(lambda name: bool(CONDITION.fullmatch(str(name))))]
    if part.empty:
        return part
    part = part[part["benchmark"] == part["benchmark"].iloc[0]]
    return _scored(part) if part["condition"].nunique() > 1 else part.iloc[:0]


def _failed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if frame["outcome"].eq("fail").any() else frame.iloc[:0]


def _shared(frame: pd.DataFrame) -> pd.DataFrame:
    """The cases that every side has: a paired difference is about these."""
    key = side(frame, None)
    sides = frame[key].nunique()
    if sides < 2 or frame.duplicated([key, "case_id", "sample"]).any():
        return frame.iloc[:0]
    everywhere = frame.groupby("case_id")[key].transform("nunique") == sides
    return _scored(frame[everywhere.to_numpy(bool)])


def _both_scored(*metrics: str) -> Needs:
    columns = [f"outcome_{name}" for name in metrics]

    def needs(frame: pd.DataFrame) -> pd.DataFrame:
        if not set(columns) <= set(frame.columns):
            return frame.iloc[:0]
        return frame[frame[columns].isin(["pass", "fail"]).all(axis=1).to_numpy(bool)]

    return needs


def _formats(frame: pd.DataFrame) -> pd.DataFrame:
    part = frame[frame["benchmark"].isin(["dpab/pythonic", "dpab/json"])]
    return part if part["benchmark"].nunique() == 2 else part.iloc[:0]


def _cost(frame: pd.DataFrame) -> pd.DataFrame:
    known = any(name in frame and frame[name].notna().any() for name in AXES)
    return _scored(frame) if known else frame.iloc[:0]


EVERY: Mapping[str, tuple[Needs, Callable[..., StyledFigure]]] = {
    "accuracy": (_scored, accuracy),
    "heatmap": (_grid, heatmap),
    "tool_lists": (_tool_lists, tool_lists),
    "failures": (_failed, failures),
    "flow": (_failed, flow),
    "differences": (_shared, differences),
    "official_vs_ours": (_both_scored("functionchat_exact", "call_match"), official_vs_ours),
    "judge_agreement": (_both_scored("rubric", "call_match"), judge_agreement),
    "formats": (_formats, formats),
    "cost": (_cost, cost),
}
"""Name -> (the rows that it needs, none where they are not there; the figure)."""
