"""`stop_after_calls`: a reply ends with the mark that closes its format's calls."""

from dataclasses import replace

import pytest
import tiny

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError
from fcb_toolkit.parsers import FORMATS

MARK = "<|tool_calls_section_end|>"


@pytest.fixture(scope="module")
def pair():
    tok = tiny.tokenizer()
    tok.add_special_tokens({"additional_special_tokens": [MARK]})
    return tiny.model(tok), tok


def replies(pair, engine, formats, stop_after_calls, tokens=12):
    model = fcb.load_model(pair, engine=engine)
    prompts = [
        replace(model.prepare([{"role": "user", "content": f"질문 {n}"}]), format=format)
        for n, format in enumerate(formats)
    ]
    settings = fcb.Generation(max_new_tokens=tokens, stop_after_calls=stop_after_calls)
    return dict(model.generate(prompts, settings))


@pytest.mark.parametrize("engine", ["prefix", "plain"])
@pytest.mark.parametrize("formats", [["kimi_k2"] * 4, ["kimi_k2", "hermes", "kimi_k2", "hermes"]])
def test_replies_end_with_the_mark_of_their_own_format(pair, engine, formats, monkeypatch):
    free = replies(pair, engine, formats, False)
    ids = [pair[1](reply.text, add_special_tokens=False)["input_ids"] for reply in free.values()]
    mark = pair[1].decode([ids[0][3]])
    monkeypatch.setitem(FORMATS, "kimi_k2", replace(FORMATS["kimi_k2"], closes=(mark,)))
    stopped = replies(pair, engine, formats, True)
    for n, format in enumerate(formats):
        if format == "hermes" or mark not in free[n].text:
            assert stopped[n].text == free[n].text
            assert stopped[n].finish_reason == free[n].finish_reason
        else:
            assert stopped[n].text == free[n].text.partition(mark)[0] + mark
            assert stopped[n].finish_reason == "stop"
            assert stopped[n].reply_tokens < free[n].reply_tokens
    assert mark in free[0].text


def test_marks_count_where_they_are_one_token_of_the_model(pair):
    model = fcb.load_model(pair)
    assert model.closes("kimi_k2") == (pair[1].convert_tokens_to_ids(MARK),)
    assert model.closes("deepseek_v3") == ()
    assert model.closes("hermes") == ()


def test_a_reply_that_ends_with_its_closing_mark_is_whole():
    called = {
        "deepseek_v3": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```<｜tool▁call▁end｜>',
        "deepseek_v31": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>',
        "kimi_k2": '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>',
        "command_r": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]',
    }
    assert set(called) == {name for name, format in FORMATS.items() if format.closes}
    for name, text in called.items():
        whole = fcb.parse(text + FORMATS[name].closes[0], name)
        assert [(c.name, c.arguments) for c in whole.tool_calls] == [("f", {"a": 1})], name
        assert whole.error is None, name
        strict = fcb.parse(text + FORMATS[name].closes[0], name, strict=True)
        assert strict.error is None, name


@pytest.mark.parametrize("given", [1, "yes", None])
def test_another_value_is_refused(pair, given):
    with pytest.raises(DataError, match="stop_after_calls is .*, expected True or False"):
        fcb.evaluate(fcb.load_model(pair), [], progress=False, stop_after_calls=given)
