"""`decision`: was the right kind of thing done - a call, a question, a refusal or an answer?

decide(answer) == "ask" for "어느 지역의 날씨를 알려 드릴까요?"
"""

from __future__ import annotations

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.korean_replies import read_acts
from fcb_toolkit.scoring.text_replies import gold_text, quote, text_of, wrong_form
from fcb_toolkit.scoring.verdicts import is_broken, no_call_verdict


def decision(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply does what the case wants: call, ask, decline or answer.

    Wanted: call -> call; slot -> ask; completion -> answer; relevance -> decline where the gold declines
    (or the category is reject), else answer. `details` holds `wanted` and `found`. It sees the kind of the
    reply only: not which tool is called, what is asked, or whether an answer is true.
    """
    wanted = wanted_decision(case)
    if wanted == "call":
        if answer.parse.tool_calls and answer.parse.error is None:
            return Verdict.passed("a call", wanted=wanted, found="call")
        verdict = no_call_verdict(answer, "a call")
        assert verdict.failure is not None
        return Verdict.failed(verdict.failure, verdict.reason, wanted=wanted, found=decide(answer))
    words = {"ask": "a question", "decline": "a refusal", "answer": "an answer"}[wanted]
    wrong = wrong_form(answer, words)
    found = decide(answer)
    if wrong is not None:
        assert wrong.failure is not None
        return Verdict.failed(wrong.failure, wrong.reason, wanted=wanted, found=found)
    if wanted in acts_of(answer):
        return Verdict.passed(words, wanted=wanted, found=found)
    return Verdict.failed(
        _kind(wanted, found), f"expected {words}, found {quote(text_of(answer))}", wanted=wanted, found=found
    )


def wanted_decision(case: Case) -> str:
    if case.type_of_output == "call":
        return "call"
    if case.type_of_output == "slot":
        return "ask"
    if case.type_of_output == "relevance" and (
        case.category == "reject" or read_acts(gold_text(case)).declines
    ):
        return "decline"
    return "answer"


def decide(answer: Answer) -> str:
    """call, malformed, none, ask, decline or answer: the first that the reply does."""
    if is_broken(answer):
        return "malformed"
    if answer.parse.tool_calls:
        return "call"
    acts = acts_of(answer)
    return next((act for act in ("ask", "decline", "answer") if act in acts), "none")


def acts_of(answer: Answer) -> frozenset[str]:
    """All that a text does; a refusal that ends in a question does both."""
    text = text_of(answer)
    if not text:
        return frozenset()
    acts = read_acts(text)
    found = set()
    if acts.questions:
        found.add("ask")
    if acts.declines:
        found.add("decline")
    if acts.statements or not acts.questions:
        found.add("answer")
    return frozenset(found)


def _kind(wanted: str, found: str) -> FailureKind:
    if wanted == "ask":
        return FailureKind.MISSING_QUESTION
    if wanted == "decline":
        return FailureKind.UNFAITHFUL_ANSWER if found == "answer" else FailureKind.FALSE_CLAIM
    return FailureKind.REDUNDANT_QUESTION
