"""`fcb report --judge`: what the judges' verdicts are worth, as three tables.

write_judges(judge_tables([run], labels="people.csv"), out)
# judge_agreement.csv judges.csv judge_position.csv
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from fcb_toolkit.jsonl import write_atomic
from fcb_toolkit.judging import audit
from fcb_toolkit.runs import Run

NOT_MEASURED = "position bias: not measured; judge with fcb judge --both-orders"


def judge_tables(runs: Sequence[Run], labels: str | Path | None = None) -> dict[str, pd.DataFrame]:
    """`judge_agreement`, `judges` and `judge_position` of all runs; see `judging.audit`. Errors as there."""
    found = [(run.name, audit(run, labels)) for run in runs]
    tables = {
        "judge_agreement": [audited.agreement.assign(run=name) for name, audited in found],
        "judges": [audited.judges.assign(run=name) for name, audited in found],
        "judge_position": [audited.position.assign(run=name) for name, audited in found],
    }
    return {name: _joined(parts) for name, parts in tables.items()}


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    # An empty table has no types, and pandas warns of joining it.
    full = [part for part in parts if not part.empty] or list(parts[:1])
    table = pd.concat(full, ignore_index=True)
    return table[["run", *(column for column in table if column != "run")]].round(3)


def write_judges(tables: Mapping[str, pd.DataFrame], out: Path) -> dict[str, Path]:
    """The tables as CSV files in `out`; gives their paths. A table without rows is not written."""
    paths = {name: out / f"{name}.csv" for name, table in tables.items() if not table.empty}
    for name, path in paths.items():
        write_atomic(path, tables[name].to_csv(index=False, lineterminator="\n"))
    return paths
