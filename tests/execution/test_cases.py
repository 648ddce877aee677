"""The cases of `cases/execute.jsonl`: small failing inputs from public bug reports."""

import pytest

from fcb_toolkit import jsonl
from fcb_toolkit.execution import execute
from fcb_toolkit.parsers.code import extract_code


def rows(shared, sure):
    return [row for _, row in jsonl.read(shared / "cases" / "execute.jsonl") if row["sure"] is sure]


def difference(row, allow_subprocess):
    given, expected = row["input"], row["expected"]
    code = extract_code(given["code"]) if given["code_is_model_text"] else given["code"]
    ran = execute(
        code, given["functions"], seconds=given["limits"]["seconds"], allow_subprocess=allow_subprocess
    )
    found = {
        "calls": [{"name": call.name, "arguments": call.arguments} for call in ran.calls],
        "error": ran.error.code if ran.error else None,
        "result": ran.variables.get("result"),
        "stdout": ran.stdout,
    }
    return {
        key: (expected[key], value)
        for key, value in found.items()
        if key in expected and expected[key] != value
    }


@pytest.mark.parametrize("allow_subprocess", [False, True])
def test_all_sure_cases(shared, allow_subprocess):
    wrong = {row["id"]: difference(row, allow_subprocess) for row in rows(shared, sure=True)}
    assert {case: found for case, found in wrong.items() if found} == {}


def test_policy_a_format_string_that_reaches_for_a_dunder_is_blocked(shared):
    (row,) = [row for row in rows(shared, sure=False) if row["id"] == "execute-format-string-dunder"]
    assert difference(row, False) == {}


def test_policy_a_fence_inside_a_string_belongs_to_the_code(shared):
    (row,) = [row for row in rows(shared, sure=False) if row["id"] == "execute-fence-inside-code"]
    assert difference(row, False) == {}
