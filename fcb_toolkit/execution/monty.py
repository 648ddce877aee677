"""Programs in the sandbox interpreter pydantic-monty, in worker processes that are used again.

A program gets one session of one worker: first the prelude, the mock functions and their tracers (one
snippet that this module wrote), then the model's program. A tracer suspends the worker on each call and
this process writes the call down, so that calls made before a time-out are kept. What a call gave back comes
with the next report; so does a call made where a worker cannot suspend (`sorted(key=...)`, `__next__` ...).
Until then the tracer keeps it in a closure. A report counts only if it comes from the first snippet (the worker says from where), under a name of 64
random bits that the program has no way to see: it cannot forge or erase a call, only really make one.

Limits: the worker stops itself at the time and memory limit and is killed one second after the time
limit if it does not; this process gives up at the limit, whatever the worker says. `sleep` does not wait
but counts as time.
"""

from __future__ import annotations

import atexit
import builtins
import os
import re
import secrets
import threading
import time
from collections.abc import Mapping
from typing import Any

from fcb_toolkit.errors import DataError, FcbError, MissingExtra
from fcb_toolkit.execution import monty_values
from fcb_toolkit.execution.lacks import meaning
from fcb_toolkit.execution.mocks import Mocks
from fcb_toolkit.execution.options import ExecutionOptions
from fcb_toolkit.execution.prelude import PRELUDE_NAMES, setup_source
from fcb_toolkit.execution.program import Program
from fcb_toolkit.execution.sandbox_lacks import MONTY_LACKS, TOUCHES_MACHINE
from fcb_toolkit.execution.trace import Trace, TracedExecution
from fcb_toolkit.records import ExecutionError

SETUP_FILE = "<python-input-0>"
_SYNCHRONOUS = re.compile(r"external function '(\w+)' cannot suspend")
_STOPPED = re.compile(r"(feed|turn) time limit exceeded|.*sleep.* limit")


class Lacking(Exception):
    """The interpreter cannot run this program as CPython would; the message names the feature."""


def run(
    program: Program, mocks: Mocks, options: ExecutionOptions, context: Mapping[str, Any], token: str
) -> TracedExecution:
    """Raises `Lacking`, and `DataError` for mocks that fail by themselves. `token`: as in `program.read`."""
    try:
        return _run(program, mocks, options, context, token)
    except _Again:
        return _run(program, mocks, options, context, token, together=False)


def _run(
    program: Program,
    mocks: Mocks,
    options: ExecutionOptions,
    context: Mapping[str, Any],
    token: str,
    together: bool = True,
) -> TracedExecution:
    pool = _pool()
    import pydantic_monty

    started = time.monotonic()
    session = _Session(program, mocks, options, token)
    limits: Any = {
        "max_feed_duration_secs": options.seconds,
        "max_memory": options.memory_mb * 2**20,
        "max_suspensions": 2**31,
    }
    policy: Any = {"sleep": "call_host"}
    variables: dict[str, Any] = {}
    error: ExecutionError | None = None
    try:
        with pool.checkout(limits=limits, os_policy=policy, assert_message_annotations=False) as worker:
            error = session.drive(worker, context)
            names = session.finish(worker, context, error)
            variables = monty_values.read(worker, names, token, together)
    except monty_values.SessionLost:
        raise _Again from None
    except pydantic_monty.MontyCrashedError as crash:
        if not crash.timed_out and time.monotonic() - started < options.seconds:
            if together:
                raise _Again from None
            raise Lacking(f"something that crashes it ({str(crash).splitlines()[0][:120]})") from None
        error = ExecutionError("timeout", f"stopped after {options.seconds:g} s")
    return session.trace.execution("monty", variables, error, time.monotonic() - started)


def new_token() -> str:
    return f"fcb_{secrets.token_hex(8)}"


class _Session:
    """One program in one worker."""

    def __init__(self, program: Program, mocks: Mocks, options: ExecutionOptions, token: str) -> None:
        self.program = program
        self.mocks = mocks
        self.options = options
        self.token = token
        self.secret = new_token()
        self.trace = Trace(mocks.signatures)
        self.deadline = time.monotonic() + options.seconds
        self.refused = ""
        """The last operation on the machine that was turned down."""

    def drive(self, worker: Any, context: Mapping[str, Any]) -> ExecutionError | None:
        import pydantic_monty

        try:
            self._loop(self._start(worker, setup_source(self.mocks, self.token, self.secret), {}))
        except pydantic_monty.MontyError as error:
            problem = self._error(error)
            if isinstance(error, pydantic_monty.MontyCrashedError) or problem.code in ("timeout", "memory"):
                return problem
            raise DataError(
                f"mock functions: {problem.code}: {problem.message} when they were defined; "
                "expected source that runs by itself"
            ) from None
        try:
            self._loop(self._start(worker, self.program.source, dict(context)))
        except pydantic_monty.MontyCrashedError:
            raise
        except pydantic_monty.MontyError as error:
            return self._error(error)
        except _Stop as stop:
            return ExecutionError(stop.code, str(stop))
        return None

    def _start(self, worker: Any, source: str, inputs: dict[str, Any]) -> Any:
        return worker.feed_start(source, inputs=inputs, print_callback=self._printed)

    def _printed(self, stream: str, text: str) -> None:
        if stream == "stdout":
            self.trace.printed(text)

    def _loop(self, snapshot: Any) -> None:
        from pydantic_monty import FunctionSnapshot, MontyComplete, NameLookupSnapshot

        while not isinstance(snapshot, MontyComplete):
            self._check_time()
            if isinstance(snapshot, NameLookupSnapshot):
                snapshot = snapshot.resume()  # an undefined name: NameError
            elif isinstance(snapshot, FunctionSnapshot):
                snapshot = self._system(snapshot) if snapshot.is_os_function else self._called(snapshot)
            else:
                snapshot = snapshot.resume_auto()

    def _check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise _Stop("timeout", f"stopped after {self.options.seconds:g} s")

    def _called(self, snapshot: Any) -> Any:
        """A function that the sandbox does not define: a tracer's report, or an unknown name."""
        name, args = snapshot.function_name, snapshot.args
        if snapshot.position.filename == SETUP_FILE and name == f"{self.secret}_enter":
            self.trace.late(args[0])
            self.trace.enter(*args[1:])
        elif name in ("input", "breakpoint"):
            raise _Stop("blocked", f"the program calls {name}()")
        elif name == f"{self.token}_asked":
            self._asked(str(args[0]), str(args[1]))
            return snapshot.resume({"return_value": False})
        elif name == f"{self.token}_import":
            self._imported(str(args[0]))
        elif name in MONTY_LACKS:
            raise Lacking(f"the builtin {name!r}")
        else:
            missing = f"name {name!r} is not defined"
            return snapshot.resume({"exc_type": "NameError", "message": missing})
        return snapshot.resume({"return_value": None})

    def _asked(self, kind: str, attribute: str) -> None:
        """`hasattr` said no, which it says of every method of a builtin type."""
        known = getattr(builtins, kind, None)
        if isinstance(known, type) and hasattr(known, attribute):
            raise Lacking(f"the attribute {attribute!r} of {kind}")

    def _imported(self, name: str) -> None:
        """`__import__` of a module that the sandbox has not."""
        if name.split(".")[0] in TOUCHES_MACHINE:
            raise _Stop("blocked", f"the program imports {name!r}, which reaches outside the sandbox")
        raise Lacking(f"the module {name!r}")

    def _system(self, snapshot: Any) -> Any:
        """A request to the machine: a sleep costs time but does not wait, the rest is turned down."""
        from pydantic_monty import MontyFileHandle

        name = str(snapshot.function_name)
        if name in ("time.sleep", "asyncio.sleep"):
            # A negative or absurd number of seconds is the program's own error or a time-out.
            self.deadline -= max(0.0, float(snapshot.args[0]) if snapshot.args else 0.0)
            self._check_time()
            return snapshot.resume({"return_value": None})
        if name == "open" and str(snapshot.args[0]) == os.devnull:
            mode = str(snapshot.args[1])
            return snapshot.resume({"return_value": MontyFileHandle(os.devnull, mode)})
        if name != "import":
            self.refused = name
        return snapshot.resume_not_handled()

    def _error(self, error: Any) -> ExecutionError:
        """The error of the program, or `Lacking`."""
        import pydantic_monty

        if isinstance(error, pydantic_monty.MontyCrashedError):
            raise error
        text = str(error)
        if isinstance(error, pydantic_monty.MontySyntaxError):
            if "too deeply nested" in text:
                raise Lacking("an expression nested this deeply")
            # Of the program itself, or of text that it gave to `eval` or `exec`.
            return ExecutionError("SyntaxError" if "(<string>" in text else "syntax", text)
        kind, _, message = text.partition(": ")
        if _STOPPED.match(message) and kind == "TimeoutError":
            return ExecutionError("timeout", f"stopped after {self.options.seconds:g} s")
        if kind == "MemoryError":
            return ExecutionError("memory", message)
        if found := _SYNCHRONOUS.search(message):
            # An unknown function where the worker cannot ask this process about it.
            return ExecutionError("NameError", f"name {found[1]!r} is not defined")
        what, reason = meaning(kind, message, self.refused, self.token)
        if what == "lacks":
            raise Lacking(reason)
        if what == "blocked":
            return ExecutionError("blocked", reason)
        return ExecutionError(kind.rpartition(".")[2], message)

    def finish(self, worker: Any, context: Mapping[str, Any], error: ExecutionError | None) -> list[str]:
        """Takes the reports that waited; gives the names of the program's variables."""
        import pydantic_monty

        try:
            late, listed = worker.feed_run(f"[{self.token}_late(), [*{self.token}_locals()]]")
        except (pydantic_monty.MontyError, RuntimeError):
            return []  # the session is lost: its worker was ended at the memory or time limit
        self.trace.late(late)
        if error and error.code == "timeout":
            return []  # after a time-out the interpreter vouches for no value
        own = self.mocks.names | PRELUDE_NAMES
        bound = self.program.bound
        return sorted(name for name in set(listed) if name not in own or name in bound or name in context)


class _Again(Exception):
    """The worker died: of the variables read together, or of something outside. Once more in another."""


class _Stop(Exception):
    """This process ends the program."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


_pools: list[Any] = []
_lock = threading.Lock()
_owner = os.getpid()


def _pool() -> Any:
    """The workers of this process; the first program starts them."""
    global _owner
    with _lock:
        if _pools and _owner != os.getpid():
            # The pool's threads do not live in a forked process, and waiting for them would never end.
            raise FcbError(
                "the sandbox was started before this process was forked; run programs in the process that "
                "started it, or start processes by 'spawn' instead of 'fork'"
            )
        if not _pools:
            try:
                from pydantic_monty import Monty
            except ImportError:
                raise MissingExtra("pydantic-monty", "execution", "running model-written code") from None
            _pools.append(Monty(max_checkouts_per_worker=2_000).__enter__())
            _owner = os.getpid()
            atexit.register(close)
        return _pools[0]


def close() -> None:
    """Ends this process's workers; the next program starts new ones."""
    with _lock:
        if _pools and _owner == os.getpid():
            _pools.pop().__exit__(None, None, None)
