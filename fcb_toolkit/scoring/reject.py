"""`reject`: no offered tool can do what is asked. Is the request declined?

"항공편을 조회하는 기능은 제공하지 않아요." -> pass
"잠시만요, 항공편을 조회하겠습니다." -> fail, false_claim
"""

from __future__ import annotations

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.korean_replies import Acts, read_acts
from fcb_toolkit.scoring.text_replies import quote, text_of, wrong_form, wrong_language


def reject(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply says that it can't do what is asked, makes no call and claims no deed.

    A refusal is found by Korean (and English) phrases. It can't see whether the right thing is refused,
    nor a refusal without any such phrase ("은행 앱을 이용해 주세요.").
    """
    wrong = wrong_form(answer, "a refusal without a call")
    if wrong is not None:
        return wrong
    text = text_of(answer)
    return (
        must_decline(read_acts(text), text)
        or wrong_language(case, text)
        or Verdict.passed("the request is declined")
    )


def must_decline(acts: Acts, text: str) -> Verdict | None:
    """What is wrong with a reply that should decline; None if it does."""
    if acts.done:
        found = f"a claim to have acted: {quote(acts.done[0])}"
        return Verdict.failed(FailureKind.FALSE_CLAIM, f"expected a refusal, found {found}")
    if acts.declines:
        return None
    if acts.promises:
        found = f"a promise to act: {quote(acts.promises[0])}"
        return Verdict.failed(FailureKind.FALSE_CLAIM, f"expected a refusal, found {found}")
    if acts.questions:
        found = f"a question, as if it could be done: {quote(acts.questions[0])}"
        return Verdict.failed(FailureKind.FALSE_CLAIM, f"expected a refusal, found {found}")
    return Verdict.failed(
        FailureKind.UNFAITHFUL_ANSWER, f"expected a refusal, found an answer: {quote(text)}"
    )
