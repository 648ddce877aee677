"""The same question in another order: what flips, with its interval; and nothing where nothing was asked."""

import json
import math

import pytest
from judging_toys import a_run

from fcb_toolkit.cli import main
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.judging import JudgeOptions, audit, judged, load_rubrics, plan, read_verdict
from fcb_toolkit.judging.orders import reordered
from fcb_toolkit.judging.rubrics import KINDS, LANGUAGES, Rubric
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.statistics import wilson

BOTH = JudgeOptions(orders=("given", "verdicts"))


def named_last(messages, tools):
    """A judge without a mind of its own: it repeats the last line that it may choose."""
    return messages[0]["content"].strip().splitlines()[-1]


def named_first(messages, tools):
    return messages[0]["content"].strip().splitlines()[-2]


def constant(messages, tools):
    return "판정: 합격"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["verdicts", "material"])
def test_another_order_has_the_same_lines(language, kind, order):
    rubric = load_rubrics(language)[kind]
    text = reordered(rubric, order).text
    assert text != rubric.text
    assert sorted(text.splitlines()) == sorted(rubric.text.splitlines())
    lines = text.strip().splitlines()
    assert [read_verdict(line) for line in lines[-2:]] == (
        ["fail", "pass"] if order == "verdicts" else ["pass", "fail"]
    )
    assert (text.index("{response}") < text.index("{ground_truth}")) == (order == "material")
    if kind == "call":
        # Alternatives stay with the model answer that they belong to.
        assert text.index("{ground_truth}") < text.index("{acceptable_arguments}")


def test_the_official_rubrics_can_be_asked_with_the_reply_first_only(fcb_data):
    rubrics = load_rubrics(folder=fcb_data / "functionchat")
    for rubric in rubrics.values():
        text = reordered(rubric, "material").text
        assert text.index("{response}") < text.index("{ground_truth}")
        assert sorted(text.splitlines()) == sorted(rubric.text.splitlines())
        with pytest.raises(
            DataError, match="cannot be asked in the order 'verdicts'; expected two lines at its end"
        ):
            reordered(rubric, "verdicts")


def test_a_rubric_without_blocks_and_an_unknown_order_are_told():
    with pytest.raises(DataError, match="rubric slot \\(mine\\): cannot be asked in the order 'material'"):
        reordered(Rubric("slot", "Is {response} like {ground_truth}?", "mine"), "material")
    with pytest.raises(UnknownName, match="order of a rubric 'other'"):
        JudgeOptions(orders=("other",))
    with pytest.raises(DataError, match="expected each of given, verdicts, material at most once"):
        JudgeOptions(orders=("given", "given"))


@pytest.mark.parametrize(
    ("script", "flips", "shift"), [(named_last, 1.0, 1.0), (named_first, 1.0, -1.0), (constant, 0.0, 0.0)]
)
def test_flips_and_their_direction(script, flips, shift):
    run = judged(a_run(count=9), ScriptedModel(script, name="j"), BOTH)
    (row,) = audit(run).position.to_dict("records")
    assert (row["judge"], row["order"], row["items"], row["unread"]) == ("j", "verdicts", 8, 0)
    assert (row["flip_rate"], row["shift"], row["flipped"]) == (flips, shift, 8 * flips)
    assert row["low"] <= row["flip_rate"] <= row["high"] and row["high"] - row["low"] > 0.1
    assert row["shift_low"] <= row["shift"] <= row["shift_high"]


def test_the_interval_is_wilsons_where_items_are_independent():
    """Of 10 items, the judge follows the order on three."""

    def script(messages, tools):
        text = messages[0]["content"]
        swayed = any(f" {number}?" in text for number in (2, 3, 4))
        return named_last(messages, tools) if swayed else "판정: 합격"

    run = judged(a_run(count=11), ScriptedModel(script), BOTH)
    (row,) = audit(run).position.to_dict("records")
    assert (row["items"], row["flipped"], row["flip_rate"]) == (10, 3, pytest.approx(0.3))
    assert (row["low"], row["high"]) == pytest.approx(wilson(3, 10))
    assert (row["pass_given"], row["pass_other"]) == (pytest.approx(0.7), 1.0)


def test_a_verdict_that_turns_with_the_order_is_not_scored():
    run = judged(a_run(count=3), ScriptedModel(named_last), BOTH)
    verdict = run.verdicts["rubric"]["jsonl/2", 0]
    assert (verdict.outcome, verdict.reason) == ("not_scored", "a tie: 1 pass, 1 fail, 0 unreadable")
    assert [(v["order"], v["verdict"]) for v in verdict.details["votes"]] == [
        ("given", "fail"),
        ("verdicts", "pass"),
    ]


def test_votes_of_two_orders_are_no_repetition_of_each_other():
    run = judged(a_run(count=4), ScriptedModel(named_last), BOTH)
    (row,) = audit(run).judges.to_dict("records")
    assert (row["votes"], row["repeated_items"], row["flipped"]) == (6, 0, 0)


def test_an_item_unread_in_one_order_is_counted_and_left_out():
    def script(messages, tools):
        lines = messages[0]["content"].strip().splitlines()
        return "글쎄요." if "2번" in messages[0]["content"] and "합격" in lines[-1] else "판정: 합격"

    run = judged(a_run(count=4), ScriptedModel(script), BOTH)
    (row,) = audit(run).position.to_dict("records")
    assert row["items"] + row["unread"] == 3 and row["unread"] >= 1


def test_where_no_item_is_read_in_both_orders_there_is_no_number():
    run = judged(a_run(count=4), ScriptedModel(["글쎄요."]), BOTH)
    (row,) = audit(run).position.to_dict("records")
    assert (row["items"], row["unread"]) == (0, 3)
    assert all(math.isnan(row[name]) for name in ("flip_rate", "low", "high", "shift", "pass_given"))


def test_the_second_asking_names_the_verdicts_in_the_order_too():
    asked = []

    def script(messages, tools):
        asked.append(messages[0]["content"])
        return "글쎄요."

    judged(a_run(count=3), ScriptedModel(script), BOTH)
    again = [text.splitlines()[-1] for text in asked if "한 줄만" in text]
    assert {line.index("'판정: 합격'") < line.index("'판정: 불합격'") for line in again} == {True, False}


def test_a_plan_counts_the_calls_of_both_orders():
    assert plan(a_run(count=5), ScriptedModel(["x"]), BOTH).calls == 8


def test_the_command_judges_in_both_orders_and_the_report_has_the_flips(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "run"
    a_run(folder, 6)
    monkeypatch.setattr("fcb_toolkit.models.load_model", lambda name: ScriptedModel(named_last, name=name))
    assert main(["judge", str(folder), "--judge", "j"]) == 0
    capsys.readouterr()
    assert main(["report", str(folder), "--judge"]) == 0
    assert "position bias: not measured; judge with fcb judge --both-orders" in capsys.readouterr().out
    assert not (folder / "report" / "judge_position.csv").exists()
    assert main(["report", str(folder), "--judge", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["judge_position"] == []

    assert main(["judge", str(folder), "--judge", "j", "--both-orders"]) == 0
    capsys.readouterr()
    assert main(["report", str(folder), "--judge"]) == 0
    assert "not measured" not in capsys.readouterr().out
    csv = (folder / "report" / "judge_position.csv").read_text("utf-8")
    assert csv.startswith("run,judge,order,items,clusters,unread,flipped,flip_rate,low,high,")
    assert ",verdicts,5,5,0,5,1.0," in csv
    assert main(["judge", str(folder), "--judge", "j", "--both-orders", "--swap", "material"]) == 0
    assert main(["report", str(folder), "--judge", "--json"]) == 0
    out = capsys.readouterr().out
    (row,) = json.loads(out[out.index("{") :])["judge_position"]
    assert (row["order"], row["flipped"]) == ("material", 0)
