"""Prompt mode: tools and history as text, for templates that cannot carry them. The format is documented
in docs/rendering.md.

    tools_text(tools, "ko")      # "# 도구\n\n## get_weather\n..."
    calls_text(calls)             # '{"name": "get_weather", "arguments": {"city": "속초"}}'

Each parameter stands on a line of its own with its JSON Schema, so that nothing of a schema is lost
(enum, nested objects, defaults) and a tool costs about as much as its compact JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.errors import UnknownName


@dataclass(frozen=True)
class Words:
    """The words of one language."""

    tools: str
    parameters: str
    required: str
    optional: str
    more: str
    reply: str
    example: str
    native: str
    result: str
    details: str


WORDS = {
    "ko": Words(
        tools="# 도구\n\n아래 도구를 호출할 수 있다.",
        parameters="매개변수:",
        required="필수",
        optional="선택",
        more="그 밖의 조건",
        reply=(
            "# 도구 호출 형식\n\n"
            "도구를 호출할 때는 다른 글 없이 아래 모양의 JSON만 쓴다.\n{example}\n"
            "여러 도구를 함께 호출할 때는 이 객체를 배열 하나에 담는다: [{{...}}, {{...}}]\n"
            "도구가 필요하지 않으면 JSON 없이 글로 답한다."
        ),
        example='{"name": "도구 이름", "arguments": {"매개변수 이름": "값"}}',
        native=(
            "# 도구 호출 형식\n\n"
            "도구를 호출할 때는 아래 모양으로 쓴다. 도구가 필요하지 않으면 글로 답한다.\n{example}"
        ),
        result="도구 결과",
        details="# 도구에 대한 보충 설명",
    ),
    "en": Words(
        tools="# Tools\n\nYou can call the tools below.",
        parameters="Parameters:",
        required="required",
        optional="optional",
        more="Further rules",
        reply=(
            "# How to call a tool\n\n"
            "To call a tool, write only JSON of this form and no other text.\n{example}\n"
            "To call several tools at once, put these objects into one array: [{{...}}, {{...}}]\n"
            "If no tool is needed, answer in plain text without JSON."
        ),
        example='{"name": "tool name", "arguments": {"parameter name": "value"}}',
        native=(
            "# How to call a tool\n\n"
            "To call a tool, write it in this form. If no tool is needed, answer in plain text.\n{example}"
        ),
        result="Tool result",
        details="# Further details on the tools",
    ),
}


def words(language: str) -> Words:
    """The words of `language`; `UnknownName` for one that is not there."""
    if language not in WORDS:
        raise UnknownName("language", language, WORDS)
    return WORDS[language]


def tools_text(tools: Sequence[Mapping[str, Any]], language: str) -> str:
    """All tools, one section each."""
    return "\n\n".join([words(language).tools, *(tool_text(tool, language) for tool in tools)])


def tool_text(tool: Mapping[str, Any], language: str) -> str:
    """One tool: its name, description, and each parameter with whether it is required and its schema."""
    word = words(language)
    function = tool["function"]
    parameters = function["parameters"]
    required = parameters.get("required") or []
    lines = [f"## {function['name']}"]
    if function["description"]:
        lines.append(function["description"])
    if parameters["properties"]:
        lines.append(word.parameters)
    for name, schema in parameters["properties"].items():
        need = word.required if name in required else word.optional
        lines.append(f"- {name} ({need}): {json.dumps(schema, ensure_ascii=False)}")
    more = {k: v for k, v in parameters.items() if k not in ("properties", "required", "type")}
    more.update({k: v for k, v in function.items() if k not in ("name", "description", "parameters", "type")})
    if more:
        lines.append(f"{word.more}: {json.dumps(more, ensure_ascii=False)}")
    return "\n".join(lines)


def reply_text(language: str) -> str:
    """How a call is to be written: `plain_json`."""
    word = words(language)
    return word.reply.format(example=word.example)


def native_text(example: str, language: str) -> str:
    """How a call is to be written, in the template's own form, by example."""
    return words(language).native.format(example=example)


def details_text(tools: Sequence[Mapping[str, Any]], language: str) -> str:
    """What the template's own declarations leave out of these tools."""
    return "\n\n".join([words(language).details, *(tool_text(tool, language) for tool in tools)])


def calls_text(calls: Sequence[Mapping[str, Any]]) -> str:
    """The calls of one assistant turn in the form that `reply_text` asks for."""
    objects = [
        {"name": call["function"]["name"], "arguments": call["function"]["arguments"]} for call in calls
    ]
    return safe_json(objects[0] if len(objects) == 1 else objects)


def safe_json(value: Any) -> str:
    """JSON without a closing reasoning tag: templates cut earlier turns at it, and parsers replies."""
    return json.dumps(value, ensure_ascii=False).replace("</think>", "<\\/think>")


def results_text(results: Sequence[Mapping[str, Any]], language: str) -> str:
    """The results that answer one assistant turn, numbered where there are several."""
    word = words(language).result
    several = len(results) > 1
    return "\n\n".join(
        f"{word}{f' {i}' if several else ''} ({result['name']}):\n{result['content']}"
        for i, result in enumerate(results, 1)
    )
