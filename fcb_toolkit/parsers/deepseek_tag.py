"""DeepSeek's call tokens, in the fenced layout of V3 and R1 and the plain one of V3.1.

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
    ```json
    {"city": "서울"}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>                                        fenced

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "서울"}<｜tool▁call▁end｜>   plain

Which layout a call has is read off what follows the separator, never off a fence somewhere in the text.
"""

from __future__ import annotations

import re

from fcb_toolkit.parsers.calls import object_of
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.values import read_value

OUTER, OUTER_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
OPEN, SEPARATOR, CLOSE = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
_FENCED = re.compile(r"\s*+(?P<name>[^\s`{}<>\"']{1,200})\s*+(?P<fence>```(?:json)?)?\s*+(?=[{\"'])")
_RESPELLED = re.compile(r"<[｜|]tool(?:▁|_|\\_| )(calls|call|sep)(?:(?:▁|_|\\_| )(begin|end))?[｜|]>")
_LAST_WORD = re.compile(r"([^\s<>{}]{1,200})\s*+\Z")
_FENCE_END = re.compile(r"\s*+```")


def read_deepseek(reading: Reading, native: str) -> None:
    """Reads every call; the outer marks belong to the calls that follow them, or to the error."""
    _respell(reading)
    scan = reading.scan
    pos = 0
    while True:
        at, mark = scan.find_first((OUTER, OPEN, OUTER_END), pos)
        if at < 0:
            break
        reading.text(pos, at)
        pos = at + len(mark)
        if mark == OUTER:
            first = scan.skip(pos)
            if not scan.at(OPEN, first):
                reading.error("malformed_call", f"no call follows {OUTER}", at, pos)
                continue
            pos = _read_call(reading, at, first + len(OPEN), native)
        elif mark == OPEN:
            pos = _read_call(reading, at, pos, native)
    if not (reading.calls or reading.errors) and _read_unopened(reading, native):
        return
    reading.text(pos, scan.end)


def _read_unopened(reading: Reading, native: str) -> bool:
    """A call of an offered tool whose opening token is missing: name, separator, arguments, closing token."""
    scan = reading.scan
    separator = scan.find(SEPARATOR, 0)
    if separator < 0 or scan.find(CLOSE, separator) < 0:
        return False
    head = _LAST_WORD.search(scan.text, max(0, separator - 200), separator)
    if head is None or not (head[1] in reading.offered or head[1] == "function"):
        return False
    reading.text(0, head.start(1))
    reading.repair("missing_open")
    stop = _read_call(reading, head.start(1), head.start(1), native)
    reading.text(stop, scan.end)
    return True


def _respell(reading: Reading) -> None:
    """Models whose tokenizer lacks these tokens write them in ordinary characters, in several spellings."""
    scan = reading.scan
    if scan.find(OPEN, 0) >= 0 or scan.search(_RESPELLED, 0) is None:
        return
    scan.charge(scan.end)
    ended = scan.ended
    text = _RESPELLED.sub(lambda m: f"<｜tool▁{m[1]}{'▁' + m[2] if m[2] else ''}｜>", scan.text)
    if text == scan.text:
        return
    reading.scan = scan = type(scan)(text)
    scan.ended = ended
    reading.repair("respelled_mark")


def _read_call(reading: Reading, opened: int, start: int, native: str) -> int:
    """Reads the call that begins at `start`; `opened` is where its marks begin, for an error."""
    scan = reading.scan
    try:
        return _call(reading, start, native)
    except Unreadable as unreadable:
        at = max(start, min(unreadable.at, scan.end))
        stop, mark = scan.find_first((OPEN, CLOSE, OUTER_END), at)
        stop = scan.end if stop < 0 else stop + (len(mark) if mark == CLOSE else 0)
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, stop)
        return stop


def _call(reading: Reading, start: int, native: str) -> int:
    scan = reading.scan
    separator, mark = scan.find_first((SEPARATOR, OPEN), start)
    if mark != SEPARATOR:
        raise Unreadable("malformed_call", f"{SEPARATOR} is missing", start)
    head = scan.slice(start, separator).strip()
    pos = scan.skip(separator + len(SEPARATOR))
    fenced = scan.match(_FENCED, pos) if scan.text[pos : pos + 1] not in ("{", '"') else None
    name = fenced["name"] if fenced else head
    pos = fenced.end() if fenced else pos
    if not name or pos >= scan.end:
        raise Unreadable("truncated", "the text ends inside a call", pos)
    value = read_value(scan, pos, closers=(CLOSE,))
    arguments = object_of(reading, value.value, name)
    if isinstance(arguments, str):
        raise Unreadable("malformed_call", arguments, value.end)
    reading.repair(*value.repairs)
    if native != ("fenced" if fenced else "plain"):
        reading.repair("foreign_form")
    reading.call(name, arguments, scan.slice(pos, value.end))
    if fenced and not fenced["fence"]:
        reading.repair("missing_mark")
    return _after(reading, value.end, fenced is not None and fenced["fence"] is not None)


def _after(reading: Reading, pos: int, fenced: bool) -> int:
    scan = reading.scan
    fence = scan.match(_FENCE_END, pos) if fenced else None
    stop = scan.skip(fence.end() if fence else pos)
    if scan.at(CLOSE, stop):
        if fenced and not fence:
            reading.repair("missing_close")
        return stop + len(CLOSE)
    reading.repair("missing_close")
    return fence.end() if fence else pos
