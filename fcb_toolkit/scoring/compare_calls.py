"""Calls against gold calls: the pairing, the verdict and the sentence that explains it.

    compare_calls((GoldCall("f", {}),), (ToolCall("g", {}),), tools, DEFAULT).failure -> wrong_tool

`call_match` reads golds and predictions; here they are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.records import FailureKind, Outcome, Tool, ToolCall, Verdict, tool_name, tool_parameters
from fcb_toolkit.scoring.arguments import ORDER, CallCheck, Problem, check_call, plainly_right
from fcb_toolkit.scoring.gold import GoldCall
from fcb_toolkit.scoring.matching import assign, in_order
from fcb_toolkit.scoring.strings import POLICIES, Policy
from fcb_toolkit.scoring.verdicts import plural
from fcb_toolkit.text import nfc

_NOTHING: Mapping[str, Any] = {}
_SHOWN = 20
"""Problems kept in the details: a model in a loop invents arguments by the thousand."""


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """`ordered`: calls must come in the order of the gold. `extra`: surplus calls are ignored."""

    ordered: bool = False
    extra: bool = False
    steps: Policy = POLICIES["korean"]


DEFAULT = MatchOptions()


def compare_calls(
    golds: tuple[GoldCall, ...], calls: tuple[ToolCall, ...], tools: Sequence[Tool], options: MatchOptions
) -> Verdict:
    """The verdict on calls that could be read; `details["score"]` is the share of calls that match."""
    if not golds:
        return _nonewanted(calls, options)
    if not calls:
        return Verdict.failed(FailureKind.MISSING_CALL, f"expected {wanted(golds)}, found no call", score=0.0)
    if len(golds) == 1 and len(calls) == 1:
        return _match_one(golds[0], calls[0], tools, options)
    offered = {tool_name(tool): tool for tool in tools}
    golds = tuple(_offered_name(call, offered) for call in golds)
    return _match_many(golds, calls, offered, options)


def _nonewanted(calls: tuple[ToolCall, ...], options: MatchOptions) -> Verdict:
    if not calls or options.extra:
        return Verdict.passed("no call expected and none counted", score=1.0)
    return Verdict.failed(
        FailureKind.UNEXPECTED_CALL, f"expected no call, found {_names(c.name for c in calls)}", score=0.0
    )


def _match_one(gold: GoldCall, call: ToolCall, tools: Sequence[Tool], options: MatchOptions) -> Verdict:
    name = nfc(call.name) if "nfc" in options.steps else call.name
    if name != gold.name:
        offered = {tool_name(tool): tool for tool in tools}
        gold = _offered_name(gold, offered)
        if name != gold.name and offered and name not in offered:
            return _unknown([call.name], offered, 0.0)
        if name != gold.name:
            return Verdict.failed(
                FailureKind.WRONG_TOOL, f"expected a call of {gold.name}, found {name[:80]}", score=0.0
            )
    if plainly_right(gold, call):
        return _PLAIN_PASS
    check = check_call(gold, call, _properties(_find(tools, name)), options.steps)
    if not check.problems:
        return _passed([check])
    return _failed(check.problems, gold.name, 0.0)


def _match_many(
    golds: tuple[GoldCall, ...],
    calls: tuple[ToolCall, ...],
    offered: Mapping[str, Tool],
    options: MatchOptions,
) -> Verdict:
    names = [nfc(call.name) if "nfc" in options.steps else call.name for call in calls]
    checks = [
        [
            check_call(gold, call, _properties(offered.get(name)), options.steps)
            if gold.name == name
            else None
            for call, name in zip(calls, names, strict=True)
        ]
        for gold in golds
    ]
    fits = [[one is not None and not one.problems for one in row] for row in checks]
    pairs = (in_order if options.ordered else assign)(fits)
    matched = [checks[row][column] for row, column in enumerate(pairs) if column is not None]
    if len(matched) == len(golds) and (options.extra or len(calls) == len(golds)):
        return _passed([one for one in matched if one is not None])
    score = len(matched) / (len(golds) if options.extra else max(len(golds), len(calls)))
    return _why_not(golds, names, _Pairing(pairs, checks, offered, options), score)


@dataclass(frozen=True, slots=True)
class _Pairing:
    pairs: list[int | None]
    checks: list[list[CallCheck | None]]
    offered: Mapping[str, Tool]
    options: MatchOptions


def _why_not(golds: tuple[GoldCall, ...], names: list[str], pairing: _Pairing, score: float) -> Verdict:
    """The first kind in the contract's order that applies to calls that were not matched."""
    taken = {column for column in pairing.pairs if column is not None}
    rest = [column for column in range(len(names)) if column not in taken]
    open_golds = [row for row, column in enumerate(pairing.pairs) if column is None]
    unknown = [names[column] for column in rest if pairing.offered and names[column] not in pairing.offered]
    if unknown and not pairing.options.extra:
        return _unknown(unknown, pairing.offered, score)
    missing = Counter(golds[row].name for row in open_golds) - Counter(names[column] for column in rest)
    surplus = Counter(names[column] for column in rest) - Counter(golds[row].name for row in open_golds)
    found = f"found {_names(names)}"
    if missing and surplus:
        kind = FailureKind.UNKNOWN_TOOL if unknown else FailureKind.WRONG_TOOL
        return Verdict.failed(kind, f"expected {wanted(golds)}, {found}", score=score)
    if missing or (surplus and not pairing.options.extra):
        return Verdict.failed(
            FailureKind.WRONG_CALL_COUNT,
            f"expected {plural(len(golds), 'call')} ({wanted(golds)}), found {len(names)} ({_names(names)})",
            score=score,
        )
    problems, name = _closest(golds, open_golds, rest, pairing.checks)
    if problems:
        return _failed(problems, name, score)
    return Verdict.failed(
        FailureKind.WRONG_VALUE, f"expected {wanted(golds)} in this order, {found}", score=score
    )


def _closest(
    golds: tuple[GoldCall, ...],
    rows: list[int],
    columns: list[int],
    checks: list[list[CallCheck | None]],
) -> tuple[tuple[Problem, ...], str]:
    """Problems of the calls that were not matched, each gold call beside the nearest of its name."""
    free = set(columns)
    problems: list[Problem] = []
    name = golds[rows[0]].name if rows else ""
    for row in rows:
        near = [
            (len(check.problems), column)
            for column in free
            if (check := checks[row][column]) is not None and check.problems
        ]
        if near:
            column = min(near)[1]
            free.discard(column)
            check = checks[row][column]
            problems.extend(check.problems if check is not None else ())
    return tuple(problems), name


def _failed(problems: Sequence[Problem], name: str, score: float) -> Verdict:
    first, more = problems[0], ""
    if len(problems) > 1:
        first = min(problems, key=lambda problem: ORDER[problem.kind])
        more = f" (and {plural(len(problems) - 1, 'more problem')})"
    return Verdict.failed(
        first.kind,
        f"{name}.{first.text}{more}",
        score=score,
        problems=[[problem.kind.value, problem.text] for problem in problems[:_SHOWN]],
    )


def _passed(checks: Sequence[CallCheck]) -> Verdict:
    normalised = {key: list(steps) for check in checks for key, steps in check.normalised.items()}
    by_default = [key for check in checks for key in check.by_default]
    if not normalised and not by_default:
        return _PLAIN_PASS
    details: dict[str, Any] = {"score": 1.0}
    reasons = []
    if normalised:
        details["normalised"] = normalised
        reasons.append("equal after " + ", ".join(f"{key}: {'+'.join(s)}" for key, s in normalised.items()))
    if by_default:
        details["by_default"] = by_default
        reasons.append(f"the schema's default fills {', '.join(by_default)}")
    return Verdict.passed("; ".join(reasons), **details)


# With its metric's name, so that `score_answer` needs no copy of the commonest verdict.
_PLAIN_PASS = Verdict(
    Outcome.PASS, None, "every call and argument is as expected", "call_match", {"score": 1.0}
)


def _unknown(names: Sequence[str], offered: Mapping[str, Tool], score: float) -> Verdict:
    return Verdict.failed(
        FailureKind.UNKNOWN_TOOL,
        f"expected one of the offered tools ({_names(offered)}), found {_names(names)}",
        score=score,
    )


def _offered_name(gold: GoldCall, offered: Mapping[str, Tool]) -> GoldCall:
    """Some APIs refuse dots in names: `weather.now` is offered as `weather_now`."""
    if not offered or gold.name in offered:
        return gold
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", gold.name)
    return GoldCall(plain, gold.arguments) if plain in offered else gold


def _find(tools: Sequence[Tool], name: str) -> Tool | None:
    for tool in tools:
        function = tool.get("function")
        # The usual form first: this loop is the longest part of a reply that is nearly right.
        if (function.get("name") if type(function) is dict else tool_name(tool)) == name:
            return tool
    return None


def _properties(tool: Tool | None) -> Mapping[str, Any]:
    properties = tool_parameters(tool).get("properties") if tool is not None else None
    return properties if isinstance(properties, Mapping) else _NOTHING


def wanted(golds: Sequence[GoldCall]) -> str:
    return f"a call of {_names(call.name for call in golds)}" if golds else "no call"


def _names(names: Iterable[str], limit: int = 6) -> str:
    listed = list(names)
    text = ", ".join(name[:80] for name in listed[:limit])
    return text + (f" and {len(listed) - limit} more" if len(listed) > limit else "")
