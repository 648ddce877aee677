"""Gemma 3's format: Python calls in a ```tool_code fence, as a list, one call, or one call a line.

    ```tool_code
    get_weather(city="서울")
    ```

Gemma often writes `print(get_weather(...))`; the call inside is the call.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.marked_list import read_calls
from fcb_toolkit.parsers.python_calls import CALL, add_written, read_statements
from fcb_toolkit.parsers.pythonic import read_pythonic
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading

_FENCE = re.compile(r"```(tool_code|python|py|)[ \t]*+\r?\n")


def read(reading: Reading) -> None:
    """Reads every tool_code fence; another fence only where it is the whole reply."""
    scan = reading.scan
    pos = kept = 0
    found_fence = False
    while (fence := scan.search(_FENCE, pos)) is not None:
        whole = fence.start() == scan.skip(0)
        if fence[1] != "tool_code" and not whole:
            pos = fence.end()
            continue
        stop = _read_fence(reading, kept, fence)
        found_fence = found_fence or stop is not None
        pos = fence.end() if stop is None else stop
        kept = kept if stop is None else stop
    if found_fence:
        reading.text(kept, scan.end)
        return
    read_pythonic(reading)
    if reading.calls:
        reading.repair("unmarked")


def _read_fence(reading: Reading, kept: int, fence: re.Match[str]) -> int | None:
    """The end of the fence; None where a fence of another label holds no call of an offered tool."""
    scan = reading.scan
    own = fence[1] == "tool_code"
    pos = scan.skip(fence.end())
    if not own:
        head = scan.match(CALL, scan.skip(pos + 1) if scan.at("[", pos) else pos)
        if head is None or head[1] not in reading.offered:
            return None
        reading.repair("code_fence")
    reading.text(kept, fence.start())
    try:
        return _read_lines(reading, pos)
    except Unreadable as unreadable:
        close = scan.find("```", max(fence.end(), min(unreadable.at, scan.end)))
        stop = scan.end if close < 0 else close + 3
        reading.error(unreadable.code, f"the calls cannot be read: {unreadable}", fence.start(), stop)
        return stop


def _read_lines(reading: Reading, pos: int) -> int:
    """The list, the JSON or the lines of calls in a fence; the position after the fence."""
    scan = reading.scan
    if scan.text[pos : pos + 1] in ("[", "{"):
        pos = scan.skip(read_calls(reading, pos))
    if not _at_end(reading, pos):
        found = read_statements(scan, pos, lambda at: _at_end(reading, at))
        problem = add_written(reading, found)
        if problem is not None:
            raise Unreadable("malformed_call", problem, found.end)
        pos = found.end
    if scan.at("```", pos):
        return pos + 3
    reading.repair("missing_close")
    return pos


def _at_end(reading: Reading, pos: int) -> bool:
    return pos >= reading.scan.end or reading.scan.at("```", pos)


FORMAT = Format(
    name="gemma3_tool_code",
    read=read,
    models="Gemma 3, Gemma 3n",
    signature=re.compile(r"```tool_code"),
    openers=("```tool_code",),
)
