"""The tools offered, and text made into the type that a tool's schema names.

    Offered(tools).convert("book", "seat", "007")     # "007" for a string, 7 for an integer

For formats that write every argument as text. A parameter that no schema describes stays text. What
cannot be converted stays text as well: the schema check then reports the wrong type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from fcb_toolkit.parsers.reader import MAX_DIGITS, Unreadable
from fcb_toolkit.parsers.scan import Scan
from fcb_toolkit.parsers.values import Value, decode, read_value
from fcb_toolkit.records import Tool, tool_name, tool_parameters

_KINDS = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_ALIASES = {
    "str": "string", "text": "string", "int": "integer", "float": "number", "double": "number", "bool": "boolean",
    "dict": "object", "list": "array", "tuple": "array", "none": "null",
}  # fmt: skip
"""Names of types in tools that were made from Python; Berkeley's benchmark has dict, float and tuple."""
_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MAX_STEPS = 200
"""Schemas looked at for one parameter: a $ref may lead round in a circle."""


class Offered:
    """Looks up the offered tools by name; `tools` that are no tools are passed over."""

    __slots__ = ("_schemas", "known")

    def __init__(self, tools: Iterable[Tool] | None) -> None:
        self.known = tools is not None
        usable = [tool for tool in tools or () if isinstance(tool, Mapping)]
        self._schemas: dict[str, Mapping[str, Any]] = {tool_name(t): tool_parameters(t) for t in usable}
        self._schemas.pop("", None)

    def __contains__(self, name: object) -> bool:
        return name in self._schemas

    def properties(self, name: str) -> Mapping[str, Any]:
        """The tool's parameters by name; {} for an unknown tool."""
        properties = self._schemas.get(name, {}).get("properties")
        return properties if isinstance(properties, Mapping) else {}

    def required(self, name: str) -> tuple[str, ...]:
        required = self._schemas.get(name, {}).get("required")
        return tuple(item for item in required if isinstance(item, str)) if isinstance(required, list) else ()

    def convert(self, name: str, parameter: str, text: str) -> Any:
        """`text` as the type of that parameter."""
        root = self._schemas.get(name, {})
        schema = self.properties(name).get(parameter, root.get("additionalProperties"))
        if not isinstance(schema, Mapping):
            return text
        return convert(text, kinds(schema, root))


def kinds(schema: Any, root: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that `schema` admits; empty where it says nothing. References are looked up in `root`."""
    found: set[str] = set()
    queue: list[Any] = [schema]
    for _ in range(_MAX_STEPS):
        if not queue:
            break
        part = queue.pop()
        if not isinstance(part, Mapping):
            continue
        found |= _own_kinds(part)
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(part.get(key), list):
                queue.extend(part[key])
        if isinstance(part.get("$ref"), str):
            queue.append(_resolve(part["$ref"], root))
    return frozenset(found)


def _own_kinds(schema: Mapping[str, Any]) -> set[str]:
    named = schema.get("type")
    names = [str(kind).lower() for kind in (named if isinstance(named, list) else [named]) if kind]
    found = {_ALIASES.get(kind, kind) for kind in names} & _KINDS
    if schema.get("nullable") is True:
        found.add("null")
    if found - {"null"}:
        return found
    values = schema["enum"] if isinstance(schema.get("enum"), list) else []
    values = [*values, *([schema["const"]] if "const" in schema else [])]
    found |= {_kind_of(value) for value in values}
    if "properties" in schema:
        found.add("object")
    if "items" in schema:
        found.add("array")
    return found


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    node: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        node = node.get(step) if isinstance(node, Mapping) else None
    return node


def convert(text: str, types: frozenset[str]) -> Any:
    """`text` as one of `types`, the text itself where none fits. With a string among them, only what is
    plainly another type is converted: 3 becomes a number, 007 does not."""
    if types == {"string"}:
        return text
    bare = text.strip()
    if bare in ("null", "None") and "null" in types:
        return None
    if bare.lower() in ("true", "false") and "boolean" in types:
        return bare.lower() == "true"
    if types & {"integer", "number"}:
        number = _number(bare, exact="string" in types)
        if number is not None and (isinstance(number, int) or "number" in types or "string" not in types):
            return number
    if types & {"object", "array"} or not types:
        return _structure(text, types)
    return text


def _number(text: str, *, exact: bool) -> int | float | None:
    """The number that is written; 140.0 is the integer 140. None for no number."""
    if len(text) > MAX_DIGITS or (exact and re.match(r"\+|-?0[0-9]", text)):
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if math.isinf(number):
        return None
    # Beyond 2**53 a float no longer says which integer was meant.
    return int(number) if number.is_integer() and abs(number) <= 2**53 else number


def _structure(text: str, types: frozenset[str]) -> Any:
    """A list or object, written as JSON or as Python (or, for a parameter of any type, any JSON value)."""
    value = decode(text, lenient=bool(types))
    if value is None and types:
        value = _python(text)
    if value is None:
        return text
    if isinstance(value.value, str):
        inner = decode(value.value)
        return inner.value if inner and isinstance(inner.value, (dict, list)) and types else text
    return value.value


def _python(text: str) -> Value | None:
    scan = Scan(text)
    start = scan.skip(0)
    try:
        value = read_value(scan, start, python=True) if start < scan.end else None
    except Unreadable:
        return None
    return value if value and scan.skip(value.end) == scan.end else None
