"""A run's folder: what is in which file, and how each is read again after a kill at any byte.

DIR/manifest.json           what was run, with which versions
DIR/cases.jsonl             the cases, so that the run can be scored without the benchmark
DIR/prompts.jsonl           sha256 -> prompt as sent, shape, mode, notes
DIR/replies.jsonl           appended as they come
DIR/shards/*.jsonl          replies of the other processes of one start, until they are merged (`folder`)
DIR/verdicts/<metric>.jsonl
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, FailureKind, Outcome, Reply, Verdict
from fcb_toolkit.runs.record import Key

T = TypeVar("T")


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


def shard_files(path: Path) -> list[Path]:
    """Files of replies that are not merged into `replies.jsonl` yet."""
    try:
        return sorted((path / "shards").glob("*.jsonl"))
    except FileNotFoundError:  # merged and removed between two looks
        return []


def read_replies(path: Path, notes: list[str]) -> dict[Key, Reply]:
    """All stored replies of a run, those of its shards included: the first of each case and sample that did
    not end in an error."""
    # The shards first: they may be merged into the main file meanwhile, and would be missed after it.
    shards = [reply for file in shard_files(path) for reply in _replies(file, notes)]
    replies: dict[Key, Reply] = {}
    for reply in (*_replies(path / "replies.jsonl", notes), *shards):
        put(replies, reply)
    return replies


def _replies(file: Path, notes: list[str]) -> list[Reply]:
    try:
        return read_rows(file, read_tail_tolerant(file, notes)[0], reply_of)
    except FileNotFoundError:
        return []


def put(replies: dict[Key, Reply], reply: Reply) -> None:
    """Adds a reply where there is none yet, or only one that ended in an error."""
    if not is_done(replies.get(reply.key)):
        replies[reply.key] = reply


def is_done(reply: Reply | None) -> bool:
    return reply is not None and reply.finish_reason != "error"
