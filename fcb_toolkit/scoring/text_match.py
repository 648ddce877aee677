"""`text_exact` and `text_any`: is the reply word for word what was wanted?

    ground truth "네, 예약했어요.", alternatives ["예약을 마쳤어요.", "예약되었습니다.", "네, 됐어요."]
    "예약되었습니다."  -> text_exact fails, text_any passes

Both compare whole strings. Only what no reader can see is set aside: space at the ends, and whether Hangul is
stored composed or decomposed.
"""

from __future__ import annotations

import json
from typing import Any

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.text_replies import gold_text, quote, text_of, wrong_form
from fcb_toolkit.text import nfc


def text_exact(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply is the ground truth's text. A right answer in other words fails; see `text_close`."""
    return _equal_to_one(answer, candidates(case)[:1])


def text_any(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply is one of the candidate texts (see `candidates`)."""
    return _equal_to_one(answer, candidates(case))


def candidates(case: Case) -> tuple[str, ...]:
    """The texts that a case accepts, the ground truth's first, each once.

    The others are `acceptable_arguments`: a list of texts or its JSON text, or one text. Benchmarks of
    the field give 4 or 8 in all; any number works. () where the case holds no text.
    """
    given = case.ground_truth if isinstance(case.ground_truth, list) else [gold_text(case)]
    texts = (
        nfc(text).strip() for text in [*given, *_alternatives(case.acceptable_arguments)] if _is_text(text)
    )
    return tuple(dict.fromkeys(text for text in texts if text))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _alternatives(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        value = read if isinstance(read, (list, str)) else None
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, (list, tuple)) else []


def unreadable(answer: Answer, wanted: tuple[str, ...]) -> Verdict | None:
    """Why there is nothing to compare: no gold text (not scored), no text in the reply, a call; else None."""
    if not wanted:
        return Verdict.not_scored("the case has no gold text to compare with")
    return wrong_form(answer, quote(wanted[0]))


def _equal_to_one(answer: Answer, wanted: tuple[str, ...]) -> Verdict:
    wrong = unreadable(answer, wanted)
    if wrong is not None:
        return wrong
    text = nfc(text_of(answer))
    if text in wanted:
        return Verdict.passed(f"equal to candidate {wanted.index(text) + 1} of {len(wanted)}")
    others = f" or one of {len(wanted) - 1} others" if len(wanted) > 1 else ""
    return Verdict.failed(
        FailureKind.UNFAITHFUL_ANSWER, f"expected {quote(wanted[0])}{others}, found {quote(text)}"
    )
