"""What the commands print: tables for people, JSON for programs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from fcb_toolkit.runs import Run


def json_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="machine-readable output")


def show(rows: pd.DataFrame, as_json: bool) -> None:
    print(
        rows.to_json(orient="records", force_ascii=False, indent=1)
        if as_json
        else rows.to_string(index=False)
    )


def rates(runs: Run | Sequence[Run], by: Sequence[str], metric: str | None = None) -> pd.DataFrame:
    """Pass rates with intervals, rounded for a screen."""
    from fcb_toolkit.statistics import summarize

    table = summarize(runs, by=list(by), metric=metric)
    return table.round({"rate": 3, "low": 3, "high": 3})
