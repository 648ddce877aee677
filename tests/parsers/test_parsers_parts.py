"""The shared parts: reasoning, types, tokens, OpenAI messages, code blocks, the choice of a format."""

import json
from typing import Any

import pytest

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.parsers import FALLBACK, matching_formats, parse, sniff
from fcb_toolkit.parsers.code import extract_code, find_blocks
from fcb_toolkit.parsers.offered import Offered, kinds
from fcb_toolkit.parsers.special import END_TOKENS
from fcb_toolkit.parsers.values import decode

CALL = '<tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call>'


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
    }


TOOLS = [tool("f", a={"type": "string"})]


def test_an_unknown_format_lists_those_that_exist() -> None:
    with pytest.raises(
        UnknownName, match=r"unknown parser format 'hermess'\. Did you mean 'hermes'\? Known: auto, "
    ):
        parse("x", "hermess")


def test_no_reply_is_an_empty_parse_without_an_error() -> None:
    parsed = parse(None, "hermes")
    assert (parsed.content, parsed.tool_calls, parsed.error, parsed.raw) == (None, (), None, "")


def test_something_that_is_neither_text_nor_message_is_an_error() -> None:
    error = parse(3, "hermes").error  # type: ignore[arg-type]
    assert error is not None and error.code == "not_text"
    assert error.message == "the reply is int, expected text or a message"


@pytest.mark.parametrize(
    "tools", [None, [], [3], ["f"], [{}], [{"function": None}], [{"function": {"name": 1}}]]
)
def test_tools_that_are_no_tools_are_passed_over(tools: Any) -> None:
    assert parse(CALL, "hermes", tools).tool_calls[0].arguments == {"a": "x"}


class TestReasoning:
    def test_a_block_at_the_start_is_split_off(self) -> None:
        parsed = parse(f"<think>\n비가 온다.\n</think>\n\n우산을 챙기세요.{CALL}", "hermes")
        assert (parsed.reasoning, parsed.content) == ("비가 온다.", "우산을 챙기세요.")
        assert len(parsed.tool_calls) == 1

    def test_the_prompt_may_have_opened_it(self) -> None:
        parsed = parse("비가 온다.</think>우산", "hermes", prompt="<|im_start|>assistant\n<think>\n")
        assert (parsed.reasoning, parsed.content) == ("비가 온다.", "우산")

    def test_a_prompt_that_closed_it_again_opened_nothing(self) -> None:
        parsed = parse("우산", "hermes", prompt="<think>\n\n</think>\n\n")
        assert (parsed.reasoning, parsed.content, parsed.error) == (None, "우산", None)

    def test_an_opened_block_that_never_ends_is_reported(self) -> None:
        for text, prompt in (("<think>비가", None), ("비가", "<think>")):
            parsed = parse(text, "hermes", prompt=prompt)
            assert parsed.reasoning == "비가" and parsed.content is None
            assert parsed.error is not None and parsed.error.code == "unclosed_reasoning"

    def test_a_closing_tag_without_an_opening_one_ends_reasoning(self) -> None:
        assert parse("비가 온다.</think>우산", "hermes").reasoning == "비가 온다."

    def test_a_tag_inside_an_argument_is_the_arguments(self) -> None:
        text = CALL.replace('"x"', '"<think>a</think> b"')
        parsed = parse(text, "hermes")
        assert parsed.reasoning is None and parsed.tool_calls[0].arguments == {"a": "<think>a</think> b"}
        bare = '{"name": "f", "parameters": {"a": "끝 </think> 시작"}}'
        assert parse(bare, "llama3_json").tool_calls[0].arguments == {"a": "끝 </think> 시작"}

    def test_a_call_that_is_only_thought_of_is_none(self) -> None:
        parsed = parse(f"<think>{CALL} 를 부를까?</think>아니요.", "hermes")
        assert parsed.tool_calls == () and parsed.content == "아니요."

    def test_a_mention_of_the_tag_in_reasoning_does_not_end_it(self) -> None:
        parsed = parse(f"<tool_call> 태그를 쓰자.</think>{CALL}", "hermes")
        assert parsed.reasoning == "<tool_call> 태그를 쓰자." and len(parsed.tool_calls) == 1

    def test_a_block_in_the_middle_of_an_answer_is_the_answers(self) -> None:
        text = "생각 블록은 <think>...</think> 로 씁니다."
        assert parse(text, "hermes").content == text

    def test_several_blocks_in_a_row_are_one_reasoning(self) -> None:
        parsed = parse("<think>가</think>\n<think>나</think>다", "hermes")
        assert (parsed.reasoning, parsed.content) == ("가\n나", "다")

    def test_an_empty_block_is_no_reasoning(self) -> None:
        assert parse("<think>\n\n</think>\n\n네.", "hermes").reasoning is None

    @pytest.mark.parametrize(
        ("text", "format"),
        [
            ("<thought>가</thought>나", "hermes"),
            ("[THINK]가[/THINK]나", "mistral_v13"),
            ("<|channel>thought\n가\n<channel|>나", "gemma4"),
            ("<|START_THINKING|>가<|END_THINKING|>나", "plain_json"),
            ("<|channel|>analysis<|message|>가<|end|><|start|>assistant<|channel|>final<|message|>나<|return|>", "gpt_oss"),
            ("/think\n가<|im_end|>\n<|im_start|>assistant\n나<|im_end|><|endofturn|>", "hyperclovax"),
        ],
    )  # fmt: skip
    def test_every_familys_tags_are_known(self, text: str, format: str) -> None:
        parsed = parse(text, format, strict=True)
        assert (parsed.reasoning, parsed.content, parsed.error) == ("가", "나", None)

    def test_hyperclovax_reasoning_may_begin_in_the_prompt(self) -> None:
        text = '가<|im_end|>\n<|im_start|>assistant -> tool/function_call\n[{"name": "f", "arguments": {}}]<|im_end|><|stop|>'
        parsed = parse(text, "hyperclovax", prompt="<|im_start|>assistant/think\n", strict=True)
        assert parsed.reasoning == "가" and parsed.tool_calls[0].name == "f" and parsed.content is None

    @pytest.mark.parametrize("format", ["gpt_oss", "hyperclovax"])
    def test_channels_that_end_in_thought_are_reported(self, format: str) -> None:
        text = "<|channel|>analysis<|message|>가" if format == "gpt_oss" else "/think\n가"
        parsed = parse(text, format)
        assert (
            parsed.reasoning == "가"
            and parsed.error is not None
            and parsed.error.code == "unclosed_reasoning"
        )


class TestTokens:
    @pytest.mark.parametrize("token", END_TOKENS)
    def test_no_end_token_is_content(self, token: str) -> None:
        assert parse(f"네.{token}\n{token}", "hermes").content == "네."

    def test_a_closing_tag_of_struck_out_text_stays(self) -> None:
        assert parse("<b><s>1000원</s>", "hermes").content == "<b><s>1000원</s>"

    def test_a_token_inside_an_argument_stays(self) -> None:
        assert (
            parse(CALL.replace('"x"', '"</s><|im_end|>"'), "hermes").tool_calls[0].arguments["a"]
            == "</s><|im_end|>"
        )


class TestTypes:
    @pytest.mark.parametrize(
        ("schema", "text", "value"),
        [
            ({"type": "string"}, "007", "007"),
            ({"type": "string"}, "null", "null"),
            ({"type": "string"}, " a ", " a "),
            ({"type": "integer"}, "140.0", 140),
            ({"type": "integer"}, " -3 ", -3),
            ({"type": "integer"}, "3.5", 3.5),
            ({"type": "integer"}, "2026-01-15", "2026-01-15"),
            ({"type": "integer"}, "1_000", "1_000"),
            ({"type": "integer"}, "１２", "１２"),
            ({"type": "integer"}, "", ""),
            ({"type": "number"}, "1e3", 1000),
            ({"type": "number"}, "nan", "nan"),
            ({"type": "number"}, "1e999", "1e999"),
            ({"type": "boolean"}, "True", True),
            ({"type": "boolean"}, "1", "1"),
            ({"type": ["string", "null"]}, "None", None),
            ({"type": ["integer", "string"]}, "007", "007"),
            ({"type": ["integer", "string"]}, "7", 7),
            ({"type": ["integer", "string"]}, "7.5", "7.5"),
            ({"type": "string", "nullable": True}, "null", None),
            ({"type": "object"}, '{"a": 1}', {"a": 1}),
            ({"type": "object"}, "{'a': True}", {"a": True}),
            ({"type": "array"}, "['가', '나']", ["가", "나"]),
            ({"type": "array"}, "가, 나", "가, 나"),
            ({"type": "dict"}, '{"a": 1}', {"a": 1}),
            ({"type": "str"}, "3", "3"),
            ({"type": "object"}, '"{\\"a\\": 1}"', {"a": 1}),
            ({"enum": [1, 2]}, "2", 2),
            ({"enum": ["1", "2"]}, "2", "2"),
            ({"const": True}, "true", True),
            ({"properties": {}}, "{}", {}),
            ({"items": {}}, "[1]", [1]),
            ({}, "3", 3),
            ({}, "서울", "서울"),
            ({"anyOf": [{"type": "array"}, {"type": "null"}]}, "[]", []),
            ({"oneOf": [{"type": "integer"}, {"type": "null"}]}, "null", None),
            ({"allOf": [{"$ref": "#/$defs/T"}]}, "[1]", [1]),
            ({"$ref": "#/$defs/Loop"}, "x", "x"),
            ({"$ref": 3}, "x", "x"),
            ("odd", "7", "7"),
        ],
    )
    def test_text_becomes_what_the_schema_says(self, schema: Any, text: str, value: Any) -> None:
        made = tool("f", p=schema)
        made["function"]["parameters"]["$defs"] = {"T": {"type": "array"}, "Loop": {"$ref": "#/$defs/Loop"}}
        found = Offered([made]).convert("f", "p", text)
        assert json.dumps(found) == json.dumps(value)

    def test_a_parameter_without_a_schema_stays_text(self) -> None:
        assert Offered(TOOLS).convert("f", "other", "3") == "3"
        assert Offered(None).convert("f", "a", "3") == "3"

    def test_other_parameters_may_have_a_schema_together(self) -> None:
        made = tool("f")
        made["function"]["parameters"]["additionalProperties"] = {"type": "integer"}
        assert Offered([made]).convert("f", "x", "3") == 3

    def test_a_schema_that_never_ends_is_left(self) -> None:
        endless: dict[str, Any] = {"anyOf": []}
        endless["anyOf"].append(endless)
        assert kinds(endless, {}) == frozenset()

    def test_integers_beyond_the_float_range_stay_exact(self) -> None:
        assert (
            Offered([tool("f", p={"type": "integer"})]).convert("f", "p", "9007199254740993")
            == 9007199254740993
        )


class TestOpenAI:
    def message(self, **function: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]}

    def test_a_right_message_is_read_with_its_id_and_raw_arguments(self) -> None:
        message = self.message(name="f", arguments='{"a": "x"}')
        for given in (message, json.dumps(message)):
            parsed = parse(given, "openai", TOOLS, strict=True)
            call = parsed.tool_calls[0]
            assert (call.name, call.arguments, call.id, call.raw_arguments) == (
                "f",
                {"a": "x"},
                "c1",
                '{"a": "x"}',
            )
            assert parsed.error is None and json.loads(parsed.raw) == message

    @pytest.mark.parametrize("written", ["", "null", None, "[]", " "])
    def test_no_arguments_are_an_empty_object(self, written: Any) -> None:
        assert parse(self.message(name="f", arguments=written), "openai").tool_calls[0].arguments == {}

    @pytest.mark.parametrize("written", [{"a": "x"}, '"{\\"a\\": \\"x\\"}"', "{'a': 'x'}", '{"a": "x",}'])
    def test_arguments_in_another_dress_are_read(self, written: Any) -> None:
        message = self.message(name="f", arguments=written)
        assert parse(message, "openai").tool_calls[0].arguments == {"a": "x"}
        assert parse(message, "openai", strict=True).error is not None

    def test_calls_in_another_dress_are_read(self) -> None:
        call = {"name": "f", "arguments": '{"a": "x"}'}
        dressed: list[Any] = [
            {"function": call},
            json.dumps([{"function": call}]),
            [call],
            [{"function": "f", "arguments": call["arguments"]}],
        ]
        for calls in dressed:
            message = {"content": None, "tool_calls": calls}
            assert parse(message, "openai").tool_calls[0].arguments == {"a": "x"}
            assert parse(message, "openai", strict=True).error is not None

    @pytest.mark.parametrize(
        ("message", "sentence"),
        [
            ({"tool_calls": [{"function": {"name": "f", "arguments": [1]}}]}, "tool_calls[0]: the arguments of 'f' are a list, expected an object"),
            ({"tool_calls": [{"function": {"name": "f", "arguments": 3}}]}, "tool_calls[0]: the arguments of 'f' are a number, expected an object"),
            ({"tool_calls": [{"function": {"name": "f", "arguments": True}}]}, "tool_calls[0]: the arguments of 'f' are a boolean, expected an object"),
            ({"tool_calls": [{"function": {"arguments": "{}"}}]}, "tool_calls[0].function.name is null, expected a name"),
            ({"tool_calls": [{"function": {"name": 3}}]}, "tool_calls[0].function.name is a number, expected a name"),
            ({"tool_calls": [{"function": None}]}, "tool_calls[0].function is null, expected an object"),
            ({"tool_calls": [None]}, "tool_calls[0] is null, expected an object"),
            ({"tool_calls": "f"}, "tool_calls is a string, expected a list"),
            ({"content": 3}, "content is a number, expected text or null"),
        ],
    )  # fmt: skip
    def test_a_wrong_field_is_an_error_that_says_where(self, message: Any, sentence: str) -> None:
        parsed = parse(message, "openai")
        assert parsed.tool_calls == () and parsed.error is not None and parsed.error.message == sentence

    def test_content_in_parts_and_reasoning_are_read(self) -> None:
        message = {
            "content": [{"type": "text", "text": "가"}, {"type": "text", "text": "나"}],
            "reasoning_content": "다",
        }
        parsed = parse(message, "openai")
        assert (parsed.content, parsed.reasoning) == ("가\n나", "다")

    def test_the_older_function_call_field_is_read(self) -> None:
        parsed = parse({"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "openai")
        assert parsed.tool_calls[0].name == "f"

    def test_text_that_is_no_message_is_an_answer(self) -> None:
        for text in ("네.", "{", "[1]", '{"city": "서울"}'):
            assert parse(text, "openai").content == text

    def test_a_message_that_is_not_json_is_still_read(self) -> None:
        assert parse({"content": "네.", "extra": {1, 2}}, "openai").content == "네."

    def test_a_message_is_read_whatever_the_format(self) -> None:
        assert parse({"content": "네."}, "hermes").format == "openai"


class TestCode:
    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("```python\nx = 1\n```", "x = 1"),
            ("설명\n```python\nx = 1\n```\n끝", "x = 1"),
            ("```py\nx = 1\n```", "x = 1"),
            ("```Python3\nx = 1\n```", "x = 1"),
            ("```python title=a.py\nx = 1\n```", "x = 1"),
            ("```{.python}\nx = 1\n```", "x = 1"),
            ("```\nx = 1\n```", "x = 1"),
            ("```json\nx = 1\n```", "x = 1"),
            ("~~~python\nx = 1\n~~~", "x = 1"),
            ("````python\nx = '```'\n````", "x = '```'"),
            ("```python\r\nx = 1\r\n```\r\n", "x = 1"),
            ("```python\nx = 1", "x = 1"),
            ("```python x = 1```", "x = 1"),
            ("- 먼저\n  ```python\n  if x:\n      y = 1\n  ```", "if x:\n    y = 1"),
            ("```python\na = 1\n```\n```python\nb = 2\n```", "a = 1\nb = 2"),
            ("```python\nx = 1\n```\n출력:\n```python\n>>> 42 is it\n```", "x = 1"),
            ("```python\nx =\n```\n```python\ny (\n```", "x =\ny ("),
            ("```\n예시\n```\n```python\nx = 1\n```", "x = 1"),
            ("```python\n\n```\n```\nx = 1\n```", "x = 1"),
            ("```python\ndoc = '''\n```\nrun\n```\n'''\nx = 1\n```\n끝", "doc = '''\n```\nrun\n```\n'''\nx = 1"),
            ('```python\ns = "it\'\'\'s"  # \'\'\'\nx = 1\n```\n```\ny\n```', 's = "it\'\'\'s"  # \'\'\'\nx = 1'),
            ("```python\nx = '''never\n```\n뒤", "x = '''never"),
            ("x = 1\ny = 2", "x = 1\ny = 2"),
            ("<think>\n```python\nbad\n```\n</think>\n```python\nx = 1\n```<|im_end|>", "x = 1"),
            ("x = f()<|eot_id|>", "x = f()"),
            ("", ""),
            ("```python\n```", ""),
            ("```python\n    x = 1\n    y = 2\n```", "    x = 1\n    y = 2"),
        ],
    )  # fmt: skip
    def test_the_program_is_found(self, text: str, code: str) -> None:
        assert extract_code(text) == code

    def test_the_prompt_may_have_opened_the_reasoning(self) -> None:
        assert extract_code("```python\nbad\n```\n</think>\n```python\nx = 1\n```", "<think>") == "x = 1"

    def test_blocks_know_their_label_and_whether_they_end(self) -> None:
        first, second = find_blocks("```SQL\nselect\n```\n```\nx")
        assert (first.label, first.closed, second.label, second.closed) == ("sql", True, "", False)

    def test_the_parse_of_a_program_has_it_as_content(self) -> None:
        parsed = parse("먼저\n```python\nx = f()\n```", "dpab_pythonic", strict=True)
        assert (parsed.content, parsed.tool_calls, parsed.error) == ("x = f()", (), None)
        error = parse("x = f()", "dpab_pythonic", strict=True).error
        assert error is not None and error.code == "code_fence"


class TestChoice:
    @pytest.mark.parametrize(
        ("text", "format"),
        [
            (CALL.replace("<tool_call>", "<tool_call>\n"), "hermes"),
            ("<tool_call>\n<function=f>\n<parameter=a>\nx", "qwen3_coder"),
            ("<tool_call>f\n<arg_key>a</arg_key>", "glm45"),
            ("<tool_call>f<arg_key>a</arg_key>", "glm47"),
            ("<function=f>{}", "functionary_v31"),
            ("[TOOL_CALLS] [{", "mistral"),
            ("[TOOL_CALLS]f{", "mistral_v11"),
            ("[TOOL_CALLS]f[ARGS]{", "mistral_v13"),
            ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json", "deepseek_v3"),
            ("<｜tool▁call▁begin｜>f<｜tool▁sep｜>{", "deepseek_v31"),
            ("[f(a=1)]", "pythonic"),
        ],
    )
    def test_the_mark_that_comes_first_says_the_format(self, text: str, format: str) -> None:
        assert sniff(text) == format

    def test_a_text_without_a_mark_is_read_as_plain_json(self) -> None:
        assert sniff("네.") is None and matching_formats("네.") == []
        parsed = parse('{"name": "f", "arguments": {}}', "auto")
        assert parsed.format == FALLBACK and parsed.tool_calls[0].name == "f"


class TestValues:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('"\\ud83d\\ude00"', "😀"),
            ('"\\ud83d"', "\ud83d"),
            ("'\\ud83d\\ude00'", "😀"),
            ("'a\\x41\\101\\N'", "aAA\\N"),
            ("'''a\n\"b'''", 'a\n"b'),
            ("r'\\n'", "\\n"),
            ("u'가'", "가"),
            ('"C:\\users"', "C:\\users"),
            ("(1, 2)", [1, 2]),
            ("[1, 2,]", [1, 2]),
            ("{'a': 'b'}", {"a": "b"}),
            ("{1: 2}", {"1": 2}),
            ("-0.5e-3", -0.0005),
            ("+5", 5),
            ("0x1F", 31),
            ("[1, // eins\n2]", [1, 2]),
        ],
    )
    def test_a_value_that_is_not_quite_json_is_read(self, text: str, value: Any) -> None:
        found = decode(text)
        assert found is not None and json.dumps(found.value) == json.dumps(value)

    @pytest.mark.parametrize(
        "text",
        ["", " ", "nan", "NaN", "-Infinity", "1e999", "007", "1 2", "{", "[1", '"a', "{a}", "b'x'", "f'{x}'", "x", "1+1", "3kg", "{1, 2}", "0x", "--1", "{'a' 1}"],
    )  # fmt: skip
    def test_what_is_no_value_is_none(self, text: str) -> None:
        assert decode(text) is None
