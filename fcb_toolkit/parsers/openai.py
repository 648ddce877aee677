"""OpenAI's assistant message: `{"content": ..., "tool_calls": [{"function": {"name", "arguments"}}]}`.

A server gives this instead of text. `arguments` is a JSON string; servers and models get that wrong
in several ways, and a wrong field is an error of the parse, never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.jsonl import kind_of
from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.reasoning import split
from fcb_toolkit.parsers.values import decode
from fcb_toolkit.records import ParseError

_CALLS = re.compile(r"tool_calls\W{0,8}\[")
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


def read(reading: Reading) -> None:
    """The text is the message as JSON; a text that is none is an answer without calls."""
    scan = reading.scan
    start = scan.skip(0)
    decoded = decode(scan.text) if scan.at("{", start) else None
    if decoded is None and scan.at("{", start) and _CALLS.search(scan.text):
        reading.error("malformed_value", "the message is no JSON", 0, scan.end)
        return
    message = decoded.value if decoded else None
    if not isinstance(message, Mapping) or not message.keys() & {
        "content",
        "tool_calls",
        "function_call",
        "role",
    }:
        reading.text(0, scan.end)
        return
    read_message(reading, message)


def read_message(reading: Reading, message: Mapping[str, Any]) -> None:
    """Content, reasoning and calls of one message, in whatever shape they are."""
    content = _text(message.get("content"))
    if content is None:
        reading.errors.append(_error("content_not_text", "content", message["content"], "text or null"))
    given = next((message[key] for key in _REASONING_KEYS if _said(message.get(key))), None)
    if given is not None:
        reading.reasoning.append(given)
    elif content:  # a server without a parser of reasoning leaves it in the content
        parts = split(content, None, ())
        reading.reasoning += [parts.reasoning] if parts.reasoning else []
        reading.open_reasoning = not parts.closed
        content = content[parts.start :]
    if content:
        reading.pieces.append(content)
    if isinstance(message.get("content"), list):
        _read_parts(reading, message["content"])
    calls = message.get("tool_calls")
    if calls is None and isinstance(message.get("function_call"), Mapping):
        calls = [{"function": message["function_call"]}]
    written = decode(calls) if isinstance(calls, str) else None
    if written is not None and isinstance(written.value, (list, dict)):
        reading.repair("double_encoded")
        calls = written.value
    if isinstance(calls, Mapping):
        reading.repair("single_object")
        calls = [calls]
    if calls is None:
        return
    if not isinstance(calls, Sequence) or isinstance(calls, (str, bytes)):
        reading.errors.append(_error("malformed_call", "tool_calls", calls, "a list"))
        return
    for index, call in enumerate(calls):
        _read_call(reading, call, index)


def _said(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _read_parts(reading: Reading, parts: Sequence[Any]) -> None:
    """Calls among the parts of the content, where Anthropic's API has them."""
    for index, part in enumerate(parts):
        if isinstance(part, Mapping) and part.get("type") in ("tool_use", "function_call", "tool_call"):
            reading.repair("foreign_form")
            function = {"name": part.get("name"), "arguments": part.get("input", part.get("arguments"))}
            _read_call(reading, {"id": part.get("id"), "function": function}, index)


def _read_call(reading: Reading, call: Any, index: int) -> None:
    where = f"tool_calls[{index}]"
    if not isinstance(call, Mapping):
        reading.errors.append(_error("malformed_call", where, call, "an object"))
        return
    function = call.get("function", call)
    if isinstance(function, str) and function.strip():
        reading.repair("wrapper")
        function = {**call, "name": function}
    if not isinstance(function, Mapping):
        reading.errors.append(_error("malformed_call", f"{where}.function", function, "an object"))
        return
    if "function" not in call:
        reading.repair("wrapper")
    name = function.get("name")
    if not isinstance(name, str) or not name.strip():
        reading.errors.append(_error("malformed_call", f"{where}.function.name", name, "a name"))
        return
    written = function.get("arguments")
    arguments = _arguments(reading, written, name)
    if isinstance(arguments, str):
        reading.errors.append(ParseError("malformed_arguments", f"{where}: {arguments}"))
        return
    id = call.get("id")
    raw = written if isinstance(written, str) else None
    reading.call(name.strip(), arguments, raw, id if isinstance(id, str) else None)


def _arguments(reading: Reading, written: Any, name: str) -> dict[str, Any] | str:
    """A JSON string is the format; an object is what several servers give and means the same."""
    if isinstance(written, Mapping):
        reading.repair("object_arguments")
        return dict(written)
    if isinstance(written, str):
        bare = _unfenced(written)
        if bare is not written:
            reading.repair("code_fence")
        decoded = decode(bare)
        if decoded is not None and isinstance(decoded.value, dict):
            reading.repair(*decoded.repairs)
            return decoded.value
        if decoded is not None:
            return object_of(reading, decoded.value, name)
    return object_of(reading, written, name)


def _unfenced(text: str) -> str:
    """What a code fence around the whole text holds; the text itself where there is none."""
    whole = text.strip()
    if len(whole) < 6 or not (whole.startswith("```") and whole.endswith("```")):
        return text
    inside = whole[3:-3]
    return inside[4:] if inside[:4].lower() == "json" else inside


def _text(content: Any) -> str | None:
    """The text of a content field: a string, null, or a list of parts; None for anything else."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))


def _error(code: str, where: str, found: Any, expected: str) -> ParseError:
    return ParseError(code, f"{where} is {kind_of(found)}, expected {expected}")


FORMAT = Format(
    "openai", read, "servers of the OpenAI chat API: an assistant message instead of text", bare=True
)
