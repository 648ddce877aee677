"""Which parser reads what a template's model writes: read off the template, never off a model's name.

choose_format(template)      # FormatChoice(format="hermes", reason="a call in history reads back exactly")
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fcb_toolkit.parsers import FORMATS, parse
from fcb_toolkit.rendering import prompt_mode

NOT_FROM_TEMPLATES = frozenset({"openai", "dpab_pythonic", "dpab_json", "plain_json", "auto"})
"""Formats that no chat template writes."""

PROMPT_FORMAT = "plain_json"


@dataclass(frozen=True)
class FormatChoice:
    """The parser's name ("" where no parser reads this template's calls) and why it was chosen."""

    format: str
    reason: str


@dataclass(frozen=True)
class Marks:
    """Strings by which a format is known: all of `turn` in the call's text, all of `prompt` around it,
    none of `without` in the call's text. `told`: any of these in the text that the tools add."""

    turn: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


MARKS: dict[str, Marks] = {
    "hermes": Marks(turn=("<tool_call>", "{"), without=("<function=", "<arg_key>"), told=("<tool_call>",)),
    "granite4": Marks(turn=("<tool_call>", "{"), prompt=("<|start_of_role|>",)),
    "llama3_json": Marks(
        turn=('"parameters"',), prompt=("<|start_header_id|>",), told=('"parameters": dict',)
    ),
    "llama4_json": Marks(turn=('"parameters"',), prompt=("<|header_start|>",)),
    "pythonic": Marks(turn=("[", "("), without=("<", '{"name"'), told=("[func_name1(",)),
    "llama4_pythonic": Marks(turn=("[", "("), prompt=("<|header_start|>",), without=('{"name"',)),
    "mistral": Marks(turn=("[TOOL_CALLS]", "[{")),
    "mistral_v11": Marks(turn=("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]")),
    "mistral_v13": Marks(turn=("[TOOL_CALLS]", "[ARGS]"), without=("[CALL_ID]",)),
    "deepseek_v3": Marks(turn=("<｜tool▁sep｜>", "```json")),
    "deepseek_v31": Marks(turn=("<｜tool▁sep｜>",), without=("```json",)),
    "deepseek_v32": Marks(turn=("<｜DSML｜",)),
    "qwen3_coder": Marks(turn=("<function=", "<parameter="), told=("<parameter=",)),
    "functionary_v31": Marks(turn=("<function=", "{"), without=("<parameter=",)),
    "gemma3_tool_code": Marks(turn=("```tool_code",), told=("```tool_code",)),
    "gemma4": Marks(turn=("<|tool_call>call:",)),
    "functiongemma": Marks(turn=("<start_function_call>",)),
    "phi4_mini": Marks(turn=("<|tool_call|>",), told=("<|tool_call|>",)),
    "glm45": Marks(turn=("<arg_key>", "<arg_value>"), told=("<arg_key>",)),
    "glm47": Marks(turn=("<arg_key>", "<arg_value>")),
    "kimi_k2": Marks(turn=("<|tool_calls_section_begin|>",)),
    "minimax_m1": Marks(turn=("<tool_calls>",)),
    "minimax_m2": Marks(turn=("<minimax:tool_call>",)),
    "gpt_oss": Marks(turn=("<|channel|>", "<|message|>")),
    "lfm2": Marks(turn=("<|tool_call_start|>",), told=("<|tool_call_start|>", "<|tool_list_start|>")),
    "xlam": Marks(turn=("[", '{"name"'), without=("<", "[TOOL_CALLS]")),
    "hyperclovax": Marks(turn=("tool/function_call",)),
    "qwen_bracket": Marks(turn=("[Tool",)),
}
_LIST_OF_CALLS = re.compile(r'\[\s*\{\s*"name"[^{}]{0,80}"arguments"')

Call = tuple[str, Mapping[str, Any]]


def reads_back(
    text: str, format: str, calls: Sequence[Call], tools: Sequence[Any], strict: bool = False
) -> bool:
    """True if the parser of `format` finds exactly these calls in `text`."""
    found = parse(text, format, tools=list(tools), strict=strict)
    if found.error is not None and (strict or len(found.tool_calls) != len(calls)):
        return False
    return len(found.tool_calls) == len(calls) and all(
        call.name == name and same(call.arguments, arguments)
        for call, (name, arguments) in zip(found.tool_calls, calls, strict=True)
    )


def same(a: Any, b: Any) -> bool:
    """JSON equality: a boolean is never a number, 5 equals 5.0."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) is not type(b) and not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return False
    return bool(a == b)


def reading_formats(text: str, prompt: str, calls: Sequence[Call], tools: Sequence[Any]) -> list[str]:
    """The formats whose parsers read exactly these calls out of `text`, best first.

    Best: reads strictly, then by the length of the marks found in the text and around it.
    """
    scored = []
    for order, format in enumerate(sorted(FORMATS)):
        if format in NOT_FROM_TEMPLATES:
            continue
        mark = mark_score(format, text, prompt)
        if mark is None:
            continue
        strict = reads_back(text, format, calls, tools, strict=True)
        if strict or reads_back(text, format, calls, tools):
            scored.append((not strict, -mark, order, format))
    return [format for *_, format in sorted(scored)]


def mark_score(format: str, text: str, prompt: str) -> int | None:
    """Length of the format's marks, or None where one is missing or a foreign one is there."""
    marks = MARKS.get(format)
    if marks is None:
        return 0
    if any(mark not in text for mark in marks.turn) or any(mark not in prompt for mark in marks.prompt):
        return None
    if any(mark in text for mark in marks.without):
        return None
    return sum(map(len, marks.turn)) + sum(map(len, marks.prompt))


def told_format(instructions: str) -> str:
    """The format that a template's own words about its tools ask for; "" where they name none."""
    for format, marks in MARKS.items():
        if any(mark in instructions for mark in marks.told):
            return format
    return "xlam" if _LIST_OF_CALLS.search(instructions) else ""


def _json_call(call: Mapping[str, Any], key: str = "arguments") -> str:
    function = call["function"]
    return json.dumps({"name": function["name"], key: function["arguments"]}, ensure_ascii=False)


def _python_call(call: Mapping[str, Any]) -> str:
    function = call["function"]
    arguments = ", ".join(f"{key}={value!r}" for key, value in function["arguments"].items())
    return f"{function['name']}({arguments})"


def _xml_call(call: Mapping[str, Any]) -> str:
    lines = ["<tool_call>", f"<function={call['function']['name']}>"]
    for key, value in call["function"]["arguments"].items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines += [f"<parameter={key}>", text, "</parameter>"]
    return "\n".join([*lines, "</function>", "</tool_call>"])


def _json_list(calls: Sequence[Mapping[str, Any]]) -> str:
    return "[" + ", ".join(_json_call(call) for call in calls) + "]"


def _python_list(calls: Sequence[Mapping[str, Any]]) -> str:
    return "[" + ", ".join(_python_call(call) for call in calls) + "]"


WRITERS: dict[str, Callable[[Sequence[Mapping[str, Any]]], str]] = {
    "plain_json": prompt_mode.calls_text,
    "hermes": lambda calls: "\n".join(f"<tool_call>\n{_json_call(call)}\n</tool_call>" for call in calls),
    "granite4": lambda calls: "\n".join(f"<tool_call>\n{_json_call(call)}\n</tool_call>" for call in calls),
    "phi4_mini": lambda calls: f"<|tool_call|>{_json_list(calls)}",
    "xlam": _json_list,
    "lfm2": lambda calls: f"<|tool_call_start|>{_python_list(calls)}<|tool_call_end|>",
    "pythonic": _python_list,
    "llama4_pythonic": _python_list,
    "llama3_json": lambda calls: "; ".join(_json_call(call, "parameters") for call in calls),
    "qwen3_coder": lambda calls: "\n".join(map(_xml_call, calls)),
    "llama4_json": lambda calls: "; ".join(_json_call(call, "parameters") for call in calls),
}
"""How a call is written into the content of a turn, for templates that do not read `tool_calls`."""


@lru_cache(maxsize=4096)
def writes_back(format: str, text: str, calls: str, tools: str) -> bool:
    """Cached `reads_back` for text that the toolkit wrote itself; `calls` and `tools` as JSON."""
    expected = [(call["function"]["name"], call["function"]["arguments"]) for call in json.loads(calls)]
    return reads_back(text, format, expected, json.loads(tools))
