"""Runs code that a model wrote, with mock functions, and tells what it really did.

    execution = execute("r = send('관리자', text='점검')", "def send(to, text): return f'{to}:{text}'")
    execution.calls        # (ToolCall("send", {"to": "관리자", "text": "점검"}),)
    execution.variables    # {"r": "관리자:점검"}

Two executors, and which one ran is in `Execution.executor`:

`monty`, always tried first: pydantic-monty, an interpreter of a part of Python in worker processes.
- It has no file system, network, environment or processes to reach; there is nothing to escape to but
  its own memory. Time and memory limits hold, also for one long operation (powers, regular
  expressions, sorting); a worker that does not stop is killed from outside and replaced.
- Calls are written down by this process as they happen; the program can neither forge nor erase one.
- Not covered: a hole in the interpreter itself (a worker is an ordinary process of this user);
  functions of C speed may run up to a second past the limit.

`subprocess`, only with `allow_subprocess=True`, and only for programs that the sandbox cannot run
(generator functions, `del`, inheritance, modules and builtins it lacks): a new CPython process with an
empty environment in a temporary folder of its own. See `cpython_confine` for what the kernel takes
away and what remains where it does not. The program shares its process with the tracer there, so one
that is written to deceive can forge a trace, though not touch the machine.

A program that imports what exists to touch the machine (`socket`, `subprocess`, `ctypes` ...), or asks the
sandbox for a file, is `blocked` and is not tried again elsewhere.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.execution import cpython, monty
from fcb_toolkit.execution.mocks import read
from fcb_toolkit.execution.options import ExecutionOptions, configure, current, using
from fcb_toolkit.execution.prelude import PRELUDE_NAMES
from fcb_toolkit.execution.program import Program
from fcb_toolkit.execution.program import read as read_program
from fcb_toolkit.execution.trace import RejectedCall, TracedExecution
from fcb_toolkit.execution.values import Opaque
from fcb_toolkit.records import ExecutionError

__all__ = [
    "ExecutionOptions",
    "Opaque",
    "RejectedCall",
    "TracedExecution",
    "configure",
    "current",
    "execute",
    "execute_with",
    "mock_names",
    "using",
]


def execute(
    code: str,
    functions: str | Sequence[str] = (),
    seconds: float = 5.0,
    memory_mb: int = 256,
    context: Mapping[str, Any] | None = None,
    allow_subprocess: bool = False,
) -> TracedExecution:
    """Runs `code` after the mock functions whose source is `functions`.

    Args:
        code: the program; see `parsers.code.extract_code` for a model's whole text.
        functions: source of the mock functions, one text or several. Each `def` at the top level whose
            name does not start with `_` is traced. `typing`'s usual names are there for annotations.
        seconds, memory_mb: limits. In the sandbox a sleep counts as time but does not wait.
        context: variables that the program finds, of JSON values.
        allow_subprocess: whether a program that the sandbox cannot run may run in a CPython child.

    Returns:
        `calls` in the order executed, arguments under their parameters' names (defaults are not filled
        in; tuples as lists); a call is the program's own, not a mock's. `variables`: globals with data at
        the end, as `values.plain` keeps them; functions, classes, modules and names like `__x__` are left
        out; empty after a time-out. `stdout`: the first million characters.
        `error.code` is timeout, memory, blocked, syntax or the exception's class (SystemExit too).
        Where nothing could run the program, `executor` is "" and `error` is a `NotImplementedError`.

    Raises:
        DataError: `code` is no text; a limit is no number above 0 (16 for `memory_mb`); `context` holds
            what is no JSON value; `functions` are not Python, or fail when defined.
        MissingExtra: pydantic-monty is not installed.
    """
    options = ExecutionOptions(seconds, memory_mb, allow_subprocess)
    return execute_with(options, code, functions, context)


def execute_with(
    options: ExecutionOptions,
    code: str,
    functions: str | Sequence[str] = (),
    context: Mapping[str, Any] | None = None,
) -> TracedExecution:
    """`execute` with its limits in one record."""
    started = time.monotonic()
    if not isinstance(code, str):
        raise DataError(f"execute: code is {type(code).__name__}, expected the text of a program")
    mocks = read(functions)
    given = _checked({} if context is None else context)
    token = monty.new_token()
    program = read_program(code, token, mocks.names | PRELUDE_NAMES | set(given))
    if refused := _refused(program):
        return TracedExecution(error=refused, executor="monty", seconds=time.monotonic() - started)
    lacks = program.lacks
    if not lacks:
        try:
            return monty.run(program, mocks, options, given, token)
        except monty.Lacking as lacking:
            lacks = str(lacking)
    if options.allow_subprocess:
        return cpython.run(program, mocks, options, given)
    return _not_run(lacks, time.monotonic() - started)


def _checked(context: Mapping[str, Any]) -> dict[str, Any]:
    """The variables, which must be names with JSON values: nothing else can enter a sandbox."""
    if not isinstance(context, Mapping):
        raise DataError(f"context: found {type(context).__name__}, expected variables by name")
    for name, value in context.items():
        if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
            raise DataError(f"context: {name!r} is no name that a variable can have")
        try:
            json.dumps(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"context: {name!r} is no JSON value ({error}); give plain data") from None
    return dict(context)


def _refused(program: Program) -> ExecutionError | None:
    for code, message in (
        ("memory", program.too_long),
        ("syntax", program.syntax),
        ("blocked", program.blocked),
    ):
        if message:
            return ExecutionError(code, message)
    return None


def _not_run(lacks: str, seconds: float = 0.0) -> TracedExecution:
    """The record of a program that the sandbox lacks a feature for, with the child not allowed."""
    message = f"the sandbox interpreter lacks {lacks}; allow_subprocess=True runs the program in CPython"
    return TracedExecution(error=ExecutionError("NotImplementedError", message), seconds=seconds)


def mock_names(functions: str | Sequence[str]) -> frozenset[str]:
    """The names that the source of mock functions binds."""
    return read(functions).names
