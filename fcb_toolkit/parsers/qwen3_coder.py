"""Qwen3-Coder format: `<tool_call><function=NAME><parameter=K>V</parameter></function></tool_call>`.

Written by Qwen3-Coder and Qwen3.5. Values stand on lines of their own and are never escaped: exactly one
line break on each side is markup. Types come from the tool's schema.
"""

import re

from fcb_toolkit.parsers.function_tag import read_function
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.tool_call_tag import Tag, read_blocks

_CALL = re.compile(r"<function(?:=| name=)[^>\n]{1,200}>\s*+(?:<parameter[= ]|</function>)")


def read(reading: Reading) -> None:
    read_blocks(reading, "function", Tag(), unopened=read_unopened)


def read_unopened(reading: Reading, start: int, stop: int) -> None:
    """Text outside the tags: a `<function=` block there has lost its opening tag."""
    scan = reading.scan
    pos = start
    while (found := scan.search(_CALL, pos, stop)) is not None:
        reading.text(pos, found.start())
        pos = found.start()
        try:
            pos = read_function(reading, found.start(), "tags")
            reading.repair("missing_open")
        except LookupError:
            reading.text(pos, found.end())
            pos = found.end()
        except Unreadable as unreadable:
            reading.error(unreadable.code, f"the call cannot be read: {unreadable}", found.start(), stop)
            return
        after = scan.skip(pos)
        if scan.at("</tool_call>", after):
            pos = after + len("</tool_call>")
    if pos < stop:
        reading.text(pos, stop)


FORMAT = Format(
    name="qwen3_coder",
    read=read,
    models="Qwen3-Coder, Qwen3.5",
    signature=re.compile(r"(?:<tool_call>\s*+)?" + _CALL.pattern),
    openers=("<tool_call>", "<function="),
)
