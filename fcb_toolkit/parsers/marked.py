"""JSON calls after a mark of their own: `<|tool_call|>[{"name": ..., "arguments": {...}}]`.

read_marked(reading, (Mark("<|tool_call|>", "<|/tool_call|>", as_list=True), Mark("functools")))
"""

from __future__ import annotations

from dataclasses import dataclass

from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.tool_call_tag import Tag, read_json_block


@dataclass(frozen=True, slots=True)
class Mark:
    """`close` is "" where the format has no closing mark."""

    open: str
    close: str = ""
    key: str = "arguments"
    many: bool = False
    as_list: bool = False


def read_marked(reading: Reading, marks: tuple[Mark, ...]) -> None:
    """Reads the calls after every mark that JSON follows; everything else is content."""
    scan = reading.scan
    by_open = {mark.open: mark for mark in marks}
    pos = kept = 0
    while True:
        opened, open = scan.find_first(tuple(by_open), pos)
        if opened < 0:
            break
        mark = by_open[open]
        start = opened + len(open)
        first = scan.skip(start)
        if scan.text[first : first + 1] not in ("{", "["):
            pos = _without_json(reading, kept, opened, mark)
            kept = pos if pos > start else kept
            continue
        reading.text(kept, opened)
        pos = kept = read_json_block(reading, start, Tag(open, mark.close, mark.key, mark.many, mark.as_list))
    reading.text(kept, scan.end)


def _without_json(reading: Reading, kept: int, opened: int, mark: Mark) -> int:
    """A mark with something else between it and its closing is an error; a mark alone is a word."""
    start = opened + len(mark.open)
    stop = reading.scan.find(mark.close, start) if mark.close else -1
    if stop < 0 and not mark.open.startswith(("<|", "[")):
        return start
    stop = stop + len(mark.close) if stop >= 0 else reading.scan.end
    reading.text(kept, opened)
    reading.error("malformed_call", f"no call follows {mark.open}", opened, stop)
    return stop
