"""JSON Schema: drafts, references, null, and schemas that are themselves broken."""

import json
import re

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.records import Case, FailureKind, Outcome
from fcb_toolkit.schema import BrokenSchema, fault, problems, undeclared


def rules(schema, arguments):
    return [(problem.path, problem.rule) for problem in problems(schema, arguments)]


def typed(kind, **more):
    return {"type": "object", "properties": {"a": {"type": kind, **more}}}


@pytest.mark.parametrize(
    ("schema", "arguments", "expected"),
    [
        (typed("integer"), {"a": 5.0}, []),
        (typed("integer"), {"a": 5.5}, [("a", "type")]),
        (typed("integer"), {"a": True}, [("a", "type")]),
        (typed("number"), {"a": False}, [("a", "type")]),
        (typed("string", nullable=True), {"a": None}, []),
        (typed("string", nullable=True, enum=["x"]), {"a": None}, []),
        (typed("string"), {"a": None}, [("a", "type")]),
        ({"properties": {"a": {"enum": [1, 2]}}}, {"a": 1.0}, []),
        ({"properties": {"a": {"enum": [1, 2]}}}, {"a": True}, [("a", "enum")]),
        ({"properties": {"a": {"enum": [[False]]}}}, {"a": [0]}, [("a", "enum")]),
        ({"required": ["a"]}, {}, [("", "required")]),
        ({"additionalProperties": False}, {"a": 1}, [("", "additionalProperties")]),
        (
            {"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"type": "string"}}},
            {"a": 1},
            [("a", "type")],
        ),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, {"a": 1}, [("a", "type")]),
        # draft 4 and 7 forms, told by what they contain or by $schema
        ({"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}}, {"a": 1}, [("a", "minimum")]),
        ({"properties": {"a": {"items": [{"type": "string"}]}}}, {"a": [1]}, [("a.0", "type")]),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "required": ["a"]}, {}, [("", "required")]),
        ({"$schema": "http://json-schema.org/draft-99/schema#", "required": ["a"]}, {}, [("", "required")]),
        ({}, {"a": 1}, []),
        (None, {"a": 1}, []),
    ],
)
def test_arguments_are_checked_by_the_draft_that_fits(schema, arguments, expected):
    assert rules(schema, arguments) == expected


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "dict"}, "not valid JSON Schema: type: 'dict'"),
        ({"required": "a"}, "not valid JSON Schema: required"),
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, "does not point into the schema"),
        ({"properties": {"a": {"$ref": "https://example.org/s.json"}}}, "never fetched"),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "refers to itself"),
        ({"properties": {"a": {"pattern": "("}}}, "regex"),
        ({"properties": {"a": {"type": float("nan")}}}, "not valid JSON Schema"),
        ({"properties": {1, 2}}, "no JSON"),
    ],
)
def test_a_broken_schema_says_what_is_wrong_with_it(schema, message):
    with pytest.raises(BrokenSchema, match=re.escape(message)):
        problems(schema, {"a": "x"})


def test_a_reference_to_the_network_opens_no_connection(monkeypatch):
    import socket

    def refuse(*_args, **_kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(BrokenSchema):
        problems({"properties": {"a": {"$ref": "http://example.org/schema.json"}}}, {"a": 1})


def test_a_fault_is_found_without_arguments():
    assert fault({"type": "object"}) is None
    assert fault(None) is None
    assert "expected an object" in fault(["x"])


def test_undeclared_arguments_are_listed():
    assert undeclared(typed("string"), {"a": 1, "b": 2}) == ["b"]
    assert undeclared({"patternProperties": {".*": {}}}, {"b": 2}) == []
    assert undeclared({}, {"b": 2}) == ["b"]


def case(parameters, **more):
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters, **more}}
    return Case("c", "t", (), (tool,), None)


def call(arguments, name="f"):
    return {"tool_calls": [{"function": {"name": name, "arguments": json.dumps(arguments)}}]}


@pytest.mark.parametrize(
    ("parameters", "reply", "failure"),
    [
        (typed("integer"), call({"a": "1"}), FailureKind.WRONG_TYPE),
        ({**typed("integer"), "required": ["a"]}, call({}), FailureKind.MISSING_ARGUMENT),
        ({**typed("integer"), "additionalProperties": False}, call({"b": 1}), FailureKind.EXTRA_ARGUMENT),
        (typed("string", enum=["x"]), call({"a": "y"}), FailureKind.WRONG_VALUE),
        (typed("string"), call({}, name="g"), FailureKind.UNKNOWN_TOOL),
        (
            typed("string"),
            {"tool_calls": [{"function": {"name": "f", "arguments": "{"}}]},
            FailureKind.MALFORMED_CALL,
        ),
        # two problems: the first of FailureKind
        ({**typed("integer"), "required": ["c"]}, call({"a": "1"}), FailureKind.MISSING_ARGUMENT),
    ],
)
def test_each_broken_rule_has_its_failure_kind(parameters, reply, failure):
    verdict = fcb.score(case(parameters), reply, "schema_valid")
    assert verdict.failure is failure
    assert verdict.metric == "schema_valid"


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_can_be_called(parameters):
    assert fcb.score(case(parameters), call({}), "schema_valid").outcome is Outcome.PASS


def test_a_broken_schema_is_the_datas_fault_and_not_scored():
    for parameters in ({"type": "dict"}, ["x"]):
        verdict = fcb.score(case(parameters), call({"a": 1}), "schema_valid")
        assert verdict.outcome is Outcome.NOT_SCORED
        assert "the data's fault: the schema of f is broken" in verdict.reason


def test_without_a_call_there_is_nothing_to_check():
    assert fcb.score(case({}), {"content": "안녕하세요"}, "schema_valid").outcome is Outcome.NOT_SCORED
    assert fcb.score(Case("c", "t", ()), call({}), "schema_valid").outcome is Outcome.NOT_SCORED


def test_undeclared_arguments_pass_and_are_shown():
    verdict = fcb.score(case(typed("string")), call({"b": 1}), "schema_valid")
    assert verdict.outcome is Outcome.PASS
    assert verdict.details["undeclared"] == ["f.b"]


def test_a_name_offered_twice_takes_the_schema_that_fits():
    tools = tuple(case(typed(kind)).tools[0] for kind in ("integer", "string"))
    item = Case("c", "t", (), tools)
    assert fcb.score(item, call({"a": "x"}), "schema_valid").outcome is Outcome.PASS


SLOW = "^(a|aa)+$"
LONG = "a" * 60 + "!"


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (typed("string", pattern=SLOW), {"a": LONG}),
        ({"patternProperties": {SLOW: {}}}, {LONG: 1}),
        ({"patternProperties": {SLOW: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"propertyNames": {"pattern": SLOW}}, {LONG: 1}),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", **typed("string", pattern=SLOW)},
            {"a": LONG},
        ),
    ],
)
def test_a_pattern_that_would_search_for_years_is_stopped(monkeypatch, schema, arguments):
    monkeypatch.setattr("fcb_toolkit.schema.PATTERN_SECONDS", 0.01)
    with pytest.raises(BrokenSchema, match=r"the pattern '\^\(a\|aa\)\+\$' took longer than 0.01 s on 'aaaa"):
        problems(schema, arguments)


def test_the_verdict_on_a_pattern_without_end_blames_the_data(monkeypatch):
    monkeypatch.setattr("fcb_toolkit.schema.PATTERN_SECONDS", 0.01)
    verdict = fcb.score(case(typed("string", pattern=SLOW)), call({"a": LONG}), "schema_valid")
    assert verdict.outcome is Outcome.NOT_SCORED
    assert "the data's fault" in verdict.reason and "took longer than 0.01 s" in verdict.reason


def test_patterns_that_cannot_be_stopped_are_refused():
    schema = {"allOf": [{"patternProperties": {SLOW: {}}}], "unevaluatedProperties": False}
    with pytest.raises(BrokenSchema, match="use additionalProperties"):
        problems(schema, {LONG: 1})


@pytest.mark.parametrize(
    ("schema", "arguments", "expected"),
    [
        (typed("string", pattern="^[가-힣]+$"), {"a": "서울"}, []),
        (typed("string", pattern="^[가-힣]+$"), {"a": "Seoul"}, [("a", "pattern")]),
        ({"patternProperties": {"^x": {"type": "string"}}}, {"x1": 1, "y": 1}, [("x1", "type")]),
        (
            {"patternProperties": {"^x": {}}, "properties": {"y": {}}, "additionalProperties": False},
            {"x1": 1, "y": 1, "z": 1},
            [("", "additionalProperties")],
        ),
        (
            {"patternProperties": {"^x": {}}, "additionalProperties": {"type": "integer"}},
            {"x1": "a", "z": "b"},
            [("z", "type")],
        ),
    ],
)
def test_patterns_are_searched_as_json_schema_has_it(schema, arguments, expected):
    assert rules(schema, arguments) == expected
