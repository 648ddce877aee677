"""Records on disk: JSON Lines that survive a kill, with errors that carry file and line.

for number, row in read(path): ...          # DataError: "data/x.jsonl line 7: not JSON: ..."
with Appender(path) as out: out.append(row)  # flushed to the disk record by record
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from fcb_toolkit.errors import DataError


def dumps(value: Any) -> str:
    """One line of JSON. A lone surrogate, which UTF-8 cannot hold, is written as an escape."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def loads(text: str) -> Any:
    """JSON as its standard has it: NaN, Infinity and numbers beyond a float, which equal nothing, are a
    `ValueError` too."""
    return json.loads(text, parse_constant=_no_number, parse_float=_float)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is too large for a number")
    return value


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder, expected a file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def read_text(path: Path) -> str:
    """The file's text (UTF-8, a byte order mark allowed); `DataError` for anything else."""
    raw = _bytes(path)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{path} line 1: found UTF-16, expected UTF-8; save the file as UTF-8")
    if raw[:2] == b"\x1f\x8b":
        raise DataError(f"{path}: found a gzip file, expected text in UTF-8; unpack it with gunzip")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path} line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None


def read(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number from 1, object) for each line that is not blank.

    Raises `DataError` for a missing or empty file, a wrong encoding, a line that is not a JSON object
    or holds NaN or Infinity.
    """
    path = Path(path)
    empty = True
    # Not splitlines(): U+2028 and its kin are legal inside a JSON string.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        empty = False
        yield number, _object(path, number, line, loads)
    if empty:
        raise DataError(f"{path}: is empty, expected one JSON object a line")


def _object(
    path: Path, number: int, line: str, read_json: Callable[[str], Any] = json.loads
) -> dict[str, Any]:
    # What we wrote ourselves may hold a model's NaN, so `read_appended` takes Python's own reading.
    try:
        row = read_json(line)
    except (ValueError, RecursionError) as error:
        where = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise DataError(
            f"{path} line {number}: not JSON: {message}{where}; expected one object a line"
        ) from None
    if not isinstance(row, dict):
        raise DataError(f"{path} line {number}: found {kind_of(row)}, expected a JSON object")
    return row


def kind_of(value: Any) -> str:
    """The JSON name of a value's type, with its article, for error messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, Mapping):
        return "an object"
    return "a list"


def read_appended(path: Path) -> tuple[list[dict[str, Any]], bytes | None]:
    """The records of a file that `Appender` wrote, and the half-written tail of a killed process.

    A tail without its newline, or a last line after others that is not JSON, is returned apart (None if
    there is none). A broken line anywhere else is a `DataError`: then the file was edited, not interrupted.
    """
    if not path.exists():
        return [], None
    raw = _bytes(path)
    end = raw.rfind(b"\n") + 1
    tail = raw[end:] or None
    rows: list[dict[str, Any]] = []
    lines = raw[:end].split(b"\n")[:-1]
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(_object(path, number, line.decode("utf-8")))
        except (DataError, UnicodeDecodeError):
            # A crash of the machine may leave zero bytes before the last newline.
            if number == len(lines) and rows and tail is None:
                return rows, line + b"\n"
            place = ", in the middle of the file" if number < len(lines) or tail else ""
            raise DataError(
                f"{path} line {number}: not a JSON object{place}; restore the file or delete that line"
            ) from None
    return rows, tail


class Appender:
    """Appends records one line each; each is handed to the operating system before `append` returns.

    A full disk raises `DataError`; the records before it are whole.
    """

    def __init__(self, path: Path, *, drop: int = 0) -> None:
        """`drop`: bytes of a half-written tail to cut off first (see `read_appended`)."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if drop:
            os.truncate(path, path.stat().st_size - drop)
        self._file = path.open("ab", buffering=0)

    def append(self, *rows: Mapping[str, Any]) -> None:
        data = "".join(dumps(row) + "\n" for row in rows).encode("utf-8")
        start = self._file.seek(0, os.SEEK_END)
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError as error:
            self._file.truncate(start)
            raise DataError(
                f"{self.path}: cannot be written: {error.strerror}; all records before this one are "
                "kept, free some space and run the same command again"
            ) from None

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Appender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_atomic(path: Path, data: str | bytes) -> None:
    """Writes the whole file or nothing: a temporary file beside it, then a rename."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}; choose another place") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data.encode("utf-8") if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise DataError(f"{path}: cannot be written: {error.strerror}; nothing was changed") from None


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """All records as one JSON Lines file, atomically."""
    write_atomic(path, "".join(dumps(row) + "\n" for row in rows))
