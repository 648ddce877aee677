"""How fast are the statistics? 1,000,000 rows summarised by two columns with clusters, and other sizes.

    python benchmarks/summaries.py [--quick] [--json]

(Not called statistics.py: a script's folder comes first on the path, and numpy imports the standard one.)

The peer of `summarize` is what a notebook would do by hand: statsmodels' cluster-robust fit per group.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from fcb_toolkit.statistics import compare, summarize

MODELS, CATEGORIES = 12, 8


def made(rows: int, seed: int = 0) -> pd.DataFrame:
    """A frame with the columns that matter, five rows a cluster, strings as in a real run."""
    rng = np.random.default_rng(seed)
    item = np.arange(rows) // MODELS
    frame = pd.DataFrame(
        {
            "model": np.char.add("model-", (np.arange(rows) % MODELS).astype(str)),
            "benchmark": "functionchat/singlecall",
            "case_id": np.char.add("functionchat/singlecall/", item.astype(str)),
            "sample": 0,
            "category": np.char.add("category-", (item // 5 % CATEGORIES).astype(str)),
            "cluster": np.char.add("query-", (item // 5).astype(str)),
            "outcome": rng.choice(["pass", "fail", "not_scored"], rows, p=[0.6, 0.38, 0.02]),
        }
    )
    frame["run"] = frame["model"]
    return frame


def by_hand(frame: pd.DataFrame) -> None:
    """statsmodels per group: the same clusters, a t interval."""
    import statsmodels.formula.api as smf

    scored = frame[frame["outcome"] != "not_scored"]
    scored = scored.assign(y=(scored["outcome"] == "pass").astype(float))
    for _, part in scored.groupby(["model", "category"]):
        groups = pd.factorize(part["cluster"])[0]
        smf.ols("y ~ 1", part).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True).conf_int()


def timed(work: Callable[[], object], repeats: int) -> list[float]:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="three repetitions instead of ten")
    parser.add_argument("--json", action="store_true", help="one JSON object last")
    options = parser.parse_args()
    repeats = 3 if options.quick else 10
    frame = made(1_000_000)
    ours = timed(lambda: summarize(frame, by=["model", "category"]), repeats)
    peer = timed(lambda: by_hand(frame), repeats)
    sides = [frame[frame["model"] == name] for name in ("model-0", "model-1")]
    paired = timed(lambda: compare(*sides), repeats)
    ratios = [b / a for a, b in zip(ours, peer, strict=True)]
    result = {
        "summarize_1m_rows_seconds": round(float(np.median(ours)), 3),
        "summarize_1m_rows_slowest_seconds": round(max(ours), 3),
        "statsmodels_1m_rows_seconds": round(float(np.median(peer)), 3),
        "compare_83k_pairs_seconds": round(float(np.median(paired)), 3),
        "ratio_statsmodels": {
            "median": round(float(np.median(ratios)), 2),
            "low": round(min(ratios), 2),
            "high": round(max(ratios), 2),
        },
        "groups": MODELS * CATEGORIES,
        "repetitions": repeats,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    for name, value in result.items():
        print(f"{name:34} {value}")
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
