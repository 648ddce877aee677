"""Not a mock: `transformers serve` with the embedded model on loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from judging_toys import a_run

import fcb_toolkit as fcb
from fcb_toolkit.judging import JudgeOptions, judged, read_votes
from fcb_toolkit.models.openai_server import OpenAIServer, ServerOptions

pytestmark = pytest.mark.slow


@pytest.fixture
def served(tmp_path, monkeypatch):
    """(base URL, model's name) of a running server."""
    model = fcb.load_model("embedded", dtype="float32", device="cpu")
    folder = tmp_path / "embedded"
    model.model.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = Path(sys.executable).with_name("transformers")
    command = [program, "serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    log = (tmp_path / "serve.log").open("w+")
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "HF_HUB_OFFLINE": "1"}
    )
    try:
        _wait(f"http://127.0.0.1:{port}/health", process, log)
        monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
        yield f"http://127.0.0.1:{port}/v1", str(folder)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def _wait(url, process, log):
    end = time.monotonic() + 180
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None:
                break
        time.sleep(0.2)
    log.seek(0)
    pytest.fail(f"transformers serve did not start: {log.read()[-2000:]}")


def test_a_real_server_judges_and_is_not_asked_twice(tmp_path, served):
    url, name = served
    run = a_run(tmp_path / "run", 2)
    model = OpenAIServer(name, url, options=ServerOptions(concurrency=1, timeout=300.0, retries=1))
    done = judged(run, model, JudgeOptions(language="en", max_new_tokens=6))
    votes = read_votes(tmp_path / "run")
    # 135M parameters judge badly; that every case has one of the three outcomes is what a server must give.
    assert {vote.case_id for vote in votes} == {"jsonl/1"}
    assert all(vote.text.strip() and vote.reply_tokens for vote in votes)
    assert not any("gave no answer" in verdict.reason for verdict in done.verdicts["rubric"].values())
    assert judged(run, model, JudgeOptions(language="en", max_new_tokens=6)) == done
    assert read_votes(tmp_path / "run") == votes
