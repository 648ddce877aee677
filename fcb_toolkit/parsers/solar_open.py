"""Solar Open format: turns for reasoning, content and calls; a call is an id, a name and JSON.

<|think|>날씨를 찾자.<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>a1b2<|tool_call:name|>
get_weather<|tool_call:args|>{"city": "서울"}<|tool_call:end|><|calls|>
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.values import read_value

OUTER, OPEN, CLOSE = "<|tool_calls|>", "<|tool_call:begin|>", "<|tool_call:end|>"
NAME, ARGUMENTS = "<|tool_call:name|>", "<|tool_call:args|>"
THINK, CONTENT, TURN_END = "<|think|>", "<|content|>", "<|end|>"
_DROPPED = (CONTENT, TURN_END, "<|begin|>assistant", "<|calls|>")


def read(reading: Reading) -> None:
    """Reads turn after turn: reasoning, content, calls."""
    scan = reading.scan
    pos = 0
    if (reading.prompt or "").rstrip().endswith(THINK):
        pos = _read_reasoning(reading, 0)
    while True:
        at, mark = scan.find_first((OUTER, OPEN, THINK, *_DROPPED), pos)
        if at < 0:
            break
        reading.text(pos, at)
        pos = at + len(mark)
        if mark == THINK:
            pos = _read_reasoning(reading, pos)
        elif mark == OPEN:
            pos = _read_call(reading, at, pos)
        elif mark == OUTER and not scan.at(OPEN, scan.skip(pos)):
            reading.error("malformed_call", f"no call follows {OUTER}", at, pos)
    reading.text(pos, scan.end)


def _read_reasoning(reading: Reading, start: int) -> int:
    stop = reading.scan.find(TURN_END, start)
    reading.open_reasoning = stop < 0
    stop = reading.scan.end if stop < 0 else stop
    reading.reasoning.append(reading.scan.slice(start, stop))
    return stop


def _read_call(reading: Reading, opened: int, start: int) -> int:
    scan = reading.scan
    try:
        name_at, mark = scan.find_first((NAME, OPEN), start)
        stop, second = scan.find_first((ARGUMENTS, OPEN), start)
        if mark != NAME or second != ARGUMENTS or stop < name_at:
            raise Unreadable("malformed_call", f"{NAME} and {ARGUMENTS} are missing", start)
        name = scan.slice(name_at + len(NAME), stop).strip()
        pos = scan.skip(stop + len(ARGUMENTS))
        if pos >= scan.end or not name:
            raise Unreadable("truncated", "the text ends inside a call", pos)
        value = read_value(scan, pos, closers=(CLOSE,))
        arguments = object_of(reading, value.value, name)
        if isinstance(arguments, str):
            raise Unreadable("malformed_call", arguments, value.end)
    except Unreadable as unreadable:
        end, mark = scan.find_first((OPEN, CLOSE), max(start, min(unreadable.at, scan.end)))
        end = scan.end if end < 0 else end + (len(mark) if mark == CLOSE else 0)
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, end)
        return end
    reading.repair(*value.repairs)
    reading.call(name, arguments, scan.slice(pos, value.end), scan.slice(start, name_at).strip() or None)
    after = scan.skip(value.end)
    if scan.at(CLOSE, after):
        return after + len(CLOSE)
    reading.repair("missing_close")
    return value.end


FORMAT = Format(
    name="solar_open",
    read=read,
    models="Solar Open",
    signature=re.compile(r"<\|tool_call:begin\|>"),
    openers=(OUTER, OPEN),
    splits_reasoning=False,
    reads_headers=True,
)
