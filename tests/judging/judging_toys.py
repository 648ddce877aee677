"""A run small enough to see whole."""

from __future__ import annotations

from pathlib import Path

import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.runs import Run

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "날씨",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def call(city: str) -> dict[str, object]:
    return {"name": "weather", "arguments": f'{{"city": "{city}"}}'}


def cases(count: int = 4) -> list[fcb.Case]:
    """Cases 0, 1: calls; the others: slot questions."""
    made = []
    for number in range(count):
        kind = "call" if number < 2 else "slot"
        truth = call("서울") if kind == "call" else {"role": "assistant", "content": "어느 도시인가요?"}
        request = {
            "serial_num": number,
            "messages": [{"role": "user", "content": f"{number}번: 서울 날씨"}],
            "tools": [TOOL],
            "ground_truth": truth,
            "type_of_output": kind,
        }
        made.append(fcb.Case.from_request(request))
    return made


def a_run(out: Path | None = None, count: int = 4) -> Run:
    """Case 0 passes the exact stage, case 1 names the city otherwise, the others ask with {braces}."""
    tool = {"role": "assistant", "content": None}
    replies = [
        {**tool, "tool_calls": [{"id": "a", "type": "function", "function": call("서울")}]},
        {**tool, "tool_calls": [{"id": "a", "type": "function", "function": call("서울특별시")}]},
    ]
    texts = [f"어느 도시 {{tools}} 말씀인가요, {number}?" for number in range(2, count)]
    model = ScriptedModel([*replies, *texts])  # type: ignore[list-item]
    return fcb.evaluate(model, cases(count), out, progress=False)
