"""pass@k, pass^k, the noise floor, and the official averages."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fcb_toolkit import statistics
from fcb_toolkit.errors import DataError


def samples(*cases, run="r"):
    """One string a case, one letter a sample."""
    names = {"p": "pass", "f": "fail", "n": "not_scored"}
    rows = [
        {"run": run, "case_id": f"case/{index}", "sample": number, "cluster": "", "outcome": names[letter]}
        for index, letters in enumerate(cases)
        for number, letter in enumerate(letters)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 1), (5, 2, 3), (6, 0, 2), (6, 6, 4), (7, 5, 3)])
def test_pass_at_k_and_pass_hat_k_are_what_all_choices_of_k_samples_give(n, c, k):
    chosen = [sum(some) for some in itertools.combinations([1] * c + [0] * (n - c), k)]
    assert statistics.pass_at_k(c, n, k) == pytest.approx(np.mean([some > 0 for some in chosen]))
    assert statistics.pass_hat_k(c, n, k) == pytest.approx(np.mean([some == k for some in chosen]))


def test_pass_at_k_is_the_product_of_its_paper():
    # Chen et al. 2021, figure 3: 1 - prod(1 - k / i for i in n-c+1..n).
    expected = 1 - np.prod(1 - 10 / np.arange(200 - 17 + 1, 200 + 1))
    assert statistics.pass_at_k(17, 200, 10) == pytest.approx(expected)


def test_one_sample_is_the_pass_rate():
    row = statistics.repeated(samples("p", "f", "p", "p"), k=(1,)).iloc[0]
    assert row["pass_at_k"] == row["pass_hat_k"] == 0.75
    assert (row["pass_at_k_low"], row["pass_at_k_high"]) == pytest.approx(statistics.wilson(3, 4))


def test_repeated_samples_give_a_row_for_each_k():
    table = statistics.repeated(samples("pppp", "ppff", "ffff"), k=(1, 2, 4))
    assert table["pass_at_k"].tolist() == pytest.approx([0.5, (1 + 5 / 6 + 0) / 3, 2 / 3])
    assert table["pass_hat_k"].tolist() == pytest.approx([0.5, (1 + 1 / 6 + 0) / 3, 1 / 3])
    assert (table["pass_at_k_low"] <= table["pass_at_k"]).all()
    assert (table["pass_at_k_high"] >= table["pass_at_k"]).all()


def test_too_few_samples_are_said():
    with pytest.raises(DataError, match=r"k=3: case .*case/1.* has 2 scored samples"):
        statistics.repeated(samples("ppp", "ppn"), k=(3,))


def test_runs_are_told_apart_when_grouped():
    both = pd.concat([samples("pp", "pp", run="a"), samples("ff", "pf", run="b")])
    table = statistics.repeated(both, k=(2,), by="run")
    assert table.set_index("run")["pass_at_k"].to_dict() == {"a": 1.0, "b": 0.5}


def test_the_noise_floor_is_the_share_of_pairs_that_flip():
    both = pd.concat([samples("p", "p", "f", "f", run="a"), samples("p", "f", "p", "f", run="b")])
    row = statistics.flip_rate(both).iloc[0]
    assert (row["a"], row["b"], row["rate"], row["n"], row["net"]) == ("a", "b", 0.5, 4, 0.0)


def test_samples_within_a_run_flip_too():
    row = statistics.flip_rate(samples("pf", "pp")).iloc[0]
    assert (row["a"], row["b"], row["rate"]) == ("r", "r", 0.5)


def test_two_different_batch_sizes_are_two_runs():
    one, four = samples("p", "p", run="batch 1"), samples("p", "f", run="batch 4")
    assert statistics.flip_rate(pd.concat([one, four])).loc[0, "net"] == -0.5


def test_no_repetition_has_no_noise_floor():
    with pytest.raises(DataError, match="no case occurs twice"):
        statistics.flip_rate(samples("p", "f"))


def rows(benchmark, outcomes, **columns):
    return pd.DataFrame(
        {"run": "r", "benchmark": benchmark, "outcome": outcomes, "category": "", "condition": ""}
    ).assign(**columns)


def rate(table, name):
    return table.set_index("average").loc[name, "rate"]


def test_the_official_dialog_average_divides_by_200():
    kinds = ["call"] * 2 + ["slot"]
    table = statistics.averages(
        rows("functionchat/dialog", ["pass", "fail", "pass"], type_of_output=kinds, category=kinds)
    )
    assert rate(table, "official dialog avg(micro)") == 2 / 200
    assert rate(table, "micro") == pytest.approx(2 / 3)
    assert rate(table, "macro") == pytest.approx((0.5 + 1) / 2)


def test_the_official_single_call_rate_counts_an_unreadable_verdict_as_not_passed():
    table = statistics.averages(
        rows(
            "functionchat/singlecall",
            ["pass", "not_scored", "pass", "fail"],
            condition=["exact"] * 2 + ["8_close"] * 2,
        )
    )
    assert rate(table, "official singlecall total_pass_rate") == 0.5
    assert rate(table, "micro") == pytest.approx(2 / 3)
    assert rate(table, "macro") == pytest.approx((1 + 0.5) / 2)


def test_the_official_calldecision_rate_leaves_out_what_is_not_scored():
    table = statistics.averages(
        rows("functionchat/calldecision", ["pass", "not_scored", "fail"], category=["call", "reject", "call"])
    )
    assert rate(table, "official calldecision total_pass_rate") == 0.5
    nothing = statistics.averages(rows("functionchat/calldecision", ["not_scored"], category=["reject"]))
    assert rate(nothing, "official calldecision total_pass_rate") == 0.0


def test_every_average_carries_its_definition():
    table = statistics.averages(rows("functionchat/dialog", ["pass"], type_of_output="call"))
    assert table["definition"].str.len().min() > 10
    assert "200" in table.set_index("average").loc["official dialog avg(micro)", "definition"]
