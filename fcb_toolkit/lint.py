"""What is wrong in the data itself, case by case: `fcb lint BENCH`. No model, nothing is run.

    lint(cases)
    -> [Finding("functionchat/dialog/62", "alternative_key_not_in_truth", "repeat: ...")]

`CODES` explains each code. Codes are stable: notebooks filter by them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, tool_name
from fcb_toolkit.schema import BrokenSchema, fault, problems, undeclared
from fcb_toolkit.scoring import dpab_lint
from fcb_toolkit.scoring.gold import GoldCall, is_sentence, read_alternatives, read_gold
from fcb_toolkit.scoring.strings import policy
from fcb_toolkit.scoring.values import compare, show

CODES: Mapping[str, str] = {
    "duplicate_case_id": "two cases have one id",
    "contradicting_cases": "the same messages and tools with another ground truth",
    "gold_unreadable": "a case that wants a call, without a readable one",
    "gold_without_text": "a case that wants text, without a gold text",
    "gold_tool_missing": "the gold calls a tool that is not offered",
    "gold_invalid": "the gold's arguments break the tool's own schema",
    "gold_undeclared_key": "the gold gives an argument that the schema does not name",
    "alternatives_prose": "acceptable_arguments is a sentence: a scorer has to know it by heart",
    "alternatives_unreadable": "acceptable_arguments is neither JSON nor a known sentence",
    "alternative_prose": "an alternative of one argument is a sentence, not a value",
    "alternative_equals_truth": "an alternative that is the ground truth already",
    "alternative_invalid": "an alternative breaks the tool's own schema",
    "alternative_key_not_in_truth": "an alternative for an argument that the ground truth does not give",
    "alternative_accepts_all": "the official scorer accepts anything for this argument (number, boolean, null, object)",
    "duplicate_tool_name": "two tools of one case have one name",
    "bad_tool_name": "a tool name that OpenAI's API refuses",
    "schema_broken": "a tool's parameters are no valid JSON Schema",
    "schema_absent": "a tool without parameters, or with {}: strict readers refuse it",
    "required_undeclared": "a required parameter that properties does not name",
    "default_invalid": "a default that breaks its own schema",
    "duplicate_call_id": "one tool call id twice in a conversation",
    "orphan_tool_result": "a tool message whose call is not in the conversation",
    "history_arguments": "arguments of an earlier call that are no JSON object",
    "tool_result_python": "a tool message in Python's notation (None, True, single quotes) instead of JSON",
    "tool_redefined": "one tool name with another definition than in an earlier case",
}
# What the official scorer forgives anyway, so that the alternative adds nothing.
_OFFICIAL = policy("ignore_space_case")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` is one of `CODES` (or of the benchmark's own lint); `message` shows what was found."""

    case_id: str
    code: str
    message: str


LINTS: dict[str, Callable[[Case], Iterable[tuple[str, str]]]] = {"dpab": dpab_lint.findings}
"""Checks of one benchmark only, by the first part of its name: (code, sentence) for each thing found."""


def lint(cases: Sequence[Case]) -> list[Finding]:
    """All findings, case by case in the order given; those between cases come last."""
    found: list[Finding] = []
    for case in cases:
        for check in _CHECKS:
            found.extend(Finding(case.id, code, message) for code, message in check(case))
        own = LINTS.get(case.benchmark.split("/")[0])
        if own is not None:
            found.extend(Finding(case.id, code, message) for code, message in own(case))
    return found + list(_between(cases))


Found = Iterator[tuple[str, str]]


def _gold(case: Case) -> Found:
    if case.type_of_output == "code":
        return
    if case.type_of_output != "call":
        content = case.ground_truth.get("content") if isinstance(case.ground_truth, Mapping) else None
        if not isinstance(content, str) or not content.strip():
            yield "gold_without_text", f"type_of_output is {case.type_of_output!r}, the gold has no text"
        return
    try:
        calls = read_gold(case.ground_truth).calls
    except DataError as error:
        yield "gold_unreadable", str(error)
        return
    if not calls:
        yield "gold_unreadable", "the gold makes no call, expected one, as type_of_output is 'call'"
    for call in calls:
        yield from _gold_call(case, call)


def _gold_call(case: Case, call: GoldCall) -> Found:
    tools = [tool for tool in case.tools if tool_name(tool) == call.name]
    if not tools:
        offered = ", ".join(map(tool_name, case.tools)) or "none"
        yield "gold_tool_missing", f"{call.name} is not among the tools: {offered}"
        return
    schema = _schema(tools[0])
    arguments = {key: argument.any_of[0] for key, argument in call.arguments.items() if argument.any_of}
    for message in _broken_rules(schema, arguments):
        yield "gold_invalid", f"{call.name}: {message}"
    for key in undeclared(schema, arguments):
        yield "gold_undeclared_key", f"{call.name}: {key} is not in the schema's properties"


def _alternatives(case: Case) -> Found:
    if case.type_of_output != "call" or case.acceptable_arguments is None:
        return
    read = read_alternatives(case.acceptable_arguments)
    if read.rule:
        code = "alternatives_unreadable" if read.unread else "alternatives_prose"
        yield code, f"acceptable_arguments is {read.rule[:120]!r}"
    try:
        calls = read_gold(case.ground_truth).calls
    except DataError:
        return
    if not calls:
        return
    schema = next((_schema(tool) for tool in case.tools if tool_name(tool) == calls[0].name), None)
    for key, value in read.values.items():
        truth = calls[0].arguments.get(key)
        if truth is None:
            yield "alternative_key_not_in_truth", f"{key}: {show(value)}, not among the gold's arguments"
            continue
        yield from _alternative(key, value, truth.any_of[0], schema)


def _alternative(key: str, value: Any, truth: Any, schema: Mapping[str, Any] | None) -> Found:
    if not isinstance(value, (str, list)):
        yield "alternative_accepts_all", f"{key}: the alternative is {show(value)}"
    whole = isinstance(value, list) and (
        not isinstance(truth, list) or all(isinstance(v, list) for v in value)
    )
    for item in value if whole else [value]:
        if isinstance(item, str) and is_sentence(item):
            yield "alternative_prose", f"{key}: {item[:120]!r}"
        elif compare(truth, item, _OFFICIAL) is not None:
            yield "alternative_equals_truth", f"{key}: {show(item)} is the ground truth already"
        else:
            part = _property(schema, key)
            for message in _broken_rules({"properties": {key: part}}, {key: item}) if part else ():
                yield "alternative_invalid", message


def _tools(case: Case) -> Found:
    names = [tool_name(tool) for tool in case.tools]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "duplicate_tool_name", f"{name} is offered {names.count(name)} times"
    for tool, name in zip(case.tools, names, strict=True):
        if not _TOOL_NAME.fullmatch(name):
            yield "bad_tool_name", f"{name!r}: expected letters, digits, _ and -, at most 64"
        yield from _tool_schema(name, _schema(tool))


def _tool_schema(name: str, schema: Any) -> Found:
    if not schema and not isinstance(schema, (list, str)):
        yield "schema_absent", f"{name}: parameters is {show(schema)}"
        return
    broken = fault(schema)
    if broken is not None:
        yield "schema_broken", f"{name}: {broken}"
        return
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    for key in schema.get("required") or ():
        if key not in properties:
            yield "required_undeclared", f"{name}: {key} is required and not in properties"
    for key, part in properties.items():
        if isinstance(part, Mapping) and "default" in part:
            for message in _broken_rules({"properties": {key: part}}, {key: part["default"]}):
                yield "default_invalid", f"{name}: {message}"


def _history(case: Case) -> Found:
    seen: list[str] = []
    for message in case.messages:
        for call in message.get("tool_calls") or ():
            if not isinstance(call, Mapping):
                continue
            identity = call.get("id")
            if identity in seen:
                yield "duplicate_call_id", f"the tool call id {identity!r} is used again"
            seen.append(str(identity))
            function = call.get("function")
            if isinstance(function, Mapping) and not _is_object(function.get("arguments")):
                yield "history_arguments", f"{function.get('name')}: {show(function.get('arguments'))}"
        if message.get("role") == "tool":
            if "tool_call_id" in message and message["tool_call_id"] not in seen:
                yield "orphan_tool_result", f"tool_call_id {message['tool_call_id']!r} has no call before it"
            content = message.get("content")
            if isinstance(content, str) and _is_python(content):
                yield "tool_result_python", f"{message.get('name') or 'tool'}: {content[:120]}"


_CHECKS: tuple[Callable[[Case], Found], ...] = (_gold, _alternatives, _tools, _history)


def _between(cases: Sequence[Case]) -> Iterator[Finding]:
    ids: set[str] = set()
    questions: dict[str, Case] = {}
    definitions: dict[str, str] = {}
    for case in cases:
        if case.id in ids:
            yield Finding(case.id, "duplicate_case_id", "an earlier case has this id")
        ids.add(case.id)
        first = questions.setdefault(_text([case.messages, case.tools]), case)
        if first is not case and _text(first.ground_truth) != _text(case.ground_truth):
            yield Finding(case.id, "contradicting_cases", f"asks what {first.id} asks, with another gold")
        for tool in case.tools:
            name, text = tool_name(tool), _text(tool)
            if definitions.setdefault(name, text) != text:
                definitions[name] = text
                yield Finding(case.id, "tool_redefined", f"{name} is defined otherwise than before")


def _schema(tool: Mapping[str, Any]) -> Any:
    function = tool.get("function", tool)
    return function.get("parameters") if isinstance(function, Mapping) else None


def _property(schema: Any, key: str) -> Mapping[str, Any] | None:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    part = properties.get(key) if isinstance(properties, Mapping) else None
    return part if isinstance(part, Mapping) else None


def _broken_rules(schema: Any, arguments: Mapping[str, Any]) -> list[str]:
    if not isinstance(schema, Mapping):
        return []
    try:
        found = problems(schema, arguments)
    except BrokenSchema:
        return []  # reported as schema_broken
    return [f"{problem.path or 'arguments'}: {problem.message}" for problem in found]


def _is_object(arguments: Any) -> bool:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return False
    return isinstance(value, Mapping)


def _is_python(content: str) -> bool:
    if not content.lstrip().startswith(("{", "[")) or len(content) > 100_000:
        return False
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        try:
            return isinstance(ast.literal_eval(content.strip()), (dict, list))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return False
    return False


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
