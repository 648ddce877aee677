"""From a frame of `to_frame` or a table of `summarize` to the rows that the rate figures draw."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fcb_toolkit.errors import DataError
from fcb_toolkit.plots.draw import order, require
from fcb_toolkit.statistics.summary import summarize

OVERALL = "all"


def side(frame: pd.DataFrame, over: str | None) -> str:
    """The column that tells the compared things apart: `over`, or else model or run.

    The model, unless one model has several runs of one benchmark (free and constrained, two prompts):
    then the run, because such runs must never be pooled.
    """
    if over is not None:
        return over
    if "model" not in frame.columns:
        return "run"
    if "run" not in frame.columns:
        return "model"
    keys = [name for name in ("model", "benchmark") if name in frame.columns]
    several = frame.groupby(keys, dropna=False)["run"].nunique().max() if len(frame) else 0
    return "run" if several > 1 else "model"


def rates(frame: pd.DataFrame, by: Sequence[str], function: str) -> pd.DataFrame:
    """Rows with the columns `by`, rate, low, high, n, not_scored.

    A table of `summarize` is taken as it is; a frame with outcomes is summarised by those columns.
    """
    if "rate" not in frame.columns and "outcome" in frame.columns:
        require(frame, by, function)
        frame = summarize(apart(frame), by=list(by))
    require(frame, [*by, "rate", "low", "high", "n"], function)
    rows = frame.copy()
    for name in by:
        rows[name] = rows[name].map(lambda value: str(value) or "(none)")
    if rows.duplicated(list(by)).any():
        twice = rows[rows.duplicated(list(by))].iloc[0]
        raise DataError(
            f"plots.{function}: {', '.join(f'{name}={twice[name]}' for name in by)} occurs twice; "
            "draw one benchmark and run per model at a time"
        )
    if "not_scored" not in rows:
        rows["not_scored"] = 0
    return rows


def apart(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories of different benchmarks kept apart: a call of Dialog is not a call of CallDecision."""
    if (
        "benchmark" not in frame.columns
        or frame["benchmark"].nunique() < 2
        or "category" not in frame.columns
    ):
        return frame
    short = frame["benchmark"].map(lambda name: str(name).rsplit("/", 1)[-1])
    return frame.assign(category=short + " " + frame["category"].map(str))


def with_overall(frame: pd.DataFrame, rows: pd.DataFrame, by: str, over: str) -> pd.DataFrame:
    """Adds each `over`'s rate over all values of `by`, where the items are at hand and of one benchmark."""
    if "outcome" not in frame.columns or rows[by].nunique() < 2:
        return rows
    if "benchmark" in frame.columns and frame["benchmark"].nunique() > 1:
        return rows
    total = summarize(frame, by=[over])
    total[by], total[over] = OVERALL, total[over].map(str)
    return pd.concat([rows, total], ignore_index=True)


def names(rows: pd.DataFrame, column: str) -> list[str]:
    return order(rows[column])
