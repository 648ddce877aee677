"""A call case asked for as Python and as JSON, and scored by the calls that were made."""

import pytest

from fcb_toolkit import benchmarks
from fcb_toolkit.benchmarks.both_ways import both_ways, in_code_form
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Case
from fcb_toolkit.scoring import score

TOOL = {
    "type": "function",
    "function": {
        "name": "get_dust",
        "description": "미세먼지 농도",
        "parameters": {
            "type": "object",
            "properties": {
                "hour": {"type": "integer", "description": "시각"},
                "district": {"type": "string", "description": "구", "enum": ["중구", "강남구"]},
            },
            "required": ["district"],
        },
    },
}
CASE = Case.from_request(
    {
        "serial_num": 7,
        "messages": [
            {"role": "system", "content": "오늘은 월요일이다."},
            {"role": "user", "content": "종로는?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "1",
                        "type": "function",
                        "function": {"name": "get_dust", "arguments": '{"district": "종로구"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "1", "name": "get_dust", "content": "23"},
            {"role": "user", "content": "중구 세 시는?"},
        ],
        "tools": [TOOL],
        "ground_truth": {"name": "get_dust", "arguments": '{"district": "중구", "hour": 3}'},
        "type_of_output": "call",
    },
    benchmark="functionchat/dialog",
)


def test_the_two_forms_keep_the_id_and_name_their_mode():
    (python,), (json,) = both_ways([CASE])
    assert python.id == json.id == CASE.id
    assert (python.benchmark, json.benchmark) == ("functionchat/dialog/pythonic", "functionchat/dialog/json")
    assert python.tools == json.tools == () and python.type_of_output == "code"


def test_the_tools_are_shown_in_each_form():
    python, json = in_code_form(CASE, "pythonic"), in_code_form(CASE, "json")
    assert "def get_dust(district: str, hour: int=None) -> dict:" in python.messages[0]["content"]
    assert "중구" in python.messages[0]["content"] and "오늘은 월요일이다." in python.messages[0]["content"]
    assert '"name": "get_dust"' in json.messages[0]["content"]


def test_earlier_calls_of_a_dialog_are_written_in_the_same_form():
    python, json = in_code_form(CASE, "pythonic"), in_code_form(CASE, "json")
    assert python.messages[2]["content"] == "```python\nresult_1 = get_dust(district='종로구')\n```"
    assert json.messages[2]["content"] == '[{"name": "get_dust", "args": {"district": "종로구"}}]'
    assert python.messages[3] == {"role": "user", "content": "Result of get_dust: 23"}


@pytest.mark.parametrize(
    ("mode", "reply", "failure"),
    [
        ("pythonic", "```python\nx = get_dust('중구', hour=3)\n```", None),
        ("pythonic", "```python\nfor h in [3]:\n    print(get_dust(hour=h, district='중구'))\n```", None),
        ("pythonic", "```python\nx = get_dust('중구', 3)['value']\n```", None),
        ("pythonic", "```python\nx = get_dust('강남구', 3)\n```", "wrong_value"),
        ("pythonic", "```python\nx = get_dust('중구')\n```", "missing_argument"),
        ("pythonic", "```python\nx = get_dust('중구', 3, unit='a')\n```", "extra_argument"),
        ("pythonic", "```python\nx = get_air('중구', 3)\n```", "unknown_tool"),
        ("pythonic", "```python\nif False:\n    get_dust('중구', 3)\n```", "missing_call"),
        ("pythonic", "죄송하지만 모르겠습니다.", "missing_call"),
        ("json", '[{"name": "get_dust", "args": {"district": "중구", "hour": 3}}]', None),
        ("json", '[{"name": "get_dust", "args": {"district": "강남구", "hour": 3}}]', "wrong_value"),
        ("json", '[{"name": "get_air", "args": {"district": "중구"}}]', "unknown_tool"),
        ("json", "[]", "missing_call"),
    ],
)
def test_a_reply_is_scored_by_the_calls_that_it_makes(mode, reply, failure):
    verdict = score(in_code_form(CASE, mode), reply, "dpab")
    assert (str(verdict.failure) if verdict.failure else None) == failure


def test_the_official_score_needs_a_checklist():
    verdict = score(in_code_form(CASE, "json"), "[]", "dpab_strict_official")
    assert verdict.outcome == "not_scored" and "needs a checklist" in verdict.reason


def test_a_tool_that_python_cannot_name_is_refused_with_its_name():
    tool = {"type": "function", "function": {"name": "get-dust", "parameters": {}}}
    case = Case("a", "b", ({"role": "user", "content": "?"},), (tool,))
    with pytest.raises(DataError, match="the tool 'get-dust' has no Python name"):
        in_code_form(case, "pythonic")


@pytest.mark.parametrize(
    ("mode", "reply"),
    [
        ("pythonic", "```python\nx = convert(from_='KRW', to='USD')\n```"),
        ("json", '[{"name": "convert", "args": {"from": "KRW", "to": "USD"}}]'),
    ],
)
def test_a_parameter_called_like_a_keyword_can_be_given_in_both_forms(mode, reply):
    properties = {"from": {"type": "string"}, "to": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": ["from", "to"]}
    tool = {"type": "function", "function": {"name": "convert", "parameters": parameters}}
    truth = {"name": "convert", "arguments": '{"from": "KRW", "to": "USD"}'}
    case = Case("a", "b", ({"role": "user", "content": "?"},), (tool,), ground_truth=truth)
    assert score(in_code_form(case, mode), reply, "dpab").outcome == "pass"
    assert str(score(in_code_form(case, mode), reply.replace("KRW", "EUR"), "dpab").failure) == "wrong_value"


def test_only_call_cases_and_known_modes():
    with pytest.raises(DataError, match="wants a call"):
        in_code_form(Case("a", "b", (), type_of_output="slot"), "json")
    with pytest.raises(UnknownName, match="json, pythonic"):
        in_code_form(CASE, "yaml")


def test_all_functionchat_call_cases_can_be_asked_for_both_ways(fcb_data):
    for name in ("singlecall", "dialog", "calldecision"):
        cases = benchmarks.load_benchmark(f"functionchat/{name}", fcb_data / "functionchat")
        python, json = both_ways(cases)
        wanted = [case.id for case in cases if case.type_of_output == "call"]
        assert [case.id for case in python] == [case.id for case in json] == wanted
