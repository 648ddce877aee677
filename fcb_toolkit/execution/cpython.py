"""Programs in a CPython child process: for what the sandbox interpreter lacks, if the user allowed it.

A new process for each program. `cpython_confine` lists what it gives up, `cpython_child` is what it runs.
This process reads the child's report as JSON lines, never evaluates any of it, and kills the child's process
group at the time limit (which starts when the child is ready), at the end, or when it reports too much.
Unlike in the sandbox, a sleep waits.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.execution.mocks import Mocks
from fcb_toolkit.execution.options import ExecutionOptions
from fcb_toolkit.execution.program import Program
from fcb_toolkit.execution.trace import Trace, TracedExecution
from fcb_toolkit.execution.values import decode, loads, plain
from fcb_toolkit.records import ExecutionError

MAX_REPORT = 64 * 2**20
"""Bytes of one child's report."""
START_SECONDS = 30.0
_OUT_OF_MEMORY = 77
"""`cpython_child.OUT_OF_MEMORY`."""
_CHILD = Path(__file__).with_name("cpython_child.py")


def run(
    program: Program, mocks: Mocks, options: ExecutionOptions, context: Mapping[str, Any]
) -> TracedExecution:
    """Raises `DataError` for mocks that fail when defined."""
    started = time.monotonic()
    session = _Session(mocks, options)
    with tempfile.TemporaryDirectory(prefix="fcb-", ignore_cleanup_errors=True) as folder:
        request = {
            "functions": mocks.source,
            "names": list(mocks.signatures),
            "code": program.original,
            "context": dict(context),
            "folder": str(Path(folder).resolve()),
            "readable": _readable(),
            "seconds": options.seconds,
            "memory_bytes": options.memory_mb * 2**20,
        }
        session.follow(json.dumps(request).encode(), folder)
    if session.broken:
        raise DataError(
            f"mock functions: {': '.join(session.broken)} when they were defined; "
            "expected source that runs by itself"
        )
    if not session.ready:
        code = ExecutionError("NotImplementedError", "the CPython child process could not be started")
        return TracedExecution(error=code, seconds=time.monotonic() - started)
    variables = session.variables if session.ended else {}
    return session.trace.execution("subprocess", variables, session.error, time.monotonic() - started)


def _readable() -> list[str]:
    """What CPython needs of the machine: the standard library and shared libraries."""
    folders = [
        str(Path(os.__file__).parent),
        str(Path(sys.base_prefix) / "lib"),
        *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", os.devnull),
    ]
    existing = (Path(folder).resolve() for folder in folders if Path(folder).exists())
    return list(dict.fromkeys(str(folder) for folder in existing))


class _Session:
    """One child, from its start to its end."""

    def __init__(self, mocks: Mocks, options: ExecutionOptions) -> None:
        self.options = options
        self.trace = Trace(mocks.signatures)
        self.variables: dict[str, Any] = {}
        self.error: ExecutionError | None = None
        self.broken: list[str] = []
        self.ended = False
        self.ready = False
        self.layers: tuple[str, ...] = ()
        self.deadline = time.monotonic() + START_SECONDS

    def follow(self, request: bytes, folder: str) -> None:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd=folder,
            start_new_session=True,
        )
        try:
            assert child.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(request)
                child.stdin.close()
            for line in self._lines(child):
                self._event(loads(line))
                if self.ended or self.broken:
                    break
        except (ValueError, RecursionError, OverflowError) as error:
            self.error = ExecutionError("SystemError", f"the child process reported nonsense: {error}")
        finally:
            _kill(child)
        if not (self.ended or self.broken or self.error):
            self.error = _death(child.returncode)

    def _lines(self, child: subprocess.Popen[bytes]) -> Iterator[bytes]:
        """Complete lines as they come; ends at the end of the report, the time limit or the size limit."""
        assert child.stdout is not None
        handle = child.stdout.fileno()
        os.set_blocking(handle, False)
        rest, total = b"", 0
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            while True:
                left = self.deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.error = ExecutionError("timeout", f"stopped after {self.options.seconds:g} s")
                    return
                data = os.read(handle, 2**18)
                if not data:
                    return
                total += len(data)
                if total > MAX_REPORT:
                    self.error = ExecutionError("memory", f"a report of more than {MAX_REPORT:,} bytes")
                    return
                *lines, rest = (rest + data).split(b"\n") if b"\n" in data else (rest + data,)
                yield from lines

    def _event(self, event: Any) -> None:
        match event:
            case ["enter", str(name), list(args), dict(kwargs)] if name in self.trace.signatures:
                keywords = {key: decode(value) for key, value in kwargs.items()}
                self.trace.enter(name, [decode(value) for value in args], keywords)
            case ["leave", bool(ok), value]:
                self.trace.leave(ok, decode(value))
            case ["out", str(text)]:
                self.trace.printed(text)
            case ["variable", str(name), value]:
                self.variables[name] = plain(decode(value))
            case ["ready", list(layers)]:
                self.ready, self.layers = True, tuple(map(str, layers))
                self.deadline = time.monotonic() + self.options.seconds
            case ["end", None]:
                self.ended = True
            case ["end", [str(code), str(message)]]:
                self.ended = True
                self.error = ExecutionError(code, message)
            case ["broken", [str(code), str(message)]]:
                self.broken = [code, message]
            case _:
                raise ValueError("an event of unknown form")


def _kill(child: subprocess.Popen[bytes]) -> None:
    """The child leads a process group of its own, which dies with it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    child.wait()


def _death(status: int) -> ExecutionError:
    """What a child died of that did not report its end."""
    if status == -signal.SIGXCPU:
        return ExecutionError("timeout", "the limit of processor time was reached")
    if status in (-signal.SIGKILL, -signal.SIGXFSZ, _OUT_OF_MEMORY):
        return ExecutionError("memory", "the process was ended by the system")
    if status < 0:
        return ExecutionError("SystemError", f"the interpreter died of signal {-status}")
    return ExecutionError("SystemExit", f"the process ended itself with status {status}")
