"""A run's folder: what is in which file, how it is opened again after a kill at any byte.

DIR/manifest.json           what was run, with which versions
DIR/cases.jsonl             the cases, so that the run can be scored without the benchmark
DIR/prompts.jsonl           sha256 -> prompt as sent, shape, mode, notes
DIR/replies.jsonl           appended as they come
DIR/verdicts/<metric>.jsonl
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, FailureKind, Outcome, Rendered, Reply, Verdict
from fcb_toolkit.runs.record import Key

T = TypeVar("T")

IDENTITY = ("model", "generation")
"""Parts of the manifest that may not change when a run goes on."""


def case_row(case: Case) -> dict[str, Any]:
    return asdict(case)


def read_rows(
    file: Path, rows: Iterable[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], T]
) -> list[T]:
    """Each row as a record; `DataError` names the file where a row is JSON but not such a record."""
    records = []
    for number, row in enumerate(rows, 1):
        try:
            records.append(read(row))
        except (KeyError, TypeError, ValueError) as error:
            missing = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise DataError(
                f"{file} record {number}: not what this file holds ({missing}); restore the file or delete that line"
            ) from None
    return records


def case_of(row: Mapping[str, Any]) -> Case:
    known = {f.name for f in fields(Case)}
    values = {name: value for name, value in row.items() if name in known}
    values["messages"] = tuple(values["messages"])
    values["tools"] = tuple(values.get("tools", ()))
    return Case(**values)


def reply_of(row: Mapping[str, Any]) -> Reply:
    known = {f.name for f in fields(Reply)}
    values = {name: value for name, value in row.items() if name in known}
    values["notes"] = tuple(values.get("notes", ()))
    return Reply(**values)


def prompt_of(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["sha256"], row["prompt"]


def verdict_row(key: Key, verdict: Verdict) -> dict[str, Any]:
    return {"case_id": key[0], "sample": key[1], **asdict(verdict)}


def verdict_of(row: Mapping[str, Any]) -> tuple[Key, Verdict]:
    failure = FailureKind(row["failure"]) if row.get("failure") else None
    verdict = Verdict(
        Outcome(row["outcome"]),
        failure,
        row.get("reason", ""),
        row.get("metric", ""),
        row.get("details") or {},
    )
    return (row["case_id"], row.get("sample", 0)), verdict


def cases_sha256(cases: Iterable[Case]) -> str:
    digest = hashlib.sha256()
    for case in cases:
        digest.update(json.dumps(case_row(case), sort_keys=True).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def benchmark_of(cases: Sequence[Case]) -> dict[str, Any]:
    """The manifest's `benchmark`: names, hash and number of these cases."""
    names = ", ".join(sorted({case.benchmark for case in cases}))
    return {"name": names, "sha256": cases_sha256(cases), "cases": len(cases)}


def read_manifest(path: Path) -> dict[str, Any]:
    """Raises `DataError` for a folder without a run, or with a manifest that is not one."""
    file = path / "manifest.json"
    if not path.exists():
        raise DataError(f"{path}: no such run; expected a folder that `fcb run --out` made")
    if not file.exists():
        raise DataError(
            f"{path}: holds no manifest.json, so it is not a run; expected a folder that `fcb run` made"
        )
    try:
        manifest = json.loads(jsonl.read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: not JSON ({error}); restore it or start in another folder") from None
    if not isinstance(manifest, dict):
        raise DataError(f"{file}: found {jsonl.kind_of(manifest)}, expected an object")
    return manifest


def read_verdicts(path: Path) -> dict[str, dict[Key, Verdict]]:
    folder = path / "verdicts"
    found: dict[str, dict[Key, Verdict]] = {}
    for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else []:
        rows, _ = jsonl.read_appended(file)
        found[file.stem] = dict(read_rows(file, rows, verdict_of))
    return found


def write_verdicts(path: Path, verdicts: Mapping[str, Mapping[Key, Verdict]]) -> None:
    for metric, rows in verdicts.items():
        jsonl.write_lines(path / "verdicts" / f"{metric}.jsonl", (verdict_row(k, v) for k, v in rows.items()))


def read_tail_tolerant(path: Path, notes: list[str]) -> tuple[list[dict[str, Any]], int]:
    """Rows of an appended file and the length of a half-written tail, which is noted."""
    rows, tail = jsonl.read_appended(path)
    if tail:
        notes.append(f"{path.name}: a half-written last line of {len(tail)} bytes was dropped")
    return rows, len(tail or b"")


class RunFolder:
    """The one writer of a run's folder. Holds a lock while open.

    Raises `DataError` if the folder belongs to another run, is not empty, or another process writes it.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], cases: Iterable[Case]) -> None:
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
        self._lock = self._take_lock()
        try:
            if known:
                check_same_run(path, read_manifest(path), manifest)
            self.cases = self._add_cases(list(cases))
            self._write_manifest(manifest)
            rows, drop_prompts = read_tail_tolerant(path / "prompts.jsonl", self.notes)
            self.prompts: dict[str, str] = dict(read_rows(path / "prompts.jsonl", rows, prompt_of))
            rows, drop = read_tail_tolerant(path / "replies.jsonl", self.notes)
            replies = read_rows(path / "replies.jsonl", rows, reply_of)
            self.replies: dict[Key, Reply] = {reply.key: reply for reply in replies}
            self._prompts = jsonl.Appender(path / "prompts.jsonl", drop=drop_prompts)
            self._replies = jsonl.Appender(path / "replies.jsonl", drop=drop)
        except BaseException:
            os.close(self._lock)
            raise

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

    def close(self) -> None:
        self._prompts.close()
        self._replies.close()
        os.close(self._lock)

    def _take_lock(self) -> int:
        lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise DataError(
                f"{self.path}: another process is writing this run; wait for it, or choose another --out"
            ) from None
        return lock

    def _add_cases(self, cases: list[Case]) -> tuple[Case, ...]:
        file = self.path / "cases.jsonl"
        old = {case.id: case for case in read_rows(file, jsonl.read_appended(file)[0], case_of)}
        for case in cases:
            before = old.setdefault(case.id, case)
            # Compared as JSON, since a tuple in memory is a list on disk.
            if before is not case and cases_sha256([before]) != cases_sha256([case]):
                raise DataError(
                    f"{self.path}: belongs to another run: its case {case.id} differs from the one given "
                    "(the benchmark's file changed?); choose another --out"
                )
        jsonl.write_lines(file, map(case_row, old.values()))
        return tuple(old.values())

    def _write_manifest(self, manifest: Mapping[str, Any]) -> None:
        whole = {**manifest, "benchmark": benchmark_of(self.cases)}
        jsonl.write_atomic(
            self.path / "manifest.json", json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
        )
        self.manifest = whole


def check_same_run(path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises `DataError` naming the first setting that differs."""
    for part in IDENTITY:
        before, now = old.get(part) or {}, json.loads(json.dumps(new.get(part) or {}))
        for name in sorted({*before, *now} - {"batch_size", "notes", "device", "engine"}):
            if before.get(name) != now.get(name):
                raise DataError(
                    f"{path}: belongs to another run: {part}.{name} is {before.get(name)!r} there and "
                    f"{now.get(name)!r} now; choose another --out, or use the same settings"
                )
