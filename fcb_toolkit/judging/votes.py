"""A judge's votes on disk, found again by everything that they depend on.

votes = Votes(run.path)                       # DIR/judge/votes.jsonl, None: in memory
votes.get(vote_key(model.describe(), settings, prompt, 0, 0))
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Generation

FILE = "judge/votes.jsonl"
SALT = "judge/.salt"
"""Makes the idempotency keys of one folder its own: the same run judged again elsewhere is another judging."""
_NOT_IDENTITY = ("notes", "device", "engine", "batch_size")


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer of a judge. `verdict` is pass, fail, or None where the answer could not be read.

    `vote` counts from 0; `attempt` is 1 where the judge was asked once more; `order` is the rubric's.
    """

    key: str
    case_id: str
    sample: int
    judge: str
    kind: str
    vote: int
    attempt: int
    verdict: str | None
    text: str
    reply_chars: int = 0
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    seconds: float | None = None
    order: str = "given"


def vote_key(judge: Mapping[str, Any], settings: Generation, prompt: str, vote: int, attempt: int) -> str:
    """Hash of judge, settings and prompt (which holds rubric, case and reply), and which vote it is."""
    who = {name: value for name, value in judge.items() if name not in _NOT_IDENTITY}
    how = {name: value for name, value in asdict(settings).items() if name not in _NOT_IDENTITY}
    text = json.dumps([who, how, prompt, vote, attempt], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class Votes:
    """The cache. What a killed judging had written is there again; half a line is cut off.

    Threads may add to it. A vote that comes after `close` is dropped; it is asked for again.
    """

    def __init__(self, folder: Path | None) -> None:
        self._votes: dict[str, Vote] = {}
        self._out: jsonl.Appender | None = None
        self._file_lock: int | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._salt = secrets.token_hex(16)
        if folder is not None:
            self._file_lock = _take_lock(folder / FILE)
            rows, tail = jsonl.read_appended(folder / FILE)
            self._votes = {row["key"]: _vote(row) for row in rows}
            self._out = jsonl.Appender(folder / FILE, drop=len(tail or b""))
            self._salt = _kept_salt(folder / SALT, self._salt)

    def get(self, key: str) -> Vote | None:
        return self._votes.get(key)

    def request_id(self, key: str) -> str:
        """What identifies the call of a vote to the server, the same after a restart, another in another folder.

        A server or gateway that honours `Idempotency-Key` answers a call that it has answered from its memory.
        """
        return hashlib.sha256(f"{self._salt} {key}".encode()).hexdigest()

    def add(self, vote: Vote) -> None:
        with self._lock:
            if self._closed:
                return
            if self._out is not None:
                self._out.append(asdict(vote))
            self._votes[vote.key] = vote

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._out is not None:
                self._out.close()
            if self._file_lock is not None:
                os.close(self._file_lock)


def _kept_salt(file: Path, new: str) -> str:
    if not file.exists():
        jsonl.write_atomic(file, new)
    return jsonl.read_text(file)


def _take_lock(file: Path) -> int:
    """Two judgings at once would pay twice for the same votes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(file.parent / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise DataError(f"{file}: another process is judging this run; wait for it") from None
    return lock


def read_votes(folder: Path) -> tuple[Vote, ...]:
    """All votes kept beside a run, of whatever judge and rubric, in the order they came."""
    return tuple(_vote(row) for row in jsonl.read_appended(folder / FILE)[0])


def _vote(row: Mapping[str, Any]) -> Vote:
    return Vote(**{f.name: row[f.name] for f in fields(Vote) if f.name in row})
