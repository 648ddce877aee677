"""A file of records that several processes append to: one record a line, one writer at a time.

    log = Log(Path("runs/demo/annotations.jsonl"))
    log.append(lambda rows: {"number": len(rows)})      # sees all rows before its own, whoever wrote them

A writer that was killed leaves at most half a line, which the next writer cuts off under the lock.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError

Row = dict[str, Any]


class Log:
    """`path` None keeps the rows in memory only (a run that was never saved)."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._rows: list[Row] = []
        self._seen: tuple[int, int] | None = None
        self.refresh()

    @property
    def rows(self) -> tuple[Row, ...]:
        """As last read; `refresh` reads again."""
        return tuple(self._rows)

    def refresh(self) -> bool:
        """Reads what others have appended; True if there was something new."""
        if self.path is None:
            return False
        seen = _stamp(self.path)
        if seen == self._seen:
            return False
        self._rows, _ = jsonl.read_appended(self.path)
        self._seen = seen
        return True

    def append(self, make: Callable[[tuple[Row, ...]], Mapping[str, Any]]) -> Row:
        """Appends `make(rows so far)` and returns it; it is on the disk when this returns.

        Raises `DataError` if the file cannot be written, or if a line in its middle is broken.
        """
        if self.path is None:
            row = dict(make(self.rows))
            self._rows.append(row)
            return row
        with _locked(self.path):
            self._rows, tail = jsonl.read_appended(self.path)
            row = dict(make(self.rows))
            with jsonl.Appender(self.path, drop=len(tail or b"")) as out:
                out.append(row)
            _sync(self.path)
            self._rows.append(row)
            self._seen = _stamp(self.path)
        return row


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of the last change; a file that is not there has neither."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Waits for the other writers; the kernel frees the lock of a process that dies."""
    lock = path.parent / f".{path.name}.lock"
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written: {error.strerror}; nothing was saved, copy the run elsewhere"
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
