"""A program that a model wrote, what it did when it ran, and what the checklist asks of it (DPAB).

draw_program(case, code, verdict)         # code, checklist, and the trace if the verdict kept it
draw_execution(case, execution)           # the trace of a run made now, in the sandbox
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.records import Answer, Case, Execution, ToolCall, Verdict
from fcb_toolkit.scoring.values import compare, show
from fcb_toolkit.widgets.markup import Html, cut, details, join, pre, table, tag

MAX_ROWS = 200


def is_program(case: Case) -> bool:
    return case.type_of_output == "code"


def program_text(answer: Answer | None) -> str:
    """The program in a reply, or the whole reply where no program was found."""
    return "" if answer is None else answer.parse.content or answer.text or ""


def draw_program(case: Case, code: str, verdict: Verdict | None) -> Html:
    """The code, the checklist, and whatever the verdict kept of the run."""
    kept = dict(verdict.details) if verdict is not None else {}
    facts = [(name, show(value, 2000)) for name, value in kept.items()]
    return join(
        [
            tag("h4", "Program"),
            pre(code, "fcb-code", limit=20_000)
            if code
            else tag("p", "no program in the reply", cls="fcb-none"),
            tag("h4", "Checklist"),
            draw_checklist(case, None),
            details("What the verdict kept", table(("what", "value"), facts)) if facts else None,
            details(
                "Mock functions", pre(str(case.task.get("mock_functions", "")), "fcb-code", limit=20_000)
            ),
        ]
    )


def draw_checklist(case: Case, execution: Execution | None) -> Html:
    """One row per function and value that is asked for; with an execution, whether it was there."""
    functions, values = _checklist(case)
    called = [call.name for call in execution.calls] if execution is not None else []
    found = list(execution.variables.values()) if execution is not None else []
    rows: list[tuple[object, ...]] = []
    for name in functions:
        rows.append(("function", tag("code", name), _mark(execution, name in called)))
    for value in values:
        there = any(compare(value, one) is not None for one in found)
        rows.append(("value", tag("code", show(value, 300)), _mark(execution, there)))
    if not rows:
        return tag("p", "the checklist is empty", cls="fcb-none")
    return table(("asked", "what", "in this run"), rows[:MAX_ROWS])


def _mark(execution: Execution | None, there: bool) -> str:
    if execution is None:
        return "—"
    return "✓ there" if there else "✗ not there"


def _checklist(case: Case) -> tuple[Sequence[str], Sequence[Any]]:
    truth = case.ground_truth if isinstance(case.ground_truth, Mapping) else {}
    return truth.get("functions") or (), truth.get("values") or ()


def draw_execution(case: Case, execution: Execution) -> Html:
    """Calls in the order executed, with what each returned; then variables, output and error."""
    parts: list[Html | None] = [
        tag("h4", f"Trace: {len(execution.calls):,} calls in {execution.seconds:.2f} s")
    ]
    if execution.error is not None:
        parts.append(tag("p", tag("b", f"{execution.error.code}: "), execution.error.message, cls="fcb-bad"))
    parts.append(_calls(execution) if execution.calls else tag("p", "nothing was called", cls="fcb-none"))
    parts.append(draw_checklist(case, execution))
    variables = [(tag("code", name), show(value, 600)) for name, value in execution.variables.items()]
    if variables:
        parts.append(details(f"Variables ({len(variables)})", table(("name", "value"), variables[:MAX_ROWS])))
    if execution.stdout:
        parts.append(details("Output", pre(execution.stdout, limit=20_000)))
    return join(parts)


def _calls(execution: Execution) -> Html:
    results = getattr(execution, "results", ())
    returned = getattr(execution, "returned", ())
    rows = []
    for number, call in enumerate(execution.calls[:MAX_ROWS]):
        ended = "raised or was cut off"
        if number < len(returned) and returned[number]:
            ended = show(results[number], 300)
        rows.append((str(number + 1), tag("code", _written(call)), ended))
    return table(("", "call", "returned"), rows)


def _written(call: ToolCall) -> str:
    arguments = ", ".join(f"{name}={show(value, 200)}" for name, value in call.arguments.items())
    return f"{call.name}({cut(arguments, 1000)[0]})"
