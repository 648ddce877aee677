"""Loading DPAB and its prompts."""

import json

import pytest

from fcb_toolkit.benchmarks import dpab, load_benchmark
from fcb_toolkit.errors import DataError, UnknownName

ROW = {
    "difficulty": "hard",
    "user_query": "하람에게 인사해 줘",
    "mock_functions": "def greet(name: str) -> str:\n    return '안녕 ' + name\n",
    "function_schema_python": "def greet(name: str) -> str:\n    pass\n",
    "function_schema_json": [
        {"name": "greet", "parameters": {"type": "object", "properties": {"name": {"type": "string"}}}}
    ],
    "checklist": {"functions": ["greet"], "values": ["안녕 하람"]},
}


def write(folder, *rows):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "eval_alpha.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_a_row_becomes_a_case(tmp_path):
    (case,) = dpab.load(write(tmp_path, ROW), "pythonic")
    assert (case.id, case.category, case.type_of_output) == ("dpab/pythonic/0", "hard", "code")
    assert case.tools == () and case.ground_truth == ROW["checklist"]
    system, user = case.messages
    assert "def greet(name: str)" in system["content"] and user["content"] == "하람에게 인사해 줘"


def test_json_mode_shows_the_json_schema(tmp_path):
    (case,) = dpab.load(write(tmp_path, ROW) / "eval_alpha.jsonl", "json")
    assert case.id == "dpab/json/0" and '"properties"' in case.messages[0]["content"]


def test_rows_with_one_query_are_one_cluster(tmp_path):
    other = {**ROW, "user_query": "이든에게 인사해 줘"}
    cases = dpab.load(write(tmp_path, ROW, other, ROW), "pythonic")
    assert [case.cluster for case in cases] == ["row-0", "row-1", "row-0"]


def test_another_prompt_takes_the_place_of_the_own_one(tmp_path):
    cases = dpab.with_prompt(dpab.load(write(tmp_path, ROW), "json"), "Tools: {{functions_schema}}")
    assert len(cases[0].messages) == 2 and cases[0].messages[0]["content"].startswith("Tools: [")


def test_a_prompt_without_a_place_for_the_tools_is_refused(tmp_path):
    with pytest.raises(DataError, match="functions_schema"):
        dpab.with_prompt(dpab.load(write(tmp_path, ROW), "json"), "no tools here")


@pytest.mark.parametrize("name", dpab.PROMPTS)
def test_own_prompts_have_a_place_for_the_tools(name):
    assert dpab.PLACEHOLDER in dpab.own_prompt(name)


def test_wrong_names_list_the_right_ones(tmp_path):
    with pytest.raises(UnknownName, match="json, pythonic"):
        dpab.load(tmp_path, "yaml")
    with pytest.raises(UnknownName, match="json_references"):
        dpab.own_prompt("yaml")


def test_a_missing_official_prompt_says_so(tmp_path):
    with pytest.raises(DataError, match="system_prompt_json.txt"):
        dpab.official_prompt(tmp_path, "json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user_query": 5}, "'user_query' is a number, expected a string"),
        ({"checklist": None}, "'checklist' is null, expected an object"),
        ({"checklist": {"functions": "f", "values": []}}, "checklist.functions is not a list of names"),
        ({"checklist": {"functions": [], "values": {}}}, "checklist.values is an object, expected a list"),
        ({"function_schema_json": {}}, "'function_schema_json' is an object, expected a list"),
    ],
)
def test_a_broken_row_says_where(tmp_path, change, words):
    with pytest.raises(DataError) as error:
        dpab.load(write(tmp_path, {**ROW, **change}), "pythonic")
    assert "eval_alpha.jsonl line 1" in str(error.value) and words in str(error.value)


def test_the_published_problems(fcb_data):
    for mode in dpab.MODES:
        cases = dpab.load(fcb_data / "dpab", mode)
        assert len(cases) == 100 and cases[99].id == f"dpab/{mode}/99"
        official = dpab.with_prompt(cases, dpab.official_prompt(fcb_data / "dpab", mode))
        assert dpab.PLACEHOLDER not in official[0].messages[0]["content"]
    assert cases[57].cluster == "row-0" and cases[58].cluster == "row-7"


def test_the_official_prompt_and_our_others_are_chosen_by_name(tmp_path):
    folder = write(tmp_path, ROW)
    (folder / "system_prompt_json.txt").write_text("OFFICIAL {{functions_schema}}", encoding="utf-8")
    (case,) = load_benchmark("dpab/json", folder, prompt="official")
    assert case.messages[0]["content"].startswith("OFFICIAL [")
    (case,) = load_benchmark("dpab/json", folder, prompt="json_references")
    assert "result_of" in case.messages[0]["content"]
    assert load_benchmark("dpab/json", folder) == dpab.load(folder, "json")


def test_a_prompt_that_is_not_there_says_what_is(tmp_path):
    with pytest.raises(UnknownName, match="unknown DPAB prompt 'offical'. Did you mean 'official'"):
        load_benchmark("dpab/json", write(tmp_path, ROW), prompt="offical")
    with pytest.raises(
        DataError, match=r"sample/korean: .*prompt='official' .--prompt. is for dpab/pythonic"
    ):
        load_benchmark("sample/korean", prompt="official")
