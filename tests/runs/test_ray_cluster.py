"""A real Ray cluster on the loopback address: a worker and a driver killed by the kernel in the middle."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from conftest import content, running, stored

from fcb_toolkit.cli import main


@pytest.fixture
def ray_environment():
    """A folder with a name short enough for Ray's sockets, and no word to the outside."""
    folder = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))
    names = {"RAY_TMPDIR": str(folder), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    yield {**{k: v for k, v in os.environ.items() if k != "RAY_ADDRESS"}, **names}
    # Ray's processes carry the folder in their arguments.
    left = [p for p in psutil.process_iter(["cmdline"]) if str(folder) in " ".join(p.info["cmdline"] or ())]
    gone = all_end(left, seconds=30)
    shutil.rmtree(folder)
    assert gone, left


def below(process):
    """All descendants that are there at this moment."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.Error:
        return []


def workers_of(process):
    found = []
    for child in below(process):
        try:
            found += [child] if "MapWorker" in " ".join(child.cmdline()) else []
        except psutil.Error:  # one that ended between two looks
            continue
    return found


def ended(process):
    """Also one that has ended and that nobody has reaped yet."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def all_end(processes, seconds):
    """Whether all have ended within so many seconds."""
    until = time.monotonic() + seconds
    while left := [p for p in processes if not ended(p)]:
        if time.monotonic() > until:
            return False
        psutil.wait_procs(left, timeout=0.5)
    return True


def listening(process):
    addresses = set()
    for child in below(process):
        try:
            addresses |= {c.laddr.ip for c in child.net_connections("inet") if c.status == psutil.CONN_LISTEN}
        except psutil.Error:
            continue
    return addresses


def number_stored(folder):
    file = folder / "replies.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def cluster_command(job, out):
    return [sys.executable, "-m", "fcb_toolkit", *job.arguments(out), "--engine", "ray", "--workers", "2"]


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing_in_the_run(job, tmp_path, ray_environment):
    out, killed = tmp_path / "run", None
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(cluster_command(job, out), env=ray_environment, **pipes) as process:
        while running(process) and killed is None:
            if number_stored(out) >= 3:
                addresses = listening(process)
                [killed, *_] = workers_of(process)
                killed.send_signal(signal.SIGKILL)
        printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    assert killed is not None and not killed.is_running()
    assert addresses and all("127.0.0.1" in address for address in addresses)
    assert content(out) == content(job.whole)


@pytest.mark.slow
def test_a_driver_killed_in_the_middle_goes_on_without_ray(job, tmp_path, ray_environment):
    out = tmp_path / "run"
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(cluster_command(job, out), env=ray_environment, **silent) as process:
        while running(process):
            if number_stored(out) >= 3:
                children = below(process)
                process.send_signal(signal.SIGKILL)
                break
        assert process.wait() == -signal.SIGKILL
    # They end by themselves, but Ray's agents take a minute or more to see that they are alone.
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    before = {row["case_id"]: row for row in stored(out)}
    assert 3 <= len(before) < 15
    assert main(job.arguments(out)) == 0
    after = {row["case_id"]: row for row in stored(out)}
    assert before.items() <= after.items() and content(out) == content(job.whole)


@pytest.mark.slow
def test_a_metric_of_a_notebook_runs_in_the_driver(job, tmp_path, ray_environment):
    """A function of `__main__`, as in a notebook; the model is the one that is loaded there."""
    script = textwrap.dedent(
        """
        import os, sys
        import fcb_toolkit as fcb

        seen = set()

        @fcb.metric
        def driven(case, answer):
            seen.add(os.getpid())
            return len(case.tools) == 1

        cases = fcb.load_benchmark("jsonl", sys.argv[1])
        model = fcb.load_model(sys.argv[2], dtype="float32")
        run = fcb.evaluate(
            model, cases, engine="ray", workers=1, progress=False, metrics=["driven"], max_new_tokens=8
        )
        assert seen == {os.getpid()}
        print(len(run.replies), fcb.summarize(run, metric="driven")["rate"].tolist())
        """
    )
    command = [sys.executable, "-c", script, str(job.cases), str(job.model)]
    done = subprocess.run(command, capture_output=True, text=True, env=ray_environment, check=False)
    assert done.stdout.split() == ["15", "[1.0]"], done.stderr
