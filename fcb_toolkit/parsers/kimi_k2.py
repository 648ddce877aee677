"""Kimi K2 format: an id `functions.NAME:INDEX` and JSON between tokens.

<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>
{"city": "서울"}<|tool_call_end|><|tool_calls_section_end|>
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.values import read_value

OPEN, ARGUMENTS, CLOSE = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
SECTIONS = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
SECTION_ENDS = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
_ID = re.compile(r"functions\.(?P<name>.{1,200}):[0-9]{1,9}", re.DOTALL)
_INDEX = re.compile(r":[0-9]{1,9}\Z")
_LOOSE_ID = re.compile(r"(?:functions[._])?(?P<name>.{1,200}?)(?:[:_][0-9]{1,9})?", re.DOTALL)


def read(reading: Reading) -> None:
    """Reads every call; section marks are no content."""
    scan = reading.scan
    pos = 0
    while True:
        at, mark = scan.find_first((OPEN, *SECTIONS, *SECTION_ENDS), pos)
        if at < 0:
            break
        reading.text(pos, at)
        pos = at + len(mark)
        if mark in SECTIONS:
            first = scan.skip(pos)
            if not scan.at(OPEN, first):
                reading.error("malformed_call", f"no call follows {mark}", at, pos)
                continue
            pos = first + len(OPEN)
        if mark not in SECTION_ENDS:
            pos = _read_call(reading, at, pos)
    reading.text(pos, scan.end)


def _read_call(reading: Reading, opened: int, start: int) -> int:
    scan = reading.scan
    try:
        return _call(reading, start)
    except Unreadable as unreadable:
        at = max(start, min(unreadable.at, scan.end))
        stop, mark = scan.find_first((OPEN, CLOSE, *SECTION_ENDS), at)
        stop = scan.end if stop < 0 else stop + (len(mark) if mark == CLOSE else 0)
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, stop)
        return stop


def _call(reading: Reading, start: int) -> int:
    scan = reading.scan
    middle, mark = scan.find_first((ARGUMENTS, OPEN, CLOSE), start)
    if mark != ARGUMENTS:
        raise Unreadable("malformed_call", f"{ARGUMENTS} is missing", start)
    id = scan.slice(start, middle).strip()
    name = _name(reading, id)
    pos = scan.skip(middle + len(ARGUMENTS))
    if pos >= scan.end or not name:
        raise Unreadable("truncated", "the text ends inside a call", pos)
    if scan.at(CLOSE, pos):
        reading.repair("missing_arguments")
        reading.call(name, {}, "", id)
        return pos + len(CLOSE)
    value = read_value(scan, pos, closers=(CLOSE,))
    arguments = object_of(reading, value.value, name)
    if isinstance(arguments, str):
        raise Unreadable("malformed_call", arguments, value.end)
    reading.repair(*value.repairs)
    reading.call(name, arguments, scan.slice(pos, value.end), id)
    stop = scan.skip(value.end)
    if scan.at(CLOSE, stop):
        return stop + len(CLOSE)
    reading.repair("missing_close")
    return value.end


def _name(reading: Reading, id: str) -> str:
    """The tool's name in the call's id; other ids than `functions.NAME:INDEX` are a repair."""
    proper = _ID.fullmatch(id)
    if proper:
        return proper["name"]
    reading.repair("sanitised_id")
    loose = _LOOSE_ID.fullmatch(id)
    if id not in reading.offered and loose and loose["name"] in reading.offered:
        return loose["name"]
    return _INDEX.sub("", id.removeprefix("functions."))


FORMAT = Format(
    name="kimi_k2",
    read=read,
    models="Kimi K2",
    signature=re.compile(r"<\|tool_calls?_section_begin\|>|<\|tool_call_begin\|>"),
    openers=(*SECTIONS, OPEN),
    closes=SECTION_ENDS,
)
