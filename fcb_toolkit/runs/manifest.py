"""What a run was made with: versions, commit, machine."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import fcb_toolkit
from fcb_toolkit.records import Generation

LIBRARIES = (
    *("torch", "transformers", "tokenizers", "accelerate", "gptqmodel"),
    *("pydantic-monty", "jsonschema", "regex", "numpy"),
)


def make_manifest(described: Mapping[str, Any], settings: Generation) -> dict[str, Any]:
    """JSON values only; nothing that names a user or a folder outside the run. `described`: `model.describe()`."""
    return {
        "toolkit": {"version": fcb_toolkit.__version__, "commit": commit()},
        "model": dict(described),
        "generation": asdict(settings),
        "libraries": library_versions(),
        "machine": machine(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def commit() -> str | None:
    """The commit of the toolkit's checkout, with `+` if it was changed; None outside a checkout."""
    folder = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None


def library_versions() -> Mapping[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> Mapping[str, Any]:
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
