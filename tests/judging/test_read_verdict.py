"""Verdict texts as judges write them, in Korean and English."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fcb_toolkit as fcb
from fcb_toolkit.jsonl import read

PASS = [
    "pass",
    "PASS",
    "**Pass**",
    "[[pass]]",
    "합격",
    "통과입니다.",
    "The call matches the ground truth.\npass",
    "이유: 인자가 모두 같다.\n판정: 합격",
    "Reasoning: the city is right.\n\nVerdict: PASS",
    "최종 판정: 통과",
    "결과 - pass",
    "Final verdict is pass.",
    '{"reason": "값이 같다", "verdict": "pass"}',
    '```json\n{"verdict": "PASS", "why": "ok"}\n```',
    '{"pass": true}',
    "Pass\n\nAll required arguments are there.",
    "The response passes.",
    "The answer does not fail.",
    "It did not fail any criterion, so it passes.",
    "실패가 아니다.",
    '기준에는 "값이 다르면 fail"이라고 되어 있다. 값이 같으므로 이 응답은 통과했다.',
    "The rubric says 'fail if the name differs'. The name is the same.\nVerdict: pass",
    "처음에는 실패로 보였다.\n판정: 합격",
    "ｐａｓｓ",
    "✅ pass",
    "평가 결과: 통과",
    "Verdict: fail? No.\nVerdict: pass",
    "이 응답은 합격이다.",
]
FAIL = [
    "fail",
    "Fail.",
    "불합격",
    "불통과",
    "실패",
    "판정: 불합격",
    "판정은 실패입니다",
    "최종 판정: **불합격**",
    "Verdict: FAIL",
    "The response does not pass.",
    "This cannot be considered a pass.",
    "It doesn't pass the check.",
    "The reply did not pass and the user is not helped.",
    "The output fails to pass.",
    "통과하지 못했다.",
    "합격이 아니다.",
    "합격으로 볼 수 없다.",
    "통과라고 하기 어렵다.",
    "통과시킬 수 없습니다.",
    "이 응답은 기준을 통과하지 못합니다.",
    "The model calls the wrong tool.\nfail",
    '{"verdict": "fail"}',
    '{"판정": "불합격"}',
    '{"pass": false}',
    "bypass of the rule\nfail",
    "This is a failure.",
    "It never passes.",
    "The answer is not a pass.",
    "판정: 합격이 아님",
    "Result: not pass",
    "Result: failed",
    "값이 다르다. 따라서 이 응답은 실패이다.",
    "Pass was my first thought.\nVerdict: fail",
    "❌ Fail",
]
NEITHER = [
    "",
    "   \n",
    None,
    "pass or fail",
    "Pass/Fail",
    "합격 여부를 판단하기 어렵다.",
    "Verdict: pass or fail",
    "The bypass works.",
    "A passage about failing forward.",
    "pass\nfail",
    "It would pass if the city were right.",
    "값이 같으면 합격이다.",
    "통과하려면 값이 같아야 한다.",
    "The rubric says 'pass'.",
    "잘 모르겠습니다.",
    "score: 7",
    "It passes the first check but fails the second.",
    "합격할 수 있었을 것이다.",
    "whether it should pass",
    "The compassionate failover",
    '{"verdict": "maybe"}',
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [*((t, "pass") for t in PASS), *((t, "fail") for t in FAIL), *((t, None) for t in NEITHER)],
)
def test_a_verdict_is_read_as_a_person_reads_it(text, expected):
    assert fcb.read_verdict(text) == expected


def test_the_table_is_large_enough():
    assert len(PASS) + len(FAIL) + len(NEITHER) >= 60


MORE = list(read(Path(__file__).with_name("verdict_texts.jsonl")))
"""Negations, rules, quotes, conditions, other senses of the words, Markdown, tables, JSON, tags, cut-off answers."""


@pytest.mark.parametrize("row", [row for _, row in MORE], ids=lambda row: row["text"][:40])
def test_what_was_tried_to_mislead_it_is_read_rightly_or_not_at_all(row):
    assert fcb.read_verdict(row["text"]) == row["verdict"]


@pytest.mark.parametrize(
    ("end", "never"),
    [
        ("\n\n판정: 불합격", "pass"),
        ("\n\nVerdict: PASS", "fail"),
        ("\nfail", "pass"),
        ("\n합격", "fail"),
        ("\n다시 보니 불합격입니다.", "pass"),
        ("\nTherefore the reply passes.", "fail"),
    ],
)
def test_no_text_before_a_plain_verdict_turns_it_round(end, never):
    assert [row["text"] for _, row in MORE if fcb.read_verdict((row["text"] or "") + end) == never] == []


def test_most_plain_verdicts_of_the_large_table_are_read():
    read_ = [row for _, row in MORE if row["verdict"]]
    assert len(MORE) > 500 and len(read_) > 250


@pytest.mark.parametrize(
    "unit",
    [
        "so and therefore ",
        "it passes ",
        "따라서 합격 ",
        "{",
        '\n{"a": ',
        "<think>",
        "판정: 합격\n",
        "'",
        "\n",
        "| a ",
    ],
)
def test_only_the_end_of_a_long_answer_is_read(unit):
    """No pattern is quadratic either: with one, these take minutes."""
    shorter, longer = (fcb.read_verdict(unit * (size // len(unit))) for size in (40_000, 400_000))
    assert shorter == longer


@given(st.text() | st.text(alphabet="pasfil 합격불통과{}\"':\n").filter(bool))
@settings(deadline=None)
def test_any_text_gives_a_verdict_or_none(text):
    assert fcb.read_verdict(text) in ("pass", "fail", None)


def test_where_the_official_reading_is_plainly_wrong_ours_is_not(shared):
    """Official keys of 41 texts: ours gives the same, or None, or is right where the official is not."""
    wrong = {"not pass", "불합격", "불통과", "bypass", "실패", "못했"}
    for _, row in read(shared / "golden" / "functionchat_judge_text.jsonl"):
        if "text" not in row:
            continue
        ours = fcb.read_verdict(row["text"])
        if ours is not None and row["key"] in ("pass", "fail") and ours != row["key"]:
            both = "pass" in row["text"] and "fail" in row["text"]
            assert both or any(part in row["text"] for part in wrong), row
