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

from fcb_toolkit.parsers import FORMATS, matching_formats, parse
from fcb_toolkit.rendering import prompt_mode

NOT_FROM_TEMPLATES = frozenset({"openai", "dpab_pythonic", "dpab_json"})
"""Formats that no chat template writes."""

PROMPT_FORMAT = "plain_json"


@dataclass(frozen=True)
class FormatChoice:
    """The parser's name ("" where no parser reads this template's calls) and why it was chosen."""

    format: str
    reason: str


SURROUNDINGS = {
    "granite4": "<|start_of_role|>",
    "llama3_json": "<|start_header_id|>",
    "llama4_json": "<|header_start|>",
    "llama4_pythonic": "<|header_start|>",
}
"""What stands in the prompt around these formats, whose calls alone look like another format's."""

TOLD = {
    "lfm2": re.compile(r"<\|tool_list_start\|>"),
    "pythonic": re.compile(r"\[func_name1\("),
    "xlam": re.compile(r'\[\s*\{\s*"name"[^{}]{0,80}"arguments"'),
}
"""Words by which templates ask for a format whose own mark they do not print."""

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

    Best: reads strictly, then stands in its surroundings, then its mark comes first. Text without any
    format's mark is tried with all of them, leniently only with those that have no mark.
    """
    marked = matching_formats(text)
    # A format may be known by what stands around its calls alone: Llama 4's Python calls have no mark.
    around = [name for name, words in SURROUNDINGS.items() if words in prompt and name not in marked]
    scored = []
    for order, format in enumerate([*marked, *around] if marked else FORMATS):
        if format in NOT_FROM_TEMPLATES:
            continue
        strict = reads_back(text, format, calls, tools, strict=True)
        lenient = format in marked or FORMATS[format].bare or FORMATS[format].signature is None
        if strict or (lenient and reads_back(text, format, calls, tools)):
            scored.append((not strict, _out_of_place(format, prompt), order, format))
    return [format for *_, format in sorted(scored)]


def _out_of_place(format: str, prompt: str) -> int:
    """0 in the surroundings that the format needs, 1 where it needs none, 2 where they are missing.
    Plain JSON, which any text can be, comes after the formats that models are trained on."""
    if format == PROMPT_FORMAT:
        return 3
    if format not in SURROUNDINGS:
        return 1
    return 0 if SURROUNDINGS[format] in prompt else 2


def told_format(text: str, prompt: str) -> str:
    """The format that a template's words ask for, by its marks; "" where they name none."""
    named = [(_out_of_place(name, prompt), i, name) for i, name in enumerate(matching_formats(text))]
    for *_, format in sorted(named):
        if format not in NOT_FROM_TEMPLATES:
            return format
    return next((format for format, words in TOLD.items() if words.search(text)), "")


def _json_call(call: Mapping[str, Any], key: str = "arguments") -> str:
    function = call["function"]
    return prompt_mode.safe_json({"name": function["name"], key: function["arguments"]})


def _python_call(call: Mapping[str, Any]) -> str:
    function = call["function"]
    arguments = ", ".join(f"{key}={value!r}" for key, value in function["arguments"].items())
    return f"{function['name']}({arguments})".replace("</think>", "<\\x2fthink>")


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
