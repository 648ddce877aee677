"""Sentences on why cases failed, and their groups."""

import pytest
from judging_toys import a_run

from fcb_toolkit.errors import DataError
from fcb_toolkit.judging import failure_notes, group_notes
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
