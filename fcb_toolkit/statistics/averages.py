"""Averages over categories, as the official FunctionChat-Bench tool and its paper define them, by name.

    averages(run)        # one row an average: name, rate, passes, of, definition

Read from the official tool at commit cb32af3 (`evaluation_registor.py`): its own names are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fcb_toolkit.statistics.inputs import as_frame, passed

DIALOG_SIZE = 200
"""The official dialog average divides by this constant, however many rows were evaluated."""
DIALOG_TYPES = ("call", "completion", "slot", "relevance")

DEFINITIONS = {
    "micro": "passes / (passes + fails) over all rows; rows that are not scored are in neither",
    "macro": "mean over categories (tool lists in single call) of passes / (passes + fails)",
    "official singlecall total_pass_rate": "passes / all rows; an unreadable verdict counts as not passed",
    "official dialog avg(micro)": f"passes / {DIALOG_SIZE}, however many rows there are",
    "official calldecision total_pass_rate": "passes / (passes + fails) over all categories",
}


def averages(runs: Any, *, metric: str | None = None, by: str = "run") -> pd.DataFrame:
    """Micro and macro average of each run and benchmark, ours and the official tool's.

    Columns: `by`, `benchmark`, `average` (a key of `DEFINITIONS`), `rate`, `definition`. The official
    ones come only for FunctionChat-Bench, one a benchmark: the tool prints a micro average and the rate
    of each category (`summarize(by="category")`, or `by="condition"` in single call), never a macro
    average; published macro averages are the mean of those rates, our `macro`. Official and ours agree
    where every row is scored and the whole benchmark was run.
    """
    frame = as_frame(runs)
    data = pd.DataFrame({"passed": passed(frame, metric)})
    for name in (by, "benchmark", "category", "condition", "type_of_output"):
        data[name] = frame[name].to_numpy() if name in frame.columns else ""
    rows = []
    for (side, benchmark), part in data.groupby([by, "benchmark"], sort=False):
        for name, rate in (_ours(part) | _official(str(benchmark), part)).items():
            rows.append(
                {
                    by: side,
                    "benchmark": benchmark,
                    "average": name,
                    "rate": rate,
                    "definition": DEFINITIONS[name],
                }
            )
    return pd.DataFrame(rows, columns=[by, "benchmark", "average", "rate", "definition"])


def _ours(part: pd.DataFrame) -> dict[str, float]:
    column = "condition" if (part["condition"] != "").any() else "category"
    return {"micro": part["passed"].mean(), "macro": part.groupby(column)["passed"].mean().mean()}


def _official(benchmark: str, part: pd.DataFrame) -> dict[str, float]:
    if benchmark == "functionchat/singlecall":
        return {"official singlecall total_pass_rate": part["passed"].fillna(0).mean()}
    if benchmark == "functionchat/dialog":
        types = part[part["type_of_output"].isin(DIALOG_TYPES)]
        return {"official dialog avg(micro)": types["passed"].sum() / DIALOG_SIZE}
    if benchmark == "functionchat/calldecision":
        rate = part["passed"].mean()
        return {"official calldecision total_pass_rate": 0.0 if np.isnan(rate) else rate}
    return {}
