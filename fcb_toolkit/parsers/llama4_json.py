"""Llama 4's JSON format: bare `{"name": ..., "parameters": {...}}`.

The model may put `<|python_start|>` and `<|python_end|>` around it; the official template writes an empty
pair before it. Both are departures from the documented form.
"""

from __future__ import annotations

from fcb_toolkit.parsers.bare import Bare, read_bare
from fcb_toolkit.parsers.marked_list import read_calls
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.tool_call_tag import Tag, read_json_block

START, END = "<|python_start|>", "<|python_end|>"
STYLE = Bare(key="parameters")


def read(reading: Reading) -> None:
    scan = reading.scan
    first = scan.skip(0)
    opened = -1 if scan.text[first : first + 1] in ("{", "[") else scan.find(START, 0)
    if opened < 0:
        read_bare(reading, 0, STYLE)
        return
    reading.text(0, opened)
    start = scan.skip(opened + len(START))
    if scan.at(END, start):
        read_bare(reading, start + len(END), STYLE)
    elif scan.text[start : start + 1] == "{" or scan.at("[{", start):
        stop = read_json_block(reading, start, Tag(START, END, "parameters", many=True))
        reading.text(stop, scan.end)
    else:
        _read_python(reading, opened, start)
    reading.repair("stray_tag")


def _read_python(reading: Reading, opened: int, start: int) -> None:
    scan = reading.scan
    try:
        stop = scan.skip(read_calls(reading, start))
    except Unreadable as unreadable:
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, scan.end)
        return
    reading.repair("foreign_form")
    reading.text(stop + (len(END) if scan.at(END, stop) else 0), scan.end)


FORMAT = Format(
    name="llama4_json",
    read=read,
    models="Llama 4 (JSON template)",
    openers=(START,),
    bare=True,
)
