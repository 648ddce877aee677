"""A list of Python calls between marks: `<|tool_call_start|>[f(a=1)]<|tool_call_end|>`."""

from __future__ import annotations

from fcb_toolkit.parsers.calls import Span, add_calls
from fcb_toolkit.parsers.python_calls import CALL, Calls, add_written, read_call, read_list
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.values import read_value


def read_marked_list(reading: Reading, open: str, close: str) -> None:
    """Reads the calls after every `open`; the rest is content."""
    scan = reading.scan
    pos = 0
    while (opened := scan.find(open, pos)) >= 0:
        reading.text(pos, opened)
        start = opened + len(open)
        try:
            pos = _read_block(reading, start, close)
        except Unreadable as unreadable:
            stop = scan.find(close, max(start, min(unreadable.at, scan.end)))
            again = scan.find(open, start)
            pos = stop + len(close) if stop >= 0 and (again < 0 or stop < again) else again
            pos = scan.end if pos < 0 else pos
            reading.error(unreadable.code, f"the calls cannot be read: {unreadable}", opened, pos)
    reading.text(pos, scan.end)


def _read_block(reading: Reading, start: int, close: str) -> int:
    scan = reading.scan
    first = scan.skip(start)
    if scan.at(close, first):  # Llama 4's template writes an empty pair before its JSON
        return first + len(close)
    stop = read_calls(reading, first)
    after = scan.skip(stop)
    if scan.at(close, after):
        return after + len(close)
    reading.repair("missing_close")
    return stop


def read_calls(reading: Reading, start: int) -> int:
    """The calls at `start`: a list, one call, or JSON; returns the position after them.

    Raises `Unreadable` for anything else.
    """
    scan = reading.scan
    head = scan.match(CALL, start)
    if head is not None:
        reading.repair("single_object")
        return _add(reading, read_call(scan, start))
    if scan.at("[", start) and scan.match(CALL, scan.skip(start + 1)) is not None:
        return _add(reading, read_list(scan, start))
    if scan.text[start : start + 1] not in ("[", "{") or start >= scan.end:
        raise Unreadable("malformed_call", f"character {start}: no call stands there", start)
    value = read_value(scan, start)
    problem = add_calls(reading, value.value, Span(start, value.end))
    if problem is not None:
        raise Unreadable("malformed_call", problem, value.end)
    reading.repair("foreign_form", *value.repairs)
    return value.end


def _add(reading: Reading, found: Calls) -> int:
    problem = add_written(reading, found)
    if problem is not None:
        raise Unreadable("malformed_call", problem, found.end)
    return found.end
