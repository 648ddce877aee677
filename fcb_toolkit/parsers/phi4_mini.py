"""Phi-4-mini format: `<|tool_call|>[{"name": ..., "arguments": {...}}]<|/tool_call|>`, or `functools[...]`.

The model card has the first form, the model often writes the second; firefunction-v2 writes it too.
"""

import re

from fcb_toolkit.parsers.marked import Mark, read_marked
from fcb_toolkit.parsers.reading import Format

MARKS = (Mark("<|tool_call|>", "<|/tool_call|>", as_list=True), Mark("functools", as_list=True))

FORMAT = Format(
    name="phi4_mini",
    read=lambda reading: read_marked(reading, MARKS),
    models="Phi-4-mini, Granite 3, firefunction-v2",
    signature=re.compile(r"<\|tool_call\|>|functools\[\s*+\{"),
    openers=("<|tool_call|>", "functools["),
)
