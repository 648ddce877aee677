"""functionary v3.1 format: `<function=NAME>{...}</function>`, and `<|python_tag|>` before bare code.

Written by functionary v3.1 and Kanana. Code after the tag is a call of the tool `python`, if that tool is
offered and has one string parameter; otherwise nothing says which argument the code is.
"""

import re

from fcb_toolkit.parsers.function_tag import OPENING, read_function
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading

PYTHON_TAG = "<|python_tag|>"


def read(reading: Reading) -> None:
    scan = reading.scan
    pos = 0
    python = scan.find(PYTHON_TAG, 0)
    stop = python if python >= 0 else scan.end
    while (found := scan.search(OPENING, pos)) is not None and found.start() < stop:
        reading.text(pos, found.start())
        try:
            pos = read_function(reading, found.start(), "json")
        except LookupError:
            reading.text(found.start(), found.end())
            pos = found.end()
        except Unreadable as unreadable:
            pos = _after_error(reading, found, unreadable)
        if pos > stop:  # the tag was a word in an argument
            python = scan.find(PYTHON_TAG, pos)
            stop = python if python >= 0 else scan.end
    reading.text(pos, stop)
    if python >= 0:
        _read_code(reading, python)


def _after_error(reading: Reading, found: re.Match[str], unreadable: Unreadable) -> int:
    scan = reading.scan
    close = scan.find("</function>", max(found.end(), min(unreadable.at, scan.end)))
    stop = scan.end if close < 0 else close + len("</function>")
    reading.error(unreadable.code, f"the call cannot be read: {unreadable}", found.start(), stop)
    return stop


def _read_code(reading: Reading, start: int) -> None:
    code = reading.scan.slice(start + len(PYTHON_TAG), reading.scan.end).strip()
    names = reading.offered.required("python") or tuple(reading.offered.properties("python"))
    if len(names) == 1:
        reading.call("python", {names[0]: code}, code)
    else:
        message = "code follows the tag, and no tool 'python' with one parameter is offered"
        reading.error("malformed_call", message, start, reading.scan.end)


FORMAT = Format(
    name="functionary_v31",
    read=read,
    models="functionary v3.1, Kanana",
    signature=re.compile(r"<function=[^>\n]{1,200}>\s*+\{"),
    openers=("<function=", PYTHON_TAG),
)
