"""Rubrics, votes, majority, cache."""

import json
import string
from pathlib import Path

import pytest
from judging_toys import a_run

import fcb_toolkit as fcb
from fcb_toolkit.cli import main
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.judging import JudgeOptions, judge, judged, load_rubrics, plan, read_verdict, read_votes
from fcb_toolkit.judging.rubrics import KINDS, LANGUAGES, PLACES, fill
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.records import Generation

YES, NO = "이유.\n판정: 합격", "이유.\n판정: 불합격"


class Counting(ScriptedModel):
    def __init__(self, script, name="judge"):
        super().__init__(script, name=name)
        self.asked = []

    def generate(self, prompts, settings: Generation):
        self.asked += [prompt.messages[0]["content"] for prompt in prompts]
        return super().generate(prompts, settings)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_our_rubrics_show_all_that_is_needed_and_end_in_both_verdict_lines(language, kind):
    text = load_rubrics(language)[kind].text
    places = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    assert places == set(PLACES) - (set() if kind == "call" else {"acceptable_arguments"})
    passes, fails = text.strip().splitlines()[-2:]
    assert (read_verdict(passes), read_verdict(fails)) == ("pass", "fail")
    assert read_verdict(text[text.index("{response}") :].rsplit("\n", 3)[0]) is None


def test_our_rubrics_share_no_sentence_with_the_official_ones(fcb_data):
    for kind in KINDS:
        official = {
            line.strip("- ")
            for line in (fcb_data / "functionchat" / f"rubric_{kind}.txt").read_text("utf-8").splitlines()
        }
        ours = {line for language in LANGUAGES for line in load_rubrics(language)[kind].text.splitlines()}
        shared = {line for line in official & ours if len(line) > 25}
        assert not shared


def test_the_official_rubrics_are_taken_from_a_folder_and_filled(fcb_data):
    run = a_run()
    rubrics = load_rubrics(folder=fcb_data / "functionchat")
    prompt = fill(rubrics["call"], run.cases[1], run.answer(run.replies[1]))
    assert "서울특별시" in prompt and "Only ground truth is allowed." in prompt
    assert not any(f"{{{place}}}" in prompt for place in PLACES)


def test_a_place_inside_a_reply_is_not_filled():
    run = a_run()
    prompt = fill(load_rubrics()["slot"], run.cases[2], run.answer(run.replies[2]))
    assert "어느 도시 {tools} 말씀인가요, 2?" in prompt


def test_a_folder_without_rubrics_and_an_unknown_language_are_told(tmp_path):
    with pytest.raises(DataError, match="no rubric found, expected rubric_call.txt"):
        load_rubrics(folder=tmp_path)
    (tmp_path / "rubric_call.txt").write_text("nothing to fill")
    with pytest.raises(DataError, match="has no place {response}"):
        load_rubrics(folder=tmp_path)
    with pytest.raises(UnknownName, match="language of a rubric 'kr'"):
        load_rubrics("kr")


def test_the_judge_is_asked_only_of_what_the_exact_stage_leaves_open():
    model = Counting([YES])
    verdicts = judge(a_run(), model)
    assert len(model.asked) == 3
    assert all(verdict.outcome == "pass" for verdict in verdicts.values())
    assert verdicts["jsonl/0", 0].reason == "exact stage: functionchat_exact passes"
    assert verdicts["jsonl/1", 0].details["votes"][0]["verdict"] == "pass"


def test_the_judge_can_be_asked_of_all():
    model = Counting([NO])
    verdicts = judge(a_run(), model, JudgeOptions(every=True))
    assert len(model.asked) == 4
    assert [verdict.outcome for verdict in verdicts.values()] == ["fail"] * 4
    assert verdicts["jsonl/2", 0].failure is not None


def test_an_unreadable_verdict_is_asked_once_more_with_one_line_asked_for():
    model = Counting(lambda messages, tools: YES if "한 줄만" in messages[0]["content"] else "글쎄요.")
    verdicts = judge(a_run(count=3), model)
    assert len(model.asked) == 4
    assert verdicts["jsonl/2", 0].outcome == "pass"


def test_a_verdict_that_stays_unreadable_is_not_scored():
    model = Counting(["It depends."])
    verdicts = judge(a_run(count=3), model)
    assert len(model.asked) == 4
    assert verdicts["jsonl/2", 0].outcome == "not_scored"
    assert verdicts["jsonl/2", 0].reason == "no vote could be read, asked twice"


def voting(*answers):
    """One answer for each round of votes, all questions of a round alike."""
    rounds = iter(answers)

    class Rounds(Counting):
        def generate(self, prompts, settings):
            self.script = [next(rounds)]
            return super().generate(prompts, settings)

    return Rounds([""])


def test_the_majority_of_votes_decides_and_all_votes_are_kept():
    verdict = judge(a_run(count=3), voting(YES, NO, NO), JudgeOptions(votes=3))["jsonl/2", 0]
    assert verdict.outcome == "fail"
    assert [vote["verdict"] for vote in verdict.details["votes"]] == ["pass", "fail", "fail"]
    assert verdict.reason.startswith("1 pass, 2 fail, 0 unreadable: 이유.")


def test_a_tie_is_not_scored():
    verdict = judge(a_run(count=3), voting(YES, NO), JudgeOptions(votes=2))["jsonl/2", 0]
    assert (verdict.outcome, verdict.reason) == ("not_scored", "a tie: 1 pass, 1 fail, 0 unreadable")


def test_several_judges_vote_together():
    judges = [Counting([YES], "a"), Counting([NO], "b"), Counting([NO], "c")]
    verdict = judge(a_run(count=3), judges)["jsonl/2", 0]
    assert verdict.outcome == "fail"
    assert [vote["judge"] for vote in verdict.details["votes"]] == ["a", "b", "c"]


def test_votes_and_verdicts_are_kept_beside_the_run_and_no_call_is_made_twice(tmp_path):
    run = a_run(tmp_path / "run")
    first = judged(run, Counting([NO]))
    assert fcb.load_run(tmp_path / "run").verdicts["rubric"] == first.verdicts["rubric"]
    again = Counting([YES])
    assert judge(fcb.load_run(tmp_path / "run"), again) == first.verdicts["rubric"]
    assert again.asked == []


def test_another_judge_rubric_setting_or_reply_is_another_call(tmp_path):
    run = a_run(tmp_path / "run")
    judge(run, Counting([NO]))
    for model, options in (
        (Counting([NO], "other"), JudgeOptions()),
        (Counting([NO]), JudgeOptions(language="en")),
        (Counting([NO]), JudgeOptions(max_new_tokens=99)),
    ):
        judge(run, model, options)
        assert len(model.asked) == 3


def test_a_half_written_vote_is_asked_again(tmp_path):
    run = a_run(tmp_path / "run")
    judge(run, Counting([NO]))
    file = tmp_path / "run" / "judge" / "votes.jsonl"
    file.write_bytes(file.read_bytes()[:-30])
    again = Counting([NO])
    judge(run, again)
    assert len(again.asked) == 1
    assert len(read_votes(tmp_path / "run")) == 3


def test_a_plan_counts_calls_tokens_and_cost_and_asks_nothing(tmp_path):
    run = a_run(tmp_path / "run")
    model = Counting([YES])
    found = plan(run, model, JudgeOptions(votes=2, max_new_tokens=100), (1.0, 10.0))
    assert (found.calls, found.cached, found.settled, found.reply_tokens) == (6, 0, 1, 600)
    assert found.cost == pytest.approx((found.prompt_tokens + 6000) / 1e6)
    assert model.asked == [] and not (tmp_path / "run" / "judge").exists()
    judge(run, model, JudgeOptions(votes=2, max_new_tokens=100))
    assert plan(run, model, JudgeOptions(votes=2, max_new_tokens=100)).calls == 0


def test_the_command_prints_a_plan(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    a_run(tmp_path / "run")
    status = main(
        ["judge", str(tmp_path / "run"), "--judge", "openai:m", "--dry-run", "--price", "1,2", "--json"]
    )
    assert status == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 3
    assert not Path(tmp_path / "run" / "judge").exists()


def test_votes_below_one_are_refused():
    with pytest.raises(DataError, match="votes is 0, expected 1 or more"):
        JudgeOptions(votes=0)
