"""xLAM format: the reply is one JSON list of calls, `[{"name": ..., "arguments": {...}}]`.

Written by xLAM-2 and Hammer 2.1, the latter in a code fence.
"""

from fcb_toolkit.parsers.bare import Bare, read_bare
from fcb_toolkit.parsers.reading import Format, Reading


def read(reading: Reading) -> None:
    read_bare(reading, 0, Bare(as_list=True))


FORMAT = Format("xlam", read, "xLAM-2, Hammer 2.1", bare=True)
