"""HyperCLOVA X SEED Think format: turns of one reply, each with its own header.

    /think
    날씨를 찾아야 한다.<|im_end|>
    <|im_start|>assistant -> tool/function_call
    [{"name": "get_weather", "arguments": {"city": "서울"}}]<|im_end|><|stop|>

The prompt ends inside the first header: at `<|im_start|>assistant`, or after `/think` and a line break.
The model card shows one object with `input` for the arguments, which is read as well.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.tool_call_tag import Tag, read_json_block

CALL_HEADER = " -> tool/function_call\n"
_CALL = re.compile(r"\s*+->\s*+tool/function_call\s*+")
_THINK = re.compile(r"/think[ \t]*+(?:\n|\Z)")
_END = "<|im_end|>"
_NEXT = re.compile(r"<\|im_end\|>(?:<\|(?:stop|endofturn)\|>)?\s*+(?:<\|im_start\|>assistant)?")


def read(reading: Reading) -> None:
    """Reads turn after turn: reasoning, calls or content."""
    scan = reading.scan
    pos = 0
    thinking = (reading.prompt or "")[-80:].rstrip().endswith("assistant/think")
    while pos < scan.end:
        think = scan.match(_THINK, pos)
        call = scan.match(_CALL, pos)
        if call is not None:
            pos = _read_calls(reading, pos, call.end())
        elif think is not None or thinking:
            start = think.end() if think else pos
            stop = scan.find(_END, start)
            reading.reasoning.append(scan.slice(start, scan.end if stop < 0 else stop))
            if stop < 0:
                reading.open_reasoning = True
                return
            pos = stop
        else:
            stop, mark = scan.find_first((_END, CALL_HEADER), pos)
            stop = scan.end if stop < 0 else stop
            if mark == CALL_HEADER:  # the call follows without a turn of its own
                reading.repair("missing_open")
            reading.text(pos, stop)
            pos = stop
        thinking = False
        following = scan.match(_NEXT, pos)
        pos = following.end() if following else pos


def _read_calls(reading: Reading, opened: int, start: int) -> int:
    """The list after the header; the position of the end of its turn."""
    scan = reading.scan
    if scan.text[start : start + 1] not in ("[", "{") or start >= scan.end:
        stop = scan.find(_END, start)
        stop = scan.end if stop < 0 else stop
        reading.error("malformed_call", "no call follows the header tool/function_call", opened, stop)
        return stop
    return read_json_block(reading, start, Tag("tool/function_call", "", "arguments", as_list=True))


FORMAT = Format(
    name="hyperclovax",
    read=read,
    models="HyperCLOVA X SEED Think 14B",
    signature=re.compile(r"->\s*+tool/function_call"),
    openers=(CALL_HEADER.strip(),),
    splits_reasoning=False,
    reads_headers=True,
)
