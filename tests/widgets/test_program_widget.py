"""DPAB: the code, the trace of executed calls, and the checklist."""

import pytest
from widget_toys import case_of

import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.records import Case
from fcb_toolkit.widgets.draw_program import draw_execution, execute, program_text

pytest.importorskip(
    "pydantic_monty", reason="the sandbox is not installed: pip install 'fcb-toolkit[execution]'"
)

MOCKS = '''
def find_city(name: str) -> dict:
    """Finds a city."""
    return {"id": 7}

def get_weather(city_id: int) -> str:
    """Weather."""
    if city_id != 7:
        raise ValueError("unknown city")
    return "맑음"
'''
RIGHT = '생각: 먼저 찾는다.\n```python\ncity = find_city(name="서울")\nweather = get_weather(city["id"])\n```'
WRONG = "```python\nweather = get_weather(8)\n```"


def dpab_case(number: int = 0) -> Case:
    return Case(
        id=f"dpab/pythonic/{number}",
        benchmark="dpab/pythonic",
        messages=({"role": "user", "content": "서울 날씨"},),
        ground_truth={"functions": ["find_city", "get_weather"], "values": [{"id": 7}, "맑음"]},
        type_of_output="code",
        category="hard",
        task={"mode": "pythonic", "mock_functions": MOCKS},
    )


@pytest.fixture
def run():
    replies = [RIGHT, WRONG]
    model = ScriptedModel(replies, format="dpab_pythonic")
    return fcb.evaluate(model, [dpab_case(0), dpab_case(1)], progress=False)


def test_the_code_the_checklist_and_the_calls_are_shown(run):
    body = fcb.explore(run).item.body.value
    assert "get_weather(city[" in body and "생각" not in body.split("Conversation")[0]
    assert body.count("✓ found") == 4
    assert "find_city → get_weather" in body


def test_a_failing_program_says_what_is_missing(run):
    explorer = fcb.explore(run)
    explorer.press("next_failure")
    body = explorer.item.body.value
    assert "✗ missing" in body and "✗ every call raised" in body and "ValueError: unknown city" in body


def test_the_program_is_run_again_in_the_sandbox_on_a_click(run):
    explorer = fcb.explore(run)
    assert explorer.item.execute.layout.display == ""
    explorer.item.execute.click()
    trace = explorer.item.trace.value
    assert "Trace: 2 calls" in trace and "get_weather(city_id=7)" in trace and "&quot;맑음&quot;" in trace
    explorer.press("next")
    assert explorer.item.trace.value == ""


def test_code_that_reaches_for_the_machine_is_blocked_and_shown_as_text():
    case = dpab_case()
    code = "import socket\nx = '<script>'"
    drawn = draw_execution(case, code, execute(case, code))
    assert "blocked" in drawn and "<script>" not in drawn


def test_a_reply_without_a_program_has_none():
    case = dpab_case()
    run = fcb.evaluate(ScriptedModel(["모르겠어요."], format="dpab_pythonic"), [case], progress=False)
    assert program_text(case, run.answer(run.reply(case.id))) == ""
    assert "no program in the reply" in fcb.explore(run).item.body.value


def test_the_tool_of_a_program_is_the_first_of_its_checklist(run):
    assert [label for label, _ in fcb.explore(run).filters.facets["tool"].options][1] == "find_city (2)"


def test_other_cases_offer_nothing_to_run():
    run = fcb.evaluate(ScriptedModel(["네"]), [case_of("서울")], progress=False)
    assert fcb.explore(run).item.execute.layout.display == "none"
