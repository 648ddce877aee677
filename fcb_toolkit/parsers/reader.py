"""The reader of values that the standard library's decoder refuses: a descent over JSON or Python text.

    Reader(Scan("{'a': True,}"), 0).value(0)      # {"a": True}; repairs: python_string, python_literal, ...

Each departure from the language read is named in `repairs`. Nothing is evaluated: names, arithmetic,
NaN and infinities are no values. Nesting ends at `MAX_DEPTH`; the position moves forward only.
"""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn

from fcb_toolkit.parsers.scan import Scan
from fcb_toolkit.parsers.strings import read_string

MAX_DEPTH = 100
MAX_DIGITS = 4300
"""Longest integer that Python converts from text (`sys.int_info.default_max_str_digits`)."""
_GAP = re.compile(r"\s*+")
_COMMENT = re.compile(r"//[^\n]*+|#[^\n]*+")
_NUMBER = re.compile(
    r"[-+]?(?:0[xXoObB][0-9a-fA-F_]++|(?:[0-9][0-9_]*+(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?)"
)
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")
_WORD = re.compile(r"[^\W\d]\w*+")
_STRING_START = re.compile(r"""[rRuUbBfF]{0,2}["']""")
TYPOGRAPHIC = {
    "\u201c": "\u201c\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2018\u2019",
    "\uff02": "\uff02",
    "\uff07": "\uff07",
}
"""Quotation marks of ordinary text -> those that may close them."""
_TYPOGRAPHIC_END = {
    mark: re.compile(rf"[{ends}](?=\s*+(?:[,:}}\])\uff1a\uff0c]|\Z))") for mark, ends in TYPOGRAPHIC.items()
}
_JSON_WORDS = {"true": True, "false": False, "null": None}
_PYTHON_WORDS = {"True": True, "False": False, "None": None}


class Unreadable(Exception):
    """The text is no value. `at` is where reading stopped; `code` and the message go to the parse."""

    def __init__(self, code: str, message: str, at: int) -> None:
        super().__init__(message)
        self.code = code
        self.at = at


class Reader:
    """A descent over one value; `pos` moves forward only, so the work is linear in what is read."""

    __slots__ = ("closers", "pos", "python", "repairs", "scan", "text", "trailing")

    def __init__(self, scan: Scan, pos: int, python: bool, closers: tuple[str, ...]) -> None:
        self.scan, self.text, self.pos = scan, scan.text, pos
        self.python, self.closers = python, closers
        self.repairs: list[str] = []
        self.trailing = False
        """True: the container read last ended with a comma."""

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
            if stop == self.pos:
                return
            self.scan.charge(stop - self.pos)
            if not self.python and self.text[self.pos : stop].strip(" \t\r\n")[:1].isspace():
                self.repairs.append("odd_space")
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
            return self.parentheses(depth)
        if _STRING_START.match(self.text, self.pos):
            return self.string()
        if char and char in TYPOGRAPHIC:
            return self.typographic()
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

    def parentheses(self, depth: int) -> Any:
        """A tuple as a list; one value without a comma is the value itself."""
        items = self.array(")", depth)
        return items[0] if len(items) == 1 and not self.trailing else items

    def typographic(self) -> str:
        """A string in quotation marks of a text. It ends at the first mark that something of the language follows."""
        closing = _TYPOGRAPHIC_END[self.text[self.pos]]
        found = self.scan.search(closing, self.pos + 1)
        body = self.text[self.pos + 1 : found.start()] if found else "\\"
        if found is None or "\\" in body:  # whether it escapes is a guess
            self.fail()
        self.pos = found.end()
        self.repairs.append("typographic")
        return body

    def sign(self, mark: str, wide: str) -> bool:
        """Past a colon or comma, also a full-width one; False where there is none."""
        if self.text.startswith(wide, self.pos):
            self.repairs.append("typographic")
        elif not self.text.startswith(mark, self.pos):
            return False
        self.pos += 1
        return True

    def object(self, depth: int) -> dict[str, Any]:
        self.pos += 1
        members: dict[str, Any] = {}
        while True:
            self.gap()
            if self.ends("}"):
                return members
            key = self.key()
            self.gap()
            if not self.sign(":", "\uff1a"):
                self.fail()
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
        if self.text[self.pos : self.pos + 1] in TYPOGRAPHIC:
            return self.typographic()
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
        self.trailing = False
        if self.ends(close):
            return True
        if self.sign(",", "\uff0c"):
            self.gap()
            if self.ends(close):
                self.trailing = True
                if not self.python:
                    self.repairs.append("trailing_comma")
                return True
            return False
        at_end = self.scan.ended and self.pos >= self.scan.end
        closed = at_end or any(self.text.startswith(mark, self.pos) for mark in self.closers)
        if not closed or "missing_bracket" in self.repairs:  # two are more than a slip: the value was cut
            self.fail()
        self.repairs.append("missing_bracket")
        return True


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
