"""Several processes, one run: how cases are shared out, and files that are merged after a kill at any byte."""

import json
import shutil
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.runs import disk, processes
from fcb_toolkit.runs.folder import Shard, has_ended
from fcb_toolkit.runs.generate import Session, Work
from fcb_toolkit.runs.processes import Rank, launch_note, launched, run_launched
from fcb_toolkit.runs.split import shared_length, split

RIGHT = '{"name": "f", "arguments": {}}'


def case(serial, text="질문"):
    return fcb.Case.from_request(
        {"serial_num": serial, "messages": [{"role": "user", "content": f"{text} {serial}"}]}
    )


CASES = tuple(case(n) for n in range(9))


@settings(deadline=None, max_examples=300)
@given(st.lists(st.text("ab", max_size=30), max_size=40), st.integers(1, 9))
def test_every_text_is_in_one_part_and_no_part_is_empty(texts, parts):
    found = split(texts, parts)
    assert sorted(i for part in found for i in part) == list(range(len(texts)))
    assert all(found) and len(found) == min(parts, len(texts))


@settings(deadline=None)
@given(st.text("ab", max_size=20), st.text("ab", max_size=20))
def test_shared_length_is_that_of_the_common_prefix(a, b):
    n = shared_length(a, b)
    assert a[:n] == b[:n]
    assert n in (len(a), len(b)) or a[n] != b[n]


def test_texts_with_a_common_prefix_stay_together():
    tools = ["가" * 3000, "나" * 3000, "다" * 3000, "라" * 3000]
    texts = [f"{tools[n % 4]} 질문 {n}" for n in range(40)]
    for parts in (2, 4):
        found = split(texts, parts)
        assert [len({n % 4 for n in part}) for part in found] == [4 // parts] * parts


def test_one_long_group_is_cut_into_even_parts():
    texts = ["가" * 3000 + f" {n:03}" for n in range(100)]
    sizes = [len(part) for part in split(texts, 3)]
    assert sum(sizes) == 100 and max(sizes) - min(sizes) <= 10


def test_a_run_with_shards_opens_and_goes_on_wherever_they_were_cut(tmp_path):
    """Four replies in the main file, five in a shard cut at any byte: read, merged, and only the rest asked."""
    whole = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "whole", progress=False)
    lines = (tmp_path / "whole" / "replies.jsonl").read_bytes().splitlines(keepends=True)
    shard = b"".join(lines[4:])
    ends = [i + 1 for i, byte in enumerate(shard) if byte == 10]
    for cut in sorted({*range(0, len(shard), 41), *ends, *(end - 1 for end in ends)}):
        folder = tmp_path / f"cut-{cut}"
        shutil.copytree(tmp_path / "whole", folder)
        shutil.rmtree(folder / "verdicts")
        (folder / "replies.jsonl").write_bytes(b"".join(lines[:4]))
        (folder / "shards").mkdir()
        (folder / "shards" / "0a-1.jsonl").write_bytes(shard[:cut])
        kept = 4 + shard[:cut].count(b"\n")
        opened = fcb.load_run(folder)
        assert len(opened.replies) == kept
        asked = []
        again = fcb.evaluate(ScriptedModel([RIGHT]), CASES, folder, progress=False, on_reply=asked.append)
        assert len(asked) == 9 - kept
        assert again.verdicts == whole.verdicts and set(again.replies) == set(whole.replies)
        assert not (folder / "shards").exists()
        assert (folder / "replies.jsonl").read_bytes().count(b"\n") == 9


def test_merging_that_was_killed_before_the_shards_were_removed_is_done_again(tmp_path):
    fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path, progress=False)
    (tmp_path / "shards").mkdir()
    shutil.copy(tmp_path / "replies.jsonl", tmp_path / "shards" / "0a-1.jsonl")
    run = fcb.evaluate(ScriptedModel(["other"]), CASES, tmp_path, progress=False)
    assert [reply.case_id for reply in run.replies] == [c.id for c in CASES]
    assert (tmp_path / "replies.jsonl").read_bytes().count(b"\n") == 9 and not (tmp_path / "shards").exists()


def test_the_shard_of_a_process_that_still_writes_is_read_and_left(tmp_path):
    done = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "whole", progress=False)
    fcb.evaluate(ScriptedModel([RIGHT]), CASES[:3], tmp_path / "run", progress=False)
    shard = Shard(tmp_path / "run" / "shards" / "0a-1.jsonl")
    shard.add_reply(done.reply(CASES[5].id))
    assert not has_ended(tmp_path / "run" / "shards" / "0a-1.jsonl")
    fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    shard.add_reply(done.reply(CASES[6].id))
    shard.close()
    assert (tmp_path / "run" / "shards" / "0a-1.jsonl").read_bytes().count(b"\n") == 2
    last = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    assert len(last.replies) == 9 and not (tmp_path / "run" / "shards").exists()


def test_a_reply_that_ended_in_an_error_gives_way_to_one_in_a_shard(tmp_path):
    run = fcb.evaluate(ScriptedModel([RIGHT]), CASES[:1], tmp_path, progress=False)
    row = json.loads((tmp_path / "replies.jsonl").read_text(encoding="utf-8"))
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "0a-1.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    failed = {**row, "text": None, "finish_reason": "error"}
    (tmp_path / "replies.jsonl").write_text(json.dumps(failed) + "\n", encoding="utf-8")
    assert fcb.load_run(tmp_path).replies == run.replies


class Table:
    """The table of `huggingface_launch` among threads of one process."""

    def __init__(self):
        self.texts = {}
        self.changed = threading.Condition()

    def set(self, name, text):
        with self.changed:
            self.texts[name] = text
            self.changed.notify_all()

    def get(self, name):
        if not self.wait(name, 20):
            raise DataError(f"no {name} came")
        return self.texts[name]

    def wait(self, name, seconds):
        with self.changed:
            return self.changed.wait_for(lambda: name in self.texts, seconds)


def together(monkeypatch, out, models, works=None, patience=60):
    """One rank a model, each in a thread; gives what each returned or raised."""
    import fcb_toolkit.models.huggingface_launch as launch

    table, found = Table(), {}
    monkeypatch.setattr(launch, "Table", lambda seconds: table)
    monkeypatch.setattr(processes, "START_PATIENCE", patience)

    def one(rank):
        work = (works or {}).get(rank) or Work(CASES, fcb.Generation(), out, Session(False, None, None))
        try:
            found[rank] = run_launched(models[rank], work, Rank(rank, len(models)))
        except Exception as error:
            found[rank] = error

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(len(models))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return found


def test_three_processes_make_the_run_that_one_makes(monkeypatch, tmp_path):
    found = together(monkeypatch, tmp_path / "run", [ScriptedModel([RIGHT]) for _ in range(3)])
    alone = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "alone", progress=False)
    assert found[0].replies == alone.replies and found[0].prompts == alone.prompts
    assert [len(found[rank].replies) for rank in range(3)] == [9, 3, 3] and not found[1].verdicts
    assert fcb.load_run(tmp_path / "run").verdicts == alone.verdicts
    assert not (tmp_path / "run" / "shards").exists()


def test_more_processes_than_cases_leave_some_without_work(monkeypatch, tmp_path):
    work = Work(CASES[:2], fcb.Generation(), tmp_path / "run", Session(False, None, None))
    models = [ScriptedModel([RIGHT]) for _ in range(4)]
    found = together(monkeypatch, tmp_path / "run", models, dict.fromkeys(range(4), work))
    assert [len(found[rank].replies) for rank in range(4)] == [2, 1, 0, 0]


class Dying(ScriptedModel):
    def generate(self, prompts, settings):
        yield next(iter(super().generate(prompts, settings)))
        raise RuntimeError("CUDA error")


def test_a_process_that_dies_is_named_with_what_to_do(monkeypatch, tmp_path):
    models = [ScriptedModel([RIGHT]), Dying([RIGHT]), ScriptedModel([RIGHT])]
    found = together(monkeypatch, tmp_path / "run", models)
    assert str(found[1]) == "CUDA error"
    assert str(found[0]).startswith(
        "rank 1 ended with 2 of its 3 replies missing (its own error stands above"
    )
    assert "run the same command again, with any number of processes" in str(found[0])
    assert len(fcb.load_run(tmp_path / "run").replies) == 7
    found = together(monkeypatch, tmp_path / "run", [ScriptedModel([RIGHT]) for _ in range(2)])
    assert len(found[0].replies) == 9


def test_a_process_that_dies_before_its_first_reply_is_named_too(monkeypatch, tmp_path):
    def broken(file):
        raise RuntimeError("no such device")

    monkeypatch.setattr(processes, "Shard", broken)
    found = together(monkeypatch, tmp_path / "run", [ScriptedModel([RIGHT])] * 2, patience=0.1)
    assert "rank 1 ended with" in str(found[0])


def test_an_error_of_the_first_process_ends_the_others(monkeypatch, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    found = together(monkeypatch, tmp_path, [ScriptedModel([RIGHT]), ScriptedModel([RIGHT])])
    assert "is not empty and not a run" in str(found[0])
    assert str(found[1]).startswith("rank 1 of 2: rank 0 ended before the cases were shared out")


def test_a_process_with_another_model_or_other_cases_is_refused(monkeypatch, tmp_path):
    models = [ScriptedModel([RIGHT]), ScriptedModel([RIGHT], name="other")]
    found = together(monkeypatch, tmp_path / "a", models, patience=0.1)
    assert "rank 1 of 2: not the model or settings of rank 0" in str(found[1])
    assert "rank 1 ended with" in str(found[0])
    work = Work(
        (*CASES[:8], case(8, "다른 질문")), fcb.Generation(), tmp_path / "b", Session(False, None, None)
    )
    found = together(monkeypatch, tmp_path / "b", [ScriptedModel([RIGHT])] * 2, {1: work}, patience=0.1)
    assert "rank 1 of 2: not the cases of rank 0" in str(found[1])


def test_a_shard_that_no_disk_shares_is_named(monkeypatch, tmp_path):
    work = Work(CASES, fcb.Generation(), tmp_path / "elsewhere", Session(False, None, None))
    models = [ScriptedModel([RIGHT]), ScriptedModel([RIGHT])]
    found = together(monkeypatch, tmp_path / "here", models, {1: work})
    assert "all machines need the same disk there; without one use --engine ray" in str(found[0])


def test_several_processes_need_a_folder(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(
        DataError, match=r"several processes make one run on the disk; give evaluate\(\.\.\., out="
    ):
        fcb.evaluate(ScriptedModel([RIGHT]), CASES, engine="processes", progress=False)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"RANK": "0", "WORLD_SIZE": "1"}, None),
        ({"RANK": "1", "WORLD_SIZE": "2"}, Rank(1, 2)),
        ({"RANK": "2", "WORLD_SIZE": "2"}, None),
        ({"RANK": "x", "WORLD_SIZE": "2"}, None),
        ({"RANK": "1"}, None),
    ],
)
def test_the_launchers_environment_says_which_process_this_is(environment, expected):
    assert launched(environment) == expected


def test_one_process_where_several_were_asked_for_is_said():
    cpu = {"MASTER_ADDR": "127.0.0.1", "ACCELERATE_MIXED_PRECISION": "no"}
    assert "accelerate started one process here" in launch_note(cpu)
    assert launch_note({}) is None and launch_note({**cpu, "RANK": "0"}) is None


def test_an_engine_that_is_none_is_named():
    for engine, message in (
        ("prefix", r"engine 'prefix' is an option of the model: fcb\.load_model"),
        ("rya", "unknown engine 'rya'. Did you mean 'ray'"),
    ):
        with pytest.raises(fcb.errors.FcbError, match=message):
            fcb.evaluate(ScriptedModel([RIGHT]), CASES, engine=engine, progress=False)
    with pytest.raises(DataError, match=r"workers=2 is for engine='ray'"):
        fcb.evaluate(ScriptedModel([RIGHT]), CASES, workers=2, progress=False)


def test_read_replies_of_a_run_without_shards_is_its_main_file(tmp_path):
    run = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path, progress=False)
    assert tuple(disk.read_replies(tmp_path, []).values()) == run.replies


def test_processes_of_a_launcher_take_a_gpu_each(monkeypatch):
    import torch

    from fcb_toolkit.models.huggingface_load import ModelOptions, _device

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert str(_device(ModelOptions())) == "cuda"
    for rank, device in (("0", "cuda:0"), ("1", "cuda:1"), ("2", "cuda:0")):
        monkeypatch.setenv("LOCAL_RANK", rank)
        assert str(_device(ModelOptions())) == device
    assert str(_device(ModelOptions(device="cpu"))) == "cpu"
