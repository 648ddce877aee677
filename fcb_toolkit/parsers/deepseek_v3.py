"""DeepSeek-V3, R1 and its distilled models: the fenced layout of DeepSeek's call tokens; see `deepseek_tag`."""

import re

from fcb_toolkit.parsers.deepseek_tag import OPEN, OUTER, OUTER_END, read_deepseek
from fcb_toolkit.parsers.reading import Format

FORMAT = Format(
    name="deepseek_v3",
    read=lambda reading: read_deepseek(reading, "fenced"),
    models="DeepSeek-V3, R1 and its distilled models",
    signature=re.compile(r"<｜tool▁sep｜>[^\s`{}<>]{1,200}\s*+```"),
    openers=(OUTER, OPEN),
    closes=(OUTER_END,),
)
