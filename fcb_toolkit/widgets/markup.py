"""The one door from untrusted text to HTML.

    tag("p", "<script>")  == '<p>&lt;script&gt;</p>'
    escape("a\\u202eb")    == 'a<span class="fcb-inv" title="U+202E RIGHT-TO-LEFT OVERRIDE">⟨U+202E⟩</span>b'

Only `escape` and `tag` make `Html`, and `tag` escapes every child that isn't `Html` already, so text of a
model cannot reach the page as markup. Characters that would hide, reorder or break the page's text
(controls, direction marks, zero-width characters, lone surrogates) are replaced by a visible name.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable


class Html(str):
    """Text that is safe as HTML."""

    __slots__ = ()


_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls (ANSI codes start with one), without tab and newline
    "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"  # spaces that look like U+0020
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f"  # nothing to see: zero width, direction, tags
    "\ud800-\udfff"  # lone surrogates, which UTF-8 cannot hold
)
_SPECIAL = re.compile(f"[&<>\"'{_INVISIBLE}]")
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
_CONTROLS = [
    "NUL",
    "SOH",
    "STX",
    "ETX",
    "EOT",
    "ENQ",
    "ACK",
    "BEL",
    "BS",
    "TAB",
    "LF",
    "VT",
    "FF",
    "CR",
    "SO",
    "SI",
    "DLE",
    "DC1",
    "DC2",
    "DC3",
    "DC4",
    "NAK",
    "SYN",
    "ETB",
    "CAN",
    "EM",
    "SUB",
    "ESC",
    "FS",
    "GS",
    "RS",
    "US",
]
VOID = frozenset({"br", "hr", "meta"})


def escape(value: object) -> Html:
    """The value's text as HTML; `Html` passes as it is. Linear in the length of the text."""
    if isinstance(value, Html):
        return value
    return Html(_SPECIAL.sub(_as_html, str(value)))


def _as_html(match: re.Match[str]) -> str:
    char = match.group()
    if char in _ENTITIES:
        return _ENTITIES[char]
    return f'<span class="fcb-inv" title="{html.escape(char_name(char))}">{symbol(char)}</span>'


def symbol(char: str) -> str:
    """What is shown for a character that cannot be seen."""
    code = ord(char)
    if code < len(_CONTROLS):
        return f"⟨{_CONTROLS[code]}⟩"
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return f"⟨U+{code:04X}⟩"


def char_name(char: str) -> str:
    """`U+202E RIGHT-TO-LEFT OVERRIDE`"""
    code = ord(char)
    known = "LONE SURROGATE" if 0xD800 <= code <= 0xDFFF else unicodedata.name(char, "CONTROL")
    return f"U+{code:04X} {known}"


def plain(value: object, limit: int = 200) -> str:
    """One line for a control's label, which the browser takes as text: nothing hidden, nothing unsendable."""
    text = str(value)
    cut = len(text) > limit
    text = " ".join(text[:limit].split(" ")).replace("\n", "↵").replace("\t", " ")
    text = _HIDDEN.sub(lambda match: symbol(match.group()), text)
    return text + "…" if cut else text


def sendable(text: str) -> str:
    """The text as it is, except that lone surrogates, which no message can carry, are spelled out."""
    return _SURROGATE.sub(lambda match: symbol(match.group()), text)


def tag(name: str, *children: object, **attributes: str | bool | None) -> Html:
    """An element. `cls` is the class, `_` in names becomes `-`, True gives a bare attribute, None none."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{shown}>")
    return Html(f"<{name}{shown}>{join(children)}</{name}>")


def _attribute(key: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = "class" if key == "cls" else key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = _HIDDEN.sub(lambda match: symbol(match.group()), str(value))
    return f' {name}="{html.escape(text)}"'


def join(children: Iterable[object], between: str = "") -> Html:
    """The children one after the other, each escaped unless it is `Html`; None is left out."""
    return Html(escape(between).join(escape(child) for child in children if child is not None))


def details(summary: object, *children: object, open_: bool = False) -> Html:
    """A part that opens on a click, without any script."""
    return tag("details", tag("summary", summary), *children, open=open_)


def pre(text: object, cls: str = "", limit: int | None = None) -> Html:
    """Preformatted text, cut at `limit` characters with a line that says how many were left out."""
    shown, rest = (text, 0) if isinstance(text, Html) else cut(str(text), limit)
    note = tag("p", f"{rest:,} more characters are not drawn", cls="fcb-cut") if rest else None
    return join([tag("pre", shown, cls=f"fcb-pre {cls}".strip(), tabindex="0"), note])


def cut(text: str, limit: int | None) -> tuple[str, int]:
    """The first `limit` characters and the number of those left out."""
    if limit is None or len(text) <= limit:
        return text, 0
    return text[:limit], len(text) - limit


def plural(number: int) -> str:
    """The s of `3 calls`."""
    return "" if number == 1 else "s"


def table(head: Iterable[object], rows: Iterable[Iterable[object]], cls: str = "fcb-table") -> Html:
    """A table whose first column names its rows."""
    top = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    body = [_row(list(row)) for row in rows]
    return tag("table", tag("thead", top), tag("tbody", *body), cls=cls)


def _row(cells: list[object]) -> Html:
    return tag("tr", tag("th", cells[0], scope="row"), *(tag("td", cell) for cell in cells[1:]))
