"""Cases through a model, reply by reply onto the disk."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from fcb_toolkit.errors import DataError, FcbError, UnknownName, check_fields
from fcb_toolkit.models.base import Model, Wanted, generated
from fcb_toolkit.records import Case, Generation, Rendered, Reply
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.manifest import make_manifest
from fcb_toolkit.runs.record import Key, Run
from fcb_toolkit.runs.score import scored


def evaluate(
    model: Model,
    cases: Iterable[Case],
    out: str | Path | None = None,
    *,
    metrics: Sequence[str] | None = None,
    progress: bool = True,
    should_stop: Callable[[], bool] | None = None,
    on_reply: Callable[[Reply], None] | None = None,
    **generation: Any,
) -> Run:
    """Generates a reply to each case, scores it, and gives the `Run`.

    With `out`, each reply is appended there as it comes; called again with the same settings it goes on
    with the cases that have none. Ctrl-C, or `should_stop()` turning true, ends early: the run that
    comes back holds what was done, and `run.missing` says what was not.
    `metrics`: names computed beside each case's own (see `default_metrics`).
    `generation`: the fields of `fcb.Generation`.
    Raises `DataError` (cases that cannot be run together, an `out` that belongs to another run, a full
    disk) and `UnknownName` (a generation setting that does not exist).
    """
    settings = generation_settings(generation)
    cases = checked(tuple(cases))
    manifest = make_manifest(model, settings)
    folder = disk.RunFolder(Path(out), manifest, cases) if out is not None else None
    store = Store(folder)
    try:
        notes = generate_missing(model, cases, settings, store, Session(progress, should_stop, on_reply))
    finally:
        store.close()
    run = Run(
        folder.manifest if folder else {**manifest, "benchmark": disk.benchmark_of(cases)},
        folder.cases if folder else cases,
        tuple(store.replies.values()),
        disk.read_verdicts(folder.path) if folder else {},
        store.prompts,
        folder.path if folder else None,
        (*(folder.notes if folder else ()), *notes),
    )
    return finished(run, metrics)


def finished(run: Run, metrics: Sequence[str] | None) -> Run:
    """The run with its verdicts, which are written beside it."""
    run = scored(run, None, only_missing=True)
    if metrics:
        run = scored(run, metrics, only_missing=True)
    if run.path is not None:
        disk.write_verdicts(run.path, run.verdicts)
    return run


def generation_settings(given: dict[str, Any]) -> Generation:
    """Checked settings; the first wrong one is named with its value."""
    check_fields("generation setting", given, Generation)
    settings = Generation(**given)
    limits = {
        "max_new_tokens": settings.max_new_tokens >= 1,
        "temperature": settings.temperature >= 0,
        "top_p": 0 < settings.top_p <= 1,
        "samples": settings.samples >= 1 and (settings.samples == 1 or settings.temperature > 0),
        "batch_size": settings.batch_size is None or settings.batch_size >= 1,
        "constrain": settings.constrain in (None, "tools"),
    }
    expected = {
        "max_new_tokens": "at least 1",
        "temperature": "0 or more",
        "top_p": "above 0 and at most 1",
        "samples": "1, or more with a temperature above 0 (greedy samples are all the same)",
        "batch_size": "at least 1",
        "constrain": "None or 'tools'",
    }
    for name, right in limits.items():
        if not right:
            raise DataError(
                f"generation setting {name} is {getattr(settings, name)!r}, expected {expected[name]}"
            )
    return settings


def checked(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    if not cases:
        raise DataError("no cases to run; the selection is empty")
    seen: set[str] = set()
    for case in cases:
        if not isinstance(case, Case):
            raise DataError(f"cases hold {type(case).__name__}, expected Case; use fcb.Case.from_request")
        if case.id in seen:
            raise DataError(f"two cases have the id {case.id!r}; ids must be unique within a run")
        seen.add(case.id)
    return cases


class Session:
    """What the caller sees and decides while a run goes on."""

    def __init__(
        self, progress: bool, should_stop: Callable[[], bool] | None, on_reply: Callable[[Reply], None] | None
    ) -> None:
        self.progress = progress
        self.should_stop = should_stop or (lambda: False)
        self.on_reply = on_reply or (lambda reply: None)


class Store:
    """Replies and prompts, in memory and, where there is a folder, on disk first."""

    def __init__(self, folder: disk.RunFolder | None) -> None:
        self.folder = folder
        self.replies: dict[Key, Reply] = folder.replies if folder else {}
        self.prompts: dict[str, str] = folder.prompts if folder else {}
        # A model behind a server keeps each reply on the thread that got it.
        self._lock = threading.Lock()
        self._closed = False

    def add_prompt(self, rendered: Rendered) -> str:
        sha256 = hashlib.sha256(rendered.prompt.encode("utf-8", "surrogatepass")).hexdigest()
        if self.folder is not None:
            self.folder.add_prompt(sha256, rendered)
        else:
            self.prompts[sha256] = rendered.prompt
        return sha256

    def add_reply(self, reply: Reply) -> None:
        with self._lock:
            if reply.finish_reason == "error" and reply.key in self.replies:
                return
            if self._closed:
                return
            if self.folder is not None:
                self.folder.add_reply(reply)
            else:
                self.replies[reply.key] = reply

    def close(self) -> None:
        """From now on a reply that comes too late is dropped; it is asked for again."""
        with self._lock:
            self._closed = True
            if self.folder is not None:
                self.folder.close()


def generate_missing(
    model: Model, cases: Sequence[Case], settings: Generation, store: Store, session: Session
) -> list[str]:
    """Generates what the store lacks; gives notes. A reply that ended in an error is asked for again."""
    keys = [(case, sample) for case in cases for sample in range(settings.samples)]
    done = {(case.id, n) for case, n in keys if _is_done(store.replies.get((case.id, n)))}
    waiting = [case for case in cases if any((case.id, n) not in done for n in range(settings.samples))]
    notes: list[str] = []
    if not waiting:
        return notes
    prompts = [prepare(model, case) for case in waiting]
    hashes = [store.add_prompt(prompt) for prompt in prompts]

    def keep(index: int, reply: Reply) -> None:
        prompt = prompts[index]
        store.add_reply(
            replace(
                reply,
                case_id=waiting[index].id,
                prompt_sha256=hashes[index],
                format=reply.format or prompt.format,
            )
        )

    have = frozenset(
        (i, n) for i, case in enumerate(waiting) for n in range(settings.samples) if (case.id, n) in done
    )
    bar = tqdm(total=len(keys), initial=len(done), unit="reply", disable=not session.progress)
    with bar, closing(generated(model, Wanted(prompts, settings, keep, have))) as stream:
        try:
            for index, reply in stream:
                session.on_reply(store.replies[waiting[index].id, reply.sample])
                bar.update(1)
                if session.should_stop():
                    notes.append(f"stopped on request after {len(store.replies)} of {len(keys)} replies")
                    break
        except KeyboardInterrupt:
            notes.append(
                f"interrupted after {len(store.replies)} of {len(keys)} replies; run it again to go on"
            )
    return notes


def _is_done(reply: Reply | None) -> bool:
    return reply is not None and reply.finish_reason != "error"


def prepare(model: Model, case: Case) -> Rendered:
    """The case's prompt; an error names the case."""
    try:
        return model.prepare(case.messages, case.tools)
    except FcbError as error:
        if isinstance(error, UnknownName):
            raise
        raise type(error)(f"{case.id}: {error}") from None
