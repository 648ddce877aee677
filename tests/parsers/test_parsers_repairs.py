"""Departures from a format: which have one sensible reading, and which are an error. Toys only."""

from typing import Any

import pytest
from parser_writers import tools_for

from fcb_toolkit.parsers import REPAIRS, parse

TOOLS = tools_for([("f", {"a": "x", "n": 1}), ("g", {}), ("one", {"q": "x"})])
F: list[Any] = [("f", {"a": "x"})]
FG: list[Any] = [*F, ("g", {})]

RECOVERED = [
    # format, text, calls, content, the repair that strict mode reports
    ("hermes", '<tool_call>\n```json\n{"name": "f", "arguments": {"a": "x"}}\n```\n</tool_call>', F, None, "code_fence"),
    ("hermes", '<tool_call>\n<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>', F, None, "stray_tag"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x"}}<tool_call>', F, None, "missing_close"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x"}</tool_call>', F, None, "missing_bracket"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x"}<|im_end|>', F, None, "missing_bracket"),
    ("hermes", '<tool_call>{name: "f", arguments: {a: "x"}}</tool_call>', F, None, "bare_key"),
    ("hermes", '<tool_call>{"name": "g", "arguments": null}</tool_call>', [("g", {})], None, "missing_arguments"),
    ("hermes", '<tool_call>{"name": "g"}</tool_call>', [("g", {})], None, "missing_arguments"),
    ("hermes", '<tool_call>{"name": "f", "a": "x"}</tool_call>', F, None, "flat_arguments"),
    ("hermes", '<tool_call>{"function": {"name": "f", "arguments": {"a": "x"}}}</tool_call>', F, None, "wrapper"),
    ("hermes", '<tool_call>[{"name": "f", "arguments": {"a": "x"}}]</tool_call>', F, None, "foreign_form"),
    ("hermes", '<tool_call>f(a="x")</tool_call>', F, None, "foreign_form"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x"}} 끝</tool_call>', F, "끝", "stray_text"),
    ("hermes", '<tool_call>{"name": "f", /* */ "arguments": {}}</tool_call>'.replace("/* */", "// x\n"), [("f", {})], None, "comment"),
    ("hermes", '<tool_call>{"name":\u00a0"f", "arguments": {"a": "x"}}</tool_call>', F, None, "odd_space"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x", "a": "x"}}</tool_call>', F, None, "duplicate_key"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"n": .5}}</tool_call>', [("f", {"n": 0.5})], None, "number_form"),
    ("hermes", '{"name": "f", "arguments": {"a": "x"}}', F, None, "unmarked"),
    ("hermes", '확인.\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>', F, "확인.", "stray_text"),
    ("hermes", '[TOOL_CALLS]f[ARGS]{"a": "x"}', F, None, "foreign_form"),
    ("hermes", '<|im_start|>assistant\n<tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call>', F, None, "header_token"),
    ("llama3_json", '확인합니다.\n{"name": "f", "parameters": {"a": "x"}}', F, "확인합니다.", "stray_text"),
    ("llama3_json", '{"name": "f", "parameters": {"a": "x"}}\n이렇게 부릅니다.', F, "이렇게 부릅니다.", "stray_text"),
    ("llama3_json", '{"name": "f", "arguments": {"a": "x"}}', F, None, "alias"),
    ("llama3_json", '[{"name": "f", "parameters": {"a": "x"}}]', F, None, "foreign_form"),
    ("llama3_json", '```json\n{"name": "f", "parameters": {"a": "x"}}\n```', F, None, "code_fence"),
    ("llama3_json", '<function=f>{"a": "x"}</function>', F, None, "foreign_form"),
    ("llama4_json", '<|python_start|><|python_end|>{"name": "f", "parameters": {"a": "x"}}', F, None, "stray_tag"),
    ("pythonic", '[f(a="x")]\n[g()]', FG, None, "several_objects"),
    ("pythonic", '```python\n[f(a="x")]\n```', F, None, "code_fence"),
    ("pythonic", 'f(a="x")\ng()', FG, None, "single_object"),
    ("pythonic", '[one("x")]', [("one", {"q": "x"})], None, "positional_argument"),
    ("pythonic", '[f(**{"a": "x"})]', F, None, "wrapper"),
    ("pythonic", '[{"name": "f", "arguments": {"a": "x"}}]', F, None, "unmarked"),
    ("pythonic", '<|python_tag|>[f(a="x")]', F, None, "stray_tag"),
    ("lfm2", '<|tool_call_start|>[{"name": "f", "arguments": {"a": "x"}}]<|tool_call_end|>', F, None, "foreign_form"),
    ("lfm2", "<|tool_call_start|>[f(a='x')]", F, None, "missing_close"),
    ("gemma3_tool_code", '```tool_code\nprint(f(a="x"))\n```', F, None, "wrapper"),
    ("gemma3_tool_code", '```python\nf(a="x")\n```', F, None, "code_fence"),
    ("gemma4", '<|channel>thought\n생각\n<channel|>call:f{a:<|"|>x<|"|>}', F, None, "missing_open"),
    ("gemma4", '<|tool_call>call:f{"a":"x"}<tool_call|>', F, None, "python_string"),
    ("gemma4", "<|tool_call>call:f{a:x}<tool_call|>", F, None, "missing_mark"),
    ("gemma4", "<|tool_call>call:f{n:1<tool_call|>", [("f", {"n": 1})], None, "missing_bracket"),
    ("gemma4", "<|tool_call>call:f{n:1,}<tool_call|>", [("f", {"n": 1})], None, "trailing_comma"),
    ("functiongemma", "<start_function_call>call:f{a:<escape>x<escape>}", F, None, "missing_close"),
    ("mistral", '[TOOL_CALLS]f{"a": "x"}', F, None, "foreign_form"),
    ("mistral_v11", '[TOOL_CALLS] [{"name": "f", "arguments": {"a": "x"}}]', F, None, "foreign_form"),
    ("mistral_v13", '[TOOL_CALLS]f[ARGS]{"a": "x"}g[ARGS]{}', FG, None, "missing_open"),
    ("deepseek_v3", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n{"a": "x"}<｜tool▁call▁end｜>', F, None, "missing_mark"),
    ("deepseek_v3", '<|tool_call_begin|>function<|tool_sep|>f\n```json\n{"a": "x"}\n```<|tool_call_end|>', F, None, "respelled_mark"),
    ("deepseek_v31", '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": "x"}', F, None, "missing_close"),
    ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</tool_call>", F, None, "missing_close"),
    ("qwen3_coder", '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>', F, None, "foreign_form"),
    ("qwen3_coder", "<function=f>\n<parameter=a>\nx</parameter>\n</function>", F, None, "missing_open"),
    ("glm45", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n<|observation|>", F, None, "missing_close"),
    ("kimi_k2", '<|tool_call_begin|>f:0<|tool_call_argument_begin|>{"a": "x"}<|tool_call_end|>', F, None, "sanitised_id"),
    ("minimax_m2", '<invoke name="f">\n<parameter name="a">x</parameter>\n</invoke>', F, None, "missing_open"),
    ("gpt_oss", "<|channel|>commentary to=functions.g<|message|><|call|>", [("g", {})], None, "missing_arguments"),
    ("functionary_v31", '<function=f>{"a": "x"}}</function>', F, None, "superfluous_bracket"),
    ("granite4", '<|tool_call|>[{"name": "f", "arguments": {"a": "x"}}]', F, None, "foreign_form"),
    ("phi4_mini", '<|tool_call|>{"name": "f", "arguments": {"a": "x"}}<|/tool_call|>', F, None, "single_object"),
    ("xlam", '{"name": "f", "arguments": {"a": "x"}}', F, None, "single_object"),
    ("hyperclovax", ' -> tool/function_call\n{"name": "f", "input": {"a": "x"}}<|im_end|><|stop|>', F, None, "single_object"),
    ("qwen_bracket", '[Calling tool: f(a="x")]', F, None, "foreign_form"),
    ("dpab_json", '{"f": {"a": "x"}}', F, None, "single_object"),
    ("dpab_json", '[{"name": "f", "arguments": {"a": "x"}}]', F, None, "alias"),
    ("dpab_json", '부를 함수:\n```json\n[{"name": "f", "args": {"a": "x"}}]\n```', F, "부를 함수:", "stray_text"),
    ("dpab_json", '[{"name": "g"}]', [("g", {})], None, "missing_arguments"),
    ("dpab_json", '다음:\n[{"name": "f", "args": {"a": "x"}}]\n끝.', F, "다음:\n끝.", "stray_text"),
    ("plain_json", "{'name': 'f', 'arguments': {'a': 'x'}}", F, None, "python_string"),
    ("plain_json", '<tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call>', F, None, "foreign_form"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "calls", "content", "repair"), RECOVERED)
def test_a_departure_with_one_sensible_reading_is_read(
    format: str, text: str, calls: Any, content: str | None, repair: str
) -> None:
    parsed = parse(text, format, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == calls
    assert parsed.content == content and parsed.error is None
    strict = parse(text, format, TOOLS, strict=True)
    assert strict.error is not None and strict.error.code == repair and strict.tool_calls == ()
    assert strict.error.message == f"outside the format {format}: {REPAIRS[repair]}"
    assert strict.raw == text and strict.content


def test_every_repair_is_met_in_a_test() -> None:
    met = {repair for *_, repair in RECOVERED}
    elsewhere = {
        "close_tag_in_value", "double_encoded", "invalid_escape", "json_literal", "object_arguments", "python_literal",
        "raw_control_character", "reserved_word", "trailing_comma", "typographic", "unclosed_reasoning",
    }  # fmt: skip
    assert met | elsewhere == set(REPAIRS)


ELSEWHERE = [
    ("glm45", "<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value>y</arg_value></tool_call>", "close_tag_in_value"),
    ("hermes", '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"x\\"}"}</tool_call>', "double_encoded"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "D:\\\\한 \\문"}}</tool_call>', "invalid_escape"),
    ("pythonic", "[f(a=null)]", "json_literal"),
    ("openai", {"tool_calls": [{"function": {"name": "f", "arguments": {"a": "x"}}}]}, "object_arguments"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": None}}</tool_call>', "python_literal"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x\ty"}}</tool_call>', "raw_control_character"),
    ("pythonic", "[f(a='x', from=1)]", "reserved_word"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x",}}</tool_call>', "trailing_comma"),
    ("hermes", '<think>아직<tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call>', "unclosed_reasoning"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "repair"), ELSEWHERE)
def test_a_departure_inside_the_values_is_named(format: str, text: Any, repair: str) -> None:
    assert len(parse(text, format, TOOLS).tool_calls) == 1
    error = parse(text, format, TOOLS, strict=True).error
    assert error is not None and error.code == repair


MALFORMED = [
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x"}', "truncated"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "그는 "네"라고"}}</tool_call>', "malformed_value"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"n": NaN}}</tool_call>', "not_a_json_number"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"n": -Infinity}}</tool_call>', "not_a_json_number"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"n": 1e999}}</tool_call>', "not_a_json_number"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": 007}}</tool_call>', "not_a_json_number"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": "x", "a": "y"}}</tool_call>', "duplicate_argument"),
    ("hermes", '<tool_call>{"name": "f", "arguments": [1]}</tool_call>', "malformed_call"),
    ("hermes", '<tool_call>{"name": "f", "arguments": "a=1"}</tool_call>', "malformed_call"),
    ("hermes", '<tool_call>{"name": "", "arguments": {}}</tool_call>', "malformed_call"),
    ("hermes", '<tool_call>{"arguments": {"a": "x"}}</tool_call>', "malformed_call"),
    ("hermes", "<tool_call></tool_call>", "malformed_call"),
    ("llama3_json", '{"name": "f", "parameters": {"a": "x', "truncated"),
    ("llama3_json", "<|python_tag|>print(1)", "malformed_call"),
    ("pythonic", '[f("x", 3)]', "malformed_call"),
    ("pythonic", "[f(a=서울)]", "malformed_value"),
    ("pythonic", "[f(n=1 + 2)]", "malformed_value"),
    ("pythonic", "[f(a=g())]", "malformed_value"),
    ("pythonic", '[f(a="x", a="y")]', "duplicate_argument"),
    ("mistral", "[TOOL_CALLS] 없음", "truncated"),
    ("mistral", "[TOOL_CALLS] []", "malformed_call"),
    ("gemma4", "<|tool_call>call:f{a:{n:1<tool_call|>", "malformed_value"),
    ("mistral_v13", "[TOOL_CALLS]f[ARGS]", "truncated"),
    ("deepseek_v3", "<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>", "malformed_call"),
    ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>", "truncated"),
    ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=a>\ny\n</parameter>\n</function>\n</tool_call>", "duplicate_argument"),
    ("glm45", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x", "truncated"),
    ("kimi_k2", "<|tool_calls_section_begin|><|tool_calls_section_end|>", "malformed_call"),
    ("minimax_m2", "<minimax:tool_call>\n</minimax:tool_call>", "malformed_call"),
    ("gpt_oss", '<|channel|>commentary to=functions.f json<|message|>{"a": "x"', "truncated"),
    ("gemma4", '<|tool_call>call:f{a:<|"|>x', "truncated"),
    ("functionary_v31", "<|python_tag|>print(1)", "malformed_call"),
    ("hyperclovax", " -> tool/function_call\n없음<|im_end|>", "malformed_call"),
    ("dpab_json", '[{"args": {"a": "x"}}]', "malformed_call"),
    ("dpab_json", '```json\n[{"name": "f", "args": {"a": "x"}\n```', "malformed_value"),
    ("hermes", '<tool_call>{"name": "f", "arguments": {"a": {"b": 1}</tool_call>', "malformed_value"),
    ("dpab_json", '[{"name": "f", "args": ["x"]}]', "malformed_call"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "code"), MALFORMED)
def test_what_has_no_sensible_reading_is_an_error_with_its_text_kept(
    format: str, text: str, code: str
) -> None:
    for strict in (False, True):
        parsed = parse(text, format, TOOLS, strict=strict)
        assert parsed.error is not None and parsed.error.code == code and parsed.error.message
        assert parsed.tool_calls == () and parsed.raw == text
        assert (parsed.content or "") in text and (parsed.content or "").strip()


def test_a_whole_call_beside_a_broken_one_is_kept_and_the_broken_one_reported() -> None:
    whole = '<tool_call>{"name": "g", "arguments": {}}</tool_call>'
    broken = '<tool_call>{"name": "f", "arguments": {"a": </tool_call>'
    for text in (f"{whole}\n{broken}", f"{broken}\n{whole}"):
        parsed = parse(text, "hermes", TOOLS)
        assert [call.name for call in parsed.tool_calls] == ["g"]
        assert parsed.error is not None and parsed.content == broken
        assert parse(text, "hermes", TOOLS, strict=True).tool_calls == ()


NO_CALLS = [
    ("hermes", "호출은 `<tool_call>` 태그로 열고 `</tool_call>` 태그로 닫습니다."),
    ("hermes", "Use the <tool_call> tag."),
    ("hermes", '예:\n```json\n{"name": "f", "arguments": {"a": "x"}}\n```\n이런 형식입니다.'),
    ("hermes", '{"name": "other", "arguments": {"a": "x"}}'),
    ("llama3_json", '{"name": "홍길동", "age": 3}'),
    ("llama3_json", '{"name": null, "parameters": null}'),
    ("llama3_json", '{"answer": 42}'),
    ("pythonic", '예를 들어 [f(a="x")] 처럼 씁니다.'),
    ("pythonic", "[문서(링크)](https://example.org)를 보세요."),
    ("pythonic", "[1, 2, 3]"),
    ("xlam", "[]"),
    ("plain_json", '요청은 {"name": "f", "arguments": {"a": "x"}} 형태로 보냅니다.'),
    ("plain_json", '{"city": "서울", "days": 3}'),
    ("qwen3_coder", "<function=f> 는 예시입니다."),
    ("gpt_oss", "<|channel|>final<|message|>끝"),
    ("phi4_mini", "functools 모듈을 쓰세요."),
    ("mistral", "네."),
]


@pytest.mark.parametrize(("format", "text"), NO_CALLS)
def test_text_that_only_looks_like_a_call_is_an_answer(format: str, text: str) -> None:
    parsed = parse(text, format, TOOLS)
    assert parsed.tool_calls == () and parsed.error is None
    assert parsed.content == ("끝" if format == "gpt_oss" else text)
