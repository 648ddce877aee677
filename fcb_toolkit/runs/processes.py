"""A run over the processes that `accelerate launch` or `torchrun` started, one device each.

    accelerate launch -m fcb_toolkit run functionchat/dialog --model Qwen/Qwen2.5-7B-Instruct --out runs/dialog

The first process (rank 0) opens the run's folder, sees what is missing, and shares it out in stretches of the
prompts' order, so that prompts with a common prefix stay together. Each of the others writes its replies into
a file of its own in `DIR/shards`; when all have ended, the first merges them and scores the run.

No two processes write one file. Whatever is killed at any byte, the next start, of any number of processes or
of one without a launcher, reads all files, asks only for what is missing, and merges. Whether a process still
lives is told by the lock on its file, which the kernel gives up with it; so nobody waits for the dead.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError, FcbError
from fcb_toolkit.models.base import Model
from fcb_toolkit.records import Case
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.folder import RunFolder, Shard, check_same_run, has_ended
from fcb_toolkit.runs.generate import Session, Store, Work, generate_missing, prepare, run_in_memory, run_of
from fcb_toolkit.runs.manifest import make_manifest
from fcb_toolkit.runs.record import Run
from fcb_toolkit.runs.split import split

PATIENCE = 3600.0
"""Seconds until processes that load the same model must have found each other."""
START_PATIENCE = 300.0
"""Seconds between a process's share being known and its file being there."""


@dataclass(frozen=True)
class Rank:
    """Which of how many processes this one is."""

    rank: int
    world: int


def launched(environment: Mapping[str, str] = os.environ) -> Rank | None:
    """This process's place among several that a launcher started; None where there is but one."""
    found = [environment.get(name, "") for name in ("RANK", "WORLD_SIZE")]
    if not all(text.isdecimal() for text in found):
        return None
    rank, world = map(int, found)
    return Rank(rank, world) if rank < world and world > 1 else None


def launch_note(environment: Mapping[str, str] = os.environ) -> str | None:
    """What to say where accelerate was asked for several processes on a CPU and started one."""
    several = "MASTER_ADDR" in environment and "ACCELERATE_MIXED_PRECISION" in environment
    if not several or "RANK" in environment:
        return None
    return (
        "accelerate started one process here, as it does without several GPUs (with --cpu always); for several "
        "on this machine's CPU: accelerate launch --multi_gpu --num_processes 2 -m fcb_toolkit run ..., "
        "or torchrun --nproc-per-node 2 -m fcb_toolkit run ..."
    )


def run_launched(model: Model, work: Work, mine: Rank) -> Run:
    """The whole run in rank 0; in the others what they did, without verdicts.

    Raises `DataError` in rank 0 where another process ended before its share was done.
    """
    from fcb_toolkit.models.huggingface_launch import Table

    if work.out is None:
        raise DataError("several processes make one run on the disk; give evaluate(..., out=FOLDER)")
    table = Table(PATIENCE)
    with terminable() as stopped:
        if mine.rank == 0:
            return Lead(model, work, work.out, table, mine.world).run(stopped)
        try:
            return follow(model, work, work.out, table, mine.rank)
        except FcbError as error:
            raise DataError(f"rank {mine.rank} of {mine.world}: {error}") from None


class Lead:
    """Rank 0."""

    def __init__(self, model: Model, work: Work, out: Path, table: Any, world: int) -> None:
        self.model = model
        self.work = work
        self.out = out
        self.table = table
        self.world = world
        self.start = secrets.token_hex(4)

    def run(self, stopped: threading.Event) -> Run:
        try:
            manifest = make_manifest(self.model.describe(), self.work.settings)
            folder = RunFolder(self.out).begin(manifest, self.work.cases)
            store = Store(folder)
            shares = self.shares(store)
            plan = {"start": self.start, "manifest": manifest, "cases": disk.cases_sha256(self.work.cases)}
            self.table.set("plan", json.dumps({**plan, "shares": [[c.id for c in s] for s in shares]}))
        except BaseException as error:
            self.table.set("plan", json.dumps({"error": type(error).__name__}))
            raise
        try:
            notes = self.own_share(shares, store, stopped)
            if not notes:
                signal_ignored()
                folder.merge_shards()
            # Also those of the others, where this process was interrupted.
            store.replies = disk.read_replies(self.out, [])
        finally:
            store.close()
        return run_of(folder, store, notes)

    def own_share(
        self, shares: Sequence[Sequence[Case]], store: Store, stopped: threading.Event
    ) -> list[str]:
        """Does rank 0's share and waits for the others; notes say that it was interrupted."""
        try:
            own = replace(self.work, cases=tuple(shares[0]))
            notes = generate_missing(self.model, own, store) if shares[0] else []
            if not notes:
                self.await_others(shares)
        except KeyboardInterrupt:
            notes = ["interrupted while waiting for the other processes; run it again to go on"]
        if stopped.is_set():
            self.name_the_dead(shares, range(1, self.world))
        return notes

    def shares(self, store: Store) -> list[list[Case]]:
        """The cases of each rank. All prompts are written here, before any reply to one of them."""
        waiting, _ = self.work.waiting(store.replies)
        prompts = [prepare(self.model, case) for case in waiting]
        for prompt in prompts:
            store.add_prompt(prompt)
        parts = split([prompt.prompt for prompt in prompts], self.world)
        parts += [[] for _ in range(self.world - len(parts))]
        return [[waiting[i] for i in part] for part in parts]

    def await_others(self, shares: Sequence[Sequence[Case]]) -> None:
        """Returns when all others have done their share; raises as soon as one is seen to have ended before."""
        for rank in range(1, self.world):
            if not shares[rank]:
                continue
            file = shard_file(self.out, self.start, rank)
            if self.table.wait(f"open/{rank}", START_PATIENCE):
                if not file.exists():
                    raise DataError(
                        f"the file of rank {rank} is not in {file.parent}: all machines need the same disk "
                        "there; without one use --engine ray"
                    )
                has_ended(file, wait=True)
            self.name_the_dead(shares, [rank])

    def name_the_dead(self, shares: Sequence[Sequence[Case]], ranks: Iterable[int]) -> None:
        """Raises `DataError` if some of these processes ended before their share was done."""
        stored = disk.read_replies(self.out, []).keys()
        samples = range(self.work.settings.samples)
        dead = []
        for rank in ranks:
            wanted = {(case.id, sample) for case in shares[rank] for sample in samples}
            file = shard_file(self.out, self.start, rank)
            if not wanted <= stored and (not file.exists() or has_ended(file)):
                dead.append(
                    f"rank {rank} ended with {len(wanted - stored)} of its {len(wanted)} replies missing"
                )
        if dead:
            # The launcher ends all processes when one has died; this one says first what happened.
            signal_ignored()
            raise DataError(
                f"{'; '.join(dead)} (its own error stands above, or it was killed); what was done is kept: "
                "run the same command again, with any number of processes"
            )


def follow(model: Model, work: Work, out: Path, table: Any, rank: int) -> Run:
    """Any rank but 0: does its share into its own file."""
    plan = json.loads(table.get("plan"))
    if "error" in plan:
        raise DataError("rank 0 ended before the cases were shared out; its message says why")
    manifest = make_manifest(model.describe(), work.settings)
    try:
        check_same_run(out, plan["manifest"], manifest)
    except DataError as error:
        raise DataError(
            f"not the model or settings of rank 0, so that its replies would differ: {error}"
        ) from None
    if plan["cases"] != disk.cases_sha256(work.cases):
        raise DataError("not the cases of rank 0; the machines hold different copies of the benchmark")
    by_id = {case.id: case for case in work.cases}
    own = replace(
        work,
        cases=tuple(by_id[name] for name in plan["shares"][rank]),
        session=Session(False, work.session.should_stop, work.session.on_reply),
    )
    if not own.cases:
        return run_in_memory(manifest, own, Store(None), ())
    store = Store(Shard(shard_file(out, plan["start"], rank)))
    try:
        table.set(f"open/{rank}", "1")
        notes = generate_missing(model, own, store)
    finally:
        store.close()
    return run_in_memory(manifest, own, store, notes)


def shard_file(out: Path, start: str, rank: int) -> Path:
    return out / "shards" / f"{start}-{rank}.jsonl"


@contextmanager
def terminable() -> Iterator[threading.Event]:
    """SIGTERM, by which a launcher ends the others when one has died, interrupts as Ctrl-C does and sets the event."""
    stopped = threading.Event()

    def stop(number: int, frame: object) -> None:
        signal_ignored()
        stopped.set()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGTERM, before)


def signal_ignored() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
