"""GLM-4.5 format: a name and `<arg_key>`/`<arg_value>` pairs in `<tool_call>`, on lines of their own.

Written by GLM-4.5 and 4.6 and by HyperCLOVA X SEED Omni. Values are never escaped; types come from the
tool's schema. GLM-4.7 writes the same without line breaks, and each format reads both.
"""

import re

from fcb_toolkit.parsers.reading import Format
from fcb_toolkit.parsers.tool_call_tag import Tag, read_blocks

FORMAT = Format(
    name="glm45",
    read=lambda reading: read_blocks(reading, "keys", Tag()),
    models="GLM-4.5, GLM-4.6, HyperCLOVA X SEED Omni",
    signature=re.compile(r"<tool_call>[^<>{}\[\]\n]{1,200}\n\s*+(?:<arg_key>|</tool_call>)"),
    openers=("<tool_call>",),
)
