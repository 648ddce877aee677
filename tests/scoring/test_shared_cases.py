"""The failing inputs of public bug reports: match_calls and schema_valid must answer as `expected` says."""

import json

import pytest
from golden import lines

import fcb_toolkit as fcb
from fcb_toolkit.records import Case, Outcome


@pytest.fixture(scope="module")
def rows(shared):
    return [row for row in lines(shared / "cases" / "score.jsonl") if row["kind"] == "score"]


def message(calls):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}} for call in calls
        ],
    }


def verdict_of(row):
    given = row["input"]
    prediction = given.get("prediction_message", given["prediction"])
    if given.get("parse_error"):
        prediction = fcb.parse(given["raw"], "hermes", tools=given["schema"])
    return fcb.match_calls(given["gold"], prediction, given["schema"], **given["mode"])


def test_every_case_is_judged_as_expected(rows):
    assert len(rows) >= 30
    wrong = [
        (row["id"], verdict)
        for row in rows
        if (verdict := verdict_of(row)).outcome != row["expected"]["verdict"]
    ]
    assert wrong == []


def test_scores_stay_between_0_and_1(rows):
    for row in rows:
        low, high = row["expected"].get("score_range", [0.0, 1.0])
        assert low <= verdict_of(row).details["score"] <= high
        if "score" in row["expected"]:
            assert verdict_of(row).details["score"] == row["expected"]["score"]


def test_schema_valid_agrees(rows):
    for row in rows:
        if "schema_valid" not in row["expected"]:
            continue
        case = Case("x", "x", (), tuple(row["input"]["schema"]))
        verdict = fcb.score(case, message(row["input"]["prediction"]), "schema_valid")
        assert (verdict.outcome is Outcome.PASS) == row["expected"]["schema_valid"], (row["id"], verdict)


def test_the_official_form_of_a_case_is_judged_alike(rows):
    for row in rows:
        form = row["input"].get("functionchat_form")
        if form is None:
            continue
        case = Case("x", "x", (), tuple(row["input"]["schema"]), **form)
        verdict = fcb.score(case, message(row["input"]["prediction"]), "call_match")
        assert verdict.outcome == row["expected"]["verdict"], row["id"]
