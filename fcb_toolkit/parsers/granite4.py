"""Granite 4 format: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`.

As Hermes', on one line. Granite 3 writes `<|tool_call|>` and a list, which is read as well.
"""

import re

from fcb_toolkit.parsers.marked import Mark, read_marked
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.tool_call_tag import Tag, read_blocks

_GRANITE_3 = re.compile(r"<\|tool_call\|>\s*+[\[{]")


def read(reading: Reading) -> None:
    if reading.scan.find("<tool_call>", 0) < 0 and reading.scan.search(_GRANITE_3, 0):
        reading.repair("foreign_form")
        read_marked(reading, (Mark("<|tool_call|>", "<|/tool_call|>", as_list=True),))
        return
    read_blocks(reading, "json", Tag())


FORMAT = Format(
    name="granite4",
    read=read,
    models="Granite 4; Granite 3 in lenient mode",
    signature=re.compile(r"<tool_call>\{"),
    openers=("<tool_call>", "<|tool_call|>"),
)
