"""Two readings of one reply: transformers' message and our parse. Which is kept, and why.

why_ours(parse(text, "hermes"), parse(message, "openai"), sure=True)
-> "" (the message is kept), or "it loses the call f, which hermes finds"
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.parsers import parse
from fcb_toolkit.parsers.special import trim
from fcb_toolkit.records import Parse, Tool, ToolCall


def message_of(found: Mapping[str, Any], tools: Sequence[Tool]) -> dict[str, Any]:
    """transformers' message in OpenAI's form: arguments as JSON text, tokens that end a turn left out.

    A message that cannot be read stays as it is, and so does the error that reading it gives.
    """
    read = parse(found, "openai", tools=tools)
    if read.error is not None:
        return dict(found)
    content = read.content or ""
    frame = trim(content)
    message: dict[str, Any] = {"role": "assistant", "content": content[frame.start : frame.stop] or None}
    if read.reasoning:
        message["reasoning_content"] = read.reasoning
    if read.tool_calls:
        message["tool_calls"] = [_call(call, number) for number, call in enumerate(read.tool_calls, 1)]
    return message


def _call(call: ToolCall, number: int) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "id": call.id or f"call_{number}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def why_ours(ours: Parse, theirs: Parse, sure: bool) -> str:
    """Why our parse is kept: a sentence, or "" where transformers' message is as good or better.

    `sure`: our format was read off the template, so that its errors are the reply's.
    """
    if theirs.error is not None:
        return f"its message cannot be read ({theirs.error.message})"
    if ours.error is not None and sure:
        # It takes the last of two values, and half a call for a whole one.
        return f"{ours.format} finds a fault in the reply ({ours.error.message})"
    names, found = ([call.name for call in parsed.tool_calls] for parsed in (ours, theirs))
    if lost := list((Counter(names) - Counter(found)).elements()):
        return f"it loses the call {lost[0]}, which {ours.format} finds"
    if ours.reasoning and not theirs.reasoning and len(found) > len(names):
        return "it takes a call in the reasoning for a call"
    if names == found:
        return _lost_argument(ours, theirs) or _lost_text(ours, theirs)
    return ""


def _lost_argument(ours: Parse, theirs: Parse) -> str:
    for mine, other in zip(ours.tool_calls, theirs.tool_calls, strict=True):
        if lost := [key for key in mine.arguments if key not in other.arguments]:
            return f"it loses the argument {lost[0]} of {mine.name}, which {ours.format} finds"
    return ""


def _lost_text(ours: Parse, theirs: Parse) -> str:
    """Text beside calls: the parser keeps the last piece only, unless its template joins them."""
    if theirs.reasoning and not ours.reasoning:  # its tags are unknown to us, and stand in our content
        return ""
    kept = f"{theirs.content or ''}\n{theirs.reasoning or ''}"
    whole = {line.strip() for line in kept.splitlines()} | {""}
    lines = map(str.strip, (ours.content or "").splitlines())
    lost = next((line for line in lines if line not in whole and line not in kept), None)
    return "" if lost is None else f"it loses the text {lost[:60]!r}"
