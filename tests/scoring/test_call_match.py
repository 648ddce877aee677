"""call_match and match_calls: policy by policy."""

import json

import pytest

import fcb_toolkit as fcb
from fcb_toolkit import scoring
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Case, FailureKind, Outcome, Parse, ParseError, ToolCall
from fcb_toolkit.scoring.gold import read_gold
from fcb_toolkit.scoring.matching import assign, in_order

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "default": 1},
                "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
                "place": {"type": "object"},
            },
            "required": ["city"],
        },
    },
}
DUST = {
    "type": "function",
    "function": {"name": "get_dust", "parameters": {"type": "object", "properties": {}}},
}
TOOLS = [WEATHER, DUST]


def one(**arguments):
    return [{"name": "get_weather", "arguments": arguments}]


def case(gold, acceptable=None, tools=TOOLS):
    truth = {"name": "get_weather", "arguments": json.dumps(gold, ensure_ascii=False)}
    return Case("c", "t", ({"role": "user", "content": "날씨"},), tuple(tools), truth, acceptable)


def message(*calls):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for name, arguments in calls
        ],
    }


def weather(**arguments):
    return message(("get_weather", arguments))


@pytest.mark.parametrize(
    ("gold", "found", "outcome"),
    [
        (5, 5.0, "pass"),
        (5.0, 5, "pass"),
        (1, True, "fail"),
        (False, 0, "fail"),
        (None, False, "fail"),
        (9007199254740993, 9007199254740992, "fail"),
        (9007199254740993, 9007199254740993, "pass"),
        (10**400, 10**400, "pass"),
        (0.1, 0.1, "pass"),
        (0.3, 0.30000000000000004, "fail"),
        ("5", 5, "fail"),
        ([1, 2], [2, 1], "fail"),
        ([[False]], [[0]], "fail"),
        ({"a": {"b": [1, None]}}, {"a": {"b": [1.0, None]}}, "pass"),
        ({"a": 1}, {"a": 1, "b": 2}, "fail"),
        ({}, [], "fail"),
        ("", None, "fail"),
    ],
)
def test_values_are_equal_as_json_values_are(gold, found, outcome):
    assert fcb.match_calls(one(city=gold), one(city=found)).outcome == outcome


def test_a_call_without_arguments_is_a_call():
    assert (
        fcb.match_calls([{"name": "get_dust", "arguments": {}}], message(("get_dust", {})), TOOLS).outcome
        == "pass"
    )


def test_an_argument_left_to_its_default_is_given():
    verdict = fcb.match_calls(one(city="부산", days=1), one(city="부산"), TOOLS)
    assert verdict.outcome == "pass"
    assert verdict.details["by_default"] == ["days"]
    assert (
        fcb.match_calls(one(city="부산", days=2), one(city="부산"), TOOLS).failure
        is FailureKind.MISSING_ARGUMENT
    )


def test_a_default_spelt_out_is_no_extra_argument():
    assert fcb.match_calls(one(city="부산"), one(city="부산", days=1, unit="C"), TOOLS).outcome == "pass"
    assert (
        fcb.match_calls(one(city="부산"), one(city="부산", days=7), TOOLS).failure
        is FailureKind.EXTRA_ARGUMENT
    )


def test_an_optional_argument_may_be_left_out_but_not_be_wrong():
    gold = one(city={"any_of": ["부산"], "optional": False}, days={"any_of": [3], "optional": True})
    assert fcb.match_calls(gold, one(city="부산"), TOOLS).outcome == "pass"
    assert fcb.match_calls(gold, one(city="부산", days=3), TOOLS).outcome == "pass"
    assert fcb.match_calls(gold, one(city="부산", days=4), TOOLS).failure is FailureKind.WRONG_VALUE


def test_a_member_of_an_enum_is_compared_exactly():
    prediction = one(city="부산", unit="f")
    assert fcb.match_calls(one(city="부산", unit="F"), prediction, TOOLS, strings="korean").outcome == "fail"
    assert fcb.match_calls(one(city="부산", unit="F"), prediction, strings="korean").outcome == "pass"


def test_one_string_rule_holds_at_every_depth():
    gold, found = one(place={"구": ["서울 역"]}), one(place={"구": ["서울역"]})
    assert fcb.match_calls(gold, found, TOOLS, strings="korean").details["normalised"] == {"place": ["space"]}
    assert fcb.match_calls(gold, found, TOOLS).outcome == "fail"


@pytest.mark.parametrize(
    ("gold", "prediction", "failure"),
    [
        (one(city="부산"), [], FailureKind.MISSING_CALL),
        (one(city="부산"), None, FailureKind.MISSING_CALL),
        ([], one(city="부산"), FailureKind.UNEXPECTED_CALL),
        (one(city="부산"), message(("get_news", {})), FailureKind.UNKNOWN_TOOL),
        (one(city="부산"), message(("get_dust", {})), FailureKind.WRONG_TOOL),
        (
            one(city="부산"),
            message(("get_weather", {"city": "부산"}), ("get_dust", {})),
            FailureKind.WRONG_CALL_COUNT,
        ),
        (one(city="부산") * 2, one(city="부산"), FailureKind.WRONG_CALL_COUNT),
        (one(city="부산"), one(), FailureKind.MISSING_ARGUMENT),
        (one(city="부산"), one(city="부산", country="한국"), FailureKind.EXTRA_ARGUMENT),
        (one(city="부산"), one(city=["부산"]), FailureKind.WRONG_TYPE),
        (one(city="부산"), one(city="광주"), FailureKind.WRONG_VALUE),
        # Two problems: the first in the order of FailureKind.
        (one(city="부산", days=3), one(city="광주", country="한국"), FailureKind.MISSING_ARGUMENT),
    ],
)
def test_each_failure_has_its_kind_and_shows_both_sides(gold, prediction, failure):
    verdict = fcb.match_calls(gold, prediction, TOOLS)
    assert verdict.failure is failure
    assert "expected" in verdict.reason
    assert "found" in verdict.reason
    assert 0 <= verdict.details["score"] < 1


def test_the_reason_shows_the_values():
    verdict = fcb.match_calls(one(city="부산"), one(city="광주"), TOOLS)
    assert verdict.reason == 'get_weather.city: expected "부산", found "광주"'


def test_parallel_calls_may_come_in_any_order_unless_order_counts():
    gold, swapped = one(city="부산") + one(city="광주"), one(city="광주") + one(city="부산")
    assert fcb.match_calls(gold, swapped, TOOLS).outcome == "pass"
    verdict = fcb.match_calls(gold, swapped, TOOLS, order="same")
    assert verdict.outcome == "fail"
    assert verdict.details["score"] == 0.5


def test_surplus_calls_can_be_ignored():
    prediction = one(city="부산") + one(city="광주")
    assert fcb.match_calls(one(city="부산"), prediction, TOOLS, extra_calls="ignore").outcome == "pass"
    assert fcb.match_calls([], prediction, TOOLS, extra_calls="ignore").outcome == "pass"
    assert fcb.match_calls(one(city="대구"), prediction, TOOLS, extra_calls="ignore").outcome == "fail"


def test_a_maximum_matching_is_found_where_greedy_pairing_fails():
    assert assign([[True, True], [True, False]]) == [1, 0]
    assert assign([[True, True, False], [True, False, False], [False, True, True]]) == [1, 0, 2]
    assert assign([[False], [True]]) == [None, 0]
    assert assign([]) == []
    assert in_order([[False, True], [True, False]]) in ([1, None], [None, 0])


def test_a_dotted_gold_name_finds_the_tool_that_was_offered():
    gold = [{"name": "get.weather", "arguments": {}}]
    assert fcb.match_calls(gold, one(), TOOLS).outcome == "pass"
    assert fcb.match_calls(gold, one(), name_map={"get.weather": "get_weather"}).outcome == "pass"
    assert fcb.match_calls(gold, one()).failure is FailureKind.WRONG_TOOL


def test_predictions_come_in_many_forms():
    for prediction in (
        one(city="부산"),
        [ToolCall("get_weather", {"city": "부산"})],
        ToolCall("get_weather", {"city": "부산"}),
        weather(city="부산"),
        weather(city="부산")["tool_calls"],
        Parse(tool_calls=(ToolCall("get_weather", {"city": "부산"}),)),
        {"name": "get_weather", "arguments": '{"city": "부산"}'},
    ):
        assert fcb.match_calls(one(city="부산"), prediction, TOOLS).outcome == "pass"


def test_an_attempt_that_cannot_be_read_is_no_refusal():
    broken = Parse(content="<tool_call>", error=ParseError("bad", "the tag holds no call"))
    verdict = fcb.match_calls([], broken, TOOLS)
    assert verdict.failure is FailureKind.MALFORMED_CALL
    assert "the tag holds no call" in verdict.reason


def test_wrong_options_list_the_right_ones():
    with pytest.raises(UnknownName, match="unknown order option 'random'"):
        fcb.match_calls([], [], order="random")
    with pytest.raises(UnknownName, match="unknown extra_calls option"):
        fcb.match_calls([], [], extra_calls="maybe")
    with pytest.raises(DataError, match="prediction: found int"):
        fcb.match_calls([], 3)


# The metric over cases in the official form.


@pytest.mark.parametrize(
    ("acceptable", "found", "outcome"),
    [
        (None, "부산", "pass"),
        (None, "Busan", "fail"),
        ('{"city": ["Busan", "부산시"]}', "busan", "pass"),
        ('{"city": "Busan"}', "Busan", "pass"),
        ({"city": "Busan"}, "Busan", "pass"),
        ('"{\\"city\\": \\"Busan\\"}"', "Busan", "pass"),
        ([{"city": "Busan"}, {"city": ["부산시"]}], "부산시", "pass"),
        ('{"city": 3}', "광주", "fail"),
        ('{"city": 3}', 3, "pass"),
        ('{"city": true}', 1, "fail"),
        ('{"city": {"name": "부산"}}', {"name": "부산"}, "pass"),
        ('{"city": {"name": "부산"}}', {"name": "광주"}, "fail"),
        ('{"city": null}', None, "pass"),
        ("Only ground truth is allowed.", "부산", "pass"),
        ("Only ground truth is allowed.", "부 산", "fail"),
        ("only ground truth is allowed", "부 산", "fail"),
        ('{"city": "Only YYYY-MM-DD format is allowed."}', "부산", "pass"),
        ('{"city": "Only YYYY-MM-DD format is allowed."}', "Only YYYY-MM-DD format is allowed.", "fail"),
        ("\"The keywords '부산' and '바다' must both be included.\"", "부산 바다", "fail"),
        ("{\"city\": \"The keywords '부산' and '바다' must both be included.\"}", "부산 앞 바다", "pass"),
        ("{\"city\": \"The keywords '부산' and '바다' must both be included.\"}", "부산항", "fail"),
        ("이 문제는 부산만 됩니다.", "부산", "pass"),
        ("이 문제는 부산만 됩니다.", "광주", "fail"),
        ("", "부산", "pass"),
        ("[]", "부산", "pass"),
        ("5", "부산", "pass"),
    ],
)
def test_alternatives_are_read_in_every_shape_that_the_data_has(acceptable, found, outcome):
    verdict = fcb.score(case({"city": "부산"}, acceptable), weather(city=found), "call_match")
    assert verdict.outcome == outcome, verdict


def test_an_unread_sentence_is_shown_in_the_verdict():
    verdict = fcb.score(case({"city": "부산"}, "아무 도시나 됩니다."), weather(city="광주"), "call_match")
    assert verdict.details["unread_rule"] == "아무 도시나 됩니다."
    assert "only the ground truth counts" in verdict.reason


def test_an_alternative_for_an_absent_argument_makes_it_optional():
    item = case({"city": "부산"}, '{"days": 3}')
    assert fcb.score(item, weather(city="부산"), "call_match").outcome == "pass"
    assert fcb.score(item, weather(city="부산", days=3), "call_match").outcome == "pass"
    assert fcb.score(item, weather(city="부산", days=4), "call_match").outcome == "fail"


def test_a_list_is_one_alternative_of_a_list_argument():
    item = case({"city": ["부산", "광주"]}, {"city": ["광주", "부산"]})
    assert fcb.score(item, weather(city=["광주", "부산"]), "call_match").outcome == "pass"
    assert fcb.score(item, weather(city="광주"), "call_match").outcome == "fail"
    nested = case({"city": ["부산", "광주"]}, {"city": [["광주", "부산"], ["광주"]]})
    assert fcb.score(nested, weather(city=["광주"]), "call_match").outcome == "pass"


def test_a_pass_says_which_normalisation_decided_it():
    verdict = fcb.score(case({"city": "서울시 강남구"}), weather(city="서울시강남구"), "call_match")
    assert verdict.details["normalised"] == {"city": ["space"]}
    assert verdict.reason == "equal after city: space"


def test_argument_names_are_compared_in_composed_form():
    item = case({"품명": "귤"}, tools=[])
    assert fcb.score(item, weather(품명="귤"), "call_match").outcome == "pass"


@pytest.mark.parametrize(
    "truth", [None, 3, {}, "not json", {"arguments": "{}"}, {"name": "f", "arguments": "[1]"}, [1]]
)
def test_a_gold_that_cannot_be_read_is_not_scored(truth):
    verdict = fcb.score(Case("c", "t", (), (), truth), weather(city="부산"), "call_match")
    assert verdict.outcome is Outcome.NOT_SCORED
    assert "gold cannot be read" in verdict.reason


def test_all_gold_calls_count_not_only_the_first():
    truth = message(("get_weather", {"city": "부산"}), ("get_dust", {}))
    item = Case("c", "t", (), tuple(TOOLS), truth)
    both = message(("get_dust", {}), ("get_weather", {"city": "부산"}))
    assert fcb.score(item, both, "call_match").outcome == "pass"
    assert fcb.score(item, weather(city="부산"), "call_match").failure is FailureKind.WRONG_CALL_COUNT


@pytest.mark.parametrize(
    ("reply", "finish_reason", "failure"),
    [
        (None, "stop", FailureKind.NO_REPLY),
        (None, "length", FailureKind.NO_REPLY),
        ("", "stop", FailureKind.NO_REPLY),
        ("날씨는", "length", FailureKind.TRUNCATED),
        ('<tool_call>\n{"name": "get_weather", "argum', "length", FailureKind.TRUNCATED),
        ('<tool_call>\n{"name": "get_weather", "argum', "stop", FailureKind.MALFORMED_CALL),
        ("부산은 맑아요.", "stop", FailureKind.MISSING_CALL),
    ],
)
def test_a_reply_without_a_readable_call_fails_by_its_kind(reply, finish_reason, failure):
    answer = scoring.answer(reply, "hermes", TOOLS, finish_reason=finish_reason)
    assert scoring.score_answer(case({"city": "부산"}), answer, "call_match").failure is failure


def test_a_whole_call_before_the_token_limit_passes():
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "부산"}}\n</tool_call>\n날씨를'
    answer = scoring.answer(text, "hermes", TOOLS, finish_reason="length")
    assert scoring.score_answer(case({"city": "부산"}), answer, "call_match").outcome == "pass"


def test_very_deep_arguments_are_compared_without_an_exception():
    deep: list = []
    for _ in range(50_000):
        deep = [deep]
    other = [ToolCall("get_weather", {"city": deep})]
    assert fcb.match_calls(one(city="부산"), other, TOOLS).failure is FailureKind.WRONG_TYPE
    assert fcb.match_calls(one(city=[]), other, TOOLS).failure is FailureKind.WRONG_VALUE


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("nan")], {"a": float("-inf")}])
def test_a_gold_with_a_number_that_json_has_not_is_the_datas_fault(value):
    with pytest.raises(DataError, match="the arguments of 'f' are no JSON value: Out of range float"):
        fcb.match_calls([{"name": "f", "arguments": {"x": value}}], [])
    verdict = fcb.score(
        Case("c", "t", (), ground_truth={"name": "f", "arguments": {"x": value}}),
        '{"name": "f", "arguments": {}}',
    )
    assert verdict.outcome == "not_scored" and "no JSON value" in verdict.reason


def test_a_gold_that_holds_itself_is_refused_and_a_call_that_does_is_wrong():
    itself = {}
    itself["x"] = itself
    call = {"name": "f", "arguments": itself}
    with pytest.raises(DataError, match="the arguments of 'f' are no JSON value: Circular reference"):
        fcb.match_calls([call], [call])
    verdict = fcb.match_calls([{"name": "f", "arguments": {"x": {"x": {}}}}], [call])
    assert verdict.failure == "wrong_value"


def test_alternatives_that_hold_themselves_leave_the_truth_alone():
    itself = {}
    itself["x"] = [itself]
    gold = read_gold({"name": "f", "arguments": {"x": 1}}, itself)
    assert gold.calls[0].arguments["x"].any_of == (1,) and gold.unread
