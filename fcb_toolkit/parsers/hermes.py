"""Hermes format: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, one block a call.

Written by Qwen2.5, Qwen3, QwQ, Hermes, EXAONE 4, A.X, K-EXAONE, SmolLM3.
"""

import re

from fcb_toolkit.parsers.reading import Format
from fcb_toolkit.parsers.tool_call_tag import Tag, read_blocks

FORMAT = Format(
    name="hermes",
    read=lambda reading: read_blocks(reading, "json", Tag()),
    models="Qwen2.5, Qwen3, QwQ, Hermes 2 Pro and 3, EXAONE 4, A.X, K-EXAONE, SmolLM3",
    signature=re.compile(r"<tool_call>\s*+[{\[]"),
    openers=("<tool_call>",),
)
