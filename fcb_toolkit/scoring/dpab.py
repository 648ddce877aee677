"""DPAB by what the program did: the calls that ran and returned, and the values that it ended with.

    score(case, "```python\\nif False:\\n    x = f()\\nv = 1\\n```", "dpab")
    -> fail, missing_call: 'f' was never called
       details: {"functions": [{"name": "f", "needed": 1, "returned": 0, "status": "missing"}],
                 "values": [{"value": 1, "status": "found", "where": "v"}], "executor": "monty", ...}

A function that stands twice in the checklist has to return twice. A value is found if a variable holds it at the
end, or a list, dict or object that the program itself built (see `dpab_values`). A program that finds everything
and raises afterwards passes; one that is stopped (time, memory, something forbidden) does not.

`missing_call` is a call that the program does not make; one that it would have made, had it not been stopped by an
error before, is an `execution_error` or `blocked_code`. `details` carry our lenient and strict score besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fcb_toolkit import execution
from fcb_toolkit.execution import TracedExecution
from fcb_toolkit.execution.values import as_json
from fcb_toolkit.records import Answer, Case, FailureKind, Parse, ToolCall, Verdict
from fcb_toolkit.scoring.answers import openai_message
from fcb_toolkit.scoring.call_match import call_match
from fcb_toolkit.scoring.dpab_official import dpab_official, dpab_strict_official
from fcb_toolkit.scoring.dpab_program import Read, program, source_of
from fcb_toolkit.scoring.dpab_values import equal, find

__all__ = ["dpab", "dpab_official", "dpab_strict_official", "judge", "judge_calls"]

_ORDER = list(FailureKind)
_STOPPED = ("timeout", "memory", "blocked")


def dpab(case: Case, answer: Answer) -> Verdict:
    """Did the program call what the checklist asks for, and end with its values? See the module."""
    mocks = case.task["mock_functions"]
    names = execution.mock_names(mocks)
    if answer.text is not None and answer.text.strip():
        read = program(answer.text, str(case.task["mode"]), names)
    elif answer.parse.tool_calls:  # a server that read the calls out of the text
        read = Read(source_of(answer.parse.tool_calls, names))
    else:
        return Verdict.failed(FailureKind.NO_REPLY, "expected code, found no reply", lenient=0.0, strict=0)
    if read.code is None:
        verdict = Verdict.failed(read.failure or FailureKind.MISSING_CALL, read.reason, lenient=0.0, strict=0)
    else:
        ran = execution.execute_with(execution.current(), read.code, mocks)
        if not ran.executor:
            return Verdict.not_scored(ran.error.message if ran.error else "not run", executor="")
        verdict = (
            judge_calls(case, read.code, ran) if "call_case" in case.task else judge(case, read.code, ran)
        )
    if verdict.outcome == "fail" and answer.finish_reason == "length":
        reason = f"the reply was cut off at the token limit; {verdict.reason}"
        return Verdict.failed(FailureKind.TRUNCATED, reason, **verdict.details)
    return verdict


def judge(case: Case, code: str, ran: TracedExecution) -> Verdict:
    """The verdict on a program that ran."""
    functions = _functions(case.ground_truth["functions"], ran)
    values = [_value(value, ran) for value in case.ground_truth["values"]]
    lenient = 0.5 * _share(functions) + 0.5 * _share(values)
    stopped = ran.error is not None and ran.error.code in _STOPPED
    passed = lenient == 1.0 and not stopped
    details: dict[str, Any] = {
        "lenient": lenient,
        "strict": int(passed),
        "functions": functions,
        "values": values,
        "executor": ran.executor,
        "error": f"{ran.error.code}: {ran.error.message}" if ran.error else None,
        "calls": [call.name for call in ran.calls],
    }
    if passed:
        note = f", although it then raised {ran.error.code}" if ran.error else ""
        count = f"{len(functions)} functions returned and {len(values)} values held"
        return Verdict.passed(f"{count}{note}", **details)
    failures = sorted(_failures(code, ran, functions, values), key=lambda pair: _ORDER.index(pair[0]))
    kind, reason = failures[0]
    return Verdict.failed(kind, reason, **details)


def judge_calls(case: Case, code: str, ran: TracedExecution) -> Verdict:
    """The verdict on a call case that was asked for as code (`benchmarks.both_ways`): were its gold calls made?"""
    given = case.task["call_case"]
    gold = replace(
        case,
        tools=tuple(given["tools"]),
        ground_truth=given["ground_truth"],
        acceptable_arguments=given["acceptable_arguments"],
        type_of_output="call",
    )
    details = {
        "executor": ran.executor,
        "error": f"{ran.error.code}: {ran.error.message}" if ran.error else None,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in ran.calls],
    }
    rejected = [
        {"name": call.name, "needed": 1, "status": "rejected", "reason": call.reason} for call in ran.rejected
    ]
    if not ran.calls or rejected:
        failures = sorted(_failures(code, ran, rejected, []), key=lambda pair: _ORDER.index(pair[0]))
        kind, reason = (
            failures[0] if failures else (FailureKind.MISSING_CALL, "expected a call, found none that ran")
        )
        return Verdict.failed(kind, reason, **details)
    parsed = Parse(tool_calls=tuple(_own_names(call, given["keywords"]) for call in ran.calls))
    verdict = call_match(gold, Answer(parsed, code, message=openai_message(parsed)))
    return replace(verdict, details={**verdict.details, **details})


def _own_names(call: ToolCall, keywords: list[str]) -> ToolCall:
    """The call with `from_` written as `from` again, as the tool has it."""
    own = {f"{word}_": word for word in keywords}
    return ToolCall(call.name, {own.get(name, name): value for name, value in call.arguments.items()})


def _functions(names: list[str], ran: TracedExecution) -> list[dict[str, Any]]:
    """What became of each function of the checklist."""
    called = Counter(call.name for call in ran.calls)
    returned = Counter(call.name for call, ok in zip(ran.calls, ran.returned, strict=True) if ok)
    rejected = {call.name: call.reason for call in reversed(ran.rejected)}
    found = []
    for name, needed in Counter(names).items():
        status = "found" if returned[name] >= needed else "too_few" if returned[name] else "missing"
        if status == "missing" and called[name]:
            status = "raised"
        elif status == "missing" and name in rejected:
            status = "rejected"
        entry = {"name": name, "needed": needed, "returned": returned[name], "status": status}
        found.append({**entry, "reason": rejected[name]} if status == "rejected" else entry)
    return found


def _value(value: Any, ran: TracedExecution) -> dict[str, Any]:
    """What became of a value of the checklist. `returned_by` is the call that gave it, if one did."""
    where = find(value, ran.variables, ran.results)
    source = next(
        (
            call.name
            for call, ok, result in zip(ran.calls, ran.returned, ran.results, strict=True)
            if ok and equal(value, result)
        ),
        None,
    )
    status = "found" if where is not None else "not_kept" if source else "missing"
    return {"value": as_json(value), "status": status, "where": where, "returned_by": source}


def _share(entries: list[dict[str, Any]]) -> float:
    if not entries:
        return 1.0
    weight = sum(entry.get("needed", 1) for entry in entries)
    got = sum(
        min(entry["returned"], entry["needed"]) if "needed" in entry else entry["status"] == "found"
        for entry in entries
    )
    return float(got / weight)


def _failures(
    code: str, ran: TracedExecution, functions: list[dict[str, Any]], values: list[dict[str, Any]]
) -> Iterator[tuple[FailureKind, str]]:
    """Every failure that applies, each with its reason."""
    ended = f"the program stopped with {ran.error.code}: {ran.error.message}" if ran.error else ""
    if ran.error is not None and ran.error.code == "syntax":
        yield FailureKind.MALFORMED_CALL, f"expected Python code, found a syntax error: {ran.error.message}"
    unknown = (
        ran.error is not None and ran.error.code == "NameError" and _unknown_tool(code, ran.error.message)
    )
    if ran.error is not None:
        if unknown:
            yield FailureKind.UNKNOWN_TOOL, f"the program calls a function that was not offered: {ended}"
        blocked = ran.error.code == "blocked"
        yield FailureKind.BLOCKED_CODE if blocked else FailureKind.EXECUTION_ERROR, ended
    for entry in functions:
        name = entry["name"]
        if entry["status"] == "missing" and (not ended or (name not in code and not unknown)):
            yield FailureKind.MISSING_CALL, f"expected a call of {name!r}, found none that ran"
        elif entry["status"] == "too_few" and not ended:
            times = f"expected {entry['needed']} calls of {name!r} that return, found {entry['returned']}"
            yield FailureKind.WRONG_CALL_COUNT, times
        elif entry["status"] == "rejected":
            missing = "missing" in entry["reason"]
            kind = FailureKind.MISSING_ARGUMENT if missing else FailureKind.EXTRA_ARGUMENT
            yield kind, f"a call of {name!r} does not fit its signature: {entry['reason']}"
        elif entry["status"] == "raised":
            yield FailureKind.EXECUTION_ERROR, ended or f"every call of {name!r} raised"
    for entry in values:
        if entry["status"] != "found":
            shown = repr(entry["value"])
            shown = shown if len(shown) <= 80 else shown[:79] + "…"
            kept = (
                f"; {entry['returned_by']} returned it, no variable keeps it" if entry["returned_by"] else ""
            )
            yield FailureKind.MISSING_VALUE, f"expected the value {shown} at the end, found it nowhere{kept}"


def _unknown_tool(code: str, message: str) -> bool:
    """Whether the undefined name of a NameError is called as a function, or a JSON call's name."""
    parts = message.split("'")
    name = parts[1] if len(parts) > 2 else ""
    return bool(name) and (f"{name}(" in code or "raise NameError(" in code)
