"""`<tool_call>` blocks: JSON inside (Hermes and its kin), and the other dialects under the same tag.

    <tool_call>
    {"name": "get_weather", "arguments": {"city": "서울"}}
    </tool_call>

Qwen3-Coder writes `<function=...>` inside the same tag, GLM a name with `<arg_key>` pairs. `read_blocks`
reads all three; the form that is not the format's own is the repair `foreign_form`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from fcb_toolkit.parsers.calls import Span, add_calls, looks_like_call
from fcb_toolkit.parsers.function_tag import OPENING, read_function
from fcb_toolkit.parsers.keys_tag import read_keys
from fcb_toolkit.parsers.python_calls import CALL, NAME, add_written, read_call
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.values import Value, decode_escaped, read_value

Dialect = Literal["json", "function", "keys"]
_FENCE = re.compile(r"\s*+```(?:json)?\s*+(?=[{\[])")
_JSON_START = re.compile(r"(?:<?+[|\w]{0,20}>?+\s*+)?\{")
"""JSON, and what is left of a tag before it."""
_NAMED_JSON = re.compile(rf"({NAME})\s*+(?=\{{)")
_LONGEST_NON_CALL = 2000
"""Two mentions of the tags further apart than this are words of the answer, not a call gone wrong."""


@dataclass(frozen=True, slots=True)
class Tag:
    """The marks around a block of JSON calls and the key of the arguments."""

    open: str = "<tool_call>"
    close: str = "</tool_call>"
    key: str = "arguments"
    many: bool = False
    """True: several objects in one tag are the format's own form."""
    as_list: bool = False
    """True: the calls stand in one JSON list."""
    name: str = "name"
    """The key of the tool's name."""


def read_json_block(reading: Reading, start: int, tag: Tag) -> int:
    """Reads the objects from `start`, just after the opening tag; returns the position after the block.

    An object that cannot be read makes the whole block content, with an error.
    """
    scan = reading.scan
    opened = start - len(tag.open)
    fence = scan.match(_FENCE, start)
    pos = fence.end() if fence else scan.skip(start)
    before = len(reading.calls)
    while pos < scan.end and scan.text[pos] in "{[":
        try:
            value = read_value(scan, pos, closers=(tag.close,) if tag.close else ())
        except Unreadable as unreadable:
            if (stop := _escaped(reading, pos, tag)) >= 0:
                return _close(reading, stop, tag)
            stop = _block_end(reading, max(start, min(unreadable.at, scan.end)), tag)
            begin = opened if len(reading.calls) == before else pos
            if begin == opened and opened and scan.text[opened - 1] == "`" and scan.at("`", stop):
                reading.text(opened, stop)  # the form is explained, with dots in place of a call
                return stop
            reading.error(unreadable.code, f"the call cannot be read: {unreadable}", begin, stop)
            return stop
        reading.repair(*value.repairs)
        if tag.as_list and isinstance(value.value, dict):
            reading.repair("single_object")
        elif isinstance(value.value, list) and not tag.as_list:
            reading.repair("foreign_form")
        problem = add_calls(reading, value.value, Span(pos, value.end, tag.key, tag.name))
        if problem is not None:
            stop = _block_end(reading, value.end, tag, keep_text=True)
            reading.error("malformed_call", problem, opened if len(reading.calls) == before else pos, stop)
            return stop
        pos = _after_object(reading, value.end, tag)
        if isinstance(value.value, list):  # what follows a list is text: "[1] ..." is no second one
            break
    if len(reading.calls) - before > 1 and not tag.many and not tag.as_list:
        reading.repair("several_objects")
    if fence:
        reading.repair("code_fence")
        pos = scan.skip(pos + 3) if scan.at("```", pos) else pos
    return _close(reading, pos, tag)


def _escaped(reading: Reading, pos: int, tag: Tag) -> int:
    """Reads JSON that is escaped as if it stood in a string (`{\\"name\\": ...}`); its end, or -1."""
    scan = reading.scan
    if not scan.at("\\", scan.skip(pos + 1)):
        return -1
    stop = scan.find(tag.close, pos) if tag.close else scan.end
    stop = scan.end if stop < 0 else stop
    value = decode_escaped(scan.slice(pos, stop))
    if value is None or add_calls(reading, value, Span(pos, stop, tag.key, tag.name)) is not None:
        return -1
    reading.repair("double_encoded")
    return stop


def _after_object(reading: Reading, pos: int, tag: Tag) -> int:
    """Past brackets too many, and commas or semicolons between objects."""
    scan = reading.scan
    pos = scan.skip(pos)
    while pos < scan.end and scan.text[pos] in "}]":
        reading.repair("superfluous_bracket")
        pos = scan.skip(pos + 1)
    if (
        pos < scan.end
        and scan.text[pos] in ",;"
        and scan.text[(next_ := scan.skip(pos + 1)) : next_ + 1] == "{"
    ):
        return next_
    return pos


def _close(reading: Reading, pos: int, tag: Tag) -> int:
    scan = reading.scan
    if scan.at(tag.close, pos):  # an empty closing tag is always there
        pos += len(tag.close)
        while tag.close and scan.at(tag.close, again := scan.skip(pos)):
            reading.repair("stray_tag")
            pos = again + len(tag.close)
        return pos
    if scan.end - pos < len(tag.close) and tag.close.startswith(scan.text[pos:]):  # cut off inside it
        reading.repair("missing_close")
        return scan.end
    if pos >= scan.end or scan.at(tag.open, pos):
        reading.repair("missing_close")
        misspelled = scan.at(tag.open, pos) and scan.skip(pos + len(tag.open)) >= scan.end
        return scan.end if misspelled else pos  # an opening tag that ends the reply was meant to close
    stop = scan.find(tag.close, pos)
    again = scan.find(tag.open, pos)
    reading.repair("stray_text" if stop >= 0 and (again < 0 or stop < again) else "missing_close")
    if stop >= 0 and (again < 0 or stop < again):
        reading.text(pos, stop)
        return stop + len(tag.close)
    return pos


def _block_end(reading: Reading, pos: int, tag: Tag, keep_text: bool = False) -> int:
    """The end of a block that cannot be read: after its closing tag, before the next block, or the end."""
    scan = reading.scan
    stop = scan.find(tag.close, pos) if tag.close else -1
    again = scan.find(tag.open, pos)
    if stop >= 0 and (again < 0 or stop < again):
        return stop + len(tag.close)
    if keep_text and again < 0:
        return pos
    return again if again >= 0 else scan.end


def read_blocks(
    reading: Reading, native: Dialect, tag: Tag, unopened: Callable[[Reading, int, int], None] | None = None
) -> None:
    """Reads every block of the reply in whichever dialect it is written; the rest is content.

    `unopened` reads the text outside the blocks, where a format knows calls that lost their opening tag.
    """
    scan = reading.scan
    outside = unopened or (partial(_without_opening, tag) if native == "json" else Reading.text)
    pos = 0
    while (opened := scan.find(tag.open, pos)) >= 0:
        outside(reading, pos, opened)
        pos = _read_block(reading, opened + len(tag.open), native, tag)
    outside(reading, pos, scan.end)


def _without_opening(tag: Tag, reading: Reading, start: int, stop: int) -> None:
    """Text outside the blocks. JSON calls of offered tools right before a closing tag lost their opening tag."""
    scan = reading.scan
    pos = start
    while (reading.calls or stop < scan.end) and 0 <= (close := scan.find(tag.close, pos)) < stop:
        opened = _JSON_START.search(scan.text, pos, close)
        if opened is None or (value := _whole_call(reading, opened.end() - 1, close)) is None:
            break
        reading.text(pos, opened.start())
        reading.repair("missing_open", *value.repairs)
        add_calls(reading, value.value, Span(opened.end() - 1, value.end, tag.key, tag.name))
        pos = close + len(tag.close)
    reading.text(pos, stop)


def _whole_call(reading: Reading, pos: int, close: int) -> Value | None:
    """The JSON call of an offered tool from `pos` to `close`."""
    try:
        value = read_value(reading.scan, pos)
    except Unreadable:
        return None
    whole = reading.scan.skip(value.end) == close
    return value if whole and looks_like_call(value.value, reading.offered, strictly=True) else None


def _read_block(reading: Reading, start: int, native: Dialect, tag: Tag) -> int:
    """Reads the block whose opening tag ends at `start`; text that only mentions the tag stays text."""
    scan = reading.scan
    opened = start - len(tag.open)
    first = scan.skip(start)
    char = scan.text[first : first + 1]
    if char in ("{", "[") or scan.match(_FENCE, start) is not None:
        if native != "json":
            reading.repair("foreign_form")
        return read_json_block(reading, start, tag)
    try:
        if char == "<" and scan.match(OPENING, first) is not None:
            stop = _functions(reading, first, native, tag)
        elif scan.match(CALL, first) is not None:
            stop = _python_call(reading, first, tag)
        elif (named := scan.match(_NAMED_JSON, first)) is not None and named[1] in reading.offered:
            stop = _named_json(reading, named, tag)
        elif char and char not in "<`":
            stop = read_keys(reading, first, native == "keys")
            if native != "keys":
                reading.repair("foreign_form")
        else:
            raise LookupError
    except Unreadable as unreadable:
        stop = _block_end(reading, max(start, min(unreadable.at, scan.end)), tag)
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, stop)
    except LookupError:
        return _no_call(reading, opened, start, tag)
    return stop


def _python_call(reading: Reading, pos: int, tag: Tag) -> int:
    """`f(a=1)` in the tag, which no format has."""
    found = read_call(reading.scan, pos)
    problem = add_written(reading, found)
    if problem is not None:
        raise Unreadable("malformed_call", problem, found.end)
    reading.repair("foreign_form")
    return _close(reading, reading.scan.skip(found.end), tag)


def _named_json(reading: Reading, named: re.Match[str], tag: Tag) -> int:
    """`NAME {...}` in the tag, as other formats write it between theirs."""
    scan = reading.scan
    value = read_value(scan, named.end(), closers=(tag.close,) if tag.close else ())
    reading.repair("foreign_form", *value.repairs)
    reading.call(named[1], value.value, scan.slice(named.end(), value.end))
    return _close(reading, _after_object(reading, value.end, tag), tag)


def _functions(reading: Reading, pos: int, native: Dialect, tag: Tag) -> int:
    """One `<function=` block, or several, and the closing tag."""
    scan = reading.scan
    before = len(reading.calls)
    while scan.match(OPENING, pos) is not None:
        pos = scan.skip(read_function(reading, pos, "tags"))
    if native != "function":
        reading.repair("foreign_form")
    if len(reading.calls) - before > 1:
        reading.repair("several_objects")
    return _close(reading, pos, tag)


def _no_call(reading: Reading, opened: int, start: int, tag: Tag) -> int:
    """A tag with something else inside is an error; a tag that nothing closes, or in backquotes, is a word."""
    scan = reading.scan
    stop = scan.find(tag.close, start)
    quoted = scan.text[opened - 1 : opened] == "`" if opened else False
    if scan.at(tag.open, scan.skip(start)):
        reading.repair("stray_tag")
        return start
    if stop < 0 or quoted or stop - start > _LONGEST_NON_CALL:
        reading.text(opened, start)
        return start
    stop += len(tag.close)
    reading.error("malformed_call", "the tag holds no call", opened, stop)
    return stop
