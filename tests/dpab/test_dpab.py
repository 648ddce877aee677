"""`dpab` on toy problems: found, missing, and the first failure that applies."""

import pytest

from fcb_toolkit import execution
from fcb_toolkit.records import Case
from fcb_toolkit.scoring import answer, score
from fcb_toolkit.scoring.dpab_values import equal, find

MOCKS = """
def get_menu(day: str) -> dict:
    if day != "월":
        raise ValueError("그런 날은 없습니다")
    return {"main": "비빔밥", "price": 7.5}

def order(menu: dict, count: int = 1) -> bool:
    return count > 0

def pay(amount):
    return [amount, True]
"""


def case(functions=("get_menu", "order"), values=({"main": "비빔밥", "price": 7.5}, True), mode="pythonic"):
    return Case(
        id=f"dpab/{mode}/0",
        benchmark=f"dpab/{mode}",
        messages=({"role": "user", "content": "월요일 메뉴를 주문해 줘"},),
        ground_truth={"functions": list(functions), "values": list(values)},
        type_of_output="code",
        task={"mode": mode, "mock_functions": MOCKS},
    )


def judged(code, **changes):
    return score(case(**changes), f"```python\n{code}\n```", "dpab")


def test_a_right_program_passes_and_says_where_each_value_is():
    verdict = judged("menu = get_menu('월')\nok = order(menu)")
    assert verdict.outcome == "pass" and verdict.metric == "dpab"
    assert [entry["status"] for entry in verdict.details["functions"]] == ["found", "found"]
    assert [entry["where"] for entry in verdict.details["values"]] == ["menu", "ok"]
    assert verdict.details["executor"] == "monty"
    assert verdict.details["lenient"] == 1.0 and verdict.details["strict"] == 1


@pytest.mark.parametrize(
    ("code", "failure", "words"),
    [
        (
            "menu = {'main': '비빔밥', 'price': 7.5}\nok = True",
            "missing_call",
            "expected a call of 'get_menu'",
        ),
        (
            "if False:\n    get_menu('월')\n    order({})\nm = {'main': '비빔밥', 'price': 7.5}\nk = True",
            "missing_call",
            "found none that ran",
        ),
        ("x = = 1", "malformed_call", "syntax error"),
        ("menu = fetch_menu('월')\nok = order(menu)", "unknown_tool", "fetch_menu"),
        ("menu = get_menu()\nok = order(menu)", "missing_argument", "'day'"),
        ("menu = get_menu('월', '화')\nok = order(menu)", "extra_argument", "too many"),
        ("menu = get_menu('화')\nok = order(menu)", "execution_error", "그런 날은 없습니다"),
        ("menu = get_menu('월')\nwhile True: pass\nok = order(menu)", "execution_error", "timeout"),
        ("open('/etc/passwd')\nmenu = get_menu('월')\nok = order(menu)", "blocked_code", "open"),
        (
            "print(get_menu('월'))\nok = order({})",
            "missing_value",
            "get_menu returned it, no variable keeps it",
        ),
        ("menu = get_menu('월')\nok = order(menu, 0)", "missing_value", "True"),
        ("menu = get_menu('월')\nok = int(order(menu))", "missing_value", "True"),
    ],
)
def test_a_wrong_program_fails_for_the_first_reason_that_applies(code, failure, words):
    with execution.using(seconds=0.5):
        verdict = judged(code)
    assert (verdict.outcome, str(verdict.failure)) == ("fail", failure)
    assert words in verdict.reason


def test_a_function_listed_twice_has_to_return_twice():
    twice = {"functions": ("pay", "pay"), "values": ([1, True],)}
    assert judged("a = pay(1)\nb = pay(2)", **twice).outcome == "pass"
    once = judged("a = pay(1)", **twice)
    assert str(once.failure) == "wrong_call_count" and "expected 2 calls of 'pay'" in once.reason


def test_a_program_that_raises_after_all_is_done_passes_with_a_note():
    verdict = judged("menu = get_menu('월')\nok = order(menu)\n1 / 0")
    assert verdict.outcome == "pass" and "raised ZeroDivisionError" in verdict.reason


def test_a_program_that_leaves_by_exit_after_all_is_done_passes():
    assert judged("import sys\nmenu = get_menu('월')\nok = order(menu)\nsys.exit(0)").outcome == "pass"


@pytest.mark.parametrize(
    "code",
    [
        "results = [get_menu('월'), order({})]",
        "def main():\n    return get_menu('월'), order({})\nr = main()",
        "r = {'m': get_menu('월'), 'o': [order({})]}",
        "class R: pass\nr = R()\nr.menu = get_menu('월')\nr.ok = order({})",
        "for _ in [0]:\n    (menu := get_menu('월')); ok = order(menu)",
        "if __name__ == '__main__':\n    menu = get_menu('월'); ok = order(menu)",
        "__menu = get_menu('월'); List = order(__menu)",
    ],
)
def test_values_in_containers_that_the_program_built_are_held(code):
    assert judged(code).outcome == "pass"


def test_a_part_of_a_result_is_not_the_result():
    verdict = judged("a = pay(1)", functions=("pay",), values=(True,))
    assert str(verdict.failure) == "missing_value"


def test_what_the_sandbox_lacks_is_not_scored_unless_the_child_is_allowed():
    code = "def days():\n    yield '월'\nmenu = [get_menu(d) for d in days()][0]\nok = order(menu)"
    refused = judged(code)
    assert refused.outcome == "not_scored" and "allow_subprocess=True" in refused.reason
    with execution.using(allow_subprocess=True):
        allowed = judged(code)
    assert allowed.outcome == "pass" and allowed.details["executor"] == "subprocess"


def test_a_reply_in_words_is_a_missing_call():
    verdict = score(case(), "죄송하지만 도와드릴 수 없습니다.", "dpab")
    assert str(verdict.failure) == "missing_call" and "text only" in verdict.reason


def test_no_reply_and_a_cut_off_reply():
    assert str(score(case(), None, "dpab").failure) == "no_reply"
    cut = answer("```python\nmenu = get_menu('월')\nok = ord", finish_reason="length")
    assert str(score(case(), cut, "dpab").failure) == "truncated"


def test_reasoning_before_the_code_is_not_run():
    text = "<think>```python\nboom()\n```</think>\n```python\nmenu = get_menu('월')\nok = order(menu)\n```"
    assert score(case(), text, "dpab").outcome == "pass"


def test_the_default_metric_of_a_code_case_is_dpab():
    assert score(case(), "```python\nmenu = get_menu('월')\nok = order(menu)\n```").metric == "dpab"


def in_json(text, **changes):
    return score(case(mode="json", **changes), text, "dpab")


def test_json_calls_run_in_order():
    text = (
        '[{"name": "get_menu", "args": {"day": "월"}}, {"name": "order", "args": {"menu": {}, "count": 2}}]'
    )
    verdict = in_json(text)
    assert verdict.outcome == "pass" and verdict.details["calls"] == ["get_menu", "order"]


def test_a_json_call_takes_the_result_of_an_earlier_one():
    text = (
        '[{"name": "get_menu", "args": {"day": "월"}},'
        ' {"name": "pay", "args": {"amount": {"result_of": 1, "path": ["price"]}}},'
        ' {"name": "order", "args": {"menu": {"result_of": 1}}}]'
    )
    assert in_json(text, functions=("pay", "order"), values=([7.5, True], True)).outcome == "pass"


@pytest.mark.parametrize(
    "reference", ['{"result_of": 2}', '{"result_of": 0}', '{"result_of": true}', '{"result_of": "1"}']
)
def test_a_reference_to_no_earlier_call_is_an_error(reference):
    text = f'[{{"name": "order", "args": {{"menu": {reference}}}}}]'
    verdict = in_json(text)
    assert str(verdict.failure) in ("missing_call", "execution_error")
    assert verdict.details["error"].startswith("LookupError")


@pytest.mark.parametrize(
    "text", ["it's", 'say "hi"', "a\nb", "a\\b", "x') or pay('", "{braces}", "'''", "끝\u2028"]
)
def test_json_strings_reach_the_function_as_they_are(text):
    import json

    reply = json.dumps([{"name": "pay", "args": {"amount": text}}])
    assert in_json(reply, functions=("pay",), values=([text, True],)).outcome == "pass"


def test_a_json_call_of_a_builtin_is_an_unknown_tool():
    verdict = in_json('[{"name": "eval", "args": {}}, {"name": "order", "args": {"menu": {}}}]')
    assert str(verdict.failure) == "unknown_tool"


def test_equality_is_that_of_json_with_a_tolerance():
    assert equal([1, 2.0], (1.0, 2)) and equal({"1": 0.1 + 0.2}, {1: 0.3})
    assert not equal(True, 1) and not equal(0, False) and not equal("1", 1) and not equal(None, 0)
    assert not equal(float("inf"), 1e308) and not equal([1], [1, 2]) and not equal({"a": 1}, {"b": 1})


def test_a_value_is_looked_for_in_the_programs_own_containers_only():
    assert find(2, {"x": [1, [2]]}, []) == "x[1][0]"
    assert find(2, {"x": [1, 2]}, [[1, 2]]) is None
    assert find([1, 2], {"x": [1, 2]}, [[1, 2]]) == "x"


def test_calls_that_a_server_has_read_out_of_the_text_are_run():
    call = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 3}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    verdict = score(case(mode="json", functions=("pay",), values=([3, True],)), message, "dpab")
    assert verdict.outcome == "pass"


def test_special_tokens_around_a_reply_are_not_code():
    reply = "menu = get_menu('월')\nok = order(menu)<|im_end|>"
    assert score(case(), reply, "dpab").outcome == "pass"
    assert score(case(), reply, "dpab_strict_official").outcome == "pass"
