"""The message shape: how a conversation in canonical form is put to a template.

    shape = Shape(content="null", arguments="string")
    str(shape)                        # "tools=tools,calls=template,content=null,arguments=string,..."
    given = shape.apply(conversation, ...)   # messages, tools and variables for the template

Which shape a template renders faithfully is found by `probe`; here is only what each shape means.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fcb_toolkit.rendering import prompt_mode
from fcb_toolkit.rendering.messages import Conversation, decoded
from fcb_toolkit.rendering.reordered import Messages, fixed_turns, in_call_order, split_calls, text_apart
from fcb_toolkit.rendering.tool_shapes import shape_tools


@dataclass(frozen=True)
class Shape:
    """One way of putting messages and tools to a template. The defaults are OpenAI's form with objects."""

    tools: str = "tools"
    """`tools` (the argument), the name of another variable, `system.tools` (a key of the system message), or
    `text` (written into the system message)."""
    calls: str = "template"
    """`template` (the key tool_calls), or `content` (written into the content in the reply's format)."""
    content: str = "empty"
    """Content of a turn that only calls: `empty` (""), `null` or `absent`."""
    arguments: str = "object"
    """`object`, `string` (JSON text), or `literals` (an object whose values are Python literals as text)."""
    ids: str = "given"
    """`given`, or `nine` (mapped to nine letters and digits)."""
    results: str = "string"
    """Tool results: `string`, `object` (decoded where it is JSON), `named` ({name, response}), or `user`
    (text in a user turn)."""
    result_role: str = "tool"
    """The role of a tool result: `tool`, or what a template has instead."""
    system: str = "system"
    """`system`, or `user` (put before the first user turn's text)."""
    schemas: str = "given"
    """`given`, `flat` ($ref resolved, one `type` a property), or `full` (flat, with empty descriptions)."""
    escapes: str = "none"
    """Descriptions escaped for templates that build JSON by hand: `none`, `tool` or `all`."""
    text: str = "string"
    """Text of every turn: `string`, or `parts` ([{"type": "text", "text": ...}], what some image models' templates
    alone can read)."""
    variables: str = "text"
    """A tools variable other than `tools` gets `text` (JSON) or `list`."""
    fixes: tuple[str, ...] = ()
    """What this one conversation needed, see `FIXES`."""

    def __str__(self) -> str:
        shown = ["tools", "calls", "content", "arguments", "ids", "results"]
        shown += [name for name in _DEFAULT if getattr(self, name) != _DEFAULT[name]]
        parts = [f"{name}={getattr(self, name)}" for name in shown]
        return ",".join(parts + ([f"fixes={'+'.join(self.fixes)}"] if self.fixes else []))


_DEFAULT = {
    "result_role": "tool",
    "system": "system",
    "schemas": "given",
    "escapes": "none",
    "text": "string",
}
PROMPT_MODE = Shape(tools="text", calls="content", results="user")


@dataclass(frozen=True)
class Given:
    """What goes to the template."""

    messages: Messages
    tools: list[dict[str, Any]] | None
    variables: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Texts:
    """What the toolkit writes itself: text for the system message, and calls in the reply's format."""

    system: str = ""
    language: str = "ko"
    write_calls: Callable[[Sequence[Mapping[str, Any]]], str] = prompt_mode.calls_text
    empty_tools: Any = None
    """What a template gets for "no tools": None or []."""


def apply(shape: Shape, conversation: Conversation, texts: Texts) -> Given:
    """The conversation in this shape."""
    messages = [dict(message) for message in conversation.messages]
    if "split" in shape.fixes:
        messages = split_calls(messages)
    if "beside" in shape.fixes:
        messages = text_apart(messages)
    if shape.results == "user":
        messages = _results_as_user(messages, texts.language)
    messages = _place_system(messages, texts.system, shape.system, shape.fixes)
    messages = fixed_turns(messages, shape.fixes)
    messages = [_shaped(message, shape, texts) for message in messages]
    if shape.text == "parts":
        messages = [_in_parts(message) for message in messages]
    tools = shape_tools(conversation.tools, schemas=shape.schemas, escapes=shape.escapes)
    return _with_tools(messages, tools, shape, texts)


def _in_parts(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if not isinstance(content, str):
        return message
    return {**message, "content": [{"type": "text", "text": content}]}


def _with_tools(messages: Messages, tools: list[dict[str, Any]], shape: Shape, texts: Texts) -> Given:
    if not tools or shape.tools == "text":
        return Given(messages, texts.empty_tools)
    if shape.tools == "tools":
        return Given(messages, tools)
    if shape.tools == "system.tools":
        text = json.dumps([tool["function"] for tool in tools], ensure_ascii=False)
        if messages[0]["role"] != "system":
            messages.insert(0, {"role": "system", "content": ""})
        return Given([{**messages[0], "tools": text}, *messages[1:]], texts.empty_tools)
    value = json.dumps(tools, ensure_ascii=False) if shape.variables == "text" else tools
    return Given(messages, texts.empty_tools, {shape.tools: value})


def _results_as_user(messages: Messages, language: str) -> Messages:
    out: Messages = []
    pending: Messages = []
    for message in [*in_call_order(messages), None]:
        if message is not None and message["role"] == "tool":
            pending.append(message)
            continue
        if pending:
            out.append({"role": "user", "content": prompt_mode.results_text(pending, language)})
            pending = []
        if message is not None:
            out.append(message)
    return out


def _place_system(messages: Messages, extra: str, where: str, fixes: Sequence[str]) -> Messages:
    """One system text: the conversation's own, then `extra`; or both before the first user turn's text."""
    first = messages[0] if messages[0]["role"] == "system" else None
    rest = messages[1:] if first else messages
    text = "\n\n".join(part for part in ((first or {}).get("content", ""), extra) if part)
    if where == "system" and "system" in fixes and not first:
        return [{"role": "system", "content": text}, *rest]
    if where == "system":
        return [{"role": "system", "content": text}, *rest] if text or first else rest
    texts = [text, *(m["content"] for m in rest if m["role"] == "system")]
    text = "\n\n".join(part for part in texts if part)
    rest = [m for m in rest if m["role"] != "system"]
    index = next((i for i, m in enumerate(rest) if m["role"] == "user"), None)
    if not text:
        return rest or [{"role": "user", "content": ""}]
    if index is None:
        return [{"role": "user", "content": text}, *rest]
    joined = {**rest[index], "content": f"{text}\n\n{rest[index]['content']}"}
    return [*rest[:index], joined, *rest[index + 1 :]]


def _shaped(message: dict[str, Any], shape: Shape, texts: Texts) -> dict[str, Any]:
    if message["role"] == "tool":
        return _shaped_result(message, shape)
    calls = message.get("tool_calls")
    if not calls:
        return message
    if shape.calls == "content":
        text = "\n".join(part for part in (message["content"], texts.write_calls(calls)) if part)
        return {**{k: v for k, v in message.items() if k != "tool_calls"}, "content": text}
    shaped = {**message, "tool_calls": [_shaped_call(call, shape) for call in calls]}
    if not message["content"] and shape.content != "empty":
        shaped.pop("content")
        if shape.content == "null":
            shaped["content"] = None
    return shaped


def _shaped_call(call: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    function = dict(call["function"])
    if shape.arguments == "string":
        function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    if shape.arguments == "literals":
        function["arguments"] = {key: repr(value) for key, value in function["arguments"].items()}
    return {**call, "id": shaped_id(call["id"], shape), "function": function}


def shaped_id(identity: str, shape: Shape) -> str:
    """The id as given, or nine letters and digits that depend on it alone."""
    given = shape.ids == "given" and "nine" not in shape.fixes
    if given or (len(identity) == 9 and identity.isascii() and identity.isalnum()):
        return identity
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:9]


def _shaped_result(message: dict[str, Any], shape: Shape) -> dict[str, Any]:
    identity = shaped_id(message["tool_call_id"], shape)
    shaped = {**message, "role": shape.result_role, "tool_call_id": identity}
    if shape.results in ("object", "named"):
        value = decoded(message["content"])
        if shape.results == "named":
            value = {
                "name": message["name"],
                "response": value if isinstance(value, dict) else {"result": value},
            }
        shaped["content"] = value
    return shaped
