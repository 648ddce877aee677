"""Two models on the same items: paired difference, exact McNemar test, and what these items can show.

    result = compare(run_a, run_b)
    result.difference, result.low, result.high, result.mcnemar_p     # b minus a

Miller 2024 (arXiv 2411.00640) on paired and clustered differences; Tango 1998 for the interval.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.statistics.differences import Pairs, interval, least_difference, permutation_p
from fcb_toolkit.statistics.inputs import as_frame, passed, units
from fcb_toolkit.statistics.intervals import check_level

SAME_PROBLEMS = ("dpab/json", "dpab/pythonic")
"""Benchmarks that ask the same problems under other ids: a problem has one `serial_num` in all of them."""
COUNTS = ("difference", "rate_a", "rate_b", "n", "clusters", "both", "only_a", "only_b", "neither")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model b against model a on the items that both have and that are scored for both.

    Rates and differences are shares (0.02 is two points). `difference` is b minus a.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    level: float
    rate_a: float
    rate_b: float
    n: int
    """Pairs that are scored for both; all numbers here are of these."""
    clusters: int
    both: int
    """Pairs that both pass."""
    only_a: int
    only_b: int
    neither: int
    mcnemar_p: float
    """Exact McNemar test (binomial on the discordant pairs). It takes pairs as independent."""
    permutation_p: float
    """The same question with clusters kept whole: all of a cluster's pairs change sides together.
    Equals the exact McNemar p where there are no clusters."""
    minimum_detectable: float
    """The smallest true difference that this many items show with 80% power at this level."""
    not_scored_a: int
    not_scored_b: int
    """Rows of each side without a verdict; their pairs are left out."""
    unpaired: int
    """Rows of either side whose case and sample the other side lacks."""
    paired_by: str = "case_id"
    """`case_id`, or `serial_num` with the names of two benchmarks that ask the same problems."""

    @property
    def interval(self) -> tuple[float, float]:
        return self.low, self.high

    def to_frame(self) -> pd.DataFrame:
        """One row, one column a field."""
        return pd.DataFrame([asdict(self)])


def compare(
    a: Any,
    b: Any,
    *,
    metric: str | None = None,
    level: float = 0.95,
    cluster: str | None = "cluster",
) -> Comparison:
    """The paired comparison of two runs on the same cases (b minus a).

    `a` and `b` are Runs or frames of `to_frame` with one run each. Pairs share case id and sample, or, where
    one side is dpab/json and the other dpab/pythonic, serial number and sample (`paired_by` says which).
    The interval is Tango's score interval, at the effective number of pairs where pairs come in
    clusters (see docs/statistics.md). Raises `DataError` where no case is in both, or where a case
    and sample occurs twice on one side.
    """
    check_level(level)
    left, right = _side(a, metric, "first"), _side(b, metric, "second")
    paired_by = _paired_by(left, right)
    both = left.merge(right, on=[paired_by.split()[0], "sample"], suffixes=("_a", "_b"), validate="1:1")
    if both.empty:
        raise DataError(
            f"compare: the runs share no case: the first has {len(left)} rows "
            f"({_example(left)}), the second {len(right)} ({_example(right)}); give two runs of one benchmark"
        )
    scored = both.dropna(subset=["passed_a", "passed_b"]).rename(columns={"cluster_a": "cluster"})
    data = Pairs.of(scored["passed_a"].to_numpy(), scored["passed_b"].to_numpy(), units(scored, cluster))
    low, high = interval(data, level)
    names = _names(a, b)
    counts = {name: getattr(data, name) for name in COUNTS}
    return Comparison(
        a=names[0],
        b=names[1],
        low=low,
        high=high,
        level=level,
        mcnemar_p=_mcnemar(data),
        permutation_p=permutation_p(data),
        minimum_detectable=least_difference(data, level),
        not_scored_a=int(left["passed"].isna().sum()),
        not_scored_b=int(right["passed"].isna().sum()),
        unpaired=len(left) + len(right) - 2 * len(both),
        paired_by=paired_by,
        **counts,
    )


def compare_all(
    runs: Any,
    *,
    metric: str | None = None,
    level: float = 0.95,
    cluster: str | None = "cluster",
    over: str = "run",
    baseline: str | None = None,
) -> pd.DataFrame:
    """Each pair of runs compared: the fields of `Comparison`, one row a pair, with Holm's correction.

    `mcnemar_p_holm` and `permutation_p_holm` are adjusted over all pairs of the table (Holm 1979,
    statsmodels). `over` names the column that tells the sides apart (`run` or `model`). With a
    `baseline` only the pairs (baseline, other) are compared and corrected for.
    """
    from statsmodels.stats.multitest import multipletests

    frame = as_frame(runs)
    if over not in frame.columns:
        raise DataError(f"compare_all: the frame has no column {over!r} to tell the sides apart")
    parts = {str(name): part for name, part in frame.groupby(over, sort=False)}
    if len(parts) < 2:
        raise DataError(f"compare_all: found {len(parts)} {over}, expected two or more")
    if baseline is not None and baseline not in parts:
        raise UnknownName(over, baseline, parts)
    pairs = (
        [(baseline, other) for other in parts if other != baseline] if baseline else combinations(parts, 2)
    )
    options: dict[str, Any] = {"metric": metric, "level": level, "cluster": cluster}
    rows = [{**asdict(compare(parts[a], parts[b], **options)), "a": a, "b": b} for a, b in pairs]
    table = pd.DataFrame(rows)
    for name in ("mcnemar_p", "permutation_p"):
        table[f"{name}_holm"] = multipletests(table[name], method="holm")[1]
    return table


def _mcnemar(data: Pairs) -> float:
    from statsmodels.stats.contingency_tables import mcnemar

    table = [[data.both, data.only_a], [data.only_b, data.neither]]
    return float(mcnemar(table, exact=True).pvalue) if data.only_a + data.only_b else 1.0


def _side(runs: Any, metric: str | None, which: str) -> pd.DataFrame:
    frame = as_frame(runs)
    if "case_id" not in frame.columns:
        raise DataError(
            f"compare: the {which} side has no column 'case_id'; expected a frame of fcb.to_frame"
        )
    side = pd.DataFrame({"case_id": frame["case_id"].astype(str)})
    side["sample"] = frame["sample"] if "sample" in frame.columns else 0
    for name in ("cluster", "benchmark", "serial_num"):
        if name in frame.columns:
            side[name] = frame[name]
    side["passed"] = passed(frame, metric)
    twice = side.duplicated(["case_id", "sample"])
    if twice.any():
        row = side[twice].iloc[0]
        raise DataError(
            f"compare: case {row['case_id']!r} sample {row['sample']} occurs twice in the {which} side; "
            "give one run a side, or use compare_all"
        )
    return side


def _paired_by(left: pd.DataFrame, right: pd.DataFrame) -> str:
    if not {"benchmark", "serial_num"} <= {*left.columns} & {*right.columns}:
        return "case_id"
    names = [*left["benchmark"].unique(), *right["benchmark"].unique()]
    numbered = left["serial_num"].notna().all() and right["serial_num"].notna().all()
    if sorted(map(str, names)) != list(SAME_PROBLEMS) or not numbered:
        return "case_id"
    return f"serial_num ({names[0]} with {names[1]})"


def _example(side: pd.DataFrame) -> str:
    return f"such as {side['case_id'].iloc[0]!r}" if len(side) else "none"


def _names(a: Any, b: Any) -> tuple[str, str]:
    """The models' names; the runs' where both are of one model (free and constrained)."""
    names = ("", "")
    for kind in ("model", "run"):
        names = (_name(a, kind), _name(b, kind))
        if names[0] != names[1]:
            break
    return names


def _name(runs: Any, kind: str) -> str:
    if isinstance(runs, pd.DataFrame):
        one = kind in runs.columns and runs[kind].nunique() == 1
        return str(runs[kind].iloc[0]) if one else ""
    return str(getattr(runs, "model_name" if kind == "model" else "name", ""))
