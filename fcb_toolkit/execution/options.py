"""How programs are run where the caller passes no settings of its own: the metrics of a run.

with execution.using(allow_subprocess=True):
    fcb.rescore(run, "dpab")
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from fcb_toolkit.errors import DataError


@dataclass(frozen=True, slots=True)
class ExecutionOptions:
    """`seconds` and `memory_mb` are limits of one program, its mock functions included."""

    seconds: float = 5.0
    memory_mb: int = 256
    allow_subprocess: bool = False
    """Whether a program that the sandbox interpreter cannot run may run in a CPython child process."""

    def __post_init__(self) -> None:
        if not (_is_number(self.seconds) and self.seconds > 0):
            raise DataError(f"seconds is {self.seconds!r}, expected a number above 0")
        if not (_is_number(self.memory_mb) and self.memory_mb >= 16):
            raise DataError(f"memory_mb is {self.memory_mb!r}, expected at least 16")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_current = ExecutionOptions()


def current() -> ExecutionOptions:
    """The options in force; the same in every thread."""
    return _current


def configure(**changes: float | int | bool) -> ExecutionOptions:
    """Changes the options for the whole process; returns those before."""
    global _current
    before = _current
    _current = replace(before, **changes)  # type: ignore[arg-type]
    return before


@contextmanager
def using(**changes: float | int | bool) -> Iterator[ExecutionOptions]:
    """`configure` for the length of a `with` block."""
    global _current
    before = configure(**changes)
    try:
        yield _current
    finally:
        _current = before
