"""Rubrics: what a judge is asked, in our own words or from a folder, filled with a case and a reply.

rubrics = load_rubrics("ko")                    # or load_rubrics(folder="fetched/data")
prompt = fill(rubrics["slot"], case, answer)
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Answer, Case

KINDS = ("call", "completion", "slot", "relevance")
LANGUAGES = ("ko", "en")
PLACES = ("tools", "query", "ground_truth", "acceptable_arguments", "response")
_PLACE = re.compile("{(" + "|".join(PLACES) + ")}")
ONLY_GOLD = "Only ground truth is allowed."
"""What a rubric is told where a case names no alternatives; the official rubric has a rule on these words."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """One text with places `{tools} {query} {ground_truth} {acceptable_arguments} {response}`."""

    kind: str
    text: str
    source: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def load_rubrics(language: str = "ko", folder: str | Path | None = None) -> Mapping[str, Rubric]:
    """The four rubrics by kind: ours in `language`, or `rubric_<kind>.txt` of a folder (the official names).

    A folder may hold some of the four; the others are ours. Raises `UnknownName` for a language, `DataError`
    for a folder without a rubric or a rubric without `{response}`.
    """
    if language not in LANGUAGES:
        raise UnknownName("language of a rubric", language, LANGUAGES)
    ours = files("fcb_toolkit.judging") / "texts" / language
    found = {
        kind: Rubric(kind, (ours / f"rubric_{kind}.txt").read_text("utf-8"), f"fcb_toolkit {language}")
        for kind in KINDS
    }
    if folder is None:
        return found
    given = {kind: Path(folder) / f"rubric_{kind}.txt" for kind in KINDS}
    there = {kind: path for kind, path in given.items() if path.is_file()}
    if not there:
        raise DataError(f"{folder}: no rubric found, expected rubric_call.txt, rubric_completion.txt, ...")
    for kind, path in there.items():
        text = jsonl.read_text(path)
        if "{response}" not in text:
            raise DataError(f"{path}: has no place {{response}}; a judge would not see the reply")
        found[kind] = Rubric(kind, text, path.name)
    return found


def fill(rubric: Rubric, case: Case, answer: Answer) -> str:
    """The judge's prompt. Places are filled in one pass: braces inside a reply stay what they are."""
    values = {
        "tools": case.tools,
        "query": case.messages,
        "ground_truth": case.ground_truth,
        "acceptable_arguments": case.acceptable_arguments or ONLY_GOLD,
        "response": answer.message if answer.message is not None else answer.text,
    }
    return _PLACE.sub(lambda place: _text(values[place[1]]), rubric.text)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=1)
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:20_000]
