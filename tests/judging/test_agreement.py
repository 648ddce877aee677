"""Agreement against published examples, statsmodels, and runs small enough to count by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging_toys import a_run
from statsmodels.stats.inter_rater import cohens_kappa

from fcb_toolkit.annotations import Annotations
from fcb_toolkit.cli import main
from fcb_toolkit.errors import DataError
from fcb_toolkit.judging import JudgeOptions, agree, audit, judged, krippendorff_alpha
from fcb_toolkit.judging.agreement import alphas, kappas
from fcb_toolkit.models import ScriptedModel

N = None


def test_alpha_is_that_of_krippendorffs_four_observers():
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
    assert krippendorff_alpha(ratings) == pytest.approx(0.743, abs=0.0005)


def test_alpha_is_that_of_krippendorffs_binary_example():
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha([first, second]) == pytest.approx(0.095, abs=0.0005)
    sides = ["pass", "fail"]
    found = agree([sides[x] for x in first], [sides[x] for x in second])
    assert found.alpha == pytest.approx(0.095, abs=0.0005)


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4))
@settings(deadline=None, max_examples=50)
def test_the_quick_forms_are_those_of_statsmodels_and_of_the_general_alpha(cells):
    a, b, c, d = cells
    table = np.array([cells], float)
    first = ["p"] * (a + b) + ["f"] * (c + d)
    second = ["p"] * a + ["f"] * b + ["p"] * c + ["f"] * d
    alpha = krippendorff_alpha([first, second])
    assert alphas(table)[0] == pytest.approx(alpha, nan_ok=True)
    kappa = kappas(table)[0]
    if not math.isnan(kappa):
        assert kappa == pytest.approx(cohens_kappa(table.reshape(2, 2), return_results=False))


def test_the_interval_of_clusters_is_wider_than_that_of_items_taken_as_independent():
    first = ["pass", "fail"] * 30
    second = ["pass", "fail"] * 20 + ["fail", "pass"] * 10
    apart = agree(first, second)
    together = agree(first, second, [number // 10 for number in range(60)])
    assert (apart.n, apart.table, apart.kappa) == (60, ((20, 10), (10, 20)), pytest.approx(1 / 3))
    assert apart.kappa_low < apart.kappa < apart.kappa_high
    assert together.kappa_high - together.kappa_low > apart.kappa_high - apart.kappa_low


def test_what_one_rater_did_not_score_is_skipped_and_counted():
    found = agree(["pass", "not_scored", "fail"], ["pass", "pass", None])
    assert (found.n, found.skipped) == (1, 2)
    assert math.isnan(found.kappa) and math.isnan(found.kappa_low)


def flipping():
    """Vote 0 passes all but case 3, vote 1 fails all; each text is read but one."""
    texts = iter(["판정: 합격", "판정: 합격", "판정: 불합격", "판정: 불합격", "판정: 불합격", "흠.", "흠."])
    return ScriptedModel(lambda messages, tools: next(texts), name="j")


def test_an_audit_counts_flips_unreadable_verdicts_and_second_askings(tmp_path):
    run = judged(a_run(tmp_path / "run"), flipping(), JudgeOptions(votes=2))
    (row,) = audit(run).judges.to_dict("records")
    assert (row["items"], row["votes"], row["repeated_items"]) == (3, 6, 3)
    assert (row["flipped"], row["unreadable"], row["asked_again"]) == (2, 1, 1)


def test_labels_of_people_come_from_the_explorer_and_from_a_csv(tmp_path):
    run = judged(a_run(tmp_path / "run"), ScriptedModel(["판정: 합격"], name="j"))
    Annotations(run.path, "me").edit(("jsonl/2", 0), "rubric", None, outcome="fail")
    labels = tmp_path / "people.csv"
    labels.write_text("case_id,outcome\njsonl/1,pass\njsonl/3,pass\n")
    rows = {row["second"]: row for row in audit(run, labels).agreement.to_dict("records")}
    assert (rows["people (explorer)"]["n"], rows["people (explorer)"]["only_first"]) == (1, 1)
    assert (rows["people (CSV)"]["n"], rows["people (CSV)"]["both_pass"]) == (2, 2)
    assert rows["functionchat_exact"]["only_first"] == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("case,outcome\n", "line 1: no column 'case_id'"),
        ("case_id,outcome\njsonl/1,good\n", "line 2: outcome 'good', expected pass, fail or not_scored"),
        ("case_id,outcome\njsonl/77,pass\n", "line 2: case 'jsonl/77' sample '0' is not in run"),
    ],
)
def test_labels_that_cannot_be_read_are_told_with_their_line(tmp_path, text, told):
    run = judged(a_run(), ScriptedModel(["판정: 합격"]))
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(DataError, match=told):
        audit(run, tmp_path / "people.csv")


def test_the_report_of_a_run_that_was_not_judged_says_what_to_do(tmp_path, capsys):
    a_run(tmp_path / "run")
    assert main(["report", str(tmp_path / "run"), "--judge"]) == 2
    assert "has no rubric verdicts yet; run fcb judge first" in capsys.readouterr().err


def test_the_report_prints_agreement_and_writes_it(tmp_path, capsys):
    judged(a_run(tmp_path / "run"), ScriptedModel(["판정: 합격"], name="j"))
    assert main(["report", str(tmp_path / "run"), "--judge"]) == 0
    assert "judge j" in capsys.readouterr().out
    assert (
        (tmp_path / "run" / "report" / "judge_agreement.csv")
        .read_text("utf-8")
        .startswith("run,first,second")
    )
