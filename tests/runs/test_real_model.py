"""The embedded model on the real benchmark file, killed in the middle by the kernel."""

import json
import signal
import subprocess
import sys

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.cli import main


def command(data, out, limit):
    return [
        *(sys.executable, "-m", "fcb_toolkit", "run", "functionchat/singlecall", "--source", str(data)),
        *(
            "--only",
            "exact",
            "--limit",
            str(limit),
            "--max-new-tokens",
            "4",
            "--batch-size",
            "2",
            "--out",
            str(out),
            "--quiet",
        ),
    ]


def kill_after_replies(arguments, file, count):
    """Starts the command and kills it as soon as the file holds so many lines."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if file.exists() and file.read_bytes().count(b"\n") >= count:
            process.send_signal(signal.SIGKILL)
            break
    return process.wait()


@pytest.mark.slow
def test_killed_half_way_and_started_again_it_ends_with_the_same_verdicts(fcb_data, tmp_path, capsys):
    data, cut, whole = fcb_data / "functionchat", tmp_path / "cut", tmp_path / "whole"
    replies = cut / "replies.jsonl"
    assert kill_after_replies(command(data, cut, 6), replies, 2) == -signal.SIGKILL
    before = replies.read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    done = {json.loads(line)["case_id"] for line in before.splitlines()}
    assert 2 <= len(done) < 6
    # In this process, so that the model is loaded once for both.
    assert main(command(data, cut, 6)[3:]) == 0
    assert replies.read_bytes().startswith(before)
    ids = [json.loads(line)["case_id"] for line in replies.read_bytes().splitlines()]
    assert len(ids) == len(set(ids)) == 6
    assert main(command(data, whole, 6)[3:]) == 0
    first, second = fcb.load_run(cut), fcb.load_run(whole)
    for metric in ("call_match", "decision", "functionchat_exact"):
        found = {key: (v.outcome, v.failure) for key, v in first.verdicts[metric].items()}
        assert found == {key: (v.outcome, v.failure) for key, v in second.verdicts[metric].items()}
    assert "functionchat/singlecall" in capsys.readouterr().out
