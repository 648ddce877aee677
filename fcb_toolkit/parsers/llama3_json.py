"""Llama 3 format: bare `{"name": ..., "parameters": {...}}`, several separated by `;`.

`<|python_tag|>` may stand before it. The built-in tools are written `brave_search.call(query="...")`.
"""

from __future__ import annotations

from dataclasses import replace

from fcb_toolkit.parsers.bare import Bare, read_bare
from fcb_toolkit.parsers.python_calls import CALL, Calls, add_written, read_call
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading

PYTHON_TAG = "<|python_tag|>"
STYLE = Bare(key="parameters")


def read(reading: Reading) -> None:
    scan = reading.scan
    first = scan.skip(0)
    tag = -1 if scan.text[first : first + 1] in ("{", "[") else scan.find(PYTHON_TAG, 0)
    if tag < 0:
        read_bare(reading, 0, STYLE)
        return
    reading.text(0, tag)
    start = scan.skip(tag + len(PYTHON_TAG))
    if scan.match(CALL, start) is not None:
        _read_builtin(reading, tag, start)
    elif scan.text[start : start + 1] not in ("{", "[") or not read_bare(reading, start, STYLE):
        reading.pieces.clear()
        reading.text(0, tag)
        reading.error("malformed_call", f"no call follows {PYTHON_TAG}", tag, scan.end)


def _read_builtin(reading: Reading, tag: int, start: int) -> None:
    scan = reading.scan
    try:
        found = read_call(scan, start)
    except Unreadable as unreadable:
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", tag, scan.end)
        return
    call = found.calls[0]
    if call.name.endswith(".call"):
        found = Calls((replace(call, name=call.name.removesuffix(".call")),), found.end, found.repairs)
    else:
        reading.repair("foreign_form")
    problem = add_written(reading, found)
    if problem is not None:
        reading.error("malformed_call", problem, tag, scan.end)
        return
    reading.text(found.end, scan.end)


FORMAT = Format(
    name="llama3_json",
    read=read,
    models="Llama 3.1, 3.2, 3.3 and models tuned from them",
    openers=(PYTHON_TAG,),
    bare=True,
)
