"""A tokenizer with a `response_template`: transformers' parser reads the replies, ours where it fails.

Good, bad and hostile texts go through the reader itself; one run goes through a tiny random model.
"""

import gc
import json
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

import tiny

import fcb_toolkit as fcb
from fcb_toolkit.models import huggingface_response
from fcb_toolkit.models.huggingface_response import ResponseReader
from fcb_toolkit.models.response_choice import message_of, why_ours
from fcb_toolkit.records import Rendered, Reply

CALLS = {"type": "function", "function": "{content}"}
JSON_TAG = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "reasoning_content": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": CALLS,
        },
        "content": {"close_pattern": r"\s*<\|im_end\|>"},
    },
}
XML_TAG = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>\s*<function=(?P<name>[^>\n]+)>",
            "close_pattern": r"</function>\s*</tool_call>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>"},
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {"close": "<|im_end|>"},
    },
}
OWN_WORDS = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "«", "close": "»"},
        "tool_calls": {
            "open_pattern": r"DO (?P<name>\w+) WITH ",
            "close": ".",
            "repeats": True,
            "content": "kv-lines",
            "content_args": {"line_sep": ";", "kv_sep": "="},
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {},
    },
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "날씨",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            },
        },
    }
]
PROMPT = "<|im_start|>user\n서울 날씨<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def readers():
    made = {
        "json": ResponseReader(JSON_TAG),
        "xml": ResponseReader(XML_TAG),
        "own": ResponseReader(OWN_WORDS),
    }
    for reader in made.values():
        reader.start()
    return made


def read(reader, text, format="hermes", prompt=PROMPT, finish="stop", mode="native", tools=TOOLS):
    rendered = Rendered(prompt, format=format, mode=mode, tools=tuple(tools))
    return reader.read(Reply("", text, finish_reason=finish, format=format), rendered)


def parsed(reply, tools=TOOLS):
    return fcb.parse(reply.message, "openai", tools=tools, strict=True)


def call(name="날씨", **arguments):
    return (
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"
    )


def test_the_message_is_transformers_and_reads_strictly_as_openai(readers):
    text = f"<think>흠</think>확인합니다.\n{call(city='서울')}\n{call(city='부산', days=2)}<|im_end|>"
    reply = read(readers["json"], text)
    found = parsed(reply)
    assert reply.text == text and reply.notes == ()
    assert (found.content, found.reasoning, found.error) == ("확인합니다.", "흠", None)
    assert [c.arguments for c in found.tool_calls] == [{"city": "서울"}, {"city": "부산", "days": 2}]


def test_it_is_what_the_tokenizer_itself_would_give(readers):
    tok = tiny.tokenizer()
    tok.response_template = JSON_TAG
    text = f"네.{call(city='서울', days=3)}<|im_end|>"
    theirs = tok.parse_response(text, prefix=PROMPT, tools=TOOLS)
    assert read(readers["json"], text).message == message_of(theirs, TOOLS)


def test_reasoning_that_the_prompt_opened_is_reasoning(readers):
    found = parsed(
        read(readers["json"], "비가 온다.</think>우산이요.<|im_end|>", prompt=PROMPT + "<think>\n")
    )
    assert (found.reasoning, found.content) == ("비가 온다.", "우산이요.")


def test_a_call_without_arguments_is_a_call(readers):
    assert parsed(read(readers["json"], call())).tool_calls[0].arguments == {}


def test_types_come_from_the_schema_only_where_the_format_has_none(readers):
    xml = "<tool_call>\n<function=날씨>\n<parameter=city>\n007\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
    assert parsed(read(readers["xml"], xml, "qwen3_coder")).tool_calls[0].arguments == {
        "city": "007",
        "days": 3,
    }
    # A model that wrote "3" for an integer made a mistake, which a cast would hide.
    assert parsed(read(readers["json"], call(days="3"))).tool_calls[0].arguments == {"days": "3"}


def test_a_format_that_none_of_our_parsers_knows_is_read(readers):
    reply = read(readers["own"], "«음»DO 날씨 WITH city=서울;days=2.", "plain_json")
    found = parsed(reply)
    assert found.reasoning == "음" and found.tool_calls[0].arguments == {"city": "서울", "days": 2}


@pytest.mark.parametrize(
    ("text", "format", "why", "calls"),
    [
        ('<tool_call>{"name": "날씨", "arguments": {\'city\': \'서울\'}}</tool_call>', "hermes", "raised", 1),
        ('<tool_call>{"name": "날씨", "argu', "hermes", "raised ValueError: json parser could not", 0),
        (call(city="</tool_call>"), "hermes", "raised", 1),
        (f"<think>{call()}</think>아니요.", "hermes", "", 0),
        ('{"name": "날씨", "arguments": {}}', "hermes", "loses the call 날씨, which hermes finds", 1),
        (f"앞 글\n{call()}\n뒤 글", "hermes", "loses the text '앞 글'", 1),
        (
            '<tool_call>{"name": "날씨", "arguments": {"city": "a", "city": "b"}}</tool_call>',
            "hermes",
            "hermes finds a fault in the reply",
            0,
        ),
        ('<tool_call>{"arguments": {}}</tool_call>', "hermes", "its message cannot be read", 0),
        ("<tool_call>[1, 2]</tool_call>", "hermes", "its message cannot be read", 0),
        ('<tool_call>{"name": "날씨", "arguments": {"days": NaN}}</tool_call>', "hermes", "hermes", 0),
    ],
)
def test_where_it_fails_or_loses_something_ours_is_kept_and_a_note_says_why(
    readers, text, format, why, calls
):
    reply = read(readers["json"], text, format)
    if why:
        assert reply.message is None
        assert f"read as {format}, not by transformers' parser: " in reply.notes[0] and why in reply.notes[0]
        found = fcb.parse(reply.text, format, tools=TOOLS)
    else:
        found = parsed(reply)
    assert len(found.tool_calls) == calls
    assert reply.text == text


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_half_a_call_is_not_taken_for_a_whole_one(readers, finish):
    text = "<tool_call>\n<function=날씨>\n<parameter=city>\n서울\n</parameter>\n<parameter=days>\n"
    reply = read(readers["xml"], text, "qwen3_coder", finish=finish)
    assert reply.message is None and "qwen3_coder finds a fault" in reply.notes[0]


def test_an_argument_that_the_template_cuts_away_is_not_lost(readers):
    inner = "<tool_call>\n<function=날씨>\n<parameter=city>\na</function></tool_call>b\n</parameter>\n<parameter=days>\n1\n</parameter>\n</function>\n</tool_call>"
    reply = read(readers["xml"], inner, "qwen3_coder")
    assert reply.message is None and reply.notes
    assert fcb.parse(inner, "qwen3_coder", tools=TOOLS).tool_calls[0].arguments["days"] == 1


def test_calls_in_reasoning_that_the_template_does_not_know_stay_thoughts(readers):
    text = "<think><tool_call>\n<function=날씨>\n</function>\n</tool_call></think>\n아니요."
    reply = read(readers["xml"], text, "qwen3_coder")
    assert reply.message is None and "takes a call in the reasoning for a call" in reply.notes[0]


def test_prompt_mode_asked_for_our_own_form_and_is_read_by_ours(readers):
    reply = read(readers["json"], '{"name": "날씨", "arguments": {}}', "plain_json", mode="prompt")
    assert reply.message is None and reply.notes == ()


def test_replies_that_ended_in_an_error_or_never_came_are_left_alone(readers):
    assert read(readers["json"], None).message is None
    assert read(readers["json"], "", finish="error").message is None


@pytest.mark.parametrize(
    "template", [{}, {"fields": 3}, [], "x", 7, {"version": 9}, {"fields": {"a": {"open_pattern": "("}}}]
)
def test_a_template_that_is_none_is_a_note_on_each_reply(template):
    reply = read(ResponseReader(template), f"네.{call()}")
    assert reply.message is None
    assert "not by transformers' parser: it raised " in reply.notes[0]


def test_a_template_that_is_no_json_is_a_note():
    reply = read(ResponseReader({"fields": object()}), call())
    assert "could not be started (TypeError" in reply.notes[0]


def test_a_required_field_that_is_missing_is_what_the_note_says():
    needs = {
        **JSON_TAG,
        "fields": {
            **JSON_TAG["fields"],
            "tool_calls": {**JSON_TAG["fields"]["tool_calls"], "optional": False},
        },
    }
    reply = read(ResponseReader(needs), "네.")
    assert "Required response_template fields missing" in reply.notes[0]


def test_a_pattern_that_never_ends_is_stopped_and_given_up_after_three(monkeypatch):
    monkeypatch.setattr(huggingface_response, "SECONDS", 0.3)
    hangs = {**JSON_TAG, "fields": {"content": {"close_pattern": r"(?:a|aa)+$(?<=b)"}}}
    reader = ResponseReader(hangs)
    started = time.monotonic()
    replies = [read(reader, "a" * 200) for _ in range(5)]
    assert time.monotonic() - started < 60
    assert [reply.message for reply in replies] == [None] * 5
    assert "took more than 0.3 s" in replies[0].notes[0]
    assert "given up after 3 failures, the last: it took more than 0.3 s" in replies[4].notes[0]


def test_a_run_of_spaces_does_not_hold_the_run_up(monkeypatch):
    monkeypatch.setattr(huggingface_response, "SECONDS", 0.3)
    reply = read(ResponseReader(JSON_TAG), "네" + " " * 200_000 + "아니요")
    assert reply.text.endswith("아니요") and (reply.message or "0.3 s" in reply.notes[0])


def test_a_process_that_dies_is_started_again(readers):
    reader = ResponseReader(JSON_TAG)
    assert read(reader, call()).message
    reader._child._process.kill()
    reader._child._process.wait()
    assert "its process died" in read(reader, call()).notes[0]
    assert read(reader, call()).message


def test_its_process_ends_with_the_reader():
    reader = ResponseReader(JSON_TAG)
    read(reader, call())
    process = reader._child._process
    del reader
    gc.collect()
    assert process.poll() is not None


@settings(deadline=None, max_examples=80)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=12),
            st.sampled_from(
                [
                    "<tool_call>",
                    "</tool_call>",
                    "<think>",
                    "</think>",
                    "<|im_end|>",
                    '{"name": "날씨",',
                    "\ud800",
                    "\r\n",
                ]
            ),
        ),
        max_size=12,
    ).map("".join),
    st.sampled_from(["json", "xml", "own"]),
)
def test_no_text_raises_and_the_text_is_kept(readers, text, kind):
    reply = read(readers[kind], text, {"xml": "qwen3_coder", "own": "plain_json"}.get(kind, "hermes"))
    assert reply.text == text
    assert (reply.message is None) == bool(reply.notes)
    if reply.message is not None:
        assert parsed(reply).error is None


def test_the_choice_of_two_readings_needs_no_model():
    ours = fcb.parse(call(city="서울"), "hermes")
    same = fcb.parse(
        {"tool_calls": [{"function": {"name": "날씨", "arguments": '{"city": "서울"}'}}]}, "openai"
    )
    less = fcb.parse({"tool_calls": [{"function": {"name": "날씨", "arguments": "{}"}}]}, "openai")
    assert why_ours(ours, same, True) == ""
    assert why_ours(ours, less, True) == "it loses the argument city of 날씨, which hermes finds"
    broken = fcb.parse("<tool_call>{", "hermes")
    assert why_ours(broken, same, False) == ""
    assert "finds a fault" in why_ours(broken, same, True)


def test_a_run_keeps_message_and_text_and_is_scored_again_without_the_tokenizer(tmp_path):
    tok = tiny.tokenizer()
    tok.response_template = JSON_TAG
    model = fcb.load_model((tiny.model(tok), tok))
    cases = [
        fcb.Case.from_request(
            {
                "serial_num": n,
                "messages": [{"role": "user", "content": f"질문 {n}"}],
                "tools": TOOLS,
                "ground_truth": None,
            }
        )
        for n in range(4)
    ]
    run = fcb.evaluate(model, cases, tmp_path / "run", progress=False, max_new_tokens=16)
    told = run.manifest["model"]
    assert "response_template" in told["parser"] and len(told["response_template_sha256"]) == 64
    again = fcb.load_run(tmp_path / "run")
    for reply in again.replies:
        answer = again.answer(reply)
        assert answer.text == answer.parse.raw == reply.text
        assert (reply.message is None) == bool(reply.notes)
        assert answer.parse == run.answer(reply).parse
    assert any(reply.message for reply in again.replies)
    assert fcb.rescore(again, "decision").verdicts["decision"] == run.verdicts["decision"]


def test_without_a_template_and_with_a_format_that_the_user_names_ours_reads():
    tok = tiny.tokenizer()
    pair = (tiny.model(tok), tok)
    assert "parser" not in fcb.load_model(pair).describe()
    tok.response_template = JSON_TAG
    assert "parser" not in fcb.load_model(pair, format="hermes").describe()
