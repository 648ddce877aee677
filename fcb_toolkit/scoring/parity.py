"""Where the official FunctionChat-Bench exact stage and `call_match` differ, and why: a closed list.

    parity(case, answer) == ParityReason.FIRST_CALL_ONLY        # None where both say the same
    [row.reason for row in parity_rows(pairs)]

Each reason is explained in docs/scoring.md; `ParityReason.doc` gives the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fcb_toolkit.records import Answer, Case, FailureKind, Outcome, Verdict, tool_name, tool_parameters
from fcb_toolkit.scoring.arguments import match_argument
from fcb_toolkit.scoring.compare_calls import DEFAULT
from fcb_toolkit.scoring.functionchat_exact import exact_match, official_alternatives, official_equal
from fcb_toolkit.scoring.gold import GoldArgument, read_gold
from fcb_toolkit.scoring.metrics import score_answer


class ParityReason(StrEnum):
    """Why the two differ. The first that applies, in this order."""

    NOT_A_CALL_CASE = "not_a_call_case"
    CRASH_ON_ALTERNATIVES = "crash_on_alternatives"
    CRASH_ON_GOLD = "crash_on_gold"
    CRASH_ON_REPLY = "crash_on_reply"
    UNREADABLE_GOLD = "unreadable_gold"
    FIRST_CALL_ONLY = "first_call_only"
    PYTHON_JSON = "python_json"
    READ_LENIENTLY = "read_leniently"
    SWITCHED_OFF_KEY = "switched_off_key"
    ABSENT_IS_NULL = "absent_is_null"
    SENTENCE_AS_VALUE = "sentence_as_value"
    EXACT_RULE = "exact_rule"
    ENUM_IS_EXACT = "enum_is_exact"
    TRUE_IS_ONE = "true_is_one"
    ALTERNATIVE_FOR_ABSENT_KEY = "alternative_for_absent_key"
    SCHEMA_DEFAULT = "schema_default"
    KEYWORD_RULE = "keyword_rule"
    NORMALISATION = "normalisation"
    LIST_ALTERNATIVE = "list_alternative"
    UNEXPLAINED = "unexplained"

    @property
    def doc(self) -> str:
        return _DOC[self]


_DOC: Mapping[ParityReason, str] = {
    ParityReason.NOT_A_CALL_CASE: "the official stage fails every case that wants no call; call_match is not asked",
    ParityReason.CRASH_ON_ALTERNATIVES: "the official code raises on acceptable_arguments that it can't read",
    ParityReason.CRASH_ON_GOLD: "the official code raises on a ground truth without a call or arguments",
    ParityReason.CRASH_ON_REPLY: "the official code raises on a malformed call; call_match reads or fails it",
    ParityReason.UNREADABLE_GOLD: "the ground truth names no call; call_match does not score it",
    ParityReason.FIRST_CALL_ONLY: "the official code compares the first call only; call_match compares all",
    ParityReason.PYTHON_JSON: "Python's json reads NaN and takes the last of two equal keys; JSON has no such value",
    ParityReason.READ_LENIENTLY: "the call's form or JSON is off, with one sensible reading, which call_match takes",
    ParityReason.SWITCHED_OFF_KEY: "a number, boolean, null or object as alternative makes the official code accept all",
    ParityReason.ABSENT_IS_NULL: "the official code takes an absent argument for null",
    ParityReason.SENTENCE_AS_VALUE: "the official code takes a sentence about a format for a value",
    ParityReason.EXACT_RULE: "the data says that only the ground truth (or one format) counts; call_match compares exactly",
    ParityReason.ENUM_IS_EXACT: "call_match compares members of an enum exactly",
    ParityReason.TRUE_IS_ONE: "Python's == takes true for 1; in JSON they differ",
    ParityReason.ALTERNATIVE_FOR_ABSENT_KEY: "an alternative for an argument that the ground truth leaves out counts",
    ParityReason.SCHEMA_DEFAULT: "an argument given with (or left to) its schema default is the same call",
    ParityReason.KEYWORD_RULE: "the data asks for keywords; call_match looks for them",
    ParityReason.NORMALISATION: "tab, no-break space, NFD, full width, or text inside lists and objects is forgiven",
    ParityReason.LIST_ALTERNATIVE: "a list as alternative of a list argument is one value",
    ParityReason.UNEXPLAINED: "none of the known reasons: please report it",
}


@dataclass(frozen=True, slots=True)
class ParityRow:
    """One reply on which the two differ."""

    case_id: str
    official: Outcome
    ours: Outcome
    reason: ParityReason
    official_reason: str
    ours_reason: str


def parity(case: Case, answer: Answer) -> ParityReason | None:
    """Why `functionchat_exact` and `call_match` differ on this reply; None where their outcomes agree."""
    row = parity_row(case, answer)
    return row.reason if row is not None else None


def parity_rows(pairs: Iterable[tuple[Case, Answer]]) -> list[ParityRow]:
    """The replies on which the two differ, in the order given."""
    rows = (parity_row(case, answer) for case, answer in pairs)
    return [row for row in rows if row is not None]


def parity_row(case: Case, answer: Answer) -> ParityRow | None:
    official = score_answer(case, answer, "functionchat_exact")
    ours = score_answer(case, answer, "call_match")
    if official.outcome == ours.outcome:
        return None
    reason = _reason(case, answer, official, ours)
    return ParityRow(case.id, official.outcome, ours.outcome, reason, official.reason, ours.reason)


def _reason(case: Case, answer: Answer, official: Verdict, ours: Verdict) -> ParityReason:
    if case.type_of_output != "call":
        return ParityReason.NOT_A_CALL_CASE
    if official.outcome is Outcome.NOT_SCORED:
        return _crash(case)
    if ours.outcome is Outcome.NOT_SCORED:
        return ParityReason.UNREADABLE_GOLD
    gold = read_gold(case.ground_truth, case.acceptable_arguments)
    if len(gold.calls) != 1 or len(answer.parse.tool_calls) > 1:
        return ParityReason.FIRST_CALL_ONLY
    if official.outcome is Outcome.PASS:
        return _false_pass(case, answer, ours)
    return _false_fail(official, ours, gold.calls[0].arguments, answer)


def _crash(case: Case) -> ParityReason:
    """What the official code stumbles over, found by giving it less."""
    try:
        official_alternatives(case.acceptable_arguments)
    except Exception:
        return ParityReason.CRASH_ON_ALTERNATIVES
    truth = case.ground_truth
    message = (
        truth
        if isinstance(truth, Mapping) and "tool_calls" in truth
        else {"tool_calls": [{"function": truth}]}
    )
    try:
        exact_match("call", truth, None, message)
        if not isinstance(official_alternatives(case.acceptable_arguments), Mapping):
            return ParityReason.CRASH_ON_ALTERNATIVES
    except Exception:
        return ParityReason.CRASH_ON_GOLD
    return ParityReason.CRASH_ON_REPLY


def _false_pass(case: Case, answer: Answer, ours: Verdict) -> ParityReason:
    """The official code passes what call_match fails: the first argument that is not right says why."""
    if ours.failure is FailureKind.MALFORMED_CALL:
        return ParityReason.PYTHON_JSON
    gold = read_gold(case.ground_truth, case.acceptable_arguments).calls[0]
    call = answer.parse.tool_calls[0]
    alternatives = official_alternatives(case.acceptable_arguments)
    schemas = _properties(case, gold.name)
    for key, argument in gold.arguments.items():
        if key in call.arguments:
            value, schema = call.arguments[key], schemas.get(key)
            if match_argument(argument, value, schema, DEFAULT.steps) is None:
                return _accepted(argument, value, schema, alternatives.get(key, []))
        elif not argument.optional:
            allowed = alternatives.get(key, [])
            switched_off = not isinstance(allowed, (list, str))
            return ParityReason.SWITCHED_OFF_KEY if switched_off else ParityReason.ABSENT_IS_NULL
    return ParityReason.UNEXPLAINED


def _accepted(argument: GoldArgument, value: Any, schema: Any, allowed: Any) -> ParityReason:
    """Why the official code takes this value, which call_match does not."""
    truth = argument.any_of[:1]
    if not isinstance(allowed, (list, str)) and not any(official_equal(item, value) for item in truth):
        return ParityReason.SWITCHED_OFF_KEY
    candidates = [*truth, *(allowed if isinstance(allowed, list) else [allowed])]
    taken = [candidate for candidate in candidates if official_equal(candidate, value)]
    if any(isinstance(candidate, str) and candidate.strip() == argument.rule for candidate in taken):
        return ParityReason.SENTENCE_AS_VALUE
    if any(isinstance(candidate, str) for candidate in taken):
        enumerated = isinstance(schema, Mapping) and ("enum" in schema or "const" in schema)
        return ParityReason.ENUM_IS_EXACT if enumerated and not argument.exact else ParityReason.EXACT_RULE
    return ParityReason.TRUE_IS_ONE if taken else ParityReason.UNEXPLAINED


_READING = (
    FailureKind.MISSING_CALL,
    FailureKind.MALFORMED_CALL,
    FailureKind.WRONG_TOOL,
    FailureKind.TRUNCATED,
)


def _false_fail(
    official: Verdict, ours: Verdict, arguments: Mapping[str, GoldArgument], answer: Answer
) -> ParityReason:
    """The official code fails what call_match passes."""
    if official.failure in _READING:
        return ParityReason.READ_LENIENTLY
    used = {step for steps in ours.details.get("normalised", {}).values() for step in steps}
    if ours.details.get("by_default"):
        return ParityReason.SCHEMA_DEFAULT
    if "keywords" in used:
        return ParityReason.KEYWORD_RULE
    if used:
        return ParityReason.NORMALISATION
    given = answer.parse.tool_calls[0].arguments
    if official.failure is FailureKind.EXTRA_ARGUMENT and any(
        argument.optional and key in given for key, argument in arguments.items()
    ):
        return ParityReason.ALTERNATIVE_FOR_ABSENT_KEY
    if any(isinstance(given.get(key), list) for key in arguments):
        return ParityReason.LIST_ALTERNATIVE
    return ParityReason.UNEXPLAINED


def _properties(case: Case, name: str) -> Mapping[str, Any]:
    for tool in case.tools:
        if tool_name(tool) == name:
            properties = tool_parameters(tool).get("properties")
            return properties if isinstance(properties, Mapping) else {}
    return {}
