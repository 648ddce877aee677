"""DPAB's JSON format: one list of `{"name": ..., "args": {...}}`, bare or in a ```json fence.

The reference throws on everything else; here another key for the arguments, one object, an object with
the list inside, or text around it is read in lenient mode.
"""

from __future__ import annotations

from typing import Any

from fcb_toolkit.parsers.bare import Bare, read_bare
from fcb_toolkit.parsers.calls import Span, add_calls
from fcb_toolkit.parsers.code import find_blocks
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.values import decode

STYLE = Bare(key="args", as_list=True, fence=True, anywhere=True)


def read(reading: Reading) -> None:
    if read_bare(reading, 0, STYLE):
        return
    text = reading.scan.text
    blocks = find_blocks(text)
    decoded = decode(blocks[0].code if len(blocks) == 1 else text)
    if decoded is None:
        return
    if decoded.value == []:
        reading.pieces.clear()
    elif _named(decoded.value):
        reading.pieces.clear()
        problem = add_calls(reading, decoded.value, Span(0, reading.scan.end, "args"))
        if problem is not None:
            reading.error("malformed_call", problem, 0, reading.scan.end)
    elif _maps_names(decoded.value, reading):
        reading.pieces.clear()
        reading.repair("wrapper")
        for name, arguments in decoded.value.items():
            reading.call(name, arguments)


def _named(value: Any) -> bool:
    """Objects that were meant as calls: a list of nothing else, or one with a name."""
    if isinstance(value, list):
        return all(isinstance(item, dict) for item in value)
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _maps_names(value: Any, reading: Reading) -> bool:
    """`{"get_weather": {"city": ...}}`: names mapped to their arguments."""
    if not isinstance(value, dict) or not value or not all(isinstance(item, dict) for item in value.values()):
        return False
    return not reading.offered.known or all(name in reading.offered for name in value)


FORMAT = Format("dpab_json", read, "any model, in DPAB's JSON mode", bare=True)
