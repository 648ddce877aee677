"""The small conversation that templates are probed with, and how a call looks that went wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

SYSTEM = "너는 관측소 안내원이다."
QUESTION = "내일 부산 관측값 알려줘."
RESULT = "구름 조금 21도"
RESULT_JSON = '{"temp": 21, "sky": "구름 \\"조금\\""}'
BESIDE = "먼저 확인해 보겠습니다."
NAME = "read_station"
TOOLS: tuple[dict[str, Any], ...] = (
    {
        "type": "function",
        "function": {
            "name": NAME,
            "description": "관측소의 값을 읽는다.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "도시 이름", "enum": ["부산광역시", "제주시"]},
                    "days": {"type": "integer", "description": "며칠 뒤"},
                    "detail": {"type": "boolean", "description": "자세히"},
                    "areas": {"type": "array", "items": {"type": "string"}, "description": "구역들"},
                    "place": {
                        "type": "object",
                        "description": "자리",
                        "properties": {"floor": {"type": "integer"}, "label": {"type": "string"}},
                    },
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "read_clock",
            "description": "시각을 읽는다.",
            "parameters": {"type": "object", "properties": {}},
        },
    },
)


def _simple(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    properties = {k: v for k, v in function["parameters"]["properties"].items() if k != "place"}
    return {
        **tool,
        "function": {**function, "parameters": {**function["parameters"], "properties": properties}},
    }


SIMPLE_TOOLS = tuple(_simple(tool) for tool in TOOLS)
"""Without the nested object, on which templates that walk the schema may fail."""

RESULT_ROLES = ("tool", "tool_response", "tool_results", "ipython", "function", "observation")
"""Roles under which templates take tool results; tried where `tool` is dropped or refused."""

RICH: dict[str, Any] = {
    "city": "부산광역시",
    "days": 3,
    "detail": True,
    "areas": ["해운대", "광안리"],
    "place": {"floor": 2, "label": "별관"},
}
SIMPLE: dict[str, Any] = {"city": "부산광역시"}
LADDER: tuple[dict[str, Any], ...] = (
    RICH,
    {"city": "부산광역시", "days": 3, "detail": True},
    SIMPLE,
    {"days": 3},
)
"""Arguments tried in turn: what a template mangles further up it may print right further down."""

COMPANIONS = {"datetime": "2025-01-01", "date_string": None}
"""Values for variables that a template cannot do without; None leaves the template's own default."""


def call_message(
    arguments: Mapping[str, Any], content: str = "", identity: str = "call-obs-17", name: str = NAME
) -> dict[str, Any]:
    call = {"id": identity, "type": "function", "function": {"name": name, "arguments": dict(arguments)}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


def result_message(content: str = RESULT, identity: str = "call-obs-17", name: str = NAME) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "name": name, "content": content}


USER = {"role": "user", "content": QUESTION}


def call_faults(text: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """What is wrong with a call in this text, by its look: name and leaves must be there, unmangled."""
    if NAME not in text:
        return ("name",)
    faults = []
    if any(key not in text for key in arguments):
        faults.append("keys")
    if any(not shows_leaf(text, leaf) for leaf in leaves(arguments)):
        faults.append("values")
    if '{\\"' in text:
        faults.append("double_encoded")
    if re.search(r"\{'\w+': ", text):
        faults.append("repr")
    if "&#34;" in text or "&quot;" in text:
        faults.append("html")
    if re.search(r"\\u[0-9a-fA-F]{4}", text):
        faults.append("unicode_escapes")
    return tuple(faults)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, (list, tuple)):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [value]


def shows_leaf(text: str, leaf: Any) -> bool:
    if isinstance(leaf, str):
        return leaf in text
    return json.dumps(leaf) in text or repr(leaf) in text
