"""text_exact and text_any: whole strings."""

import json
import unicodedata
from typing import Any

import pytest

from fcb_toolkit.records import Case, FailureKind, Outcome, Verdict
from fcb_toolkit.scoring import score
from fcb_toolkit.scoring.text_match import candidates

TRUTH = {"role": "assistant", "content": "네, 예약했어요."}
OTHERS = ["예약을 마쳤어요.", "예약되었습니다.", "네, 됐어요."]


def case(truth: Any = TRUTH, others: Any = None) -> Case:
    user = ({"role": "user", "content": "예약해 줘."},)
    return Case("t/1", "t", user, (), truth, others, type_of_output="completion")


def verdict(reply: Any, metric: str = "text_any", others: Any = OTHERS, truth: Any = TRUTH) -> Verdict:
    if isinstance(reply, str):
        reply = {"role": "assistant", "content": reply}
    return score(case(truth, others), reply, metric)


def test_exact_takes_the_ground_truth_only() -> None:
    assert verdict("네, 예약했어요.", "text_exact").outcome is Outcome.PASS
    failed = verdict("예약되었습니다.", "text_exact")
    assert failed.failure is FailureKind.UNFAITHFUL_ANSWER
    assert failed.reason == "expected '네, 예약했어요.', found '예약되었습니다.'"


@pytest.mark.parametrize("reply", [TRUTH["content"], *OTHERS])
def test_any_takes_each_candidate(reply: str) -> None:
    assert verdict(reply).outcome is Outcome.PASS


def test_any_names_the_candidates_that_it_missed() -> None:
    failed = verdict("몰라요.")
    assert failed.failure is FailureKind.UNFAITHFUL_ANSWER
    assert failed.reason == "expected '네, 예약했어요.' or one of 3 others, found '몰라요.'"


@pytest.mark.parametrize("metric", ["text_exact", "text_any"])
def test_what_no_reader_sees_makes_no_difference_and_all_else_does(metric: str) -> None:
    assert verdict("  네, 예약했어요.\n", metric).outcome is Outcome.PASS
    assert verdict(unicodedata.normalize("NFD", "네, 예약했어요."), metric).outcome is Outcome.PASS
    assert verdict("네, 예약했어요", metric).outcome is Outcome.FAIL
    assert verdict("네,예약했어요.", metric).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("truth", "others", "expected"),
    [
        (TRUTH, None, ["네, 예약했어요."]),
        (TRUTH, OTHERS, ["네, 예약했어요.", *OTHERS]),
        (TRUTH, json.dumps(OTHERS, ensure_ascii=False), ["네, 예약했어요.", *OTHERS]),
        (TRUTH, "예약되었습니다.", ["네, 예약했어요.", "예약되었습니다."]),
        (TRUTH, ["네, 예약했어요.", " ", 3, None], ["네, 예약했어요."]),
        ("네.", '"예."', ["네.", "예."]),
        (["네.", "예."], None, ["네.", "예."]),
        (TRUTH, {"city": ["부산"]}, ["네, 예약했어요."]),
        (TRUTH, '{"city": ["부산"]}', ["네, 예약했어요."]),
        (None, None, []),
    ],
)
def test_candidates_come_from_every_shape(truth: Any, others: Any, expected: list[str]) -> None:
    assert list(candidates(case(truth, others))) == expected


def test_eight_candidates_are_eight() -> None:
    others = [f"예약 번호는 {n}번이에요." for n in range(7)]
    assert len(candidates(case(TRUTH, others))) == 8
    assert verdict("예약 번호는 6번이에요.", others=others).outcome is Outcome.PASS


@pytest.mark.parametrize("metric", ["text_exact", "text_any", "text_close"])
@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (None, FailureKind.NO_REPLY),
        ("   ", FailureKind.NO_REPLY),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
            FailureKind.UNEXPECTED_CALL,
        ),
    ],
)
def test_a_reply_without_text_has_its_own_kind(metric: str, reply: Any, failure: FailureKind) -> None:
    assert verdict(reply, metric).failure is failure


@pytest.mark.parametrize("metric", ["text_exact", "text_any", "text_close"])
def test_a_case_without_gold_text_is_not_scored(metric: str) -> None:
    found = verdict("네.", metric, None, None)
    assert found.outcome is Outcome.NOT_SCORED
    assert found.reason == "the case has no gold text to compare with"
