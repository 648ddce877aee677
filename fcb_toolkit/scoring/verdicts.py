"""Verdicts that several metrics share: what a reply without a readable call is.

no_call_verdict(answer, "a call of get_weather").failure
-> no_reply, truncated, malformed_call or missing_call, the first that applies
"""

from __future__ import annotations

from fcb_toolkit.records import Answer, Case, FailureKind, Outcome, Verdict

EXACT_STAGES = ("functionchat_exact", "call_match")
"""What passes one of these passes the rubric; a judge is asked of the rest."""


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def is_empty(answer: Answer) -> bool:
    """No text, no call, not even a broken one; reasoning alone, closed or not, is no answer."""
    parse = answer.parse
    begun = parse.error is not None and parse.error.code != "unclosed_reasoning"
    return not parse.tool_calls and not begun and not (parse.content or "").strip()


def is_broken(answer: Answer) -> bool:
    """A call was begun that cannot be read."""
    return answer.parse.error is not None and not is_empty(answer)


def empty_verdict(answer: Answer, wanted: str) -> Verdict | None:
    """`truncated` or `no_reply` for an answer that says nothing, else None."""
    if not is_empty(answer):
        return None
    if answer.message is None:
        return Verdict.failed(FailureKind.NO_REPLY, f"expected {wanted}, found no reply")
    if answer.finish_reason == "length":
        found = "a reply cut off at the token limit before any answer"
        return Verdict.failed(FailureKind.TRUNCATED, f"expected {wanted}, found {found}")
    found = "reasoning without an answer" if (answer.parse.reasoning or "").strip() else "an empty reply"
    found = "reasoning that is never closed" if answer.parse.error is not None else found
    return Verdict.failed(FailureKind.NO_REPLY, f"expected {wanted}, found {found}")


def no_call_verdict(answer: Answer, wanted: str) -> Verdict:
    """Why there is no call to compare."""
    empty = empty_verdict(answer, wanted)
    if empty is not None:
        return empty
    error = answer.parse.error
    if answer.finish_reason == "length":
        found = f"a call that cannot be read: {error.message}" if error else "text"
        return Verdict.failed(
            FailureKind.TRUNCATED, f"expected {wanted}, found a reply cut off at the token limit ({found})"
        )
    if error is not None:
        return Verdict.failed(
            FailureKind.MALFORMED_CALL,
            f"expected {wanted}, found a call that cannot be read: {error.message}",
        )
    text = " ".join((answer.parse.content or "").split())
    shown = text if len(text) <= 80 else text[:79] + "…"
    return Verdict.failed(FailureKind.MISSING_CALL, f"expected {wanted}, found text only: {shown!r}")


def rubric(case: Case, answer: Answer) -> Verdict:
    """The part of the rubric's verdict that needs no judge: no reply fails, what the exact stage passes passes.

    Anything else is not scored until `fcb judge` has asked one.
    """
    from fcb_toolkit.scoring.metrics import score_answer

    if answer.message is None:
        return Verdict.failed(FailureKind.NO_REPLY, "no reply to judge")
    for stage in EXACT_STAGES:
        if score_answer(case, answer, stage).outcome == Outcome.PASS:
            return Verdict.passed(f"exact stage: {stage} passes", stage=stage)
    return Verdict.not_scored("the rubric needs a judge: fcb judge DIR --judge M")
