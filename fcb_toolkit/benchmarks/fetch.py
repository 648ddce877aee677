"""Public benchmarks from their own repositories: pinned commit, sha256, retry, resume, atomic rename.

    fetch("functionchat")                        # into home()/functionchat
    fetch("functionchat", from_path="../copy")   # a local copy, checked the same way

`FCB_HOME` moves the folder; `FCB_MIRROR` replaces the address that the files come from.
urllib and not pooch: pooch has no resume.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from platformdirs import user_cache_path
from tqdm.auto import tqdm

from fcb_toolkit.errors import DataError, UnknownName

TRIES = 4
CHUNK = 1 << 16
RETRIED_STATUS = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Remote:
    """Where a benchmark's files lie, at which commit, and what they hash to."""

    repository: str
    commit: str
    files: Mapping[str, tuple[str, str]]
    """local name -> (path in the repository, sha256)"""
    licence: str
    citation: str


REMOTES: Mapping[str, Remote] = {
    "functionchat": Remote(
        "kakao/FunctionChat-Bench",
        "cb32af378a2b94ee84fc4d3cb50302377c7ff679",
        {
            "FunctionChat-Singlecall.jsonl": (
                "data/FunctionChat-Singlecall.jsonl",
                "3f74ed04cb9f1e0b6bc16845e5b6c69a3e75363f084b00825c9794df071a4aaf",
            ),
            "FunctionChat-Dialog.jsonl": (
                "data/FunctionChat-Dialog.jsonl",
                "2596361f101421c4404cb9f855d43ed20bb9f58a4f66cbba030da2f657ef630e",
            ),
            "FunctionChat-CallDecision.jsonl": (
                "data/FunctionChat-CallDecision.jsonl",
                "7fe66417cd82a6d40741d4f3d850c9ecb80df192819564303bdad226db5d1625",
            ),
            "system_prompt.txt": (
                "data/system_prompt.txt",
                "d3119289419168fe2b23d54b85492b9c523427cb71caa1957c1395bdcfa16af9",
            ),
            "rubric_call.txt": (
                "data/rubric_call.txt",
                "e88611fb223f2ea21853b988e259055f25867eba0dbbe8efe166ae5e2a8602e9",
            ),
            "rubric_completion.txt": (
                "data/rubric_completion.txt",
                "1df7e9530e92f893cb6707cecd08dc6d7d1c13c616f194b9d55e966561677e06",
            ),
            "rubric_slot.txt": (
                "data/rubric_slot.txt",
                "12c62fa318a05266485db4b1ca3e65e299d5337d1135f3592ee23888fc6d3324",
            ),
            "rubric_relevance.txt": (
                "data/rubric_relevance.txt",
                "168d310674f61ae61131fc280fa50806e8acb57a5ff57bd8b10a2f3a074e0203",
            ),
        },
        "Apache-2.0",
        "Lee et al., FunctionChat-Bench: Comprehensive Evaluation of Language Models' Generative Capabilities "
        "in Korean Tool-use Dialogs, 2024, arXiv:2411.14054",
    ),
    "dpab": Remote(
        "firstbatchxyz/function-calling-eval",
        "7aa8498",
        {
            "eval_alpha.jsonl": (
                "data/eval_alpha.jsonl",
                "0b1d53bcae8c02e7586fd79dddf95516b35773c3684b8ea713336d3db3ad1e01",
            ),
            "system_prompt_pythonic.txt": (
                "eval/pythonic/system_prompt.txt",
                "f7dd2f5ba6c8ca2ea23b4191d7817d3ba969249e604d3363101601fec27d7a14",
            ),
            "system_prompt_json.txt": (
                "eval/json_mode/system_prompt.txt",
                "287921262224255ba3b1a2c474c378437b242565ec253de072272fbd94b2cb8e",
            ),
        },
        "MIT according to its pyproject.toml; the repository holds no LICENSE file",
        "FirstBatch, DPAB-alpha: Dria Pythonic Agent Benchmark, 2025, github.com/firstbatchxyz/function-calling-eval",
    ),
}


def home() -> Path:
    """Where fetched benchmarks lie: `FCB_HOME`, else the user's cache folder."""
    given = os.environ.get("FCB_HOME")
    return Path(given).expanduser() if given else user_cache_path("fcb_toolkit")


def remote_of(name: str) -> tuple[str, Remote]:
    """`functionchat`, or one of its subsets as in `functionchat/dialog`."""
    family = name.split("/")[0]
    if family not in REMOTES:
        raise UnknownName("benchmark to fetch", name, REMOTES)
    return family, REMOTES[family]


def fetch(name: str, from_path: str | Path | None = None, *, progress: bool = True) -> Path:
    """Downloads (or copies from `from_path`) a benchmark's files; gives their folder.

    Files that are there and whole are kept; a half-downloaded one goes on where it stopped. Each is
    checked against its sha256 before it gets its name. Raises `DataError` where a file cannot be had.
    """
    family, remote = remote_of(name)
    folder = home() / family
    folder.mkdir(parents=True, exist_ok=True)
    for local, (path, sha256) in remote.files.items():
        target = folder / local
        if target.exists() and _sha256(target) == sha256:
            continue
        if from_path is not None:
            _copy(Path(from_path).expanduser(), local, target, sha256)
        else:
            _download(_address(remote, path), target, sha256, progress)
    return folder


def _address(remote: Remote, path: str) -> str:
    base = os.environ.get("FCB_MIRROR", "https://github.com")
    return f"{base.rstrip('/')}/{remote.repository}/raw/{remote.commit}/{path}"


def _copy(folder: Path, local: str, target: Path, sha256: str) -> None:
    source = folder / local
    if not source.is_file():
        raise DataError(f"{source}: no such file; --from takes a folder that holds {local}")
    part = target.with_name(target.name + ".part")
    shutil.copyfile(source, part)
    _accept(part, target, sha256, str(source))


def _download(address: str, target: Path, sha256: str, progress: bool) -> None:
    part = target.with_name(target.name + ".part")
    failure = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(float(os.environ.get("FCB_RETRY_SECONDS", 1)) * 2 ** (attempt - 1))
        try:
            _receive(address, part, progress)
            _accept(part, target, sha256, address)
            return
        except urllib.error.HTTPError as error:
            failure = f"HTTP status {error.code}"
            if error.code == 416:
                part.unlink(missing_ok=True)
            elif error.code not in RETRIED_STATUS:
                break
        except (urllib.error.URLError, HTTPException, OSError) as error:
            failure = str(getattr(error, "reason", error))
            if _no_network(error):
                break
    raise DataError(
        f"{address}: cannot be downloaded ({failure}); what came so far is kept, run the command again, "
        "or take a local copy with --from FOLDER"
    )


def _no_network(error: BaseException) -> bool:
    """A name that cannot be resolved will not be resolved a second later either."""
    return isinstance(getattr(error, "reason", error), socket.gaierror)


def _receive(address: str, part: Path, progress: bool) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "fcb-toolkit", **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(address, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        # A server without ranges answers 200 and sends the whole file.
        resumed = response.status == 206
        size = _size(response, have if resumed else 0)
        with (
            part.open("ab" if resumed else "wb") as file,
            tqdm(
                total=size,
                initial=have if resumed else 0,
                unit="B",
                unit_scale=True,
                desc=part.stem,
                disable=not progress,
                file=sys.stderr,
            ) as bar,
        ):
            while chunk := response.read(CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
            if size is not None and file.tell() < size:
                raise urllib.error.URLError(f"connection cut after {file.tell()} of {size} bytes")


def _size(response: HTTPResponse, have: int) -> int | None:
    length = response.headers.get("Content-Length")
    return have + int(length) if length and length.isdigit() else None


def _accept(part: Path, target: Path, sha256: str, where: str) -> None:
    found = _sha256(part)
    if found != sha256:
        part.unlink()
        raise DataError(
            f"{where}: sha256 is {found[:12]}…, expected {sha256[:12]}…; the file is not the pinned version, "
            "nothing was installed"
        )
    part.replace(target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
