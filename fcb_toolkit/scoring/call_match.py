"""`call_match`, ours: were the right calls made, with the right arguments?

    match_calls(gold=[{"name": "get_dust", "arguments": {"district": {"any_of": ["중구", "Jung-gu"]}}}],
                prediction=[{"name": "get_dust", "arguments": {"district": "중구"}}]).outcome == "pass"

Parallel calls are compared in any order by maximum matching; values by JSON equality (`scoring.values`);
strings under a named policy (`scoring.strings`). Where this differs from the official FunctionChat-Bench
stage, `scoring.parity` says why. Policy of each rule: docs/scoring.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fcb_toolkit import parsers
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Answer, Case, FailureKind, Parse, Tool, ToolCall, Verdict
from fcb_toolkit.scoring.compare_calls import DEFAULT, MatchOptions, compare_calls, wanted
from fcb_toolkit.scoring.gold import Gold, GoldCall, read_call, read_gold
from fcb_toolkit.scoring.strings import policy
from fcb_toolkit.scoring.verdicts import no_call_verdict

ORDERS = {"any": False, "same": True, "exact": True, "strict": True, "sequence": True}
EXTRA_CALLS = {"fail": False, "ignore": True, "allow": True}


def call_match(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply makes exactly the gold calls, under the string policy `korean`.

    Sees calls only: text beside a call is ignored. It can't see that a differently worded argument
    means the same ("두 시" for "14시"), unless the data lists it; use the judge for that.
    """
    return match_answer(case, answer, DEFAULT)


def match_answer(case: Case, answer: Answer, options: MatchOptions) -> Verdict:
    """`call_match` under other options, as a metric of your own would use it."""
    try:
        gold = read_gold(case.ground_truth, case.acceptable_arguments)
    except DataError as error:
        return Verdict.not_scored(f"the case's gold cannot be read: {error}")
    calls = answer.parse.tool_calls
    if answer.parse.error is not None or (not calls and gold.calls):
        return no_call_verdict(answer, wanted(gold.calls))
    verdict = compare_calls(gold.calls, calls, case.tools, options)
    if answer.finish_reason == "length" and verdict.failure is not None:
        reason = f"cut off at the token limit; {verdict.reason}"
        return Verdict.failed(FailureKind.TRUNCATED, reason, **verdict.details)
    if gold.unread and verdict.failure is FailureKind.WRONG_VALUE:
        return _with_unread_rule(verdict, gold)
    return verdict


def match_calls(
    gold: Any,
    prediction: Any,
    tools: Sequence[Tool] = (),
    order: str = "any",
    extra_calls: str = "fail",
    strings: str | Iterable[str] = "exact",
    name_map: Mapping[str, str] | None = None,
) -> Verdict:
    """Compare calls with calls.

    gold: calls with `{"any_of": [...], "optional": bool}` for each parameter (or plain values, or an
        official ground truth); [] means that no call is right.
    prediction: calls (`{"name", "arguments"}`, `ToolCall`), an assistant message, a `Parse`, or None.
    order: "any" (a multiset) or "same". extra_calls: "fail" or "ignore" (surplus calls don't count).
    strings: a policy's name (exact, nfc, ignore_space_case, korean, korean_values) or a list of steps.
    name_map: gold name -> offered name; without it a gold name with dots is looked for with underscores.

    `details["score"]` is the share of calls that match, 0 to 1. Raises `UnknownName` for a wrong
    option and `DataError` for a gold that is no call.
    """
    options = MatchOptions(
        _option("order", order, ORDERS), _option("extra_calls", extra_calls, EXTRA_CALLS), policy(strings)
    )
    if isinstance(gold, (list, tuple)):
        golds = tuple(read_call(call) for call in gold)
    else:
        golds = read_gold(gold).calls
    if name_map:
        golds = tuple(GoldCall(name_map.get(call.name, call.name), call.arguments) for call in golds)
    parsed = _as_parse(prediction, tools)
    if parsed.error is not None:
        return Verdict.failed(
            FailureKind.MALFORMED_CALL,
            f"expected {wanted(golds)}, found a call that cannot be read: {parsed.error.message}",
            score=0.0,
        )
    return compare_calls(golds, parsed.tool_calls, tools, options)


def _option(what: str, value: str, known: Mapping[str, bool]) -> bool:
    if value not in known:
        raise UnknownName(f"{what} option", value, known)
    return known[value]


def _as_parse(prediction: Any, tools: Sequence[Tool]) -> Parse:
    if isinstance(prediction, Parse):
        return prediction
    if prediction is None:
        return Parse()
    if isinstance(prediction, Mapping) and ("tool_calls" in prediction or "role" in prediction):
        return parsers.parse(prediction, "openai", tools=tools)
    items = [prediction] if isinstance(prediction, (Mapping, ToolCall)) else prediction
    if not isinstance(items, (list, tuple)):
        raise DataError(
            f"prediction: found {type(prediction).__name__}, "
            "expected a list of calls, a message, a Parse or None"
        )
    if all(isinstance(item, ToolCall) for item in items):
        return Parse(tool_calls=tuple(items))
    if all(_is_plain_call(item) for item in items):
        return Parse(tool_calls=tuple(ToolCall(item["name"], item["arguments"]) for item in items))
    message = {"tool_calls": [{"function": item} if _is_bare(item) else item for item in items]}
    return parsers.parse(message, "openai", tools=tools)


def _is_plain_call(item: Any) -> bool:
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
        return False
    return isinstance(item.get("arguments"), dict)


def _is_bare(item: Any) -> bool:
    return isinstance(item, Mapping) and "function" not in item


def _with_unread_rule(verdict: Verdict, gold: Gold) -> Verdict:
    assert verdict.failure is not None
    return Verdict.failed(
        verdict.failure,
        f"{verdict.reason}; the data's alternatives are a sentence that only a reader can apply "
        f"({gold.rule[:120]!r}), so only the ground truth counts",
        **{**verdict.details, "unread_rule": gold.rule},
    )
