"""What holds for every gold and every reply (hypothesis)."""

import json
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

import fcb_toolkit as fcb
from fcb_toolkit import scoring
from fcb_toolkit.records import Case, FailureKind, Outcome, ToolCall
from fcb_toolkit.scoring.matching import assign, in_order
from fcb_toolkit.scoring.strings import POLICIES, STEPS, normalise, policy, same_text
from fcb_toolkit.scoring.values import compare

texts = st.text(st.sampled_from("가각힣한글서울 강남구abcABC12３Ａ\u3000\t-.é"), max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from(["도시", "날짜", "count", "options"]), values, max_size=4)
calls = st.builds(
    lambda name, given: {"name": name, "arguments": given}, st.sampled_from(["f", "g"]), arguments
)
call_lists = st.lists(calls, min_size=1, max_size=5)
policies = st.sampled_from(sorted(POLICIES))
anything = st.recursive(
    scalars | st.just(float("nan")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "tool_calls", "function", "name", "arguments"]), inner
        )
    ),
    max_leaves=12,
)


def message(made):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "function": {
                    "name": call["name"],
                    "arguments": json.dumps(call["arguments"], ensure_ascii=False),
                }
            }
            for call in made
        ],
    }


def as_predicted(gold):
    """The gold as a prediction; a value in the gold's own form stands for its first alternative."""
    return [ToolCall(call["name"], dict(call["arguments"])) for call in gold]


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


@given(call_lists, policies)
@settings(deadline=None)
def test_gold_always_passes(gold, strings):
    verdict = fcb.match_calls(gold, as_predicted(gold), strings=strings)
    assert verdict.outcome is Outcome.PASS
    assert verdict.details["score"] == 1.0


@given(call_lists, call_lists, st.randoms(), policies)
@settings(deadline=None)
def test_a_permutation_of_parallel_calls_never_changes_a_verdict(gold, made, random, strings):
    shuffled, shuffled_gold = list(made), list(gold)
    random.shuffle(shuffled)
    random.shuffle(shuffled_gold)
    before = fcb.match_calls(gold, as_predicted(made), strings=strings)
    after = fcb.match_calls(shuffled_gold, as_predicted(shuffled), strings=strings)
    assert (before.outcome, before.failure) == (after.outcome, after.failure)
    assert before.details["score"] == after.details["score"]


@given(calls, arguments, policies)
@settings(deadline=None)
def test_the_order_of_object_keys_never_changes_a_verdict(gold, made, strings):
    before = fcb.match_calls([gold], [ToolCall(gold["name"], made)], strings=strings)
    after = fcb.match_calls(
        [{"name": gold["name"], "arguments": reversed_keys(gold["arguments"])}],
        [ToolCall(gold["name"], reversed_keys(made))],
        strings=strings,
    )
    assert (before.outcome, before.failure) == (after.outcome, after.failure)


@given(calls, st.data(), policies)
@settings(deadline=None)
def test_any_change_of_one_value_outside_the_alternatives_fails(gold, data, strings):
    if not gold["arguments"]:
        return
    key = data.draw(st.sampled_from(sorted(gold["arguments"])))
    value = data.draw(values)
    if compare(gold["arguments"][key], value, policy(strings)) is not None:
        return
    verdict = fcb.match_calls(
        [gold], [ToolCall(gold["name"], {**gold["arguments"], key: value})], strings=strings
    )
    assert verdict.outcome is Outcome.FAIL
    assert verdict.failure in (FailureKind.WRONG_VALUE, FailureKind.WRONG_TYPE)
    assert verdict.reason.startswith(f"{gold['name']}.{key}: expected ")


@given(calls, arguments)
@settings(deadline=None)
def test_nfd_and_nfc_of_one_text_get_one_verdict(gold, made):
    case = Case("c", "t", (), (), {"name": gold["name"], "arguments": json.dumps(gold["arguments"])})
    text = json.dumps(made, ensure_ascii=False)

    def verdict(form):
        changed = unicodedata.normalize(form, text)
        reply = {"tool_calls": [{"function": {"name": gold["name"], "arguments": changed}}]}
        return fcb.score(case, reply, "call_match")

    # Two keys may become one under NFC; then they are not one text.
    if len({unicodedata.normalize("NFC", key) for key in made}) == len(made):
        assert verdict("NFC").outcome == verdict("NFD").outcome


@given(values, values, policies)
@settings(deadline=None)
def test_equality_is_symmetric_and_reflexive(left, right, strings):
    steps = policy(strings)
    assert compare(left, left, steps) == ()
    assert (compare(left, right, steps) is None) == (compare(right, left, steps) is None)


@given(texts, texts)
@settings(deadline=None)
def test_a_wider_policy_forgives_what_a_narrower_one_does(one, other):
    order = ("exact", "nfc", "korean", "korean_values")
    forgiven = [same_text(one, other, policy(name)) is not None for name in order]
    assert forgiven[:3] == sorted(forgiven[:3])


@given(texts, st.sampled_from(sorted(STEPS)))
@settings(deadline=None)
def test_each_normalisation_is_done_after_one_time(text, step):
    once = normalise(text, (step,))
    assert normalise(once, (step,)) == once


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=4))
@settings(deadline=None)
def test_the_matching_is_as_large_as_any(fits):
    from itertools import permutations

    best = max(
        (
            sum(fits[row][column] for row, column in enumerate(chosen))
            for chosen in permutations(range(4), len(fits))
        ),
        default=0,
    )
    pairs = assign(fits)
    assert sum(pair is not None for pair in pairs) == best
    taken = [pair for pair in pairs if pair is not None]
    assert len(set(taken)) == len(taken)
    ordered = [pair for pair in in_order(fits) if pair is not None]
    assert ordered == sorted(set(ordered))


@given(anything, st.sampled_from(sorted(scoring.METRICS)))
@settings(deadline=None, max_examples=300)
def test_no_reply_makes_a_metric_raise_or_crash(reply, metric):
    if metric.startswith(("dpab", "text_")):
        return  # tested in their own files
    for kind in ("call", "completion", "slot", "relevance"):
        gold = (
            message([{"name": "f", "arguments": {"도시": "서울"}}])
            if kind == "call"
            else {"content": "어디인가요?"}
        )
        case = Case("c", "t", ({"role": "user", "content": "안녕"},), (), gold, None, kind)
        verdict = fcb.score(case, reply, metric)
        assert "metric crashed" not in verdict.reason, verdict
        assert (verdict.failure is not None) == (verdict.outcome is Outcome.FAIL)


@given(anything, anything, anything)
@settings(deadline=None, max_examples=300)
def test_no_data_makes_a_scorer_raise_and_each_difference_has_a_reason(truth, acceptable, reply):
    case = Case("c", "t", (), (), truth, acceptable)
    answer = scoring.answer(reply)
    rows = scoring.parity_rows([(case, answer)])
    for metric in ("functionchat_exact", "call_match", "bfcl_ast"):
        verdict = scoring.score_answer(case, answer, metric)
        assert "metric crashed" not in verdict.reason, verdict
    assert all(found.reason != "unexplained" for found in rows)


sentences = st.sampled_from(
    ["Only ground truth is allowed.", "아무 값이나 됩니다.", "Only YYYY-MM-DD format is allowed."]
)
alternatives = st.none() | st.dictionaries(
    st.sampled_from(["도시", "날짜", "count"]),
    scalars | sentences | st.lists(scalars, max_size=3),
    max_size=3,
)


@given(calls, alternatives | sentences, st.lists(calls, max_size=2), st.booleans())
@settings(deadline=None, max_examples=500)
def test_each_difference_on_a_wellformed_call_has_a_named_reason(gold, acceptable, made, as_text):
    if as_text and isinstance(acceptable, dict):
        acceptable = json.dumps(acceptable, ensure_ascii=False)
    truth = {"name": gold["name"], "arguments": json.dumps(gold["arguments"], ensure_ascii=False)}
    case = Case("c", "t", (), (), truth, acceptable)
    for reply in (message(made), message([gold]), message([gold, *made])):
        for row in scoring.parity_rows([(case, scoring.answer(reply))]):
            assert row.reason != "unexplained", row
