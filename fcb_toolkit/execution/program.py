"""A model's program, read before it runs: what it needs, and the form that the sandbox executes right.

    read("any(ok(s) for s in skus)", ...).source
    -> "any(T_lazy(skus, lambda T_item: [ok(s) for s in [T_item]], False))"

Reading is `ast.parse` only; nothing of the program is evaluated in this process. What is rewritten, and why,
stands in `rewrite`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection
from dataclasses import dataclass

from fcb_toolkit.execution.mocks import bound_names, parse_quietly
from fcb_toolkit.execution.rewrite import rewritten
from fcb_toolkit.execution.sandbox_lacks import IGNORED_METHODS, MONTY_LACKS, MONTY_MODULES, TOUCHES_MACHINE

MAX_CODE = 200_000
"""Characters; longer programs are not run (`memory`)."""


@dataclass(frozen=True, slots=True)
class Program:
    """`source` is for the sandbox, `original` for CPython. At most one of the reasons is set."""

    original: str
    source: str
    bound: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    """Names that the program calls as functions."""
    syntax: str = ""
    blocked: str = ""
    lacks: str = ""
    too_long: str = ""


def read(code: str, token: str, defined: Collection[str]) -> Program:
    """`token` starts the names that the sandbox's prelude defines; `defined` are names it has already."""
    if len(code) > MAX_CODE:
        found = f"the program has {len(code):,} characters, {MAX_CODE:,} are allowed"
        return Program(code, "", too_long=found)
    try:
        tree = parse_quietly(code)
    except SyntaxError:
        # The sandbox reads newer grammar than this Python may; it has the last word.
        return Program(code, code)
    except ValueError as error:
        return Program(code, "", syntax=str(error))
    except (RecursionError, MemoryError):
        return Program(code, "", lacks="an expression nested this deeply")
    bound = bound_names(tree)
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    facts = Program(code, code, frozenset(bound), frozenset(called))
    if problem := _misplaced(tree):
        return Program(code, "", facts.bound, facts.called, syntax=problem)
    if found := _blocked_import(tree):
        return Program(code, "", facts.bound, facts.called, blocked=found)
    if missing := _missing_feature(tree, bound | set(defined)):
        return Program(code, "", facts.bound, facts.called, lacks=missing)
    try:
        source = rewritten(tree, token, bound | set(defined))
    except (RecursionError, ValueError):
        return Program(code, "", facts.bound, facts.called, lacks="an expression nested this deeply")
    return Program(code, code if source is None else source, facts.bound, facts.called)


def _misplaced(tree: ast.Module) -> str:
    """What CPython's compiler refuses outside a function and the sandbox accepts; "" if nothing is."""
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Return):
            return f"'return' outside function (line {node.lineno})"
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith)):
            word = "yield" if isinstance(node, (ast.Yield, ast.YieldFrom)) else "await"
            return f"'{word}' outside function (line {node.lineno})"
        stack.extend(ast.iter_child_nodes(node))
    return ""


def _imports(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return found


def _blocked_import(tree: ast.Module) -> str:
    for name in _imports(tree):
        if name.split(".")[0] in TOUCHES_MACHINE and name != "urllib.parse":
            return f"the program imports {name!r}, which reaches outside the sandbox"
    return ""


def _missing_feature(tree: ast.Module, defined: Collection[str]) -> str:
    """A feature of CPython that the sandbox would miss only when the program gets there."""
    for name in _imports(tree):
        root = name.split(".")[0]
        if root in sys.stdlib_module_names and root not in MONTY_MODULES and name != "builtins":
            return f"the module {name!r}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in MONTY_LACKS and node.id not in defined:
            return f"the builtin {node.id!r}"
        if isinstance(node, ast.FunctionDef) and node.name in IGNORED_METHODS:
            return f"the method {node.name!r} of a class"
        if _imports_builtins_otherwise(node):
            return "the module 'builtins' under another name"
        if isinstance(node, ast.GeneratorExp) and any(
            isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield)) for part in ast.walk(node)
        ):
            return "an assignment inside a generator expression"
    return ""


def _imports_builtins_otherwise(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name == "builtins" and alias.asname for alias in node.names)
    return isinstance(node, ast.ImportFrom) and node.module == "builtins"
