"""From a frame of `to_frame` or a table of `summarize` to the rows that the rate figures draw."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fcb_toolkit.errors import DataError
from fcb_toolkit.plots.draw import order, require
from fcb_toolkit.statistics.summary import summarize

OVERALL = "all"


def rates(frame: pd.DataFrame, by: Sequence[str], function: str) -> pd.DataFrame:
    """Rows with the columns `by`, rate, low, high, n, not_scored.

    A table of `summarize` is taken as it is; a frame with outcomes is summarised by those columns.
    """
    if "rate" not in frame.columns and "outcome" in frame.columns:
        require(frame, by, function)
        frame = summarize(frame, by=list(by))
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


def with_overall(frame: pd.DataFrame, rows: pd.DataFrame, by: str, over: str) -> pd.DataFrame:
    """Adds each `over`'s rate over all values of `by`, where the items themselves are at hand."""
    if "outcome" not in frame.columns or rows[by].nunique() < 2:
        return rows
    total = summarize(frame, by=[over])
    total[by], total[over] = OVERALL, total[over].map(str)
    return pd.concat([rows, total], ignore_index=True)


def names(rows: pd.DataFrame, column: str) -> list[str]:
    return order(rows[column])
