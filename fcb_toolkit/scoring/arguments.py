"""One predicted call against one gold call -> problems, each with its FailureKind.

check_call(GoldCall("f", {"n": GoldArgument((1,))}), ToolCall("f", {"n": True}), {}, ())
-> CallCheck((Problem(FailureKind.WRONG_TYPE, "n: expected 1 (integer), found true (boolean)"),))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fcb_toolkit.records import FailureKind, ToolCall
from fcb_toolkit.scoring.gold import GoldArgument, GoldCall
from fcb_toolkit.scoring.strings import Policy, normalise
from fcb_toolkit.scoring.values import compare, json_type, show

ORDER = {kind: place for place, kind in enumerate(FailureKind)}
_NO_STEPS: Mapping[str, tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class Problem:
    kind: FailureKind
    text: str


@dataclass(frozen=True, slots=True)
class CallCheck:
    """`normalised`: per parameter, the string steps without which it would not have passed.
    `by_default`: parameters that passed because the schema's default is the same value."""

    problems: tuple[Problem, ...] = ()
    normalised: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_default: tuple[str, ...] = ()


RIGHT = CallCheck()
_PLAIN = frozenset((str, int, bool, float))


def plainly_right(gold: GoldCall, call: ToolCall) -> bool:
    """Whether the arguments are the ground truth itself, told without a schema or a policy: most calls are."""
    found, expected = call.arguments, gold.arguments
    if len(found) != len(expected):
        return False
    for key, argument in expected.items():
        if key not in found or not argument.any_of:
            return False
        value, truth = found[key], argument.any_of[0]
        if type(value) is not type(truth) or type(value) not in _PLAIN or value != truth:
            return False
    return True


def check_call(gold: GoldCall, call: ToolCall, properties: Mapping[str, Any], steps: Policy) -> CallCheck:
    """All problems of the arguments; names are compared by the caller.

    `properties` are those of the tool's schema: a parameter that is left out, or given beyond the gold,
    is right if the schema's `default` says the same.
    """
    found: Mapping[str, Any] = call.arguments
    expected = gold.arguments
    if "nfc" in steps and not expected.keys() >= found.keys():
        found = _same_form(found, expected, properties)
    problems: list[Problem] = []
    normalised: dict[str, tuple[str, ...]] = {}
    by_default: list[str] = []
    for key, argument in expected.items():
        if key in found:
            needed = match_argument(argument, found[key], properties.get(key), steps)
            if needed is None:
                problems.append(_wrong(key, argument, found[key]))
            elif needed:
                normalised[key] = needed
        elif not argument.optional:
            if _default_matches(argument, properties.get(key), steps):
                by_default.append(key)
            else:
                problems.append(_missing(key, argument))
    if not found.keys() <= expected.keys():
        _surplus(found, expected, properties, problems, by_default)
    if not problems and not normalised and not by_default:
        return RIGHT
    return CallCheck(tuple(problems), normalised or _NO_STEPS, tuple(by_default))


def _surplus(
    found: Mapping[str, Any],
    expected: Mapping[str, Any],
    properties: Mapping[str, Any],
    problems: list[Problem],
    by_default: list[str],
) -> None:
    """Adds what is given beyond the gold: nothing new if it is the schema's default, else a problem."""
    for key, value in found.items():
        if key in expected:
            continue
        if _is_default(properties.get(key), value):
            by_default.append(key)
        else:
            text = f"{key[:80]}: expected no such argument, found {show(value)}"
            problems.append(Problem(FailureKind.EXTRA_ARGUMENT, text))


def _missing(key: str, argument: GoldArgument) -> Problem:
    return Problem(FailureKind.MISSING_ARGUMENT, f"{key}: expected {_expected(argument)}, found nothing")


def match_argument(argument: GoldArgument, found: Any, schema: Any, steps: Policy) -> tuple[str, ...] | None:
    """The string steps needed for the first alternative that matches, or None."""
    any_of = argument.any_of
    if any_of and type(found) is type(any_of[0]) is str and found == any_of[0]:
        return ()
    if argument.exact or (isinstance(schema, Mapping) and ("enum" in schema or "const" in schema)):
        # A member of an enum is a code: the tool itself would refuse another spelling.
        steps = ("nfc",) if "nfc" in steps else ()
    best: tuple[str, ...] | None = None
    for alternative in any_of:
        needed = compare(alternative, found, steps)
        if needed == ():
            return ()
        if needed is not None and (best is None or len(needed) < len(best)):
            best = needed
    if best is None and argument.keywords and isinstance(found, str):
        text = normalise(found, steps)
        if all(normalise(word, steps) in text for word in argument.keywords):
            return ("keywords",)
    return best


def _same_form(
    found: Mapping[str, Any], expected: Mapping[str, Any], properties: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Argument names in composed form, where that makes a name the one that is expected."""
    known = {normalise(key, ("nfc",)): key for key in (*properties, *expected)}
    return {
        key if key in expected else known.get(normalise(key, ("nfc",)), key): value
        for key, value in found.items()
    }


def _default_matches(argument: GoldArgument, schema: Any, steps: Policy) -> bool:
    return (
        isinstance(schema, Mapping)
        and "default" in schema
        and match_argument(argument, schema["default"], schema, steps) is not None
    )


def _is_default(schema: Any, value: Any) -> bool:
    return (
        isinstance(schema, Mapping) and "default" in schema and compare(schema["default"], value) is not None
    )


def _wrong(key: str, argument: GoldArgument, found: Any) -> Problem:
    kinds = {json_type(value) for value in argument.any_of}
    kind = json_type(found)
    # 5.5 for 5 is a wrong value, not a wrong type: both are numbers.
    near = {"integer", "number"} if kind in ("integer", "number") else {kind}
    if kinds and not kinds & near:
        wanted = f"{_expected(argument)} ({', '.join(sorted(kinds))})"
        return Problem(FailureKind.WRONG_TYPE, f"{key}: expected {wanted}, found {show(found)} ({kind})")
    return Problem(FailureKind.WRONG_VALUE, f"{key}: expected {_expected(argument)}, found {show(found)}")


def _expected(argument: GoldArgument) -> str:
    shown = " or ".join(show(value, 80) for value in argument.any_of[:4])
    if len(argument.any_of) > 4:
        shown += f" or {len(argument.any_of) - 4} more"
    if argument.keywords:
        shown += f" or text with {' and '.join(argument.keywords)}"
    return shown
