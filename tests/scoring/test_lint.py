"""Faults of the data: each has a code and the id of its case."""

import json
from collections import Counter

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.lint import CODES, LINTS, lint
from fcb_toolkit.records import Case


def tool(name="f", parameters=None):
    default = {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": parameters or default}}


def case(arguments=None, acceptable=None, tools=None, messages=(), **more):
    truth = {"name": "f", "arguments": json.dumps(arguments or {})}
    given = {"ground_truth": truth, "tools": tuple(tools or [tool()]), **more}
    return Case(given.pop("id", "c1"), "t", messages or ({"role": "user", "content": "x"},), given.pop("tools"),
                given.pop("ground_truth"), acceptable, **given)  # fmt: skip


def tool_message(content, identity="c1"):
    call = {"id": identity, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": identity, "content": content},
    ]


@pytest.mark.parametrize(
    ("item", "code", "part"),
    [
        (case(ground_truth={"content": "x"}), "gold_unreadable", "no name"),
        (case(ground_truth={"tool_calls": []}), "gold_unreadable", "makes no call"),
        (case(ground_truth={"content": ""}, type_of_output="slot"), "gold_without_text", "'slot'"),
        (case(tools=[tool("g")]), "gold_tool_missing", "f is not among the tools: g"),
        (case({"n": "1"}), "gold_invalid", "n: '1' is not of type 'integer'"),
        (case({"x": 1}), "gold_undeclared_key", "x is not in the schema's properties"),
        (case({"n": 1}, "Only ground truth is allowed."), "alternatives_prose", "Only ground truth"),
        (case({"n": 1}, "아무 값이나 됩니다."), "alternatives_unreadable", "아무 값"),
        (case({"s": "1"}, {"s": "Only YYYY-MM-DD format is allowed."}), "alternative_prose", "YYYY"),
        (case({"n": 1}, {"n": [1.0]}), "alternative_equals_truth", "1.0 is the ground truth already"),
        (case({"s": "a b"}, {"s": ["AB"]}), "alternative_equals_truth", "already"),
        (case({"n": 1}, {"n": ["eins"]}), "alternative_invalid", "n: 'eins' is not of type"),
        (case({"n": 1}, {"s": ["a"]}), "alternative_key_not_in_truth", "s: ["),
        (case({"n": 1}, {"n": 2}), "alternative_accepts_all", "n: the alternative is 2"),
        (case(tools=[tool(), tool()]), "duplicate_tool_name", "f is offered 2 times"),
        (case(tools=[tool(), tool("네이버 검색")]), "bad_tool_name", "네이버 검색"),
        (case(tools=[tool(parameters={"type": "dict"})]), "schema_broken", "'dict'"),
        (case({"n": 1}, tools=[tool(parameters="n: integer")]), "schema_broken", "found str"),
        (case({"n": 1}, tools=[tool(parameters=["n"])]), "schema_broken", "found list"),
        (case(tools=[{"function": {"name": "f", "parameters": {}}}]), "schema_absent", "f: parameters is {}"),
        (case(tools=[{"function": {"name": "f"}}]), "schema_absent", "f: parameters is null"),
        (
            case(tools=[tool(parameters={"properties": {}, "required": ["n"]})]),
            "required_undeclared",
            "n is required",
        ),
        (
            case(tools=[tool(parameters={"properties": {"n": {"type": "integer", "default": "1"}}})]),
            "default_invalid",
            "'1' is not of type",
        ),
        (case(messages=(*tool_message("{}"), *tool_message("{}"))), "duplicate_call_id", "'c1'"),
        (
            case(messages=({"role": "tool", "tool_call_id": "z", "content": "1"},)),
            "orphan_tool_result",
            "'z'",
        ),
        (case(messages=tuple(tool_message("{'a': None}"))), "tool_result_python", "{'a': None}"),
        (
            case(
                messages=(
                    {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]},
                )
            ),
            "history_arguments",
            "f:",
        ),
    ],
)
def test_each_fault_is_found_with_its_case_id(item, code, part):
    found = [finding for finding in lint([item]) if finding.code == code]
    assert found, lint([item])
    assert found[0].case_id == "c1"
    assert part in found[0].message


def test_faults_between_cases_are_found():
    one, other = case({"n": 1}), case({"n": 2}, id="c2")
    assert [(f.case_id, f.code) for f in lint([one, other])] == [("c2", "contradicting_cases")]
    assert ("c1", "duplicate_case_id") in [(f.case_id, f.code) for f in lint([one, one])]
    changed = case({"n": 1}, id="c3", tools=[tool(parameters={"properties": {"n": {}}})], messages=(
        {"role": "user", "content": "y"},
    ))  # fmt: skip
    assert [(f.case_id, f.code) for f in lint([one, changed])] == [("c3", "tool_redefined")]


def test_a_sound_case_has_no_finding():
    sound = case({"n": 1, "s": "a"}, {"s": ["b", "c"]}, messages=tuple(tool_message('{"a": null}')))
    assert lint([sound]) == []


def test_a_benchmark_can_bring_its_own_checks(monkeypatch):
    monkeypatch.setitem(LINTS, "t", lambda item: [("odd", "something odd")])
    assert [(f.code, f.message) for f in lint([case()])] == [("odd", "something odd")]


def test_our_own_sample_has_no_finding():
    assert lint(fcb.load_benchmark("sample/korean")) == []


def test_the_public_files_have_the_faults_that_are_known(fcb_data):
    def counted(name):
        return Counter(finding.code for finding in lint(fcb.load_benchmark(name, fcb_data / "functionchat")))

    single, dialog, decision = (
        counted(f"functionchat/{p}") for p in ("singlecall", "dialog", "calldecision")
    )
    assert (single["alternatives_prose"], single["alternative_accepts_all"]) == (115, 115)
    assert (single["alternative_equals_truth"], dialog["alternative_equals_truth"]) == (120, 21)
    assert dialog["tool_result_python"] == 15
    assert dialog["alternative_key_not_in_truth"] == 1
    assert decision["alternative_prose"] == 7
    for found in (single, dialog, decision):
        assert not {"gold_invalid", "gold_undeclared_key", "gold_tool_missing", "schema_broken"} & set(found)
        assert set(found) <= set(CODES)
