"""The small failing inputs of render.jsonl: every sure case, and our policy for each that is not sure."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fcb_toolkit.rendering import ConversationError, function_schema, render

CHAT = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"in": schema}}
    return schema


def load(shared: Path) -> dict[str, dict[str, Any]]:
    cases = {}
    for line in (shared / "cases" / "render.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for tool in case["input"].get("tools") or []:
            parameters = tool["function"]["parameters"]
            if isinstance(parameters, str) and parameters.startswith("@nest("):
                tool["function"]["parameters"] = nested(int(parameters[6:-1]))
        cases[case["id"]] = case
    return cases


def prompt_of(given: dict[str, Any]) -> str:
    return render(given["messages"], given["tools"], given.get("template", CHAT)).prompt


def problems(case: dict[str, Any]) -> list[str]:
    """What of the case's expectations does not hold."""
    given, expected = case["input"], case["expected"]
    if "function" in given:
        return schema_problems(function_schema(given["function"]), expected["schema"])
    prompt = prompt_of(given)
    found = [f"lacks {text!r}" for text in expected.get("must_contain", ()) if text not in prompt]
    found += [f"holds {text!r}" for text in expected.get("must_not_contain", ()) if text in prompt]
    at = 0
    for text in expected.get("must_contain_in_order", ()):
        at = prompt.find(text, at)
        if at < 0:
            found.append(f"lacks {text!r} in order")
            break
        at += len(text)
    if "same_prompt_as" in expected:
        other = prompt_of({**given, **expected["same_prompt_as"]})
        found += [] if other == prompt else ["differs from the prompt it must equal"]
    return found


def schema_problems(tool: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    parameters = tool["function"]["parameters"]
    found = []
    if parameters["required"] != expected["required"]:
        found.append(f"required is {parameters['required']}")
    for name, wanted in expected["properties"].items():
        found += [
            f"{name}.{key} is {parameters['properties'][name].get(key)}"
            for key, value in wanted.items()
            if parameters["properties"][name].get(key) != value
        ]
    return found


def test_every_sure_case_holds(shared: Path) -> None:
    sure = {name: case for name, case in load(shared).items() if case["sure"]}
    assert len(sure) >= 14
    assert {name: problems(case) for name, case in sure.items()} == {name: [] for name in sure}


POLICY_KEPT = (
    "render-broken-arguments-in-history",
    "render-mistral-id-missing",
    "render-tool-result-without-name-and-id",
    "render-user-directly-after-tool",
    "render-two-user-messages-in-a-row",
    "render-deeply-nested-tool-schema",
)


def test_cases_of_policy_hold_as_the_report_expects_them(shared: Path) -> None:
    cases = load(shared)
    assert {name: problems(cases[name]) for name in POLICY_KEPT} == {name: [] for name in POLICY_KEPT}


def test_every_case_that_is_not_sure_has_a_policy(shared: Path) -> None:
    refused = {"render-arguments-not-an-object", "render-empty-conversation"}
    unsure = {name for name, case in load(shared).items() if not case["sure"]}
    assert unsure <= refused | set(POLICY_KEPT)


def test_arguments_that_are_no_object_are_refused_by_name_and_type(shared: Path) -> None:
    case = load(shared)["render-arguments-not-an-object"]
    with pytest.raises(
        ValueError, match=r"messages\[1\] tool_calls\[0\] \(get_weather\): 'arguments' is a list"
    ):
        prompt_of(case["input"])


def test_an_empty_conversation_is_refused() -> None:
    with pytest.raises(ValueError, match="the conversation is empty"):
        render([], [], CHAT)


def test_a_schema_nested_beyond_the_limit_is_refused_with_the_limit() -> None:
    tool = {"type": "function", "function": {"name": "deep", "parameters": nested(20_000)}}
    with pytest.raises(ConversationError, match=r"tools\[0\] \(deep\) is nested more than \d+ levels deep"):
        render([{"role": "user", "content": "안녕"}], [tool], CHAT)


def test_a_hint_of_none_accepts_null_and_refuses_the_word() -> None:
    tool = function_schema("def tag(name: str, score: int | None, other: 'Optional[float]' = None): ...")
    validator = jsonschema.Draft202012Validator(tool["function"]["parameters"])
    assert validator.is_valid({"name": "a", "score": 3})
    assert validator.is_valid({"name": "a", "score": None, "other": None})
    assert not validator.is_valid({"name": "a", "score": "None"})
    assert tool["function"]["parameters"]["required"] == ["name", "score"]
