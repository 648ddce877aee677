"""MiniMax-M1 format: JSON lines in `<tool_calls>`.

<tool_calls>
{"name": "get_weather", "arguments": {"city": "서울"}}
</tool_calls>
"""

import re

from fcb_toolkit.parsers.marked import Mark, read_marked
from fcb_toolkit.parsers.reading import Format

FORMAT = Format(
    name="minimax_m1",
    read=lambda reading: read_marked(reading, (Mark("<tool_calls>", "</tool_calls>", many=True),)),
    models="MiniMax-M1",
    signature=re.compile(r"<tool_calls>\s*+[{\[]"),
    openers=("<tool_calls>",),
)
