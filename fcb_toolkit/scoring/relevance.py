"""`relevance`: no tool is needed, or none fits. Is there a plain answer, without a call and without a false claim?

gold "피자는 주문할 수 없습니다."
"피자 주문은 어려워요." -> pass          "네, 피자를 주문했습니다!" -> fail, false_claim
"""

from __future__ import annotations

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.korean_replies import read_acts
from fcb_toolkit.scoring.reject import must_decline
from fcb_toolkit.scoring.text_replies import gold_text, quote, text_of, wrong_form, wrong_language


def relevance(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply makes no call, claims no deed, and declines where the gold declines.

    Where the gold answers from knowledge or just talks, any Korean text without a call and without a
    claim to have acted passes: whether it is true, kind or to the point, it can't see.
    """
    wrong = wrong_form(answer, "an answer without a call")
    if wrong is not None:
        return wrong
    text = text_of(answer)
    acts = read_acts(text)
    if read_acts(gold_text(case)).declines:
        verdict = must_decline(acts, text)
        if verdict is not None:
            return verdict
    elif acts.done:
        return Verdict.failed(
            FailureKind.FALSE_CLAIM, f"expected an answer, found a claim to have acted: {quote(acts.done[0])}"
        )
    return wrong_language(case, text) or Verdict.passed("an answer without a call")
