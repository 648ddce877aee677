"""How a judge is asked, and the words that it is asked with once more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.judging.orders import GIVEN, ORDERS
from fcb_toolkit.records import Generation

METRIC = "rubric"
VERDICT_FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "reasoning": {"type": "string"},
                "verdict": {"type": "string", "enum": ["pass", "fail"]},
            },
            "required": ["reasoning", "verdict"],
            "additionalProperties": False,
        },
    },
}
"""`response_format` for servers that have structured output; the reasoning comes first."""
_AGAIN = {
    "ko": ("\n\n설명 없이 한 줄만 적으세요: '{}' 또는 '{}'.", "판정: 합격", "판정: 불합격"),
    "en": ("\n\nWrite one line only and no explanation: '{}' or '{}'.", "Verdict: PASS", "Verdict: FAIL"),
}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """`every`: ask the judge of all replies, not only of those that the exact stage leaves open.

    `temperature` None: 0 for one vote, 1 for more (votes that cannot differ say nothing new).
    `orders`: each vote is asked for in each of these orders of the rubric (see `orders`); all count.
    """

    language: str = "ko"
    rubric: str | Path | None = None
    votes: int = 1
    every: bool = False
    max_new_tokens: int = 512
    temperature: float | None = None
    orders: tuple[str, ...] = (GIVEN,)

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise DataError(f"votes is {self.votes}, expected 1 or more")
        for order in self.orders:
            if order not in ORDERS:
                raise UnknownName("order of a rubric", order, ORDERS)
        if not self.orders or len(set(self.orders)) != len(self.orders):
            raise DataError(f"orders is {self.orders!r}, expected each of {', '.join(ORDERS)} at most once")

    def settings(self, vote: int, attempt: int) -> Generation:
        warm = (0.0 if self.votes == 1 else 1.0) if self.temperature is None else self.temperature
        return Generation(self.max_new_tokens, warm, seed=vote + 1000 * attempt)

    def again(self, order: str) -> str:
        """What is added to the prompt where the first answer could not be read."""
        text, good, bad = _AGAIN[self.language]
        return text.format(bad, good) if order == "verdicts" else text.format(good, bad)
