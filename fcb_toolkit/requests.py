"""One request in the official FunctionChat-Bench form -> Case, and back.

{"serial_num": 1, "messages": [...], "tools": [...], "temperature": 0, "tool_choice": "auto",
 "ground_truth": {...}, "acceptable_arguments": null, "type_of_output": "call"}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import kind_of
from fcb_toolkit.records import Case, tool_name

TYPES_OF_OUTPUT = ("call", "completion", "slot", "relevance")
ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def case_from_request(
    request: Mapping[str, Any], *, benchmark: str = "jsonl", where: str = "request"
) -> Case:
    """See `Case.from_request`. `where` (file and line) starts each error message."""
    if not isinstance(request, Mapping):
        raise DataError(f"{where}: found {kind_of(request)}, expected an object")
    messages = _messages(request, where)
    tools = _tools(request, where)
    type_of_output = request.get("type_of_output")
    type_of_output = "call" if type_of_output is None else type_of_output
    # A request in memory keeps any text: the official scorer has a verdict on it (fail). A file is refused.
    if type_of_output not in TYPES_OF_OUTPUT and not (where == "request" and isinstance(type_of_output, str)):
        raise DataError(
            f"{where}: 'type_of_output' is {type_of_output!r}, expected one of {', '.join(TYPES_OF_OUTPUT)}"
        )
    serial = request.get("serial_num")
    condition = str(request.get("tools_type") or "")
    category = str(request.get("category") or type_of_output).lower().replace("_", "-")
    identity = str(request.get("id") or (serial if serial is not None else "request"))
    return Case(
        id=f"{benchmark}/{identity}/{condition}" if condition else f"{benchmark}/{identity}",
        benchmark=benchmark,
        messages=messages,
        tools=tools,
        ground_truth=request.get("ground_truth"),
        acceptable_arguments=request.get("acceptable_arguments"),
        type_of_output=type_of_output,
        category=category,
        condition=condition,
        cluster=str(request.get("cluster") or identity),
        serial_num=serial if isinstance(serial, int) else None,
        tool_choice=request.get("tool_choice", "auto"),
        temperature=_temperature(request, where),
    )


def request_sha256(case: Case) -> str:
    """Hash of what the official request builder makes of the case (see the golden notes)."""
    request = {
        "messages": list(case.messages),
        "tools": list(case.tools),
        "ground_truth": case.ground_truth,
        "acceptable_arguments": case.acceptable_arguments,
    }
    text = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _messages(request: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], ...]:
    messages = request.get("messages") or []
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise DataError(f"{where}: 'messages' is {kind_of(messages)}, expected a list of messages")
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ROLES:
            raise DataError(
                f"{where}: messages[{index}] has role {role!r}, expected one of {', '.join(ROLES)}"
            )
    return tuple(messages)


def _tools(request: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], ...]:
    tools = request.get("tools") or []
    if not isinstance(tools, Sequence) or isinstance(tools, str):
        raise DataError(f"{where}: 'tools' is {kind_of(tools)}, expected a list")
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping) or not tool_name(tool):
            raise DataError(
                f"{where}: tools[{index}] has no name; expected "
                '{"type": "function", "function": {"name": ..., "parameters": ...}}'
            )
    return tuple(tools)


def _temperature(request: Mapping[str, Any], where: str) -> float | None:
    value = request.get("temperature")
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    raise DataError(f"{where}: 'temperature' is {kind_of(value)}, expected a number")
