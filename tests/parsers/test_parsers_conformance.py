"""What every format must do: one suite, a format without a writer fails it by itself."""

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parser_writers import UNESCAPED, WRITERS, Call, tools_for

from fcb_toolkit.parsers import FORMATS, REPAIRS, parse, sniff
from fcb_toolkit.records import Parse

WITHOUT_CALLS = {"dpab_pythonic"}
NATIVE = sorted(WRITERS)
MARKED = sorted(name for name, format in FORMATS.items() if format.signature)
NAMES_FORMATS = ("city", "메모", "n1")

NASTY: dict[str, Any] = {
    "plain": "서울",
    "empty_string": "",
    "double_quotes": 'say "hi"',
    "single_quotes": "it's 'fine'",
    "newlines": "첫 줄\n\n  둘째 줄\n",
    "braces": "{ [ ( } ] )",
    "call_end": "닫는 기호 })] 도 글자다",
    "close_tag": "호출은 </tool_call> 태그로 닫는다",
    "other_marks": "[TOOL_CALLS] <|tool_call|> <function=x> <think>no</think> functools[",
    "special_tokens": "<|im_end|> </s> <|eot_id|>",
    "fence": "```json\n{}\n```",
    "backslashes": "D:\\문서\\new\\x41",
    "emoji": "👩‍👩‍👧 🇰🇷",
    "hangul_nfc": unicodedata.normalize("NFC", "한글"),
    "hangul_nfd": unicodedata.normalize("NFD", "한글"),
    "digits_as_text": "007",
    "true_as_text": "true",
    "json_as_text": '{"a": [1, 2]}',
    "zero": 0,
    "negative": -17,
    "big": 9007199254740993,
    "float": 0.1,
    "small_float": -1.5e-7,
    "true": True,
    "false": False,
    "null": None,
    "list": ["a", 1, None, True, ["b"]],
    "empty_list": [],
    "object": {"a": {"b": [1, {"c": "d, e"}]}, "f": ""},
    "empty_object": {},
}


def same(found: Any, expected: Any) -> bool:
    """JSON equality in which 1, 1.0 and True differ."""
    return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


def calls_of(parsed: Parse) -> list[Call]:
    return [(call.name, call.arguments) for call in parsed.tool_calls]


def assert_reads(format: str, calls: list[Call], text: str) -> None:
    for strict in (False, True):
        parsed = parse(text, format, tools_for(calls), strict=strict)
        assert parsed.error is None, (strict, parsed.error, text)
        assert same(calls_of(parsed), [list(call) for call in calls]), (parsed.tool_calls, text)
        assert parsed.content is None and parsed.reasoning is None and parsed.raw == text


def test_every_format_has_a_writer() -> None:
    assert set(WRITERS) | WITHOUT_CALLS == set(FORMATS)


def test_every_format_without_a_mark_says_so() -> None:
    assert {name for name, format in FORMATS.items() if not format.signature and not format.bare} == set()


def test_formats_say_who_writes_them_under_their_own_name() -> None:
    for name, format in FORMATS.items():
        assert format.name == name and format.models


@pytest.mark.parametrize("value", NASTY, ids=str)
@pytest.mark.parametrize("format", NATIVE)
def test_a_nasty_value_comes_back_exactly(format: str, value: str) -> None:
    calls = [("save_memo", {"메모": NASTY[value], "city": "서울"})]
    if format in UNESCAPED and isinstance(NASTY[value], str) and UNESCAPED[format].search(NASTY[value]):
        # Read exactly all the same, but the parser must guess where the value ends, and strict mode says so.
        parsed = parse(WRITERS[format](calls), format, tools_for(calls))
        assert same(calls_of(parsed), [list(call) for call in calls])
    else:
        assert_reads(format, calls, WRITERS[format](calls))


@pytest.mark.parametrize("format", NATIVE)
def test_a_call_without_arguments_is_a_call(format: str) -> None:
    assert_reads(format, [("get_server_time", {})], WRITERS[format]([("get_server_time", {})]))


@pytest.mark.parametrize("format", NATIVE)
def test_parallel_calls_keep_their_order(format: str) -> None:
    calls: list[Call] = [
        ("get_tide", {"harbor": "부산"}),
        ("get_moon", {}),
        ("get_tide", {"harbor": "목포", "day": 2}),
    ]
    assert_reads(format, calls, WRITERS[format](calls))


@pytest.mark.parametrize("format", NATIVE)
def test_a_call_of_a_tool_that_was_not_offered_is_a_call(format: str) -> None:
    written = WRITERS[format]([("get_wheather", {"city": "Gwangju"})])
    tools = tools_for([("get_weather", {"city": ""})])
    if format in ("plain_json", "dpab_json"):
        written = written.removeprefix("```json\n").removesuffix("\n```")
    assert calls_of(parse(written, format, tools)) == [("get_wheather", {"city": "Gwangju"})]


@pytest.mark.parametrize("format", NATIVE)
def test_a_plain_answer_is_content_and_no_error(format: str) -> None:
    for answer in (
        "네, 내일 서울은 맑습니다.",
        "[참고] 표 1 {요약}\n- a\n- b",
        "5 < 6 && 7 > 2",
        "f(x) = {x | x > 0}",
    ):
        parsed = parse(answer, format, tools_for([("get_weather", {"city": ""})]))
        assert (parsed.content, parsed.tool_calls, parsed.error) == (answer, (), None)


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<|eot_id|>\n", "</s>", "<|endoftext|><|endoftext|>", "<end_of_turn>\n"]
)
@pytest.mark.parametrize("format", NATIVE)
def test_tokens_at_the_end_are_no_content(format: str, token: str) -> None:
    calls: list[Call] = [("get_weather", {"city": "서울"})]
    parsed = parse(WRITERS[format](calls) + token, format, tools_for(calls), strict=True)
    assert calls_of(parsed) == calls and parsed.content is None and parsed.error is None
    assert parse("맑습니다." + token, format).content == "맑습니다."


@pytest.mark.parametrize("format", sorted(set(NATIVE) - {"gpt_oss", "hyperclovax", "openai", "solar_open"}))
@pytest.mark.parametrize("prompt", [None, "<|im_start|>assistant\n<think>\n"])
def test_reasoning_is_split_off_before_a_call(format: str, prompt: str | None) -> None:
    calls: list[Call] = [("get_weather", {"city": "<think>서울</think>"})]
    opened = "" if prompt else "<think>\n"
    text = f"{opened}서울 날씨를 찾아야 한다.\n</think>\n\n{WRITERS[format](calls)}"
    parsed = parse(text, format, tools_for(calls), strict=True, prompt=prompt)
    assert parsed.reasoning == "서울 날씨를 찾아야 한다."
    assert calls_of(parsed) == calls and parsed.content is None and parsed.error is None


@pytest.mark.parametrize("format", sorted(set(NATIVE) - {"openai", "dpab_json"}))
def test_text_before_a_call_is_content(format: str) -> None:
    calls: list[Call] = [("get_weather", {"city": "서울"})]
    before = "<|channel|>commentary<|message|>확인하겠습니다.<|end|><|start|>assistant"
    text = before if format == "gpt_oss" else "확인하겠습니다.\n"
    if format == "hyperclovax":
        text = "\n확인하겠습니다.<|im_end|>\n<|im_start|>assistant"
    parsed = parse(text + WRITERS[format](calls), format, tools_for(calls))
    assert calls_of(parsed) == calls and parsed.content == "확인하겠습니다." and parsed.error is None


@pytest.mark.parametrize("format", NATIVE)
def test_a_call_cut_off_anywhere_is_never_another_call(format: str) -> None:
    calls: list[Call] = [
        ("save_memo", {"메모": 'a "b" </c> \\ 가', "n1": 12, "city": [1, {"x": "y"}]}),
        ("now", {}),
    ]
    text = WRITERS[format](calls)
    tools = tools_for(calls)
    for stop in range(len(text)):
        parsed = parse(text[:stop], format, tools)
        found = calls_of(parsed)
        assert same(found, [list(call) for call in calls[: len(found)]]), (text[:stop], found)
        assert "".join((parsed.content or "").split()) or found or parsed.error or not text[:stop].strip()


@pytest.mark.parametrize("format", MARKED)
def test_auto_chooses_a_format_that_reads_the_calls(format: str) -> None:
    calls: list[Call] = [("get_weather", {"city": "서울", "n1": 3})]
    for text in (WRITERS[format](calls), "확인하겠습니다.\n" + WRITERS[format](calls)):
        parsed = parse(text, "auto", tools_for(calls))
        assert parsed.format == sniff(text) != "plain_json"
        assert calls_of(parsed) == calls and parsed.error is None


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.from_regex(r"[a-zA-Z가-힣][a-zA-Z0-9가-힣_]{0,8}", fullmatch=True).filter(
    lambda key: key not in ("and", "as", "def", "del", "for", "if", "in", "is", "not", "or", "try", "None")
)
ARGUMENTS = st.dictionaries(KEYS, JSON_VALUES, max_size=4)
CALLS = st.lists(
    st.tuples(st.sampled_from(["get_weather", "저장", "a.b-c"]), ARGUMENTS), min_size=1, max_size=3
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def held(format: str, value: Any, top: bool = True) -> bool:
    """Whether the format can write this value so that only one reading is left."""
    if isinstance(value, dict):
        return all(held(format, v, False) and held(format, k, False) for k, v in value.items())
    if isinstance(value, list):
        return all(held(format, item, False) for item in value)
    if isinstance(value, float) and format in UNESCAPED and top:
        return not value.is_integer()  # 3.0 is the number 3 in JSON, and so it is read
    return not isinstance(value, str) or format not in UNESCAPED or not UNESCAPED[format].search(value)


def one_kind_each(calls: list[Call]) -> bool:
    """Whether each parameter has one type: a format without types cannot tell "3" from 3 otherwise."""
    return all(
        len(schema["type"]) == 1
        for tool in tools_for(calls)
        for schema in tool["function"]["parameters"]["properties"].values()
    )


@pytest.mark.parametrize("format", NATIVE)
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(calls=CALLS)
def test_any_arguments_survive_being_written_and_parsed(format: str, calls: list[Call]) -> None:
    written = [c for c in calls if all(held(format, value) for value in c[1].values())]
    if not written or (format in UNESCAPED and not one_kind_each(written)):
        written = [("get_weather", {})]
    assert_reads(format, written, WRITERS[format](written))


FRAGMENTS = [
    "<tool_call>", "</tool_call>", "\n", " ", "{", "}", "[", "]", '"', "'", ",", ":", "(", ")", "\\", "`", "```", "```json\n",
    '{"name": "f", "arguments": {', '"arguments": ', "f", "=1", "<function=f>", "</function>", "<parameter=a>", "</parameter>",
    "<arg_key>a</arg_key>", "<arg_value>", "</arg_value>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>", "function<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜DSML｜function_calls>",
    '<｜DSML｜invoke name="f">', '<｜DSML｜parameter name="a" string="false">', "</｜DSML｜parameter>", "</｜DSML｜invoke>",
    "<minimax:tool_call>", '<invoke name="f">', '<parameter name="a">', "</invoke>", "<|tool_call>call:f{", '<|"|>', "a:",
    "<tool_call|>", "<start_function_call>call:f{", "<escape>", "<end_function_call>", "<|channel|>", "analysis", "commentary",
    "<|message|>", "<|start|>assistant", "<|call|>", "<|end|>", " to=functions.f", "<|tool_call_start|>[f(a=", "<|tool_call_end|>",
    "<|tool_call|>", "<|/tool_call|>", "functools[", "[Calling tool: f(", "<think>", "</think>", "<|python_tag|>", "<|python_start|>",
    "<|python_end|>", " -> tool/function_call\n", "<|im_end|>", "<|im_start|>assistant", "/think\n", "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>functions.f:0", "<|tool_call_argument_begin|>", "null", "NaN", "1e999", "-", "#", "//", "\x00", "\ud800",
    "9" * 5000, "[" * 300, '{"a":' * 200, "'''", '"""', "~~~", "print(", "**", "<tool_calls>", "</s>", "<s>",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=25).map("".join)
)
TOOLS = tools_for([("f", {"a": 1, "b": "x"}), ("python", {"code": ""})])


@settings(deadline=None, max_examples=1500, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=TEXTS,
    format=st.sampled_from([*sorted(FORMATS), "auto"]),
    prompt=st.sampled_from([None, "<think>\n", "x"]),
)
def test_any_text_gives_a_parse(text: str, format: str, prompt: str | None) -> None:
    for tools in (None, [], TOOLS):
        lenient = parse(text, format, tools, prompt=prompt)
        strict = parse(text, format, tools, strict=True, prompt=prompt)
        for parsed in (lenient, strict):
            assert isinstance(parsed, Parse) and parsed.raw == text and parsed.format in FORMATS
            assert all(isinstance(call.arguments, dict) and call.name for call in parsed.tool_calls)
            json.dumps([call.arguments for call in parsed.tool_calls], allow_nan=False)
        if strict.error is None:  # a reply that is right as it stands reads the same in both modes
            assert (lenient.content, lenient.tool_calls, lenient.error) == (
                strict.content,
                strict.tool_calls,
                None,
            )
        else:
            assert strict.tool_calls == ()


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["role", "content", "tool_calls", "function", "name", "arguments", "id", "type", "text", "reasoning_content"]),
        inner,
        max_size=5,
    ),
    max_leaves=15,
)  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(
    message=st.dictionaries(
        st.sampled_from(["role", "content", "tool_calls", "function_call", "reasoning"]), ODD
    )
)
def test_any_message_gives_a_parse(message: dict[str, Any]) -> None:
    parsed = parse(message, "openai", TOOLS)
    assert isinstance(parsed, Parse) and parsed.format == "openai"


def test_every_repair_is_a_short_sentence() -> None:
    for code, sentence in REPAIRS.items():
        assert re.fullmatch("[a-z_]+", code) and sentence[0].islower() and not sentence.endswith(".")
