"""A reply -> what a metric sees of it.

answer('<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>', format="hermes").message
-> {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function",
    "function": {"name": "f", "arguments": "{}"}}]}
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from fcb_toolkit import jsonl, parsers
from fcb_toolkit.records import Answer, Parse, Tool, ToolCall


def answer(
    reply: Any,
    format: str = "auto",
    tools: Sequence[Tool] | None = None,
    prompt: str | None = None,
    finish_reason: str = "stop",
) -> Answer:
    """The `Answer` of one reply.

    reply: raw text (parsed in `format`), an OpenAI-style assistant message (kept as it is, whatever its
        shape, so that the official scorer sees what it would see), or None for no reply.
    """
    if isinstance(reply, Answer):
        return reply
    if reply is None:
        return Answer(Parse(), None, finish_reason, None)
    if isinstance(reply, str):
        parsed = parsers.parse(reply, format, tools=tools, prompt=prompt)
        return Answer(parsed, reply, finish_reason, openai_message(parsed))
    parsed = _plain(reply) or parsers.parse(reply, "openai", tools=tools)
    content = reply.get("content") if isinstance(reply, dict) else None
    return Answer(parsed, content if isinstance(content, str) else None, finish_reason, reply)


_KEYS = frozenset(("role", "content", "tool_calls", "refusal", "annotations", "audio"))
_LONG = 2_000


def _plain(message: Any) -> Parse | None:
    """The parse of a message just as the API documents it: calls, no text. None: the parser must look.

    Recorded runs hold hundreds of thousands of these; the answer is the parser's, in a third of the time.
    """
    if type(message) is not dict or message.get("content") or not message.keys() <= _KEYS:
        return None
    items = message.get("tool_calls")
    if type(items) is not list:
        return None
    calls = []
    for item in items:
        function = item.get("function") if type(item) is dict else None
        if type(function) is not dict:
            return None
        name, written = function.get("name"), function.get("arguments")
        if type(name) is not str or type(written) is not str or len(written) > _LONG or not name.strip():
            return None
        try:
            arguments = _DECODER.decode(written)
        except (ValueError, RecursionError):
            return None
        if type(arguments) is not dict or written.count("[") + written.count("{") > 50:
            return None
        identity = item.get("id")
        calls.append(ToolCall(name.strip(), arguments, identity if type(identity) is str else None, written))
    return Parse(None, tuple(calls), None, None, jsonl.dumps(message), "openai") if calls else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key twice")
    return members


def _refused(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("out of range")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_constant=_refused)


def openai_message(parsed: Parse) -> dict[str, Any]:
    """The message that an OpenAI-compatible server would have made of this parse."""
    message: dict[str, Any] = {"role": "assistant", "content": parsed.content or None}
    if parsed.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call)},
            }
            for number, call in enumerate(parsed.tool_calls, 1)
        ]
    return message


def arguments_text(call: ToolCall) -> str:
    """The call's arguments as the JSON string that the OpenAI form wants."""
    try:
        return json.dumps(call.arguments, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        # Nested deeper than json can write: the model's own text stands for it.
        return call.raw_arguments or "{}"
