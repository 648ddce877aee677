"""FunctionChat-Bench: the requests of the official builder, and errors that name file and line."""

import json
import shutil

import pytest

import fcb_toolkit as fcb
from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.requests import request_sha256

SUBSETS = {"singlecall": 500, "dialog": 200, "calldecision": 606}


@pytest.fixture(scope="module")
def cases(fcb_data):
    return {s: fcb.load_benchmark(f"functionchat/{s}", fcb_data / "functionchat") for s in SUBSETS}


def test_the_1306_requests_hash_to_those_of_the_official_builder(shared, cases):
    golden = [row for _, row in jsonl.read(shared / "golden" / "functionchat_requests_sha.jsonl")]
    expected = {(g["benchmark"], g["serial_num"], g["tools_type"] or ""): g["sha256"] for g in golden}
    found = {(s, c.serial_num, c.condition): request_sha256(c) for s in SUBSETS for c in cases[s]}
    assert len(expected) == 1306
    assert found == expected


def test_case_ids_categories_and_clusters(cases):
    single, dialog, decision = cases["singlecall"], cases["dialog"], cases["calldecision"]
    assert [len(cases[s]) for s in SUBSETS] == list(SUBSETS.values())
    assert single[1].id == "functionchat/singlecall/1/4_random"
    assert len({c.cluster for c in single}) == 100
    assert dialog[0].id == "functionchat/dialog/1"
    assert len({c.cluster for c in dialog}) == 45
    assert decision[-1].id == "functionchat/calldecision/606"
    assert {c.category for c in decision} == {"call", "reject", "slot-all", "slot-some"}
    assert {c.category for c in dialog} == {"call", "completion", "slot", "relevance"}


def test_the_system_prompt_is_put_before_single_call_and_dialog(fcb_data, cases):
    prompt = (fcb_data / "functionchat" / "system_prompt.txt").read_text(encoding="utf-8").strip()
    for subset in ("singlecall", "dialog"):
        assert all(c.messages[0] == {"role": "system", "content": prompt} for c in cases[subset])
        assert all(c.messages[1]["role"] == "user" for c in cases[subset])


GOLD_THAT_FAILS = {
    # None so far: gold scores pass on every case that demands a call.
}


@pytest.mark.parametrize("metric", ["call_match", "functionchat_exact", "schema_valid"])
def test_gold_as_the_reply_passes_on_every_case_that_demands_a_call(cases, metric):
    failed = {}
    for case in (c for s in SUBSETS for c in cases[s] if c.type_of_output == "call"):
        verdict = fcb.score(case, gold_message(case), metric)
        if verdict.outcome != "pass":
            failed[case.id] = verdict.reason
    assert failed == GOLD_THAT_FAILS


def test_gold_as_hermes_text_passes_too(cases):
    for case in (c for s in SUBSETS for c in cases[s] if c.type_of_output == "call"):
        call = gold_message(case)["tool_calls"][0]["function"]
        body = json.dumps(
            {"name": call["name"], "arguments": json.loads(call["arguments"])}, ensure_ascii=False
        )
        assert fcb.score(case, f"<tool_call>\n{body}\n</tool_call>", "call_match").outcome == "pass", case.id


def gold_message(case):
    truth = case.ground_truth
    if "tool_calls" in truth:
        return truth
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": truth}],
    }


@pytest.fixture
def copy(fcb_data, tmp_path):
    return shutil.copytree(fcb_data / "functionchat", tmp_path / "functionchat")


def edit(folder, line, change):
    """Changes one line (from 1) of the single-call file."""
    path = folder / "FunctionChat-Singlecall.jsonl"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[line - 1] = change(lines[line - 1])
    path.write_text("\n".join(lines), encoding="utf-8")


def without(key):
    def change(line):
        row = json.loads(line)
        del row[key]
        return json.dumps(row, ensure_ascii=False)

    return change


def load(folder):
    return fcb.load_benchmark("functionchat/singlecall", folder)


def test_a_line_that_is_not_json_is_named(copy):
    edit(copy, 7, lambda line: line[:-20])
    with pytest.raises(DataError, match=r"FunctionChat-Singlecall\.jsonl line 7: not JSON: "):
        load(copy)


def test_a_missing_key_is_named_with_its_line(copy):
    edit(copy, 3, without("tools"))
    with pytest.raises(
        DataError, match=r"Singlecall\.jsonl line 3: the key 'tools' is missing; found function_num, "
    ):
        load(copy)


def test_a_tool_without_a_name_is_named_with_its_line(copy):
    edit(copy, 2, lambda line: line.replace('"name":', '"nmae":'))
    with pytest.raises(DataError, match=r"Singlecall\.jsonl line 2: tools\[0\] has no name"):
        load(copy)


def test_two_cases_with_one_id_are_refused(copy):
    path = copy / "FunctionChat-Singlecall.jsonl"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join([lines[0], *lines]), encoding="utf-8")
    with pytest.raises(DataError, match=r"two cases have the id functionchat/singlecall/1/exact"):
        load(copy)


def test_gold_that_calls_a_tool_that_is_not_there_is_named(copy):
    edit(copy, 4, lambda line: line.replace('{\\"name\\":\\"', '{\\"name\\":\\"no_such_'))
    with pytest.raises(
        DataError,
        match=r"Singlecall\.jsonl line 4: 'ground_truth' calls 'no_such_.*not in 'tools'; offered: ",
    ):
        load(copy)


def test_a_file_in_utf16_or_empty_or_absent_is_said(copy):
    path = copy / "FunctionChat-Singlecall.jsonl"
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-16")
    with pytest.raises(DataError, match="line 1: found UTF-16, expected UTF-8"):
        load(copy)
    path.write_text("")
    with pytest.raises(DataError, match="is empty, expected one JSON object a line"):
        load(copy)
    path.unlink()
    with pytest.raises(DataError, match=r"FunctionChat-Singlecall\.jsonl: no such file"):
        load(copy)


def test_without_a_copy_the_error_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("FCB_HOME", str(tmp_path))
    with pytest.raises(DataError, match="not on this machine; run `fcb fetch functionchat`"):
        fcb.load_benchmark("functionchat/dialog")
    with pytest.raises(UnknownName, match="unknown benchmark 'functionchat/dialogue'. Did you mean"):
        fcb.load_benchmark("functionchat/dialogue")
