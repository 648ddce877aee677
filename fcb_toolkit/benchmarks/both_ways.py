"""A call case asked for as Python code and as a JSON list: the same item, two ways of calling.

    python, json = both_ways(fcb.load_benchmark("functionchat/singlecall"))
    fcb.compare(fcb.evaluate(model, json), fcb.evaluate(model, python))     # ids are equal: paired

Both forms show the tools in the system message with DPAB's prompts (`dpab.own_prompt`) and both replies are run
in the sandbox, with functions that do nothing; the metric `dpab` compares the calls that were made with the
case's own gold by `call_match`. So the two differ in the way of calling and in nothing else.
"""

from __future__ import annotations

import ast
import json
import keyword
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fcb_toolkit.benchmarks.dpab import MODES, PLACEHOLDER, own_prompt
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Case, Message, Tool, tool_name, tool_parameters

_PYTHON = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}


def both_ways(cases: Iterable[Case]) -> tuple[list[Case], list[Case]]:
    """(asked for Python, asked for JSON) of those cases that want a call; the others are left out."""
    calls = [case for case in cases if case.type_of_output == "call"]
    return [in_code_form(case, "pythonic") for case in calls], [in_code_form(case, "json") for case in calls]


def in_code_form(case: Case, mode: str) -> Case:
    """The case asked for in one `mode` of DPAB. Keeps its id; its benchmark gets the mode as a suffix.

    A parameter called like a Python keyword (`from`) is shown as `from_` in pythonic mode.
    Raises `DataError` for a case that does not want a call, or a tool that has no Python name.
    """
    if mode not in MODES:
        raise UnknownName("DPAB mode", mode, MODES)
    if case.type_of_output != "call":
        raise DataError(
            f"{case.id}: type_of_output is {case.type_of_output!r}, expected a case that wants a call"
        )
    stubs = [_stub(case, tool) for tool in case.tools]
    source = "\n".join(ast.unparse(ast.fix_missing_locations(ast.Module([stub], []))) for stub in stubs)
    functions = [dict(tool.get("function", tool)) for tool in case.tools]
    schema = source if mode == "pythonic" else json.dumps(functions, ensure_ascii=False, indent=2)
    return replace(
        case,
        benchmark=f"{case.benchmark}/{mode}",
        messages=_messages(case, own_prompt(mode).replace(PLACEHOLDER, schema), mode),
        tools=(),
        ground_truth=None,
        acceptable_arguments=None,
        type_of_output="code",
        condition=case.condition,
        task={
            "mode": mode,
            "mock_functions": source,
            "schema": schema,
            "call_case": {
                "tools": list(case.tools),
                "ground_truth": case.ground_truth,
                "acceptable_arguments": case.acceptable_arguments,
                "keywords": sorted(_keywords(case.tools)),
            },
        },
    )


def _keywords(tools: Iterable[Tool]) -> set[str]:
    """Parameters whose names Python keeps for itself; they are written with an underscore behind."""
    names = {str(word) for tool in tools for word in (tool_parameters(tool).get("properties") or {})}
    return {word for word in names if keyword.iskeyword(word)}


def _stub(case: Case, tool: Tool) -> ast.FunctionDef:
    """A function with the tool's signature that returns an empty dict."""
    name = tool_name(tool)
    parameters = tool_parameters(tool)
    properties: Mapping[str, Any] = parameters.get("properties") or {}
    if not _is_name(name):
        raise DataError(f"{case.id}: the tool {name!r} has no Python name; it can be asked for in JSON only")
    written = {word: _python_name(case, name, word) for word in properties}
    odd = {word for word in properties if written[word] != word}
    required = set(parameters.get("required") or ()) - odd
    order = sorted(properties, key=lambda word: word not in required)
    arguments = ast.arguments(
        [],
        [ast.arg(written[word], _annotation(properties[word])) for word in order],
        None,
        [],
        [],
        # In JSON mode a parameter called `from` comes under its own name.
        ast.arg("more") if odd else None,
        [ast.Constant(None) for word in order if word not in required],
    )
    doc = ast.Expr(ast.Constant(_docstring(tool, properties, written)))
    return ast.FunctionDef(
        name, arguments, [doc, ast.Return(ast.Dict([], []))], [], ast.Name("dict", ast.Load())
    )


def _is_name(word: str) -> bool:
    return word.isidentifier() and not keyword.iskeyword(word)


def _python_name(case: Case, tool: str, word: str) -> str:
    """The parameter's name in Python: a keyword gets an underscore, as PEP 8 has it."""
    if _is_name(word):
        return word
    if keyword.iskeyword(word):
        return f"{word}_"
    raise DataError(f"{case.id}: {word!r} of the tool {tool!r} is no Python name; ask for it in JSON only")


def _annotation(schema: Any) -> ast.expr | None:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return ast.Name(_PYTHON[kind], ast.Load()) if isinstance(kind, str) and kind in _PYTHON else None


def _docstring(tool: Tool, properties: Mapping[str, Any], written: Mapping[str, str]) -> str:
    function = tool.get("function", tool)
    lines = [str(function.get("description") or "")]
    for name, schema in properties.items():
        if isinstance(schema, Mapping):
            choices = f" One of {schema['enum']}." if schema.get("enum") else ""
            lines.append(f":param {written[name]}: {schema.get('description') or ''}{choices}")
    return "\n    ".join(lines)


def _messages(case: Case, prompt: str, mode: str) -> tuple[Message, ...]:
    """The system messages under our prompt; earlier calls and results of a dialog as text in this mode."""
    first = [str(message.get("content") or "") for message in case.messages if message["role"] == "system"]
    system = "\n\n".join([prompt, *(text for text in first if text.strip())])
    rest = [_as_text(message, mode) for message in case.messages if message["role"] != "system"]
    return ({"role": "system", "content": system}, *rest)


def _as_text(message: Message, mode: str) -> Message:
    if message["role"] in ("tool", "function"):
        name = message.get("name") or message.get("tool_call_id") or "the call"
        return {"role": "user", "content": f"Result of {name}: {message.get('content')}"}
    calls = message.get("tool_calls")
    if not calls:
        return {"role": message["role"], "content": message.get("content") or ""}
    made = [_call(call) for call in calls]
    if mode == "json":
        items = [{"name": name, "args": arguments} for name, arguments in made]
        text = json.dumps(items, ensure_ascii=False)
    else:
        lines = [
            f"result_{number} = {name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
            for number, (name, arguments) in enumerate(made, 1)
        ]
        text = "```python\n" + "\n".join(lines) + "\n```"
    before = message.get("content")
    return {"role": message["role"], "content": f"{before}\n{text}" if before else text}


def _call(call: Any) -> tuple[str, dict[str, Any]]:
    """(name, arguments) of an earlier call of the dialog; arguments that cannot be read are left out."""
    function = call.get("function", call) if isinstance(call, Mapping) else {}
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {}
    return str(function.get("name") or ""), dict(arguments) if isinstance(arguments, Mapping) else {}
