"""Values as models write them: JSON first, then what has one sensible reading beside it.

    read_value(Scan('{"a": [1, 2,]} rest'), 0)   # Value({"a": [1, 2]}, end=14, repairs=("trailing_comma",))

Reading starts at a real start and ends where the value ends, so strings may hold braces, quotes and
closing tags. The standard library's decoder reads JSON; only what it refuses comes to the reader here,
which names each departure from JSON (or from Python literals, with `python=True`) as a repair.
Nothing is evaluated. NaN, infinities, arithmetic and names are no values; nesting ends at `MAX_DEPTH`.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from fcb_toolkit.parsers.scan import Scan
from fcb_toolkit.parsers.strings import read_string

MAX_DEPTH = 100
MAX_DIGITS = 4300
"""Longest integer that Python converts in linear time (`sys.int_info`)."""
_FAST_FAILURES = 8
"""json's error message counts lines from the start of the text, so only a few failures may cost that."""
_GAP = re.compile(r"\s*+")
_COMMENT = re.compile(r"//[^\n]*+|#[^\n]*+")
_NUMBER = re.compile(
    r"[-+]?(?:0[xXoObB][0-9a-fA-F_]++|(?:[0-9][0-9_]*+(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?)"
)
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")
_WORD = re.compile(r"[^\W\d]\w*+")
_STRING_START = re.compile(r"""[rRuUbBfF]{0,2}["']""")
_JSON_WORDS = {"true": True, "false": False, "null": None}
_PYTHON_WORDS = {"True": True, "False": False, "None": None}


@dataclass(frozen=True, slots=True)
class Value:
    value: Any
    end: int
    repairs: tuple[str, ...] = ()


class Unreadable(Exception):
    """The text is no value. `at` is where reading stopped; `code` and the message go to the parse."""

    def __init__(self, code: str, message: str, at: int) -> None:
        super().__init__(message)
        self.code = code
        self.at = at


def read_value(scan: Scan, start: int, *, python: bool = False, closers: tuple[str, ...] = ()) -> Value:
    """The value that begins at `start` (no white space before it). Raises `Unreadable`.

    `closers` are closing tags: where one stands in place of a missing bracket, the brackets are closed.
    """
    if not python and scan.text[start : start + 1] in ("{", "[", '"'):
        value = _fast(scan, start)
        if value is not None:
            return value
    reader = _Reader(scan, start, python, closers)
    result = reader.value(0)
    return Value(result, reader.pos, tuple(dict.fromkeys(reader.repairs)))


def decode(text: str, *, lenient: bool = True) -> Value | None:
    """The whole of `text` as one value, white space around it allowed; None if it is not."""
    scan = Scan(text)
    start = scan.skip(0)
    try:
        value = read_value(scan, start) if start < scan.end else None
    except Unreadable:
        return None
    if value is None or scan.skip(value.end) != scan.end or (value.repairs and not lenient):
        return None
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("number out of range")
    return number


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_finite, parse_constant=_no_constant)


def _fast(scan: Scan, start: int) -> Value | None:
    """By the standard library; None where the reader below must look."""
    if scan.fast_failures >= _FAST_FAILURES:
        return None
    try:
        value, end = _DECODER.raw_decode(scan.text, start)
    except (ValueError, RecursionError):
        scan.fast_failures += 1
        return None
    scan.charge(end - start)
    if scan.text.count("[", start, end) + scan.text.count("{", start, end) > MAX_DEPTH and _too_deep(value):
        raise Unreadable("too_deep", f"nested deeper than {MAX_DEPTH} levels", start)
    return Value(value, end)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []


class _Reader:
    """A descent over one value; `pos` moves forward only, so the work is linear in what is read."""

    __slots__ = ("closers", "pos", "python", "repairs", "scan", "text")

    def __init__(self, scan: Scan, pos: int, python: bool, closers: tuple[str, ...]) -> None:
        self.scan, self.text, self.pos = scan, scan.text, pos
        self.python, self.closers = python, closers
        self.repairs: list[str] = []

    def fail(self, found: str = "") -> NoReturn:
        if self.pos >= self.scan.end:
            raise Unreadable("truncated", "the text ends inside a value", self.pos)
        found = found or repr(self.text[self.pos : self.pos + 12])
        raise Unreadable(
            "malformed_value", f"character {self.pos}: found {found}, expected a value", self.pos
        )

    def gap(self) -> None:
        """White space and comments."""
        while True:
            match = _GAP.match(self.text, self.pos)
            stop = match.end() if match else self.pos
            comment = _COMMENT.match(self.text, stop)
            if comment and (self.text[stop] == "#" or not self.python):
                stop = comment.end()
                self.repairs.append("comment")
            self.scan.charge(stop - self.pos + 1)
            if stop == self.pos:
                return
            self.pos = stop

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unreadable("too_deep", f"nested deeper than {MAX_DEPTH} levels", self.pos)
        char = self.text[self.pos : self.pos + 1]
        if char == "{":
            return self.object(depth)
        if char == "[":
            return self.array("]", depth)
        if char == "(":
            if not self.python:
                self.repairs.append("python_literal")
            return self.array(")", depth)
        if _STRING_START.match(self.text, self.pos):
            return self.string()
        if char and char in "-+.0123456789":
            return self.number()
        return self.word()

    def string(self) -> str:
        text = self._one_string()
        while self.python:  # 'a' 'b' is one string
            here = self.pos
            self.gap()
            if not _STRING_START.match(self.text, self.pos):
                self.pos = here
                return text
            text += self._one_string()
        return text

    def _one_string(self) -> str:
        start = self.pos
        read = read_string(self.text, start, python=self.python)
        if read is None and self.text[start] in "bBfF":
            self.fail()
        if read is None:
            self.scan.charge(self.scan.end - start)
            self.pos = self.scan.end
            self.fail()
        self.scan.charge(read.end - start)
        self.pos = read.end
        self.repairs.extend(read.repairs)
        return read.value

    def number(self) -> Any:
        match = _NUMBER.match(self.text, self.pos)
        if match is None:
            return self.signed_word()
        token = match[0]
        after = self.text[match.end() : match.end() + 1]
        if after and (after.isalnum() or after in "_."):
            self.fail()
        self.scan.charge(len(token))
        number = _number(token)
        if number is None:
            raise Unreadable(
                "not_a_json_number", f"character {self.pos}: {token[:40]} is no JSON number", self.pos
            )
        if not (self.python or _JSON_NUMBER.fullmatch(token)):
            self.repairs.append("number_form")
        self.pos = match.end()
        return number

    def signed_word(self) -> NoReturn:
        match = _WORD.match(self.text, self.pos + 1)
        if match and match[0].lower() in ("nan", "inf", "infinity"):
            raise Unreadable(
                "not_a_json_number", f"character {self.pos}: {match[0]} is no JSON number", self.pos
            )
        self.fail()

    def word(self) -> Any:
        match = _WORD.match(self.text, self.pos)
        if match is None:
            self.fail()
        word = match[0]
        self.scan.charge(len(word))
        own, other = (_PYTHON_WORDS, _JSON_WORDS) if self.python else (_JSON_WORDS, _PYTHON_WORDS)
        if word not in own and word not in other:
            if word.lower() in ("nan", "inf", "infinity"):
                raise Unreadable(
                    "not_a_json_number", f"character {self.pos}: {word} is no JSON number", self.pos
                )
            self.fail()
        self.pos = match.end()
        if word in own:
            return own[word]
        self.repairs.append("json_literal" if self.python else "python_literal")
        return other[word]

    def array(self, close: str, depth: int) -> list[Any]:
        self.pos += 1
        items: list[Any] = []
        while True:
            self.gap()
            if self.ends(close):
                return items
            items.append(self.value(depth + 1))
            if self.comma_or_end(close):
                return items

    def object(self, depth: int) -> dict[str, Any]:
        self.pos += 1
        members: dict[str, Any] = {}
        while True:
            self.gap()
            if self.ends("}"):
                return members
            key = self.key()
            self.gap()
            if not self.text.startswith(":", self.pos):
                self.fail()
            self.pos += 1
            self.gap()
            value = self.value(depth + 1)
            if key in members and repr(members[key]) != repr(value):
                raise Unreadable(
                    "duplicate_argument", f"the key {key!r} is given twice, with different values", self.pos
                )
            if key in members:
                self.repairs.append("duplicate_key")
            members[key] = value
            if self.comma_or_end("}"):
                return members

    def key(self) -> str:
        if _STRING_START.match(self.text, self.pos):
            return self.string()
        match = _WORD.match(self.text, self.pos) or _NUMBER.match(self.text, self.pos)
        if match is None:
            self.fail()
        self.scan.charge(len(match[0]))
        self.pos = match.end()
        self.repairs.append("bare_key")
        return match[0]

    def ends(self, close: str) -> bool:
        if self.text.startswith(close, self.pos):
            self.pos += 1
            return True
        return False

    def comma_or_end(self, close: str) -> bool:
        """True where the container ends here, False where another member follows."""
        self.gap()
        if self.ends(close):
            return True
        if self.text.startswith(",", self.pos):
            self.pos += 1
            self.gap()
            if self.ends(close):
                if not self.python:
                    self.repairs.append("trailing_comma")
                return True
            return False
        if any(self.text.startswith(mark, self.pos) for mark in self.closers):
            self.repairs.append("missing_bracket")
            return True
        self.fail()


def _number(token: str) -> int | float | None:
    """None for what is not one number: 007, 1e999, more digits than Python converts."""
    digits = token.lstrip("+-")
    if len(digits) > MAX_DIGITS:
        return None
    if digits[1:2] in ("x", "X", "o", "O", "b", "B"):
        try:
            return int(token, 0)
        except ValueError:
            return None
    try:
        if digits.replace("_", "").isdigit():
            return None if digits[0] == "0" and digits.strip("0_") else int(token)
        number = float(token)
    except ValueError:
        return None
    return None if math.isinf(number) else number
