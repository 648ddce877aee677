"""One reply's text with a memory of its searches and a meter, so that reading it takes linear time.

    scan = Scan('<tool_call>{"name": ...}</tool_call>')
    scan.find("<tool_call>", 0)      # 0
    scan.spent                       # characters looked at so far

Every reader looks at the text through a `Scan` and pays for what it reads. A reply that would cost more
than `FACTOR` times its own length (thousands of openings that all fail late) raises `TooComplex`, which
`parse` turns into an error of the parse.
"""

from __future__ import annotations

import re

FACTOR = 24
FLOOR = 20_000
_SPACE = re.compile(r"\s*+")


class TooComplex(Exception):
    """The reply asks for more than linear work."""


class Scan:
    """`text`, positions in it, and what has been spent on it."""

    __slots__ = ("_found", "end", "ended", "fast_failures", "limit", "spent", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = len(text)
        self.spent = 0
        self.fast_failures = 0
        self.ended = False
        """True: an end-of-turn token follows, so what is missing at the end was not cut off."""
        self.limit = FACTOR * len(text) + FLOOR
        self._found: dict[str, tuple[int, int]] = {}

    def charge(self, characters: int) -> None:
        self.spent += characters
        if self.spent > self.limit:
            raise TooComplex

    def find(self, mark: str, start: int) -> int:
        """Where `mark` next occurs at or after `start`; -1 for nowhere.

        The last answer is kept: asking from each of many openings for a closing that never comes
        searches the text once.
        """
        asked, found = self._found.get(mark, (0, -2))
        if found != -2 and asked <= start and (found == -1 or found >= start):
            return found
        found = self.text.find(mark, start)
        self.charge((self.end if found < 0 else found) - start + 1)
        self._found[mark] = (start, found)
        return found

    def find_first(self, marks: tuple[str, ...], start: int) -> tuple[int, str]:
        """(position, mark) of the first of `marks`, the longest where two begin together; (-1, "")."""
        best, best_mark = -1, ""
        for mark in marks:
            at = self.find(mark, start)
            if at >= 0 and (best < 0 or at < best or (at == best and len(mark) > len(best_mark))):
                best, best_mark = at, mark
        return best, best_mark

    def search(self, pattern: re.Pattern[str], start: int, stop: int | None = None) -> re.Match[str] | None:
        """`pattern.search`, paid for. The pattern must be bounded or possessive: no backtracking."""
        stop = self.end if stop is None else stop
        match = pattern.search(self.text, start, stop)
        self.charge(max(0, (match.end() if match else stop) - start) + 1)
        return match

    def match(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """`pattern.match` at `start`, paid for."""
        match = pattern.match(self.text, start)
        self.charge((match.end() - start if match else 0) + 1)
        return match

    def skip(self, start: int) -> int:
        """The first position at or after `start` that is not white space."""
        match = _SPACE.match(self.text, start)
        stop = match.end() if match else start
        self.charge(stop - start + 1)
        return stop

    def at(self, mark: str, start: int) -> bool:
        return self.text.startswith(mark, start)

    def slice(self, start: int, stop: int) -> str:
        self.charge(max(0, stop - start))
        return self.text[start:stop]
