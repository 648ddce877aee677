"""functionary v3.2 format: `>>>NAME`, a line break and JSON; `>>>all` before text.

The prompt ends with the first `>>>`, so a reply begins with a name.
"""

import re

from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.recipient import read_recipients

MARK = ">>>"
_BEGINS = re.compile(r"\s*+(?:all[ \t]*+\r?\n|[^\s(){}\[\]\"'`<>]{1,200}[ \t]*+\r?\n\s*+\{)")


def read(reading: Reading) -> None:
    scan = reading.scan
    opened = (reading.prompt or "").endswith(MARK) or scan.match(_BEGINS, 0) is not None
    read_recipients(reading, MARK, opened)


FORMAT = Format(
    name="functionary_v32",
    read=read,
    models="functionary v3.2",
    signature=re.compile(r"(?:\A|\n|>)>>>[^\s(){}\[\]\"'`>]{1,200}[ \t]*+\r?\n\s*+\{"),
    openers=(MARK,),
)
