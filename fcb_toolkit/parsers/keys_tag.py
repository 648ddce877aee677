"""`NAME<arg_key>k</arg_key><arg_value>v</arg_value>`: the body of GLM's and HyperCLOVA X Omni's calls.

<tool_call>get_weather
<arg_key>city</arg_key>
<arg_value>서울</arg_value>
</tool_call>
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.tags import Markup, converted, read_arguments

CLOSE = "</tool_call>"
_NAME = re.compile(r"\s*+([^\s<>{}\[\]()=,\"'`]{1,200})\s*+")
_STRAY = re.compile(r"(?:</arg_value>|</arg_key>|<arg_value>)\s*+")
MARKUP = Markup(
    opening=re.compile(r"<arg_key>(?P<name>[^<\n]{1,200})</arg_key>\s*+<arg_value>"),
    close="</arg_value>",
    after=re.compile(r"\s*+(?:<arg_key>|</tool_call>|\Z)"),
    end=re.compile(r"</tool_call>"),
)


def read_keys(reading: Reading, start: int, native: bool) -> int:
    """Reads the call whose name stands at `start`; returns the position after its closing tag.

    Raises `Unreadable` for a call that cannot be read, `LookupError` for text that is no call.
    """
    scan = reading.scan
    named = scan.match(_NAME, start)
    if named is None:
        raise LookupError
    name, pos = named[1], named.end()
    while (stray := scan.match(_STRAY, pos)) is not None:
        reading.repair("stray_tag")
        pos = stray.end()
    arguments = read_arguments(reading, pos, MARKUP, reading.offered.properties(name))
    closed = scan.at(CLOSE, arguments.end)
    if not (native or arguments.pairs or name in reading.offered):  # a word in a tag is no call of it
        raise LookupError
    whole = scan.ended and arguments.end >= scan.end and name in reading.offered
    if not (closed or arguments.pairs or whole):
        if name in reading.offered or (native and arguments.end >= scan.end):
            raise Unreadable("truncated", f"the call of {name!r} does not end", arguments.end)
        raise LookupError
    if not closed:
        _check_unclosed(reading, name, arguments.end)
    values = converted(reading, name, arguments.pairs)
    reading.call(name, values, scan.slice(named.end(), arguments.end))
    return arguments.end + (len(CLOSE) if closed else 0)


def _check_unclosed(reading: Reading, name: str, pos: int) -> None:
    """A call without its closing tag is whole only where another call, or the end of the turn, follows."""
    scan = reading.scan
    if pos >= scan.end and not reading.scan.ended:
        raise Unreadable("truncated", f"the text ends inside the call of {name!r}", pos)
    if pos < scan.end and not scan.at("<tool_call>", pos):
        raise Unreadable("malformed_call", f"character {pos}: text stands inside the call of {name!r}", pos)
    reading.repair("missing_close")
