"""Calls whose arguments stand between tags as bare text: `<parameter=city>서울</parameter>`.

    read_arguments(reading, pos, QWEN, declared={"city"})    # Arguments(pairs=[Pair("city", "서울")], end=...)

Such text is never escaped, so a value may hold its own closing tag. A closing tag closes a value only
if the call goes on after it: the next parameter, or the end of the call. Where it is missing, the
opening of a declared parameter or the end of the call closes the value.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from fcb_toolkit.parsers.reader import Unreadable
from fcb_toolkit.parsers.reading import Reading


@dataclass(frozen=True, slots=True)
class Markup:
    """The tags of one format. Patterns are possessive, so that no text makes them backtrack."""

    opening: re.Pattern[str]
    """Groups `name` and, where the format has it, `string`: "true" for text, "false" for JSON."""
    close: str
    after: re.Pattern[str]
    """What follows a closing tag that really closes."""
    end: re.Pattern[str]
    """The end of the call, for a value that nothing closes."""
    lines: bool = False
    """True: one line break on each side of a value belongs to the markup."""


@dataclass(frozen=True, slots=True)
class Pair:
    name: str
    text: str
    string: str | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    pairs: tuple[Pair, ...]
    end: int


def read_arguments(reading: Reading, start: int, markup: Markup, declared: Container[str]) -> Arguments:
    """The parameters from `start` on; `end` is after the last. Raises `Unreadable` for one that never ends."""
    scan = reading.scan
    pairs: list[Pair] = []
    seen: set[str] = set()
    pos = scan.skip(start)
    while (opening := scan.match(markup.opening, pos)) is not None:
        name = opening["name"].strip().strip("\"'")
        seen.add(name)
        stop, after = _value_end(reading, opening.end(), markup, _Open(declared, seen))
        text = scan.slice(opening.end(), stop)
        string = opening.groupdict().get("string")
        pairs.append(Pair(name, _between_lines(text) if markup.lines else text, string))
        pos = scan.skip(after)
    return Arguments(tuple(pairs), pos)


@dataclass(frozen=True, slots=True)
class _Open:
    """Which names may open another parameter inside a value that nothing closed."""

    declared: Container[str]
    seen: set[str]

    def __contains__(self, name: str) -> bool:
        return name in self.declared and name not in self.seen


def _value_end(reading: Reading, start: int, markup: Markup, others: _Open) -> tuple[int, int]:
    """(where the value that begins at `start` ends, where reading goes on)."""
    scan = reading.scan
    close = scan.find(markup.close, start)
    strays = 0
    while close >= 0 and scan.match(markup.after, close + len(markup.close)) is None:
        strays += 1
        close = scan.find(markup.close, close + len(markup.close))
    other = _end_without_close(reading, start, markup, others, close)
    if other >= 0:
        reading.repair("missing_close")
        return other, other
    if close < 0:
        raise Unreadable("truncated", "the text ends inside an argument", scan.end)
    if strays:
        reading.repair("close_tag_in_value")
    return close, close + len(markup.close)


def _end_without_close(reading: Reading, start: int, markup: Markup, others: _Open, close: int) -> int:
    """Where a value ends that has no closing tag of its own (`close` is then another parameter's); -1."""
    scan = reading.scan
    limit = close if close >= 0 else scan.end
    ended = -2
    pos = start
    while (opening := scan.search(markup.opening, pos, limit)) is not None:
        if ended == -2:
            end = scan.search(markup.end, start, limit)
            ended = end.start() if end else -1
        if 0 <= ended < opening.start():
            return ended
        if opening["name"].strip().strip("\"'") in others:
            return opening.start()
        pos = opening.end()
    if close >= 0:
        return -1
    end = scan.search(markup.end, start)
    return end.start() if end else -1


def _between_lines(text: str) -> str:
    """Without the one line break on each side that is markup."""
    if text.startswith("\r\n"):
        return text[2:].removesuffix("\r\n")
    return text.removeprefix("\n").removesuffix("\n")


def converted(reading: Reading, name: str, pairs: tuple[Pair, ...]) -> dict[str, object]:
    """The arguments in the types of the tool's schema. Raises `Unreadable` for a name given twice."""
    arguments: dict[str, object] = {}
    for pair in pairs:
        if pair.name in arguments:
            raise Unreadable("duplicate_argument", f"the argument {pair.name!r} is given twice", 0)
        arguments[pair.name] = reading.offered.convert(name, pair.name, pair.text)
    return arguments
