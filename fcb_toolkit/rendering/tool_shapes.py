"""Tool schemas as templates need them: $ref resolved, one type a property, descriptions escaped.

    shape_tools(tools, schemas="flat")   # {"type": ["integer", "null"]} -> {"type": "integer", "nullable": True}

Templates that print JSON get the schema as it is. Those that walk it print `p.type | upper`, for which a
missing type or a list of types comes out as nothing or as a Python list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

MAX_NODES = 2000
"""How many schemas one tool may unfold to; references beyond it become plain objects."""


def shape_tools(
    tools: Sequence[Mapping[str, Any]], *, schemas: str = "given", escapes: str = "none"
) -> list[dict[str, Any]]:
    """The tools with flat or full schemas and escaped descriptions, where asked."""
    shaped = []
    for tool in tools:
        function = dict(tool["function"])
        if schemas != "given":
            function["parameters"] = flat_schema(function["parameters"])
        if schemas == "full":
            function["parameters"] = _full_schema(function["parameters"])
        if escapes == "all":
            function["parameters"] = _escaped_schema(function["parameters"])
        if escapes != "none":
            function["description"] = _escaped(function["description"])
        shaped.append({**tool, "function": function})
    return shaped


def _full_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A flat schema with what templates read without asking whether it is there."""
    out = {"description": "", **schema}
    if isinstance(schema.get("properties"), Mapping):
        out["properties"] = {key: _full_schema(value) for key, value in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        out["items"] = _full_schema(schema["items"])
    if schema.get("type") == "object" and not isinstance(schema.get("additionalProperties"), Mapping):
        out["additionalProperties"] = {"type": "any"}
    return out


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _escaped_schema(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: _escaped(value)
            if key == "description" and isinstance(value, str)
            else _escaped_schema(value)
            for key, value in schema.items()
        }
    return [_escaped_schema(item) for item in schema] if isinstance(schema, list) else schema


def flat_schema(schema: Any) -> dict[str, Any]:
    """The schema with each $ref replaced by what it names, and with one `type` at each level.

    Null in a type list or a union becomes `nullable: true`. Several types keep `anyOf` beside the first.
    """
    return _Flat(schema).of(schema, ())


class _Flat:
    """Flattens one schema; `left` bounds what references may unfold to."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.left = MAX_NODES

    def of(self, schema: Any, seen: tuple[str, ...]) -> dict[str, Any]:
        self.left -= 1
        schema = schema if isinstance(schema, Mapping) else {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            found = _resolve(self.root, reference)
            if found is None or reference in seen or self.left < 0:
                found = {"type": "object"}
            rest = {k: v for k, v in schema.items() if k != "$ref"}
            return self.of({**found, **rest}, (*seen, reference))
        out = {k: v for k, v in schema.items() if k not in ("$defs", "definitions")}
        for key in ("anyOf", "oneOf"):
            if isinstance(out.get(key), list):
                out[key] = [
                    self.of(m, seen) if isinstance(m, Mapping) and "$ref" in m else m for m in out[key]
                ]
        out.update(_one_type(out))
        if out.get("default", ...) is None:
            # Walking templates print the word None; that null is the default is said in the system text.
            del out["default"]
            out["nullable"] = True
        if isinstance(out.get("properties"), Mapping):
            out["properties"] = {k: self.of(v, seen) for k, v in out["properties"].items()}
        if isinstance(out.get("items"), Mapping):
            out["items"] = self.of(out["items"], seen)
        return out


def _resolve(root: Any, reference: str) -> Mapping[str, Any] | None:
    """What a local JSON pointer names."""
    if not reference.startswith("#"):
        return None
    node = root
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or part not in node:
            return None
        node = node[part]
    return node if isinstance(node, Mapping) else None


def _one_type(schema: Mapping[str, Any]) -> dict[str, Any]:
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return {}
    if isinstance(kinds, list):
        plain = [kind for kind in kinds if kind != "null"] or ["null"]
        more = {"anyOf": [{"type": kind} for kind in kinds]} if len(plain) > 1 else {}
        return {
            "type": plain[0],
            **({"nullable": True} if "null" in kinds and plain != ["null"] else {}),
            **more,
        }
    for key in ("anyOf", "oneOf"):
        members = [m for m in schema.get(key) or () if isinstance(m, Mapping)]
        plain_members = [m for m in members if m.get("type") != "null"]
        if plain_members:
            inner = {k: v for k, v in plain_members[0].items() if k not in schema}
            inner.setdefault("type", _guess(plain_members[0]))
            return {**inner, **({"nullable": True} if len(plain_members) < len(members) else {})}
    return {"type": _guess(schema)}


def _guess(schema: Mapping[str, Any]) -> str:
    """The type of a schema that names none."""
    if isinstance(schema.get("type"), str):
        return str(schema["type"])
    if "properties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if values:
        names = {
            bool: "boolean",
            int: "integer",
            float: "number",
            str: "string",
            list: "array",
            dict: "object",
        }
        return names.get(type(values[0]), "null")
    return "any"
