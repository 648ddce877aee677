"""Small runs for the widgets: the same cases, and a reply for each as the test says."""

import json
from pathlib import Path

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "날씨를 알려 줍니다.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "도시"}},
            "required": ["city"],
        },
    },
}
CITIES = ("서울", "부산", "대구", "인천", "광주")


def call(name: str, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}</tool_call>"


def case_of(city: str, number: int = 0, **more: object) -> fcb.Case:
    request = {
        "id": f"{city}-{number}",
        "messages": [
            {"role": "system", "content": "도우미입니다."},
            {"role": "user", "content": f"{city} 날씨 ({number})"},
        ],
        "tools": [TOOL],
        "ground_truth": {"name": "get_weather", "arguments": json.dumps({"city": city}, ensure_ascii=False)},
        "tools_type": "exact",
    }
    return fcb.Case.from_request({**request, **more}, benchmark="toy")


def reply_of(messages: list, tools: list) -> str:
    """Right for Seoul and Busan; a wrong value, an unknown tool and no call for the others."""
    text = messages[-1]["content"]
    city = next(name for name in CITIES if name in text)
    answers = {
        "대구": call("get_weather", city="대 구 시"),
        "인천": call("get_news", city="인천"),
        "광주": "어느 날인가요?",
    }
    return answers.get(city, call("get_weather", city=city))


@pytest.fixture
def cases() -> list[fcb.Case]:
    return [case_of(city, number) for number in range(10) for city in CITIES]


@pytest.fixture
def run(cases: list[fcb.Case], tmp_path: Path) -> fcb.Run:
    """50 cases, 20 right: one run on disk."""
    model = ScriptedModel(reply_of, name="model-a", format="hermes")
    return fcb.evaluate(model, cases, tmp_path / "model-a", progress=False)


@pytest.fixture
def other(cases: list[fcb.Case], tmp_path: Path) -> fcb.Run:
    """The same cases by a model that is right about everything but Seoul."""

    def script(messages: list, tools: list) -> str:
        city = next(name for name in CITIES if name in messages[-1]["content"])
        return "모르겠어요." if city == "서울" else call("get_weather", city=city)

    model = ScriptedModel(script, name="model-b", format="hermes")
    return fcb.evaluate(model, cases, tmp_path / "model-b", progress=False)
