"""FunctionGemma format: `<start_function_call>call:NAME{city:<escape>서울<escape>,days:3}<end_function_call>`.

See `braces`. The model's template marks booleans and nested values as strings too, so a string for a
parameter of another type is converted by the tool's schema.
"""

import re

from fcb_toolkit.parsers.braces import Marks, read_braces
from fcb_toolkit.parsers.reading import Format

MARKS = Marks("<start_function_call>", "<end_function_call>", "<escape>", typed=True)

FORMAT = Format(
    name="functiongemma",
    read=lambda reading: read_braces(reading, MARKS),
    models="FunctionGemma",
    signature=re.compile(r"<start_function_call>"),
    openers=(MARKS.open,),
)
