"""Decoded JSON made into calls: `{"name": ..., "arguments": {...}}` and what models write for it.

    add_calls(reading, {"name": "f", "parameters": {}}, Span(0, 30))    # a call of f, repair "alias"

`KEYS` of a format come first; another name for the same thing is a repair. A value that is no call, or
whose arguments are no object, is an error of the reading: never a call with invented arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.parsers.offered import Offered
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.scan import Scan
from fcb_toolkit.parsers.values import decode, read_value

NAME_KEYS = ("name", "tool_name", "function_name", "tool", "function")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params", "tool_input")
BESIDE = frozenset({"id", "type", "index", "tool_call_id", "call_id", *NAME_KEYS})
LIST_KEYS = ("tool_calls", "calls", "function_calls")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a call stands in the text, and under which key its format writes the arguments."""

    start: int
    stop: int
    key: str = "arguments"
    name: str = "name"


def add_calls(reading: Reading, value: Any, span: Span) -> str | None:
    """Adds the calls in `value`; None, or a sentence that says why it holds none."""
    items = value if isinstance(value, list) else [value]
    if isinstance(value, dict):
        key = next((key for key in LIST_KEYS if isinstance(value.get(key), list)), None)
        if key is not None:
            items = value[key]
            reading.repair("wrapper")
            if isinstance(value.get("content"), str):  # a whole message, written as text
                reading.pieces.append(value["content"])
    if not items:
        return "the list holds no call"
    calls = []
    for item in items:
        call = call_of(reading, item, span)
        if isinstance(call, str):
            return call
        calls.append(call)
    for name, arguments, id in calls:
        raw = _raw_arguments(reading, span, arguments) if len(calls) == 1 else None
        reading.call(name, arguments, raw, id)
    return None


def looks_like_call(value: Any, offered: Offered, *, strictly: bool = False) -> bool:
    """Whether decoded JSON is meant as one call or several; `strictly`: of offered tools only."""
    if isinstance(value, list):
        return bool(value) and all(looks_like_call(item, offered, strictly=strictly) for item in value)
    if not isinstance(value, dict):
        return False
    for key in LIST_KEYS:
        if isinstance(value.get(key), list):
            return looks_like_call(value[key], offered, strictly=strictly)
    inner = value.get("function", value.get("function_call"))
    call = inner if isinstance(inner, dict) else value
    name = next((call[key] for key in NAME_KEYS if isinstance(call.get(key), str)), None)
    if name is None:
        return _named_by_key(call, offered) is not None
    if _is_definition(call, name, offered):
        return False
    if strictly and offered.known:
        return name.strip() in offered
    return name.strip() in offered or any(key in call for key in ARGUMENT_KEYS)


def _named_by_key(call: Mapping[str, Any], offered: Offered) -> str | None:
    """The tool that is the only key of its arguments: `{"get_weather": {"city": "서울"}}`."""
    only = next(iter(call), "")
    return only if len(call) == 1 and only in offered and isinstance(call[only], dict) else None


def _is_definition(call: Mapping[str, Any], name: str, offered: Offered) -> bool:
    """Whether this is the tool itself, as the prompt shows it, and not a call of it."""
    schema = call.get("parameters", call.get("arguments"))
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return False
    return isinstance(schema.get("properties"), dict) and "properties" not in offered.properties(name)


def call_of(reading: Reading, item: Any, span: Span) -> tuple[str, dict[str, Any], str | None] | str:
    """(name, arguments, id) of one decoded call, or a sentence that says why it is none."""
    if not isinstance(item, dict):
        return f"the call is {type(item).__name__}, expected an object with 'name' and {span.key!r}"
    call = item
    inner = item.get("function", item.get("function_call"))
    if isinstance(inner, dict):
        call = inner
        reading.repair("wrapper")
    name_key = next((key for key in (span.name, *NAME_KEYS) if isinstance(call.get(key), str)), None)
    name = call[name_key].strip() if name_key else ""
    if not name and (name := _named_by_key(call, reading.offered) or ""):
        reading.repair("wrapper")
        return name, call[name], None
    if not name:
        return f"the call has no name; found the keys {', '.join(map(repr, item)) or 'none'}"
    if _is_definition(call, name, reading.offered):
        return f"it is the definition of {name!r}, not a call"
    if name_key != span.name:
        reading.repair("alias")
    arguments = _arguments(reading, call, name, span)
    id = item.get("id", item.get("tool_call_id"))
    return arguments if isinstance(arguments, str) else (name, arguments, id if isinstance(id, str) else None)


def _arguments(reading: Reading, call: Mapping[str, Any], name: str, span: Span) -> dict[str, Any] | str:
    key = next((key for key in (span.key, *ARGUMENT_KEYS) if key in call), None)
    if key is None:
        flat = {key: value for key, value in call.items() if key not in BESIDE}
        if not flat:
            reading.repair("missing_arguments")
            return {}
        if not flat.keys() <= reading.offered.properties(name).keys():
            return f"the call of {name!r} has no key {span.key!r}; found {', '.join(map(repr, call))}"
        reading.repair("flat_arguments")
        return flat
    if key != span.key:
        reading.repair("alias")
    return object_of(reading, call[key], name)


def object_of(reading: Reading, value: Any, name: str) -> dict[str, Any] | str:
    """Arguments as an object: null and [] are none, a JSON string is decoded once more."""
    if isinstance(value, dict):
        return value
    if value is None or value == []:
        reading.repair("missing_arguments")
        return {}
    if isinstance(value, str):
        decoded = decode(value) if value.strip() else None
        if decoded is not None and isinstance(decoded.value, str):
            decoded = decode(decoded.value)
        if decoded is not None and isinstance(decoded.value, dict):
            reading.repair("double_encoded", *decoded.repairs)
            return decoded.value
        if not value.strip():
            reading.repair("missing_arguments")
            return {}
        return f"the arguments of {name!r} are a string that holds no JSON object: {value[:80]!r}"
    return f"the arguments of {name!r} are {_kind(value)}, expected an object"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    return "a list" if isinstance(value, list) else "a number"


def _raw_arguments(reading: Reading, span: Span, arguments: dict[str, Any]) -> str | None:
    """The arguments as written. Found by their key and decoded again, so that a mention is not taken."""
    text = reading.scan.slice(span.start, span.stop)
    for key in dict.fromkeys((span.key, *ARGUMENT_KEYS)):
        found = re.search(rf"""["']{key}["']\s*+:\s*+(?=[{{\["'])""", text)
        if found is None:
            continue
        try:
            value = read_value(Scan(text), found.end())
        except Unreadable:
            return None
        whole = value.value if isinstance(value.value, dict) else arguments
        return text[found.end() : value.end] if whole == arguments else None
    return None
