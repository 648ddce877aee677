"""`summarize`: the pass rate of each group with an interval that holds for its kind of data.

summarize(runs, by=["model", "category"])
#    model category  rate   low  high   n  not_scored  clusters            method
#    m     call      0.72  0.58  0.83  70           0        45  wilson clustered
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcb_toolkit.errors import DataError
from fcb_toolkit.statistics.inputs import as_frame, check_columns, passed, units
from fcb_toolkit.statistics.intervals import Clusters, check_level, intervals

COLUMNS = ("rate", "low", "high", "n", "not_scored", "clusters", "method")


def summarize(
    runs: Any,
    by: str | Sequence[str] | None = None,
    *,
    metric: str | None = None,
    level: float = 0.95,
    cluster: str | None = "cluster",
) -> pd.DataFrame:
    """Pass rates with intervals: one row a group, groups in the order they first appear.

    `runs` is a Run, a list of Runs, or a frame of `fcb.to_frame`. `by` names one or more columns;
    None gives one row, or one row a run where there are several; `[]` always gives one row.
    `metric` takes that metric's outcome instead of each case's default one.

    Columns: those of `by`; `rate` (share of the scored that pass, NaN without any), `low`, `high`
    (interval at `level`), `n` (scored rows), `not_scored`, `clusters` (independent units among the
    scored) and `method`:

    * `wilson`: all units are single rows; Wilson's interval.
    * `wilson clustered`: some unit has several rows (one query with five tool lists, one dialog, one
      case sampled or run several times); see `intervals.clustered_wilson`.
    * `none`: nothing was scored; rate NaN, interval (0, 1).

    Raises `UnknownName` for a column or metric that is not there, `DataError` for a wrong level.
    """
    check_level(level)
    frame = as_frame(runs)
    names = _by(frame, by)
    group, keys = _groups(frame, names)
    value = passed(frame, metric)
    scored = ~np.isnan(value)
    totals = _clusters(group[scored], units(frame, cluster)[scored], value[scored], len(keys))
    table = _table(totals, level)
    table["not_scored"] = np.bincount(group[~scored], minlength=len(keys))
    return pd.concat([keys, table[list(COLUMNS)]], axis=1)


def _by(frame: pd.DataFrame, by: str | Sequence[str] | None) -> list[str]:
    if by is None:
        several = "run" in frame.columns and frame["run"].nunique() > 1
        return ["run"] if several else []
    names = check_columns(frame, [by] if isinstance(by, str) else by)
    taken = sorted(set(names) & set(COLUMNS))
    if taken:
        raise DataError(f"by={names!r}: {taken[0]!r} is a column of the result, rename it in the frame first")
    return names


def _groups(frame: pd.DataFrame, names: list[str]) -> tuple[NDArray[np.intp], pd.DataFrame]:
    """The group code of each row, and the values of `names` of each group, in order of appearance."""
    if not names:
        return np.zeros(len(frame), dtype=np.intp), pd.DataFrame(index=range(1))
    code = np.zeros(len(frame), dtype=np.intp)
    for name in names:
        part, values = pd.factorize(frame[name], use_na_sentinel=False)
        code = pd.factorize(code * max(len(values), 1) + part)[0]
    _, first = np.unique(code, return_index=True)
    return code, frame[names].iloc[first].reset_index(drop=True)


def _clusters(
    group: NDArray[np.intp], unit: NDArray[np.intp], value: NDArray[np.float64], groups: int
) -> Clusters:
    """Totals of each cluster within each group."""
    pair = group.astype(np.int64) * (int(unit.max(initial=0)) + 1) + unit
    code, kinds = pd.factorize(pair)
    owner = np.zeros(len(kinds), dtype=np.intp)
    owner[code] = group
    size = np.bincount(code, minlength=len(kinds)).astype(float)
    passes = np.bincount(code, weights=value, minlength=len(kinds)).astype(float)
    return Clusters(owner, passes, size, groups)


def _table(totals: Clusters, level: float) -> pd.DataFrame:
    rate, low, high, method = intervals(totals, level)
    return pd.DataFrame(
        {
            "rate": rate,
            "low": low,
            "high": high,
            "n": totals.sum(totals.size).astype(int),
            "clusters": totals.count.astype(int),
            "method": method,
        }
    )
