"""The official verdicts on 4,145 replies, and the reasons why ours differ.

The official tool's answers were recorded by running it (see the golden notes). What may not be reproduced is in
`EXPLAINED`, by variant of the reply.
"""

import json
from collections import Counter

import pytest

from fcb_toolkit import execution, jsonl
from fcb_toolkit.benchmarks import dpab
from fcb_toolkit.records import Answer, Parse
from fcb_toolkit.scoring import dpab_official as official
from fcb_toolkit.scoring.dpab import dpab as ours
from fcb_toolkit.scoring.dpab_lint import findings
from fcb_toolkit.scoring.dpab_parity import REASONS, disagreement

EXPLAINED = {
    "open_file": "the program reads /etc/hostname; neither executor lets it, so there is no verdict",
}
IMPOSSIBLE = {
    91: "wrapped_results",
    96: "impossible_value",
}
"""Rows that no solver passes -> the lint code that says why."""


@pytest.fixture(scope="module")
def cases(fcb_data):
    return {mode: dpab.load(fcb_data / "dpab", mode) for mode in dpab.MODES}


@pytest.fixture(scope="module")
def golden(shared):
    return [row for _, row in jsonl.read(shared / "golden" / "dpab_exec.jsonl")]


def answer(row):
    return Answer(Parse(raw=row["completion"]), row["completion"])


@pytest.fixture(scope="module")
def verdicts(cases, golden):
    """(golden row, official strict, official lenient, ours) for each reply."""
    found = []
    with execution.using(allow_subprocess=True, seconds=6.0):
        for row in golden:
            if row["outcome"] == "hang":
                continue
            case = cases[row["mode"]][row["row"]]
            strict = official.dpab_strict_official(case, answer(row))
            lenient = official.dpab_official(case, answer(row)) if row["row"] % 10 == 0 else None
            found.append((row, strict, lenient, ours(case, answer(row))))
    return found


def reproduced(row, verdict):
    details = verdict.details
    if row["outcome"] == "exception":
        return verdict.outcome == "fail" and details["lenient"] == 0 and "exception" in details
    if row["outcome"] != "scored":
        return verdict.outcome == "not_scored"
    return (
        verdict.outcome == ("pass" if row["strict"] else "fail")
        and details["strict"] == row["strict"]
        and abs(details["lenient"] - row["lenient"]) < 1e-9
        and details["functions_found"] == row["functions_found"]
    )


@pytest.mark.slow
def test_official_verdicts_are_reproduced_except_for_explained_ones(verdicts):
    with_verdict = [entry for entry in verdicts if entry[0]["outcome"] in ("scored", "exception")]
    wrong = Counter(row["variant"] for row, strict, _, _ in with_verdict if not reproduced(row, strict))
    assert set(wrong) <= set(EXPLAINED)
    assert sum(wrong.values()) <= 0.005 * len(with_verdict)


@pytest.mark.slow
def test_where_the_official_tool_gives_no_verdict_neither_do_we(verdicts):
    without = [entry for entry in verdicts if entry[0]["outcome"] not in ("scored", "exception")]
    assert without and all(reproduced(row, strict) for row, strict, _, _ in without)


@pytest.mark.slow
def test_the_lenient_metric_passes_at_full_score_only(verdicts):
    checked = [(strict, lenient) for _, strict, lenient, _ in verdicts if lenient is not None]
    assert checked
    for strict, lenient in checked:
        assert lenient.details.get("lenient") == strict.details.get("lenient")
        if lenient.outcome != "not_scored":
            assert (lenient.outcome == "pass") == (lenient.details["lenient"] >= 1)


@pytest.mark.slow
def test_a_hanging_program_gets_no_official_verdict_and_fails_ours(cases, golden):
    hanging = [row for row in golden if row["outcome"] == "hang"]
    assert hanging
    with execution.using(seconds=0.5):
        for row in hanging:
            case = cases[row["mode"]][row["row"]]
            assert official.dpab_strict_official(case, answer(row)).outcome == "not_scored"
            assert ours(case, answer(row)).outcome == "fail"


@pytest.mark.slow
def test_each_problem_has_a_solver_that_ours_passes_or_is_listed_as_impossible(cases, verdicts):
    solved = {
        row["row"] for row, _, _, own in verdicts if row["variant"] == "solution" and own.outcome == "pass"
    }
    unsolved = set(range(100)) - solved
    assert unsolved == set(IMPOSSIBLE)
    for number, code in IMPOSSIBLE.items():
        assert code in {found for found, _ in findings(cases["pythonic"][number])}


@pytest.mark.slow
def test_each_disagreement_has_a_named_reason(cases, verdicts):
    reasons = Counter()
    for row, strict, _, own in verdicts:
        reason = disagreement(cases[row["mode"]][row["row"]], row["completion"], own, strict)
        reasons[reason] += 1
        assert reason == "" or reason in REASONS
    assert reasons["other"] == 0
    assert reasons["call_never_ran"] > 100 and reasons["call_not_recorded"] > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "failure"),
    [
        ("if_false_plus_hardcoded_values", "missing_call"),
        ("helper_def_never_called_plus_hardcoded_values", "missing_call"),
        ("redefines_mocks", "missing_call"),
        ("one_and_zero_for_booleans_plus_if_false", "missing_call"),
        ("runtime_error_before_solution", "execution_error"),
        ("syntax_error", "malformed_call"),
        ("text_only", "missing_call"),
        ("json_text_only", "missing_call"),
        ("json_name_eval", "unknown_tool"),
        ("json_empty_text", "no_reply"),
        ("open_file", "blocked_code"),
    ],
)
def test_what_the_official_tool_credits_wrongly_fails_with_its_kind(verdicts, variant, failure):
    kinds = {str(own.failure) for row, _, _, own in verdicts if row["variant"] == variant}
    assert kinds == {failure}


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant",
    [
        "tuple_unpacking",
        "lambda_wrapper",
        "list_of_calls",
        "dict_of_calls",
        "walrus",
        "generator_next",
        "alias_of_function",
    ],
)
def test_what_the_official_tool_misses_passes(verdicts, variant):
    impossible = set(IMPOSSIBLE)
    outcomes = Counter(
        (own.outcome.value, str(own.failure))
        for row, _, _, own in verdicts
        if row["variant"] == variant and row["row"] not in impossible and row["trace"]["values_returned"]
    )
    assert outcomes["pass", "None"] >= 0.85 * sum(outcomes.values())


def tagged(value):
    """A value of the synthetic file, whose tuples, sets, infinities and other keys are tagged."""
    if isinstance(value, list):
        return [tagged(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, body),) = value.items()
        if tag == "__tuple__":
            return tuple(tagged(part) for part in body)
        if tag == "__set__":
            return set(body)
        if tag == "__float__":
            return float(body)
        if tag == "__dict__":
            return {tagged(key): tagged(part) for key, part in body}
    return {key: tagged(part) for key, part in value.items()}


MOCKS = 'def f(*a, **k):\n    return 1\ndef g(*a, **k):\n    return {"k": [1, 2]}\n'


def synthetic_extract(row):
    return official.extract_code(row["text"]) == row["code"]


def synthetic_parse_json(row):
    try:
        return official.parse_json_calls(row["text"]) == row["result"] and row["exception"] is None
    except official.OfficialError as error:
        return str(error) == row["exception"]


def synthetic_score(row):
    found = {name: [] for name in row["functions_found"]}
    lenient = official.score(tagged(row["values"]), row["functions"], tagged(row["variables"]), found)
    return abs(lenient - row["lenient"]) < 1e-12 and official.strict_score(lenient) == row["strict"]


def synthetic_recorder(row):
    try:
        read = official.reading(row["code"], "pythonic")
    except official.OfficialError as error:
        return str(error) == row["exception"]
    if read.restricted:
        return row["function_results"] == {} and "NotAllowedError" in row["errors"][0]
    ran = execution.execute(read.code, MOCKS, allow_subprocess=True)
    hidden = official.PRE_IMPORTED | {"f", "g"}
    wanted = {
        name: tagged(value) for name, value in row["variables"].items() if "__repr__" not in json.dumps(value)
    }
    held = {name: value for name, value in ran.variables.items() if name not in hidden and name in wanted}
    return (
        read.functions == row["function_results"]
        and held == wanted
        and bool(ran.error) == bool(row["errors"])
    )


@pytest.mark.parametrize("kind", ["extract", "parse_json", "score", "recorder"])
def test_synthetic_cases(shared, kind):
    check = globals()[f"synthetic_{kind}"]
    rows = [row for _, row in jsonl.read(shared / "golden" / "dpab_synthetic.jsonl") if row["kind"] == kind]
    assert rows
    assert [row.get("case", row.get("code")) for row in rows if not check(row)] == []
