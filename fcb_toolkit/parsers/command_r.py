"""Command R format: a JSON list of `tool_name` and `parameters` after `<|START_ACTION|>` or `Action:`.

    <|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {...}}]<|END_ACTION|>
    Action: ```json
    [{"tool_name": "get_weather", "parameters": {...}}]
    ```

The second form is Command R's of 2024, whose pseudo tool `directly-answer` stands for no call.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.tool_call_tag import Tag, read_json_block

ACTION, ACTION_END = "<|START_ACTION|>", "<|END_ACTION|>"
_TOKENS = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", ACTION_END)
_ACTION = re.compile(r"<\|START_ACTION\|>|(?:^|\n)Action:\s*+```(?:json)?\s*+(?=[\[{])")
_NO_CALL = ("directly-answer", "directly_answer")


def read(reading: Reading) -> None:
    scan = reading.scan
    pos = 0
    while (found := scan.search(_ACTION, pos)) is not None:
        _text(reading, pos, found.start())
        close = ACTION_END if found[0] == ACTION else "```"
        first = scan.skip(found.end())
        if scan.text[first : first + 1] not in ("[", "{") or first >= scan.end:
            stop = scan.find(close, first)
            pos = scan.end if stop < 0 else stop + len(close)
            reading.error("malformed_call", f"no call follows {found[0].strip()}", found.start(), pos)
            continue
        tag = Tag(found[0], close, "parameters", as_list=True, name="tool_name")
        pos = read_json_block(reading, found.end(), tag)
    _text(reading, pos, scan.end)
    reading.calls[:] = [c for c in reading.calls if c.name not in _NO_CALL or c.name in reading.offered]


def _text(reading: Reading, start: int, stop: int) -> None:
    """Content without the tokens around a response."""
    scan = reading.scan
    pos = start
    while pos < stop:
        at, token = scan.find_first(_TOKENS, pos)
        at = stop if at < 0 or at > stop else at
        reading.text(pos, at)
        pos = at + (len(token) if at < stop else 0)


FORMAT = Format(
    name="command_r",
    read=read,
    models="Command R, R+, R7B, A",
    signature=re.compile(r"<\|START_ACTION\|>|(?:^|\n)Action:\s*+```(?:json)?\s*+\["),
    openers=(ACTION, "\nAction:"),
    closes=(ACTION_END,),
)
