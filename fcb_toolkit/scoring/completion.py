"""`completion`: a tool has answered. Is its result told to the user, whole, in words?

result {"pyeong": 24.2}, gold "80제곱미터는 약 24.2평이에요."
"약 24.2평입니다." -> pass      "약 27평입니다." -> fail, missing_value      "{\\"pyeong\\": 24.2}" -> fail
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.korean_replies import read_acts
from fcb_toolkit.scoring.korean_values import canonical_dates, canonical_numbers
from fcb_toolkit.scoring.strings import normalise, policy
from fcb_toolkit.scoring.text_replies import (
    cut_off,
    gold_text,
    quote,
    text_of,
    wrong_form,
    wrong_language,
)

_NUMBER = re.compile(r"\d{1,30}(?:,\d{3}){0,8}(?:\.\d{1,15})?")
_MAX = 20_000
_LOOSE = policy("ignore_space_case")
_LONGEST_NAME = 40
"""Longer strings are sentences, which a reply puts in its own words."""


def completion(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply is a whole text in Korean, without a call, that tells what the tool found.

    Whole: the finish reason, closed code blocks and brackets, no dangling particle at the end. Tells: it
    is not the tool's raw data, it doesn't only ask or refuse (unless the gold does), and every number that
    both the tool's result and the gold have is in it, be it rounded. Of several names that both have, one is
    enough. It can't see whether the words around them are true, nor one wrong name; use the judge for that.
    """
    wrong = wrong_form(answer, "an answer that tells the tool's result")
    if wrong is not None:
        return wrong
    text = text_of(answer)
    cut = cut_off(text)
    if cut is not None:
        return Verdict.failed(FailureKind.TRUNCATED, f"expected a whole answer, found {cut}")
    foreign = None if _is_data(text) else wrong_language(case, text)
    if foreign is not None:
        return foreign
    gold = gold_text(case)
    return _unfaithful(text, gold) or _missing(case, text, gold) or Verdict.passed("a whole answer")


def _unfaithful(text: str, gold: str) -> Verdict | None:
    kind = FailureKind.UNFAITHFUL_ANSWER
    if _is_data(text):
        return Verdict.failed(kind, f"expected the result in words, found raw data: {quote(text)}")
    acts, truth = read_acts(text), read_acts(gold)
    if truth.declines and acts.done and not acts.declines:
        found = f"a claim to have acted: {quote(acts.done[0])}"
        return Verdict.failed(FailureKind.FALSE_CLAIM, f"expected {quote(gold)}, found {found}")
    if acts.questions and not acts.statements and not truth.questions:
        return Verdict.failed(kind, f"expected the result, found only a question: {quote(text)}")
    if acts.declines and not truth.declines and not any(char.isdigit() for char in text):
        return Verdict.failed(kind, f"expected the result, found a refusal: {quote(text)}")
    return None


def _is_data(text: str) -> bool:
    bare = re.sub(r"^```(?:json)?\s*|\s*```$", "", text)
    if bare.startswith("{") and bare.endswith("}"):
        return True
    if not bare.startswith("["):
        return False
    try:
        return isinstance(json.loads(bare), list)
    except (ValueError, RecursionError):
        return False


def _missing(case: Case, text: str, gold: str) -> Verdict | None:
    """Numbers of the result that the gold tells and the reply does not."""
    wanted = _numbers(gold) & _numbers(" ".join(_results(case)))
    found = _numbers(text)
    lacking = sorted(number for number in wanted if not _told(number, found))
    if not lacking:
        return _no_name(case, text, gold)
    shown = ", ".join(map(str, lacking[:5]))
    return Verdict.failed(
        FailureKind.MISSING_VALUE,
        f"expected the tool's {shown}, found {quote(text)}",
        missing=list(map(str, lacking)),
    )


def _no_name(case: Case, text: str, gold: str) -> Verdict | None:
    """Several names of the result that the gold tells, and the reply none of them. One may be told in other words."""
    said, truth = normalise(text, _LOOSE), normalise(gold, _LOOSE)
    names = dict.fromkeys(name for result in _results(case) for name in _names(result))
    wanted = [name for name in names if len(bare := normalise(name, _LOOSE)) > 1 and bare in truth]
    if len(wanted) < 2 or any(normalise(name, _LOOSE) in said for name in wanted):
        return None
    shown = ", ".join(wanted[:5])
    return Verdict.failed(
        FailureKind.MISSING_VALUE, f"expected the tool's {shown}, found {quote(text)}", missing=wanted
    )


def _names(result: str) -> Iterator[str]:
    """The strings of a result in JSON that are no numbers."""
    try:
        level = [json.loads(result)]
    except (ValueError, RecursionError):
        return
    while level:
        value = level.pop()
        if isinstance(value, str) and not _NUMBER.search(value) and len(value) <= _LONGEST_NAME:
            yield value
        elif isinstance(value, dict | list):
            level += value.values() if isinstance(value, dict) else value


def _told(number: Decimal, found: Iterable[Decimal]) -> bool:
    for other in found:
        exponent = other.as_tuple().exponent
        places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
        if number == other or (number > 10 and round(number, places) == other):
            return True
    return False


def _numbers(text: str) -> set[Decimal]:
    """Numbers of the text, written in digits or in Korean (1만 2,300), times and dates in their parts."""
    text = text[:_MAX]
    plain = canonical_numbers(text)
    found: set[Decimal] = set()
    for form in (text, plain, canonical_dates(plain)):
        for match in _NUMBER.findall(form):
            try:
                found.add(Decimal(match.replace(",", "")))
            except InvalidOperation:
                continue
    # 19:05 told as 오후 7시: the hour of a twelve-hour clock is the same number.
    return found


def _results(case: Case) -> list[str]:
    """The texts of the tool messages after the last user message."""
    texts: list[str] = []
    for message in reversed(case.messages):
        if message.get("role") != "tool":
            if message.get("role") == "user":
                break
            continue
        content: Any = message.get("content")
        texts.append(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
    return texts
