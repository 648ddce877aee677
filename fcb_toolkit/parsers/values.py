"""Values as models write them: JSON first, then what has one sensible reading beside it.

    read_value(Scan('{"a": [1, 2,]} rest'), 0)   # Value({"a": [1, 2]}, end=14, repairs=("trailing_comma",))

Reading starts at a real start and ends where the value ends, so strings may hold braces, quotes and
closing tags. The standard library's decoder reads JSON; only what it refuses comes to the reader here,
which names each departure from JSON (or from Python literals, with `python=True`) as a repair.
Nothing is evaluated. NaN, infinities, arithmetic and names are no values; nesting ends at `MAX_DEPTH`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from fcb_toolkit.parsers.reader import MAX_DEPTH, Reader, Unreadable
from fcb_toolkit.parsers.scan import Scan

_FAST_FAILURES = 8
"""json's error message counts lines from the start of the text, so only a few failures may cost that."""


@dataclass(frozen=True, slots=True)
class Value:
    value: Any
    end: int
    repairs: tuple[str, ...] = ()


def read_value(scan: Scan, start: int, *, python: bool = False, closers: tuple[str, ...] = ()) -> Value:
    """The value that begins at `start` (no white space before it). Raises `Unreadable`.

    `closers` are closing tags: where one stands in place of a missing bracket, the brackets are closed.
    """
    if not python and scan.text[start : start + 1] in ("{", "[", '"'):
        value = _fast(scan, start)
        if value is not None:
            return value
    reader = Reader(scan, start, python, closers)
    result = reader.value(0)
    return Value(result, reader.pos, tuple(dict.fromkeys(reader.repairs)))


def decode(text: str, *, lenient: bool = True) -> Value | None:
    """The whole of `text` as one value, white space and a byte order mark around it allowed; None if it is not."""
    scan = Scan(text.strip("\ufeff"))
    start = scan.skip(0)
    try:
        value = read_value(scan, start) if start < scan.end else None
    except Unreadable:
        return None
    if value is None or scan.skip(value.end) != scan.end or (value.repairs and not lenient):
        return None
    return value


def decode_escaped(text: str) -> Any | None:
    """The object or list that a whole text is, written as a JSON string or as the inside of one; None for neither."""
    text = text.strip()
    inside = text if text.startswith('"') else f'"{text}"'
    string = decode(inside, lenient=False)
    inner = decode(string.value) if string is not None and isinstance(string.value, str) else None
    return inner.value if inner is not None and isinstance(inner.value, (dict, list)) else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("number out of range")
    return number


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_finite, parse_constant=_no_constant)


def _fast(scan: Scan, start: int) -> Value | None:
    """By the standard library; None where the reader below must look."""
    if scan.fast_failures >= _FAST_FAILURES:
        return None
    try:
        value, end = _DECODER.raw_decode(scan.text, start)
    except (ValueError, RecursionError):
        scan.fast_failures += 1
        return None
    scan.charge(end - start)
    if scan.text.count("[", start, end) + scan.text.count("{", start, end) > MAX_DEPTH and _too_deep(value):
        raise Unreadable("too_deep", f"nested deeper than {MAX_DEPTH} levels", start)
    return Value(value, end)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []
