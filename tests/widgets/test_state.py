"""The explorer's state: every click is a function from one value to the next."""

import unicodedata
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fcb_toolkit.annotations import Annotations
from fcb_toolkit.records import Case, FailureKind, Reply, Verdict
from fcb_toolkit.runs import Run
from fcb_toolkit.widgets.state import (
    FACETS,
    PAGE,
    State,
    by_metric,
    choose,
    listing,
    look_for,
    next_failure,
    only,
    select,
    settle,
    step,
    turn,
)
from fcb_toolkit.widgets.table import Table, View

KINDS = (FailureKind.WRONG_VALUE, FailureKind.MISSING_CALL)


def synthetic(outcomes, name="toy", tokens=None):
    """A run whose i-th case has the i-th outcome (p, f or n), without any text to parse."""
    cases, replies, verdicts = [], [], {}
    for number, outcome in enumerate(outcomes):
        case_id = f"toy/{number}"
        cases.append(
            Case(
                case_id,
                "toy",
                ({"role": "user", "content": f"질문 {number}"},),
                ground_truth={"name": f"tool_{number % 3}", "arguments": "{}"},
                category=("call", "slot")[number % 2],
            )
        )
        replies.append(Reply(case_id, f"답 {number}", reply_tokens=tokens[number] if tokens else None))
        made = {
            "p": Verdict.passed(),
            "f": Verdict.failed(KINDS[number % 2], "r"),
            "n": Verdict.not_scored("r"),
        }
        verdicts[(case_id, 0)] = made[outcome]
    return Run({"model": {"id": name}}, tuple(cases), tuple(replies), {"call_match": verdicts})


def counts(shown, facet):
    return dict(shown.counts[facet])


def test_without_filters_everything_is_listed_and_counted():
    table = Table([synthetic("ppffn")])
    shown = listing(table, State())
    assert shown.rows.tolist() == [0, 1, 2, 3, 4]
    assert counts(shown, "verdict") == {"pass": 2, "fail": 2, "not_scored": 1}
    assert counts(shown, "failure") == {"—": 3, "wrong_value": 1, "missing_call": 1}
    assert counts(shown, "tool") == {"tool_0": 2, "tool_1": 2, "tool_2": 1}


def test_the_count_beside_a_choice_is_what_it_would_leave():
    table = Table([synthetic("pfpfpf" * 5)])
    state = choose(State(), "verdict", "fail")
    shown = listing(table, state)
    assert counts(shown, "tool") == {"tool_0": 5, "tool_1": 5, "tool_2": 5}
    for tool, number in shown.counts["tool"]:
        assert len(listing(table, choose(state, "tool", tool)).rows) == number
    assert counts(shown, "verdict") == {"pass": 15, "fail": 15}, (
        "its own filter does not hide its other choices"
    )


def test_a_choice_that_nothing_has_any_more_stays_to_be_taken_back():
    table = Table([synthetic("pp")])
    shown = listing(table, choose(State(), "failure", "wrong_value"))
    assert (len(shown.rows), counts(shown, "failure")["wrong_value"]) == (0, 0)


@given(
    st.lists(st.sampled_from("pfn"), min_size=1, max_size=70),
    st.dictionaries(
        st.sampled_from(["verdict", "failure", "tool", "category"]),
        st.sampled_from(["fail", "pass", "wrong_value", "missing_call", "tool_1", "call", "slot"]),
        max_size=3,
    ),
    st.lists(st.sampled_from(["next", "previous", "failure", "page", "back"]), max_size=12),
)
@settings(deadline=None)
def test_whatever_is_pressed_the_open_item_is_in_the_list_and_on_the_page(outcomes, filters, presses):
    table = Table([synthetic("".join(outcomes))])
    state = only(State(), filters)
    shown = listing(table, state)
    state = settle(state, shown)
    for press in presses:
        if press in ("page", "back"):
            state = turn(state, shown, 1 if press == "page" else -1)
            assert 0 <= state.page < shown.pages
            continue
        moved = {
            "next": lambda s: step(s, shown, 1),
            "previous": lambda s: step(s, shown, -1),
            "failure": lambda s: next_failure(s, shown, table),
        }[press](state)
        state = moved
    assert (state.selected is None) == (len(shown.rows) == 0)
    if state.selected is not None:
        assert state.selected in shown.rows
        assert state.selected in shown.on_page(select(state, shown, state.selected).page)


def test_next_and_previous_stop_at_the_ends():
    table = Table([synthetic("pfp")])
    shown = listing(table, State())
    first = settle(State(), shown)
    assert step(first, shown, -1).selected == 0
    assert step(step(step(first, shown, 1), shown, 1), shown, 1).selected == 2


def test_next_failure_skips_what_passes_and_begins_again_after_the_last():
    table = Table([synthetic("pfppf")])
    shown = listing(table, State())
    state, seen = State(), []
    for _ in range(3):
        state = next_failure(state, shown, table)
        seen.append(state.selected)
    assert seen == [1, 4, 1]


def test_next_failure_without_a_failure_stays():
    table = Table([synthetic("pp")])
    shown = listing(table, State())
    assert next_failure(settle(State(), shown), shown, table).selected == 0


def test_the_list_is_cut_into_pages_and_a_step_turns_them():
    table = Table([synthetic("p" * (PAGE + 1))])
    shown = listing(table, State())
    assert (shown.pages, len(shown.on_page(0)), len(shown.on_page(1))) == (2, PAGE, 1)
    state = select(State(), shown, PAGE - 1)
    assert state.page == 0
    assert step(state, shown, 1).page == 1


def test_a_filter_keeps_the_open_item_if_it_is_still_listed():
    table = Table([synthetic("pfpf")])
    state = replace(choose(State(), "verdict", "fail"), selected=3)
    assert settle(state, listing(table, state)).selected == 3
    state = replace(choose(State(), "verdict", "pass"), selected=3)
    assert settle(state, listing(table, state)).selected == 0


def test_the_search_takes_all_words_in_any_unicode_form_and_letter_case():
    table = Table([synthetic("ppp")])
    assert listing(table, look_for(State(), "질문 1")).rows.tolist() == [1]
    assert listing(table, look_for(State(), unicodedata.normalize("NFD", "답 2"))).rows.tolist() == [2]
    assert listing(table, look_for(State(), "TOOL_0")).rows.tolist() == [0]
    assert listing(table, look_for(State(), "질문 없음")).rows.tolist() == []
    assert len(listing(table, look_for(State(), "  ")).rows) == 3


def test_tokens_are_filtered_by_size():
    table = Table([synthetic("pppp", tokens=[0, 16, 17, None])])
    shown = listing(table, State())
    assert counts(shown, "reply tokens") == {"0 to 16": 2, "17 to 32": 1, "unknown": 1}


def test_another_metric_decides_the_verdicts():
    run = synthetic("pf")
    run.verdicts["decision"] = {
        ("toy/0", 0): Verdict.failed(KINDS[0], "r"),
        ("toy/1", 0): Verdict.failed(KINDS[0], "r"),
    }
    table = Table([run])
    state = by_metric(choose(State(), "failure", "missing_call"), "decision")
    assert "failure" not in state.filters
    assert counts(listing(table, state), "verdict") == {"fail": 2}


def test_metrics_that_disagree_are_a_filter():
    run = synthetic("pfn")
    run.verdicts["decision"] = {key: Verdict.failed(KINDS[0], "r") for key in run.verdicts["call_match"]}
    table = Table([run])
    shown = listing(table, State())
    assert counts(shown, "disagreement") == {"any": 1, "call_match ≠ decision": 1}
    assert listing(table, choose(State(), "disagreement", "any")).rows.tolist() == [0]


def test_a_question_is_filed_under_the_tool_that_its_metric_names():
    run = synthetic("p")
    case = replace(run.cases[0], ground_truth={"content": "언제요?"}, type_of_output="slot")
    named = {("toy/0", 0): Verdict.passed("", tool="get_weather")}
    for verdicts, tool in (({"slot": named}, "get_weather"), ({}, "—")):
        table = Table([replace(run, cases=(case,), verdicts=verdicts)])
        assert counts(listing(table, State()), "tool") == {tool: 1}


def test_judges_that_disagree_are_a_filter():
    run = synthetic("pp")
    run.verdicts["rubric"] = {
        ("toy/0", 0): Verdict.passed("", votes={"a": "pass", "b": "fail"}),
        ("toy/1", 0): Verdict.passed("", votes={"a": "pass", "b": "pass"}),
    }
    assert listing(Table([run]), choose(State(), "disagreement", "judges")).rows.tolist() == [0]


def test_quadrants_count_two_runs_over_the_same_items():
    table = Table([synthetic("ppffp"), synthetic("pfpfn")])
    shown = listing(table, State(View(0, "", 1)))
    assert counts(shown, "quadrant") == {
        "both right": 1,
        "only A right": 1,
        "only B right": 1,
        "both wrong": 1,
        "not comparable": 1,
    }


def test_an_item_that_one_run_lacks_is_listed_without_a_reply():
    table = Table([synthetic("pp"), synthetic("ppf")])
    assert len(table) == 3
    assert counts(listing(table, State()), "verdict") == {"pass": 2, "no reply": 1}


def test_samples_of_one_case_are_rows_of_their_own():
    run = synthetic("p")
    run = replace(run, replies=(*run.replies, Reply("toy/0", "again", 1)))
    table = Table([run])
    assert table.keys == (("toy/0", 0), ("toy/0", 1))


def test_annotations_are_a_filter():
    notes = Annotations(None)
    notes.edit(("toy/1", 0), "call_match", None, outcome="pass")
    notes.edit(("toy/0", 0), "call_match", None, note="x", tag="date")
    notes.edit(("gone/9", 0), "call_match", None, note="of a case that is not in the run")
    table = Table([synthetic("pf")])
    shown = listing(table, State(), notes)
    assert counts(shown, "annotation") == {"corrected": 1, "with a note": 1, "tag: date": 1}
    assert listing(table, choose(State(), "annotation", "corrected"), notes).rows.tolist() == [1]
    assert listing(table, choose(State(), "annotation", "corrected"), Annotations(None)).rows.tolist() == []


def test_every_facet_can_be_drawn_for_a_run_without_verdicts():
    run = replace(synthetic("pf"), verdicts={})
    shown = listing(Table([run]), State())
    assert set(shown.counts) == set(FACETS)
    assert counts(shown, "verdict") == {"not_scored": 2}


def test_a_listing_of_nothing_has_one_empty_page():
    shown = listing(Table([synthetic("p")]), look_for(State(), "없음"))
    assert (shown.pages, shown.on_page(0).tolist(), shown.place(0)) == (1, [], None)
    assert settle(State(), shown).selected is None
    assert isinstance(shown.rows, np.ndarray)
