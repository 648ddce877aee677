"""`fcb report`, `fcb compare`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fcb_toolkit.cli.output import json_option, show

if TYPE_CHECKING:
    from fcb_toolkit.runs import Run


def report_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir", nargs="+")
    verb.add_argument("--out", help="folder of the report; default FIRST_DIR/report")
    verb.add_argument(
        "--parity", action="store_true", help="only the items on which official and our scorer differ"
    )
    verb.add_argument("--judge", action="store_true", help="only what the judges' verdicts are worth")
    verb.add_argument("--labels", help="with --judge: a CSV of people's labels (case_id, outcome[, sample])")
    json_option(verb)


def report(given: argparse.Namespace) -> None:
    """tables with intervals, per-item report, figures"""
    from fcb_toolkit.reports import report_table, write_parity, write_report
    from fcb_toolkit.runs import load_run

    runs = [load_run(folder) for folder in given.dir]
    out = Path(given.out or Path(given.dir[0]) / "report")
    if given.parity:
        table, path = write_parity(runs, out)
        show(table, given.json)
        if not given.json:
            print(f"{len(table)} items differ: {path}")
        return
    if given.judge:
        _judges(runs, out, given)
        return
    written = write_report(runs, out)
    show(report_table(runs).round({"rate": 3, "low": 3, "high": 3}), given.json)
    for name, path in written.items() if not given.json else ():
        print(f"{name}: {path}")


def _judges(runs: Sequence[Run], out: Path, given: argparse.Namespace) -> None:
    from fcb_toolkit.reports import NOT_MEASURED, judge_tables, write_judges

    tables = judge_tables(runs, given.labels)
    paths = write_judges(tables, out)
    if given.json:
        rows = {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for name, path in paths.items():
        show(tables[name], False)
        print(f"{name}: {path}\n")
    if "judge_position" not in paths:
        print(NOT_MEASURED)


def compare_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir_a")
    verb.add_argument("dir_b")
    verb.add_argument("--metric", help="default: each case's own")
    json_option(verb)


def compare(given: argparse.Namespace) -> None:
    """paired comparison of two runs over the same cases"""
    from dataclasses import asdict

    from fcb_toolkit.runs import load_run
    from fcb_toolkit.statistics import compare

    found = compare(load_run(given.dir_a), load_run(given.dir_b), metric=given.metric)
    if given.json:
        print(json.dumps(asdict(found), ensure_ascii=False, indent=1, default=str))
    else:
        for name, value in asdict(found).items():
            print(f"{name:24} {value:.4g}" if isinstance(value, float) else f"{name:24} {value}")
