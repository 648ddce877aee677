"""The text of prompt mode, as docs/rendering.md documents it."""

import re
from pathlib import Path

from fcb_toolkit.parsers import parse
from fcb_toolkit.rendering.messages import prepare_tools
from fcb_toolkit.rendering.prompt_mode import calls_text, reply_text, results_text, tool_text, tools_text
from fcb_toolkit.rendering.reordered import FIXES

WEATHER = {
    "name": "get_weather",
    "description": "도시의 날씨",
    "parameters": {
        "properties": {
            "city": {"type": "string", "enum": ["서울", "부산"]},
            "days": {"type": "integer", "default": None},
        },
        "required": ["city"],
    },
}
CALL = {"function": {"name": "get_weather", "arguments": {"city": "서울"}}}


def blocks(root: Path) -> list[str]:
    text = (root / "docs" / "rendering.md").read_text(encoding="utf-8")
    return re.findall(r"```text\n(.*?)\n```", text, flags=re.DOTALL)


def test_the_documented_text_is_what_is_written(root: Path) -> None:
    written = "\n\n".join([tools_text(prepare_tools([WEATHER]), "ko"), reply_text("ko")])
    assert written == blocks(root)[0]
    assert results_text([{"name": "get_weather", "content": "맑음 21도"}], "ko") == blocks(root)[1]


def test_the_documented_fixes_are_those_there_are(root: Path) -> None:
    text = (root / "docs" / "rendering.md").read_text(encoding="utf-8")
    assert [name for name in FIXES if f"| `{name}` |" not in text] == []


def test_what_a_schema_has_beyond_its_parameters_is_written_too() -> None:
    parameters = {
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "string"}},
        "additionalProperties": False,
    }
    (tool,) = prepare_tools([{"name": "f", "parameters": parameters, "strict": True}])
    text = tool_text(tool, "en")
    assert '- a (optional): {"$ref": "#/$defs/A"}' in text
    assert (
        'Further rules: {"$defs": {"A": {"type": "string"}}, "additionalProperties": false, "strict": true}'
        in text
    )


def test_a_tool_without_parameters_is_its_name_and_description() -> None:
    (tool,) = prepare_tools([{"name": "now", "description": "지금", "parameters": {}}])
    assert tool_text(tool, "ko") == "## now\n지금"


def test_one_call_is_an_object_and_several_are_an_array_and_both_read_back() -> None:
    for calls in ([CALL], [CALL, CALL]):
        parsed = parse(calls_text(calls), "plain_json", strict=True)
        assert [(call.name, call.arguments) for call in parsed.tool_calls] == [
            ("get_weather", {"city": "서울"})
        ] * len(calls)


def test_several_results_are_numbered() -> None:
    results = [{"name": "f", "content": "가"}, {"name": "f", "content": "나"}]
    assert results_text(results, "en") == "Tool result 1 (f):\n가\n\nTool result 2 (f):\n나"
