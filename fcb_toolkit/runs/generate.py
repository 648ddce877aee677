"""Cases through a model, reply by reply into a store."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from fcb_toolkit.errors import FcbError, UnknownName
from fcb_toolkit.models.base import Model, Wanted, generated
from fcb_toolkit.records import Case, Generation, Rendered, Reply
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.disk import is_done
from fcb_toolkit.runs.folder import Place, RunFolder
from fcb_toolkit.runs.record import Key, Run


class Session:
    """What the caller sees and decides while a run goes on."""

    def __init__(
        self, progress: bool, should_stop: Callable[[], bool] | None, on_reply: Callable[[Reply], None] | None
    ) -> None:
        self.progress = progress
        self.should_stop = should_stop or (lambda: False)
        self.on_reply = on_reply or (lambda reply: None)


@dataclass(frozen=True)
class Work:
    """What is to be done, whoever does it. `out` is None for a run in memory."""

    cases: tuple[Case, ...]
    settings: Generation
    out: Path | None
    session: Session

    def waiting(self, replies: Mapping[Key, Reply]) -> tuple[list[Case], set[Key]]:
        """(cases that lack a reply, keys of the replies that are there). One that ended in an error is lacking."""
        keys = [(case.id, sample) for case in self.cases for sample in range(self.settings.samples)]
        done = {key for key in keys if is_done(replies.get(key))}
        lacking = {key[0] for key in keys if key not in done}
        return [case for case in self.cases if case.id in lacking], done


class Store:
    """Replies and prompts, in memory and, where there is a place for them, on disk first."""

    def __init__(self, place: Place | None) -> None:
        self.place = place
        self.replies: dict[Key, Reply] = place.replies if place else {}
        self.prompts: dict[str, str] = place.prompts if place else {}
        # A model behind a server keeps each reply on the thread that got it.
        self._lock = threading.Lock()
        self._closed = False

    def add_prompt(self, rendered: Rendered) -> str:
        sha256 = hashlib.sha256(rendered.prompt.encode("utf-8", "surrogatepass")).hexdigest()
        if self.place is not None:
            self.place.add_prompt(sha256, rendered)
        else:
            self.prompts[sha256] = rendered.prompt
        return sha256

    def add_reply(self, reply: Reply) -> None:
        with self._lock:
            if reply.finish_reason == "error" and reply.key in self.replies:
                return
            if self._closed:
                return
            if self.place is not None:
                self.place.add_reply(reply)
            else:
                self.replies[reply.key] = reply

    def close(self) -> None:
        """From now on a reply that comes too late is dropped; it is asked for again."""
        with self._lock:
            self._closed = True
            if self.place is not None:
                self.place.close()


def generate_missing(model: Model, work: Work, store: Store) -> list[str]:
    """Generates what the store lacks; gives notes. A reply that ended in an error is asked for again."""
    waiting, done = work.waiting(store.replies)
    notes: list[str] = []
    if not waiting:
        return notes
    prompts = [prepare(model, case) for case in waiting]
    hashes = [store.add_prompt(prompt) for prompt in prompts]

    def keep(index: int, reply: Reply) -> None:
        store.add_reply(complete(reply, waiting[index], prompts[index], hashes[index]))

    samples = range(work.settings.samples)
    have = frozenset((i, n) for i, case in enumerate(waiting) for n in samples if (case.id, n) in done)
    total = len(work.cases) * work.settings.samples
    bar = tqdm(total=total, initial=len(done), unit="reply", disable=not work.session.progress)
    with bar, closing(generated(model, Wanted(prompts, work.settings, keep, have))) as stream:
        try:
            for index, reply in stream:
                work.session.on_reply(store.replies[waiting[index].id, reply.sample])
                bar.update(1)
                if work.session.should_stop():
                    notes.append(f"stopped on request after {len(store.replies)} of {total} replies")
                    break
        except KeyboardInterrupt:
            notes.append(f"interrupted after {len(store.replies)} of {total} replies; run it again to go on")
    return notes


def complete(reply: Reply, case: Case, prompt: Rendered, sha256: str) -> Reply:
    """A model's reply with what only the run knows."""
    return replace(reply, case_id=case.id, prompt_sha256=sha256, format=reply.format or prompt.format)


def prepare(model: Model, case: Case) -> Rendered:
    """The case's prompt; an error names the case."""
    try:
        return model.prepare(case.messages, case.tools)
    except FcbError as error:
        if isinstance(error, UnknownName):
            raise
        raise type(error)(f"{case.id}: {error}") from None


def run_of(folder: RunFolder, store: Store, notes: Sequence[str]) -> Run:
    """The run as it lies in its folder."""
    return Run(
        folder.manifest,
        folder.cases,
        tuple(store.replies.values()),
        disk.read_verdicts(folder.path),
        store.prompts,
        folder.path,
        (*folder.notes, *notes),
    )


def run_in_memory(manifest: Mapping[str, Any], work: Work, store: Store, notes: Sequence[str]) -> Run:
    whole = {**manifest, "benchmark": disk.benchmark_of(work.cases)}
    return Run(whole, work.cases, tuple(store.replies.values()), {}, store.prompts, None, tuple(notes))
