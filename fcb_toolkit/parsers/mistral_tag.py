"""The three forms that follow Mistral's `[TOOL_CALLS]`, for the formats that name them.

    [TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "a1b2c3d4e"}]     list     mistral
    [TOOL_CALLS]f{"city": "서울"}                                          bare     mistral_v11
    [TOOL_CALLS]f[ARGS]{"city": "서울"}                                    marked   mistral_v13

`[CALL_ID]id` may stand before `[ARGS]` in the newer two. Another form than the format's own is a repair.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.tool_call_tag import Tag, read_json_block
from fcb_toolkit.parsers.values import read_value

MARK = "[TOOL_CALLS]"
_HEAD = re.compile(
    r"\s*+(?P<name>[^\s\[\]{}()\"']{1,200})\s*+(?:\[CALL_ID\](?P<id>[^\[{\s]{0,80})\s*+)?(?P<args>\[ARGS\])?\s*+"
)
_LIST = Tag(open=MARK, close="", as_list=True)


def read_mistral(reading: Reading, native: str) -> None:
    """Reads the calls after every mark; text before and after them is content."""
    scan = reading.scan
    pos = 0
    while (opened := scan.find(MARK, pos)) >= 0:
        reading.text(pos, opened)
        pos = _read_one(reading, opened, native)
        while native != "list" and (again := _follows(reading, pos, native)) is not None:
            pos = again
    if reading.calls and scan.skip(pos) < scan.end:
        reading.repair("stray_text")
    reading.text(pos, scan.end)


def _read_one(reading: Reading, opened: int, native: str) -> int:
    scan = reading.scan
    start = opened + len(MARK)
    first = scan.skip(start)
    if scan.text[first : first + 1] in ("[", "{") and first < scan.end:
        if native != "list":
            reading.repair("foreign_form")
        return read_json_block(reading, start, _LIST)
    head = scan.match(_HEAD, start)
    stop = scan.find(MARK, start)
    stop = scan.end if stop < 0 else stop
    if head is None:
        reading.error("malformed_call", f"no call follows {MARK}", opened, stop)
        return stop
    try:
        return _named(reading, head, native)
    except Unreadable as unreadable:
        stop = scan.find(MARK, max(start, min(unreadable.at, scan.end)))
        stop = scan.end if stop < 0 else stop
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, stop)
        return stop


def _named(reading: Reading, head: re.Match[str], native: str) -> int:
    scan = reading.scan
    pos = head.end()
    if pos >= scan.end and not head["args"]:
        raise Unreadable("truncated", f"no arguments follow the name {head['name']!r}", pos)
    value = read_value(scan, pos) if pos < scan.end else None
    if value is None:
        raise Unreadable("truncated", f"no arguments follow the name {head['name']!r}", pos)
    arguments = object_of(reading, value.value, head["name"])
    if isinstance(arguments, str):
        raise Unreadable("malformed_call", arguments, value.end)
    reading.repair(*value.repairs)
    # With a call id, the marked form belongs to both of the newer formats.
    if native != ("marked" if head["args"] else "bare") and not (head["id"] and native != "list"):
        reading.repair("foreign_form")
    reading.call(head["name"], arguments, scan.slice(pos, value.end), head["id"] or None)
    return value.end


def _follows(reading: Reading, pos: int, native: str) -> int | None:
    """Another call of an offered tool right after this one, without a mark of its own."""
    head = reading.scan.match(_HEAD, pos)
    if (
        head is None
        or head["name"] not in reading.offered
        or reading.scan.text[head.end() : head.end() + 1] != "{"
    ):
        return None
    try:
        stop = _named(reading, head, native)
    except Unreadable:
        return None
    reading.repair("missing_open")
    return stop
