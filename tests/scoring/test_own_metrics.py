"""A user's own metric, as it is written and rewritten in a notebook."""

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError

CASE = fcb.Case.from_request({"serial_num": 1, "messages": [{"role": "user", "content": "a"}]})


def test_a_function_defined_again_is_the_one_that_runs():
    def strict(case, answer):
        return False

    assert fcb.score(CASE, "x", strict).outcome == "fail"

    def strict(case, answer):
        return True, "now right"

    assert fcb.score(CASE, "x", strict).outcome == "pass"
    assert fcb.score(CASE, "x", lambda case, answer: False).outcome == "fail"
    assert fcb.score(CASE, "x", lambda case, answer: True).outcome == "pass"


def test_a_function_with_a_built_in_name_is_refused_instead_of_ignored():
    def call_match(case, answer):
        return True

    with pytest.raises(DataError, match="metric 'call_match' is built in"):
        fcb.score(CASE, "x", call_match)


@pytest.mark.parametrize("given", [0.5, "no", float("nan"), [True, "x"], (0.5, "r"), 1, (True, "a", "b")])
def test_what_is_neither_true_nor_false_is_not_scored(given):
    @fcb.metric(name="odd")
    def odd(case, answer):
        return given

    verdict = fcb.score(CASE, "x", odd)
    assert verdict.outcome == "not_scored"
    assert "expected True, False, (bool, reason), a Verdict or None" in verdict.reason


def test_a_numpy_boolean_is_a_boolean():
    import numpy as np

    assert fcb.score(CASE, "x", lambda case, answer: np.bool_(True)).outcome == "pass"
