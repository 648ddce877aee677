"""What of the tools a prompt does not show.

    losses = tool_losses(region, tools)       # region: the text that the tools add to the prompt
    losses[0].fatal, losses[0].missing         # ("name",), ("enum",)

Fatal: the tool cannot be used as declared (no name, no parameter name, no types, broken JSON, HTML
entities). Missing: a detail that is said again in the system message.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_DECODER = json.JSONDecoder(strict=False)
MAX_ATTEMPTS = 4000
"""How many opening braces are tried: a broken document must not take quadratic time."""

TYPE_WORDS = {
    "string": ("string", "str", "text"),
    "integer": ("integer", "int", "number"),
    "number": ("number", "float", "double"),
    "boolean": ("boolean", "bool"),
    "array": ("array", "list", "[]", "sequence"),
    "object": ("object", "dict", "{", "mapping"),
}


RESERVED = frozenset(
    {
        "type",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "default",
        "nullable",
        "name",
        "parameters",
    }
)
"""Words of JSON Schema, whose presence in a prompt does not show a parameter of that name."""


@dataclass(frozen=True)
class ToolLoss:
    """What one tool lost. `json` is True where its declaration is a JSON object with its name."""

    name: str
    fatal: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    json: bool = False


def tool_losses(region: str, tools: Sequence[Mapping[str, Any]]) -> tuple[ToolLoss, ...]:
    """One `ToolLoss` a tool, in order; cached, as a benchmark repeats its tool lists."""
    return _losses(region, json.dumps(list(tools), ensure_ascii=False))


@lru_cache(maxsize=2048)
def _losses(region: str, tools: str) -> tuple[ToolLoss, ...]:
    decoded = list(_functions(region))
    return tuple(_one(region, tool["function"], decoded) for tool in json.loads(tools))


def _functions(text: str) -> Iterator[Mapping[str, Any]]:
    """Each JSON object with a name in the text, at any depth of what decodes."""
    at, attempts = text.find("{"), 0
    while at >= 0 and attempts < MAX_ATTEMPTS:
        attempts += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield from _named(value)
        at = text.find("{", end)


def _named(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if isinstance(value.get("name"), str):
            yield value
        for inner in value.values():
            yield from _named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner)


def _one(region: str, function: Mapping[str, Any], decoded: Sequence[Mapping[str, Any]]) -> ToolLoss:
    name = function["name"]
    if not _has_word(region, name):
        return ToolLoss(name, fatal=("name",))
    mine = [value for value in decoded if value["name"] == name]
    if any(_covers(value, function) for value in mine) or repr(function) in region:
        return ToolLoss(name, json=bool(mine))
    if re.search(r"&(#34|quot|#39);", region) and name in html.unescape(region):
        return ToolLoss(name, fatal=("html",))
    fatal = _fatal(region, function, mine)
    return ToolLoss(name, fatal, () if fatal else _missing(region, function), bool(mine))


def _covers(value: Mapping[str, Any], function: Mapping[str, Any]) -> bool:
    """The decoded object says all that the function does (a description may be part of a longer one)."""
    same = all(
        value.get(key) == function[key] for key in function if key not in ("description", "parameters")
    )
    parameters = value.get("parameters", {})
    wanted = function["parameters"]
    bare = not wanted["properties"] and not parameters
    return (
        same
        and (parameters == wanted or bare)
        and function["description"].strip() in str(value.get("description", ""))
    )


def _fatal(region: str, function: Mapping[str, Any], mine: Sequence[Any]) -> tuple[str, ...]:
    properties = function["parameters"]["properties"]
    if any(not _has_word(region, key) for key in properties):
        return ("parameters",)
    lowered = region.lower()
    for schema in properties.values():
        kinds = schema.get("type") if isinstance(schema, Mapping) else None
        for kind in [kinds] if isinstance(kinds, str) else []:
            if not any(word in lowered for word in TYPE_WORDS.get(kind, ("",))):
                return ("types",)
    if re.search(r"\[['\"](?:INTEGER|STRING|NUMBER|BOOLEAN|ARRAY|OBJECT|NULL)['\"]", region):
        return ("types",)
    looks_like_json = re.search(r'"name"\s*:\s*"' + re.escape(function["name"]) + '"', region)
    return ("json",) if looks_like_json and not mine else ()


def _missing(region: str, function: Mapping[str, Any]) -> tuple[str, ...]:
    missing = []
    parameters = function["parameters"]
    if not shows_text(region, function["description"]):
        missing.append("description")
    found = dict.fromkeys(_details(region, parameters, parameters, 0))
    lowered = region.lower()
    required = parameters.get("required")
    if required and not any(word in lowered for word in ("required", "optional", "?:", "nullable", "필수")):
        found["required"] = None
    return (*missing, *found)


def _details(region: str, schema: Any, root: Any, depth: int) -> Iterator[str]:
    """Names of the details of a schema that the region does not show."""
    if not isinstance(schema, Mapping) or depth > 12:
        return
    if isinstance(schema.get("description"), str) and not shows_text(region, schema["description"]):
        yield "description"
    for value in schema.get("enum") or ():
        if not shows_value(region, value):
            yield "enum"
    if "const" in schema and not shows_value(region, schema["const"]):
        yield "enum"
    if "default" in schema and not shows_value(region, schema["default"]):
        yield "default"
    if _nullable(schema) and not re.search(r"null|none|optional", region, re.IGNORECASE):
        yield "null"
    for key, inner in (schema.get("properties") or {}).items():
        if not _has_word(region, key):
            yield "properties"
        yield from _details(region, inner, root, depth + 1)
    for inner in _inner_schemas(schema):
        yield from _details(region, inner, root, depth + 1)


def _inner_schemas(schema: Mapping[str, Any]) -> Iterator[Any]:
    for key in ("items", "additionalProperties"):
        yield schema.get(key)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        yield from schema.get(key) or ()
    yield from (schema.get("$defs") or schema.get("definitions") or {}).values()


def _nullable(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    union = [m for key in ("anyOf", "oneOf") for m in schema.get(key) or () if isinstance(m, Mapping)]
    return (isinstance(kinds, list) and "null" in kinds) or any(m.get("type") == "null" for m in union)


def _has_word(text: str, word: str) -> bool:
    """The word stands in the text, not only as a part of a longer name."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", text) is not None


def without_reserved(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The tools without the parameters that are named like a word of JSON Schema; None if there are none."""
    found = False
    cut = []
    for tool in tools:
        function = tool["function"]
        properties = function["parameters"]["properties"]
        kept = {key: value for key, value in properties.items() if key not in RESERVED}
        found = found or len(kept) < len(properties)
        cut.append(
            {**tool, "function": {**function, "parameters": {**function["parameters"], "properties": kept}}}
        )
    return cut if found else None


def reserved_losses(region: str, cut_region: str, tools: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Parameters named like a word of JSON Schema that stand no more often in the text of the tools than in
    that of `without_reserved(tools)`: a template may take them for part of the schema."""
    names = dict.fromkeys(key for tool in tools for key in tool["function"]["parameters"]["properties"])
    return tuple(
        name for name in names if name in RESERVED and _count(region, name) <= _count(cut_region, name)
    )


def _count(text: str, word: str) -> int:
    return len(re.findall(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", text))


def shows_text(region: str, text: str) -> bool:
    """The text is there as it is, or escaped as in JSON or in Python."""
    text = text.strip()
    return not text or any(
        form in region for form in (text, json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1])
    )


def shows_value(region: str, value: Any) -> bool:
    """A value of a schema is there in JSON or in Python form."""
    if isinstance(value, str):
        return shows_text(region, value)
    return any(form in region for form in (json.dumps(value, ensure_ascii=False), repr(value)))
