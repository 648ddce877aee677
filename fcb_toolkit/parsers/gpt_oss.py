"""gpt-oss format (harmony): messages with channels; a recipient makes a message a call.

    <|channel|>analysis<|message|>Look it up.<|end|><|start|>assistant<|channel|>commentary
     to=functions.get_weather <|constrain|>json<|message|>{"city": "서울"}<|call|>

analysis is reasoning, final is content, commentary without a recipient is content. The recipient may stand
in the role or in the channel part, on any channel.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Format, Reading
from fcb_toolkit.parsers.values import read_value

MESSAGE = "<|message|>"
ENDS = ("<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>")
_RECIPIENT = re.compile(r"\bto=([^\s<]{1,200})")
_CHANNEL = re.compile(r"(?:<\|channel\|>\s*+|\A\s*+)(analysis|commentary|final)\b")
_LONGEST_HEADER = 600
_PEOPLE = ("user", "assistant", "all", "system", "developer")


def read(reading: Reading) -> None:
    """Reads message after message; text outside of messages is content."""
    scan = reading.scan
    pos = 0
    while (message := scan.find(MESSAGE, pos)) >= 0:
        begin = _header_start(reading, pos, message)
        _loose_text(reading, pos, begin)
        pos = _read_message(reading, begin, message)
    _loose_text(reading, pos, scan.end)
    if reading.reasoning and not (reading.calls or reading.errors or reading.content()):
        reading.open_reasoning = True


def _header_start(reading: Reading, pos: int, message: int) -> int:
    """Where the header before `message` begins; the first header may lack its start token."""
    scan = reading.scan
    window = max(pos, message - _LONGEST_HEADER)
    start = scan.text.rfind("<|start|>", window, message)
    if start >= 0:
        return start
    channel = scan.text.rfind("<|channel|>", window, message)
    head = scan.text[window : channel if channel >= 0 else message]
    if window == pos and (
        not head.strip() or head.lstrip().startswith(("to=", "assistant", "analysis", "commentary", "final"))
    ):
        return pos
    return channel if channel >= 0 else message


def _loose_text(reading: Reading, start: int, stop: int) -> None:
    """Text outside of messages, without the tokens that end them; a header that leads nowhere is an error."""
    scan = reading.scan
    pos = scan.skip(start)
    while pos < stop:
        token = next((end for end in ENDS if scan.at(end, pos)), None)
        if token is None or token in ("<|start|>", "<|channel|>"):
            break
        pos = scan.skip(pos + len(token))
    if pos >= stop:
        return
    head = scan.slice(pos, min(stop, pos + _LONGEST_HEADER))
    if head.startswith(("<|start|>", "<|channel|>")) and _RECIPIENT.search(head):
        reading.error("truncated", "the text ends inside the header of a call", pos, stop)
    elif not re.fullmatch(r"<\|start\|>assistant", head.strip()):
        reading.text(pos, stop)


def _read_message(reading: Reading, begin: int, message: int) -> int:
    scan = reading.scan
    header = scan.slice(begin, message)
    start = message + len(MESSAGE)
    recipient = _RECIPIENT.search(header)
    if recipient is not None and recipient[1] not in _PEOPLE:
        return _read_call(reading, begin, start, recipient[1].removeprefix("functions."))
    channel = _CHANNEL.search(header)
    stop, end = scan.find_first(ENDS, start)
    stop = scan.end if stop < 0 else stop
    if channel is not None and channel[1] == "analysis":
        reading.reasoning.append(scan.slice(start, stop))
    else:
        reading.text(start, stop)
    return stop + (len(end) if end in ENDS[:3] else 0)


def _read_call(reading: Reading, begin: int, start: int, name: str) -> int:
    scan = reading.scan
    pos = scan.skip(start)
    try:
        if pos >= scan.end and not scan.ended:
            raise Unreadable("truncated", f"no arguments follow the header of {name!r}", pos)
        if pos >= scan.end or any(scan.at(end, pos) for end in ENDS):
            reading.repair("missing_arguments")
            reading.call(name, {}, "")
            return _after(reading, pos)
        value = read_value(scan, pos, closers=ENDS)
        arguments = object_of(reading, value.value, name)
        if isinstance(arguments, str):
            raise Unreadable("malformed_call", arguments, value.end)
    except Unreadable as unreadable:
        stop, end = scan.find_first(ENDS, max(start, min(unreadable.at, scan.end)))
        stop = scan.end if stop < 0 else stop + (len(end) if end in ENDS[:3] else 0)
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", begin, stop)
        return stop
    reading.repair(*value.repairs)
    reading.call(name, arguments, scan.slice(pos, value.end))
    return _after(reading, value.end)


def _after(reading: Reading, pos: int) -> int:
    """Past the end token; stray brackets before it are a repair."""
    scan = reading.scan
    pos = scan.skip(pos)
    while pos < scan.end and scan.text[pos] == "}":
        reading.repair("superfluous_bracket")
        pos = scan.skip(pos + 1)
    end = next((end for end in ENDS[:3] if scan.at(end, pos)), "")
    return pos + len(end)


FORMAT = Format(
    name="gpt_oss",
    read=read,
    models="gpt-oss",
    signature=re.compile(r"<\|channel\|>\s*+(?:analysis|commentary|final)|\bto=functions\.[^\s<]{1,200}<\|"),
    splits_reasoning=False,
    reads_headers=True,
)
