"""A judge's number beside what it is worth: agreement, flips, unreadable verdicts, position and length bias.

found = audit(run, labels="people.csv")     # columns case_id, outcome, and sample where there are several
found.agreement, found.judges, found.position    # DataFrames
"""

from __future__ import annotations

import csv
import io
import math
import warnings
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from fcb_toolkit import jsonl, scoring
from fcb_toolkit.annotations import Annotations
from fcb_toolkit.errors import DataError
from fcb_toolkit.judging.agreement import SIDES, agree
from fcb_toolkit.judging.asking import Key
from fcb_toolkit.judging.options import METRIC
from fcb_toolkit.judging.orders import GIVEN
from fcb_toolkit.judging.position import COLUMNS, majority, position_rows
from fcb_toolkit.judging.votes import Vote, read_votes
from fcb_toolkit.runs import Run

Labels = Mapping[Key, str]


@dataclass(frozen=True, slots=True)
class Audit:
    """`agreement`: one row a pair of raters. `judges`: one row a judge, with calls, second askings, unreadable
    verdicts, flips between votes of one order, and Spearman's rho of a pass with the length of the reply.
    `position`: one row a judge and order of its prompt (see `position`); empty where it was not measured."""

    agreement: pd.DataFrame
    judges: pd.DataFrame
    position: pd.DataFrame


def audit(run: Run, labels: str | Path | None = None) -> Audit:
    """Raises `DataError` for a run that was not judged, or labels that cannot be read.

    Raters: each judge (majority of its votes), the exact stage, the case's own metric, people (corrections
    of the explorer, and the CSV).
    """
    if METRIC not in run.verdicts:
        raise DataError(f"{run.name}: has no rubric verdicts yet; run fcb judge first")
    votes = votes_of(run)
    raters: dict[str, Labels] = {f"judge {name}": _majority(cast) for name, cast in votes.items()}
    if not votes:
        # Judged elsewhere (results of the official tool): the verdicts are there, the votes are not.
        raters["judge as stored"] = {key: str(v.outcome) for key, v in run.verdicts[METRIC].items()}
    judges = list(raters)
    raters["functionchat_exact"] = _outcomes(run, "functionchat_exact", "call")
    raters["own metric"] = _outcomes(run, None)
    raters["people (explorer)"] = _corrections(run)
    if labels is not None:
        raters["people (CSV)"] = read_labels(run, Path(labels))
    rows = []
    for one, other in combinations(raters, 2):
        both = [key for key in raters[one] if key in raters[other]]
        if one in judges and both:
            clusters = [run.case_by_id[key[0]].cluster or key[0] for key in both]
            found = agree([raters[one][k] for k in both], [raters[other][k] for k in both], clusters)
            (a, b), (c, d) = found.table
            cells = {"both_pass": a, "only_first": b, "only_second": c, "both_fail": d}
            numbers = {name: value for name, value in asdict(found).items() if name != "table"}
            rows.append({"first": one, "second": other, **cells, **numbers})
    position = [row for name, cast in votes.items() for row in position_rows(run, name, cast)]
    return Audit(
        pd.DataFrame(rows),
        pd.DataFrame([_judge_row(run, name, cast) for name, cast in votes.items()]),
        pd.DataFrame(position, columns=list(COLUMNS)),
    )


def votes_of(run: Run) -> dict[str, dict[Key, list[Mapping[str, Any]]]]:
    """judge -> {(case id, sample): its votes}, as the stored verdicts hold them."""
    found: dict[str, dict[Key, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for key, verdict in run.verdicts[METRIC].items():
        for vote in verdict.details.get("votes", ()):
            found[vote["judge"]][key].append(vote)
    return found


def read_labels(run: Run, path: Path) -> dict[Key, str]:
    """A CSV with `case_id`, `outcome` (pass, fail, not_scored) and, for several samples, `sample`."""
    rows = csv.DictReader(io.StringIO(jsonl.read_text(path)))
    missing = {"case_id", "outcome"} - set(rows.fieldnames or ())
    if missing:
        raise DataError(
            f"{path} line 1: no column {sorted(missing)[0]!r}; expected case_id, outcome[, sample]"
        )
    found: dict[Key, str] = {}
    for row in rows:
        where = f"{path} line {rows.line_num}"
        if row["outcome"] not in (*SIDES, "not_scored"):
            raise DataError(f"{where}: outcome {row['outcome']!r}, expected pass, fail or not_scored")
        sample = row.get("sample") or "0"
        if row["case_id"] not in run.case_by_id or not sample.isdecimal():
            raise DataError(f"{where}: case {row['case_id']!r} sample {sample!r} is not in run {run.name}")
        found[row["case_id"], int(sample)] = row["outcome"]
    return found


def _majority(cast: Mapping[Key, list[Mapping[str, Any]]]) -> dict[Key, str]:
    return {key: majority(votes) or "not_scored" for key, votes in cast.items()}


def _outcomes(run: Run, metric: str | None, only: str | None = None) -> dict[Key, str]:
    found = {}
    for reply in run.replies:
        case = run.case_by_id[reply.case_id]
        name = metric or scoring.default_metric(case)
        verdict = run.verdicts.get(name, {}).get(reply.key)
        if verdict is not None and only in (None, case.type_of_output):
            found[reply.key] = str(verdict.outcome)
    return found


def _corrections(run: Run) -> dict[Key, str]:
    """What people set in the explorer, on the rubric's verdict or else on the case's own metric."""
    if run.path is None:
        return {}
    notes = Annotations(run.path)
    found = {}
    for reply in run.replies:
        own = scoring.default_metric(run.case_by_id[reply.case_id])
        outcome = notes.of(reply.key, METRIC).outcome or notes.of(reply.key, own).outcome
        if outcome is not None:
            found[reply.key] = outcome
    return found


def _judge_row(run: Run, name: str, cast: Mapping[Key, list[Mapping[str, Any]]]) -> dict[str, Any]:
    votes = [vote for cell in cast.values() for vote in cell]
    kept: dict[str, Vote] = {v.key: v for v in read_votes(run.path)} if run.path is not None else {}
    again = [sides for cell in cast.values() for sides in _by_order(cell) if len(sides) > 1]
    lengths, passed = [], []
    for key, cell in cast.items():
        for vote in cell:
            if vote["verdict"] in SIDES:
                lengths.append(len(run.reply(*key).text or ""))
                passed.append(vote["verdict"] == "pass")
    asked_again = sum(kept[v["key"]].attempt == 1 for v in votes if v["key"] in kept)
    return {
        "judge": name,
        "items": len(cast),
        "votes": len(votes),
        "asked_again": asked_again,
        "unreadable": sum(vote["verdict"] is None for vote in votes),
        "repeated_items": len(again),
        "flipped": sum(len({side for side in cell if side}) > 1 for cell in again),
        "length_rho": _spearman(lengths, passed),
    }


def _by_order(cell: list[Mapping[str, Any]]) -> list[list[Any]]:
    """The verdicts of one reply, apart for each order of the prompt: only the same question is a repetition."""
    sides: dict[str, list[Any]] = defaultdict(list)
    for vote in cell:
        sides[vote.get("order", GIVEN)].append(vote["verdict"])
    return list(sides.values())


def _spearman(lengths: list[int], passed: list[bool]) -> float:
    from scipy.stats import spearmanr

    if len(set(lengths)) < 2 or len(set(passed)) < 2:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(spearmanr(lengths, passed).statistic)
