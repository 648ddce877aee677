"""Pythonic format: the reply is a list of Python calls, `[get_weather(city="서울"), now()]`.

Written by Llama 3.2, ToolACE, OLMo 3. `read_pythonic` also serves formats that put marks around the list.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.python_calls import NAME, Calls, add_written, read_list, read_statements
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading

PYTHON_TAG = "<|python_tag|>"
_LIST = re.compile(rf"\[\s*+({NAME})\s*+\(")
_KEYWORD = re.compile(r"\s*+[^\W\d][\w\-]{0,200}+\s*+=")
_WHOLE_FENCE = re.compile(r"```(?:python|py|tool_code)?[ \t]*+\r?\n")
_PROGRAM = re.compile(rf"#|(?:[^\W\d]\w{{0,100}}+\s*+=\s*+)?(?:await\s++|print\s*+\(\s*+)*{NAME}\s*+\(")
_FENCE_BEFORE = re.compile(r"```[\w+-]{0,20}[ \t]*\n?\s*$")


def read_pythonic(reading: Reading, start: int = 0) -> None:
    """Reads the list that the reply from `start` on begins or ends with; the rest is content."""
    scan = reading.scan
    begin = scan.skip(start)
    if scan.at(PYTHON_TAG, begin):
        reading.repair("stray_tag")
        begin = start = scan.skip(begin + len(PYTHON_TAG))
    pos = begin
    while (found := scan.search(_LIST, pos)) is not None:
        stop = _read_lists(reading, start, found, found.start() == begin)
        if stop is not None:
            if scan.skip(stop) < scan.end:
                reading.text(stop, scan.end)
                reading.repair("stray_text")
            return
        pos = found.end()
    if not read_program(reading, begin):
        reading.text(start, scan.end)


def _read_lists(reading: Reading, start: int, found: re.Match[str], leads: bool) -> int | None:
    """The end of the list at `found`, and of those that follow it; None where it is part of the answer."""
    scan = reading.scan
    at = found.start()
    try:
        calls = read_list(scan, at)
    except Unreadable as unreadable:
        leads = leads and (found[1] in reading.offered or scan.match(_KEYWORD, found.end()) is not None)
        if not (leads or (found[1] in reading.offered and _begins_line(reading, at))):
            return None  # a link, say: [text(s)](address)
        reading.text(start, at)
        reading.error(unreadable.code, f"the calls cannot be read: {unreadable}", at, scan.end)
        return scan.end
    stop = calls.end
    if not leads:
        fence = _FENCE_BEFORE.search(scan.text[max(start, at - 60) : at])
        stop = _past_fence(reading, stop) if fence else stop
        known = all(call.name in reading.offered for call in calls.calls)
        if scan.skip(stop) != scan.end or not (known or (_begins_line(reading, at) and not fence)):
            return None
        before = max(start, at - 60) + fence.start() if fence else at
        if scan.skip(start) < before:
            reading.text(start, before)
            reading.repair("stray_text")
        if fence:
            reading.repair("code_fence")
    _add(reading, calls, at)
    return _following(reading, stop)


def _following(reading: Reading, stop: int) -> int:
    """The end of the lists that follow the first one; only one list is the format's own."""
    scan = reading.scan
    while scan.match(_LIST, at := scan.skip(stop)) is not None:
        try:
            calls = read_list(scan, at)
        except Unreadable as unreadable:
            reading.error(unreadable.code, f"the calls cannot be read: {unreadable}", at, scan.end)
            return scan.end
        reading.repair("several_objects")
        _add(reading, calls, at)
        stop = calls.end
    return stop


def _add(reading: Reading, calls: Calls, at: int) -> None:
    problem = add_written(reading, calls)
    if problem is not None:
        reading.error("malformed_call", problem, at, calls.end)


def _past_fence(reading: Reading, stop: int) -> int:
    after = reading.scan.skip(stop)
    return after + 3 if reading.scan.at("```", after) else stop


def _begins_line(reading: Reading, at: int) -> bool:
    line = reading.scan.text.rfind("\n", max(0, at - 80), at) + 1
    return not reading.scan.text[line:at].strip() and (line > 0 or at < 80)


def read_program(reading: Reading, begin: int) -> bool:
    """A reply that is nothing but calls of offered tools, without the list around them, also in a code fence."""
    scan = reading.scan
    fence = scan.match(_WHOLE_FENCE, begin)
    first = scan.skip(fence.end()) if fence else begin
    stop = scan.end
    if fence:
        if not scan.text.endswith("```") or stop - 3 < first:
            return False
        stop -= 3
    if scan.match(_PROGRAM, first) is None:
        return False
    try:
        found = read_statements(scan, first, lambda pos: pos >= stop)
    except Unreadable:
        return False
    if any(call.name not in reading.offered for call in found.calls):
        return False
    if fence:
        reading.repair("code_fence")
    reading.repair("single_object")
    _add(reading, found, begin)
    return True


FORMAT = Format(
    name="pythonic",
    read=read_pythonic,
    models="Llama 3.2, ToolACE, OLMo 3",
    # Of several line breaks the last one: from each of them to the bracket would be quadratic work.
    signature=re.compile(
        rf"(?:(?:\A|</think>)\s*+|\n[^\S\n]*+)\[\s*+{NAME}\((?:\)|\{{|[^\W\d][\w\-]{{0,200}}+=)"
    ),
)
