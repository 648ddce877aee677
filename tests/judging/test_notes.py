"""Sentences on why cases failed, and their groups."""

import json

import pytest
from judging_toys import a_run

import fcb_toolkit as fcb
from fcb_toolkit.cli import main
from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import read
from fcb_toolkit.judging import failure_notes, group_notes, judged
from fcb_toolkit.models import ScriptedModel


def test_failures_with_like_notes_are_grouped_largest_first():
    notes = {
        ("a", 0): "도시 인자의 값이 모범 답과 다르다.",
        ("b", 0): "날짜 인자의 값이 모범 답과 다릅니다.",
        ("c", 0): "필요한 정보를 되묻지 않고 호출했다.",
        ("d", 0): "도시 인자 값이 모범 답과 달랐다.",
        ("e", 0): "",
    }
    first, *others = group_notes(notes)
    assert set(first.keys) == {("a", 0), ("b", 0), ("d", 0)}
    assert "인자" in first.words and first.example in notes.values()
    assert sorted(group.keys for group in others) == [(("c", 0),), (("e", 0),)]


def test_one_note_and_none_are_no_error():
    assert [group.keys for group in group_notes({("a", 0): "why"})] == [(("a", 0),)]
    assert group_notes({}) == []
    with pytest.raises(DataError, match="distance is 2, expected a number between 0 and 1"):
        group_notes({("a", 0): "why"}, distance=2)


def test_a_judge_is_asked_of_failures_only_and_once(tmp_path):
    run = a_run(tmp_path / "run")
    failed = {("jsonl/1", 0), ("jsonl/2", 0)} & {
        key for rows in run.verdicts.values() for key, verdict in rows.items() if verdict.outcome == "fail"
    }
    assert failed
    asked = []

    def why(messages, tools):
        asked.append(messages)
        return "도시 이름이\n다르다."

    notes = failure_notes(run, ScriptedModel(why), "functionchat_exact")
    assert set(notes.values()) == {"도시 이름이 다르다."}
    count = len(asked)
    assert count == len(notes) > 0
    assert failure_notes(run, ScriptedModel(why), "functionchat_exact") == notes
    assert len(asked) == count


def judge_with(monkeypatch, script):
    monkeypatch.setattr("fcb_toolkit.models.load_model", lambda name: ScriptedModel(script, name=name))


def a_judged_run(folder, count=8):
    """Case 0 passes the exact stage; the judge passes case 1 and fails the questions."""
    verdicts = ScriptedModel(lambda m, t: "판정: 합격" if "1번" in m[0]["content"] else "판정: 불합격")
    return judged(a_run(folder, count), verdicts)


def why(messages, tools):
    text = messages[0]["content"]
    if "7번" in text:
        return "엉뚱한\x1b[31m 도구를 \x07불렀다."
    return (
        "날짜를 다시 물었다." if "2번" in text or "3번" in text else "도시의 이름만 묻고 지역은 묻지 않았다."
    )


def test_the_command_prints_groups_largest_first_and_stores_them(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "run"
    run = a_judged_run(folder)
    judge_with(monkeypatch, why)
    command = ["judge", str(folder), "--judge", "j", "--notes"]
    assert main([*command, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 6
    assert main(command) == 0
    out = capsys.readouterr().out
    counts = [int(line.split()[0]) for line in out.splitlines() if line[:5].strip().isdigit()]
    assert counts == [3, 2, 1]
    assert f"6 failed replies in 3 groups: {folder / 'judge' / 'notes.jsonl'}" in out
    assert "\x1b" not in out and "\x07" not in out
    rows = [row for _, row in read(folder / "judge" / "notes.jsonl")]
    assert [(row["case_id"], row["group"]) for row in rows] == [
        *((f"jsonl/{n}", 1) for n in (4, 5, 6)),
        *((f"jsonl/{n}", 2) for n in (2, 3)),
        ("jsonl/7", 3),
    ]
    assert rows[0]["note"] == "도시의 이름만 묻고 지역은 묻지 않았다." and "도시" in rows[0]["words"]
    # Notes are no verdicts: those of the run stay, and the audit counts none of them.
    assert fcb.load_run(folder).verdicts["rubric"] == run.verdicts["rubric"]
    assert main([*command, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 0
    assert main([*command, "--json"]) == 0
    assert [group["n"] for group in json.loads(capsys.readouterr().out)] == [3, 2, 1]


def test_notes_are_asked_of_the_rubrics_failures_else_of_the_cases_own_metric(tmp_path):
    run = a_judged_run(tmp_path / "run", 4)
    notes = failure_notes(run, ScriptedModel(why))
    assert set(notes) == {("jsonl/2", 0), ("jsonl/3", 0)}
    bare = a_run(tmp_path / "bare", 4)
    own = {
        key
        for rows in ("call_match", "slot")
        for key, v in bare.verdicts[rows].items()
        if v.outcome == "fail"
    }
    assert set(failure_notes(bare, ScriptedModel(why))) == own != set()


def test_notes_of_several_judges_or_an_unknown_metric_are_refused(tmp_path, capsys, monkeypatch):
    a_judged_run(tmp_path / "run", 3)
    judge_with(monkeypatch, why)
    command = ["judge", str(tmp_path / "run"), "--judge", "j", "--notes"]
    assert main([*command, "--judge", "k"]) == 2
    assert "--notes with 2 judges; expected one" in capsys.readouterr().err
    assert main([*command, "--metric", "rubrik"]) == 2
    assert "unknown metric (stored in this run) 'rubrik'. Did you mean 'rubric'?" in capsys.readouterr().err
