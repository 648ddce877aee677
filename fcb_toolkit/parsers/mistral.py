"""Mistral format: `[TOOL_CALLS] [{"name": ..., "arguments": {...}, "id": ...}]`.

Written by Mistral 7B v0.3, Nemo, Mistral Small 2409 (tokenizers v3 to v7).
"""

import re

from fcb_toolkit.parsers.mistral_tag import MARK, read_mistral
from fcb_toolkit.parsers.reading import Format

FORMAT = Format(
    name="mistral",
    read=lambda reading: read_mistral(reading, "list"),
    models="Mistral 7B v0.3, Nemo, Mistral Small 2409 (tokenizers v3 to v7)",
    signature=re.compile(r"\[TOOL_CALLS\]\s*+[\[{]"),
    openers=(MARK,),
)
