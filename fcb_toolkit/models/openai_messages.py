"""What is sent to an OpenAI-compatible server, and what comes back, as records.

messages_to_send([...])                    # arguments as JSON text, as the API wants them
reply_of({"choices": [{"message": {...}, "finish_reason": "stop"}], "usage": {...}})
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.models.secrets import HIDDEN
from fcb_toolkit.records import Message, Reply, Tool

LEAST = 16
"""A shorter key may be a word that a reply holds for its own reasons."""


class NoCompletion(ValueError):
    """An answer without choices[0].message."""


def messages_to_send(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as they are, except that arguments given as objects become the JSON text of the API."""
    return tuple(_message(message) for message in messages)


def _message(message: Message) -> Message:
    calls = message.get("tool_calls")
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        return message
    sent = [_call(call) for call in calls]
    return message if sent == list(calls) else {**message, "tool_calls": sent}


def _call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or isinstance(function.get("arguments"), str):
        return call
    return {**call, "function": {**function, "arguments": jsonl.dumps(function.get("arguments") or {})}}


def tools_to_send(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Tools in the API's form; a bare function object gets its wrapper."""
    return tuple(tool if "function" in tool else {"type": "function", "function": tool} for tool in tools)


def reply_of(data: Any, sample: int = 0, format: str = "openai") -> Reply:
    """A chat completion (plain JSON) as a `Reply`. Raises `NoCompletion` if it is none.

    The message is kept as it came. With another `format` than `openai`, a message without calls is kept as
    text, which that format's parser reads.
    """
    if isinstance(data, str):
        # A server that names no JSON content type.
        data = json.loads(data)
    choices = data.get("choices") if isinstance(data, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        told = data.get("error") if isinstance(data, Mapping) else None
        raise NoCompletion(f"no choices[0].message{f', but {told}' if told else ''}")
    content = message.get("content")
    usage = data.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    as_text = format != "openai" and isinstance(content, str) and not message.get("tool_calls")
    return Reply(
        "",
        content if isinstance(content, str) else None,
        sample,
        "length" if choice.get("finish_reason") == "length" else "stop",
        prompt_tokens=_count(usage.get("prompt_tokens")),
        reply_tokens=_count(usage.get("completion_tokens")),
        format=format if as_text else "openai",
        message=None if as_text else {"role": "assistant", "content": None, **message},
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def timed(reply: Reply, seconds: float, notes: tuple[str, ...]) -> Reply:
    return replace(reply, seconds=seconds, notes=(*reply.notes, *notes))


def without(data: Any, secret: str) -> Any:
    """JSON without a secret that it repeats."""
    if len(secret) < LEAST:
        return data
    text = json.dumps(data)
    written = json.dumps(secret)[1:-1]
    return json.loads(text.replace(written, HIDDEN)) if written in text else data
