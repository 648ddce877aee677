"""What a text holds that its reader cannot see.

text_notes("서\\u200b울") == ["1 zero-width character"]
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_KINDS: Mapping[str, re.Pattern[str]] = {
    "decomposed Hangul letter (NFD)": re.compile("[\u1100-\u1112][\u1161-\u1175]"),
    "full-width or half-width form": re.compile("[\uff01-\uff9f\uffa1-\uffee]"),
    "unusual space": re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]"),
    "zero-width character": re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]"),
    "direction mark": re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
    "terminal escape code": re.compile("\x1b"),
    "other control character": re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]"),
    "lone surrogate": re.compile("[\ud800-\udfff]"),
    "invisible tag character": re.compile("[\U000e0000-\U000e007f]"),
}


def text_notes(text: str) -> list[str]:
    """One phrase per kind of hidden character, with its number."""
    if text.isascii() and text.isprintable():
        return []
    found = [(kind, len(pattern.findall(text))) for kind, pattern in _KINDS.items()]
    return [f"{n:,} {kind}{_plural(kind, n)}" for kind, n in found if n]


def _plural(kind: str, number: int) -> str:
    return "" if number == 1 or kind.endswith(")") else "s"


def code_points(text: str, limit: int = 4) -> str:
    """`U+C11C` for 서: how the characters of a short text are really encoded."""
    shown = " ".join(f"U+{ord(char):04X}" for char in text[:limit])
    return shown + (" …" if len(text) > limit else "")
