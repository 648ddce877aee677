"""A Python function's source -> its tool definition. The source is read, never run.

    function_schema('''def add(a: int, b: int = 0):
        \"\"\"Adds.

        Args:
            a: the first
        \"\"\"''')
    # {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {...}}}

transformers' `get_json_schema` needs a live function, raises on missing descriptions, and writes
`nullable: true`, which JSON Schema validators ignore; hence this module.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable
from typing import Any

from fcb_toolkit.errors import DataError

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
_SKIPPED = {"self", "cls"}


def function_schema(function: str | Callable[..., Any]) -> dict[str, Any]:
    """The tool definition (OpenAI form) of the first function in a source text, or of a function.

    Types come from the hints (Literal is an enum, None is the type null, a Union is `anyOf`, no hint
    accepts anything), descriptions from a Google-style docstring. A parameter without a default is
    required. Raises `DataError` for text that is not Python or has no function.
    """
    source = function if isinstance(function, str) else _source_of(function)
    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"the function's source is not Python: {error}; expected one `def`") from None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return _schema(node)
    raise DataError("the function's source holds no function; expected one `def`")


def _source_of(function: Callable[..., Any]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        pass
    try:
        signature = str(inspect.signature(function))
    except (ValueError, TypeError):
        raise DataError(f"{function!r} has no signature; give the tool as an object instead") from None
    name = getattr(function, "__name__", "operation")
    return f"def {name}{signature}:\n    {inspect.getdoc(function) or ''!r}\n"


def _schema(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Any]:
    description, about = _docstring(ast.get_docstring(node) or "")
    properties: dict[str, Any] = {}
    required = []
    positional = [*node.args.posonlyargs, *node.args.args]
    without = len(positional) - len(node.args.defaults)
    defaults: list[ast.expr | None] = [*([None] * without), *node.args.defaults, *node.args.kw_defaults]
    for argument, default in zip([*positional, *node.args.kwonlyargs], defaults, strict=True):
        if argument.arg in _SKIPPED:
            continue
        schema = _hint(argument.annotation)
        if default is None:
            required.append(argument.arg)
        else:
            schema.update(_default(default))
        text, choices = _choices(about.get(argument.arg, ""))
        if choices is not None:
            schema["enum"] = choices
        if text:
            schema["description"] = text
        properties[argument.arg] = schema
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "type": "function",
        "function": {"name": node.name, "description": description, "parameters": parameters},
    }


def _default(node: ast.expr) -> dict[str, Any]:
    try:
        value = ast.literal_eval(node)
        json.dumps(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return {}
    return {"default": value}


def _hint(node: ast.expr | None) -> dict[str, Any]:
    """The JSON Schema of one type hint; {} accepts anything."""
    if node is None:
        return {}
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_hint(node.left), _hint(node.right)])
    if isinstance(node, ast.Subscript):
        return _subscript(_name(node.value), node.slice)
    name = _name(node)
    return {"type": _NAMES[name]} if name in _NAMES else {}


def _constant(value: Any) -> dict[str, Any]:
    if value is None:
        return {"type": "null"}
    if isinstance(value, str):  # a hint in quotes
        try:
            return _hint(ast.parse(value, mode="eval").body)
        except (SyntaxError, ValueError):
            return {}
    return {}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _subscript(name: str, inner: ast.expr) -> dict[str, Any]:
    items = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
    if name == "Literal":
        return _literal(items)
    if name == "Optional":
        return _union([_hint(inner), {"type": "null"}])
    if name == "Union":
        return _union([_hint(item) for item in items])
    if name in _TRANSPARENT:
        return _hint(items[0])
    kind = _NAMES.get(name)
    if kind == "object":
        values = _hint(items[1]) if len(items) > 1 else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if kind == "array":
        return _array(name, items)
    return {"type": kind} if kind else {}


def _array(name: str, items: list[ast.expr]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array"}
    ellipsis = isinstance(items[-1], ast.Constant) and items[-1].value is Ellipsis
    if name in ("tuple", "Tuple") and not ellipsis:
        schema["prefixItems"] = [_hint(item) for item in items]
        return {**schema, "minItems": len(items), "maxItems": len(items)}
    if inner := _hint(items[0]):
        schema["items"] = inner
    return {**schema, "uniqueItems": True} if name.lower() in ("set", "frozenset") else schema


def _literal(items: list[ast.expr]) -> dict[str, Any]:
    values: list[Any] = []
    for item in items:
        try:
            values.append(ast.literal_eval(item))
        except (ValueError, TypeError, SyntaxError):
            return {}
    kinds = list(dict.fromkeys(_NAMES.get(type(value).__name__, "") for value in values))
    if all(kinds):
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}
    return {"enum": values}


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


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """(what it does, {parameter: description}) of a Google-style docstring."""
    lines = inspect.cleandoc(text).split("\n")
    heads = [i for i, line in enumerate(lines) if re.fullmatch(r"[A-Z][a-z]+:", line.rstrip())]
    description = "\n".join(lines[: heads[0]] if heads else lines).strip()
    about: dict[str, str] = {}
    start = next((i for i in heads if lines[i].strip() in ("Args:", "Arguments:", "Parameters:")), None)
    if start is None:
        return description, about
    current, indent = "", 0
    for line in lines[start + 1 :]:
        if line.strip() and not line[0].isspace():
            break
        depth = len(line) - len(line.lstrip())
        match = re.match(r"\*{0,2}(\w+)\s*(?:\([^()]*\))?\s*:\s*(.*)$", line.strip())
        if match and (not current or depth <= indent):
            current, indent = match[1], depth
            about[current] = match[2].strip()
        elif current and line.strip():
            about[current] = f"{about[current]} {line.strip()}".strip()
    return description, about


def _choices(text: str) -> tuple[str, list[Any] | None]:
    """transformers' `(choices: ["a", "b"])` at the end of a description is an enum."""
    match = re.search(r"\(choices:\s*(\[[^\]]*\])\s*\)\s*$", text, flags=re.IGNORECASE)
    if not match:
        return text, None
    try:
        values = json.loads(match[1])
    except ValueError:
        return text, None
    return text[: match.start()].strip(), values
