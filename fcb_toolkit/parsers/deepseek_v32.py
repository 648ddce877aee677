"""DeepSeek-V3.2 format (DSML): `<｜DSML｜invoke name="...">` with `string="true|false"` on each parameter.

The flag, not the schema, says whether a value is text or JSON. The outer tag is `function_calls`, in
later releases `tool_calls`.
"""

import re

from fcb_toolkit.parsers.invoke_tag import invoke_tags, read_invokes
from fcb_toolkit.parsers.reading import Format

TAGS = invoke_tags(
    "｜DSML｜",
    (
        ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
        ("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
    ),
)

FORMAT = Format(
    name="deepseek_v32",
    read=lambda reading: read_invokes(reading, TAGS, flags=True),
    models="DeepSeek-V3.2",
    signature=re.compile(r"<｜DSML｜(?:function_calls>|tool_calls>|invoke )"),
    openers=TAGS.openers,
)
