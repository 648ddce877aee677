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
from fcb_toolkit.rendering.type_hints import Hints

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
            try:
                return _schema(node, Hints.of_source(tree))
            except RecursionError:
                raise DataError(f"the hints of {node.name!r} are nested too deeply; simplify them") from None
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


def _schema(node: ast.FunctionDef | ast.AsyncFunctionDef, hints: Hints) -> dict[str, Any]:
    description, about = _docstring(ast.get_docstring(node) or "")
    properties: dict[str, Any] = {}
    required = []
    positional = [*node.args.posonlyargs, *node.args.args]
    without = len(positional) - len(node.args.defaults)
    defaults: list[ast.expr | None] = [*([None] * without), *node.args.defaults, *node.args.kw_defaults]
    for argument, default in zip([*positional, *node.args.kwonlyargs], defaults, strict=True):
        if argument.arg in _SKIPPED:
            continue
        schema = hints.schema(argument.annotation)
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


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """(what it does, {parameter: description}) of a Google-style docstring, or one with `:param name:`."""
    lines = inspect.cleandoc(text).split("\n")
    if any(line.startswith(":param") for line in lines):
        return _field_list(lines)
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


def _field_list(lines: list[str]) -> tuple[str, dict[str, str]]:
    """The same for `:param name: description` lines."""
    start = next(i for i, line in enumerate(lines) if line.startswith(":"))
    about: dict[str, str] = {}
    current = ""
    for line in lines[start:]:
        match = re.match(r":param\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$", line)
        if match:
            current = match[1]
            about[current] = match[2].strip()
        elif line.startswith(":"):
            current = ""
        elif current and line.strip():
            about[current] = f"{about[current]} {line.strip()}".strip()
    return "\n".join(lines[:start]).strip(), about


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
