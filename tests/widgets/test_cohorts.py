"""Groups of failures, suspect gold, and rates before and after correction."""

from test_state import KINDS, synthetic

from fcb_toolkit.annotations import Annotations
from fcb_toolkit.records import Verdict
from fcb_toolkit.widgets.cohorts import Cohort, Rate, Suspect, cohorts, corrected_rate, rate, suspects
from fcb_toolkit.widgets.state import State, choose, listing
from fcb_toolkit.widgets.table import Table, View


def test_cohorts_count_failures_by_kind_tool_and_category():
    table = Table([synthetic("ffpfpfn")])
    found = cohorts(table, View())
    assert found[0] == Cohort("missing_call", "tool_0", "slot", failures=1, of=1)
    assert sum(one.failures for one in found) == 4
    assert {(one.tool, one.category): one.of for one in found} == {
        ("tool_0", "call"): 1,
        ("tool_1", "slot"): 1,
        ("tool_0", "slot"): 1,
        ("tool_2", "slot"): 1,
    }


def test_a_cohort_leads_to_exactly_its_items():
    table = Table([synthetic("ffpfpfnffffp" * 4)])
    for one in cohorts(table, View()):
        state = State(
            filters={"verdict": "fail", "failure": one.failure, "tool": one.tool, "category": one.category}
        )
        assert len(listing(table, state).rows) == one.failures


def test_cohorts_can_be_grouped_by_fewer_parts():
    table = Table([synthetic("ffpp")])
    assert cohorts(table, View(), parts=("failure",)) == (
        Cohort("missing_call", "", "", 1, 4),
        Cohort("wrong_value", "", "", 1, 4),
    )


def test_cohorts_count_only_the_items_that_pass_the_filters():
    table = Table([synthetic("ffff")])
    rows = listing(table, choose(State(), "category", "call")).rows
    assert [one.failures for one in cohorts(table, View(), rows, ("category",))] == [2]


def test_a_run_without_failures_has_no_cohorts():
    assert cohorts(Table([synthetic("pp")]), View()) == ()


def test_gold_is_suspect_where_all_runs_fail():
    table = Table([synthetic("ffp"), synthetic("fpp")])
    assert suspects(table, View()) == (Suspect(0, ("all 2 runs fail",)),)


def test_gold_is_suspect_where_a_judge_contradicts_it():
    run = synthetic("fp")
    run.verdicts["rubric"] = {("toy/0", 0): Verdict.passed(), ("toy/1", 0): Verdict.passed()}
    assert suspects(Table([run]), View()) == (Suspect(0, ("rubric contradicts the gold",)),)


def test_one_run_without_a_judge_makes_nothing_suspect():
    assert suspects(Table([synthetic("ff")]), View()) == ()


def test_corrections_stand_beside_the_uncorrected_rate():
    table = Table([synthetic("pffn")])
    notes = Annotations(None)
    assert corrected_rate(table, View(), notes) == (rate(table, View()), 0)
    notes.edit(("toy/1", 0), "call_match", None, outcome="pass")
    notes.edit(("toy/2", 0), "call_match", None, outcome="not_scored")
    notes.edit(("toy/0", 0), "call_match", None, outcome="pass")
    assert rate(table, View()) == Rate(1, 3, 1)
    assert corrected_rate(table, View(), notes) == (Rate(2, 2, 2), 2)
    assert Rate(0, 0, 5).rate is None


def test_a_correction_of_one_metric_leaves_the_others_alone():
    run = synthetic("f")
    run.verdicts["decision"] = {("toy/0", 0): Verdict.failed(KINDS[0], "r")}
    table, notes = Table([run]), Annotations(None)
    notes.edit(("toy/0", 0), "decision", None, outcome="pass")
    assert corrected_rate(table, View(metric="decision"), notes)[0].passes == 1
    assert corrected_rate(table, View(), notes)[0].passes == 0
