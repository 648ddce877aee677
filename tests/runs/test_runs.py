"""Runs on disk: resumed, killed at any byte, refused where they belong to another run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.models import ReplayModel, ScriptedModel

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]


def case(serial, city="서울"):
    truth = {"name": "weather", "arguments": json.dumps({"city": city}, ensure_ascii=False)}
    return fcb.Case.from_request(
        {
            "serial_num": serial,
            "messages": [{"role": "user", "content": f"{city} 날씨 {serial}"}],
            "tools": TOOLS,
            "ground_truth": truth,
        }
    )


CASES = [case(n, city) for n, city in enumerate(["서울", "부산", "대구", "광주"], 1)]
RIGHT = '{"name": "weather", "arguments": {"city": "서울"}}'


class Counting(ScriptedModel):
    """Counts what it is asked, so that a repeated case is seen."""

    def __init__(self, script, stop_after=None):
        super().__init__(script)
        self.asked = []
        self.stop_after = stop_after

    def generate(self, prompts, settings):
        for index, reply in super().generate(prompts, settings):
            if self.stop_after is not None and len(self.asked) >= self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(prompts[index].messages[-1]["content"])
            yield index, reply


def outcomes(run, metric="call_match"):
    return {case_id: str(verdict.outcome) for (case_id, _), verdict in run.verdicts[metric].items()}


def test_a_run_in_memory_has_replies_verdicts_and_a_manifest():
    run = fcb.evaluate(ScriptedModel([RIGHT]), CASES, progress=False)
    assert outcomes(run) == {"jsonl/1": "pass", "jsonl/2": "fail", "jsonl/3": "fail", "jsonl/4": "fail"}
    assert run.verdict("jsonl/2").failure == fcb.FailureKind.WRONG_VALUE
    assert run.manifest["benchmark"]["cases"] == 4
    assert run.manifest["generation"]["temperature"] == 0.0
    assert {"toolkit", "model", "libraries", "machine"} <= set(run.manifest)
    assert run.missing == ()


def test_a_run_on_disk_is_the_run_that_was_made(tmp_path):
    made = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    read = fcb.load_run(tmp_path / "run")
    assert read.cases == made.cases
    assert read.replies == made.replies
    assert read.verdicts == made.verdicts
    assert read.prompts == made.prompts
    names = sorted(p.name for p in (tmp_path / "run").iterdir() if not p.name.startswith("."))
    assert names == ["cases.jsonl", "manifest.json", "prompts.jsonl", "replies.jsonl", "verdicts"]


def test_an_interrupted_run_goes_on_and_repeats_nothing(tmp_path):
    first = Counting([RIGHT], stop_after=2)
    partial = fcb.evaluate(first, CASES, tmp_path / "run", progress=False)
    assert partial.missing == ("jsonl/3", "jsonl/4")
    assert partial.notes == ("interrupted after 2 of 4 replies; run it again to go on",)
    second = Counting([RIGHT])
    whole = fcb.evaluate(second, CASES, tmp_path / "run", progress=False)
    assert [*first.asked, *second.asked] == [c.messages[-1]["content"] for c in CASES]
    assert outcomes(whole) == outcomes(fcb.evaluate(ScriptedModel([RIGHT]), CASES, progress=False))


def test_a_run_can_be_stopped_by_the_caller_and_grow_by_more_cases(tmp_path):
    seen = []
    run = fcb.evaluate(
        ScriptedModel([RIGHT]),
        CASES[:3],
        tmp_path / "run",
        progress=False,
        on_reply=seen.append,
        should_stop=lambda: len(seen) == 2,
    )
    assert len(run.missing) == 1 and "stopped on request after 2 of 3 replies" in run.notes
    more = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    assert len(more.replies) == 4 and more.manifest["benchmark"]["cases"] == 4


def test_a_file_cut_at_any_byte_opens_and_goes_on(tmp_path):
    """Whatever a kill leaves of replies.jsonl, the run opens, drops at most the torn line, and ends the same."""
    whole = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "whole", progress=False)
    data = (tmp_path / "whole" / "replies.jsonl").read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    for cut in range(0, len(data) + 1, 7):
        folder = tmp_path / f"cut-{cut}"
        shutil.copytree(tmp_path / "whole", folder)
        (folder / "replies.jsonl").write_bytes(data[:cut])
        shutil.rmtree(folder / "verdicts")
        opened = fcb.load_run(folder)
        assert len(opened.replies) == sum(end <= cut for end in ends)
        torn = cut not in (0, *ends)
        assert any("half-written last line" in note for note in opened.notes) == torn
        model = Counting([RIGHT])
        again = fcb.evaluate(model, CASES, folder, progress=False)
        assert len(model.asked) == 4 - len(opened.replies)
        assert outcomes(again) == outcomes(whole)
        assert (folder / "replies.jsonl").read_bytes().count(b"\n") == 4


def test_verdicts_cut_at_any_byte_are_computed_again(tmp_path):
    whole = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    file = tmp_path / "run" / "verdicts" / "call_match.jsonl"
    data = file.read_bytes()
    for cut in range(0, len(data), 31):
        file.write_bytes(data[:cut])
        assert outcomes(fcb.load_run(tmp_path / "run")) == outcomes(whole)


def test_a_line_broken_in_the_middle_is_an_error_with_its_number(tmp_path):
    fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    file = tmp_path / "run" / "replies.jsonl"
    lines = file.read_text().split("\n")
    lines[1] = "edited by hand"
    file.write_text("\n".join(lines))
    with pytest.raises(
        DataError, match=r"replies\.jsonl line 2: not a JSON object, in the middle of the file"
    ):
        fcb.load_run(tmp_path / "run")


def test_an_output_folder_of_another_run_is_refused_and_untouched(tmp_path):
    fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    before = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    with pytest.raises(
        DataError, match=r"belongs to another run: model\.id is 'scripted' there and 'other' now"
    ):
        fcb.evaluate(ScriptedModel([RIGHT], name="other"), CASES, tmp_path / "run", progress=False)
    with pytest.raises(
        DataError, match=r"generation\.max_new_tokens is 512 there and 8 now; choose another --out"
    ):
        fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False, max_new_tokens=8)
    with pytest.raises(DataError, match="its case jsonl/1 differs from the one given"):
        fcb.evaluate(ScriptedModel([RIGHT]), [case(1, "제주")], tmp_path / "run", progress=False)
    assert {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()} == before


def test_a_run_made_before_a_setting_existed_goes_on_with_its_default(tmp_path):
    fcb.evaluate(ScriptedModel([RIGHT]), CASES[:1], tmp_path / "run", progress=False)
    file = tmp_path / "run" / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest["generation"]["stop_after_calls"]
    file.write_text(json.dumps(manifest))
    with pytest.raises(DataError, match=r"generation\.stop_after_calls is False there and True now"):
        fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False, stop_after_calls=True)
    run = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    assert len(run.replies) == len(CASES)


def test_a_folder_that_is_not_a_run_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match=r"is not empty and not a run \(found thesis\.tex\)"):
        fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path, progress=False)
    with pytest.raises(DataError, match=r"holds no manifest\.json, so it is not a run"):
        fcb.load_run(tmp_path)
    with pytest.raises(DataError, match="no such run"):
        fcb.load_run(tmp_path / "nowhere")


def test_two_processes_cannot_write_one_run(tmp_path):
    def ask(messages, tools):
        with pytest.raises(DataError, match="another process is writing this run"):
            fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
        return RIGHT

    fcb.evaluate(ScriptedModel(ask), CASES[:1], tmp_path / "run", progress=False)


def test_a_full_disk_is_said_and_what_was_written_is_whole(tmp_path):
    """The limit on file size makes the kernel refuse a write, as a full disk does."""
    script = textwrap.dedent(
        """
        import resource, signal, sys
        import fcb_toolkit as fcb
        from fcb_toolkit.models import ScriptedModel
        cases = [fcb.Case.from_request({"serial_num": n, "messages": [{"role": "user", "content": str(n)}]})
                 for n in range(50)]
        fcb.load_benchmark, fcb.evaluate  # imported before the limit
        model = ScriptedModel(lambda messages, tools: "x" * 500)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, 16_000))
        try:
            fcb.evaluate(model, cases, sys.argv[1], progress=False)
        except fcb.errors.DataError as error:
            print(error)
        """
    )
    folder = tmp_path / "run"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (
        "replies.jsonl: cannot be written: File too large; all records before this one are kept"
        in done.stdout
    )
    kept = fcb.load_run(folder)
    assert 5 < len(kept.replies) < 50 and not kept.notes


def test_killed_half_way_it_repeats_no_finished_case_and_ends_with_the_same_verdicts(tmp_path):
    """SIGKILL after the third reply of a process of its own, then the same command again."""
    script = textwrap.dedent(
        """
        import os, sys
        sys.path.insert(0, sys.argv[1])
        from test_runs import CASES, Counting, RIGHT
        import fcb_toolkit as fcb
        model = Counting([RIGHT])
        count = []
        def kill(reply):
            count.append(reply)
            if len(count) == int(sys.argv[3]):
                os.kill(os.getpid(), 9)
        run = fcb.evaluate(model, CASES, sys.argv[2], progress=False, on_reply=kill)
        print(len(model.asked))
        """
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(tmp_path / "run")]
    killed = subprocess.run([*command, "3"], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    again = subprocess.run([*command, "99"], capture_output=True, text=True, check=True)
    assert again.stdout.strip() == "1"
    run = fcb.load_run(tmp_path / "run")
    assert outcomes(run) == outcomes(fcb.evaluate(ScriptedModel([RIGHT]), CASES, progress=False))


def test_a_reply_that_ended_in_an_error_is_not_scored_and_tried_again(tmp_path):
    from fcb_toolkit.records import Reply

    class Failing(ScriptedModel):
        def generate(self, prompts, settings):
            for index, prompt in enumerate(prompts):
                yield (
                    index,
                    Reply("", None, finish_reason="error", notes=("out of memory",), format=prompt.format),
                )

    run = fcb.evaluate(Failing([RIGHT]), CASES, tmp_path / "run", progress=False)
    assert set(outcomes(run).values()) == {"not_scored"}
    assert run.verdict("jsonl/1").reason == "no reply from the model: out of memory"
    again = fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    assert outcomes(again)["jsonl/1"] == "pass"


def test_rescoring_needs_no_model_and_writes_beside_the_run(tmp_path):
    fcb.evaluate(ScriptedModel([RIGHT]), CASES, tmp_path / "run", progress=False)
    (tmp_path / "run" / "verdicts" / "functionchat_exact.jsonl").unlink()
    run = fcb.rescore(tmp_path / "run", "functionchat_exact")
    assert outcomes(run, "functionchat_exact")["jsonl/1"] == "pass"
    assert (tmp_path / "run" / "verdicts" / "functionchat_exact.jsonl").exists()
    with pytest.raises(UnknownName, match="unknown metric 'call_macht'. Did you mean 'call_match'"):
        fcb.rescore(run, "call_macht")


def test_a_replay_gives_the_recorded_verdicts_and_refuses_what_was_never_asked():
    from fcb_toolkit.errors import ModelError

    run = fcb.evaluate(ScriptedModel([RIGHT]), CASES, progress=False)
    replayed = fcb.evaluate(ReplayModel(run), CASES, progress=False)
    assert outcomes(replayed) == outcomes(run)
    with pytest.raises(ModelError, match=r"jsonl/9: replay of scripted: no recorded reply .*제주 날씨 9"):
        fcb.evaluate(ReplayModel(run), [case(9, "제주")], progress=False)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temprature": 1}, "unknown generation setting 'temprature'. Did you mean 'temperature'"),
        ({"max_new_tokens": 0}, "max_new_tokens is 0, expected at least 1"),
        ({"samples": 3}, "samples is 3, expected 1, or more with a temperature above 0"),
        ({"top_p": 1.5}, "top_p is 1.5, expected above 0 and at most 1"),
    ],
)
def test_a_wrong_setting_is_named_with_its_value(setting, message):
    with pytest.raises((DataError, UnknownName), match=message):
        fcb.evaluate(ScriptedModel([RIGHT]), CASES, progress=False, **setting)


def test_cases_that_cannot_be_run_together_are_refused():
    with pytest.raises(DataError, match="two cases have the id 'jsonl/1'"):
        fcb.evaluate(ScriptedModel([RIGHT]), [CASES[0], CASES[0]], progress=False)
    with pytest.raises(DataError, match="no cases to run"):
        fcb.evaluate(ScriptedModel([RIGHT]), [], progress=False)


def test_a_lone_surrogate_in_a_reply_survives_the_disk(tmp_path):
    fcb.evaluate(ScriptedModel(["깨진 \ud83d 글자"]), CASES[:1], tmp_path / "run", progress=False)
    assert fcb.load_run(tmp_path / "run").reply("jsonl/1").text == "깨진 \ud83d 글자"


@pytest.mark.parametrize(
    ("file", "row", "message"),
    [
        ("prompts.jsonl", {}, "the key 'sha256' is missing"),
        ("cases.jsonl", {}, "the key 'messages' is missing"),
        ("replies.jsonl", {}, "case_id"),
        ("verdicts/call_match.jsonl", {}, "the key 'outcome' is missing"),
        ("verdicts/call_match.jsonl", {"outcome": "fail", "failure": 5}, "5 is not a valid FailureKind"),
    ],
)
def test_a_row_that_is_no_record_is_named_with_its_file(tmp_path, file, row, message):
    fcb.evaluate(ScriptedModel([RIGHT]), CASES[:1], tmp_path / "run", progress=False)
    (tmp_path / "run" / file).write_text(json.dumps(row) + "\n")
    for use in (
        fcb.load_run,
        lambda path: fcb.evaluate(ScriptedModel([RIGHT]), CASES[:1], path, progress=False),
    ):
        with pytest.raises(DataError, match=f"{file} record 1: .*{message}"):
            use(tmp_path / "run")


def test_a_script_without_replies_is_refused():
    with pytest.raises(DataError, match="the list of replies is empty"):
        ScriptedModel([])


def test_a_judges_verdicts_are_not_overwritten_by_rescoring():
    run = fcb.evaluate(ScriptedModel([RIGHT]), CASES[:1], progress=False)
    with pytest.raises(DataError, match="a judge's verdicts are made by `fcb judge"):
        fcb.rescore(run, "rubric")


def test_one_metric_may_be_given_by_its_name_alone():
    run = fcb.evaluate(ScriptedModel(["안녕하세요"]), CASES, metrics="schema_valid", progress=False)
    assert len(run.verdicts["schema_valid"]) == len(CASES)


@pytest.mark.parametrize(("metrics", "error"), [("call_macht", UnknownName), (3, DataError)])
def test_metrics_are_checked_before_anything_is_generated(metrics, error):
    asked = []
    model = ScriptedModel(lambda messages, tools: asked.append(messages))
    with pytest.raises(
        error, match="Did you mean 'call_match'|metrics: found int, expected a name or a list"
    ):
        fcb.evaluate(model, CASES, metrics=metrics, progress=False)
    assert not asked


@pytest.mark.parametrize("cases", [None, 3])
def test_cases_that_are_no_list_are_refused(cases):
    with pytest.raises(DataError, match=r"cases: found \w+, expected a list of Case"):
        fcb.evaluate(ScriptedModel(["x"]), cases, progress=False)


def test_a_replay_of_a_path_says_how_to_load_the_run():
    with pytest.raises(DataError, match=r"ReplayModel: found str, expected a Run; .*fcb.load_run"):
        ReplayModel("runs/demo")


def test_no_tools_may_be_given_as_none():
    message = [{"role": "user", "content": "안녕"}]
    model = ScriptedModel(["네"])
    assert model.prepare(message, None) == model.prepare(message)


@pytest.mark.parametrize("name", ["replies.jsonl", "cases.jsonl", "prompts.jsonl"])
def test_a_folder_in_place_of_a_runs_file_is_told(tmp_path, name):
    out = tmp_path / "run"
    fcb.evaluate(ScriptedModel(["x"]), CASES, out, progress=False)
    (out / name).unlink()
    (out / name).mkdir()
    with pytest.raises(DataError, match=rf"{name}: is a folder, expected a file"):
        fcb.load_run(out)
