"""A program in the form that the sandbox executes right: what differs from CPython there, written otherwise.

    rewritten(ast.parse("any(ok(s) for s in skus)"), "T", {"ok", "skus"})
    -> "any(T_lazy(skus, lambda T_item: [ok(s) for s in [T_item]], False))"

The sandbox interpreter (pydantic-monty 1.4) is not CPython. Where it differs without saying so, the
program is rewritten, so that a trace is right:

- Generator expressions are lists there: functions would be called for elements that `any`, `next` or
  `break` never reach. Each becomes an object with `__next__` (see `prelude`).
- `undefined(f())` evaluates `f()` before it notices; CPython does not.
- `del`, `x.__class__`, `sys.exit`, `raise SystemExit(0)` and `builtins.len` are missing; they have equals.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

_BUILTINS = frozenset(dir(builtins))


def rewritten(tree: ast.Module, token: str, defined: Collection[str]) -> str | None:
    """The source of the tree (which is changed), or None where nothing had to be; `token` and `defined` as
    in `program.read`."""
    rewriter = _Rewriter(token, frozenset(defined) | _BUILTINS)
    rewriter.visit(tree)
    if not rewriter.changed:
        return None
    return ast.unparse(ast.fix_missing_locations(tree))


def _flat(targets: list[ast.expr]) -> list[ast.expr]:
    flat: list[ast.expr] = []
    for target in targets:
        flat.extend(_flat(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target])
    return flat


class _Rewriter(ast.NodeTransformer):
    def __init__(self, token: str, defined: frozenset[str]) -> None:
        self.token = token
        self.defined = defined
        self.changed = False

    def _name(self, suffix: str) -> ast.Name:
        self.changed = True
        return ast.Name(f"{self.token}_{suffix}", ast.Load())

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        self.generic_visit(node)
        if any(generator.is_async for generator in node.generators):
            return node
        return self._lazy(node.elt, node.generators)

    def _lazy(self, element: ast.expr, generators: list[ast.comprehension]) -> ast.Call:
        """A list comprehension over one item binds any target and tests any condition."""
        first, rest = generators[0], generators[1:]
        item = self._name("item")
        one = ast.comprehension(first.target, ast.List([item], ast.Load()), first.ifs, 0)
        inner = self._lazy(element, rest) if rest else element
        argument = ast.arguments([], [ast.arg(item.id)], None, [], [], None, [])
        step = ast.Lambda(argument, ast.ListComp(inner, [one]))
        return ast.Call(self._name("lazy"), [first.iter, step, ast.Constant(bool(rest))], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        # `a_list += generator`: the sandbox's list takes only lists there.
        self.generic_visit(node)
        value = node.value
        lazy = (f"{self.token}_lazy", "map", "filter", "zip", "enumerate")
        called = value.func if isinstance(value, ast.Call) else None
        if isinstance(node.op, ast.Add) and isinstance(called, ast.Name) and called.id in lazy:
            self.changed = True
            node.value = ast.List([ast.Starred(value, ast.Load())], ast.Load())
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.AST | list[ast.AST]:
        statements: list[ast.AST] = []
        for target in _flat(node.targets):
            statement = self._deleted(target)
            if statement is None:
                return node
            statements.append(statement)
        return statements

    def _deleted(self, target: ast.expr) -> ast.stmt | None:
        """`del name` leaves a mark that is no variable; None for what cannot be written otherwise."""
        if isinstance(target, ast.Name):
            return ast.Assign([ast.Name(target.id, ast.Store())], self._name("deleted"))
        if not isinstance(target, ast.Subscript):
            return None
        if isinstance(target.slice, ast.Slice):
            if target.slice.step is not None:
                return None
            self.changed = True
            place = ast.Subscript(self.visit(target.value), self.visit(target.slice), ast.Store())
            return ast.Assign([place], ast.List([], ast.Load()))
        key = [self.visit(target.value), self.visit(target.slice)]
        return ast.Expr(ast.Call(self._name("delete"), key, []))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        if [base.id for base in node.bases if isinstance(base, ast.Name)] == ["object"] and len(
            node.bases
        ) == 1:
            self.changed = True
            node.bases = []
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id not in self.defined:
            nested = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(isinstance(part, ast.Call) for argument in nested for part in ast.walk(argument)):
                self.changed = True
                alone = ast.List([function], ast.Load())
                node.func = ast.Subscript(alone, ast.Constant(0), ast.Load())
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.attr == "__class__":
            return ast.Call(self._name("type"), [node.value], [])
        if (
            isinstance(node.value, ast.Name)
            and node.value.id == "builtins"
            and node.attr not in self.defined - _BUILTINS
        ):
            self.changed = True
            return ast.Name(node.attr, ast.Load())
        if node.attr == "exit" and isinstance(node.value, ast.Name) and node.value.id == "sys":
            return self._name("exit")
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        kept = [alias for alias in node.names if alias.name != "builtins"]
        if len(kept) == len(node.names):
            return node
        self.changed = True
        return ast.Import(kept) if kept else ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        kept = [alias for alias in node.names if node.module != "sys" or alias.name != "exit"]
        if len(kept) == len(node.names):
            return node
        names = [alias.asname or alias.name for alias in node.names if alias not in kept]
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        assign = ast.Assign(targets, self._name("exit"))
        return (
            assign
            if not kept
            else ast.If(  # one statement in place of one
                ast.Constant(True), [ast.ImportFrom(node.module, kept, node.level), assign], []
            )
        )

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        call = node.exc
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "SystemExit"
            and "SystemExit" in self.defined
        ):
            return ast.Expr(ast.Call(self._name("exit"), call.args, call.keywords))
        return node
