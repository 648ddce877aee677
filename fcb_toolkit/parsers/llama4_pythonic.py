"""Llama 4's pythonic format: `[get_weather(city="서울")]`, at times in `<|python_start|>...<|python_end|>`."""

from __future__ import annotations

import re

from fcb_toolkit.parsers.marked_list import read_marked_list
from fcb_toolkit.parsers.pythonic import read_pythonic
from fcb_toolkit.parsers.reading import Format, Reading

START, END = "<|python_start|>", "<|python_end|>"


def read(reading: Reading) -> None:
    if reading.scan.find(START, 0) >= 0:
        read_marked_list(reading, START, END)
    else:
        read_pythonic(reading)


FORMAT = Format(
    name="llama4_pythonic",
    read=read,
    models="Llama 4 (pythonic template)",
    signature=re.compile(r"<\|python_start\|>\s*+\["),
    openers=(START,),
)
