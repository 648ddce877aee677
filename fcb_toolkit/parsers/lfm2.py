"""LFM2 format: `<|tool_call_start|>[get_weather(city="서울")]<|tool_call_end|>`."""

import re

from fcb_toolkit.parsers.marked_list import read_marked_list
from fcb_toolkit.parsers.pythonic import read_pythonic
from fcb_toolkit.parsers.reading import Format, Reading

START, END = "<|tool_call_start|>", "<|tool_call_end|>"


def read(reading: Reading) -> None:
    if reading.scan.find(START, 0) >= 0:
        read_marked_list(reading, START, END)
        return
    read_pythonic(reading)
    if reading.calls:
        reading.repair("unmarked")


FORMAT = Format(
    name="lfm2",
    read=read,
    models="LFM2",
    signature=re.compile(r"<\|tool_call_start\|>"),
    openers=(START,),
)
