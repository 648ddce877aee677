"""A run over a Ray cluster: what the driver does with the workers' rows. No cluster is started here."""

import json
import sys

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.cli import main
from fcb_toolkit.errors import DataError, MissingExtra, ModelError
from fcb_toolkit.models import ModelSpec, ScriptedModel
from fcb_toolkit.models.spec import spec_of
from fcb_toolkit.runs import RayOptions
from fcb_toolkit.runs.folder import RunFolder
from fcb_toolkit.runs.generate import Session, Work
from fcb_toolkit.runs.ray_cluster import sized
from fcb_toolkit.runs.ray_engine import Driver
from fcb_toolkit.runs.ray_worker import Worker

RIGHT = '{"name": "f", "arguments": {}}'
SIZE = RayOptions(workers=2, gpus=0.0, cpus=1.0)


def case(serial):
    request = {"serial_num": serial, "messages": [{"role": "user", "content": f"질문 {serial}"}]}
    return fcb.Case.from_request(request)


CASES = tuple(case(n) for n in range(8))


class Scripted(Worker):
    """A worker around a model that is made here."""

    def __init__(self, model, settings):
        self.settings, self.model, self.described, self.error = settings, model, model.describe(), ""


class Bar:
    total = 8

    def update(self, number):
        pass


def driver(out, **session):
    work = Work(CASES, fcb.Generation(), out, Session(False, session.get("should_stop"), None))
    return Driver(work, RunFolder(out) if out is not None else None)


def rows_of(made, model):
    """What two workers would send for all groups."""
    worker = Scripted(model, fcb.Generation())
    return [row for group in made.groups(SIZE) for [row] in (b["row"] for b in worker({"group": [group]}))]


def test_the_rows_of_workers_make_the_run_that_one_process_makes(tmp_path):
    made = driver(tmp_path / "run")
    made.take_all(rows_of(made, ScriptedModel([RIGHT])), SIZE, Bar())
    run = made.run()
    made.close()
    alone = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "alone", progress=False)
    assert sorted(run.replies, key=lambda r: r.case_id) == sorted(alone.replies, key=lambda r: r.case_id)
    assert run.prompts == alone.prompts and run.manifest["model"] == alone.manifest["model"]
    assert run.manifest["engine"]["workers"] == 2 and not made.lacking


def test_a_group_that_comes_again_is_not_stored_twice(tmp_path):
    made = driver(tmp_path / "run")
    rows = rows_of(made, ScriptedModel([RIGHT]))
    made.take_all([*rows[:5], *rows[3:], *rows], SIZE, Bar())
    made.close()
    assert (tmp_path / "run" / "replies.jsonl").read_bytes().count(b"\n") == 8


def test_what_is_stored_is_not_asked_again(tmp_path):
    fcb.evaluate(ScriptedModel([RIGHT]), CASES[:5], tmp_path, progress=False)
    made = driver(tmp_path)
    asked = [one["case"]["id"] for group in made.groups(SIZE) for one in json.loads(group)]
    assert sorted(asked) == [case.id for case in CASES[5:]]
    made.close()


def test_a_worker_that_loaded_something_else_is_refused(tmp_path):
    made = driver(tmp_path)
    rows = [rows_of(made, ScriptedModel([RIGHT], name=name))[0] for name in ("a", "b")]
    with pytest.raises(DataError, match=r"model\.id is 'a' there and 'b' now"):
        made.take_all(rows, SIZE, Bar())
    made.close()


def test_a_run_can_be_stopped_and_an_error_of_a_worker_is_the_users(tmp_path):
    made = driver(tmp_path, should_stop=lambda: True)
    made.take_all(rows_of(made, ScriptedModel([RIGHT])), SIZE, Bar())
    assert made.notes == ["stopped on request after 1 of 8 replies"]
    worker = Worker(ModelSpec("no/such/model/at/all"), fcb.Generation())
    [row] = worker({"group": ["[]"]})
    with pytest.raises(ModelError, match="on a Ray worker: no/such/model/at/all: no such file or folder"):
        made.take_all(row["row"], SIZE, Bar())
    made.close()


def test_a_folder_of_another_run_is_refused_before_a_cluster_is_started(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    fcb.evaluate(ScriptedModel([RIGHT]), CASES[:1], tmp_path, progress=False)
    for model, settings, message in (
        ("other", {}, r"model\.id is 'scripted' there and 'other' now"),
        ("scripted", {"max_new_tokens": 5}, r"generation\.max_new_tokens is 512 there and 5 now"),
        (
            ModelSpec("scripted", {"format": "hermes"}),
            {},
            r"model\.format is 'plain_json' there and 'hermes' now",
        ),
    ):
        with pytest.raises(DataError, match=message):
            fcb.evaluate(model, CASES, tmp_path, engine="ray", progress=False, **settings)
    # With nothing left to ask, no cluster is needed.
    assert len(fcb.evaluate("scripted", CASES[:1], tmp_path, engine="ray", progress=False).replies) == 1


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MissingExtra, match=r"engine='ray' needs the package 'ray\[data\]'.*fcb-toolkit\[ray\]"
    ):
        fcb.evaluate("embedded", CASES, engine="ray", progress=False)
    arguments = ["run", "sample/korean", "--engine", "ray", "--limit", "1", "--out", str(tmp_path / "run")]
    assert main(arguments) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("fcb run: engine='ray' needs the package")


def test_a_loaded_model_is_not_copied_to_workers():
    for model, found in (
        (ScriptedModel([RIGHT]), "a loaded ScriptedModel"),
        ((object(), "tokenizer"), r"a pair of \(object, str\)"),
    ):
        with pytest.raises(ModelError, match=f"{found} cannot be sent to other processes: gigabytes"):
            fcb.evaluate(model, CASES, engine="ray", progress=False)
    with pytest.raises(ModelError, match="its server does the work"):
        fcb.evaluate("openai:gpt", CASES, engine="ray", progress=False)


def test_a_spec_has_the_name_of_its_model_and_an_absolute_path(tmp_path, monkeypatch):
    (tmp_path / "llama").mkdir()
    (tmp_path / "t.jinja").write_text("{{ messages }}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    spec = spec_of(ModelSpec("./llama", {"template": "t.jinja"}))
    assert (spec.source, spec.name) == (str(tmp_path / "llama"), "llama")
    assert spec.options["template"] == str(tmp_path / "t.jinja")
    assert spec_of("embedded").name == "embedded" and spec_of("Qwen/Qwen3-8B").name == "Qwen/Qwen3-8B"
    assert ModelSpec("embedded", {"name": "mine"}).name == "mine"


def test_workers_and_what_each_gets_follow_from_the_cluster():
    assert sized(RayOptions(), {"CPU": 8.0}, 2) == RayOptions(workers=2, gpus=0.0, cpus=4.0)
    assert sized(RayOptions(), {"CPU": 64.0, "GPU": 8.0}, 1) == RayOptions(workers=8, gpus=1.0, cpus=1.0)
    assert sized(RayOptions(gpus=4), {"CPU": 64.0, "GPU": 8.0}, 1).workers == 2
    assert sized(RayOptions(workers=4), {"CPU": 2.0}, 1).cpus == 1.0
    with pytest.raises(DataError, match="a worker needs 16 GPUs, but the cluster has 8 in all"):
        sized(RayOptions(gpus=16), {"CPU": 64.0, "GPU": 8.0}, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workers", "2"], "--workers is for --engine ray"),
        (["--address", "auto"], "--address is for --engine ray"),
        (["--engine", "ray", "--worker-gpus", "-1"], "ray: gpus is -1.0, expected at least 0"),
    ],
)
def test_options_that_do_not_fit_are_named(arguments, message, capsys):
    assert main(["run", "sample/korean", "--limit", "1", *arguments]) == 2
    assert message in capsys.readouterr().err
