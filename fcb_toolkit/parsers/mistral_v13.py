"""Mistral format: `[TOOL_CALLS]NAME[ARGS]{...}`.

Written by Ministral 3, Devstral 2, Mistral Large 3 (tokenizer v13).
"""

import re

from fcb_toolkit.parsers.mistral_tag import MARK, read_mistral
from fcb_toolkit.parsers.reading import Format

FORMAT = Format(
    name="mistral_v13",
    read=lambda reading: read_mistral(reading, "marked"),
    models="Ministral 3, Devstral 2, Mistral Large 3 (tokenizer v13)",
    signature=re.compile(r"\[TOOL_CALLS\][^\[\]{}\s]{1,200}\[ARGS\]"),
    openers=(MARK,),
)
