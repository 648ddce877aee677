"""A user's own cases: what is read, and that each fault names file and line."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fcb_toolkit.benchmarks import jsonl_file
from fcb_toolkit.errors import DataError

TOOL = {
    "type": "function",
    "function": {
        "name": "reserve_bread",
        "description": "빵을 예약한다.",
        "parameters": {"type": "object", "properties": {"bread": {"type": "string"}}, "required": ["bread"]},
    },
}
CALL = {"name": "reserve_bread", "arguments": '{"bread": "단팥빵"}'}


def row(serial: Any = 1, **changes: Any) -> dict[str, Any]:
    base = {
        "serial_num": serial,
        "messages": [{"role": "user", "content": "단팥빵 하나 예약해 줘."}],
        "tools": [TOOL],
        "temperature": 0,
        "tool_choice": "auto",
        "ground_truth": {"role": "assistant", "content": None, "tool_calls": [{"function": CALL}]},
        "type_of_output": "call",
    }
    return {key: value for key, value in (base | changes).items() if value != "ABSENT"}


def write(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "mine.jsonl"
    lines = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def error(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        jsonl_file.load(path)
    return str(caught.value)


def test_the_seven_keys_make_a_case(tmp_path: Path) -> None:
    (case,) = jsonl_file.load(write(tmp_path, row(7)))
    assert (case.id, case.benchmark, case.serial_num) == ("jsonl/7", "jsonl", 7)
    assert (case.category, case.cluster, case.temperature, case.tool_choice) == ("call", "7", 0, "auto")
    assert case.tools == (TOOL,)


def test_the_example_in_the_readme_is_a_case(root: Path, tmp_path: Path) -> None:
    text = (root / "data" / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)```", text, re.S)
    assert block
    example = json.loads(block[1])
    assert list(example) == [
        *("serial_num", "messages", "tools", "temperature", "tool_choice", "ground_truth", "type_of_output")
    ]
    (case,) = jsonl_file.load(write(tmp_path, example))
    assert case.ground_truth["tool_calls"][0]["function"]["name"] == "reserve_bread"


def test_optional_keys_are_kept_and_blank_lines_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    second = row(1, tools_type="4_close", acceptable_arguments={"bread": ["팥빵"]}, cluster="q1", note="mine")
    path = write(tmp_path, row(1), "", second)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    first, case = jsonl_file.load(path)
    assert (first.id, case.id) == ("jsonl/1", "jsonl/1/4_close")
    assert (case.condition, case.cluster, case.acceptable_arguments) == ("4_close", "q1", {"bread": ["팥빵"]})


def test_an_id_stands_in_for_a_serial_number(tmp_path: Path) -> None:
    (case,) = jsonl_file.load(write(tmp_path, row("ABSENT", id="bread")))
    assert (case.id, case.serial_num) == ("jsonl/bread", None)


@pytest.mark.parametrize(
    "truth",
    [
        CALL,
        json.dumps(CALL),
        [CALL, CALL],
        {"name": "reserve_bread", "arguments": {"bread": "소금빵"}},
        {"name": "reserve_bread"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": CALL}]},
    ],
)
def test_every_shape_of_a_gold_call_is_read(tmp_path: Path, truth: Any) -> None:
    (case,) = jsonl_file.load(write(tmp_path, row(ground_truth=truth)))
    assert case.ground_truth == truth


@pytest.mark.parametrize("kind", ["slot", "completion", "relevance"])
def test_an_answer_in_words_needs_no_call_and_no_tools(tmp_path: Path, kind: str) -> None:
    said = {"role": "assistant", "content": "어떤 빵을 예약할까요?"}
    (case,) = jsonl_file.load(write(tmp_path, row(type_of_output=kind, ground_truth=said, tools=[])))
    assert case.type_of_output == kind


def test_two_cases_with_one_id_name_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path, row(1), row(2), row(1))
    assert error(path) == (
        f"{path} line 3: the case id 'jsonl/1' is already used on line 1; "
        "give each line its own 'serial_num' or 'id'"
    )


def test_gold_that_calls_a_tool_that_is_not_offered_names_it(tmp_path: Path) -> None:
    calls = [{"function": CALL}, {"function": {"name": "reserve_cake", "arguments": "{}"}}]
    path = write(tmp_path, row(1), row(2, ground_truth={"tool_calls": calls}))
    assert error(path) == (
        f"{path} line 2: 'ground_truth' calls 'reserve_cake', which is not in 'tools'; offered: reserve_bread"
    )
    path = write(tmp_path, row(tools=[]))
    assert error(path).endswith("calls 'reserve_bread', which is not in 'tools'; offered: none")


@pytest.mark.parametrize("key", ["serial_num", "messages", "tools", "ground_truth"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    path = write(tmp_path, row(1), row(2) | {}, {k: v for k, v in row(3).items() if k != key})
    assert error(path).startswith(f"{path} line 3: the key {key!r} is missing; found ")
    assert error(path).endswith("expected serial_num (or id), messages, tools and ground_truth")


@pytest.mark.parametrize("key", ["type_of_output", "temperature", "tool_choice"])
def test_a_key_with_an_official_default_may_be_absent(tmp_path: Path, key: str) -> None:
    (case,) = jsonl_file.load(write(tmp_path, row(**{key: "ABSENT"})))
    assert (case.type_of_output, case.tool_choice) == ("call", "auto")


def test_a_misspelt_optional_key_is_not_dropped_silently(tmp_path: Path) -> None:
    path = write(tmp_path, row(acceptable_argument={"bread": ["팥빵"]}))
    assert (
        error(path)
        == f"{path} line 1: unknown key 'acceptable_argument'; did you mean 'acceptable_arguments'?"
    )


def test_a_tool_without_a_name_is_named_by_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, row(tools=[TOOL, {"type": "function", "function": {"description": "이름 없음"}}]))
    assert error(path).startswith(f"{path} line 1: tools[1] has no name; expected ")


def test_a_line_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, *[row(n) for n in range(1, 7)], '{"serial_num": 7,')
    assert error(path).startswith(f"{path} line 7: not JSON: ")


@pytest.mark.parametrize(("line", "found"), [("[]", "a list"), ("null", "null"), ('"x"', "a string")])
def test_a_line_that_is_not_an_object_is_named(tmp_path: Path, line: str, found: str) -> None:
    path = write(tmp_path, row(1), line)
    assert error(path) == f"{path} line 2: found {found}, expected a JSON object"


def test_an_empty_file_a_missing_file_a_folder_and_other_bytes_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    assert error(path) == f"{path}: no such file; check the path"
    path.write_text("\n \n")
    assert error(path) == f"{path}: is empty, expected one JSON object a line"
    path.write_bytes(json.dumps(row()).encode("utf-16"))
    assert error(path) == f"{path} line 1: found UTF-16, expected UTF-8; save the file as UTF-8"
    path.write_bytes(json.dumps(row(), ensure_ascii=False).encode("cp949"))
    assert re.match(rf"{re.escape(str(path))} line 1: byte 0x\w\w is not UTF-8", error(path))
    path.write_bytes(gzip.compress(json.dumps(row()).encode()))
    assert error(path) == f"{path}: found a gzip file, expected text in UTF-8; unpack it with gunzip"
    assert "is a folder, expected a file" in error(tmp_path)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (None, "'ground_truth' is null, expected a call such as"),
        ({"role": "assistant", "content": "네"}, "'ground_truth' makes no call, expected one"),
        ([], "'ground_truth' makes no call, expected one"),
        ({"tool_calls": [{"function": {"arguments": "{}"}}]}, "a call in 'ground_truth' has no name"),
        ([None], "a call in 'ground_truth' has no name"),
        (3, "'ground_truth' is a number, expected a call such as"),
        ("빵 주세요", "'ground_truth' cannot be read as JSON"),
        (
            {"name": "reserve_bread", "arguments": '{"bread": '},
            "the arguments of 'reserve_bread' in 'ground_truth' cannot be read as JSON",
        ),
        (
            {"name": "reserve_bread", "arguments": "[1]"},
            "the arguments of 'reserve_bread' in 'ground_truth' are a list, expected a JSON object",
        ),
    ],
)
def test_gold_that_is_no_call_says_what_was_found(tmp_path: Path, truth: Any, message: str) -> None:
    path = write(tmp_path, row(1), row(2, ground_truth=truth))
    assert error(path).startswith(f"{path} line 2: {message}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"messages": []}, "'messages' is empty, expected at least one message"),
        ({"messages": [{"role": "human", "content": "x"}]}, "messages[0] has role 'human', expected one of"),
        ({"type_of_output": "calls"}, "'type_of_output' is 'calls', expected one of call, "),
        ({"temperature": "hot"}, "'temperature' is a string, expected a number"),
        ({"tools": {"a": 1}}, "'tools' is an object, expected a list"),
    ],
)
def test_a_wrong_value_says_what_was_expected(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = write(tmp_path, row(**change))
    assert error(path).startswith(f"{path} line 1: {message}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"serial_num": True}, "'serial_num' is True, expected a whole number"),
        ({"serial_num": 1.0}, "'serial_num' is 1.0, expected a whole number"),
        ({"serial_num": "1"}, "'serial_num' is '1', expected a whole number"),
        ({"serial_num": None}, "the key 'serial_num' is missing; found messages, tools"),
        ({"id": ""}, "'id' is empty, expected a name or a whole number"),
        ({"id": ["a"]}, "'id' is ['a'], expected a name or a whole number"),
        ({"category": 3}, "'category' is 3, expected a name"),
        ({"cluster": {"a": 1}}, "'cluster' is {'a': 1}, expected a name or a whole number"),
        ({"tools_type": ["exact"]}, "'tools_type' is ['exact'], expected a name such as exact or 4_close"),
        ({"acceptable_arguments": 3}, "'acceptable_arguments' is a number, expected null, an object such as"),
        (
            {"acceptable_arguments": ["팥빵"]},
            "'acceptable_arguments' is a list that holds a string, expected",
        ),
        ({"acceptable_arguments": [None]}, "'acceptable_arguments' is a list that holds null, expected"),
        (
            {"acceptable_argument": {}, "acceptable_arguments": None},
            "unknown key 'acceptable_argument'; did you mean 'acceptable_arguments'?",
        ),
    ],
)
def test_a_value_of_the_wrong_kind_is_not_made_to_fit(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = write(tmp_path, row(1), row(2, **change))
    assert error(path).startswith(f"{path} line 2: {message}")


@pytest.mark.parametrize("empty", ["[]", [], "0", "false", 0, False, '""'])
def test_gold_arguments_that_are_empty_and_no_object_are_refused(tmp_path: Path, empty: Any) -> None:
    path = write(tmp_path, row(ground_truth={"name": "reserve_bread", "arguments": empty}))
    assert error(path).startswith(f"{path} line 1: the arguments of 'reserve_bread' in 'ground_truth' are ")
    assert error(path).endswith("expected a JSON object or its text")


@pytest.mark.parametrize(
    "acceptable",
    [None, {}, {"bread": ["팥빵"]}, [{"bread": "팥빵"}], '{"bread": ["팥빵"]}', "[참고] 빵 이름은 자유"],
)
def test_every_shape_of_alternatives_is_read(tmp_path: Path, acceptable: Any) -> None:
    (case,) = jsonl_file.load(write(tmp_path, row(acceptable_arguments=acceptable)))
    assert case.acceptable_arguments == acceptable


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_has_not_is_refused_wherever_it_stands(tmp_path: Path, number: str) -> None:
    text = json.dumps(row(), ensure_ascii=False)
    path = write(tmp_path, row(2), text.replace('"temperature": 0', f'"temperature": {number}'))
    assert error(path).startswith(f"{path} line 2: not JSON: {number} is ")
    path = write(tmp_path, row(ground_truth={"name": "reserve_bread", "arguments": f'{{"bread": {number}}}'}))
    assert (
        f"line 1: the arguments of 'reserve_bread' in 'ground_truth' cannot be read as JSON ({number} is "
        in (error(path))
    )
    path = write(tmp_path, row(acceptable_arguments=f'{{"bread": [{number}]}}'))
    assert f"line 1: 'acceptable_arguments' cannot be read as JSON ({number} is " in error(path)
