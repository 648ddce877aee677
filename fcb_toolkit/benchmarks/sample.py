"""`sample/korean`: Korean cases of our own that ship with the package, in `data/sample_korean/`.

    {"slug": "lights-off", "query": "나 이제 잔다. 집에 불 다 꺼 줘.",
     "call": {"name": "turn_off_all_lights", "arguments": {}}, "acceptable": null,
     "tools": {"exact": ["turn_off_all_lights"], "4_close": ["set_room_heating", ...], ...}}

is one query under five tool lists (`singles.jsonl`). `dialogs.jsonl` holds dialogs, in which each turn
of the assistant is a case with everything before it as its messages. `decisions.jsonl` asks one
function four ways: everything given, function not offered, nothing given, something missing.
`functions.jsonl` holds each function once. `data/README.md` describes the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import UnknownName
from fcb_toolkit.records import Case, Message, Tool
from fcb_toolkit.requests import case_from_request

BENCHMARK = "sample/korean"
# `fcb_toolkit/data` is a link to the repository's `data/`; a wheel carries the files themselves.
FOLDER = Path(__file__).parent.parent / "data" / "sample_korean"
TYPE_OF_DECISION = {"call": "call", "reject": "relevance", "slot-all": "slot", "slot-some": "slot"}

Row = Mapping[str, Any]
Request = dict[str, Any]


def bundled() -> Path:
    """The folder that ships with the package."""
    return FOLDER


def load(folder: Path) -> list[Case]:
    """All cases in file order; `folder` holds the five files.

    Raises `DataError` where a file cannot be read, `UnknownName` where a case offers a function that
    `functions.jsonl` does not hold.
    """
    tools = {row["name"]: _tool(row) for _, row in jsonl.read(folder / "functions.jsonl")}
    system = {"role": "system", "content": jsonl.read_text(folder / "system.txt").strip()}
    requests: list[Request] = []
    for name, read in (("singles", _singles), ("dialogs", _dialogs), ("decisions", _decisions)):
        for _, row in jsonl.read(folder / f"{name}.jsonl"):
            requests += read(row)
    return [_case(request, system, tools, serial) for serial, request in enumerate(requests, 1)]


def _tool(row: Row) -> Tool:
    return {"type": "function", "function": {key: row[key] for key in ("name", "description", "parameters")}}


def _case(request: Request, system: Message, tools: Mapping[str, Tool], serial: int) -> Case:
    for name in request["tools"]:
        if name not in tools:
            raise UnknownName("function", name, tools)
    messages = [system, *request["messages"]]
    offered = [tools[name] for name in request["tools"]]
    full = request | {"serial_num": serial, "messages": messages, "tools": offered}
    case = case_from_request(full, benchmark=BENCHMARK, where=f"{BENCHMARK}/{request['id']}")
    return replace(case, condition=request.get("condition", ""))


def _singles(row: Row) -> Iterator[Request]:
    # One call is kept as FunctionChat's single call keeps it, several as a message.
    call = row["call"]
    truth = _function(call) if isinstance(call, Mapping) else _called(call, "1")
    for condition, names in row["tools"].items():
        request = _request(row, condition, [_user(row["query"])], truth, row["acceptable"])
        yield request | {"condition": condition, "tools": names}


def _decisions(row: Row) -> Iterator[Request]:
    for category, type_of_output in TYPE_OF_DECISION.items():
        several = isinstance(row[category], list)
        for number, item in enumerate(row[category] if several else [row[category]], 1):
            suffix = f"{category}-{number}" if several else category
            offered = [name for name in row["tools"] if category != "reject" or name != row["function"]]
            # A reject asks what the call asked, with the one function that fits taken away.
            query = item.get("query", row["call"]["query"])
            truth = _called(item["call"], suffix) if category == "call" else _said(item["answer"])
            request = _request(row, suffix, [_user(query)], truth, item.get("acceptable"))
            yield request | {"category": category, "type_of_output": type_of_output, "tools": offered}


def _dialogs(row: Row) -> Iterator[Request]:
    history: list[Message] = []
    for number, turn in enumerate(row["turns"], 1):
        kind = next(iter(turn))
        if kind == "user":
            history.append(_user(turn["user"]))
        elif kind == "results":
            history += _results(history[-1], turn["results"])
        else:
            truth = _called(turn["call"], str(number)) if kind == "call" else _said(turn[kind])
            request = _request(row, f"turn-{number}-{kind}", list(history), truth, turn.get("acceptable"))
            yield request | {"type_of_output": kind, "tools": row["tools"]}
            history.append(truth)


def _request(row: Row, suffix: str, messages: list[Message], truth: Row, acceptable: Any) -> Request:
    # The official builder hands the scorer null or a string: JSON or a sentence.
    text = acceptable if acceptable is None or isinstance(acceptable, str) else _json(acceptable)
    base = {"id": f"{row['slug']}-{suffix}", "cluster": row["slug"], "messages": messages}
    return base | {"ground_truth": truth, "acceptable_arguments": text}


def _called(call: Row | Sequence[Row], tag: str) -> dict[str, Any]:
    calls = [call] if isinstance(call, Mapping) else call
    made = [
        {"id": f"call_{tag}_{index}", "type": "function", "function": _function(one)}
        for index, one in enumerate(calls, 1)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _results(called: Message, results: Sequence[Any]) -> Iterator[Message]:
    for call, result in zip(called["tool_calls"], results, strict=True):
        message = {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"]}
        yield message | {"content": _json(result)}


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _function(call: Row) -> dict[str, Any]:
    # As in the official data, arguments are the text of a JSON object.
    return {"name": call["name"], "arguments": _json(call["arguments"])}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
