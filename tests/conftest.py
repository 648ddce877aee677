"""Fixtures that more than one test file needs. `shared` is the folder of benchmark files, templates and
golden verdicts that is not part of the repository; set FCB_SHARED or FCB_DATA to point elsewhere."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
ROOT = Path(__file__).parent.parent


def _needed(path: Path, what: str) -> Path:
    if path.exists():
        return path
    reason = f"{what} not found at {path}; set FCB_SHARED to the folder that holds them"
    if os.environ.get("FCB_REQUIRE_SHARED"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with data, templates, golden and cases."""
    return _needed(Path(os.environ.get("FCB_SHARED", ROOT / ".." / "shared")), "the shared test material is")


@pytest.fixture(scope="session")
def fcb_data() -> Path:
    """The folder with the public benchmarks' own files: functionchat/ and dpab/."""
    default = Path(os.environ.get("FCB_SHARED", ROOT / ".." / "shared")) / "data"
    return _needed(Path(os.environ.get("FCB_DATA", default)), "the public benchmarks' files are")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
