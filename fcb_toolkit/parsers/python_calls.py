"""Calls written as Python: `[get_weather(city="서울", days=3), now()]`. Read, never evaluated.

    read_list(Scan('[f(a=1)]'), 0).calls[0]      # Written(name="f", keywords={"a": 1}, positional=())

Names may be dotted or hold a dash, keywords may be Python's own words (`from=1`). Values are literals;
a value that is a name, a sum or another call makes the text unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fcb_toolkit.parsers.reader import Reader, Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.scan import Scan

NAME = r"[^\W\d][\w.\-]{0,200}+"
CALL = re.compile(rf"({NAME})\s*+\(")
_KEYWORD = re.compile(r"([^\W\d][\w\-]{0,200}+)\s*+=(?!=)\s*+")


@dataclass(frozen=True, slots=True)
class Written:
    """One call as it is written, with the positions of its arguments' text."""

    name: str
    keywords: dict[str, Any]
    positional: tuple[Any, ...]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Calls:
    calls: tuple[Written, ...]
    end: int
    repairs: tuple[str, ...] = field(default=())


class _CallReader(Reader):
    __slots__ = ()

    def call(self) -> Written:
        head = CALL.match(self.text, self.pos)
        if head is None:
            self.fail()
        self.scan.charge(head.end() - self.pos)
        self.pos = start = head.end()
        keywords: dict[str, Any] = {}
        positional: list[Any] = []
        self.gap()
        while not self.text.startswith(")", self.pos):
            self._argument(keywords, positional)
            self.gap()
            if self.sign(",", "\uff0c"):
                self.gap()
            elif not self.text.startswith(")", self.pos):
                self.fail()
        self.pos += 1
        return Written(head[1], keywords, tuple(positional), start, self.pos - 1)

    def _argument(self, keywords: dict[str, Any], positional: list[Any]) -> None:
        if self.text.startswith("**", self.pos):
            self.pos += 2
            self.gap()
            spread = self.value(1)
            if not isinstance(spread, dict):
                self.fail()
            self.repairs.append("wrapper")
            self._add(keywords, spread)
            return
        keyword = _KEYWORD.match(self.text, self.pos)
        if keyword is None:
            positional.append(self.value(1))
            return
        self.scan.charge(keyword.end() - self.pos)
        self.pos = keyword.end()
        if keyword[1] in _RESERVED:
            self.repairs.append("reserved_word")
        self._add(keywords, {keyword[1]: self.value(1)})

    def _add(self, keywords: dict[str, Any], more: dict[str, Any]) -> None:
        for name, value in more.items():
            if name in keywords:
                raise Unreadable("duplicate_argument", f"the argument {name!r} is given twice", self.pos)
            keywords[name] = value

    def calls(self, close: str) -> list[Written]:
        """Calls separated by commas, up to `close`."""
        found: list[Written] = []
        self.gap()
        while True:
            found.append(self.call())
            if self.comma_or_end(close):
                return found


_RESERVED = frozenset(
    [
        "False",
        "None",
        "True",
        "and",
        "as",
        "assert",
        "async",
        "await",
        "break",
        "class",
        "continue",
        "def",
        "del",
        "elif",
        "else",
        "except",
        "finally",
        "for",
        "from",
        "global",
        "if",
        "import",
        "in",
        "is",
        "lambda",
        "nonlocal",
        "not",
        "or",
        "pass",
        "raise",
        "return",
        "try",
        "while",
        "with",
        "yield",
    ]
)


def read_list(scan: Scan, start: int) -> Calls:
    """The list of calls whose bracket stands at `start`. Raises `Unreadable`."""
    reader = _CallReader(scan, start + 1, True, ())
    calls = reader.calls("]")
    return Calls(tuple(calls), reader.pos, tuple(dict.fromkeys(reader.repairs)))


def read_call(scan: Scan, start: int) -> Calls:
    """The one call that begins at `start`. Raises `Unreadable`."""
    reader = _CallReader(scan, start, True, ())
    call = reader.call()
    return Calls((call,), reader.pos, tuple(dict.fromkeys(reader.repairs)))


_ASSIGNED = re.compile(r"([^\W\d]\w{0,100}+)\s*+=(?!=)\s*+(?=[^\W\d(])")
_WRAPPED = re.compile(r"(?:await\s++)?(?:print\s*+\(\s*+)?(?:await\s++)?")
_PRINTED = re.compile(r"print\s*+\(\s*+([^\W\d]\w{0,100}+)\s*+\)")
_COMMENT = re.compile(r"#[^\n]*+\n?")


def read_statements(scan: Scan, start: int, ends: Callable[[int], bool]) -> Calls:
    """The calls of a small program from `start` to where `ends` is true: one call a line, at times printed,
    awaited, or kept in a variable that is printed later. Comments are passed over.

    Raises `Unreadable` for any other statement, and where the text ends first.
    """
    found: list[Written] = []
    repairs: list[str] = []
    kept: set[str] = set()
    pos = scan.skip(start)
    while not ends(pos):
        if (comment := scan.match(_COMMENT, pos)) is not None:
            repairs.append("comment")
            pos = scan.skip(comment.end())
            continue
        if (printed := scan.match(_PRINTED, pos)) is not None and printed[1] in kept:
            pos = scan.skip(printed.end())
            continue
        if (assigned := scan.match(_ASSIGNED, pos)) is not None:
            kept.add(assigned[1])
            pos = assigned.end()
        wrapped = scan.match(_WRAPPED, pos)
        prefix = wrapped[0] if wrapped else ""
        if prefix or assigned:
            repairs.append("wrapper")
        calls = read_call(scan, pos + len(prefix))
        pos = scan.skip(calls.end)
        if "print" in prefix:
            if not scan.at(")", pos):
                raise Unreadable("malformed_call", f"character {pos}: expected ')'", pos)
            pos = scan.skip(pos + 1)
        found += calls.calls
        repairs += calls.repairs
        if pos < scan.end and scan.text[pos] in ",;":
            pos = scan.skip(pos + 1)
    if not found:
        raise Unreadable("malformed_call", f"character {pos}: no call stands there", pos)
    return Calls(tuple(found), pos, tuple(dict.fromkeys(repairs)))


def add_written(reading: Reading, found: Calls) -> str | None:
    """Adds the calls, positional arguments bound where that is plain; None, or why it cannot be done."""
    bound = []
    for call in found.calls:
        arguments = _bind(reading, call)
        if isinstance(arguments, str):
            return arguments
        bound.append((call, arguments))
    reading.repair(*found.repairs)
    for call, arguments in bound:
        reading.call(call.name, arguments, reading.scan.slice(call.start, call.stop))
    return None


def _bind(reading: Reading, call: Written) -> dict[str, Any] | str:
    """Positional arguments: one object of keywords, or the one parameter that there is."""
    if not call.positional:
        return call.keywords
    properties = reading.offered.properties(call.name)
    only = call.positional[0]
    if len(call.positional) == 1 and not call.keywords:
        if isinstance(only, dict) and only.keys() <= properties.keys():
            reading.repair("positional_argument")
            return only
        names = reading.offered.required(call.name) if len(properties) > 1 else tuple(properties)
        if len(names) == 1:
            reading.repair("positional_argument")
            return {names[0]: only}
        if isinstance(only, dict) and call.name not in reading.offered:
            reading.repair("positional_argument")
            return only
    return f"the call of {call.name!r} gives {len(call.positional)} arguments without their names"
