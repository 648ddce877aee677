"""Our re-implementations against what the official code answered, row for row."""

from collections import Counter

import pytest
from golden import functionchat_rows, lines

from fcb_toolkit import parsers, scoring
from fcb_toolkit.records import Outcome
from fcb_toolkit.scoring import ParityReason
from fcb_toolkit.scoring.answers import _plain

OFFICIAL = {Outcome.PASS: "pass", Outcome.FAIL: "fail", Outcome.NOT_SCORED: "error"}


@pytest.fixture(scope="module")
def rows(shared):
    return list(functionchat_rows(shared))


def test_functionchat_exact_gives_each_golden_verdict(rows):
    wrong = [
        (name, expected, verdict)
        for name, case, answer, expected in rows
        if OFFICIAL[(verdict := scoring.score_answer(case, answer, "functionchat_exact")).outcome] != expected
    ]
    assert len(rows) > 10_000
    assert wrong == []


def test_a_crash_of_the_official_code_is_not_scored_and_says_what_it_raises(rows):
    for _, case, answer, expected in rows:
        verdict = scoring.score_answer(case, answer, "functionchat_exact")
        if expected == "error":
            assert verdict.reason.startswith("the official scorer raises ")
            assert verdict.details["exception"] in verdict.reason


def test_each_disagreement_of_call_match_with_the_official_stage_has_a_named_reason(rows):
    found = Counter(row.reason for row in scoring.parity_rows((case, answer) for _, case, answer, _ in rows))
    assert found[ParityReason.UNEXPLAINED] == 0
    assert found[ParityReason.FIRST_CALL_ONLY] > 300
    assert found[ParityReason.SWITCHED_OFF_KEY] > 200
    assert found[ParityReason.TRUE_IS_ONE] > 30
    assert set(found) <= set(ParityReason)


@pytest.mark.parametrize(
    ("perturbation", "reason"),
    [
        ("two_calls_right_first", ParityReason.FIRST_CALL_ONLY),
        ("gold_tab", ParityReason.NORMALISATION),
        ("gold_nfd", ParityReason.NORMALISATION),
        ("type_bool_to_int", ParityReason.TRUE_IS_ONE),
        ("args_object", ParityReason.CRASH_ON_REPLY),
        ("args_nan", ParityReason.PYTHON_JSON),
        ("noncall_row_gold_text", ParityReason.NOT_A_CALL_CASE),
        ("gold_case", ParityReason.EXACT_RULE),
    ],
)
def test_a_kind_of_fault_falls_under_its_own_reason(rows, perturbation, reason):
    found = {scoring.parity(case, answer) for name, case, answer, _ in rows if name == perturbation} - {None}
    assert reason in found
    assert found <= {reason, ParityReason.SWITCHED_OFF_KEY, ParityReason.READ_LENIENTLY}


def test_every_verdict_of_call_match_on_the_golden_rows_is_whole(rows):
    for _, case, answer, _ in rows:
        verdict = scoring.score_answer(case, answer, "call_match")
        assert "metric crashed" not in verdict.reason
        assert (verdict.failure is not None) == (verdict.outcome is Outcome.FAIL)
        if verdict.outcome is Outcome.FAIL:
            assert "expected" in verdict.reason
            assert "found" in verdict.reason


def test_the_short_way_for_plain_messages_is_the_parsers_answer(rows):
    short = 0
    for _, case, answer, _ in rows:
        parse = _plain(answer.message)
        if parse is not None:
            short += 1
            assert repr(parse) == repr(parsers.parse(answer.message, "openai", tools=case.tools))
    assert short > 5_000


@pytest.mark.parametrize("file", ["bfcl_ast.jsonl", "bfcl_synthetic.jsonl"])
def test_bfcl_ast_gives_each_golden_verdict_and_error_type(shared, file):
    wrong = []
    for row in lines(shared / "golden" / file):
        for case in row.get("cases", [row]):
            verdict = scoring.match_bfcl(
                row["function"],
                case["text"] if "text" in case else case["model_output"],
                row["possible_answer"],
                row["category"],
                underscore_to_dot=case.get("underscore_to_dot", "model_oai" in row.get("case", "")),
            )
            expected = {True: Outcome.PASS, False: Outcome.FAIL, None: Outcome.NOT_SCORED}[case["valid"]]
            if verdict.outcome is not expected:
                wrong.append((row.get("id", row.get("case")), case, verdict))
            elif expected is Outcome.FAIL and case["error_type"] not in verdict.reason:
                wrong.append((row.get("id", row.get("case")), case["error_type"], verdict))
    assert wrong == []
