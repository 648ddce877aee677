"""`schema_valid`: would the offered tool's JSON Schema accept each call?

set_count(n: integer) called with {"n": true} -> fail, wrong_type: "set_count.n: True is not of type 'integer'"
"""

from __future__ import annotations

from collections.abc import Mapping

from fcb_toolkit.records import Answer, Case, FailureKind, Tool, ToolCall, Verdict, tool_name
from fcb_toolkit.schema import BrokenSchema, SchemaProblem, problems, undeclared
from fcb_toolkit.scoring.arguments import ORDER
from fcb_toolkit.scoring.verdicts import is_broken, no_call_verdict

_KINDS: Mapping[str, FailureKind] = {
    "required": FailureKind.MISSING_ARGUMENT,
    "dependentRequired": FailureKind.MISSING_ARGUMENT,
    "minProperties": FailureKind.MISSING_ARGUMENT,
    "additionalProperties": FailureKind.EXTRA_ARGUMENT,
    "unevaluatedProperties": FailureKind.EXTRA_ARGUMENT,
    "propertyNames": FailureKind.EXTRA_ARGUMENT,
    "maxProperties": FailureKind.EXTRA_ARGUMENT,
    "type": FailureKind.WRONG_TYPE,
}


def schema_valid(case: Case, answer: Answer) -> Verdict:
    """Pass if every call names an offered tool and its arguments fit that tool's schema.

    Not scored where no call was made, and where the schema itself is broken (the data's fault, and the
    reason says so). It can't see whether the call was wanted or its values are right; undeclared
    arguments pass unless the schema forbids them and are listed in `details["undeclared"]`.
    """
    if is_broken(answer):
        return no_call_verdict(answer, "calls that fit the schema")
    calls = answer.parse.tool_calls
    if not calls:
        return Verdict.not_scored("no call was made, so there is nothing to check")
    found: list[tuple[FailureKind, str]] = []
    extra: list[str] = []
    for call in calls:
        tools = [tool for tool in case.tools if tool_name(tool) == call.name]
        if not tools:
            offered = ", ".join(map(tool_name, case.tools[:6]))
            found.append(
                (
                    FailureKind.UNKNOWN_TOOL,
                    f"expected one of the offered tools ({offered}), found {call.name[:80]}",
                )
            )
            continue
        try:
            found.extend(_problems(call, tools))
        except BrokenSchema as error:
            return Verdict.not_scored(f"the data's fault: the schema of {call.name} is broken: {error}")
        extra.extend(
            f"{call.name}.{name[:80]}" for name in undeclared(_parameters(tools[0]), call.arguments)[:20]
        )
    details = {"undeclared": extra} if extra else {}
    if not found:
        return Verdict.passed("every call fits its tool's schema", **details)
    kind, reason = min(found, key=lambda item: ORDER[item[0]])
    if answer.finish_reason == "length":
        kind, reason = FailureKind.TRUNCATED, f"cut off at the token limit; {reason}"
    return Verdict.failed(kind, reason, **details)


def _problems(call: ToolCall, tools: list[Tool]) -> list[tuple[FailureKind, str]]:
    """Of the tool whose schema the call fits best, where a name is offered twice."""
    best: list[SchemaProblem] | None = None
    for tool in tools:
        current = problems(_parameters(tool), call.arguments)
        if best is None or len(current) < len(best):
            best = current
    return [
        (
            _KINDS.get(problem.rule, FailureKind.WRONG_VALUE),
            f"{call.name}{'.' if problem.path else ''}{problem.path[:200]}: {problem.message}",
        )
        for problem in best or ()
    ]


def _parameters(tool: Tool) -> Mapping[str, object] | None:
    """The schema as it is in the data, so that a list or a string there is reported, not skipped."""
    function = tool.get("function", tool)
    parameters = function.get("parameters") if isinstance(function, Mapping) else None
    if parameters is None or isinstance(parameters, Mapping):
        return parameters
    raise BrokenSchema(f"found {type(parameters).__name__}, expected an object as the schema")
