"""No text costs a parser more than linear work. Counted in steps of the interpreter, never in seconds."""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from parser_writers import WRITERS, tools_for

import fcb_toolkit
from fcb_toolkit.parsers import FORMATS, code, parse, sniff
from fcb_toolkit.parsers.reasoning import split
from fcb_toolkit.parsers.scan import FACTOR, FLOOR, Scan, TooComplex
from fcb_toolkit.parsers.special import trim
from fcb_toolkit.parsers.values import read_value

SIZE = 3000
STEPS_PER_CHARACTER = 40
TOOLS = tools_for([("f", {"a": "x", "b": 1}), ("g", {})])

ATTACKS = {
    "openings": ["<tool_call>", "[TOOL_CALLS]", "<function=f>", "<|tool_call|>", "functools[", "<tool_calls>", "[Calling tool: f("],
    "openings_with_json": ['<tool_call>{"a":"', "[TOOL_CALLS] [{", '<function=f>{"a": [', "<tool_call>{", '{"name": [', '{"name": "f", "arguments": {'],
    "openings_with_names": ["<tool_call>f<arg_key>a</arg_key><arg_value>", "<tool_call><function=f><parameter=a>", "[TOOL_CALLS]f{", "[TOOL_CALLS]f[ARGS]{"],
    "parameters": ["<parameter=a>x", "<parameter=z>\n", "</parameter> ", "<arg_key>a</arg_key><arg_value>x", "</arg_value>x", '<parameter name="z">x'],
    "invokes": ['<invoke name="f"><parameter name="a">', '<｜DSML｜invoke name="f">', '<minimax:tool_call><invoke name="f">', "</parameter>x"],
    "deepseek": ["<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"],
    "gemma": ['<|tool_call>call:f{a:<|"|>', "<start_function_call>call:f{a:<escape>", "call:f{a:{", '<|tool_call>call:f{a:x<|"|>y,', "<escape>x"],
    "harmony": ["<|channel|>analysis<|message|>", "<|start|>assistant to=functions.f<|message|>{", "<|channel|>", "<|message|>", "to=f "],
    "kimi": ["<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{", "<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
    "python": ["[f(", "[f(a='", "[f(a=[", "f(a=1),", "[f(a=1, ", "<|tool_call_start|>[f(", "```tool_code\nf(", "print(f(", "[f(a='''"],
    "hyperclovax": [" -> tool/function_call\n[{", "<|im_end|>\n<|im_start|>assistant", "/think\n", "<|im_end|>"],
    "brackets": ["{", "[", "(", '{"a":', "[[[", "}", "]]", '["', "{'a': "],
    "quotes": ['"', "'", '\\"', "\\", "'''", '"""', "\\'''"],
    "fences": ["```\n", "```json\n{", "```python\n'''\n", "~~~\n", "```\n\\'''\n```\n", "```python x```\n"],
    "tokens": ["<|im_end|>", "</s>", "<s>", "<think>", "</think>", "<think></think>", "<|start_header_id|>assistant<|end_header_id|>"],
    "plain": ["9", " ", "\n", "a", "-", "#\n", "//\n", ".", "\x00", "가", "=", "{}", "[]", '{"name": "f"}\n', '{"name":"f","arguments":{}}'],
}  # fmt: skip
PIECES = [piece for pieces in ATTACKS.values() for piece in pieces]


def steps(work: Callable[[], object]) -> int:
    """Lines that the interpreter executes in `work`."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("format", [*sorted(FORMATS), "auto"])
def test_repeating_any_mark_costs_linear_work(format: str) -> None:
    writer = WRITERS.get(format)
    whole = [writer([("f", {"a": "x", "b": 1})])] if writer else []
    cut = [text[: len(text) * 2 // 3] for text in whole]
    for piece in [*PIECES, *whole, *cut]:
        text = piece * (SIZE // len(piece) + 1)
        found = steps(lambda text=text: parse(text, format, TOOLS))  # type: ignore[misc]
        assert found < STEPS_PER_CHARACTER * len(text) + 20_000, (piece, found / len(text))


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_double_the_text_is_at_most_double_the_work(format: str) -> None:
    for first, second in (
        ("<tool_call>", "{"),
        ('{"name": "f", "arguments": {"a": "', "<think>"),
        ("[f(a='", "</parameter>"),
    ):
        one, two = ((first + second) * n for n in (150, 300))
        small, large = (steps(lambda text=text: parse(text, format, TOOLS)) for text in (one, two))  # type: ignore[misc]
        assert large < 2.3 * small + 3000, (format, first, small, large)


@pytest.mark.parametrize("piece", PIECES)
def test_the_helpers_beside_the_formats_are_linear_too(piece: str) -> None:
    text = piece * (SIZE // len(piece) + 1)
    for helper in (trim, code.extract_code, lambda t: split(t, "<think>", ("<tool_call>",))):
        found = steps(lambda helper=helper: helper(text))  # type: ignore[misc]
        assert found < STEPS_PER_CHARACTER * len(text) + 20_000, (piece, found / len(text))


def test_a_scan_refuses_to_look_at_more_than_its_limit() -> None:
    scan = Scan("x" * 1000)
    scan.charge(FACTOR * 1000 + FLOOR)
    with pytest.raises(TooComplex):
        scan.charge(1)


def test_a_search_that_found_nothing_is_not_repeated() -> None:
    scan = Scan("<a>" * 1000)
    for start in range(0, 3000, 3):
        assert scan.find("</a>", start) == -1
    assert scan.spent <= 3001


def test_a_search_is_answered_from_memory_until_its_place_is_passed() -> None:
    scan = Scan("x" * 500 + "<b>" + "x" * 500 + "<b>")
    assert [scan.find("<b>", start) for start in (0, 200, 500, 501)] == [500, 500, 500, 1003]
    assert scan.find("<b>", 0) == 500  # backwards is allowed, and paid for


def test_a_text_that_asks_for_too_much_is_an_error_and_keeps_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fcb_toolkit.parsers.scan.FACTOR", 1)
    monkeypatch.setattr("fcb_toolkit.parsers.scan.FLOOR", 0)
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * 20
    parsed = parse(text, "hermes", TOOLS)
    assert parsed.error is not None and parsed.error.code == "too_complex"
    assert parsed.tool_calls == () and parsed.content == parsed.raw == text


def test_a_block_that_cannot_be_read_stays_in_the_content_as_it_was_written() -> None:
    text = '<tool_call>{"a": "' * 400
    parsed = parse(text, "hermes", TOOLS)
    assert parsed.error is not None and parsed.error.code == "malformed_value" and parsed.content == text


@pytest.mark.parametrize("text", ["[" * 50_000, '{"a":' * 50_000, "[f(a=" + "[" * 50_000, "{'a':" * 50_000])
def test_nesting_without_end_is_refused(text: str) -> None:
    for format in FORMATS:
        assert parse(text, format, TOOLS).tool_calls == ()


def test_a_nesting_of_a_hundred_levels_is_read_and_more_is_an_error() -> None:
    def call(depth: int) -> str:
        return '<tool_call>{"name": "f", "arguments": {"a": ' + "[" * depth + "]" * depth + "}}</tool_call>"

    assert len(parse(call(95), "hermes").tool_calls) == 1
    for depth in (120, 900, 20_000):
        error = parse(call(depth), "hermes").error
        assert error is not None and error.code == "too_deep"


def test_an_integer_longer_than_python_converts_is_an_error() -> None:
    for digits in ("9" * 5000, "-" + "9" * 5000, "1" * 4301):
        text = f'<tool_call>{{"name": "f", "arguments": {{"a": {digits}}}}}</tool_call>'
        error = parse(text, "hermes").error
        assert error is not None and error.code == "not_a_json_number"
    text = f"<tool_call><function=f><parameter=b>\n{'9' * 5000}\n</parameter></function></tool_call>"
    assert parse(text, "qwen3_coder", TOOLS).tool_calls[0].arguments == {"b": "9" * 5000}


def test_a_value_is_read_in_steps_that_grow_with_its_length() -> None:
    def work(n: int) -> int:
        return steps(lambda: read_value(Scan("{'a': [" + "1, " * n + "]}"), 0))

    assert work(800) < 2.2 * work(400)


@pytest.mark.parametrize("space", ["\n", " ", "\n ", "\t\n"])
def test_white_space_costs_a_signature_linear_work(space: str) -> None:
    # A regular expression's work is no step of the interpreter; quadratic work would take minutes here.
    text = "Action: " + space * (400_000 // len(space)) + "```json"
    begin = time.process_time()
    for format in FORMATS.values():
        if format.signature:
            format.signature.search(text)
    assert time.process_time() - begin < 20


@pytest.mark.parametrize("before", ["", "\n", "네.\n\n  \n\t", "<think>음</think> \n\n"])
def test_white_space_before_a_list_of_calls_keeps_it_recognised(before: str) -> None:
    assert sniff(before + "[f(a=1)]") == "pythonic"


def test_no_pattern_repeats_a_group_possessively() -> None:
    """CPython before 3.11.5 matches those wrongly (gh-106052, gh-100061); of single characters it is sound."""
    possessive_group = re.compile(r"\)(?:[?*+]|\{[0-9,]+\})\+|\(\?>")
    found = {
        f"{file.name}: {line.strip()}"
        for file in Path(fcb_toolkit.__file__).parent.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if possessive_group.search(line)
    }
    assert found == set()
