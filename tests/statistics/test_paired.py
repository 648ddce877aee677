"""Paired comparison, against scipy, statsmodels, brute force and simulation."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from fcb_toolkit import statistics
from fcb_toolkit.errors import DataError
from fcb_toolkit.statistics.differences import Pairs, interval, tango


def side(outcomes, clusters=None, model="m", **columns):
    names = {"p": "pass", "f": "fail", "n": "not_scored"}
    data = pd.DataFrame({"outcome": [names[letter] for letter in outcomes]})
    data["case_id"] = [f"case/{index}" for index in range(len(data))]
    data["cluster"] = list(clusters) if clusters is not None else ""
    return data.assign(**{"model": model, "run": model, "sample": 0, **columns})


def counts(both, only_a, only_b, neither):
    a = "p" * (both + only_a) + "f" * (only_b + neither)
    b = "p" * both + "f" * only_a + "p" * only_b + "f" * neither
    return side(a, model="a"), side(b, model="b")


def test_the_four_outcomes_are_counted():
    result = statistics.compare(*counts(4, 3, 2, 1))
    assert (result.both, result.only_a, result.only_b, result.neither) == (4, 3, 2, 1)
    assert (result.rate_a, result.rate_b, result.n) == (0.7, 0.6, 10)
    assert result.difference == pytest.approx(-0.1)
    assert (result.a, result.b) == ("a", "b")


def test_exact_mcnemar_is_scipys_binomial_test_of_the_discordant_pairs():
    result = statistics.compare(*counts(50, 12, 3, 35))
    assert result.mcnemar_p == pytest.approx(stats.binomtest(3, 15).pvalue)
    assert result.permutation_p == pytest.approx(result.mcnemar_p)


def test_no_discordant_pair_is_no_evidence():
    result = statistics.compare(*counts(20, 0, 0, 5))
    assert (result.mcnemar_p, result.permutation_p, result.difference) == (1.0, 1.0, 0.0)
    # Tango's limits without discordant pairs are plus and minus z^2 / (n + z^2).
    z2 = stats.norm.ppf(0.975) ** 2
    assert result.interval == pytest.approx((-z2 / (25 + z2), z2 / (25 + z2)))


@pytest.mark.parametrize(("plus", "minus", "n"), [(12, 2, 50), (5, 5, 40), (0, 7, 30), (1, 0, 12)])
def test_tangos_limits_are_where_the_score_test_with_a_numeric_likelihood_rejects(plus, minus, n):
    z = stats.norm.ppf(0.975)

    def statistic(delta):
        def negative(q):  # q: probability that only a passes; only b passes with q + delta
            rest = 1 - 2 * q - delta
            return -(
                (plus and plus * math.log(q + delta))
                + (minus and minus * math.log(q))
                + ((n - plus - minus) and (n - plus - minus) * math.log(rest))
            )

        least = max(0.0, -delta) + 1e-12
        q = optimize.minimize_scalar(
            negative, bounds=(least, (1 - delta) / 2 - 1e-12), method="bounded", options={"xatol": 1e-12}
        ).x
        return ((plus - minus) - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))

    low, high = tango(plus, minus, n, z)
    assert statistic(low) == pytest.approx(z, abs=2e-3)
    assert statistic(high) == pytest.approx(-z, abs=2e-3)


def test_swapping_the_sides_mirrors_the_result():
    a, b = counts(20, 9, 3, 8)
    one, other = statistics.compare(a, b), statistics.compare(b, a)
    assert one.interval == pytest.approx((-other.high, -other.low))
    assert one.mcnemar_p == pytest.approx(other.mcnemar_p)


def test_pairs_without_both_verdicts_are_left_out_and_counted():
    result = statistics.compare(side("ppnf"), side("pnpf"))
    assert (result.n, result.not_scored_a, result.not_scored_b) == (2, 1, 1)


def test_cases_of_one_side_only_are_counted_as_unpaired():
    result = statistics.compare(side("ppp"), side("pp"))
    assert (result.n, result.unpaired) == (2, 1)


def test_nothing_scored_on_both_sides_is_a_result_that_says_so():
    result = statistics.compare(side("nn"), side("pp"))
    assert result.n == 0
    assert math.isnan(result.difference)
    assert result.interval == (-1.0, 1.0)


def test_runs_without_a_common_case_are_refused():
    other = side("p").assign(case_id="else/0")
    with pytest.raises(DataError, match=r"the runs share no case: the first has 1 rows \(such as 'case/0'\)"):
        statistics.compare(side("p"), other)


def test_two_runs_on_one_side_are_refused():
    both = pd.concat([side("p", model="x"), side("p", model="y")])
    with pytest.raises(DataError, match="case 'case/0' sample 0 occurs twice in the first side"):
        statistics.compare(both, side("p"))


def test_the_permutation_test_swaps_whole_clusters():
    # Four clusters of three, all better under b: 2 of 16 swaps are as extreme, whatever their size.
    clusters = np.repeat(list("wxyz"), 3)
    result = statistics.compare(side("f" * 12, clusters), side("p" * 12, clusters))
    assert result.permutation_p == pytest.approx(2 / 16)
    assert result.mcnemar_p == pytest.approx(2 / 2**12)


def test_the_permutation_test_agrees_with_all_sign_changes():
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(9), 4).astype(str)
    a, b = rng.integers(0, 2, 36), rng.integers(0, 2, 36)
    letters = ["".join("fp"[value] for value in values) for values in (a, b)]
    sums = np.bincount(clusters.astype(int), weights=b - a)
    changed = [abs(np.dot(sums, signs)) >= abs(sums.sum()) for signs in itertools.product((1, -1), repeat=9)]
    result = statistics.compare(side(letters[0], clusters), side(letters[1], clusters))
    assert result.permutation_p == pytest.approx(np.mean(changed))


def test_the_permutation_test_agrees_with_scipys_random_one_for_many_clusters():
    rng = np.random.default_rng(6)
    clusters = np.repeat(np.arange(60), 5).astype(str)
    a, b = rng.integers(0, 2, 300), np.where(rng.random(300) < 0.15, 1, rng.integers(0, 2, 300))
    letters = ["".join("fp"[value] for value in values) for values in (a, b)]
    result = statistics.compare(side(letters[0], clusters), side(letters[1], clusters))
    sums = np.bincount(clusters.astype(int), weights=b - a)
    theirs = stats.permutation_test(
        (sums,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        rng=rng,
        n_resamples=50_000,
    )
    assert result.permutation_p == pytest.approx(theirs.pvalue, abs=0.01)


def test_clusters_that_agree_widen_the_paired_interval():
    a, b = counts(40, 5, 20, 35)
    clusters = np.repeat(np.arange(20), 5).astype(str)
    alone = statistics.compare(a, b)
    together = statistics.compare(a.assign(cluster=clusters), b.assign(cluster=clusters))
    assert together.clusters == 20
    assert together.high - together.low > alone.high - alone.low


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_the_paired_interval_covers_at_its_level(rho):
    rng = np.random.default_rng(11)
    unit, share = np.repeat(np.arange(30), 4), np.array([0.5, 0.08, 0.15, 0.27])
    held = 0
    for _ in range(1000):
        own = rng.dirichlet(share * (1 / rho - 1), 30) if rho else np.tile(share, (30, 1))
        kind = np.minimum((rng.random(120)[:, None] > own.cumsum(1)[unit]).sum(1), 3)
        data = Pairs.of(np.isin(kind, (0, 1)) * 1.0, np.isin(kind, (0, 2)) * 1.0, unit)
        low, high = interval(data, 0.95)
        held += low <= 0.07 <= high
    assert held / 1000 > 0.935


def test_the_least_difference_is_found_by_four_tests_of_five():
    # 200 items, a quarter discordant; the truth is set to the least difference that was announced.
    rng = np.random.default_rng(2)
    announced = statistics.compare(*counts(100, 25, 25, 50)).minimum_detectable
    more, less = 0.125 + announced / 2, 0.125 - announced / 2
    found = 0
    for _ in range(2000):
        plus, minus = rng.multinomial(200, [more, less, 1 - more - less])[:2]
        difference, error = (
            (plus - minus) / 200,
            math.sqrt((plus + minus - (plus - minus) ** 2 / 200) / 200**2),
        )
        found += abs(difference) > stats.t.ppf(0.975, 199) * error
    assert 0.77 < found / 2000 < 0.83


def test_more_items_show_smaller_differences():
    few, many = statistics.compare(*counts(20, 5, 5, 20)), statistics.compare(*counts(200, 50, 50, 200))
    assert many.minimum_detectable < few.minimum_detectable / 2.5


def test_many_pairs_are_corrected_by_holms_method():
    rng = np.random.default_rng(0)
    runs = [side("".join(rng.choice(list("pf"), 80, p=[p, 1 - p])), model=f"m{p}") for p in (0.3, 0.5, 0.8)]
    table = statistics.compare_all(pd.concat(runs))
    assert list(zip(table["a"], table["b"], strict=True)) == [
        ("m0.3", "m0.5"),
        ("m0.3", "m0.8"),
        ("m0.5", "m0.8"),
    ]
    ranked = table.sort_values("mcnemar_p")
    by_hand = np.minimum(np.maximum.accumulate(ranked["mcnemar_p"].to_numpy() * [3, 2, 1]), 1)
    assert ranked["mcnemar_p_holm"].to_numpy() == pytest.approx(by_hand)


def test_a_single_run_has_nothing_to_compare_with():
    with pytest.raises(DataError, match="found 1 run, expected two or more"):
        statistics.compare_all(side("pf"))


def test_two_runs_of_one_model_go_by_the_runs_names():
    result = statistics.compare(side("pf", run="free"), side("pp", run="constrained"))
    assert (result.a, result.b) == ("free", "constrained")


def test_runs_themselves_can_be_summarised_and_compared():
    import fcb_toolkit as fcb
    from fcb_toolkit.models import ScriptedModel

    cases = fcb.load_benchmark("sample/korean")[:20]
    runs = [fcb.evaluate(ScriptedModel([text], name=text), cases) for text in ("네.", "아니요.")]
    table = fcb.summarize(runs, by="model")
    assert table["model"].tolist() == ["네.", "아니요."]
    assert (table["n"] + table["not_scored"]).tolist() == [20, 20]
    result = fcb.compare(*runs)
    assert (result.a, result.b) == ("네.", "아니요.")
    assert result.n + max(result.not_scored_a, result.not_scored_b) <= 20


def in_mode(outcomes, mode, numbers, **columns):
    ids = [f"dpab/{mode}/{number}" for number in numbers]
    return side(outcomes, model=mode, benchmark=f"dpab/{mode}", case_id=ids, serial_num=numbers, **columns)


def test_dpab_in_python_and_in_json_are_paired_by_their_problems():
    result = statistics.compare(in_mode("pfp", "json", [0, 1, 2]), in_mode("pp", "pythonic", [2, 1]))
    assert (result.n, result.unpaired, result.both, result.only_b) == (2, 1, 1, 1)
    assert result.paired_by == "serial_num (dpab/json with dpab/pythonic)"


def test_runs_of_one_benchmark_are_paired_by_their_cases():
    a, b = in_mode("pf", "json", [0, 1]), in_mode("pp", "json", [0, 1])
    assert statistics.compare(a, b).paired_by == "case_id"
    assert statistics.compare(*counts(1, 1, 1, 1)).paired_by == "case_id"


def test_other_benchmarks_of_one_family_are_not_paired_by_number():
    a = side("pf", benchmark="functionchat/dialog", serial_num=[1, 2])
    b = side("pf", benchmark="functionchat/singlecall", serial_num=[1, 2], case_id=["x", "y"])
    with pytest.raises(DataError, match="the runs share no case"):
        statistics.compare(a, b)
