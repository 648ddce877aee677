"""functionary v2.5 format: `<|reserved_special_token_249|>NAME`, a line break and JSON."""

import re

from fcb_toolkit.parsers.reading import Format
from fcb_toolkit.parsers.recipient import read_recipients

MARK = "<|reserved_special_token_249|>"

FORMAT = Format(
    name="functionary_v25",
    read=lambda reading: read_recipients(reading, MARK, opened=False),
    models="functionary v2.5",
    signature=re.compile(re.escape(MARK)),
    openers=(MARK,),
)
