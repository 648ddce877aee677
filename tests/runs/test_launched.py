"""Processes that accelerate really started, one of them killed by the kernel in the middle."""

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest
from conftest import content, running, stored

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def accelerate(*options):
    common = ("--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no")
    launch = (sys.executable, "-m", "accelerate.commands.launch", *common, "--main_process_port", "0")
    return [*launch, *options, "-m", "fcb_toolkit"]


def processes(number):
    """On a machine without GPUs this is how accelerate starts several processes."""
    return accelerate("--multi_gpu", "--num_processes", str(number))


def of_rank(launcher, rank):
    """The process of that rank below the launcher, or None."""
    try:
        for child in psutil.Process(launcher.pid).children(recursive=True):
            if child.environ().get("RANK") == str(rank):
                return child
    except psutil.Error:  # one that ended between two looks
        pass
    return None


def kill_rank(command, rank, ready):
    """Starts the command and kills the process of that rank as soon as `ready()`; gives what was printed."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, env=ENVIRONMENT, **pipes) as launcher:
        victim = None
        while running(launcher):
            victim = victim or of_rank(launcher, rank)
            if victim is not None and ready():
                victim.send_signal(signal.SIGKILL)
                break
        printed, _ = launcher.communicate(timeout=120)
    assert launcher.returncode != 0, printed
    return printed


def lines_of(folder, pattern):
    try:
        return sum(file.read_bytes().count(b"\n") for file in folder.glob(pattern))
    except FileNotFoundError:  # shards of an earlier start, merged between two looks
        return 0


def by_key(rows):
    return {(row["case_id"], row["sample"]): row for row in rows}


def test_killed_with_two_processes_then_with_three_it_ends_with_one_and_repeats_nothing(job, tmp_path):
    out = tmp_path / "run"
    arguments = job.arguments(out)
    error = kill_rank([*processes(2), *arguments], 1, lambda: lines_of(out, "shards/*-1.jsonl") >= 2)
    assert (
        "rank 1 ended with" in error and "run the same command again, with any number of processes" in error
    )
    first = by_key(stored(out))
    assert 2 <= len(first) < 15

    kill_rank([*processes(3), *arguments], 0, lambda: lines_of(out, "shards/*-2.jsonl") >= 1)
    second = by_key(stored(out))
    assert len(first) < len(second) < 15
    assert first.items() <= second.items()  # also their seconds: what was stored was not made again

    done = subprocess.run(
        [sys.executable, "-m", "fcb_toolkit", *arguments, "--json"],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    assert json.loads(done.stdout)[0]["n"] == 15
    assert second.items() <= by_key(stored(out)).items()
    assert content(out) == content(job.whole) and not (out / "shards").exists()


def test_two_processes_make_the_run_of_one_and_only_one_prints(job, tmp_path):
    command = [*processes(2), *job.arguments(tmp_path / "run"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert json.loads(done.stdout)[0]["n"] == 15
    assert content(tmp_path / "run") == content(job.whole)


def test_accelerate_on_a_cpu_starts_one_process_and_it_is_said(job, tmp_path):
    command = [*accelerate("--cpu", "--num_processes", "2"), *job.arguments(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert "note: accelerate started one process here" in done.stderr
    assert content(tmp_path / "run") == content(job.whole)
