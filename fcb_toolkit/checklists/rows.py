"""Problems from a file, and checklists as rows in DPAB's own form.

A file of problems has one object a line: {"id": "lunch", "query": "...", "functions": "def get_menu..."}; DPAB's own
keys `user_query` and `mock_functions` do as well.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.checklists.records import Checklist, Problem
from fcb_toolkit.errors import DataError
from fcb_toolkit.execution.mocks import parse_quietly
from fcb_toolkit.rendering.function_schema import function_schema


def read_problems(path: Path | str) -> list[Problem]:
    """Raises `DataError` with file and line."""
    problems: dict[str, Problem] = {}
    for number, row in jsonl.read(path):
        where = f"{path} line {number}"
        query = row.get("query", row.get("user_query"))
        functions = row.get("functions", row.get("mock_functions"))
        if not isinstance(query, str) or not isinstance(functions, str):
            raise DataError(f"{where}: expected the texts 'query' and 'functions', found {', '.join(row)}")
        name = str(row.get("id", number - 1))
        if name in problems:
            raise DataError(f"{where}: a second problem with the id {name!r}; ids must differ")
        problems[name] = Problem(name, query, functions, str(row.get("difficulty", "")))
    return list(problems.values())


def row(problem: Problem, checklist: Checklist) -> dict[str, Any]:
    """One line of a DPAB file. Schemas are made from the mocks: signature and docstring, without the body."""
    tree = parse_quietly(problem.functions)
    shown = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    return {
        "id": problem.id,
        "difficulty": problem.difficulty,
        "function_schema_python": "\n".join(_stub(node) for node in shown),
        "function_schema_json": [_tool(node) for node in shown],
        "mock_functions": problem.functions,
        "user_query": problem.query,
        "checklist": {"functions": list(checklist.functions), "values": list(checklist.values)},
    }


def _stub(node: ast.FunctionDef) -> str:
    doc = ast.get_docstring(node)
    body: list[ast.stmt] = [ast.Expr(ast.Constant(doc))] if doc else []
    stub = ast.FunctionDef(node.name, node.args, [*body, ast.Pass()], [], node.returns)
    return ast.unparse(ast.fix_missing_locations(ast.Module([stub], [])))


def _tool(node: ast.FunctionDef) -> dict[str, Any]:
    schema = function_schema(ast.unparse(node))
    return dict(schema.get("function", schema))
