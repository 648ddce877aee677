"""String literals of JSON and Python, with the departures that models make.

    read_string('"a\\nb" tail', 0)            # StringRead("a" newline "b", end=6)
    read_string('"D:\\문서"', 0).repairs       # ("invalid_escape",): the backslash is kept

JSON rules hold for double quotes, Python's for single and triple quotes and in Python text. A backslash
before a character that makes no escape stays in the value: no other reading keeps what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPEN = re.compile(r"""([rRuUbBfF]{0,2})(\"\"\"|'''|"|')""")
_PLAIN = {quote: re.compile(rf"[^{quote}\\\x00-\x1f]++") for quote in ("'", '"')}
_HEX = re.compile(r"[0-9a-fA-F]+")
_JSON_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_PYTHON_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", '"': '"', "\\": "\\",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StringRead:
    value: str
    end: int
    repairs: tuple[str, ...] = ()


def read_string(text: str, start: int, *, python: bool = False) -> StringRead | None:
    """The string that begins at `start`; None where it never ends or is bytes or an f-string with braces."""
    opening = _OPEN.match(text, start)
    if opening is None:
        return None
    prefix, quote = opening[1].lower(), opening[2]
    if "b" in prefix or ("f" in prefix and not python):
        return None
    pieces: list[str] = []
    repairs: list[str] = []
    if not python and (quote != '"' or prefix):
        repairs.append("python_string")
    raw, pythonic = "r" in prefix, python or quote != '"'
    pos, plain = opening.end(), _PLAIN[quote[0]]
    while not text.startswith(quote, pos):
        run = plain.match(text, pos)
        if run:
            pieces.append(run[0])
            pos = run.end()
            continue
        char = text[pos : pos + 1]
        if not char:
            return None
        if char != "\\":
            pieces.append(char)
            pos += 1
            if char < " " and not (python and char != "\n") and len(quote) == 1:
                repairs.append("raw_control_character")
        elif raw:
            pieces.append(text[pos : pos + 2])
            pos += 2
        else:
            piece, pos, valid = _escape(text, pos, pythonic)
            pieces.append(piece)
            if not valid:
                repairs.append("invalid_escape")
    value = "".join(pieces)
    if "f" in prefix and ("{" in value or "}" in value):
        return None
    return StringRead(value, pos + len(quote), tuple(dict.fromkeys(repairs)))


def _escape(text: str, pos: int, python: bool) -> tuple[str, int, bool]:
    """(what the escape at `pos` stands for, position after it, whether it is one)."""
    char = text[pos + 1 : pos + 2]
    table = _PYTHON_ESCAPES if python else _JSON_ESCAPES
    if char in table and char:
        return table[char], pos + 2, True
    if char == "u":
        return _unicode(text, pos)
    if python and char == "\n":
        return "", pos + 2, True
    if python and char in ("x", "U"):
        return _hexadecimal(text, pos, 2 if char == "x" else 8)
    if python and char and char in "01234567":
        digits = re.match(r"[0-7]{1,3}", text[pos + 1 : pos + 4])
        return (chr(int(digits[0], 8)), pos + 1 + len(digits[0]), True) if digits else ("\\", pos + 1, False)
    # Only the backslash is taken: what follows may be the closing quote of a text cut short.
    return "\\", pos + 1, python


def _hexadecimal(text: str, pos: int, width: int) -> tuple[str, int, bool]:
    digits = _HEX.fullmatch(text[pos + 2 : pos + 2 + width])
    if digits is None or len(digits[0]) < width or int(digits[0], 16) > 0x10FFFF:
        return "\\", pos + 1, False
    return chr(int(digits[0], 16)), pos + 2 + width, True


def _unicode(text: str, pos: int) -> tuple[str, int, bool]:
    high, end, valid = _hexadecimal(text, pos, 4)
    if valid and "\ud800" <= high <= "\udbff" and text.startswith("\\u", end):
        low, after, paired = _hexadecimal(text, end, 4)
        if paired and "\udc00" <= low <= "\udfff":
            point = 0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00)
            return chr(point), after, True
    return high, end, valid
