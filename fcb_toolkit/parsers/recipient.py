"""Calls as `NAME`, a line break and JSON after a mark: the older formats of functionary.

>>>get_weather
{"city": "서울"}
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.values import read_value

EVERYBODY = "all"
_HEAD = re.compile(r"([^\s(){}\[\]\"'`<>]{1,200})[ \t]*+\r?\n\s*+")


def read_recipients(reading: Reading, mark: str, opened: bool) -> None:
    """Reads a block after every `mark`. `opened`: the prompt, or the text, ends with the first mark."""
    scan = reading.scan
    pos = 0
    start = 0 if opened else _next(reading, mark, 0)
    if start < 0:
        reading.text(0, scan.end)
        return
    reading.text(0, 0 if opened else start - len(mark))
    while start >= 0:
        pos = _read_block(reading, start, mark)
        start = _next(reading, mark, pos)
        stop = scan.end if start < 0 else start - len(mark)
        reading.text(pos, stop)


def _next(reading: Reading, mark: str, pos: int) -> int:
    at = reading.scan.find(mark, pos)
    return -1 if at < 0 else at + len(mark)


def _read_block(reading: Reading, start: int, mark: str) -> int:
    """The end of the call at `start`; for text to everybody, where the text begins."""
    scan = reading.scan
    head = scan.match(_HEAD, start)
    marked = start - len(mark)
    opened = marked if marked >= 0 and scan.at(mark, marked) else start
    if head is None:
        reading.text(opened, start)
        return start
    name, pos = head[1], head.end()
    if name == EVERYBODY:
        return pos
    try:
        if pos >= scan.end:
            raise Unreadable("truncated", f"no arguments follow the name {name!r}", pos)
        value = read_value(scan, pos, closers=(mark,))
        arguments = object_of(reading, value.value, name)
        if isinstance(arguments, str):
            raise Unreadable("malformed_call", arguments, value.end)
    except Unreadable as unreadable:
        stop = scan.find(mark, max(pos, min(unreadable.at, scan.end)))
        stop = scan.end if stop < 0 else stop
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, stop)
        return stop
    reading.repair(*value.repairs)
    reading.call(name, arguments, scan.slice(pos, value.end))
    return value.end
