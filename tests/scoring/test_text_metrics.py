"""decision, completion, slot, relevance, reject: what they see, and how often they are right."""

import pytest
import replies
from replies import ALARM, DATE, FLIGHT, HELD, LABELLED, LEAVES, MOTHER, THANKS, WAVE, call

import fcb_toolkit as fcb
from fcb_toolkit import scoring
from fcb_toolkit.records import FailureKind, Outcome


@pytest.mark.parametrize("metric", LABELLED)
def test_each_metric_has_15_labelled_replies_of_both_kinds(metric):
    for rows in (LABELLED[metric], LABELLED[metric] + HELD[metric]):
        assert len(rows) >= 15
        assert sum(row.right for row in rows) >= 5
        assert sum(not row.right for row in rows) >= 5


@pytest.mark.parametrize("metric", LABELLED)
@pytest.mark.parametrize("rows", [LABELLED, HELD], ids=["seen", "held"])
def test_precision_and_recall_hold(metric, rows):
    found = replies.measure(metric, rows[metric])
    assert found.precision >= 0.85
    assert found.recall >= 0.8


def test_the_documented_table_is_the_measured_one(root):
    assert replies.table() in (root / "docs" / "scoring.md").read_text(encoding="utf-8")


def test_no_metric_crashes_on_a_labelled_reply():
    for metric in LABELLED:
        for row in LABELLED[metric] + HELD[metric]:
            verdict = scoring.score(row.case, row.reply, metric)
            assert verdict.outcome in (Outcome.PASS, Outcome.FAIL), verdict


@pytest.mark.parametrize(
    ("case", "reply", "failure"),
    [
        (DATE, None, FailureKind.NO_REPLY),
        (DATE, "  \n", FailureKind.NO_REPLY),
        (DATE, call("reserve_ferry"), FailureKind.UNEXPECTED_CALL),
        (DATE, "예약했습니다.", FailureKind.MISSING_QUESTION),
        (MOTHER, "전화번호를 알려 주세요.", FailureKind.INCOMPLETE_QUESTION),
        (DATE, "인원과 날짜를 알려 주세요.", FailureKind.REDUNDANT_QUESTION),
        (DATE, "What is the date?", FailureKind.WRONG_LANGUAGE),
        (FLIGHT, "항공권을 예매했습니다.", FailureKind.FALSE_CLAIM),
        (FLIGHT, "예매하겠습니다.", FailureKind.FALSE_CLAIM),
        (FLIGHT, "요금은 15만 원입니다.", FailureKind.UNFAITHFUL_ANSWER),
        (FLIGHT, call("reserve_ferry"), FailureKind.UNEXPECTED_CALL),
        (FLIGHT, "배편을 예약할 수 있어요.", FailureKind.UNFAITHFUL_ANSWER),
        (WAVE, "파도는 3미터예요.", FailureKind.MISSING_VALUE),
        (WAVE, "파도 높이를 보면, 오늘은", FailureKind.TRUNCATED),
        (WAVE, "```\n1.4", FailureKind.TRUNCATED),
        (ALARM, '{"status": "success"}', FailureKind.UNFAITHFUL_ANSWER),
        (LEAVES, "It is the chlorophyll.", FailureKind.WRONG_LANGUAGE),
        (THANKS, "상품권을 보냈습니다.", FailureKind.FALSE_CLAIM),
    ],
)
def test_each_failure_has_its_kind(case, reply, failure):
    verdict = fcb.score(case, reply, scoring.default_metric(case))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.failure is failure
    assert "expected" in verdict.reason
    assert "found" in verdict.reason


def test_a_reply_cut_off_at_the_token_limit_is_truncated_whatever_it_says():
    answer = scoring.answer("언제 출발하시나요?", "hermes", finish_reason="length")
    assert scoring.score_answer(DATE, answer, "slot").failure is FailureKind.TRUNCATED


def test_reasoning_alone_is_no_reply():
    answer = scoring.answer("<think>날짜가 없으니 물어봐야겠다.</think>", "hermes")
    verdict = scoring.score_answer(DATE, answer, "slot")
    assert verdict.failure is FailureKind.NO_REPLY
    assert "reasoning without an answer" in verdict.reason


def test_slot_says_which_parameters_it_looked_for():
    verdict = fcb.score(MOTHER, "전화번호를 알려 주세요.", "slot")
    assert verdict.details["tool"] == "send_gift_card"
    assert verdict.details["missing"] == ["message", "phone"]
    assert "message" in verdict.reason


def test_what_is_said_before_the_question_is_not_asked():
    verdict = fcb.score(DATE, "출발 항구는 목포이고, 출발 날짜는 언제인가요?", "slot")
    assert verdict.outcome is Outcome.PASS


def test_a_number_may_be_rounded_or_written_in_korean():
    case = replies.case("completion", "거리?", "거리는 3944.28km입니다.", result='{"km": 3944.28}')
    assert fcb.score(case, "약 3944킬로미터예요.", "completion").outcome is Outcome.PASS
    assert fcb.score(case, "약 3,944.3km예요.", "completion").outcome is Outcome.PASS
    assert fcb.score(case, "약 3900km예요.", "completion").failure is FailureKind.MISSING_VALUE


def test_decision_tells_what_was_wanted_and_found():
    verdict = fcb.score(DATE, "예약했습니다.", "decision")
    assert verdict.details == {"wanted": "ask", "found": "answer"}


@pytest.mark.parametrize("metric", ["decision", "completion", "slot", "relevance", "reject"])
def test_a_docstring_says_what_the_metric_cannot_see(metric):
    from importlib import import_module

    function = getattr(import_module(f"fcb_toolkit.scoring.{metric}"), metric)
    assert "can't see" in function.__doc__ or "sees the kind of the" in function.__doc__


def test_a_very_long_reply_is_read_in_time_proportional_to_its_length():
    assert fcb.score(DATE, "출발 날짜를 " * 50_000, "slot").outcome is Outcome.FAIL
    assert fcb.score(WAVE, "(" * 100_000, "completion").outcome is Outcome.FAIL
    assert fcb.score(WAVE, "1," * 100_000 + "입니다.", "completion").outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "name", ["functionchat/singlecall", "functionchat/dialog", "functionchat/calldecision"]
)
def test_the_gold_of_every_case_passes_its_own_metric(fcb_data, name):
    assert_gold_passes(fcb.load_benchmark(name, fcb_data / "functionchat"))


def test_the_gold_of_the_sample_passes_its_own_metric():
    assert_gold_passes(fcb.load_benchmark("sample/korean"))


def assert_gold_passes(cases):
    wrong = []
    for case in cases:
        truth = case.ground_truth
        message = truth if "role" in truth else {"role": "assistant", "tool_calls": [{"function": truth}]}
        for metric in (scoring.default_metric(case), "decision"):
            verdict = fcb.score(case, message, metric)
            if verdict.outcome is not Outcome.PASS:
                wrong.append((case.id, metric, verdict.reason))
    assert wrong == []


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("항구는 묵호와 동해 두 곳입니다.", True),
        ("묵호항이 가장 가깝습니다.", True),
        ("찾은 항구:\n- 동 해\n- 묵호", True),
        ("가까운 항구가 없습니다.", False),
        ("가까운 항구는 속초와 주문진입니다.", False),
    ],
)
def test_of_several_names_that_the_tool_found_a_completion_tells_one_at_least(reply, right):
    found = replies.case(
        "completion",
        "가까운 항구 알려 줘.",
        "가까운 항구는 동해와 묵호입니다.",
        result='{"harbours": ["동해", "묵호"], "source": "항만청"}',
    )
    verdict = fcb.score(found, reply)
    assert (verdict.outcome == "pass") is right
    assert right or (verdict.failure == "missing_value" and verdict.details["missing"] == ["묵호", "동해"])


@pytest.mark.parametrize(
    "reply", ["저는 배편과 상품권만 다룰 수 있어요.", "항공권 예매는 아직 준비되지 않았습니다."]
)
def test_what_alone_can_be_done_and_what_is_not_ready_decline(reply):
    assert fcb.score(FLIGHT, reply).outcome == "pass"
