"""Not a mock: `transformers serve` with the embedded model on loopback."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from judging_toys import a_run, cases

import fcb_toolkit as fcb
from fcb_toolkit.cli import main
from fcb_toolkit.judging import VERDICT_FORMAT, JudgeOptions, judged, read_votes
from fcb_toolkit.models.openai_server import STRUCTURED

pytestmark = pytest.mark.slow
READY = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")
OPTIONS = {"timeout": 300.0, "retries": 1}


class Log(threading.Thread):
    """Reads what the server prints, so that its pipe never fills, and finds the address that it tells."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.lines, self.url, self.told = process, [], None, threading.Event()
        self.start()

    def run(self):
        for line in self.process.stdout:
            self.lines.append(line)
            found = READY.search(line)
            if found:
                self.url = found[1]
                self.told.set()
        self.told.set()


@pytest.fixture(scope="module")
def local():
    """The embedded model in process, in the precision that the server has."""
    return fcb.load_model("embedded", dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def served(tmp_path_factory, local):
    """(base URL, model's name) of a running server."""
    folder = tmp_path_factory.mktemp("served") / "embedded"
    local.model.save_pretrained(folder)
    local.tokenizer.save_pretrained(folder)
    program = Path(sys.executable).with_name("transformers")
    # Port 0: the system chooses a free one, and the server tells which.
    command = [
        program,
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--device",
        "cpu",
        "--dtype",
        "float32",
    ]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True
    )
    log = Log(process)
    try:
        if not log.told.wait(400) or log.url is None:
            pytest.fail(f"transformers serve did not start: {''.join(log.lines)[-2000:]}")
        yield f"{log.url}/v1", str(folder)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.join(20)
        process.stdout.close()


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")


def test_a_real_server_judges_and_is_not_asked_twice(tmp_path, served):
    url, name = served
    run = a_run(tmp_path / "run", 2)
    model = fcb.load_model(f"openai:{name}", base_url=url, concurrency=1, **OPTIONS)
    options = JudgeOptions(language="en", max_new_tokens=6, orders=("given", "verdicts"))
    done = judged(run, model, options)
    votes = read_votes(tmp_path / "run")
    # 135M parameters judge badly; that every case has one of the three outcomes is what a server must give.
    assert {vote.case_id for vote in votes} == {"jsonl/1"}
    assert {vote.order for vote in votes} == {"given", "verdicts"}
    assert all(vote.text.strip() and vote.reply_tokens for vote in votes)
    assert not any("gave no answer" in verdict.reason for verdict in done.verdicts["rubric"].values())
    assert judged(run, model, options) == done
    assert read_votes(tmp_path / "run") == votes


def test_a_real_server_that_ignores_response_format_is_read_as_prose(tmp_path, served):
    """transformers serve takes `response_format` and does without it: 200, and an answer that is no JSON."""
    url, name = served
    model = fcb.load_model(f"openai:{name}", base_url=url, response_format=VERDICT_FORMAT, **OPTIONS)
    prompt = model.prepare([{"role": "user", "content": "Say PASS or FAIL."}])
    ((_, reply),) = model.generate([prompt], fcb.Generation(max_new_tokens=8))
    assert reply.finish_reason in ("stop", "length") and reply.notes == ()
    assert reply.text.strip() and not reply.text.lstrip().startswith("{")
    run = judged(a_run(tmp_path / "run", 2), model, JudgeOptions(language="en", max_new_tokens=6))
    verdict = run.verdicts["rubric"]["jsonl/1", 0]
    assert STRUCTURED not in verdict.reason and "gave no answer" not in verdict.reason
    assert verdict.details["votes"]


def test_a_real_server_runs_a_benchmark_and_goes_on_where_it_stopped(tmp_path, served, local):
    url, name = served
    bare = [fcb.Case(f"bare/{n}", "bare", ({"role": "user", "content": f"Count to {n}."},)) for n in (3, 5)]
    asked = [*cases(2), *bare]
    model = fcb.load_model(f"openai:{name}", base_url=url, concurrency=2, **OPTIONS)
    part = fcb.evaluate(model, asked[1:], tmp_path / "run", progress=False, max_new_tokens=8)
    run = fcb.evaluate(model, asked, tmp_path / "run", progress=False, max_new_tokens=8)
    assert run.missing == () and len(part.replies) == 3
    assert all(reply in run.replies for reply in part.replies)
    assert all(reply.message and reply.prompt_tokens and reply.reply_tokens for reply in run.replies)
    assert all(reply.finish_reason in ("stop", "length") for reply in run.replies)
    # Without tools the server's prompt is ours, and so is a greedy reply.
    ours = fcb.evaluate(local, bare, progress=False, max_new_tokens=8)
    for case in bare:
        assert run.reply(case.id).prompt_tokens == ours.reply(case.id).prompt_tokens
        assert run.reply(case.id).text.strip() in ours.reply(case.id).text


def test_the_command_runs_a_model_of_a_real_server(tmp_path, served, capsys):
    url, name = served
    command = ["run", "sample/korean", "--limit", "2", "--model", f"openai:{name}", "--base-url", url]
    command += ["--out", str(tmp_path / "run"), "--max-new-tokens", "4", "--timeout", "300", "--quiet"]
    assert main(command) == 0
    run = fcb.load_run(tmp_path / "run")
    assert len(run.replies) == 2 and run.manifest["model"]["kind"] == "server"
    assert all(reply.reply_tokens for reply in run.replies)
