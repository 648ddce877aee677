"""Cases and replies of the widgets' tests: one question for five cities, right for two of them."""

import json

import fcb_toolkit as fcb

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
