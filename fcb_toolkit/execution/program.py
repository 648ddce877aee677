"""A model's program, read before it runs: what it needs, and the form that the sandbox executes right.

    read("any(ok(s) for s in skus)", ...).source
    -> "any(T_lazy(skus, lambda T_item: [ok(s) for s in [T_item]], False))"

Reading is `ast.parse` only; nothing of the program is evaluated in this process.

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
import sys
from collections.abc import Collection
from dataclasses import dataclass

from fcb_toolkit.execution.mocks import bound_names, parse_quietly

MAX_CODE = 200_000
"""Characters; longer programs are not run (`memory`)."""


def words(text: str) -> frozenset[str]:
    """The words of a text: a set of names that reads better than a column of quoted ones."""
    return frozenset(text.split())


MONTY_MODULES = words("""
    asyncio base64 binascii bisect collections copy csv dataclasses datetime decimal functools
    hashlib itertools json math os pathlib posixpath random re sys time tomllib typing unicodedata
    __future__
""")
MONTY_LACKS = words("""
    BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError
    ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError
    DeprecationWarning EOFError EncodingWarning EnvironmentError ExceptionGroup FloatingPointError
    FutureWarning GeneratorExit IOError ImportWarning IndentationError InterruptedError
    PendingDeprecationWarning ProcessLookupError ReferenceError ResourceWarning RuntimeWarning
    StopAsyncIteration SyntaxWarning SystemError TabError UnicodeError UnicodeTranslateError
    UnicodeWarning UserWarning Warning __build_class__ __loader__ aiter anext breakpoint
    bytearray callable classmethod compile copyright credits delattr dir globals help issubclass
    license memoryview staticmethod super vars
""")
"""Builtins of CPython that the sandbox lacks; a test asks the installed sandbox for both lists."""

IGNORED_METHODS = words("""
    __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __len__ __getattr__ __getattribute__ __setattr__ __delattr__
    __format__ __reversed__ __class_getitem__ __init_subclass__ __new__ __del__ __get__ __set__ __missing__
    __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__
""")
"""Special methods of a class that the sandbox does not call."""

TOUCHES_MACHINE = words("""
    _ctypes _posixsubprocess _socket _thread aiohttp cffi ctypes dbm faulthandler fcntl ftplib glob
    grp http httpx imaplib mmap msvcrt multiprocessing nntplib poplib posix psutil pty pwd readline
    requests resource select selectors shelve shutil signal smtplib socket socketserver sqlite3 ssl
    subprocess syslog telnetlib tempfile termios tty urllib webbrowser winreg xmlrpc zipfile
""")
"""Modules that exist to reach files, the network, processes or memory: a program that imports one is
`blocked` in every executor."""


_BUILTINS = frozenset(dir(builtins))


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
        source = _rewritten(tree, token, bound | set(defined))
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


def _rewritten(tree: ast.Module, token: str, defined: Collection[str]) -> str | None:
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
