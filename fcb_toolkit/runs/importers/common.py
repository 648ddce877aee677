"""What all importers share: where a file came from, and the run made of its parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import kind_of
from fcb_toolkit.records import Case, FailureKind, Reply, Verdict
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.record import Key, Run

Rows = list[tuple[int, dict[str, Any]]]
"""(line number, object) of a JSON Lines file."""
Verdicts = Mapping[str, Mapping[Key, Verdict]]


@dataclass(frozen=True, slots=True)
class Source:
    """The file that is read, the folder with the benchmark's data, and the model's name if given."""

    path: Path
    data: Path | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """What a reader found."""

    format: str
    model: str
    cases: tuple[Case, ...]
    replies: tuple[Reply, ...]
    verdicts: Verdicts
    notes: tuple[str, ...] = ()


def make_run(source: Source, parts: Parts) -> Run:
    """The run in memory, with where it came from in its manifest. Raises `DataError` for doubled replies."""
    keys = [reply.key for reply in parts.replies]
    twice = next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) < len(keys) else None
    if twice is not None:
        raise DataError(f"{source.path}: two replies to {twice[0]} sample {twice[1]}, expected one")
    if not parts.replies:
        raise DataError(f"{source.path}: holds no reply, expected one a row")
    benchmark = ", ".join(sorted({case.benchmark for case in parts.cases}))
    manifest = {
        "name": source.path.stem,
        "benchmark": {"name": benchmark, "sha256": disk.cases_sha256(parts.cases), "cases": len(parts.cases)},
        "model": {"id": source.model or parts.model or "unknown"},
        "imported": {
            "format": parts.format,
            "file": source.path.name,
            "sha256": hashlib.sha256(source.path.read_bytes()).hexdigest(),
        },
    }
    verdicts = {
        metric: {key: replace(verdict, metric=metric) for key, verdict in rows.items()}
        for metric, rows in parts.verdicts.items()
        if rows
    }
    return Run(manifest, parts.cases, parts.replies, verdicts, notes=parts.notes)


def recorded(
    passed: bool | None, reason: str, *, failure: FailureKind = FailureKind.WRONG_VALUE, **details: Any
) -> Verdict:
    """A verdict as another tool recorded it; None where it recorded none that can be read.

    Other tools do not say which kind of failure it was; `details["recorded"]` marks that ours is a stand-in.
    """
    if passed is None:
        return Verdict.not_scored(reason, recorded=True, **details)
    if passed:
        return Verdict.passed(reason, recorded=True, **details)
    return Verdict.failed(failure, reason, recorded=True, **details)


def need(row: Mapping[str, Any], key: str, kind: type | tuple[type, ...], where: str) -> Any:
    """The row's value of that type; `DataError` names file, line and what was found."""
    value = row.get(key)
    if not isinstance(value, kind):
        names = {dict: "an object", list: "a list", str: "a string", int: "a number"}
        kinds = kind if isinstance(kind, tuple) else (kind,)
        found = f"{key!r} is {kind_of(value)}" if key in row else f"no key {key!r}"
        expected = " or ".join(names.get(one, one.__name__) for one in kinds)
        raise DataError(f"{where}: {found}, expected {expected}")
    return value


def unique(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Each case once, in order: samples of one case share it."""
    return tuple({case.id: case for case in cases}.values())
