"""Rates and their intervals, against tables from papers, statsmodels and simulation."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcb_toolkit import statistics
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.statistics.intervals import Clusters, clustered_wilson


def frame(outcomes, clusters=None, **columns):
    """One row an outcome: p, f or n."""
    names = {"p": "pass", "f": "fail", "n": "not_scored"}
    data = pd.DataFrame({"outcome": [names[letter] for letter in outcomes]})
    data["case_id"] = [f"case/{index}" for index in range(len(data))]
    data["cluster"] = list(clusters) if clusters is not None else ""
    return data.assign(**columns)


@pytest.mark.parametrize(
    ("passes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_numbers_of_newcombes_table(passes, n, low, high):
    # Newcombe 1998, Statistics in Medicine 17, 857, table I, method 3.
    assert statistics.wilson(passes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("passes", "n"), [(0, 10), (10, 10)])
def test_wilson_ends_exactly_at_zero_and_one(passes, n):
    low, high = statistics.wilson(passes, n)
    assert (low == 0.0) == (passes == 0)
    assert (high == 1.0) == (passes == n)


def test_wilson_of_nothing_is_everything():
    assert statistics.wilson(0, 0) == (0.0, 1.0)


def test_jeffreys_is_the_beta_quantiles_away_from_the_ends():
    from scipy import stats

    expected = stats.beta.ppf([0.025, 0.975], 7 + 0.5, 3 + 0.5)
    assert statistics.jeffreys(7, 10) == pytest.approx(tuple(expected))
    assert statistics.jeffreys(0, 10)[0] == 0.0
    assert statistics.jeffreys(10, 10)[1] == 1.0


def test_impossible_counts_and_levels_are_said():
    with pytest.raises(DataError, match="passes=3 of n=2: expected 0 <= passes <= n"):
        statistics.wilson(3, 2)
    with pytest.raises(DataError, match="level=95: expected a share between 0 and 1"):
        statistics.wilson(1, 2, level=95)


def test_one_row_without_clusters_is_wilson():
    table = statistics.summarize(frame("pppffn"))
    assert list(table.columns) == ["rate", "low", "high", "n", "not_scored", "clusters", "method"]
    row = table.iloc[0]
    assert (row["rate"], row["n"], row["not_scored"], row["clusters"]) == (0.6, 5, 1, 5)
    assert row["method"] == "wilson"
    assert (row["low"], row["high"]) == pytest.approx(statistics.wilson(3, 5))


def test_not_scored_is_beside_the_rate_and_never_in_it():
    both = statistics.summarize(frame("ppnn"))
    assert both.loc[0, "rate"] == 1.0
    assert both.loc[0, "not_scored"] == 2


def test_a_missing_verdict_counts_as_not_scored():
    data = frame("pp")
    data.loc[1, "outcome"] = None
    assert statistics.summarize(data).loc[0, ["n", "not_scored"]].tolist() == [1, 1]


def test_nothing_scored_has_no_rate_and_an_interval_over_everything():
    row = statistics.summarize(frame("nnn", "aab")).iloc[0]
    assert math.isnan(row["rate"])
    assert (row["low"], row["high"], row["n"], row["clusters"], row["method"]) == (0.0, 1.0, 0, 0, "none")


def test_an_empty_frame_gives_one_row_of_nothing():
    assert statistics.summarize(frame("")).loc[0, "n"] == 0
    assert statistics.summarize(frame(""), by="cluster").empty


def test_groups_come_in_the_order_they_appear():
    data = frame("pfpf", category=["slot", "call", "slot", "call"])
    table = statistics.summarize(data, by="category")
    assert table["category"].tolist() == ["slot", "call"]
    assert table["rate"].tolist() == [1.0, 0.0]


def test_several_columns_and_missing_values_make_groups():
    data = frame("pfpf", model=["a", "a", "b", "b"], category=["x", None, "x", None])
    table = statistics.summarize(data, by=["model", "category"])
    assert table["n"].tolist() == [1, 1, 1, 1]
    assert table["rate"].tolist() == [1.0, 0.0, 1.0, 0.0]


def test_several_runs_give_a_row_each_unless_asked_for_one():
    data = frame("pfpf", run=["a", "a", "b", "b"])
    assert statistics.summarize(data)["run"].tolist() == ["a", "b"]
    assert len(statistics.summarize(data, by=[])) == 1


def test_another_metric_is_taken_from_its_own_column():
    data = frame("pp", outcome_schema_valid=["fail", "fail"])
    assert statistics.summarize(data, metric="schema_valid").loc[0, "rate"] == 0.0
    with pytest.raises(UnknownName, match="Known: schema_valid"):
        statistics.summarize(data, metric="schema_vald")


def test_wrong_names_list_the_right_ones():
    with pytest.raises(UnknownName, match="unknown column 'categry'. Did you mean 'category'"):
        statistics.summarize(frame("p", category="x"), by="categry")
    with pytest.raises(DataError, match="found 3, expected the name of a column or a list of them"):
        statistics.summarize(frame("p"), by=3)
    with pytest.raises(UnknownName, match="unknown column 'dialog'"):
        statistics.summarize(frame("p"), cluster="dialog")
    with pytest.raises(DataError, match="found 'passed', expected pass, fail or not_scored"):
        statistics.summarize(pd.DataFrame({"outcome": ["passed"]}))
    with pytest.raises(DataError, match="the frame has no column 'outcome'"):
        statistics.summarize(pd.DataFrame({"result": ["pass"]}))


def test_clusters_of_one_item_each_are_single_items():
    assert statistics.summarize(frame("ppf", "abc")).loc[0, "method"] == "wilson"


def test_clusters_widen_the_interval_where_their_items_agree():
    alone = statistics.summarize(frame("p" * 20 + "f" * 20), cluster=None).iloc[0]
    together = statistics.summarize(frame("p" * 20 + "f" * 20, np.repeat(list("abcdefgh"), 5))).iloc[0]
    assert together["method"] == "wilson clustered"
    assert together["clusters"] == 8
    assert together["high"] - together["low"] > 1.5 * (alone["high"] - alone["low"])


def test_a_cluster_name_counts_within_its_benchmark():
    data = frame("pfpf", "aaaa", benchmark=["x", "x", "y", "y"])
    assert statistics.summarize(data).loc[0, "clusters"] == 2


def test_samples_of_one_case_are_a_cluster_without_being_told():
    data = frame("pfpf", sample=[0, 1, 0, 1]).assign(case_id=["c1", "c1", "c2", "c2"])
    row = statistics.summarize(data).iloc[0]
    assert (row["clusters"], row["method"]) == (2, "wilson clustered")


def test_all_pass_in_clusters_counts_clusters_not_items():
    row = statistics.summarize(frame("p" * 50, np.repeat(np.arange(10), 5).astype(str))).iloc[0]
    from scipy import stats

    t = stats.t.ppf(0.975, 9)
    assert row["high"] == 1.0
    assert row["low"] == pytest.approx(10 / (10 + t**2))
    mirrored = statistics.summarize(frame("f" * 50, np.repeat(np.arange(10), 5).astype(str))).iloc[0]
    assert (mirrored["low"], mirrored["high"]) == pytest.approx((0.0, 1 - row["low"]))


def test_one_cluster_is_one_item():
    row = statistics.summarize(frame("ppppf", "aaaaa")).iloc[0]
    assert row["rate"] == 0.8
    assert row["clusters"] == 1
    assert row["high"] - row["low"] > 0.7


def test_the_variance_is_the_jackknife_of_statsmodels_means():
    from statsmodels.stats.weightstats import DescrStatsW

    rng = np.random.default_rng(3)
    sizes, passes = np.array([3, 5, 2, 8, 4, 6, 1, 7.0]), None
    passes = rng.binomial(sizes.astype(int), 0.6).astype(float)

    def mean(kept):
        return DescrStatsW(passes[kept] / sizes[kept], weights=sizes[kept]).mean

    every = np.arange(len(sizes))
    left_out = np.array([mean(every != index) for index in every])
    variance = 7 / 8 * ((left_out - mean(every >= 0)) ** 2).sum()
    data = Clusters(np.zeros(8, dtype=np.intp), passes, sizes, 1)
    rate, low, high = clustered_wilson(data)
    residual = (passes - rate[0] * sizes) ** 2
    df = np.clip(residual.sum() ** 2 / (residual**2).sum() - 1, 5, 7)
    from scipy import stats

    n = min(rate[0] * (1 - rate[0]) / variance, sizes.sum())
    z = stats.t.ppf(0.975, df)
    # Wilson's limits are the roots of (rate - p)^2 = z^2 p (1 - p) / n.
    roots = np.roots([1 + z**2 / n, -(2 * rate[0] + z**2 / n), rate[0] ** 2])
    assert (low[0], high[0]) == pytest.approx(tuple(sorted(roots.real)))


def test_equal_clusters_have_the_standard_error_of_statsmodels_cluster_fit():
    import statsmodels.api as sm

    from fcb_toolkit.statistics.intervals import _jackknife

    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60).astype(float)
    groups = np.repeat(np.arange(12), 5)
    fit = sm.OLS(y, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    data = Clusters(np.zeros(12, dtype=np.intp), np.bincount(groups, weights=y), np.full(12, 5.0), 1)
    variance, _ = _jackknife(data, np.array([y.mean()]))
    # With clusters of one size the jackknife is statsmodels' CR1 estimate exactly.
    assert math.sqrt(variance[0]) == pytest.approx(fit.bse[0])


@pytest.mark.parametrize(
    ("sizes", "p", "rho"),
    [
        ([5] * 10, 0.5, 0.3),
        ([5] * 10, 0.05, 1.0),
        ([1, 2, 2, 3, 3, 4, 5, 6, 8, 12], 0.3, 0.7),
        ([1, 2, 3, 4, 4, 5, 5, 7, 9] * 5, 0.97, 0.7),
        ([5] * 100, 0.02, 0.7),
        ([5] * 20, 0.9, 0.1),
        ([1] * 20 + [5] * 10, 0.2, 1.0),
        ([1] * 20 + [5] * 10, 0.8, 0.7),
    ],
)
def test_the_clustered_interval_covers_at_its_level(sizes, p, rho):
    rng = np.random.default_rng(7)
    repeats, sizes = 4000, np.array(sizes)
    shape = (repeats, len(sizes))
    own = (rng.random(shape) < p) if rho == 1 else rng.beta(p * (1 / rho - 1), (1 - p) * (1 / rho - 1), shape)
    passes = rng.binomial(sizes, own.astype(float)).astype(float)
    group = np.repeat(np.arange(repeats), len(sizes))
    data = Clusters(group, passes.ravel(), np.tile(sizes, repeats).astype(float), repeats)
    _, low, high = clustered_wilson(data)
    covered = ((low <= p) & (p <= high)).mean()
    # The nominal 95%, less three standard errors of the simulation; never useless either.
    assert covered > 0.94
    assert (high - low).mean() < 0.75


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("pfn"), st.integers(0, 5)), min_size=1, max_size=40))
def test_the_interval_holds_the_rate_and_lies_between_zero_and_one(rows):
    data = frame([outcome for outcome, _ in rows], [str(cluster or "") for _, cluster in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = statistics.summarize(data).iloc[0]
    assert 0 <= row["low"] <= row["high"] <= 1
    assert row["n"] + row["not_scored"] == len(rows)
    if row["n"]:
        assert row["low"] <= row["rate"] <= row["high"]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("pf"), st.integers(0, 4)), min_size=2, max_size=30), st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    tables = [
        statistics.summarize(frame([o for o, _ in some], [f"c{c}" for _, c in some]))
        for some in (rows, shuffled)
    ]
    pd.testing.assert_frame_equal(*tables)


def test_frames_put_together_with_their_indices_are_summarised_row_by_row():
    data = pd.concat([frame("pf", model="a"), frame("pp", model="b")])
    assert statistics.summarize(data, by="model")["rate"].tolist() == [0.5, 1.0]
    assert statistics.compare(data[data["model"] == "a"], data[data["model"] == "b"]).only_b == 1
