"""Gemma's call syntax: `call:NAME{key:<mark>text<mark>,n:3,list:[<mark>a<mark>]}`, without quotes.

    Marks("<start_function_call>", "<end_function_call>", "<escape>")       FunctionGemma
    Marks("<|tool_call>", "<tool_call|>", '<|"|>')                          Gemma 4

A string stands between two marks and may hold anything, the mark itself too where the text goes on after
it as no value would. Keys are bare or marked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.parsers.reader import MAX_DEPTH, Unreadable
from fcb_toolkit.parsers.reading import Reading
from fcb_toolkit.parsers.values import read_value

_CALL = re.compile(r"call:\s*+([^\s{}<>\[\]\"',]{1,200})\s*+\{")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,4000}+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,3}+)?(?=\s*+[,}\]<])")
_WORD = re.compile(r"(true|false|null|True|False|None)(?=\s*+[,}\]<])")
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_KEY = re.compile(r"[^{}\[\],:<>]{1,400}+(?=:)")
_BARE = re.compile(r"[^,}\]{\[]*+")
_AFTER_STRING = re.compile(r"\s*+[,}\]:]")


@dataclass(frozen=True, slots=True)
class Marks:
    open: str
    close: str
    quote: str
    typed: bool = False
    """True: the format marks values of every type as strings, so the schema says what they are."""


class _Braces:
    """A descent over one object; `pos` moves forward only."""

    __slots__ = ("marks", "pos", "quote", "repairs", "scan")

    def __init__(self, reading: Reading, pos: int, marks: Marks) -> None:
        self.scan, self.pos, self.marks, self.quote = reading.scan, pos, marks, marks.quote
        self.repairs: list[str] = []

    def fail(self, expected: str) -> Unreadable:
        if self.pos >= self.scan.end:
            return Unreadable("truncated", "the text ends inside a value", self.pos)
        found = self.scan.text[self.pos : self.pos + 12]
        return Unreadable(
            "malformed_value", f"character {self.pos}: found {found!r}, expected {expected}", self.pos
        )

    def object(self, depth: int) -> dict[str, Any]:
        """The members after an opening brace."""
        members: dict[str, Any] = {}
        while True:
            self.pos = self.scan.skip(self.pos)
            if self.take("}"):
                return members
            key = self.key()
            if not self.take(":"):
                raise self.fail("':'")
            value = self.value(depth)
            if key in members:
                raise Unreadable("duplicate_argument", f"the key {key!r} is given twice", self.pos)
            members[key] = value
            if not self.comma("}"):
                return members

    def array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while True:
            self.pos = self.scan.skip(self.pos)
            if self.take("]"):
                return items
            items.append(self.value(depth))
            if not self.comma("]"):
                return items

    def comma(self, close: str) -> bool:
        """True where another member follows."""
        self.pos = self.scan.skip(self.pos)
        if self.take(","):
            self.pos = self.scan.skip(self.pos)
            if not self.scan.at(close, self.pos):
                return True
            self.repairs.append("trailing_comma")
        if self.take(close):
            return False
        if self.scan.at(self.marks.close, self.pos) and "missing_bracket" not in self.repairs:
            self.repairs.append("missing_bracket")
            return False
        raise self.fail(f"',' or {close!r}")

    def take(self, mark: str) -> bool:
        if self.scan.at(mark, self.pos):
            self.pos += len(mark)
            return True
        return False

    def key(self) -> str:
        if self.scan.at(self.quote, self.pos):
            return self.string()
        if self.scan.at('"', self.pos):
            return str(self.quoted())
        found = self.scan.match(_KEY, self.pos)
        if found is None:
            raise self.fail("a key")
        self.pos = found.end()
        key = found[0].strip()
        if re.search(r"\s", key):
            self.repairs.append("bare_key")
        return key

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unreadable("too_deep", f"nested deeper than {MAX_DEPTH} levels", self.pos)
        self.pos = self.scan.skip(self.pos)
        if self.scan.at(self.quote, self.pos):
            return self.string()
        if self.take("{"):
            return self.object(depth + 1)
        if self.take("["):
            return self.array(depth + 1)
        word = self.scan.match(_WORD, self.pos)
        number = None if word else self.scan.match(_NUMBER, self.pos)
        if word is not None:
            self.pos = word.end()
            return _WORDS[word[1]]
        if number is not None:
            self.pos = number.end()
            return read_value(self.scan, number.start()).value
        return self.quoted() if self.scan.at('"', self.pos) else self.bare()

    def quoted(self) -> Any:
        """A string in ordinary quotes."""
        read = read_value(self.scan, self.pos)
        self.repairs.append("python_string")
        self.pos = read.end
        return read.value

    def string(self) -> str:
        """A string between marks; a mark that nothing of the syntax follows is part of it."""
        start = self.pos + len(self.quote)
        stop = self.scan.find(self.quote, start)
        while stop >= 0 and self.scan.match(_AFTER_STRING, stop + len(self.quote)) is None:
            self.repairs.append("close_tag_in_value")
            stop = self.scan.find(self.quote, stop + len(self.quote))
        if stop < 0:
            self.pos = self.scan.end
            raise self.fail("a string")
        self.pos = stop + len(self.quote)
        return self.scan.slice(start, stop)

    def bare(self) -> str:
        """Text without its opening mark ends at its closing one, without any mark at the next comma."""
        found = self.scan.match(_BARE, self.pos)
        stop = found.end() if found else self.pos
        mark = self.scan.find(self.quote, self.pos)
        start = self.pos
        if mark >= 0 and self._closes(mark):
            self.pos = mark + len(self.quote)
            stop = mark
        elif stop == self.pos or stop >= self.scan.end:
            self.pos = stop
            raise self.fail("a value")
        else:
            self.pos = stop
        self.repairs.append("missing_mark")
        return self.scan.slice(start, stop).strip()

    def _closes(self, mark: int) -> bool:
        """Whether the mark there closes a string: it follows text, and the syntax goes on after it."""
        before = self.scan.text[max(0, mark - 1) : mark]
        return (
            before not in (":", ",", "[", "{")
            and self.scan.match(_AFTER_STRING, mark + len(self.quote)) is not None
        )


def read_braces(reading: Reading, marks: Marks) -> None:
    """Reads every marked call, and calls whose opening mark is missing at the start of the reply or a line."""
    scan = reading.scan
    pos = 0
    while (opened := scan.find(marks.open, pos)) >= 0:
        reading.text(pos, opened)
        pos = _read_block(reading, opened, scan.skip(opened + len(marks.open)), marks)
    first = scan.skip(pos)
    head = scan.match(_CALL, first)
    if head is not None and head[1] in reading.offered:
        reading.repair("missing_open")
        pos = _read_block(reading, first, first, marks)
    reading.text(pos, scan.end)


def _read_block(reading: Reading, opened: int, start: int, marks: Marks) -> int:
    scan = reading.scan
    pos = start
    try:
        while True:
            pos = scan.skip(_read_call(reading, pos, marks))
            while pos < scan.end and scan.text[pos] == "}":
                reading.repair("superfluous_bracket")
                pos = scan.skip(pos + 1)
            if scan.match(_CALL, pos) is None:
                break
            opened = pos
    except Unreadable as unreadable:
        at = max(start, min(unreadable.at, scan.end))
        stop, mark = scan.find_first((marks.close, marks.open), at)
        stop = scan.end if stop < 0 else stop + (len(mark) if mark == marks.close else 0)
        reading.error(unreadable.code, f"the call cannot be read: {unreadable}", opened, stop)
        return stop
    if scan.at(marks.close, pos):
        return pos + len(marks.close)
    reading.repair("missing_close")
    return pos


def _read_call(reading: Reading, start: int, marks: Marks) -> int:
    scan = reading.scan
    head = scan.match(_CALL, start)
    if head is None:
        raise Unreadable("malformed_call", f"character {start}: expected call:NAME and an object", start)
    braces = _Braces(reading, head.end(), marks)
    arguments = braces.object(1)
    name = head[1]
    if marks.typed:
        convert = reading.offered.convert
        arguments = {k: convert(name, k, v) if isinstance(v, str) else v for k, v in arguments.items()}
    reading.repair(*dict.fromkeys(braces.repairs))
    reading.call(name, arguments, scan.slice(head.end() - 1, braces.pos))
    return braces.pos
