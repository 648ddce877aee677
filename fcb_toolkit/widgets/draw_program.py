"""A program that a model wrote, what it did when it ran, and what the checklist asks of it (DPAB).

    draw_program(case, code, verdict)                  # code, checklist, what the verdict kept of the run
    draw_execution(case, code, execute(case, code))    # the full trace, of a run made now

Programs run in the sandbox of `execution`, never in this process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fcb_toolkit import execution
from fcb_toolkit.execution import TracedExecution
from fcb_toolkit.records import Answer, Case, ToolCall, Verdict
from fcb_toolkit.scoring.dpab import judge
from fcb_toolkit.scoring.dpab_program import program
from fcb_toolkit.scoring.values import show
from fcb_toolkit.widgets.markup import Html, cut, details, join, plural, pre, table, tag

MAX_ROWS = 200
_STATUS = {
    "found": "✓ found",
    "missing": "✗ missing",
    "too_few": "✗ too few calls returned",
    "raised": "✗ every call raised",
    "rejected": "✗ the arguments did not fit",
    "not_kept": "✗ returned, but no variable keeps it",
}


def is_program(case: Case) -> bool:
    return case.type_of_output == "code"


def mock_functions(case: Case) -> str:
    """The source of the functions that the program may call."""
    return str(case.task.get("mock_functions", ""))


def program_text(case: Case, answer: Answer | None) -> str:
    """The code that runs for this reply; "" where there is none in it."""
    if answer is None or answer.text is None:
        return ""
    mode = str(case.task.get("mode", "pythonic"))
    return program(answer.text, mode, execution.mock_names(mock_functions(case))).code or ""


def draw_program(case: Case, code: str, verdict: Verdict | None) -> Html:
    """The code, the checklist with what the verdict says of each line, the calls in the order executed."""
    kept = verdict.details if verdict is not None else {}
    calls = [str(name) for name in kept.get("calls") or ()]
    parts = [
        tag("h4", "Program"),
        pre(code, "fcb-code", limit=20_000) if code else tag("p", "no program in the reply", cls="fcb-none"),
        tag("h4", "Checklist"),
        draw_checklist(case, kept),
        tag("p", tag("b", "Called: "), " → ".join(calls[:MAX_ROWS])) if calls else None,
        tag("p", tag("b", "Ended with "), str(kept["error"])[:2000], cls="fcb-bad")
        if kept.get("error")
        else None,
        details("Mock functions", pre(mock_functions(case), "fcb-code", limit=20_000)),
    ]
    return join(parts)


def draw_checklist(case: Case, kept: Mapping[str, Any]) -> Html:
    """One row per function and value that is asked for; `kept` are the details of a `dpab` verdict."""
    truth = case.ground_truth if isinstance(case.ground_truth, Mapping) else {}
    functions = kept.get("functions") or [{"name": name} for name in truth.get("functions") or ()]
    values = kept.get("values") or [{"value": value} for value in truth.get("values") or ()]
    rows = [(f"call of {one['name']}", _status(one), _function_note(one)) for one in functions]
    rows += [(tag("code", show(one["value"], 300)), _status(one), _value_note(one)) for one in values]
    if not rows:
        return tag("p", "the checklist is empty", cls="fcb-none")
    return table(("asked", "in this run", "note"), rows[:MAX_ROWS])


def _status(entry: Mapping[str, Any]) -> Html:
    status = str(entry.get("status", ""))
    return tag("span", _STATUS.get(status, "—"), cls="fcb-same" if status == "found" else "fcb-different")


def _function_note(entry: Mapping[str, Any]) -> str:
    if "needed" not in entry:
        return ""
    return str(entry.get("reason") or f"returned {entry['returned']} of {entry['needed']}")


def _value_note(entry: Mapping[str, Any]) -> str:
    where, source = entry.get("where"), entry.get("returned_by")
    return " · ".join(
        part for part in (f"in {where}" if where else "", f"returned by {source}" if source else "") if part
    )


def execute(case: Case, code: str) -> TracedExecution:
    """Runs the program in the sandbox, as the metric does. The code is a model's: it runs nowhere else."""
    return execution.execute_with(execution.current(), code, mock_functions(case))


def draw_execution(case: Case, code: str, ran: TracedExecution) -> Html:
    """Calls in the order executed, with what each returned; then the checklist, variables and output."""
    parts: list[Html | None] = [
        tag("h4", f"Trace: {len(ran.calls):,} call{plural(len(ran.calls))} in {ran.seconds:.2f} s")
    ]
    if ran.error is not None:
        parts.append(tag("p", tag("b", f"{ran.error.code}: "), ran.error.message[:2000], cls="fcb-bad"))
    parts.append(_calls(ran) if ran.calls else tag("p", "nothing was called", cls="fcb-none"))
    parts.append(draw_checklist(case, judge(case, code, ran).details if ran.executor else {}))
    variables = [(tag("code", name), show(value, 600)) for name, value in ran.variables.items()]
    if variables:
        parts.append(details(f"Variables ({len(variables)})", table(("name", "value"), variables[:MAX_ROWS])))
    if ran.stdout:
        parts.append(details("Output", pre(ran.stdout, limit=20_000)))
    return join(parts)


def _calls(ran: TracedExecution) -> Html:
    rows = []
    traced = zip(ran.calls, ran.returned, ran.results, strict=True)
    for number, (call, returned, result) in enumerate(traced, 1):
        if number > MAX_ROWS:
            break
        rows.append(
            (
                str(number),
                tag("code", _written(call)),
                show(result, 300) if returned else "raised or was cut off",
            )
        )
    return table(("number", "call", "returned"), rows)


def _written(call: ToolCall) -> str:
    arguments = ", ".join(f"{name}={show(value, 200)}" for name, value in call.arguments.items())
    return f"{call.name}({cut(arguments, 1000)[0]})"
