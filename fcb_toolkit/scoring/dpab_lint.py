"""What is wrong in a DPAB problem itself, found by reading it: nothing is run.

    list(findings(case))
    -> [("impossible_value", "neither the query nor a mock function gives the text 'Title: ...'"), ...]

The reading is of constants: a text of the checklist that stands in no mock function, fits none of their
f-strings and is not in the query cannot be reached. Numbers are often computed, so they are only followed
to the function that holds them.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fcb_toolkit.execution.mocks import parse_quietly, top_level_names
from fcb_toolkit.execution.sandbox_lacks import words
from fcb_toolkit.jsonl import kind_of
from fcb_toolkit.records import Case
from fcb_toolkit.scoring.dpab_official import PRE_IMPORTED

Finding = tuple[str, str]
CODES = (
    "duplicate_problem",
    "mock_not_python",
    "unknown_function",
    "impossible_value",
    "hidden_constant",
    "wrapped_results",
    "value_from_unlisted_function",
    "random_mock",
    "undefined_name",
    "schema_names",
    "schema_required",
    "schema_type",
    "schema_returns",
)
_CLOCKS = words("random uuid secrets time now today utcnow urandom shuffle choice randint")
_JSON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "List": "array",
    "tuple": "array",
    "Tuple": "array",
    "dict": "object",
    "Dict": "object",
}


def findings(case: Case) -> Iterator[Finding]:
    """(code of `CODES`, sentence) for each thing found."""
    if case.cluster not in ("", f"row-{case.serial_num}"):
        yield "duplicate_problem", f"the query is that of {case.cluster}"
    try:
        tree = parse_quietly(case.task["mock_functions"])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield "mock_not_python", f"the mock functions are not Python: {error}"
        return
    mocks = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in sorted(set(case.ground_truth["functions"]) - set(mocks)):
        yield "unknown_function", f"the checklist asks for {name!r}, which is no mock function"
    yield from _values(case, mocks)
    yield from _mock_bodies(tree, mocks)
    yield from _schemas(case, mocks)


def _values(case: Case, mocks: Mapping[str, ast.FunctionDef]) -> Iterator[Finding]:
    values, functions = case.ground_truth["values"], case.ground_truth["functions"]
    query = " ".join(str(message["content"]) for message in case.messages if message["role"] == "user")
    alone = values[0] if len(values) == 1 and isinstance(values[0], list) else []
    if len(alone) == len(functions) > 1 and len({kind_of(part) for part in alone}) > 1:
        yield (
            "wrapped_results",
            (
                f"the checklist's only value is a list of {len(functions)} results; "
                "only a program that builds exactly this list has it"
            ),
        )
    held = {name: _constants(node) for name, node in mocks.items()}
    patterns = [pattern for node in mocks.values() for pattern in _patterns(node)]
    every = set().union(*held.values()) if held else set()
    for leaf in dict.fromkeys(leaf for value in values for leaf in _leaves(value)):
        shown = repr(leaf if len(str(leaf)) <= 50 else str(leaf)[:49] + "…")
        holders = [name for name, constants in held.items() if leaf in constants]
        if str(leaf) in query:
            continue
        if holders and not set(holders) & set(functions):
            yield (
                "value_from_unlisted_function",
                (
                    f"{shown} of the checklist comes from {holders[0]!r} only, which the checklist does not list"
                ),
            )
        elif isinstance(leaf, str) and not holders and not _can_be_built(leaf, every, patterns):
            if leaf in case.task["function_schema_python"]:
                yield "hidden_constant", f"the text {shown} of the checklist stands in a docstring only"
            else:
                yield "impossible_value", f"neither the query nor a mock function gives the text {shown}"


def _can_be_built(text: str, constants: set[Any], patterns: list[re.Pattern[str]]) -> bool:
    """Whether an f-string makes the text, as a whole or line by line."""
    whole = any(pattern.fullmatch(text) for pattern in patterns)
    lines = text.splitlines(keepends=True)
    return whole or all(
        line in constants or any(pattern.fullmatch(line) for pattern in patterns) for line in lines
    )


def _leaves(value: Any) -> Iterator[str | int | float]:
    """The texts and the telling numbers of a value."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, str):
        if len(value) > 1:
            yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > 10:
        yield value


def _constants(node: ast.AST) -> set[Any]:
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, (str, int, float))
    }


def _patterns(node: ast.AST) -> Iterator[re.Pattern[str]]:
    """Each f-string, and each text with `%` or `{}`, as a pattern of what it can become."""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            pieces = [
                re.escape(str(piece.value)) if isinstance(piece, ast.Constant) else ".*?"
                for piece in part.values
            ]
            yield re.compile("".join(pieces), re.DOTALL)
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
            ends = [end.value for end in (part.left, part.right) if isinstance(end, ast.Constant)]
            if len(ends) == 1 and isinstance(ends[0], str):
                yield re.compile(f".*?{re.escape(ends[0])}.*?", re.DOTALL)


def _mock_bodies(tree: ast.Module, mocks: Mapping[str, ast.FunctionDef]) -> Iterator[Finding]:
    known = top_level_names(tree) | set(dir(builtins)) | PRE_IMPORTED
    for name, node in mocks.items():
        body = [part for statement in node.body for part in ast.walk(statement)]
        bound = {
            part.id for part in body if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        }
        bound |= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
        inner = (ast.ExceptHandler, ast.FunctionDef, ast.ClassDef)
        bound |= {str(part.name) for part in body if isinstance(part, inner) and part.name}
        own = set(bound)
        imported = [
            alias for part in body if isinstance(part, (ast.Import, ast.ImportFrom)) for alias in part.names
        ]
        bound |= {(alias.asname or alias.name).split(".")[0] for alias in imported}
        used = {part.id for part in body if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        for free in sorted(used - bound - known):
            yield "undefined_name", f"{name!r} uses {free!r}, which nothing defines"
        attributes = {part.attr for part in body if isinstance(part, ast.Attribute)}
        for clock in sorted((used | attributes) & (_CLOCKS - own)):
            yield "random_mock", f"{name!r} uses {clock!r}: its result can differ from run to run"
        if any(_orders_a_set(part, body) for part in body):
            yield "random_mock", f"{name!r} makes a list of a set: its order can differ from run to run"


def _orders_a_set(node: ast.AST, body: list[ast.AST]) -> bool:
    """`list(set(a) - set(b))`, directly or by way of a variable."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    if node.func.id not in ("list", "tuple") or not node.args:
        return False
    argument = node.args[0]
    if isinstance(argument, ast.Name):
        return any(
            isinstance(part, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == argument.id for target in part.targets)
            and _is_set(part.value)
            for part in body
        )
    return _is_set(argument)


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.BinOp):
        return _is_set(node.left) or _is_set(node.right)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("set", "frozenset")
    )


def _schemas(case: Case, mocks: Mapping[str, ast.FunctionDef]) -> Iterator[Finding]:
    """JSON schema, Python schema and mock of each function, against each other."""
    schemas = {str(tool.get("name")): tool for tool in case.task["function_schema_json"]}
    for name in sorted(set(schemas) ^ set(mocks)):
        where = "the JSON schema only" if name in schemas else "the mock functions only"
        yield "schema_names", f"{name!r} is in {where}"
    for name in sorted(set(schemas) & set(mocks)):
        yield from _schema_against(name, schemas[name], mocks[name])
    try:
        stubs = parse_quietly(case.task["function_schema_python"])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield "schema_names", f"the Python schema is not Python: {error}"
        return
    for stub in stubs.body:
        if isinstance(stub, ast.FunctionDef) and stub.name in mocks:
            shown, real = _returns(stub), _returns(mocks[stub.name])
            if shown and real and shown != real:
                message = f"{stub.name!r} returns {shown} by the Python schema, {real} by the mock"
                yield "schema_returns", message


def _returns(node: ast.FunctionDef) -> str:
    """The outer type of the return annotation; "" where there is none."""
    if node.returns is None:
        return ""
    outer = node.returns.value if isinstance(node.returns, ast.Subscript) else node.returns
    return ast.unparse(outer).lower()


def _schema_against(name: str, schema: Mapping[str, Any], mock: ast.FunctionDef) -> Iterator[Finding]:
    parameters = schema.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(parameters, Mapping):
        yield "schema_names", f"{name!r} has no properties in its JSON schema, found {kind_of(parameters)}"
        return
    arguments = [*mock.args.posonlyargs, *mock.args.args, *mock.args.kwonlyargs]
    names = [argument.arg for argument in arguments]
    if set(properties) != set(names):
        differing = ", ".join(sorted(set(properties) ^ set(names)))
        yield "schema_names", f"{name!r}: schema and signature differ in {differing}"
    positional = [*mock.args.posonlyargs, *mock.args.args]
    with_default = {argument.arg for argument in positional[len(positional) - len(mock.args.defaults) :]}
    for wrong in sorted(with_default & set(parameters.get("required") or ())):
        yield (
            "schema_required",
            f"{name!r}: {wrong!r} is required by the schema and has a default in the mock",
        )
    for argument in (argument for argument in arguments if argument.arg in properties):
        shown = properties[argument.arg].get("type")
        wanted = _JSON_TYPES.get(_annotation(argument), shown)
        if shown != wanted:
            yield (
                "schema_type",
                (
                    f"{name!r}: {argument.arg!r} is {shown!r} in the schema, {_annotation(argument)} in the mock"
                ),
            )


def _annotation(argument: ast.arg) -> str:
    outer = argument.annotation
    if isinstance(outer, ast.Subscript):
        outer = outer.value
    return outer.id if isinstance(outer, ast.Name) else ""
