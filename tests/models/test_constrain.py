"""Constrained decoding with a model that writes nonsense: whatever it writes is a call or plain text."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny

import fcb_toolkit as fcb
from fcb_toolkit.errors import ModelError

pytest.importorskip("xgrammar", reason="the extra 'constrain' is not installed")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"enum": ["서울", "부산"]}, "days": {"type": "boolean"}},
                "required": ["city"],
            },
        },
    },
    {"type": "function", "function": {"name": "clock", "parameters": {}}},
]


@pytest.fixture(scope="module")
def pair():
    tok = tiny.tokenizer()
    return tiny.model(tok), tok


def replies(model, texts, tools=TOOLS, **settings):
    prompts = [model.prepare([{"role": "user", "content": text}], tools) for text in texts]
    options = fcb.Generation(**{"max_new_tokens": 200, "temperature": 1.5, "constrain": "tools", **settings})
    return [reply for _, reply in model.generate(prompts, options)]


@pytest.mark.parametrize("engine", ["prefix", "plain"])
@pytest.mark.parametrize("mode", ["native", "prompt"])
def test_every_reply_is_valid_calls_or_plain_text(pair, mode, engine):
    model = fcb.load_model(pair, mode=mode, engine=engine)
    found = replies(model, [f"질문 {n}" for n in range(12)])
    calls = 0
    for reply in found:
        parse = fcb.parse(reply.text, reply.format, tools=TOOLS)
        if reply.finish_reason == "length":
            continue  # cut by the limit in the middle
        assert parse.error is None, reply.text
        for call in parse.tool_calls:
            calls += 1
            assert call.name in ("weather", "clock")
            if call.name == "weather":
                assert call.arguments["city"] in ("서울", "부산")
                assert set(call.arguments) <= {"city", "days"}
            else:
                assert call.arguments == {}
    assert mode == "native" or calls or any(r.finish_reason == "stop" for r in found)


def test_without_tools_nothing_is_constrained(pair):
    model = fcb.load_model(pair)
    free = replies(model, ["a"], tools=[], constrain=None)
    assert replies(model, ["a"], tools=[])[0].text == free[0].text


def test_a_format_without_a_grammar_says_what_to_do(pair):
    model = fcb.load_model(pair, format="glm45")
    with pytest.raises(ModelError, match=r"this model writes glm45; load it with mode='prompt'"):
        replies(model, ["a"])


def test_a_schema_that_cannot_be_expressed_is_named(pair):
    bad = {"type": "function", "function": {"name": "odd", "parameters": {"type": "no-such-type"}}}
    with pytest.raises(ModelError, match="no grammar for the tools odd"):
        replies(fcb.load_model(pair, mode="prompt"), ["a"], tools=[bad])
