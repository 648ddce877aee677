"""Work in a thread: progress, time left, stop."""

import threading

import pytest

from fcb_toolkit.widgets.jobs import Job, duration, pace, progress_text


def test_a_job_ends_with_its_result():
    told = []
    job = Job(lambda job: 42, lambda job: told.append(job.state))
    job.start()
    assert job.wait(10)
    assert (job.state, job.result, told) == ("done", 42, ["running", "done"])


def test_a_stop_lets_the_reply_that_is_being_made_end():
    gate, begun = threading.Event(), threading.Event()

    def work(job):
        job.begin(3)
        while not job.should_stop():
            begun.set()
            gate.wait(10)
            job.advance()
        return job.done

    job = Job(work, lambda job: None)
    job.start(3)
    assert begun.wait(10)
    job.stop()
    assert job.stopping and job.describe().startswith("stopping after the reply that is being made")
    gate.set()
    assert job.wait(10)
    assert (job.state, job.result) == ("stopped", 1)


def test_an_error_in_the_work_is_kept_and_told():
    def work(job):
        raise ValueError("no such model")

    job = Job(work, lambda job: None)
    job.start()
    assert job.wait(10)
    assert (job.state, job.describe()) == ("failed", "failed: no such model")


def test_what_was_there_before_does_not_count_into_the_rate():
    job = Job(lambda job: None, lambda job: None)
    job.begin(100, skipped=90)
    assert job.done == 90
    assert pace(job.done - job.skipped, 5.0) is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("running", 0, 10, None), "running · 0 of 10"),
        (("running", 5, 10, 2.5), "running · 5 of 10 · 2.5 a second · about 2 s left"),
        (("running", 1, 200, 0.25), "running · 1 of 200 · 4.0 s each · about 13 min 16 s left"),
        (("done", 10, 10, 2.0), "done · 10 of 10 · 2.0 a second"),
        (("running", 5, 10, None, True), "stopping after the reply that is being made · 5 of 10"),
    ],
)
def test_progress_is_one_line(arguments, text):
    assert progress_text(*arguments) == text


@pytest.mark.parametrize(("seconds", "text"), [(4.4, "4 s"), (75, "1 min 15 s"), (7500, "2 h 5 min")])
def test_a_time_is_said_in_two_units(seconds, text):
    assert duration(seconds) == text
