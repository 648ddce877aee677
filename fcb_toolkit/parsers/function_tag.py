"""`<function=NAME>` with parameters in tags (Qwen3-Coder) or with JSON (functionary v3.1) inside.

<function=get_weather>
<parameter=city>
서울
</parameter>
</function>
"""

from __future__ import annotations

import re
from typing import Literal

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.tags import Markup, converted, read_arguments
from fcb_toolkit.parsers.values import read_value

OPENING = re.compile(r"<function(?:=| name=)([^>\n]{1,200})>")
CLOSE = "</function>"
_LONGEST_NON_CALL = 2000
MARKUP = Markup(
    opening=re.compile(r"<parameter(?:=| name=)(?P<name>[^>\n]{1,200})>"),
    close="</parameter>",
    after=re.compile(
        r"\s*+(?:<parameter[= ]|</function>(?!\s*+(?:</tool_call>)?\s*+</parameter>)|</tool_call>|\Z)"
    ),
    end=re.compile(r"</function>|</tool_call>"),
    lines=True,
)


def read_function(reading: Reading, start: int, native: Literal["tags", "json"]) -> int:
    """Reads the call whose `<function=` stands at `start`; returns the position after it.

    Raises `Unreadable` for a call that cannot be read, `LookupError` for text that is no call at all.
    """
    scan = reading.scan
    opening = scan.match(OPENING, start)
    if opening is None:
        raise LookupError
    name = opening[1].strip().strip("\"'")
    pos = scan.skip(opening.end())
    if scan.text[pos : pos + 1] in ("{", '"') and pos < scan.end:
        return _json_body(reading, name, pos, native)
    arguments = read_arguments(reading, opening.end(), MARKUP, reading.offered.properties(name))
    pos = arguments.end
    closed = scan.at(CLOSE, pos)
    if not (closed or arguments.pairs):
        if pos >= scan.end:
            raise Unreadable("truncated", f"the text ends inside the call of {name!r}", pos)
        if name in reading.offered and 0 <= scan.find(CLOSE, pos) - pos <= _LONGEST_NON_CALL:
            raise Unreadable("malformed_call", f"character {pos}: no arguments of {name!r} stand there", pos)
        raise LookupError
    if not closed:
        _check_unclosed(reading, name, pos)
    values = converted(reading, name, arguments.pairs)
    stop = pos + len(CLOSE) if closed else pos
    if native != "tags" and arguments.pairs:
        reading.repair("foreign_form")
    reading.call(name, values, scan.slice(opening.end(), pos))
    return stop


def _check_unclosed(reading: Reading, name: str, pos: int) -> None:
    """A call without its closing tag is whole only where another tag, or the end of the turn, follows."""
    scan = reading.scan
    if pos >= scan.end and not reading.scan.ended:
        raise Unreadable("truncated", f"the text ends inside the call of {name!r}", pos)
    if not (scan.at("</tool_call>", pos) or pos >= scan.end or scan.match(OPENING, pos)):
        raise Unreadable("malformed_call", f"character {pos}: text stands inside the call of {name!r}", pos)
    reading.repair("missing_close")


def _json_body(reading: Reading, name: str, pos: int, native: str) -> int:
    scan = reading.scan
    value = read_value(scan, pos, closers=(CLOSE,))
    arguments = object_of(reading, value.value, name)
    if isinstance(arguments, str):
        raise Unreadable("malformed_call", arguments, value.end)
    reading.repair(*value.repairs)
    if native != "json":
        reading.repair("foreign_form")
    stop = scan.skip(value.end)
    while stop < scan.end and scan.text[stop] == "}":
        reading.repair("superfluous_bracket")
        stop = scan.skip(stop + 1)
    reading.call(name, arguments, scan.slice(pos, value.end))
    if scan.at(CLOSE, stop):
        return stop + len(CLOSE)
    reading.repair("missing_close")
    return value.end
