"""Work in a thread, so that the page stays alive: progress, rate, time left, stop.

job = Job(lambda job: work(should_stop=job.should_stop, on_done=job.advance), on_change)
job.start(total=200); job.stop(); job.wait()
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

MIN_INTERVAL = 0.2
"""Seconds between two reports of progress: a page can't draw a thousand a second."""


class Job:
    """`state` is waiting, running, done, stopped or failed; `result` or `error` holds what came of it."""

    def __init__(self, work: Callable[[Job], Any], on_change: Callable[[Job], None]) -> None:
        self._work = work
        self._on_change = on_change
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fcb-job", daemon=True)
        self._reported = 0.0
        self.state = "waiting"
        self.done = 0
        self.skipped = 0
        self.total = 0
        self.message = ""
        self.started = 0.0
        self.result: Any = None
        self.error: Exception | None = None

    @property
    def running(self) -> bool:
        return self.state == "running"

    @property
    def stopping(self) -> bool:
        return self.running and self._stop.is_set()

    def start(self, total: int = 0) -> None:
        self.total = total
        self.state = "running"
        self.started = time.monotonic()
        self._on_change(self)
        self._thread.start()

    def stop(self) -> None:
        """Asks the work to end after the reply, or the batch, that is being made."""
        self._stop.set()
        if self.running:
            self._on_change(self)

    def should_stop(self) -> bool:
        return self._stop.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """True if the work has ended within the time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def begin(self, total: int, skipped: int = 0, message: str = "") -> None:
        """The size of the work, once it is known; `skipped` was there already. The clock starts here."""
        self.total, self.skipped, self.done, self.message = total, skipped, skipped, message
        self.started = time.monotonic()
        self._on_change(self)

    def advance(self, count: int = 1) -> None:
        self.done += count
        if time.monotonic() - self._reported >= MIN_INTERVAL:
            self._reported = time.monotonic()
            self._on_change(self)

    def _run(self) -> None:
        try:
            self.result = self._work(self)
            self.state = "stopped" if self._stop.is_set() and self.done < self.total else "done"
        except Exception as error:  # whatever a model raises is shown on the page, not lost in a thread
            self.error = error
            self.state = "failed"
        self._on_change(self)

    def describe(self) -> str:
        """One line: what is going on, how fast, and how long it will take."""
        if self.state == "failed":
            return f"failed: {self.error}"
        if self.running and self.message:
            return self.message
        elapsed = time.monotonic() - self.started
        return progress_text(
            self.state, self.done, self.total, pace(self.done - self.skipped, elapsed), self.stopping
        )


def pace(done: int, seconds: float) -> float | None:
    """Replies a second; None before the first."""
    return done / seconds if done > 0 and seconds > 0 else None


def progress_text(state: str, done: int, total: int, rate: float | None, stopping: bool = False) -> str:
    parts = ["stopping after the reply that is being made" if stopping else state]
    if total:
        parts.append(f"{done:,} of {total:,}")
    if rate is not None:
        parts.append(f"{rate:.1f} a second" if rate >= 1 else f"{1 / rate:.1f} s each")
        if state == "running" and total > done:
            parts.append(f"about {duration((total - done) / rate)} left")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 5 min`"""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
