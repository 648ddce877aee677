"""The table of metrics, score, @fcb.metric, and answers."""

import json

import pytest

import fcb_toolkit as fcb
from fcb_toolkit import scoring
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Answer, Case, FailureKind, Outcome, Parse, Verdict
from fcb_toolkit.scoring.bfcl_decode import decode
from fcb_toolkit.scoring.functionchat_exact import nesting

CONTRACT = (
    "functionchat_exact call_match schema_valid decision completion slot relevance reject rubric "
    "text_exact text_any text_close dpab_official dpab_strict_official dpab bfcl_ast"
)
CASE = Case("c", "t", ({"role": "user", "content": "안녕"},), (), {"name": "f", "arguments": "{}"})


@pytest.fixture(autouse=True)
def own_metrics_are_forgotten():
    before = dict(scoring.METRICS)
    yield
    scoring.METRICS.clear()
    scoring.METRICS.update(before)


def test_the_metrics_of_the_contract_are_there_with_a_line_of_doc():
    assert set(CONTRACT.split()) <= set(scoring.METRICS)
    assert all(metric.doc and metric.asks_of for metric in scoring.METRICS.values())


@pytest.mark.parametrize("name", CONTRACT.split())
@pytest.mark.parametrize("kind", ["call", "completion", "slot", "relevance", "unknown"])
def test_every_metric_has_a_verdict_on_every_kind_of_case(name, kind):
    gold = CASE.ground_truth if kind == "call" else {"role": "assistant", "content": "안녕하세요"}
    case = Case("c", "t", CASE.messages, (), gold, None, kind)
    for reply in ("안녕하세요", None, {"tool_calls": [{"function": None}]}, {"content": 3}, {}):
        verdict = fcb.score(case, reply, name)
        assert verdict.metric == name
        assert "metric crashed" not in verdict.reason, verdict


def test_a_metric_that_does_not_apply_says_what_it_asks_of():
    verdict = fcb.score(CASE, "안녕하세요", "slot")
    assert verdict.outcome is Outcome.NOT_SCORED
    assert verdict.reason == "slot asks of slot cases, found a case of type 'call'"


@pytest.mark.parametrize(
    ("kind", "category", "metric"),
    [
        ("call", "call", "call_match"),
        ("completion", "completion", "completion"),
        ("slot", "slot-some", "slot"),
        ("relevance", "relevance", "relevance"),
        ("relevance", "reject", "reject"),
        ("code", "code", "dpab"),
    ],
)
def test_each_type_of_case_has_its_own_metric(kind, category, metric):
    assert scoring.default_metric(Case("c", "t", (), (), None, None, kind, category)) == metric


def test_a_metric_in_five_lines():
    @fcb.metric
    def polite(case, answer):
        """Is the reply polite?"""
        return (answer.parse.content or "").endswith("요.")

    assert fcb.score(CASE, "좋아요.", "polite").outcome is Outcome.PASS
    assert fcb.score(CASE, "좋다.", polite).outcome is Outcome.FAIL
    assert scoring.METRICS["polite"].doc == "Is the reply polite?"
    assert polite(CASE, scoring.answer("좋아요.")) is True


@pytest.mark.parametrize(
    ("result", "outcome", "reason"),
    [
        (True, "pass", ""),
        (False, "fail", "the metric gave False"),
        ((False, "너무 짧다"), "fail", "너무 짧다"),
        ((True, "좋다"), "pass", "좋다"),
        (None, "not_scored", "the metric gave None"),
        (Verdict.failed(FailureKind.FALSE_CLAIM, "거짓"), "fail", "거짓"),
    ],
)
def test_a_metric_of_ones_own_may_return_any_of_these(result, outcome, reason):
    fcb.metric(name="mine")(lambda case, answer: result)
    verdict = fcb.score(CASE, "안녕", "mine")
    assert (verdict.outcome, verdict.reason, verdict.metric) == (outcome, reason, "mine")


def test_a_metric_that_raises_is_not_scored():
    @fcb.metric
    def broken(case, answer):
        return 1 / 0

    verdict = fcb.score(CASE, "안녕", "broken")
    assert verdict.outcome is Outcome.NOT_SCORED
    assert verdict.reason == "metric crashed: ZeroDivisionError: division by zero"


def test_a_metric_can_say_to_which_cases_it_applies():
    @fcb.metric(name="short", applies=lambda case: case.type_of_output == "slot")
    def is_short(case, answer):
        return True

    assert fcb.score(CASE, "안녕", "short").outcome is Outcome.NOT_SCORED
    assert scoring.metric_name(is_short) == "short"


def test_defining_a_metric_again_replaces_it_but_a_built_in_stays():
    fcb.metric(name="mine")(lambda case, answer: True)
    fcb.metric(name="mine")(lambda case, answer: False)
    assert fcb.score(CASE, "안녕", "mine").outcome is Outcome.FAIL
    with pytest.raises(DataError, match="metric 'slot' is built in"):
        fcb.metric(name="slot")(lambda case, answer: True)


def test_a_wrong_name_lists_the_metrics():
    with pytest.raises(UnknownName, match="unknown metric 'call_macth'. Did you mean 'call_match'"):
        fcb.score(CASE, "안녕", "call_macth")


def test_an_answer_keeps_a_message_as_it_is_and_makes_one_from_text():
    odd = {"tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}
    assert scoring.answer(odd).message is odd
    made = scoring.answer('<tool_call>\n{"name": "f", "arguments": {"도시": "부산"}}\n</tool_call>', "hermes")
    assert made.message["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"도시": "부산"}'}
    assert made.message["content"] is None
    assert scoring.answer(None).message is None
    assert scoring.answer(made) is made


# functionchat_exact: the limits of the official environment.


def exact(arguments, acceptable=None, truth='{"x": 1}'):
    case = Case("c", "t", (), (), {"name": "f", "arguments": truth}, acceptable)
    message = {"tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    return scoring.score_answer(case, Answer(Parse(), None, "stop", message), "functionchat_exact")


def test_more_digits_than_the_official_python_reads_are_a_crash():
    assert exact('{"x": ' + "9" * 4300 + "}").outcome is Outcome.FAIL
    verdict = exact('{"x": ' + "9" * 4301 + "}")
    assert verdict.outcome is Outcome.NOT_SCORED
    assert "ValueError" in verdict.reason


def test_deeper_nesting_than_the_official_python_reads_is_a_crash_and_less_is_not():
    assert exact('{"x": ' + "[" * 900 + "]" * 900 + "}").outcome is Outcome.FAIL
    verdict = exact('{"x": ' + "[" * 2000 + "]" * 2000 + "}")
    assert verdict.outcome is Outcome.NOT_SCORED
    assert verdict.details["exception"] == "RecursionError"


def test_nesting_ignores_brackets_in_strings():
    assert nesting('{"a": "[[[", "b": [[]]}') == 3
    assert nesting('"' + "[" * 100_000) == 100_000


def test_a_fail_of_the_official_stage_carries_our_kind():
    assert exact("{").failure is FailureKind.MALFORMED_CALL
    assert exact("{}").failure is FailureKind.MISSING_ARGUMENT
    assert exact('{"x": 2}').failure is FailureKind.WRONG_VALUE
    assert exact('{"x": 1, "y": 2}').failure is FailureKind.EXTRA_ARGUMENT
    assert exact('{"x": 2}', '{"x": 3.0}').outcome is Outcome.PASS  # the hole, kept


def test_the_official_stage_fails_every_type_but_call():
    case = Case("c", "t", (), (), {"content": "안녕"}, None, "slot")
    assert fcb.score(case, "안녕하세요", "functionchat_exact").outcome is Outcome.FAIL


# bfcl_ast: the metric over a case, and the decoder.


def test_bfcl_ast_puts_a_case_into_berkeleys_form():
    tool = {
        "function": {
            "name": "f",
            "parameters": {
                "properties": {"n": {"type": "number"}, "s": {"type": "string"}},
                "required": ["n"],
            },
        }
    }
    case = Case("c", "t", (), (tool,), {"name": "f", "arguments": '{"n": 3}'}, '{"n": 4.0, "s": "a"}')

    def verdict(**arguments):
        message = {"tool_calls": [{"function": {"name": "f", "arguments": json.dumps(arguments)}}]}
        return fcb.score(case, message, "bfcl_ast")

    assert verdict(n=3).outcome is Outcome.PASS
    assert verdict(n=4, s="A").outcome is Outcome.PASS
    assert verdict(n=5).details["error_type"] == "value_error:others"
    assert verdict(n="3").failure is FailureKind.WRONG_TYPE
    assert fcb.score(case, "아니요", "bfcl_ast").failure is FailureKind.WRONG_CALL_COUNT


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("[f(x=1)]", [{"f": {"x": 1}}]),
        ("a.b(x=-1, y=+5)", [{"a.b": {"x": -1, "y": -5}}]),
        ("f(x=2+3*4)", [{"f": {"x": 14}}]),
        ("f(x='a'+'b')", [{"f": {"x": "ab"}}]),
        ("f('positional')", [{"f": {}}]),
        ("f(x=(1, 2), y=[1], z={'a': None})", [{"f": {"x": (1, 2), "y": [1], "z": {"a": None}}}]),
        ("[]", []),
    ],
)
def test_the_decoder_reads_calls_without_running_them(text, decoded):
    assert decode(text) == decoded


@pytest.mark.parametrize(
    "text",
    [
        "f(x=9**9**9)",
        "f(x='a'*10**9)",
        "f(x=__import__('os').system('true')+1)",
        "f(x=1/0)",
        "f(x=lambda: 1)",
        "no call",
        "(" * 5000,
        "f(x=" + "-" * 50_000 + "1)",
    ],
)
def test_the_decoder_refuses_what_it_would_have_to_evaluate(text):
    with pytest.raises(ValueError):
        decode(text)
