"""Reasoning that is never closed: no call was begun, so the failure is the missing answer (docs/parsers.md)."""

import pytest

import fcb_toolkit as fcb
from fcb_toolkit import scoring

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
CASES = {
    kind: fcb.Case.from_request(
        {
            "serial_num": 1,
            "messages": [{"role": "user", "content": "질문"}],
            "tools": TOOLS,
            "ground_truth": gold,
            "type_of_output": kind,
        }
    )
    for kind, gold in {
        "call": {"name": "f", "arguments": "{}"},
        "completion": "답",
        "slot": "언제요?",
        "relevance": "못 합니다.",
    }.items()
}
OPENED = [("<think>아직 생각 중", None, "hermes"), ("아직 생각 중", "<think>\n", "qwen3_coder")]
OPENED += [
    ("[THINK]아직", None, "mistral"),
    ("<think>", None, "plain_json"),
    ("<think>\n\n<|im_end|>", None, "hermes"),
]


def verdict(case, metric, text, prompt, format, finish):
    return scoring.score_answer(case, scoring.answer(text, format, TOOLS, prompt, finish), metric)


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize(("text", "prompt", "format"), OPENED)
@pytest.mark.parametrize("kind", CASES)
def test_it_is_truncated_at_the_limit_and_else_no_reply(kind, text, prompt, format, finish):
    parsed = fcb.parse(text, format, tools=TOOLS, prompt=prompt)
    assert (parsed.error.code, parsed.content, parsed.tool_calls) == ("unclosed_reasoning", None, ())
    for metric in (scoring.default_metric(CASES[kind]), "decision"):
        found = verdict(CASES[kind], metric, text, prompt, format, finish)
        assert found.failure == ("truncated" if finish == "length" else "no_reply"), found
        assert "call that cannot be read" not in found.reason


def test_the_reason_says_that_the_reasoning_never_ends():
    found = verdict(CASES["call"], "call_match", "<think>아직", None, "hermes", "stop")
    assert found.reason == "expected a call of f, found reasoning that is never closed"
    closed = verdict(CASES["call"], "call_match", "<think>아직</think>", None, "hermes", "stop")
    assert closed.reason == "expected a call of f, found reasoning without an answer"


def test_arguments_are_not_scored_where_no_call_was_made():
    assert (
        verdict(CASES["call"], "schema_valid", "<think>아직", None, "hermes", "stop").outcome == "not_scored"
    )


def test_the_official_scorers_verdict_is_a_missing_call():
    found = verdict(CASES["call"], "functionchat_exact", "<think>아직", None, "hermes", "stop")
    assert found.failure == "missing_call"


@pytest.mark.parametrize(("finish", "failure"), [("stop", "malformed_call"), ("length", "truncated")])
def test_a_call_that_was_begun_in_it_and_broken_is_a_broken_call(finish, failure):
    text = '<think>아직 <tool_call>\n{"name": "f", "argu'
    assert verdict(CASES["call"], "call_match", text, None, "hermes", finish).failure == failure


def test_a_whole_call_in_it_counts():
    text = '<think>아직 <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert verdict(CASES["call"], "call_match", text, None, "hermes", "stop").outcome == "pass"
