"""`functionchat_exact`: the official FunctionChat-Bench exact stage, fault for fault.

    exact_match("call", {"name": "f", "arguments": "{}"}, None, {"tool_calls": [...]}) == RIGHT

Written from a description of kakao/FunctionChat-Bench at cb32af3, for comparison with published
numbers; it is wrong on purpose where the official code is (docs/scoring.md lists where). Use
`call_match` to find out whether a call is right.
"""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.verdicts import is_broken

# sha256 of the three sentences that the official code knows by heart; it reads them as "no alternatives".
_KNOWN_SENTENCES = {
    "67aaaccc29f099e16930a17f0066711a59d3836e30680104c12c5a83b04b2f86",  # ground truth only
    "e4d2172477e97fd36a7a17bc104111672ac6aae1c1c127b31fe5c00e56bddafa",  # no year that was not said
    "970298d5e5fb2e2538801a303cfe174a8b01c1025a7ea9b68b14fc38a32d3e21",  # tomorrow, not a date
}
_MAX_DIGITS = 4300
_MAX_DEPTH = 990
"""What CPython 3.11 allows (the official environment): 4,300 digits in an integer, and a stack of 1,000
frames, of which the official call path uses about ten before json.loads starts to nest."""
_BRACKETS = re.compile(r"[\[\]{}]")
# One way to match, so that an unclosed string costs one pass.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"', re.S)


class Match(NamedTuple):
    """What the official code answers. It has no kinds: `kind` is the first of ours that fits."""

    kind: FailureKind | None
    message: str = ""


RIGHT = Match(None)
_PASS = Verdict.passed("the official exact stage accepts the first call")


def functionchat_exact(case: Case, answer: Answer) -> Verdict:
    """The verdict of the official exact stage; `not_scored` where the official code raises.

    Only the first call counts, `true` equals 1, letter case and U+0020 are dropped, a number or boolean
    among the acceptable arguments accepts anything, and types of output other than call always fail.
    """
    try:
        kind, message = exact_match(
            case.type_of_output, case.ground_truth, case.acceptable_arguments, answer.message
        )
    except Exception as error:
        name = type(error).__name__
        return Verdict.not_scored(f"the official scorer raises {name}: {str(error)[:200]}", exception=name)
    if kind is None:
        return _PASS
    if answer.finish_reason == "length" and kind is not FailureKind.NO_REPLY:
        kind = FailureKind.TRUNCATED
    elif kind is FailureKind.MISSING_CALL and is_broken(answer):
        kind = FailureKind.MALFORMED_CALL
    return Verdict.failed(kind, message)


def exact_match(type_of_output: Any, truth: Any, acceptable: Any, output: Any) -> Match:
    """As the official `exact_match`, for one request and one assistant message; raises what it raises."""
    if type_of_output != "call":
        kind = FailureKind.UNEXPECTED_CALL if _has_call(output) else FailureKind.MISSING_CALL
        return Match(
            kind, f"the official exact stage fails every type_of_output but call, found {type_of_output!r}"
        )
    if output is None:
        return Match(FailureKind.NO_REPLY, "expected a call, found no reply")
    alternatives = official_alternatives(acceptable)
    if "tool_calls" in truth:
        truth = truth["tool_calls"][0].get("function", {})
    calls = output.get("tool_calls", [])
    if not calls:
        return Match(FailureKind.MISSING_CALL, "expected a call, found no tool_calls")
    call = calls[0].get("function", {})
    if truth.get("name") != call.get("name"):
        return Match(
            FailureKind.WRONG_TOOL,
            f"expected a call of {truth.get('name')!r}, found {call.get('name')!r:.100}",
        )
    try:
        expected = _loads(truth.get("arguments"))
        found = _loads(call.get("arguments"))
    except json.JSONDecodeError as error:
        return Match(FailureKind.MALFORMED_CALL, f"expected JSON arguments, found text that is not: {error}")
    return _same_arguments(expected, found, alternatives)


def _has_call(output: Any) -> bool:
    return isinstance(output, dict) and bool(output.get("tool_calls"))


def _same_arguments(expected: Any, found: Any, alternatives: Any) -> Match:
    for key, _ in found.items():
        if key not in expected:
            return Match(FailureKind.EXTRA_ARGUMENT, f"{key}: expected no such argument, found it")
    for key, value in expected.items():
        given = found.get(key, None)
        if official_equal(value, given):
            continue
        allowed = alternatives.get(key, [])
        if isinstance(allowed, list):
            if any(official_equal(item, given) for item in allowed):
                continue
        elif not isinstance(allowed, str) or official_equal(allowed, given):
            # A number, boolean, null or object falls through every branch: the key is accepted.
            continue
        kind = FailureKind.WRONG_VALUE if key in found else FailureKind.MISSING_ARGUMENT
        return Match(
            kind, f"{key}: expected {value!r:.120}, alternatives {allowed!r:.120}, found {given!r:.120}"
        )
    return RIGHT


def official_equal(left: Any, right: Any) -> bool:
    """Strings without U+0020 and letter case, all else by Python's `==`."""
    if isinstance(left, str) and isinstance(right, str):
        return left.replace(" ", "").lower() == right.replace(" ", "").lower()
    return bool(left == right)


def official_alternatives(acceptable: Any) -> Any:
    """`acceptable_arguments` as the official code reads it; raises what it raises."""
    if acceptable:
        if not isinstance(acceptable, str):
            # json.loads refuses it, and so does the concatenation in the fallback.
            raise TypeError(f'can only concatenate str (not "{type(acceptable).__name__}") to str')
        acceptable = _read_text(acceptable)
    if acceptable is None:
        return {}
    return _loads(acceptable) if isinstance(acceptable, str) else acceptable


@lru_cache(maxsize=4096)
def _read_text(text: str) -> Any:
    try:
        value = _loads(text)
    except Exception:
        value = _loads('"' + text + '"')
    return None if isinstance(value, str) and _is_known(value) else value


def _is_known(sentence: str) -> bool:
    return hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).hexdigest() in _KNOWN_SENTENCES


def _loads(text: Any) -> Any:
    """json.loads with the limits of CPython 3.11, whatever Python runs this and however deep its stack is."""
    if not isinstance(text, str) or len(text) < 200:
        return json.loads(text)
    if len(text) < _MAX_DIGITS and text.count("[") + text.count("{") < 100:
        return json.loads(text)
    if nesting(text) > _MAX_DEPTH:
        raise RecursionError("maximum recursion depth exceeded while decoding JSON")
    return _in_fresh_stack(text)


def _integer(digits: str) -> int:
    count = len(digits.lstrip("-"))
    if count > _MAX_DIGITS:
        raise ValueError(
            f"Exceeds the limit ({_MAX_DIGITS} digits) for integer string conversion: found {count} digits"
        )
    return int(digits)


def nesting(text: str) -> int:
    """The deepest nesting of brackets outside JSON strings."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(_STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _in_fresh_stack(text: str) -> Any:
    """Parsed in a thread of its own, whose stack is empty: a notebook's or a test's may be half full."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(json.loads, text, parse_int=_integer).result()
