"""MiniMax-M2 format: `<minimax:tool_call><invoke name="..."><parameter name="...">`; see `invoke_tag`.

Types come from the tool's schema.
"""

import re

from fcb_toolkit.parsers.invoke_tag import invoke_tags, read_invokes
from fcb_toolkit.parsers.reading import Format

TAGS = invoke_tags("", (("<minimax:tool_call>", "</minimax:tool_call>"),))

FORMAT = Format(
    name="minimax_m2",
    read=lambda reading: read_invokes(reading, TAGS, flags=False),
    models="MiniMax-M2",
    signature=re.compile(r"<minimax:tool_call>|<invoke name="),
    openers=("<minimax:tool_call>",),
)
