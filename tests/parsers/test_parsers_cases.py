"""The shared failing inputs from public bug reports, and the written policy where they are not sure."""

import json
from pathlib import Path
from typing import Any

import pytest

from fcb_toolkit.parsers import FORMATS, parse
from fcb_toolkit.records import Parse


def cases(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "cases" / "parse.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def read(case: dict[str, Any], strict: bool) -> Parse:
    given = case["input"]
    format = case["family"] or "plain_json"
    return parse(given.get("raw", given.get("message")), format, given["tools"], strict, given.get("prompt"))


def calls_of(parsed: Parse) -> str:
    return canonical([{"name": call.name, "arguments": call.arguments} for call in parsed.tool_calls])


def canonical(calls: Any) -> str:
    return json.dumps(calls, sort_keys=True, ensure_ascii=False)


def stripped(text: str | None) -> str:
    return (text or "").strip()


def problems(case: dict[str, Any]) -> list[str]:
    """What differs from the case's expected result, in lenient and in strict mode."""
    expected, lenient, strict = case["expected"], read(case, False), read(case, True)
    found = []
    if calls_of(lenient) != canonical(expected["tool_calls"]):
        found.append("other calls")
    if stripped(lenient.content) != stripped(expected["content"]):
        found.append("other content")
    if "reasoning" in expected and stripped(lenient.reasoning) != stripped(expected["reasoning"]):
        found.append("other reasoning")
    status = expected["status"]
    if (lenient.error is not None) != (status == "malformed"):
        found.append("an error where none is due" if lenient.error else "no error")
    if status in ("valid", "no_call") and (strict.error or calls_of(strict) != calls_of(lenient)):
        found.append("strict mode refuses what is right")
    if status in ("recoverable", "malformed") and (strict.error is None or strict.tool_calls):
        found.append("strict mode takes what is not right")
    return found


def test_every_sure_case_comes_out_exactly(shared: Path) -> None:
    sure = [case for case in cases(shared) if case["sure"]]
    assert len(sure) >= 60
    assert {case["id"]: problems(case) for case in sure if problems(case)} == {}


def test_every_case_keeps_its_text(shared: Path) -> None:
    for case in cases(shared):
        raw = case["input"].get("raw")
        for strict in (False, True):
            parsed = read(case, strict)
            assert raw is None or parsed.raw == raw
            assert parsed.format in FORMATS


AS_EXPECTED = {
    "parse-hermes-two-objects-one-tag",
    "parse-hermes-call-before-think-closes",
    "parse-hermes-xml-inside-json-tag",
    "parse-hermes-unescaped-inner-quotes",
    "parse-hermes-backslash-apostrophe",
    "parse-hermes-nan-literal",
    "parse-fence-only-json-fallback",
    "parse-openai-concatenated-arguments",
    "parse-pythonic-positional-dict",
    "parse-glm-literal-close-tag-in-value",
    "parse-minimax-close-tag-in-value",
    "parse-gemma4-opening-delimiter-missing",
    "parse-harmony-recipient-on-analysis-channel",
}
"""Cases that are not sure, where the policy is the result that the case prefers."""
AS_ALTERNATIVE = {"parse-deepseek-dsml-duplicate-parameter": "duplicate_argument"}
"""Cases that are not sure, where the policy is an alternative: no call, and this error."""


def test_the_policy_for_cases_that_are_not_sure_is_followed(shared: Path) -> None:
    unsure = {case["id"]: case for case in cases(shared) if not case["sure"]}
    for name, case in unsure.items():
        if name in AS_ALTERNATIVE:
            parsed = read(case, False)
            assert parsed.error is not None and parsed.error.code == AS_ALTERNATIVE[name]
            assert parsed.tool_calls == () and stripped(parsed.content) == stripped(case["input"]["raw"])
        else:
            assert problems(case) == [], name


def test_every_case_that_is_not_sure_has_its_line_in_the_documents(shared: Path, root: Path) -> None:
    written = (root / "docs" / "parsers.md").read_text(encoding="utf-8")
    for case in cases(shared):
        if not case["sure"]:
            assert case["id"] in AS_EXPECTED | AS_ALTERNATIVE.keys()
            assert case["id"].removeprefix("parse-") in written


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_has_its_line_in_the_documents(name: str, root: Path) -> None:
    assert f"| `{name}` |" in (root / "docs" / "parsers.md").read_text(encoding="utf-8")
