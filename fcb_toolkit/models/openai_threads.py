"""Requests on threads: each takes a job, asks, keeps the reply, and hands it over; and the rate that all keep.

threads = Threads(ask, keep, jobs=deque([(0, 0), (1, 0)]))
threads.start(2)
index, got = threads.arrived.get()      # a reply, or the exception that ended a thread
threads.stop()
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from fcb_toolkit.records import Reply

GRACE = 10.0
"""Seconds that a stopped run waits for the answers that are on their way; they are kept as they come."""


class Threads:
    """`ask(index, sample)` gives a reply; `keep(index, reply)` is called on the thread that got it, before
    anything else can go wrong. A job is (index, sample)."""

    def __init__(
        self,
        ask: Callable[[int, int], Reply],
        keep: Callable[[int, Reply], None],
        jobs: deque[tuple[int, int]],
        stopped: threading.Event,
    ) -> None:
        self.arrived: SimpleQueue[tuple[int, Reply | BaseException]] = SimpleQueue()
        self._ask, self._keep, self._jobs, self._stopped = ask, keep, jobs, stopped
        self._threads: list[threading.Thread] = []

    def start(self, count: int) -> None:
        for number in range(count):
            # Daemons: a process that ends does not wait for a server that hangs.
            thread = threading.Thread(target=self._work, name=f"fcb-server-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """No job is begun any more; waits at most `GRACE` seconds for those that are."""
        self._stopped.set()
        end = time.monotonic() + GRACE
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                index, sample = self._jobs.popleft()
            except IndexError:
                return
            try:
                reply = self._ask(index, sample)
                if reply.finish_reason == "error" and self._stopped.is_set():
                    return
                self._keep(index, reply)
                self.arrived.put((index, reply))
            except BaseException as error:
                self.arrived.put((index, error))
                return


class Gate:
    """Lets one request through every 60 / n seconds."""

    def __init__(self, per_minute: float | None) -> None:
        self._step = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self, stopped: threading.Event) -> None:
        if not self._step:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._step
        stopped.wait(max(0.0, turn - now))
