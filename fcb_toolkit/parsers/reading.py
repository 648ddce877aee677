"""What a format's reader works with: the text, the offered tools, and what has been found so far.

    def read(reading: Reading) -> None:           # one such function a format
        start = reading.scan.find("<call>", 0)
        reading.text(0, start)
        reading.call("get_weather", {"city": "서울"})

`parse` makes the `Reading`, runs the format's reader over it, and builds the `Parse` from it. A reader
calls `repair` for each departure from its format that has one sensible reading (strict mode refuses the
reply then), and `error` for text that was meant as a call and cannot be read as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.parsers.offered import Offered
from fcb_toolkit.parsers.scan import Scan
from fcb_toolkit.records import ParseError, ToolCall

EMPTY_FENCE = re.compile(r"```[\w+-]{0,20}\s*+(?:```)?")

REPAIRS = {
    "alias": "a key has another name than the format's",
    "bare_key": "an object key stands without quotes",
    "unmarked": "the call stands without the marks of the format",
    "close_tag_in_value": "a value holds its own closing tag",
    "code_fence": "the call stands in a code fence",
    "comment": "the arguments hold a comment",
    "odd_space": "white space that is not JSON's stands between tokens",
    "respelled_mark": "the format's marks are spelled in other characters",
    "double_encoded": "the arguments are JSON inside a JSON string",
    "duplicate_key": "a key is given twice, with one value",
    "flat_arguments": "the arguments stand beside the name, not under their own key",
    "foreign_form": "the call is written in another format's form",
    "header_token": "the reply repeats the header of its own turn",
    "invalid_escape": "a backslash stands before a character that makes no escape",
    "json_literal": "a word of JSON stands in Python text",
    "missing_arguments": "the call has no arguments key",
    "missing_bracket": "a closing bracket is missing before the closing tag",
    "missing_close": "the closing tag is missing",
    "missing_mark": "a string mark is missing",
    "missing_open": "the opening tag is missing",
    "number_form": "a number is not written as JSON writes it",
    "object_arguments": "the arguments are an object, not a JSON string",
    "positional_argument": "an argument is given without its name",
    "python_literal": "a word or tuple of Python stands in JSON text",
    "python_string": "a string is quoted as Python quotes it",
    "raw_control_character": "a string holds a raw line break or control character",
    "reserved_word": "a parameter is named like a word of Python",
    "sanitised_id": "the call id is not in the format's form",
    "several_objects": "one tag holds several calls",
    "single_object": "a call stands without the list around it",
    "stray_tag": "a tag stands where none belongs",
    "stray_text": "text stands where the format has none",
    "superfluous_bracket": "superfluous closing brackets follow the call",
    "trailing_comma": "a comma stands before a closing bracket",
    "typographic": "quotation marks, colons or commas are those of ordinary text",
    "unclosed_reasoning": "the call stands in a reasoning block that is not closed",
    "wrapper": "the call is wrapped in an object of its own",
}
"""Departures from a format that have one sensible reading. Strict mode reports them as errors."""


class Reading:
    """Collects calls, content, repairs and errors of one reply, in their order."""

    __slots__ = (
        "calls", "errors", "offered", "open_reasoning", "pieces", "prompt", "reasoning", "repairs", "scan",
    )  # fmt: skip

    def __init__(self, text: str, offered: Offered, prompt: str | None = None) -> None:
        self.scan = Scan(text)
        self.prompt = prompt
        self.offered = offered
        self.calls: list[ToolCall] = []
        self.pieces: list[tuple[int, int] | str] = []
        """Spans of the text, and text that is not in it as such (a message's content)."""
        self.reasoning: list[str] = []
        self.open_reasoning = False
        self.repairs: list[ParseError] = []
        self.errors: list[ParseError] = []

    def text(self, start: int, stop: int) -> None:
        """What stands there is content."""
        if stop <= start:
            return
        last = self.pieces[-1] if self.pieces else ""
        if isinstance(last, tuple) and last[1] == start:
            self.pieces[-1] = (last[0], stop)
        else:
            self.pieces.append((start, stop))

    def content(self) -> str | None:
        """The pieces of content, stripped, one below the other; None where there are none."""
        text = self.scan.text
        pieces = [piece if isinstance(piece, str) else text[piece[0] : piece[1]] for piece in self.pieces]
        content = "\n".join(filter(None, map(str.strip, pieces)))
        return content or None

    def call(
        self, name: str, arguments: dict[str, Any], raw: str | None = None, id: str | None = None
    ) -> None:
        self.calls.append(ToolCall(name, arguments, id, raw))

    def repair(self, *codes: str) -> None:
        self.repairs.extend(ParseError(code, REPAIRS[code]) for code in codes)

    def error(self, code: str, message: str, start: int, stop: int) -> None:
        """The text there was meant as a call and is none; it stays in the content."""
        self.errors.append(ParseError(code, message))
        self.text(start, stop)


@dataclass(frozen=True, slots=True)
class Format:
    """One output format. `signature` finds its opening in a text; `models` says who writes it."""

    name: str
    read: Callable[[Reading], None]
    models: str
    signature: re.Pattern[str] | None = None
    """None: the format has no mark of its own (bare JSON)."""
    openers: tuple[str, ...] = ()
    """Literal marks that begin a call: reasoning ends there if it was never closed."""
    closes: tuple[str, ...] = ()
    """Marks after which no further call comes: generation may stop there."""
    bare: bool = False
    """True: the format is bare JSON or code, so an unmarked JSON call needs no repair of its own."""
    splits_reasoning: bool = True
    """False: the format has channels of its own for reasoning."""
    reads_headers: bool = False
    """True: the headers of turns are part of the format."""
