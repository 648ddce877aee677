"""A reply -> what a metric sees of it.

answer('<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>', format="hermes").message
-> {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function",
    "function": {"name": "f", "arguments": "{}"}}]}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fcb_toolkit import parsers
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
    parsed = parsers.parse(reply, "openai", tools=tools)
    content = reply.get("content") if isinstance(reply, dict) else None
    return Answer(parsed, content if isinstance(content, str) else None, finish_reason, reply)


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
