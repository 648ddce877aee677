"""Runs as columns of small integers, so that 50,000 cases can be filtered and counted in milliseconds.

    table = Table((run_a, run_b))
    table.column("verdict", View(run=0, metric="")).labels == ("fail", "pass", "not_scored", "no reply")

A row is a case and sample; it is there if any of the runs has it. Nothing is parsed here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fcb_toolkit import scoring
from fcb_toolkit.records import Case, Reply, Verdict
from fcb_toolkit.runs import Run
from fcb_toolkit.runs.record import Key

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
T = TypeVar("T")

OUTCOMES = ("fail", "pass", "not_scored", "no reply")
FAIL, PASS, NOT_SCORED, MISSING = range(4)
QUADRANTS = ("both right", "only A right", "only B right", "both wrong", "not comparable")
TOKEN_BINS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
EMPTY = "—"


@dataclass(frozen=True, slots=True)
class View:
    """What a row's verdict is read from: the run, the metric ("" is each case's own), the run compared with."""

    run: int = 0
    metric: str = ""
    other: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One label per row."""

    codes: Codes
    labels: tuple[str, ...]

    def counts(self, mask: Mask) -> list[int]:
        return [int(n) for n in np.bincount(self.codes[mask], minlength=len(self.labels))]

    def mask(self, label: str) -> Mask:
        code = self.labels.index(label) if label in self.labels else -1
        return np.equal(self.codes, code)


@dataclass(frozen=True, slots=True, eq=False)
class Flags:
    """Any number of labels per row."""

    masks: Mapping[str, Mask]
    size: int

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.masks)

    def counts(self, mask: Mask) -> list[int]:
        return [int(np.count_nonzero(found & mask)) for found in self.masks.values()]

    def mask(self, label: str) -> Mask:
        found = self.masks.get(label)
        return found if found is not None else np.zeros(self.size, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    outcome: Column
    failure: Column


def column(values: Iterable[str], first: Sequence[str] = ()) -> Column:
    """Codes in the order in which the labels are met, after those of `first`."""
    places = {label: place for place, label in enumerate(first)}
    codes = np.fromiter((places.setdefault(value, len(places)) for value in values), np.int32)
    return Column(codes, tuple(places))


class Table:
    """Columns are made when first asked for, then kept; the runs do not change."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = tuple(runs)
        keys: dict[Key, None] = {}
        cases: dict[str, Case] = {}
        for run in self.runs:
            for case in run.cases:
                cases.setdefault(case.id, case)
            keys.update(dict.fromkeys(reply.key for reply in run.replies))
        place = {case_id: number for number, case_id in enumerate(cases)}
        answered = {key[0] for key in keys}
        keys.update(dict.fromkeys((case_id, 0) for case_id in cases if case_id not in answered))
        self.keys: tuple[Key, ...] = tuple(sorted(keys, key=lambda key: (place[key[0]], key[1])))
        self.cases: tuple[Case, ...] = tuple(cases[case_id] for case_id, _ in self.keys)
        self._made: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def row_of(self) -> Mapping[Key, int]:
        return {key: row for row, key in enumerate(self.keys)}

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics with stored verdicts in any run."""
        return tuple(sorted({name for run in self.runs for name, rows in run.verdicts.items() if rows}))

    @cached_property
    def own_metrics(self) -> tuple[str, ...]:
        """Each row's own metric."""
        return tuple(map(scoring.default_metric, self.cases))

    def metric_of(self, row: int, view: View) -> str:
        return view.metric or self.own_metrics[row]

    def reply(self, row: int, run: int) -> Reply | None:
        return self.runs[run].reply_by_key.get(self.keys[row])

    def verdict(self, row: int, view: View) -> Verdict | None:
        return self.runs[view.run].verdicts.get(self.metric_of(row, view), {}).get(self.keys[row])

    def scores(self, run: int, metric: str) -> Scores:
        return self._once(("scores", run, metric), lambda: self._scores(run, metric))

    def column(self, facet: str, view: View) -> Column | Flags:
        """The column behind a filter; see `FACETS` in `state`."""
        if facet == "verdict":
            return self.scores(view.run, view.metric).outcome
        if facet == "failure":
            return self.scores(view.run, view.metric).failure
        if facet == "quadrant":
            return self._once((facet, view), lambda: self._quadrants(view))
        if facet == "tool":
            tools = (self._tool(row, view.run) for row in range(len(self)))
            return self._once((facet, view.run), lambda: column(tools))
        if facet in ("benchmark", "category", "condition"):
            return self._once(facet, lambda: column(getattr(case, facet) or EMPTY for case in self.cases))
        makers: Mapping[str, Callable[[int], Column | Flags]] = {
            "disagreement": self._disagreements,
            "prompt tokens": lambda run: self._tokens(run, "prompt_tokens"),
            "reply tokens": lambda run: self._tokens(run, "reply_tokens"),
        }
        return self._once((facet, view.run), lambda: makers[facet](view.run))

    def haystack(self, run: int) -> tuple[str, ...]:
        """What the text search looks into: id, conversation's last user turn, gold and the run's reply."""
        return self._once(
            ("haystack", run), lambda: tuple(self._searched(row, run) for row in range(len(self)))
        )

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    def _scores(self, run: int, metric: str) -> Scores:
        replies = self.runs[run].reply_by_key
        stored = self.runs[run].verdicts
        outcomes = np.full(len(self), MISSING, np.int32)
        places = {EMPTY: 0}
        failures = np.zeros(len(self), np.int32)
        code = {"fail": FAIL, "pass": PASS, "not_scored": NOT_SCORED}
        names = (metric,) * len(self) if metric else self.own_metrics
        for row, (key, name) in enumerate(zip(self.keys, names, strict=True)):
            verdict = stored.get(name, {}).get(key)
            if verdict is None:
                outcomes[row] = NOT_SCORED if key in replies else MISSING
                continue
            outcomes[row] = code[verdict.outcome]
            if verdict.failure is not None:
                failures[row] = places.setdefault(str(verdict.failure), len(places))
        return Scores(Column(outcomes, OUTCOMES), Column(failures, tuple(places)))

    def _tool(self, row: int, run: int) -> str:
        """The gold's tool; where the gold calls none, the one that the own metric names (slot questions)."""
        tool = tool_of(self.cases[row])
        if tool != EMPTY:
            return tool
        verdict = self.verdict(row, View(run))
        return str(verdict.details.get("tool") or EMPTY) if verdict is not None else EMPTY

    def _quadrants(self, view: View) -> Column:
        if view.other is None:
            return Column(np.full(len(self), 4, np.int32), QUADRANTS)
        a = self.scores(view.run, view.metric).outcome.codes
        b = self.scores(view.other, view.metric).outcome.codes
        codes = np.select(
            [(a > PASS) | (b > PASS), (a == PASS) & (b == PASS), a == PASS, b == PASS], [4, 0, 1, 2], 3
        )
        return Column(codes.astype(np.int32), QUADRANTS)

    def _disagreements(self, run: int) -> Flags:
        """Pairs of metrics of which one passes what the other fails, and judges that are not of one mind."""
        masks: dict[str, Mask] = {}
        codes = {name: self.scores(run, name).outcome.codes for name in self.metrics}
        for left, right in combinations(codes, 2):
            differ = (codes[left] + codes[right] == FAIL + PASS) & (codes[left] != codes[right])
            if differ.any():
                masks[f"{left} ≠ {right}"] = differ
        judges = self._split_judges(run)
        if judges.any():
            masks["judges"] = judges
        if masks:
            masks = {"any": np.logical_or.reduce(list(masks.values())), **masks}
        return Flags(masks, len(self))

    def _split_judges(self, run: int) -> Mask:
        split = np.zeros(len(self), np.bool_)
        for key, verdict in self.runs[run].verdicts.get("rubric", {}).items():
            votes = verdict.details.get("votes")
            values = (
                votes.values() if isinstance(votes, Mapping) else votes if isinstance(votes, list) else ()
            )
            said = {vote.get("verdict") if isinstance(vote, Mapping) else vote for vote in values}
            if len({str(side) for side in said if side is not None}) > 1 and key in self.row_of:
                split[self.row_of[key]] = True
        return split

    def _tokens(self, run: int, name: str) -> Column:
        replies = self.runs[run].reply_by_key
        counts = np.fromiter(
            (
                -1 if (r := replies.get(key)) is None or getattr(r, name) is None else getattr(r, name)
                for key in self.keys
            ),
            np.int64,
            len(self),
        )
        low = (0, *(edge + 1 for edge in TOKEN_BINS))
        labels = [f"{a:,} to {b:,}" for a, b in zip(low, TOKEN_BINS, strict=False)] + [
            f"over {TOKEN_BINS[-1]:,}",
            "unknown",
        ]
        codes = np.where(counts < 0, len(labels) - 1, np.searchsorted(TOKEN_BINS, counts))
        return Column(codes.astype(np.int32), tuple(labels))

    def _searched(self, row: int, run: int) -> str:
        case, reply = self.cases[row], self.reply(row, run)
        parts = (
            case.id,
            last_user_text(case),
            str(case.ground_truth or ""),
            (reply.text or "") if reply else "",
        )
        return folded("\n".join(parts))


def folded(text: str) -> str:
    """Composed and without letter case, so that Hangul is found however it was typed."""
    text = (
        text
        if text.isascii() or unicodedata.is_normalized("NFC", text)
        else unicodedata.normalize("NFC", text)
    )
    return text.casefold()


def last_user_text(case: Case) -> str:
    for message in reversed(case.messages):
        if message.get("role") == "user":
            content = message.get("content")
            return content if isinstance(content, str) else str(content or "")
    return ""


def tool_of(case: Case) -> str:
    """The tool that a right answer calls first (of a program: the checklist's first); no argument is read."""
    truth = case.ground_truth
    if isinstance(truth, Mapping) and truth.get("tool_calls"):
        truth = truth["tool_calls"]
    if isinstance(truth, Sequence) and not isinstance(truth, str) and truth:
        truth = truth[0]
    if isinstance(truth, Mapping):
        function = truth.get("function", truth)
        name = function.get("name") if isinstance(function, Mapping) else None
        if isinstance(name, str) and name:
            return name
    functions = truth.get("functions") if isinstance(truth, Mapping) else None
    return str(functions[0]) if isinstance(functions, (list, tuple)) and functions else EMPTY
