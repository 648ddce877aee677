"""JSON calls without marks of their own: the whole reply, a code fence, or the edge of a reply.

    {"name": "get_weather", "parameters": {"city": "서울"}}

JSON in a reply is a call only where it cannot be an example: the reply begins or ends with it. In a
code fence or beside other text the tool must be one that was offered. JSON in the middle of an answer
stays in the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.parsers.calls import ARGUMENT_KEYS, Span, add_calls, looks_like_call
from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.values import Value, read_value

_KEYS = "name|tool_name|function_name|function|function_call|type|id|tool|tool_calls|calls|function_calls|role|content|tool_call_id"
_QUOTE = "[\"'\u201c\u201d\u201e\u2018\u2019\uff02\uff07]"
_START = re.compile(
    rf"[\[{{]\s*+(?:\{{\s*+)?{_QUOTE}(?:(?:{_KEYS}|{'|'.join(ARGUMENT_KEYS)}){_QUOTE}\s*+[:\uff1a]"
    rf"|[^\W\d][\w.\-]{{0,100}}+{_QUOTE}\s*+[:\uff1a]\s*+\{{)"
)
_NAME = re.compile(r"""["'](?:name|tool_name|function)["']\s*+:\s*+["']([^"'\n]{1,200})["']""")
_WORDS = re.compile(r"[^\W\d][\w.\-]{0,100}+")
_ARGUMENTS = re.compile(rf"""["'](?:{"|".join(ARGUMENT_KEYS)})["']\s*+:""")
_TAG = r"[^<>\n/]{0,20}(?:tool|function|call)[^<>\n]{0,20}>"
_FENCE = re.compile(rf"(?:```|~~~)[\w+-]{{0,20}}|</\s?{_TAG}", re.IGNORECASE)
_FENCE_BEFORE = re.compile(rf"(?:(?:```|~~~)[\w+-]{{0,20}}[ \t]*\n?|<{_TAG})\s*$", re.IGNORECASE)
"""A fence, or a tag that no format has (`<function_call>`), around a call."""


@dataclass(frozen=True, slots=True)
class Bare:
    """How a format writes its bare calls: what departs from it is a repair."""

    key: str = "arguments"
    as_list: bool = False
    """True: one JSON list of calls; False: an object (several follow each other)."""
    list_too: bool = False
    fence: bool = False
    """True: a code fence is the format's own."""
    beside_text: bool = False
    """True: text before or after the calls is the format's own."""
    anywhere: bool = False
    """True: calls in the middle of text count too."""
    whole: bool = False
    """True: only a reply that is nothing but the call counts (a fallback of formats with marks)."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Calls that stand together. `start` and `stop` take in the code fence around them."""

    start: int
    stop: int
    values: tuple[tuple[int, Value], ...]
    fenced: bool
    broken: Unreadable | None = None
    """What stands right after the last call and was meant as another one; it ends the reply."""


def read_bare(reading: Reading, start: int, style: Bare) -> bool:
    """Reads the reply from `start`: calls, errors and content. True if calls or errors were added."""
    scan = reading.scan
    begin = scan.skip(start)
    groups: list[_Group] = []
    pos = start
    while (found := scan.search(_START, pos)) is not None:
        group = _group(reading, found.start(), start, trusted=found.start() == begin)
        if isinstance(group, Unreadable):
            if _fence_start(reading, found.start(), start) <= begin and _meant_as_call(
                reading, found.start()
            ):
                reading.text(start, begin)
                reading.error(group.code, f"the call cannot be read: {group}", begin, scan.end)
                return True
            pos = max(found.end(), min(group.at, scan.end))
        elif group is None:
            pos = found.end()
        else:
            groups.append(group)
            pos = max(group.stop, found.end())
        if style.whole:
            break
    usable = bool(groups) and _at_edge(reading, groups, begin, style)
    if not (groups and groups[0].start <= begin) and _broken_from_the_start(reading, begin):
        stop = groups[0].start if usable else scan.end
        message = "the call cannot be read: its JSON is broken from the first key on"
        reading.error("malformed_value", message, begin, stop)
        start = stop
    if usable:
        _take(reading, groups, start, style)
    elif not reading.errors:
        reading.text(start, scan.end)
    return usable or bool(reading.errors)


def _group(reading: Reading, at: int, floor: int, *, trusted: bool) -> _Group | Unreadable | None:
    """The calls from `at` on; `Unreadable` where the first cannot be decoded, None where it is no call."""
    scan = reading.scan
    begin = _fence_start(reading, at, floor)
    fenced = begin < at
    values: list[tuple[int, Value]] = []
    broken = None
    pos = stop = at
    while pos < scan.end and scan.text[pos] in "{[":
        try:
            value = read_value(scan, pos)
        except Unreadable as unreadable:
            if not values:
                return unreadable
            broken = unreadable if _meant_as_call(reading, pos) else None
            break
        strictly = not trusted or fenced
        if not looks_like_call(value.value, reading.offered, strictly=strictly):
            break
        values.append((pos, value))
        pos, stop = _gap(reading, value.end)
    return _Group(begin, stop, tuple(values), fenced, broken) if values else None


def _fence_start(reading: Reading, at: int, floor: int) -> int:
    """Where the code fence opens in which the JSON at `at` stands; `at` itself where there is none."""
    window = max(floor, at - 60)
    before = _FENCE_BEFORE.search(reading.scan.text[window:at])
    return window + before.start() if before else at


def _gap(reading: Reading, pos: int) -> tuple[int, int]:
    """(where the next call may begin, where this one ends with its closing fence and separators)."""
    scan = reading.scan
    stop = pos
    while True:
        pos = scan.skip(pos)
        if pos < scan.end and scan.text[pos] in ",;":
            pos = stop = pos + 1
        elif fence := scan.match(_FENCE, pos):
            pos = stop = fence.end()
        else:
            return pos, stop


def _at_edge(reading: Reading, groups: list[_Group], begin: int, style: Bare) -> bool:
    first, last = groups[0], groups[-1]
    begins = first.start <= begin
    ends = reading.scan.skip(last.stop) == reading.scan.end or last.broken is not None
    return (begins and ends) if style.whole else (begins or ends or style.anywhere)


def _meant_as_call(reading: Reading, at: int) -> bool:
    """Whether text that begins a reply and cannot be decoded was a call: it names a tool or arguments."""
    head = reading.scan.slice(at, min(at + 2000, reading.scan.end))
    name = _NAME.search(head)
    if name is not None and (name[1] in reading.offered or _ARGUMENTS.search(head) is not None):
        return True
    # A quote or colon of the first key may be what is broken.
    return any(word in reading.offered for word in _WORDS.findall(head[:200])) and '"' in head


def _broken_from_the_start(reading: Reading, begin: int) -> bool:
    """A reply of brackets, at most in a fence, that is no JSON but names an offered tool and its arguments."""
    scan = reading.scan
    fence = scan.match(_FENCE, begin)
    first = scan.skip(fence.end()) if fence else begin
    if scan.text[first : first + 1] not in ("{", "[") or not _meant_as_call(reading, first):
        return False
    if "\\" in scan.text[first : first + 4]:  # escaped as a whole
        return False
    if not any(key in scan.slice(first, min(first + 2000, scan.end)) for key in ARGUMENT_KEYS[:3]):
        return False
    try:
        read_value(scan, first)
    except Unreadable:
        return True
    return False


def _take(reading: Reading, groups: list[_Group], start: int, style: Bare) -> None:
    pos = start
    for group in groups:
        _text(reading, pos, group.start, style)
        if group.fenced and reading.scan.at("<", group.start):
            reading.repair("respelled_mark")
        elif group.fenced and not style.fence:
            reading.repair("code_fence")
        if len(group.values) > 1 and style.as_list:
            reading.repair("several_objects")
        problem = None
        for at, value in group.values:
            reading.repair(*value.repairs, *_form(value.value, style))
            problem = problem or add_calls(reading, value.value, Span(at, value.end, style.key))
        if problem is not None:
            reading.error("malformed_call", problem, group.start, group.stop)
        pos = group.stop
        if group.broken is not None and group is groups[-1]:
            message = f"a call after the first cannot be read: {group.broken}"
            reading.error(group.broken.code, message, pos, reading.scan.end)
            return
    _text(reading, pos, reading.scan.end, style)


def _form(value: Any, style: Bare) -> tuple[str, ...]:
    if style.list_too or isinstance(value, list) == style.as_list:
        return ()
    return ("foreign_form",) if isinstance(value, list) else ("single_object",)


def _text(reading: Reading, start: int, stop: int, style: Bare) -> None:
    if reading.scan.skip(start) < stop:
        reading.text(start, stop)
        if not style.beside_text:
            reading.repair("stray_text")
