"""Pythonic format: the reply is a list of Python calls, `[get_weather(city="서울"), now()]`.

Written by Llama 3.2, ToolACE, OLMo 3. `read_pythonic` also serves formats that put marks around the list.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.python_calls import CALL, NAME, add_written, read_call, read_list
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading

_LIST = re.compile(rf"\[\s*+({NAME})\s*+\(")


def read_pythonic(reading: Reading, start: int = 0) -> None:
    """Reads the list that the reply from `start` on begins or ends with; the rest is content."""
    scan = reading.scan
    begin = scan.skip(start)
    pos = begin
    while (found := scan.search(_LIST, pos)) is not None:
        at = found.start()
        stop = _read_list(reading, start, at, found[1], at == begin)
        if stop is not None:
            if scan.skip(stop) < scan.end:
                reading.text(stop, scan.end)
                reading.repair("stray_text")
            return
        pos = found.end()
    if not _read_single(reading, begin):
        reading.text(start, scan.end)


def _read_list(reading: Reading, start: int, at: int, name: str, leads: bool) -> int | None:
    """The end of the list at `at`; None where it is part of the answer."""
    scan = reading.scan
    try:
        found = read_list(scan, at)
        problem = None
    except Unreadable as unreadable:
        if not (leads or (name in reading.offered and _begins_line(reading, at))):
            return None
        reading.text(start, at)
        reading.error(unreadable.code, f"the calls cannot be read: {unreadable}", at, scan.end)
        return scan.end
    if not leads:
        ends = scan.skip(found.end) == scan.end
        known = all(call.name in reading.offered for call in found.calls)
        if not (ends and (known or _begins_line(reading, at))):
            return None
        reading.text(start, at)
        reading.repair("stray_text")
    problem = add_written(reading, found)
    if problem is not None:
        reading.error("malformed_call", problem, at, found.end)
    return found.end


def _begins_line(reading: Reading, at: int) -> bool:
    line = reading.scan.text.rfind("\n", max(0, at - 80), at) + 1
    return not reading.scan.text[line:at].strip() and (line > 0 or at < 80)


def _read_single(reading: Reading, begin: int) -> bool:
    """A reply that is nothing but calls of offered tools, without the list around them."""
    scan = reading.scan
    head = scan.match(CALL, begin)
    if head is None or head[1] not in reading.offered:
        return False
    found = []
    pos = begin
    while pos < scan.end:
        try:
            found.append(read_call(scan, pos))
        except Unreadable:
            return False
        pos = scan.skip(found[-1].end)
        if pos < scan.end and scan.text[pos] in ",;":
            pos = scan.skip(pos + 1)
    if any(call.name not in reading.offered for calls in found for call in calls.calls):
        return False
    reading.repair("single_object")
    for calls in found:
        problem = add_written(reading, calls)
        if problem is not None:
            reading.error("malformed_call", problem, begin, scan.end)
            return True
    return True


FORMAT = Format(
    name="pythonic",
    read=read_pythonic,
    models="Llama 3.2, ToolACE, OLMo 3",
    signature=re.compile(rf"(?:\A|\n|</think>)\s*+\[\s*+{NAME}\((?:\)|[^\W\d][\w\-]{{0,200}}+=)"),
    bare=True,
)
