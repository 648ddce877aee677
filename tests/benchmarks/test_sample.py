"""The bundled Korean sample: complete, consistent with its own schemas, and nobody else's text."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fcb_toolkit.benchmarks import sample
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Case, tool_name, tool_parameters

CONDITIONS = ("exact", "4_random", "4_close", "8_random", "8_close")


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return sample.load(sample.bundled())


def functions() -> list[dict[str, Any]]:
    lines = (sample.bundled() / "functions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def gold_calls(case: Case) -> list[tuple[str, dict[str, Any]]]:
    truth = case.ground_truth
    calls = [call["function"] for call in truth["tool_calls"]] if "tool_calls" in truth else [truth]
    return [(call["name"], json.loads(call["arguments"])) for call in calls]


def schema_of(case: Case, name: str) -> dict[str, Any]:
    return dict(next(tool_parameters(tool) for tool in case.tools if tool_name(tool) == name))


def test_every_condition_and_every_type_has_cases(cases: list[Case]) -> None:
    assert len(cases) == 181
    assert Counter(case.condition for case in cases if case.condition) == dict.fromkeys(CONDITIONS, 18)
    assert Counter(case.category for case in cases) == {
        "call": 115,
        "completion": 16,
        "slot": 10,
        "relevance": 5,
        "reject": 9,
        "slot-all": 9,
        "slot-some": 17,
    }


def test_ids_are_unique_readable_and_numbered_in_order(cases: list[Case]) -> None:
    ids = [case.id for case in cases]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"sample/korean/[a-z0-9_-]+", id) for id in ids)
    assert {"sample/korean/subway-route-4_close", "sample/korean/parcel-turn-4-call"} < set(ids)
    assert "sample/korean/send-money-slot-some-2" in ids
    assert [case.serial_num for case in cases] == list(range(1, len(cases) + 1))


def test_a_cluster_is_one_query_one_dialog_or_one_tool_list(cases: list[Case]) -> None:
    sizes = Counter(case.cluster for case in cases)
    assert len(sizes) == 18 + 11 + 9
    for case in cases:
        if case.condition:
            assert case.id == f"sample/korean/{case.cluster}-{case.condition}"
            assert sizes[case.cluster] == 5


def test_tool_lists_have_the_size_that_their_name_says_and_hold_the_right_function(cases: list[Case]) -> None:
    domain = {row["name"]: row["domain"] for row in functions()}
    for case in cases:
        if not case.condition:
            continue
        offered = [tool_name(tool) for tool in case.tools]
        gold = gold_calls(case)[0][0]
        others = {domain[name] for name in offered if name != gold}
        assert len(set(offered)) == len(offered) == int(case.condition[0].replace("e", "1"))
        assert gold in offered
        if case.condition.endswith("close"):
            assert others == {domain[gold]}
        else:
            assert domain[gold] not in others


def test_there_are_many_functions_with_every_kind_of_parameter() -> None:
    rows = functions()
    assert len({row["name"] for row in rows}) == len(rows) == 56
    assert len({row["domain"] for row in rows}) == 7
    kinds, features = set(), set()
    for row in rows:
        jsonschema.Draft202012Validator.check_schema(row["parameters"])
        assert set(row["parameters"]["required"]) <= set(row["parameters"]["properties"])
        for schema in row["parameters"]["properties"].values():
            kinds.add(schema["type"])
            features |= schema.keys()
            assert re.search("[가-힣]", schema["description"])
        assert re.search("[가-힣]", row["description"])
    assert kinds == {"string", "integer", "number", "boolean", "array", "object"}
    assert {"enum", "default", "minimum", "items"} <= features
    assert any(not row["parameters"]["properties"] for row in rows)


def test_gold_and_alternatives_fit_their_schemas_and_defaults_fit_too(cases: list[Case]) -> None:
    for case in (case for case in cases if case.type_of_output == "call"):
        for name, arguments in gold_calls(case):
            schema = {**schema_of(case, name), "additionalProperties": False}
            jsonschema.validate(arguments, schema)
        for key, value in _alternatives(case).items():
            name, arguments = gold_calls(case)[0]
            assert key in arguments, case.id
            for one in value if isinstance(value, list) else [value]:
                jsonschema.validate(one, schema_of(case, name)["properties"][key])
    for row in functions():
        for schema in row["parameters"]["properties"].values():
            if "default" in schema:
                jsonschema.validate(schema["default"], schema)


def _alternatives(case: Case) -> dict[str, Any]:
    text = case.acceptable_arguments
    if text is None:
        return {}
    read = json.loads(text)
    assert isinstance(read, dict)
    return read


def test_alternatives_are_absent_or_values_and_never_a_sentence(cases: list[Case]) -> None:
    texts = [case.acceptable_arguments for case in cases if case.type_of_output == "call"]
    assert texts.count(None) >= 5
    assert sum(bool(_alternatives(case)) for case in cases) == len(texts) - texts.count(None) >= 5
    values = [value for case in cases for value in _alternatives(case).values()]
    assert {type(value) for value in values} == {list, str}


def test_some_gold_is_parallel_calls(cases: list[Case]) -> None:
    parallel = {case.cluster for case in cases if case.type_of_output == "call" and len(gold_calls(case)) > 1}
    assert parallel == {"two-rooms-heating", "renew-two-books", "two-lockers"}


def test_a_reject_asks_what_the_call_asked_without_the_function(cases: list[Case]) -> None:
    calls = {case.cluster: case for case in cases if case.category == "call" and not case.condition}
    for case in (case for case in cases if case.category == "reject"):
        call = calls[case.cluster]
        missing = {tool_name(tool) for tool in call.tools} - {tool_name(tool) for tool in case.tools}
        assert case.messages == call.messages
        assert missing == {gold_calls(call)[0][0]}


def test_a_dialog_keeps_its_history_and_each_result_answers_a_call(cases: list[Case]) -> None:
    case = next(case for case in cases if case.id == "sample/korean/renew-two-books-turn-8-completion")
    roles = [message["role"] for message in case.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool", "tool"]
    made = [call["id"] for message in case.messages for call in message.get("tool_calls", [])]
    answered = [message["tool_call_id"] for message in case.messages if message["role"] == "tool"]
    assert made == answered
    assert json.loads(case.messages[-1]["content"])["title"] == "불편한 편의점"


def test_only_answers_in_words_have_content_and_all_are_korean(cases: list[Case]) -> None:
    for case in cases:
        if case.type_of_output != "call":
            assert re.search("[가-힣]{2}", case.ground_truth["content"]), case.id
            assert "tool_calls" not in case.ground_truth


def test_no_function_and_no_query_is_from_the_public_benchmark(cases: list[Case], fcb_data: Path) -> None:
    theirs = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((fcb_data / "functionchat").iterdir())
    )
    names = set(re.findall(r'"name": "(\w+)", "description"', theirs))
    assert len(names) > 100
    assert not {row["name"] for row in functions()} & names
    ours = {row["description"] for row in functions()} | {
        message["content"] for case in cases for message in case.messages if message["content"]
    }
    ours |= {case.ground_truth["content"] for case in cases if case.ground_truth.get("content")}
    squeezed = re.sub(r"\s", "", theirs)
    assert [text for text in ours if len(text) > 6 and re.sub(r"\s", "", text) in squeezed] == []


def test_a_case_that_offers_an_unknown_function_is_an_error_that_lists_the_known(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample.bundled(), folder)
    path = folder / "singles.jsonl"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"get_bus_arrival"]', '"get_bus_arival"]'), "utf-8"
    )
    with pytest.raises(
        UnknownName, match=r"unknown function 'get_bus_arival'\. Did you mean 'get_bus_arrival'"
    ):
        sample.load(folder)


def test_a_folder_without_the_files_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"functions\.jsonl: no such file"):
        sample.load(tmp_path)


@pytest.mark.slow
def test_the_wheel_carries_the_sample(root: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(root / name, source)
    (source / "README.md").write_text("A wheel for a test.")
    shutil.copytree(root / "data", source / "data")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "fcb_toolkit", source / "fcb_toolkit", symlinks=True, ignore=ignore)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "."]
    subprocess.run([*command, str(source)], check=True, cwd=tmp_path, timeout=300)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        inside = set(wheel.namelist())
        wheel.extractall(tmp_path / "installed")
    files = {f"fcb_toolkit/data/sample_korean/{path.name}" for path in sample.bundled().iterdir()}
    assert len(files) == 5
    assert files <= inside
    code = "from fcb_toolkit.benchmarks.sample import *; print(len(load(bundled())), bundled())"
    run = [sys.executable, "-c", code]
    done = subprocess.run(
        run,
        cwd=tmp_path / "installed",
        env={"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    count, where = done.stdout.split(maxsplit=1)
    assert count == "181"
    assert str(tmp_path) in where
