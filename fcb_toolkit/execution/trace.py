"""The record of what a program really called, kept by this process while the program runs.

    trace.enter("send", ("관리자",), {"text": "점검"})   -> calls [send(to="관리자", text="점검")]
    trace.leave(True, "ok")                             -> returned [True], results ["ok"]

Calls are recorded when they start, so that those before a time-out are kept. A call that a mock makes
of another mock is not the program's and is left out. A call whose arguments do not fit the signature
never ran; it goes to `rejected`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Signature
from typing import Any

from fcb_toolkit.execution.mocks import bind
from fcb_toolkit.execution.values import as_json, plain, text_size
from fcb_toolkit.records import Execution, ExecutionError, ToolCall

MAX_CALLS = 10_000
MAX_TRACE = 16 * 2**20
"""Characters of all arguments and results together."""
MAX_OUTPUT = 2**20
"""Characters of printed output that are kept; the rest is dropped."""


@dataclass(frozen=True, slots=True)
class RejectedCall:
    """A call that Python refused: the arguments did not fit the signature (`reason`)."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class TracedExecution(Execution):
    """An `Execution` with what each call gave back. `executor` is "" where nothing ran the program.

    `returned[i]` is False where `calls[i]` raised or was cut off; `results[i]` is what it returned.
    """

    returned: tuple[bool, ...] = ()
    results: tuple[Any, ...] = ()
    rejected: tuple[RejectedCall, ...] = ()


@dataclass
class Trace:
    signatures: Mapping[str, Signature]
    calls: list[ToolCall] = field(default_factory=list)
    returned: list[bool] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    rejected: list[RejectedCall] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    full: str = ""
    """Why nothing more is written down; "" as long as there is room."""
    _open: list[int | None] = field(default_factory=list)
    _size: int = 0
    _printed: int = 0

    def enter(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if self._open:
            self._open.append(None)
            return
        arguments, reason = bind(self.signatures[name], [plain(a) for a in args], _plain_keywords(kwargs))
        if len(self.calls) + len(self.rejected) >= MAX_CALLS:
            self.full = f"more than {MAX_CALLS:,} calls"
        if self.full:
            self._open.append(None)
        elif arguments is None:
            self.rejected.append(RejectedCall(name, reason))
            self._open.append(None)
        else:
            self._grow(arguments)
            self._open.append(len(self.calls))
            self.calls.append(ToolCall(name, as_json(arguments)))
            self.returned.append(False)
            self.results.append(None)

    def leave(self, ok: bool, result: Any = None) -> None:
        index = self._open.pop() if self._open else None
        if index is not None and ok:
            value = plain(result)
            self._grow(value)
            self.returned[index] = True
            self.results[index] = value

    def late(self, records: Sequence[Sequence[Any]]) -> None:
        """Reports that had to wait: (True, name, args, kwargs) at a start, (False, ok, result) at an end."""
        for starts, *rest in records:
            if starts:
                self.enter(*rest)
            else:
                self.leave(*rest)

    def printed(self, text: str) -> None:
        kept = text[: MAX_OUTPUT - self._printed]
        if kept:
            self._printed += len(kept)
            self.output.append(kept)

    def _grow(self, value: Any) -> None:
        self._size += text_size(value)
        if self._size > MAX_TRACE:
            self.full = f"arguments and results of more than {MAX_TRACE:,} characters"

    def execution(
        self, executor: str, variables: Mapping[str, Any], error: ExecutionError | None, seconds: float
    ) -> TracedExecution:
        """The whole record. A trace that ran full is an error, unless another stopped the program."""
        if error is None and self.full:
            error = ExecutionError("memory", self.full)
        return TracedExecution(
            calls=tuple(self.calls),
            variables=variables,
            stdout="".join(self.output),
            error=error,
            executor=executor,
            seconds=seconds,
            returned=tuple(self.returned),
            results=tuple(self.results),
            rejected=tuple(self.rejected),
        )


def _plain_keywords(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): plain(value) for key, value in kwargs.items()}
