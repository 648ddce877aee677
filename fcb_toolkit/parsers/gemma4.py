"""Gemma 4 format: `<|tool_call>call:get_weather{city:<|"|>서울<|"|>,days:3}<tool_call|>`; see `braces`."""

import re

from fcb_toolkit.parsers.braces import Marks, read_braces
from fcb_toolkit.parsers.reading import Format

MARKS = Marks("<|tool_call>", "<tool_call|>", '<|"|>')

FORMAT = Format(
    name="gemma4",
    read=lambda reading: read_braces(reading, MARKS),
    models="Gemma 4",
    signature=re.compile(r"<\|tool_call>\s*+call:"),
    openers=(MARKS.open,),
)
