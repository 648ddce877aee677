"""Repeated samples of the same cases: pass@k, pass^k, and how often single runs differ by chance.

repeated(run, k=(1, 4, 8))         # one row a k: pass_at_k, pass_hat_k with intervals
flip_rate([run_1, run_2])          # the noise floor: share of cases whose outcome flips
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcb_toolkit.errors import DataError
from fcb_toolkit.statistics.inputs import as_frame, check_columns, passed, units
from fcb_toolkit.statistics.intervals import Clusters, check_level, intervals

Floats = NDArray[np.float64]


def pass_at_k(passes: Any, samples: Any, k: int) -> Any:
    """Chance that at least one of k samples passes: 1 - C(n-c, k) / C(n, k), unbiased.

    Chen et al. 2021 (arXiv 2107.03374). `passes` c and `samples` n are numbers or arrays, k <= n.
    """
    c, n = _counts(passes, samples, k)
    return 1.0 - _choose_ratio(n - c, n, k)


def pass_hat_k(passes: Any, samples: Any, k: int) -> Any:
    """Chance that all of k samples pass: C(c, k) / C(n, k), unbiased ("pass^k").

    Yao et al. 2024, tau-bench (arXiv 2406.12045).
    """
    c, n = _counts(passes, samples, k)
    return _choose_ratio(c, n, k)


def _counts(passes: Any, samples: Any, k: int) -> tuple[Floats, Floats]:
    c, n = np.asarray(passes, dtype=float), np.asarray(samples, dtype=float)
    if k < 1 or (n < k).any():
        raise DataError(f"k={k}: expected 1 <= k <= the number of samples of each case ({int(n.min())})")
    if (c < 0).any() or (c > n).any():
        raise DataError("passes: expected between 0 and the number of samples")
    return c, n


def _choose_ratio(part: Floats, whole: Floats, k: int) -> Any:
    from scipy.special import comb

    # Scalars come back as 0-dimensional arrays; [()] makes them numbers.
    return (comb(part, k) / comb(whole, k))[()]


def repeated(
    runs: Any,
    k: Sequence[int] = (1,),
    by: str | Sequence[str] | None = None,
    *,
    metric: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """pass@k and pass^k over the cases of each group, with clustered intervals.

    A case's samples are its rows in one run. Columns: those of `by`, `k`, `cases`, `samples` (least
    number scored of a case), `pass_at_k`, `pass_at_k_low`, `pass_at_k_high`, `pass_hat_k`,
    `pass_hat_k_low`, `pass_hat_k_high`, `not_scored`. The interval is the clustered one of
    `summarize`, for a mean of shares. Raises `DataError` where a case has fewer than k scored samples.
    """
    check_level(level)
    frame = as_frame(runs)
    names = check_columns(frame, [] if by is None else [by] if isinstance(by, str) else by)
    data = frame.assign(_passed=passed(frame, metric), _unit=units(frame))
    rows: list[dict[str, Any]] = []
    groups = data.groupby(names, sort=False, dropna=False) if names else [((), data)]
    for values, part in groups:
        for size in k:
            rows.append(dict(zip(names, values, strict=True)) | _repeated_row(part, size, level))
    return pd.DataFrame(rows)


def _repeated_row(part: pd.DataFrame, k: int, level: float) -> dict[str, Any]:
    keys = ["run", "case_id"] if "run" in part.columns else ["case_id"]
    cases = part.groupby(keys, sort=False).agg(
        c=("_passed", "sum"), n=("_passed", "count"), unit=("_unit", "first")
    )
    cases = cases[cases["n"] > 0]
    few = cases[cases["n"] < k]
    if len(few):
        raise DataError(
            f"k={k}: case {few.index[0]!r} has {int(few['n'].iloc[0])} scored samples; "
            "run with Generation(samples=...) of at least k"
        )
    row: dict[str, Any] = {"k": k, "cases": len(cases), "samples": int(cases["n"].min()) if len(cases) else 0}
    # n samples hold n / k independent tries of k, which bounds what a case can tell.
    weight = row["samples"] / k
    for name, function in (("pass_at_k", pass_at_k), ("pass_hat_k", pass_hat_k)):
        share = function(cases["c"].to_numpy(), cases["n"].to_numpy(), k) if len(cases) else np.array([])
        rate, low, high = _mean_interval(np.asarray(share, float), cases["unit"].to_numpy(), level, weight)
        row |= {name: rate, f"{name}_low": low, f"{name}_high": high}
    return row | {"not_scored": int(part["_passed"].isna().sum())}


def _mean_interval(
    share: Floats, unit: NDArray[np.intp], level: float, weight: float = 1.0
) -> tuple[float, float, float]:
    """Interval of a mean of shares between 0 and 1, clustered by `unit`; each share counts `weight` items."""
    if len(share) == 0:
        return np.nan, 0.0, 1.0
    code = pd.factorize(unit)[0]
    size = np.bincount(code).astype(float) * weight
    sums = np.bincount(code, weights=share * weight).astype(float)
    data = Clusters(np.zeros(len(size), dtype=np.intp), sums, size, 1)
    rate, low, high, _ = intervals(data, level)
    return float(rate[0]), float(low[0]), float(high[0])


def flip_rate(
    runs: Any, *, metric: str | None = None, level: float = 0.95, over: str = "run"
) -> pd.DataFrame:
    """The noise floor: how often the outcome of a case differs between two runs of the same setting.

    Every pair of samples of a case is compared, within a run and between the runs given: the same
    model twice, with another batch size, or with the prefix cache on and off. A difference between
    models below `net` is within what chance alone does.

    Columns: `a`, `b` (the runs; equal for samples within one), `rate` (share of pairs that flip), `low`,
    `high`, `n` (pairs), `clusters`, `net` (difference of the two pass rates).
    """
    check_level(level)
    frame = as_frame(runs)
    check_columns(frame, [over, "case_id"])
    data = frame.assign(_passed=passed(frame, metric), _unit=units(frame)).dropna(subset=["_passed"])
    parts = {str(name): part for name, part in data.groupby(over, sort=False)}
    rows = [_flips(name, name, part, part, level) for name, part in parts.items()]
    rows += [_flips(a, b, parts[a], parts[b], level) for a, b in combinations(parts, 2)]
    table = pd.DataFrame([row for row in rows if row["n"]])
    if table.empty:
        raise DataError(
            "flip_rate: no case occurs twice; give several runs of the same cases, or one run with samples"
        )
    return table


def _flips(a: str, b: str, left: pd.DataFrame, right: pd.DataFrame, level: float) -> dict[str, Any]:
    columns = ["case_id", "sample", "_passed", "_unit"]
    left, right = (side.assign(sample=side.get("sample", 0))[columns] for side in (left, right))
    pairs = left.merge(right, on="case_id", suffixes=("_a", "_b"))
    pairs = pairs[pairs["sample_a"] < pairs["sample_b"]] if a == b else pairs
    flipped = np.where(pairs["_passed_a"] != pairs["_passed_b"], 1.0, 0.0)
    rate, low, high = _mean_interval(flipped, pairs["_unit_a"].to_numpy(), level)
    net = pairs["_passed_b"].mean() - pairs["_passed_a"].mean() if len(pairs) else np.nan
    clusters = int(pairs["_unit_a"].nunique())
    return {
        "a": a,
        "b": b,
        "rate": rate,
        "low": low,
        "high": high,
        "n": len(pairs),
        "clusters": clusters,
        "net": float(net),
    }
