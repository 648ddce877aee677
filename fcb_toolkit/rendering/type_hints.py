"""Python type hints -> JSON Schema, read from the syntax tree and never evaluated.

    Hints.of_source(tree).schema(annotation)     # Optional[int] -> {"type": ["integer", "null"]}

Names that the source itself defines are followed: `Mode = Literal["a", "b"]`, enums, dataclasses,
TypedDicts and other classes with annotated fields.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NAMES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "complex": "number",
    "bool": "boolean",
    "None": "null",
    "NoneType": "null",
    "bytes": "string",
    "date": "string",
    "datetime": "string",
    "time": "string",
    "Path": "string",
    "dict": "object",
    "Dict": "object",
    "Mapping": "object",
    "MutableMapping": "object",
    "TypedDict": "object",
    "list": "array",
    "List": "array",
    "Sequence": "array",
    "Iterable": "array",
    "Collection": "array",
    "tuple": "array",
    "Tuple": "array",
    "set": "array",
    "Set": "array",
    "frozenset": "array",
    "FrozenSet": "array",
}
_ANYTHING = {"Any", "object"}
_TRANSPARENT = {"Annotated", "Required", "NotRequired", "Final", "ClassVar", "ReadOnly"}


@dataclass
class Hints:
    """The names that a source defines, and how its hints read."""

    aliases: Mapping[str, ast.expr] = field(default_factory=dict)
    classes: Mapping[str, ast.ClassDef] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    """Names being followed: one that holds itself accepts anything inside."""

    @classmethod
    def of_source(cls, tree: ast.Module) -> Hints:
        aliases: dict[str, ast.expr] = {}
        for node in tree.body:
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                aliases[node.targets[0].id] = node.value
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.value is not None
            ):
                aliases[node.target.id] = node.value
        return cls(aliases, {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)})

    def schema(self, node: ast.expr | None) -> dict[str, Any]:
        """The JSON Schema of one type hint; {} accepts anything."""
        if node is None:
            return {}
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return _union([self.schema(node.left), self.schema(node.right)])
        if isinstance(node, ast.Subscript):
            return self._subscript(_name(node.value), node.slice)
        name = _name(node)
        return {"type": _NAMES[name]} if name in _NAMES else self._followed(name)

    def _followed(self, name: str) -> dict[str, Any]:
        if name in self.open or not (name in self.aliases or name in self.classes):
            return {}
        inner = Hints(self.aliases, self.classes, (*self.open, name))
        if name in self.classes:
            return inner._class(self.classes[name])
        return inner.schema(self.aliases[name])

    def _class(self, node: ast.ClassDef) -> dict[str, Any]:
        """An enum's values, or an object with the annotated fields of any other class."""
        if any("Enum" in _name(base) or _name(base) == "Flag" for base in node.bases):
            return _values([item.value for item in node.body if isinstance(item, ast.Assign)])
        fields = [
            item
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]
        if not fields:
            return {}
        optional = any(word.arg == "total" and _is_false(word.value) for word in node.keywords)
        properties, required = {}, []
        for item in fields:
            assert isinstance(item.target, ast.Name)
            properties[item.target.id] = self.schema(item.annotation)
            marked = _name(item.annotation.value) if isinstance(item.annotation, ast.Subscript) else ""
            if item.value is None and marked != "NotRequired" and (not optional or marked == "Required"):
                required.append(item.target.id)
        return {"type": "object", "properties": properties, "required": required}

    def _constant(self, value: Any) -> dict[str, Any]:
        if value is None:
            return {"type": "null"}
        if isinstance(value, str):  # a hint in quotes
            try:
                return self.schema(ast.parse(value, mode="eval").body)
            except (SyntaxError, ValueError):
                return {}
        return {}

    def _subscript(self, name: str, inner: ast.expr) -> dict[str, Any]:
        items = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        if name == "Literal":
            return _values(items)
        if name == "Optional":
            return _union([self.schema(inner), {"type": "null"}])
        if name == "Union":
            return _union([self.schema(item) for item in items])
        if name in _TRANSPARENT:
            return self.schema(items[0])
        kind = _NAMES.get(name)
        if kind == "object":
            values = self.schema(items[1]) if len(items) > 1 else {}
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if kind == "array":
            return self._array(name, items)
        return {"type": kind} if kind else {}

    def _array(self, name: str, items: list[ast.expr]) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array"}
        ellipsis = isinstance(items[-1], ast.Constant) and items[-1].value is Ellipsis
        if name in ("tuple", "Tuple") and not ellipsis:
            schema["prefixItems"] = [self.schema(item) for item in items]
            return {**schema, "minItems": len(items), "maxItems": len(items)}
        if inner := self.schema(items[0]):
            schema["items"] = inner
        return {**schema, "uniqueItems": True} if name.lower() in ("set", "frozenset") else schema


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _values(items: list[ast.expr]) -> dict[str, Any]:
    """An enum of literal values, with their types; {} where one is no literal."""
    values: list[Any] = []
    for item in items:
        try:
            values.append(ast.literal_eval(item))
            json.dumps(values)
        except (ValueError, TypeError, SyntaxError):
            return {}
    kinds = list(dict.fromkeys(_NAMES.get(type(value).__name__, "") for value in values))
    if kinds and all(kinds):
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}
    return {"enum": values} if values else {}


def _union(members: list[dict[str, Any]]) -> dict[str, Any]:
    """`type: [...]` where every member is only a type, else `anyOf`; anything swallows the rest."""
    flat: list[dict[str, Any]] = []
    for member in members:
        if not member:
            return {}
        flat.extend(member["anyOf"] if set(member) == {"anyOf"} else [member])
    if all(set(member) == {"type"} for member in flat):
        kinds: list[str] = []
        for member in flat:
            kind = member["type"]
            kinds.extend(k for k in (kind if isinstance(kind, list) else [kind]) if k not in kinds)
        return {"type": kinds[0] if len(kinds) == 1 else kinds}
    return {"anyOf": [member for i, member in enumerate(flat) if member not in flat[:i]]}
