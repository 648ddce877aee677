"""The checklist pipeline with scripted models."""

import json

import pytest

from fcb_toolkit.benchmarks import dpab
from fcb_toolkit.checklists import Options, Problem, make_checklists, read_problems
from fcb_toolkit.checklists.prompts import read_draft
from fcb_toolkit.errors import DataError
from fcb_toolkit.models.scripted import ScriptedModel
from fcb_toolkit.scoring import score

MOCKS = '''
def get_menu(day: str) -> dict:
    """Today's menu.

    :param day: The day of the week.
    """
    return {"main": "비빔밥"}

def order(menu: dict, count: int = 1) -> bool:
    """Orders it."""
    return count > 0
'''
PROBLEM = Problem("lunch", "월요일 메뉴를 주문해 줘", MOCKS, "easy")


def draft(code, functions, values):
    checklist = json.dumps({"functions": functions, "values": values}, ensure_ascii=False)
    return f"```python\n{code}\n```\n```json\n{checklist}\n```"


RIGHT = draft("menu = get_menu('월')\nok = order(menu)", ["get_menu", "order"], [{"main": "비빔밥"}, True])
WRONG = draft("menu = get_menu('월')\nok = order(menu)", ["get_menu", "order"], [{"main": "국수"}])


class Counting(ScriptedModel):
    """Counts what it is asked."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.asked = []

    def generate(self, prompts, settings):
        self.asked += [prompt.messages[-1]["content"] for prompt in prompts]
        return super().generate(prompts, settings)


def decider(text=RIGHT):
    return Counting(
        lambda m, t: text if "two blocks" in m[-1]["content"] else "메뉴를 주문하라고 했다.", name="decider"
    )


def test_a_checklist_that_its_program_reaches_is_kept(tmp_path):
    (made,) = make_checklists([PROBLEM], decider(), Counting([RIGHT], name="validator"), tmp_path)
    assert made.reachable and made.reason == "" and made.rounds == 1
    assert made.functions == ("get_menu", "order") and made.values == ({"main": "비빔밥"}, True)
    assert [step.step for step in made.steps] == ["decision", "justification", "revision"]
    assert [step.model for step in made.steps] == ["decider", "decider", "validator"]


def test_what_comes_out_is_a_dpab_benchmark(tmp_path):
    make_checklists([PROBLEM], decider(), Counting([RIGHT]), tmp_path)
    (case,) = dpab.load(tmp_path / "problems.jsonl", "pythonic")
    assert "비빔밥" not in case.messages[0]["content"] and "Today's menu." in case.messages[0]["content"]
    assert case.category == "easy"
    assert score(case, RIGHT, "dpab").outcome == "pass"
    (asked,) = dpab.load(tmp_path / "problems.jsonl", "json")
    names = [tool["name"] for tool in asked.task["function_schema_json"]]
    assert names == ["get_menu", "order"]


def test_an_unreachable_checklist_goes_back_with_the_reason_and_can_be_mended(tmp_path):
    validator = Counting(
        lambda m, t: RIGHT if "국수" in m[-1]["content"].split("When the program ran:")[1] else WRONG
    )
    (made,) = make_checklists([PROBLEM], decider(WRONG), validator, tmp_path)
    assert made.reachable and made.rounds == 1
    assert "expected the value {'main': '국수'}" in validator.asked[0]


def test_an_unreachable_checklist_that_nobody_mends_is_reported_and_left_out(tmp_path):
    (made,) = make_checklists([PROBLEM], decider(WRONG), Counting([WRONG]), tmp_path, Options(rounds=2))
    assert not made.reachable and "expected the value" in made.reason and made.rounds == 2
    assert (tmp_path / "problems.jsonl").read_text() == ""


def test_a_reply_out_of_form_is_not_a_checklist(tmp_path):
    (made,) = make_checklists([PROBLEM], decider("I do not know"), Counting(["nor do I"]), tmp_path)
    assert not made.reachable and "not in the form asked for" in made.reason


def test_an_empty_checklist_does_not_count(tmp_path):
    empty = draft("x = 1", [], [])
    (made,) = make_checklists([PROBLEM], decider(empty), Counting([empty]), tmp_path)
    assert not made.reachable and "any program would pass" in made.reason


def test_asking_again_asks_no_model(tmp_path):
    first = make_checklists([PROBLEM], decider(), Counting([RIGHT], name="validator"), tmp_path)
    silent = Counting(["never"], name="decider"), Counting(["never"], name="validator")
    assert make_checklists([PROBLEM], *silent, tmp_path) == first
    assert silent[0].asked == silent[1].asked == []


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, cut):
    first = make_checklists([PROBLEM], decider(), Counting([RIGHT], name="validator"), tmp_path)
    steps = tmp_path / "steps.jsonl"
    steps.write_bytes(steps.read_bytes()[:-cut])
    models = decider(), Counting([RIGHT], name="validator")
    assert make_checklists([PROBLEM], *models, tmp_path) == first
    assert len(models[0].asked) == 0 and len(models[1].asked) == 1


def test_a_changed_problem_is_asked_anew(tmp_path):
    make_checklists([PROBLEM], decider(), Counting([RIGHT]), tmp_path)
    model = decider()
    make_checklists([Problem("lunch", "화요일 메뉴", MOCKS)], model, Counting([RIGHT]), tmp_path)
    assert len(model.asked) == 2


def test_functions_that_are_not_python_are_refused_before_any_model_is_asked(tmp_path):
    model = decider()
    with pytest.raises(DataError, match="not Python"):
        make_checklists([Problem("a", "b", "def f(:")], model, model, tmp_path)
    assert model.asked == []


def test_steps_of_something_else_are_refused(tmp_path):
    (tmp_path / "steps.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(DataError, match="no step of this pipeline"):
        make_checklists([PROBLEM], decider(), decider(), tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no json block"),
        ("```json\n{\n```", "cannot be read"),
        ('```json\n{"functions": "f", "values": []}\n```', "not a list of names"),
        ('```json\n{"functions": [], "values": 1}\n```', "'values' is not a list"),
        ('```json\n{"functions": [], "values": []}\n```', "no python block"),
    ],
)
def test_a_draft_that_cannot_be_read_says_why(text, words):
    assert words in read_draft(text)


def test_problems_are_read_from_a_file(tmp_path):
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps({"id": "a", "query": "q", "functions": "def f(): ..."}) + "\n")
    assert read_problems(path) == [Problem("a", "q", "def f(): ...")]
    path.write_text('{"id": "a"}\n')
    with pytest.raises(DataError, match="line 1: expected the texts 'query' and 'functions'"):
        read_problems(path)
