"""Texts that nobody's format foresees, met when rendering and parsing were attacked with inputs of all kinds.

`READ`: one sensible reading, so lenient mode gives it and strict mode names the departure (None: none).
`REFUSED`: no sensible reading, an error. `ANSWERS`: no call was meant.
"""

from typing import Any

import pytest
from parser_writers import WRITERS

from fcb_toolkit.parsers import FORMATS, parse

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["city"],
}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "weather", "parameters": CITY}},
    {"type": "function", "function": {"name": "날씨_조회", "parameters": CITY}},
    {"type": "function", "function": {"name": "now"}},
    {"type": "function", "function": {"name": "ping", "parameters": None}},
]
SEOUL = ("weather", {"city": "서울"})
JSON = '{"name": "weather", "arguments": {"city": "서울"}}'
ESCAPED = JSON.replace('"', '\\"')


def tag(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


READ = [
    # quotation marks, colons and commas of ordinary text
    ("hermes", tag("{“name”: “weather”, “arguments”: {“city”: “서울”}}"), [SEOUL], None, "typographic"),
    ("hermes", tag("{＂name＂: ＂weather＂, ＂arguments＂: {＂city＂: ＂서울＂}}"), [SEOUL], None, "typographic"),
    ("hermes", tag('{"name": "weather"， "arguments"： {"city"： "서울"}}'), [SEOUL], None, "typographic"),
    ("plain_json", "{“name”: “weather”, “arguments”: {“city”: “서울”}}", [SEOUL], None, "typographic"),
    ("pythonic", "[weather(city=‘서울’， n=3)]", [("weather", {"city": "서울", "n": 3})], None, "typographic"),
    ("hermes", tag('{"name": "weather", "arguments": {"city": “그는 “네”라고 했다”}}'),
     [("weather", {"city": "그는 “네”라고 했다"})], None, "typographic"),
    ("hermes", tag('{"name": "weather", "arguments": {"city": "“서울”"}}'), [("weather", {"city": "“서울”"})], None, None),
    # escaped as if it stood in a string
    ("hermes", tag(ESCAPED), [SEOUL], None, "double_encoded"),
    ("plain_json", f'"{ESCAPED}"', [SEOUL], None, "double_encoded"),
    ("llama3_json", ESCAPED.replace("arguments", "parameters"), [SEOUL], None, "double_encoded"),
    # tags
    ("hermes", tag(JSON) + "</tool_call></tool_call>", [SEOUL], None, "stray_tag"),
    ("hermes", f"<tool_call>{tag(JSON)}</tool_call>", [SEOUL], None, "stray_tag"),
    ("hermes", tag(JSON) + "\n<tool_call>\n" + JSON + "\n</tool_c", [SEOUL, SEOUL], None, "missing_close"),
    ("hermes", f"<TOOL_CALL>{JSON}</TOOL_CALL>", [SEOUL], None, "respelled_mark"),
    ("hermes", f"< tool_call >{JSON}</ tool_call >", [SEOUL], None, "respelled_mark"),
    ("hermes", f"<function_call>\n{JSON}\n</function_call>", [SEOUL], None, "respelled_mark"),
    ("plain_json", f"확인합니다.\n<tools>{JSON}</tools>", [SEOUL], "확인합니다.", "respelled_mark"),
    ("hermes", f"```json\n{tag(JSON)}\n```", [SEOUL], None, "code_fence"),
    ("deepseek_v31", 'weather<｜tool▁sep｜>{"city": "서울"}<｜tool▁call▁end｜>', [SEOUL], None, "missing_open"),
    # another shape of the same call
    ("hermes", tag('weather{"city": "서울"}'), [SEOUL], None, "foreign_form"),
    ("hermes", tag('날씨_조회\n{"city": "서울"}'), [("날씨_조회", {"city": "서울"})], None, "foreign_form"),
    ("hermes", tag('{"weather": {"city": "서울"}}'), [SEOUL], None, "wrapper"),
    ("plain_json", '{"weather": {"city": "서울"}}', [SEOUL], None, "wrapper"),
    ("plain_json", '{"role": "assistant", "content": "네.", "tool_calls": [{"type": "function", "function": ' + JSON + "}]}",
     [SEOUL], "네.", "wrapper"),
    ("hermes", 'weather(city="서울")', [SEOUL], None, "single_object"),
    ("plain_json", 'weather(city="서울")\nnow()', [SEOUL, ("now", {})], None, "single_object"),
    # small programs around a call
    ("pythonic", '```python\nweather(city="서울")\n```', [SEOUL], None, "code_fence"),
    ("pythonic", 'print(weather(city="서울"))', [SEOUL], None, "single_object"),
    ("pythonic", '결과 = await weather(city="서울")\nprint(결과)', [SEOUL], None, "single_object"),
    ("gemma3_tool_code", '```tool_code\n# 날씨\nweather(city="서울")\nnow()\n```', [SEOUL, ("now", {})], None, "comment"),
    ("gemma3_tool_code", '```tool_code\nx = weather(city="서울")\nprint(x)\n```', [SEOUL], None, "wrapper"),
    # Python values
    ("pythonic", '[weather(city=("서울"), n=(3))]', [("weather", {"city": "서울", "n": 3})], None, None),
    ("pythonic", '[weather(city="서울", n=(3, # 셋\n))]', [("weather", {"city": "서울", "n": [3]})], None, "comment"),
    ("pythonic", '[weather(city=f"서울")]', [SEOUL], None, None),
    ("pythonic", '[weather(city="서울", **{"n": 3})]', [("weather", {"city": "서울", "n": 3})], None, "wrapper"),
    # reasoning
    ("hermes", f"가</think>\n나</think>\n{tag(JSON)}", [SEOUL], None, None),
    ("hermes", f"<think>가<think>나</think>다</think>{tag(JSON)}", [SEOUL], None, None),
    ("hermes", f"<think>가</think><think>나</think>{tag(JSON)}", [SEOUL], None, None),
    # messages
    ("openai", {"tool_calls": [{"function": {"name": "weather", "arguments": '\ufeff{"city": "서울"}'}}]}, [SEOUL], None, None),
    ("openai", {"tool_calls": [{"function": {"name": "weather", "arguments": '```json\n{"city": "서울"}\n```'}}]},
     [SEOUL], None, "code_fence"),
    ("openai", {"content": [{"type": "text", "text": "네."}, {"type": "tool_use", "name": "weather", "input": {"city": "서울"}}]},
     [SEOUL], "네.", "foreign_form"),
    ("openai", {"content": "<think>음</think>답"}, [], "답", None),
    ("openai", {"content": "음\n</think>\n답"}, [], "답", None),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "calls", "content", "repair"), READ)
def test_one_sensible_reading_is_read_and_strict_mode_names_the_departure(
    format: str, text: Any, calls: Any, content: str | None, repair: str | None
) -> None:
    parsed = parse(text, format, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == calls
    assert (parsed.content, parsed.error) == (content, None)
    strict = parse(text, format, TOOLS, strict=True)
    assert (strict.error.code if strict.error else None) == repair
    assert len(strict.tool_calls) == (0 if repair else len(calls))


REFUSED = [
    ("hermes", tag("답변입니다."), "malformed_call"),
    ("hermes", tag("날씨"), "malformed_call"),
    ("hermes", tag('{"name": "weather", "parameters": {"type": "object", "properties": {"city": {}}}}'), "malformed_call"),
    ("hermes", tag('{"name": "weather", "arguments": {"city": “서울}}'), "malformed_value"),
    ("hermes", tag('{"name": "weather", "arguments": {"city": “서\\울”}}'), "malformed_value"),
    ("hermes", tag('{"name": "weather" "arguments": {"city": "서울"}}'), "malformed_value"),
    ("functionary_v31", "<function=weather>city: 서울</function>", "malformed_call"),
    ("pythonic", "[weather(**kwargs)]", "malformed_value"),
    ("pythonic", "[weather(city=now())]", "malformed_value"),
    ("pythonic", '[weather("서울", n=3)]', "malformed_call"),
    ("pythonic", '[weather(city=f"{x}")]', "malformed_value"),
    ("gemma3_tool_code", "```tool_code\nfor x in y:\n    weather(city=x)\n```", "malformed_value"),
    ("openai", {"content": "<think>음"}, "unclosed_reasoning"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "code"), REFUSED)
def test_no_sensible_reading_is_an_error(format: str, text: Any, code: str) -> None:
    parsed = parse(text, format, TOOLS)
    assert parsed.error is not None and parsed.error.code == code
    assert parsed.tool_calls == ()
    assert not isinstance(text, str) or parsed.content == text.strip()


ANSWERS = [
    ("hermes", "`<tool_call>{...}</tool_call>` 형식입니다."),
    (
        "plain_json",
        '{"name": "weather", "description": "날씨", "parameters": {"type": "object", "properties": {}}}',
    ),
    (
        "plain_json",
        '[{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]',
    ),
    ("plain_json", '{"서울": {"기온": 21}}'),
    ("plain_json", '{"content": "맑음"}'),
    ("plain_json", '"{\\"기온\\": 21}"'),
    ("plain_json", "weather"),
    ("pythonic", "x = 3\nprint(x)"),
    ("hermes", "<b>도구</b>를 <i>부르지</i> 않았습니다."),
]


@pytest.mark.parametrize(("format", "text"), ANSWERS)
@pytest.mark.parametrize("strict", [False, True])
def test_what_no_call_was_meant_by_is_an_answer(format: str, text: str, strict: bool) -> None:
    parsed = parse(text, format, TOOLS, strict=strict)
    assert (parsed.tool_calls, parsed.error) == ((), None)
    assert (parsed.reasoning, parsed.content) == (None, text)


AROUND = {
    "lines that end as Windows ends them": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "a space without width": lambda text: "\u200b" + text,
    "white space before and after": lambda text: f"\n\n {text}\r\n\r\n",
}


@pytest.mark.parametrize("what", AROUND)
@pytest.mark.parametrize("format", sorted(set(FORMATS) & set(WRITERS) - {"dpab_pythonic", "openai"}))
def test_what_stands_around_a_call_changes_nothing(format: str, what: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("weather", {"city": "서울", "n": 3}), ("now", {})]
    for written in (calls, calls[:1], calls[1:]):
        parsed = parse(AROUND[what](WRITERS[format](written)), format, TOOLS)
        assert [(call.name, call.arguments) for call in parsed.tool_calls] == written
        assert (parsed.content, parsed.error) == (None, None)


WITHOUT_TOKENS = [
    ("kimi_k2", 'functions.weather:0{"city": "서울"}functions.now:1{}'),
    ("deepseek_v3", 'functionweather\n```json\n{"city": "서울"}\n```\nfunctionnow\n```json\n{}\n```'),
    ("deepseek_v31", 'weather{"city": "서울"}\nnow{}'),
    ("mistral_v13", 'weather{"city": "서울"}now{}'),
    ("functionary_v25", 'weather\n{"city": "서울"}now\n{}'),
    ("mistral", "[" + JSON + ', {"name": "now", "arguments": {}}]'),
    ("lfm2", '[weather(city="서울"), now()]'),
    ("gpt_oss", 'commentary to=functions.weather json{"city": "서울"}assistantcommentary to=functions.now json{}'),
    ("gemma4", "call:weather{city:서울}call:now{}"),
    ("command_r", '[{"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "서울"}}, '
     '{"tool_call_id": "1", "tool_name": "now", "parameters": {}}]'),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text"), WITHOUT_TOKENS)
def test_calls_of_a_reply_that_was_decoded_without_special_tokens_are_read(format: str, text: str) -> None:
    parsed = parse(text, format, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == [SEOUL, ("now", {})]
    assert (parsed.content, parsed.error) == (None, None)
    assert parse(text, format, TOOLS, strict=True).error is not None
    unknown = parse(text.replace("now", "later"), format, TOOLS)
    assert len(unknown.tool_calls) in (0, 2), "never a part of them"


BROKEN_BESIDE_WHOLE = [
    ("llama3_json", JSON.replace("arguments", "parameters") + '; {"name": "now", "parameters" {}}'),
    ("llama3_json", JSON.replace("arguments", "parameters") + '; {name": "now", "parameters": {}}'),
    ("llama3_json", JSON.replace("arguments", "parameters") + '; {"name": "now", "para'),
    ("llama3_json", '{"name "now", "parameters": {}}; ' + JSON.replace("arguments", "parameters")),
    ("plain_json", JSON + '\n{"name": "now" "arguments": {}}'),
]


@pytest.mark.parametrize(("format", "text"), BROKEN_BESIDE_WHOLE)
def test_a_broken_call_beside_a_whole_one_is_never_silent(format: str, text: str) -> None:
    parsed = parse(text, format, TOOLS)
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == [SEOUL]
    assert parsed.error is not None and "now" in (parsed.content or "")


@pytest.mark.parametrize("first", ["tool_call>", "<toolcall>", "<tool_call", ""])
def test_a_call_whose_opening_tag_is_broken_is_read_by_its_closing_tag(first: str) -> None:
    text = f"{first}\n{JSON}\n</tool_call>\n{tag(JSON)}\n{first}\n{JSON}\n</tool_call>"
    parsed = parse(text, "hermes", TOOLS)
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == [SEOUL] * 3
    assert (parsed.content, parsed.error) == (None, None)
    assert parse(text, "hermes", TOOLS, strict=True).error is not None


BROKEN_JSON = [
    ("plain_json", '```json\n[{"name "weather", "arguments": {"city": "서울"}}]\n```'),
    ("xlam", '[{name": "weather", "arguments": {"city": "서울"}}]'),
    ("openai", '{"role": "assistant", "tool_calls": [{"function": {"name": "now" "arguments": "{}"}}]}'),
]


@pytest.mark.parametrize(("format", "text"), BROKEN_JSON)
def test_broken_json_that_names_a_tool_and_arguments_is_an_error(format: str, text: str) -> None:
    parsed = parse(text, format, TOOLS)
    assert parsed.tool_calls == () and parsed.content == text
    assert parsed.error is not None and parsed.error.code == "malformed_value"


def test_reasoning_blocks_that_follow_each_other_are_one_reasoning() -> None:
    parsed = parse("가</think>\n나</think>\n답", "hermes", TOOLS)
    assert (parsed.reasoning, parsed.content) == ("가\n나", "답")
    quoted = parse("<think>가</think>닫는 표시 </think> 는 그대로 둡니다.", "hermes", TOOLS)
    assert quoted.content == "닫는 표시 </think> 는 그대로 둡니다."
