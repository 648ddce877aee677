"""Failures by kind, tool and category; items whose gold is suspect; rates before and after correction.

cohorts(table, View(), rows)[0] == Cohort("wrong_value", "get_weather", "call", failures=12, of=40)
suspects(table, View())[0] == Suspect(row=7, reasons=("all 3 runs fail",))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcb_toolkit.annotations import Annotations
from fcb_toolkit.records import Outcome
from fcb_toolkit.widgets.table import FAIL, NOT_SCORED, PASS, Column, Mask, Table, View

PARTS = ("failure", "tool", "category")
JUDGES = ("rubric",)
"""Metrics that a judge decides, and not the gold."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """`of` counts the scored items with the same tool and category, whatever their outcome."""

    failure: str
    tool: str
    category: str
    failures: int
    of: int


@dataclass(frozen=True, slots=True)
class Suspect:
    row: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rate:
    passes: int
    scored: int
    not_scored: int
    missing: int = 0

    @property
    def rate(self) -> float | None:
        return self.passes / self.scored if self.scored else None


def cohorts(
    table: Table, view: View, rows: NDArray[np.intp] | None = None, parts: Sequence[str] = PARTS
) -> tuple[Cohort, ...]:
    """Groups of failing rows by `parts`, the largest first. A part that is left out is "" in the result."""
    rows = np.arange(len(table)) if rows is None else rows
    outcome = table.scores(view.run, view.metric).outcome.codes[rows]
    columns = {part: _column(table, part, view) for part in parts}
    codes = {part: found.codes[rows] for part, found in columns.items()}
    failing, scored = outcome == FAIL, outcome <= PASS
    totals = _groups([codes[part] for part in parts if part != "failure"], scored)
    found = []
    for group, count in _groups([codes[part] for part in parts], failing).items():
        labels = {part: columns[part].labels[code] for part, code in zip(parts, group, strict=True)}
        place = tuple(code for part, code in zip(parts, group, strict=True) if part != "failure")
        names = [labels.get(part, "") for part in PARTS]
        found.append(Cohort(names[0], names[1], names[2], count, totals[place]))
    return tuple(sorted(found, key=lambda c: (-c.failures, c.failure, c.tool, c.category)))


def _column(table: Table, part: str, view: View) -> Column:
    found = table.column(part, view)
    assert isinstance(found, Column)
    return found


def _groups(codes: Sequence[NDArray[np.int32]], mask: Mask) -> dict[tuple[int, ...], int]:
    if not codes:
        return {(): int(mask.sum())}
    stacked = np.stack([one[mask] for one in codes], axis=1)
    groups, counts = np.unique(stacked, axis=0, return_counts=True)
    return {tuple(group): int(n) for group, n in zip(groups.tolist(), counts, strict=True)}


def suspects(table: Table, view: View) -> tuple[Suspect, ...]:
    """Items whose gold may be wrong: every run (of two or more) fails, or a judge passes what the gold fails.

    Those with most reasons first.
    """
    reasons: dict[int, list[str]] = {}
    outcomes = [table.scores(run, view.metric).outcome.codes for run in range(len(table.runs))]
    if len(outcomes) > 1:
        for row in np.flatnonzero(np.all([codes == FAIL for codes in outcomes], axis=0)):
            reasons.setdefault(int(row), []).append(f"all {len(outcomes)} runs fail")
    for run, codes in enumerate(outcomes):
        for judge in JUDGES:
            if judge not in table.metrics or judge == view.metric:
                continue
            judged = table.scores(run, judge).outcome.codes
            text = f"{judge} contradicts the gold" + (
                f" in {table.runs[run].name}" if len(outcomes) > 1 else ""
            )
            for row in np.flatnonzero((codes + judged == FAIL + PASS) & (codes != judged)):
                reasons.setdefault(int(row), []).append(text)
    found = [Suspect(row, tuple(why)) for row, why in reasons.items()]
    return tuple(sorted(found, key=lambda one: (-len(one.reasons), one.row)))


def rate(table: Table, view: View, rows: NDArray[np.intp] | None = None) -> Rate:
    """Passes among the scored rows, by the metric alone."""
    codes = table.scores(view.run, view.metric).outcome.codes
    return _rate(codes if rows is None else codes[rows])


def corrected_rate(
    table: Table, view: View, notes: Annotations, rows: NDArray[np.intp] | None = None
) -> tuple[Rate, int]:
    """The same with people's corrections in place of the metric's verdicts, and how many verdicts changed."""
    codes = table.scores(view.run, view.metric).outcome.codes.copy()
    original = codes.copy()
    place = {str(Outcome.FAIL): FAIL, str(Outcome.PASS): PASS, str(Outcome.NOT_SCORED): NOT_SCORED}
    for row in _rows_of(table, notes.keys()):
        found = notes.of(table.keys[row], table.metric_of(row, view)).outcome
        if found is not None:
            codes[row] = place[found]
    chosen = np.arange(len(table)) if rows is None else rows
    return _rate(codes[chosen]), int(np.count_nonzero(codes[chosen] != original[chosen]))


def _rows_of(table: Table, keys: Iterable[tuple[str, int]]) -> list[int]:
    return [table.row_of[key] for key in keys if key in table.row_of]


def _rate(codes: NDArray[np.int32]) -> Rate:
    counts = np.bincount(codes, minlength=4)
    return Rate(int(counts[PASS]), int(counts[PASS] + counts[FAIL]), int(counts[NOT_SCORED]), int(counts[3]))
