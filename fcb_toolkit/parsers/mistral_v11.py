"""Mistral format: `[TOOL_CALLS]NAME{...}`.

Written by Mistral Small 3.1 and 3.2, Magistral, Devstral (tokenizer v11).
"""

import re

from fcb_toolkit.parsers.mistral_tag import MARK, read_mistral
from fcb_toolkit.parsers.reading import Format

FORMAT = Format(
    name="mistral_v11",
    read=lambda reading: read_mistral(reading, "bare"),
    models="Mistral Small 3.1 and 3.2, Magistral, Devstral (tokenizer v11)",
    signature=re.compile(r"\[TOOL_CALLS\][^\[\]{}\s]{1,200}(?:\[CALL_ID\]|\{)"),
    openers=(MARK,),
)
