"""The one writer of a run's folder.

    folder = RunFolder(Path("runs/demo")).begin(manifest, cases)   # locked; checked; what is stored is read
    folder.add_reply(reply)                                        # on the disk when it returns
    folder.close()

Several processes of one start (`processes`) write one file each: the first `replies.jsonl`, the others
`shards/<start>-<rank>.jsonl`. Whoever opens the folder next, or the first process at the end, merges them.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, Generation, Rendered, Reply
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.record import Key

IDENTITY = ("model", "generation")
"""Parts of the manifest that may not change when a run goes on."""
NOT_IDENTITY = frozenset({"batch_size", "notes", "device", "engine"})
"""Names in them that may: where and in what order replies are computed, not what they are."""


class Place(Protocol):
    """Where a process puts its replies: the run's folder, or its own shard."""

    @property
    def replies(self) -> dict[Key, Reply]: ...

    @property
    def prompts(self) -> dict[str, str]: ...

    def add_prompt(self, sha256: str, rendered: Rendered) -> None: ...

    def add_reply(self, reply: Reply) -> None: ...

    def close(self) -> None: ...


class RunFolder:
    """Holds a lock while open; what is stored is read at once, nothing is written before `begin`.

    Raises `DataError` if the folder is not empty and no run, or another process writes it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{path}: cannot be made: {error.strerror}; choose another --out") from None
        foreign = [name.name for name in path.iterdir() if not name.name.startswith(".")]
        known = (path / "manifest.json").exists()
        if foreign and not known:
            raise DataError(f"{path}: is not empty and not a run (found {foreign[0]}); choose another --out")
        self._lock = _take_lock(path)
        self._files: list[jsonl.Appender] = []
        try:
            self.manifest = disk.read_manifest(path) if known else {}
            file = path / "cases.jsonl"
            self.cases = tuple(disk.read_rows(file, jsonl.read_appended(file)[0], disk.case_of))
            file = path / "prompts.jsonl"
            rows, _ = disk.read_tail_tolerant(file, self.notes)
            self.prompts: dict[str, str] = dict(disk.read_rows(file, rows, disk.prompt_of))
            self.replies: dict[Key, Reply] = disk.read_replies(path, self.notes)
        except BaseException:
            os.close(self._lock)
            raise

    def begin(self, manifest: Mapping[str, Any], cases: Iterable[Case]) -> RunFolder:
        """Checks that this is the same run, merges shards, and opens the files for appending.

        Raises `DataError`, with nothing written, if the folder belongs to another run.
        """
        try:
            self.check(manifest)
            self.cases = self.with_cases(cases)
            # First, since a folder with anything but a manifest is not taken for a run.
            self._write_manifest(manifest)
            jsonl.write_lines(self.path / "cases.jsonl", map(disk.case_row, self.cases))
            self.merge_shards()
            for name in ("prompts.jsonl", "replies.jsonl"):
                file = self.path / name
                self._files.append(jsonl.Appender(file, drop=len(jsonl.read_appended(file)[1] or b"")))
            self._prompts, self._replies = self._files
        except BaseException:
            self.close()
            raise
        return self

    def check(self, manifest: Mapping[str, Any], parts: Sequence[str] = IDENTITY) -> None:
        """Raises `DataError` where the run on the disk was made with other settings."""
        if self.manifest:
            check_same_run(self.path, self.manifest, manifest, parts)

    def add_prompt(self, sha256: str, rendered: Rendered) -> None:
        if sha256 in self.prompts:
            return
        self.prompts[sha256] = rendered.prompt
        self._prompts.append(
            {
                "sha256": sha256,
                "prompt": rendered.prompt,
                "shape": rendered.shape,
                "mode": rendered.mode,
                "format": rendered.format,
                "notes": list(rendered.notes),
            }
        )

    def add_reply(self, reply: Reply) -> None:
        self._replies.append(asdict(reply))
        self.replies[reply.key] = reply

    def merge_shards(self) -> None:
        """Writes all replies, in the order of the cases, into `replies.jsonl` and removes merged shards.

        A kill in the middle leaves the shards, and merging them again changes nothing. A shard whose writer
        still runs is read but stays.
        """
        files = disk.shard_files(self.path)
        if not files:
            return
        # Before they are read: the file of a process that has ended grows no more.
        ended = [file for file in files if has_ended(file)]
        self.replies = disk.read_replies(self.path, [])
        place = {case.id: index for index, case in enumerate(self.cases)}
        rows = sorted(self.replies.values(), key=lambda r: (place.get(r.case_id, len(place)), r.key))
        self.replies = {reply.key: reply for reply in rows}
        jsonl.write_lines(self.path / "replies.jsonl", map(asdict, rows))
        for file in ended:
            file.unlink()
        remove_empty(self.path / "shards")

    def close(self) -> None:
        """Also twice."""
        for file in self._files:
            file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def with_cases(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """The stored cases and these. Raises `DataError` where one of an id differs from the stored one."""
        old = {case.id: case for case in self.cases}
        for case in cases:
            before = old.setdefault(case.id, case)
            # Compared as JSON, since a tuple in memory is a list on disk.
            if before is not case and disk.cases_sha256([before]) != disk.cases_sha256([case]):
                raise DataError(
                    f"{self.path}: belongs to another run: its case {case.id} differs from the one given "
                    "(the benchmark's file changed?); choose another --out"
                )
        return tuple(old.values())

    def _write_manifest(self, manifest: Mapping[str, Any]) -> None:
        self.manifest = {**manifest, "benchmark": disk.benchmark_of(self.cases)}
        jsonl.write_atomic(
            self.path / "manifest.json", json.dumps(self.manifest, ensure_ascii=False, indent=2) + "\n"
        )


class Shard:
    """The file of one process of a start that is not the first: locked as long as the process lives.

    The lock is the sign of life: the kernel gives it up with the process, however that ends.
    """

    def __init__(self, file: Path) -> None:
        self.replies: dict[Key, Reply] = {}
        self.prompts: dict[str, str] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.touch()
        self._lock = os.open(new, os.O_RDWR)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Under its own name it is never seen without its lock.
        new.rename(file)
        self._file = jsonl.Appender(file)

    def add_prompt(self, sha256: str, rendered: Rendered) -> None:
        """The first process has written all prompts."""
        self.prompts[sha256] = rendered.prompt

    def add_reply(self, reply: Reply) -> None:
        self._file.append(asdict(reply))
        self.replies[reply.key] = reply

    def close(self) -> None:
        self._file.close()
        os.close(self._lock)


def has_ended(file: Path, *, wait: bool = False) -> bool:
    """Whether no process holds the shard any more; with `wait`, returns when that is so."""
    handle = os.open(file, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # a process of an earlier start still writes there


def check_same_run(
    path: Path, old: Mapping[str, Any], new: Mapping[str, Any], parts: Sequence[str] = IDENTITY
) -> None:
    """Raises `DataError` naming the first setting that differs."""
    for part in parts:
        before, now = old.get(part) or {}, json.loads(json.dumps(new.get(part) or {}))
        if part == "generation":  # a setting that did not exist yet had its default
            before = {**asdict(Generation()), **before}
        for name in sorted({*before, *now} - NOT_IDENTITY):
            if before.get(name) != now.get(name):
                raise DataError(
                    f"{path}: belongs to another run: {part}.{name} is {before.get(name)!r} there and "
                    f"{now.get(name)!r} now; choose another --out, or use the same settings"
                )


def _take_lock(path: Path) -> int:
    lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise DataError(
            f"{path}: another process is writing this run; wait for it, or choose another --out"
        ) from None
    return lock
