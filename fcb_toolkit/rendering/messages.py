"""Messages and tools in the one form that everything after this relies on.

    conversation = prepare(messages, tools)
    conversation.messages[1]["tool_calls"][0]["function"]["arguments"]   # always a dict
    conversation.notes                                                   # what was changed, in sentences

Always: arguments are objects, ids are there and pair each result with its call, content is text,
`tool_calls` is absent unless it holds calls. What cannot be mended is a `ConversationError`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import kind_of
from fcb_toolkit.records import tool_name
from fcb_toolkit.rendering.function_schema import function_schema

MAX_DEPTH = 260
"""Levels of nesting that a schema or an argument may have; json and Jinja recurse, so there is a limit."""

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
UNKNOWN_TOOL = "unknown_tool"
"""Shown as the name of a tool result that answers no call."""


class ConversationError(DataError, ValueError):
    """Messages or tools that cannot be rendered at all."""


@dataclass(frozen=True)
class Conversation:
    """Messages and tools in canonical form, and what had to be changed to get there."""

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()


def prepare(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None) -> Conversation:
    """See the module's docstring. Raises `ConversationError` (a ValueError too)."""
    if not isinstance(messages, (list, tuple)):
        raise ConversationError(f"messages is {kind_of(messages)}, expected a list of messages")
    if not messages:
        raise ConversationError("the conversation is empty; give at least one message")
    notes: list[str] = []
    prepared = [_message(message, index, notes) for index, message in enumerate(messages)]
    _pair(prepared, notes)
    return Conversation(tuple(prepared), prepare_tools(tools), tuple(dict.fromkeys(notes)))


def prepare_tools(tools: Sequence[Any] | None) -> tuple[dict[str, Any], ...]:
    """Tools in OpenAI form; each may be that, a bare function object, a Python function or its source."""
    if tools is None:
        return ()
    if isinstance(tools, (str, Mapping)) or not isinstance(tools, Iterable):
        raise ConversationError(f"tools is {kind_of(tools)}, expected a list of tools")
    return tuple(_tool(tool, index) for index, tool in enumerate(tools))


def _tool(tool: Any, index: int) -> dict[str, Any]:
    if isinstance(tool, str) or callable(tool):
        tool = function_schema(tool)
    if not isinstance(tool, Mapping) or not tool_name(tool):
        raise ConversationError(
            f"tools[{index}] has no name; expected "
            '{"type": "function", "function": {"name": ..., "description": ..., "parameters": ...}}'
        )
    check_depth(tool, f"tools[{index}] ({tool_name(tool)})")
    function = dict(tool["function"] if isinstance(tool.get("function"), Mapping) else tool)
    function.pop("type", None)
    # Templates add the description to text and walk the properties: both must be there.
    if not isinstance(function.get("description"), str):
        function["description"] = ""
    parameters = function.get("parameters")
    parameters = dict(parameters) if isinstance(parameters, Mapping) else {}
    if "type" not in parameters:
        parameters = {"type": "object", **parameters}
    if not isinstance(parameters.get("properties"), Mapping):
        parameters["properties"] = {}
    if not isinstance(parameters.get("required", []), list):
        del parameters["required"]
    parameters = _without_nulls(parameters)
    order = ("name", "description", "parameters")
    known = {"name": function["name"], "description": function["description"], "parameters": parameters}
    return {
        "type": "function",
        "function": {**known, **{k: v for k, v in function.items() if k not in order}},
    }


_HOLD_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties")
_MAY_BE_NULL = frozenset({"default", "const"})


def _without_nulls(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without keywords that are null (`"description": null`): templates print the word None.

    A null default or constant is a value. `check_depth` has bounded the recursion.
    """
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if value is None and key not in _MAY_BE_NULL:
            continue
        if key in _HOLD_SCHEMAS and isinstance(value, Mapping):
            value = {name: _part(part) for name, part in value.items()}
        elif key not in ("default", "const", "enum", "examples", "example"):
            value = [_part(part) for part in value] if isinstance(value, list) else _part(value)
        kept[key] = value
    return kept


def _part(value: Any) -> Any:
    return _without_nulls(value) if isinstance(value, Mapping) else value


def check_depth(value: Any, what: str) -> None:
    """`ConversationError` where `value` nests deeper than `MAX_DEPTH`; walks without recursion."""
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise ConversationError(
                f"{what} is nested more than {MAX_DEPTH} levels deep; flatten it, no template can print it"
            )
        children: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                children.extend(v for v in item.values() if isinstance(v, (Mapping, list, tuple)))
            elif isinstance(item, (list, tuple)):
                children.extend(v for v in item if isinstance(v, (Mapping, list, tuple)))
        level, depth = children, depth + 1


def _message(message: Any, index: int, notes: list[str]) -> dict[str, Any]:
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in ROLES:
        raise ConversationError(f"messages[{index}] has role {role!r}, expected one of {', '.join(ROLES)}")
    content = message.get("content")
    if role in ("tool", "function") and not isinstance(content, (str, list, type(None))):
        content = json.dumps(content, ensure_ascii=False)
    prepared: dict[str, Any] = {"role": ROLES[role], "content": _text(content, index)}
    if isinstance(message.get("reasoning_content"), str) and role == "assistant":
        prepared["reasoning_content"] = message["reasoning_content"]
    if role in ("tool", "function"):
        prepared.update({k: message[k] for k in ("tool_call_id", "name") if isinstance(message.get(k), str)})
    calls = _calls(message, index, notes) if role == "assistant" else []
    if calls:
        prepared["tool_calls"] = calls
    return prepared


def _text(content: Any, index: int) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return "".join(texts)
    raise ConversationError(f"messages[{index}] has content that is {kind_of(content)}, expected text")


def _calls(message: Mapping[str, Any], index: int, notes: list[str]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls") or []
    if not calls and isinstance(message.get("function_call"), Mapping):
        calls = [{"function": message["function_call"]}]
    if not isinstance(calls, (list, tuple)):
        raise ConversationError(f"messages[{index}]['tool_calls'] is {kind_of(calls)}, expected a list")
    return [_call(call, f"messages[{index}] tool_calls[{i}]", notes) for i, call in enumerate(calls)]


def _call(call: Any, where: str, notes: list[str]) -> dict[str, Any]:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
        raise ConversationError(
            f'{where} has no name; expected {{"function": {{"name": ..., "arguments": ...}}}}'
        )
    arguments = _arguments(function.get("arguments"), f"{where} ({name})", notes)
    identity = call.get("id")
    prepared = {"id": identity} if isinstance(identity, str) and identity else {}
    return {**prepared, "type": "function", "function": {"name": name, "arguments": arguments}}


def _arguments(arguments: Any, where: str, notes: list[str]) -> dict[str, Any]:
    """Blank text means no arguments; undecodable text becomes {} with a note; another type is refused."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            notes.append(f"{where}: the arguments are not JSON and are shown as {{}}")
            return {}
        if isinstance(arguments, str):
            arguments = decoded(arguments)  # Some servers encode the text a second time.
    if not isinstance(arguments, Mapping):
        raise ConversationError(f"{where}: 'arguments' is {kind_of(arguments)}, expected an object")
    check_depth(arguments, f"{where}: 'arguments'")
    return dict(arguments)


def decoded(text: str) -> Any:
    """The object or list that the text is in JSON; else the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (dict, list)) else text


def _pair(messages: list[dict[str, Any]], notes: list[str]) -> None:
    """Gives every call an id and every result the id and name of the call that it answers."""
    used = {call["id"] for message in messages for call in message.get("tool_calls", ()) if "id" in call}
    opened: list[dict[str, Any]] = []
    count = 0
    for index, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            while "id" not in call:
                count += 1
                candidate = f"call{count:05d}"
                if candidate not in used:
                    call["id"] = candidate
        if message.get("tool_calls"):
            opened = list(message["tool_calls"])
        elif message["role"] == "tool":
            found = _answered(message, opened, index)
            if found is None:
                message.setdefault("name", UNKNOWN_TOOL)
                message.setdefault("tool_call_id", f"call{90000 + index:05d}")
                notes.append(f"messages[{index}] is a tool result that answers no call; it is shown as it is")
                continue
            if "tool_call_id" in message and message["tool_call_id"] != found["id"]:
                notes.append(
                    f"messages[{index}]: the tool_call_id matches no call; paired with the open call"
                )
            opened.remove(found)
            message["tool_call_id"] = found["id"]
            message["name"] = found["function"]["name"]


def _answered(message: Mapping[str, Any], opened: list[dict[str, Any]], index: int) -> dict[str, Any] | None:
    same_id = [call for call in opened if call["id"] == message.get("tool_call_id")]
    if same_id:
        # Equal ids (recorded data has placeholders like "random_id"): the name decides, then the order.
        named = [call for call in same_id if call["function"]["name"] == message.get("name")]
        return (named or same_id)[0]
    candidates = [
        call for call in opened if "name" not in message or call["function"]["name"] == message["name"]
    ]
    candidates = candidates or opened
    names = [call["function"]["name"] for call in candidates]
    if len(names) > len(set(names)):
        raise ConversationError(
            f"messages[{index}] is a tool result without the id of its call, and {len(names)} calls of "
            f"{names[0]!r} are open; give each call an 'id' and each result its 'tool_call_id'"
        )
    return candidates[0] if candidates else None
