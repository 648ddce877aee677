"""Annotations beside a run: what holds, who said it, and what survives."""

import json
import multiprocessing
import os
import signal
from dataclasses import replace
from itertools import permutations

import pytest

from fcb_toolkit.annotations import Annotations, Variant, keep, read_variants
from fcb_toolkit.annotations.log import Log
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Case, FailureKind, Reply, Verdict

KEY = ("toy/1", 0)
FAILED = Verdict.failed(FailureKind.WRONG_VALUE, "city: expected 서울, found 부산")


def lines(folder):
    return (folder / "annotations.jsonl").read_text("utf-8").splitlines()


def test_an_edit_says_who_when_what_and_what_was_before(tmp_path):
    notes = Annotations(tmp_path, "kim")
    notes.edit(KEY, "call_match", FAILED, outcome="pass", failure=None)
    notes.edit(KEY, "call_match", FAILED, outcome="fail", failure="wrong_type")
    first, second = map(json.loads, lines(tmp_path))
    assert first["values"] == {"outcome": "pass", "failure": None}
    assert first["before"] == {"outcome": "fail", "failure": "wrong_value"}
    assert second["before"] == {"outcome": "pass", "failure": None}
    assert (first["who"], first["metric"], first["case_id"], first["sample"]) == (
        "kim",
        "call_match",
        "toy/1",
        0,
    )
    assert first["when"] < second["when"] and first["when"].endswith("+00:00")


def test_what_holds_is_read_again_after_a_restart(tmp_path):
    Annotations(tmp_path, "kim").edit(
        KEY, "call_match", FAILED, outcome="pass", failure=None, note="둘 다 맞음"
    )
    found = Annotations(tmp_path, "lee").of(KEY, "call_match")
    assert (found.outcome, found.note, found.who, found.corrected) == ("pass", "둘 다 맞음", "kim", True)


def test_a_correction_belongs_to_one_metric_and_a_note_to_the_item(tmp_path):
    notes = Annotations(tmp_path)
    notes.edit(KEY, "call_match", FAILED, outcome="pass", note="n")
    assert notes.of(KEY, "decision").outcome is None
    assert notes.of(KEY, "decision").note == "n"
    assert not notes.of(("toy/2", 0), "call_match")


def test_undo_takes_back_this_notebooks_edits_one_by_one(tmp_path):
    notes = Annotations(tmp_path, "kim")
    notes.edit(KEY, "call_match", FAILED, outcome="pass")
    notes.edit(KEY, "call_match", FAILED, note="x")
    assert notes.undo().values == {"note": "x"}
    assert notes.of(KEY, "call_match").note is None
    assert notes.undo().values == {"outcome": "pass"}
    assert not notes.of(KEY, "call_match")
    assert notes.undo() is None
    assert len(lines(tmp_path)) == 4, "an undo is one more line, nothing is removed"


def test_undo_leaves_what_somebody_else_set_later(tmp_path):
    kim, lee = Annotations(tmp_path, "kim"), Annotations(tmp_path, "lee")
    kim.edit(KEY, "m", FAILED, note="kim's", tag="date")
    lee.edit(KEY, "m", FAILED, note="lee's")
    kim.undo()
    assert (kim.of(KEY, "m").note, kim.of(KEY, "m").tag) == ("lee's", None)


def test_after_a_restart_the_last_edit_of_an_item_can_be_undone(tmp_path):
    Annotations(tmp_path, "kim").edit(KEY, "m", FAILED, note="x")
    again = Annotations(tmp_path, "kim")
    assert again.undoable() is None
    assert again.undo(KEY).values == {"note": "x"}


def test_two_notebooks_see_each_other(tmp_path):
    kim, lee = Annotations(tmp_path, "kim"), Annotations(tmp_path, "lee")
    kim.edit(KEY, "m", FAILED, note="from kim")
    assert lee.of(KEY, "m").note is None
    assert lee.refresh() is True
    assert lee.of(KEY, "m").note == "from kim"
    assert lee.refresh() is False
    lee.edit(KEY, "m", FAILED, note="from lee")
    kim.edit(KEY, "m", FAILED, tag="t")
    assert (kim.of(KEY, "m").note, kim.of(KEY, "m").tag) == ("from lee", "t")
    assert json.loads(lines(tmp_path)[1])["before"] == {"note": "from kim"}


def test_the_last_edit_in_time_holds_in_whatever_order_the_lines_stand(tmp_path):
    notes = Annotations(tmp_path)
    for text in ("a", "b", "c"):
        notes.edit(KEY, "m", FAILED, note=text)
    notes.undo()
    for number, order in enumerate(permutations(lines(tmp_path))):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "annotations.jsonl").write_text("".join(line + "\n" for line in order), "utf-8")
        assert Annotations(folder).of(KEY, "m").note == "b"


def test_a_machine_whose_clock_is_behind_does_not_lose_its_edit(tmp_path):
    notes = Annotations(tmp_path)
    notes.edit(KEY, "m", FAILED, note="old")
    ahead = lines(tmp_path)[0].replace(
        json.loads(lines(tmp_path)[0])["when"], "2999-01-01T00:00:00.000000+00:00"
    )
    (tmp_path / "annotations.jsonl").write_text(ahead + "\n", "utf-8")
    notes.edit(KEY, "m", FAILED, note="new")
    assert Annotations(tmp_path).of(KEY, "m").note == "new"


def test_a_half_written_line_is_dropped_at_every_byte_and_the_next_edit_is_whole(tmp_path):
    notes = Annotations(tmp_path, "kim")
    notes.edit(KEY, "m", FAILED, note="first")
    notes.edit(KEY, "m", FAILED, note="둘째")
    raw = (tmp_path / "annotations.jsonl").read_bytes()
    whole = raw.index(b"\n") + 1
    for end in range(whole, len(raw)):
        folder = tmp_path / str(end)
        folder.mkdir()
        (folder / "annotations.jsonl").write_bytes(raw[:end])
        again = Annotations(folder, "lee")
        assert again.of(KEY, "m").note == "first"
        again.edit(KEY, "m", FAILED, tag="t")
        assert [json.loads(line)["values"] for line in lines(folder)] == [{"note": "first"}, {"tag": "t"}]


def write_many(folder, who, number):
    notes = Annotations(folder, who)
    for count in range(number):
        notes.edit((f"toy/{who}/{count}", 0), "m", FAILED, note=f"{who} {count}" * 50)


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(tmp_path, who, 25)) for who in ("kim", "lee", "park")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    notes = Annotations(tmp_path)
    assert len(notes.edits) == 75
    assert len({edit.when for edit in notes.edits}) == 75


def write_until_killed(folder, ready):
    notes = Annotations(folder, "kim")
    count = 0
    while True:
        notes.edit((f"toy/{count}", 0), "m", FAILED, note="가" * 5000)
        count += 1
        ready.send(count)


def test_a_process_killed_while_it_writes_leaves_a_file_that_opens_and_no_lock(tmp_path):
    context = multiprocessing.get_context("spawn")
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        here, there = context.Pipe(duplex=False)
        writer = context.Process(target=write_until_killed, args=(folder, there))
        writer.start()
        there.close()
        said = 0
        while said < 20 + attempt:
            said = here.recv()
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        try:
            while True:
                said = here.recv()
        except EOFError:
            here.close()
        notes = Annotations(folder, "lee")
        assert len(notes.edits) >= said, "what was said to be saved is there"
        notes.edit(KEY, "m", FAILED, note="after")
        assert Annotations(folder).of(KEY, "m").note == "after"


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    (tmp_path / "annotations.jsonl").write_text('{"a": \n{"b": 1}\n', "utf-8")
    with pytest.raises(DataError, match=r"annotations.jsonl line 1: not a JSON object, in the middle"):
        Annotations(tmp_path)


def test_an_edit_without_its_parts_is_an_error(tmp_path):
    (tmp_path / "annotations.jsonl").write_text('{"id": "x"}\n', "utf-8")
    with pytest.raises(DataError, match="an edit is incomplete"):
        Annotations(tmp_path)


def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    notes = Annotations(tmp_path / "was removed")
    with pytest.raises(DataError, match="cannot be written"):
        notes.edit(KEY, "m", FAILED, note="x")


def test_a_run_without_a_folder_keeps_its_annotations_in_memory():
    notes = Annotations(None)
    notes.edit(KEY, "m", FAILED, outcome="pass")
    assert notes.path is None and notes.of(KEY, "m").outcome == "pass"


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"outcome": "right"}, UnknownName, "unknown outcome 'right'"),
        ({"failure": "wrong_city"}, UnknownName, "unknown failure 'wrong_city'"),
        ({"colour": "red"}, UnknownName, "unknown annotation field 'colour'"),
        ({"outcome": "pass", "failure": "wrong_value"}, DataError, "a verdict of 'pass' has no failure kind"),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(values, error, text):
    with pytest.raises(error, match=text):
        Annotations(None).edit(KEY, "m", FAILED, **values)


def test_a_note_with_a_lone_surrogate_is_kept(tmp_path):
    Annotations(tmp_path).edit(KEY, "m", FAILED, note="a\ud800b")
    assert Annotations(tmp_path).of(KEY, "m").note == "a\ud800b"


def test_the_name_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("FCB_USER", "park")
    assert Annotations(tmp_path).edit(KEY, "m", FAILED, note="x").who == "park"


def test_a_log_hands_each_writer_all_rows_before_its_own(tmp_path):
    one, two = Log(tmp_path / "log.jsonl"), Log(tmp_path / "log.jsonl")
    one.append(lambda rows: {"n": len(rows)})
    two.append(lambda rows: {"n": len(rows)})
    assert one.append(lambda rows: {"n": len(rows)}) == {"n": 2}


def test_a_variant_is_read_back_as_it_was_kept(tmp_path):
    case = Case("toy/1", "toy", ({"role": "user", "content": "서울 날씨"},), ground_truth={"name": "f"})
    variant = Variant(
        case=case,
        reply=Reply("toy/1", "\ud800 안녕", reply_tokens=3),
        verdicts={"call_match": replace(FAILED, metric="call_match")},
        changes=("system prompt",),
        prompt="<s>",
        model="m",
        generation={"seed": 1},
        who="kim",
    )
    keep(tmp_path, variant)
    assert read_variants(tmp_path) == (variant,)


def test_a_variant_that_cannot_be_read_names_its_file(tmp_path):
    (tmp_path / "variants.jsonl").write_text('{"id": "x"}\n', "utf-8")
    with pytest.raises(DataError, match=r"variants.jsonl: a variant cannot be read"):
        read_variants(tmp_path)
