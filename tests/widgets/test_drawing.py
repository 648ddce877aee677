"""Drawing an item: whatever stands in a case or a reply, it is drawn as text."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_markup import any_text, parsed
from widget_toys import TOOL, case_of

import fcb_toolkit as fcb
from fcb_toolkit.annotations import Annotations
from fcb_toolkit.records import Case, FailureKind, Reply, Verdict
from fcb_toolkit.widgets.draw_calls import draw_answer, draw_between
from fcb_toolkit.widgets.draw_item import (
    draw_conversation,
    draw_prompt,
    draw_raw,
    draw_tools,
    draw_verdicts,
)
from fcb_toolkit.widgets.notes import text_notes

ELEMENTS = {
    *("b", "code", "del", "details", "div", "h3", "h4", "ins", "li", "ol", "p", "pre", "span", "summary"),
    *("table", "tbody", "td", "th", "thead", "tr"),
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


@given(any_text, json_values, json_values)
@settings(deadline=None, max_examples=60)
def test_any_conversation_and_any_tool_are_drawn_with_our_elements_only(text, content, other):
    case = Case(
        text,
        text,
        messages=(
            {"role": text, "content": content, "tool_calls": other, "name": text},
            {"role": "assistant", "content": None, "tool_calls": [other, {"function": other}]},
        ),
        tools=(
            {"function": {"name": text, "description": content, "parameters": other}},
            {"function": {"name": text, "parameters": {"properties": {text: other}, "required": content}}},
        ),
    )
    for drawn in (draw_conversation(case), draw_tools(case), draw_raw(text), draw_prompt(text)):
        assert parsed(drawn).elements <= ELEMENTS
        drawn.encode("utf-8")


@given(any_text, json_values)
@settings(deadline=None, max_examples=60)
def test_any_reply_to_any_gold_is_drawn_with_our_elements_only(text, gold):
    case = case_of("서울", ground_truth={"name": "get_weather", "arguments": {"city": gold}})
    reply = fcb.parse(f'<tool_call>{{"name": "get_weather", "arguments": {{}}}}</tool_call>{text}', "hermes")
    answer = fcb.Answer(reply, text)
    for drawn in (draw_answer(case, answer), draw_answer(case, None), draw_between(answer, None, text, "b")):
        assert parsed(drawn).elements <= ELEMENTS
        drawn.encode("utf-8")


@pytest.mark.parametrize("truth", [None, "not JSON", {"name": 3}, 7, {"name": "f", "arguments": "[1]"}])
def test_gold_that_cannot_be_read_says_so(truth):
    run = fcb.Run({}, (case_of("서울", ground_truth=truth),), ())
    drawn = draw_answer(run.cases[0], None)
    assert "The gold cannot be read" in drawn


def test_a_parse_error_is_shown_with_its_code():
    case = case_of("서울")
    parse = fcb.parse('<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>', "hermes")
    assert parse.error is not None
    assert f"Parse error {parse.error.code}" in draw_answer(case, fcb.Answer(parse, parse.raw))


def test_a_schema_is_read_as_a_table():
    tool = {
        "function": {
            "name": "f",
            "parameters": {
                "properties": {"unit": {"type": ["string", "null"], "enum": ["C", "F"], "default": "C"}},
                "required": ["unit"],
            },
        }
    }
    drawn = draw_tools(Case("c", "b", (), (tool, TOOL)))
    assert "<td>string or null</td><td>yes</td>" in drawn
    assert "one of [&quot;C&quot;, &quot;F&quot;]; default &quot;C&quot;" in drawn
    assert drawn.count("<details>") == 4 and "<details open" not in drawn


def test_special_tokens_and_line_ends_of_a_prompt_are_visible():
    drawn = draw_prompt("<|im_start|>user\n서울<|im_end|>[INST]</s>")
    for token in ("&lt;|im_start|&gt;", "&lt;|im_end|&gt;", "[INST]", "&lt;/s&gt;"):
        assert f'<span class="fcb-token">{token}</span>' in drawn
    assert 'aria-hidden="true">↵</span>\n' in drawn
    assert "was not kept" in draw_prompt(None)


def test_a_verdict_is_a_word_and_a_sign_beside_its_colour():
    failed = Verdict.failed(FailureKind.WRONG_VALUE, "city: expected 서울")
    drawn = draw_verdicts({"call_match": failed, "decision": Verdict.passed()}, "call_match")
    assert "✗ fail: wrong_value" in drawn and "Other metrics (1)" in drawn and "✓ pass" in drawn
    assert "Not scored by rubric" in draw_verdicts({}, "rubric")


def test_an_annotation_tells_its_history():
    notes, key = Annotations(None, "kim"), ("c", 0)
    notes.edit(key, "m", Verdict.failed(FailureKind.WRONG_VALUE, ""), outcome="pass", failure=None)
    notes.edit(key, "m", None, note="<b>", tag="date")
    drawn = draw_verdicts({}, "m", notes.of(key, "m"))
    assert "Corrected to" in drawn and "by kim" in drawn and "Edits (2)" in drawn
    assert "outcome: fail, failure: wrong_value" in drawn and "&lt;b&gt;" in drawn


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("서울 plain", []),
        ("\u1109\u1165\u110b\u116e\u11af", ["2 decomposed Hangul letter (NFD)"]),
        ("ＡＢ", ["2 full-width or half-width forms"]),
        ("a\u200bb\u3000c", ["1 unusual space", "1 zero-width character"]),
        ("\x1b[31m\u202e\ud800", ["1 direction mark", "1 terminal escape code", "1 lone surrogate"]),
    ],
)
def test_what_a_text_hides_is_counted(text, found):
    assert text_notes(text) == found


def test_thousands_of_calls_are_counted_and_not_drawn():
    case = case_of("서울")
    calls = "[" + ", ".join('{"name": "get_weather", "arguments": {"city": "x"}}' for _ in range(3000)) + "]"
    run = fcb.Run({}, (case,), (Reply(case.id, calls, format="plain_json"),))
    drawn = draw_answer(case, run.answer(run.replies[0]))
    assert "more calls are not drawn" in drawn and len(drawn) < 100_000


def test_nothing_in_the_package_is_loaded_from_elsewhere():
    folder = Path(fcb.__file__).parent / "widgets"
    for path in [*folder.glob("*.js"), *folder.glob("*.css")]:
        text = path.read_text("utf-8")
        assert "http" not in text and "@import" not in text and "url(" not in text, path.name
