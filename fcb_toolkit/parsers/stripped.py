"""Calls whose special tokens were lost, as when a reply is decoded without them: a name and JSON are left.

    functions.get_weather:0{"city": "서울"}          Kimi K2
    functionget_weather\\n```json\\n{...}\\n```        DeepSeek
    get_weather{"city": "서울"}now{}                 Mistral, DeepSeek-V3.1
    commentary to=functions.get_weather json{...}    gpt-oss

Read only where the reply is nothing but such calls of offered tools.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.python_calls import NAME
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.values import read_value

_HEAD = re.compile(
    rf"(?:(?:assistant)?(?:commentary|analysis) to=)?({NAME})(?::[0-9]{{1,4}})?"
    r"(?:\s++json(?=\{))?\s*+(?:```(?:json)?\s*+)?(?=\{)"
)
_FENCE = re.compile(r"\s*+```")
_PREFIXES = ("functions.", "function")


def read_stripped(reading: Reading) -> None:
    """Adds the calls; none where anything else stands in the reply."""
    scan = reading.scan
    found = []
    pos = scan.skip(0)
    while pos < scan.end:
        head = scan.match(_HEAD, pos)
        name = _offered(reading, head[1]) if head else None
        if head is None or name is None:
            return
        try:
            value = read_value(scan, head.end())
        except Unreadable:
            return
        found.append((name, value, head.end()))
        fence = scan.match(_FENCE, value.end) if "```" in head[0] else None
        pos = scan.skip(fence.end() if fence else value.end)
    for name, value, start in found:
        reading.repair(*value.repairs)
        reading.call(name, value.value, scan.slice(start, value.end))
    if found:
        reading.repair("unmarked")


def _offered(reading: Reading, name: str) -> str | None:
    """The name as it is, or without what its format puts before it."""
    names = (name, *(name.removeprefix(prefix) for prefix in _PREFIXES))
    return next((one for one in names if one in reading.offered), None)
