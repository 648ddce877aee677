"""What the statistics take: a Run, several Runs, or a frame made by `fcb.to_frame`.

scored(frame, metric="call_match")     # frame with `passed` (1.0, 0.0, NaN where not scored)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcb_toolkit.errors import DataError, UnknownName

OUTCOMES = {"pass": 1.0, "fail": 0.0, "not_scored": np.nan}


def as_frame(runs: Any) -> pd.DataFrame:
    """The rows of a Run, of several Runs, or of a frame (with a fresh index)."""
    if isinstance(runs, pd.DataFrame):
        # Frames put together keep the indices of their parts.
        return runs.reset_index(drop=True)
    from fcb_toolkit.frames import to_frame

    frame: pd.DataFrame = to_frame(runs)
    return frame


def outcome_column(frame: pd.DataFrame, metric: str | None) -> str:
    """`outcome`, or the outcome of a named metric; `UnknownName` lists the metrics that are stored."""
    column = "outcome" if metric is None else f"outcome_{metric}"
    if column in frame.columns:
        return column
    stored = [
        str(name).removeprefix("outcome_") for name in frame.columns if str(name).startswith("outcome_")
    ]
    if metric is None:
        raise DataError(
            "the frame has no column 'outcome'; expected the columns of fcb.to_frame, "
            f"found {', '.join(map(str, frame.columns)) or 'none'}"
        )
    raise UnknownName("metric (stored in these runs)", metric, stored)


def check_columns(frame: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The names as a list; `UnknownName` for one that is not a column."""
    if not isinstance(names, Iterable):
        raise DataError(f"found {names!r}, expected the name of a column or a list of them")
    wanted = list(names)
    for name in wanted:
        if name not in frame.columns:
            raise UnknownName("column", name, [str(column) for column in frame.columns])
    return wanted


def passed(frame: pd.DataFrame, metric: str | None = None) -> NDArray[np.float64]:
    """1.0 for pass, 0.0 for fail, NaN for not scored (and for a missing verdict); shape (rows,)."""
    column = frame[outcome_column(frame, metric)]
    codes, names = pd.factorize(column)
    values = []
    for name in names:
        if str(name) not in OUTCOMES:
            raise DataError(f"column {column.name!r}: found {str(name)!r}, expected pass, fail or not_scored")
        values.append(OUTCOMES[str(name)])
    # The last element serves code -1, pandas' code for a missing value.
    return np.array([*values, np.nan])[codes]


def units(frame: pd.DataFrame, cluster: str | None = "cluster") -> NDArray[np.intp]:
    """A code for each row's unit of independence, shape (rows,).

    Rows of one cluster share a code. A row without a cluster is its own unit, but several samples or
    runs of one case are not independent, so the case's id stands in. A cluster's name counts within
    its benchmark only. `cluster=None` treats each case as independent.
    """
    n = len(frame)
    own = pd.factorize(frame["case_id"])[0] if "case_id" in frame.columns else np.arange(n)
    own = np.where(own < 0, np.arange(n) + n, own)
    if cluster is None or cluster not in frame.columns:
        if cluster not in (None, "cluster"):
            raise UnknownName("column", cluster, [str(column) for column in frame.columns])
        return pd.factorize(own)[0]
    codes, names = pd.factorize(frame[cluster])
    empty = np.array([*(str(name) == "" for name in names), True])[codes]
    if "benchmark" in frame.columns:
        bench, kinds = pd.factorize(frame["benchmark"])
        codes = codes * (len(kinds) + 1) + bench + 1
    both = np.where(empty, -1 - own, codes)
    return pd.factorize(both)[0]
