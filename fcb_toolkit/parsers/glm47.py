"""GLM-4.7 format: `<tool_call>NAME<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`.

As GLM-4.5's, without a line break after the name.
"""

import re

from fcb_toolkit.parsers.reading import Format
from fcb_toolkit.parsers.tool_call_tag import Tag, read_blocks

FORMAT = Format(
    name="glm47",
    read=lambda reading: read_blocks(reading, "keys", Tag()),
    models="GLM-4.7",
    signature=re.compile(r"<tool_call>[^<>{}\[\]\n\s]{1,200}(?:<arg_key>|</tool_call>|</arg_value>)"),
    openers=("<tool_call>",),
)
