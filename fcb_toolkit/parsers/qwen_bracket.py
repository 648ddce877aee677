"""Bracket format: `[Calling tool: get_weather({"city": "서울"})]`, one bracket a call.

What Qwen3 models write when earlier calls were shown to them as text.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.python_calls import add_written, read_call
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.values import read_value

_OPEN = re.compile(r"\[Calling tool:\s*+([^\s()\[\]{}\"']{1,200})\s*+\(")


def read(reading: Reading) -> None:
    scan = reading.scan
    pos = 0
    while (found := scan.search(_OPEN, pos)) is not None:
        reading.text(pos, found.start())
        try:
            pos = _read_call(reading, found)
        except Unreadable as unreadable:
            close = scan.find(")]", max(found.end(), min(unreadable.at, scan.end)))
            pos = scan.end if close < 0 else close + 2
            reading.error(unreadable.code, f"the call cannot be read: {unreadable}", found.start(), pos)
    reading.text(pos, scan.end)


def _read_call(reading: Reading, found: re.Match[str]) -> int:
    scan = reading.scan
    name = found[1]
    pos = scan.skip(found.end())
    if scan.at(")", pos):
        reading.repair("missing_arguments")
        reading.call(name, {}, "")
    elif pos < scan.end and scan.text[pos] in '{"':
        value = read_value(scan, pos)
        arguments = object_of(reading, value.value, name)
        if isinstance(arguments, str):
            raise Unreadable("malformed_call", arguments, value.end)
        reading.repair(*value.repairs)
        reading.call(name, arguments, scan.slice(pos, value.end))
        pos = scan.skip(value.end)
    else:
        calls = read_call(scan, found.start(1))
        problem = add_written(reading, calls)
        if problem is not None:
            raise Unreadable("malformed_call", problem, calls.end)
        reading.repair("foreign_form")
        pos = calls.end - 1
    return _close(reading, pos)


def _close(reading: Reading, pos: int) -> int:
    """Past `)]`; either may be missing at the end of the reply."""
    scan = reading.scan
    for mark in ")]":
        if scan.at(mark, pos):
            pos += 1
        else:
            reading.repair("missing_close")
            return pos
        pos = scan.skip(pos) if mark == ")" else pos
    return pos


FORMAT = Format(
    name="qwen_bracket",
    read=read,
    models="Qwen3, where calls in history were rendered as text",
    signature=re.compile(r"\[Calling tool:"),
    openers=("[Calling tool:",),
)
