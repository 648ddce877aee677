"""`fcb report --parity`: the items on which the official exact stage and `call_match` differ, with both reasons."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from fcb_toolkit.jsonl import write_atomic
from fcb_toolkit.runs import Run
from fcb_toolkit.scoring import parity_rows

COLUMNS = ("run", "case_id", "official", "ours", "reason", "official_reason", "ours_reason")


def parity_table(run: Run) -> pd.DataFrame:
    """One row a reply on which the two differ; columns as in `COLUMNS`."""
    calls = [r for r in run.replies if run.case_by_id[r.case_id].type_of_output == "call"]
    pairs = [(run.case_by_id[r.case_id], run.answer(r)) for r in calls if r.finish_reason != "error"]
    rows = [{"run": run.name, **asdict(row)} for row in parity_rows(pairs)]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(str)


def write_parity(runs: list[Run], out: Path) -> tuple[pd.DataFrame, Path]:
    """The table of all runs, also written to `out/parity.csv`."""
    table = pd.concat([parity_table(run) for run in runs], ignore_index=True)
    path = out / "parity.csv"
    write_atomic(path, table.to_csv(index=False, lineterminator="\n"))
    return table, path
