"""DeepSeek-V3.1: the plain layout of DeepSeek's call tokens; see `deepseek_tag`."""

import re

from fcb_toolkit.parsers.deepseek_tag import OPEN, OUTER, OUTER_END, read_deepseek
from fcb_toolkit.parsers.reading import Format

FORMAT = Format(
    name="deepseek_v31",
    read=lambda reading: read_deepseek(reading, "plain"),
    models="DeepSeek-V3.1",
    signature=re.compile(r"<｜tool▁sep｜>\s*+\{"),
    openers=(OUTER, OPEN),
    closes=(OUTER_END,),
)
