"""`jsonl`: a user's own cases, one request in the official form a line (`data/README.md`).

{"serial_num": 1, "messages": [{"role": "user", "content": "불 꺼 줘"}], "tools": [...],
 "temperature": 0, "tool_choice": "auto",
 "ground_truth": {"name": "lights_off", "arguments": "{}"}, "type_of_output": "call"}
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.benchmarks.truth import check_truth
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case
from fcb_toolkit.requests import case_from_request

REQUIRED = ("messages", "tools", "ground_truth")
KEYS = (
    *("serial_num", "id", "messages", "tools", "tools_type", "temperature", "tool_choice"),
    *("ground_truth", "acceptable_arguments", "type_of_output", "category", "cluster"),
)
_KINDS: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("serial_num", (int,), "a whole number"),
    ("id", (str, int), "a name or a whole number"),
    ("cluster", (str, int), "a name or a whole number"),
    ("category", (str,), "a name"),
    ("tools_type", (str,), "a name such as exact or 4_close"),
)


def load(path: Path | str) -> list[Case]:
    """All cases in file order; ids are `jsonl/<id or serial_num>[/<tools_type>]`.

    Raises `DataError` with file and line for a file that cannot be read, a line that is not a request
    (a misspelt key, a value of the wrong kind), a case id that occurs twice, and a ground truth that calls a tool which the case does not offer.
    """
    cases: dict[str, Case] = {}
    lines: dict[str, int] = {}
    for number, row in jsonl.read(path):
        where = f"{path} line {number}"
        _check_keys(row, where)
        _check_values(row, where)
        case = case_from_request(row, benchmark="jsonl", where=where)
        if case.id in cases:
            raise DataError(
                f"{where}: the case id {case.id!r} is already used on line {lines[case.id]}; "
                "give each line its own 'serial_num' or 'id'"
            )
        check_truth(case, where)
        cases[case.id], lines[case.id] = case, number
    return list(cases.values())


def _check_keys(row: Mapping[str, Any], where: str) -> None:
    for key in row:
        # A misspelt optional key would otherwise be dropped without a word.
        close = get_close_matches(key, KEYS, n=1, cutoff=0.85)
        if key not in KEYS and close:
            raise DataError(f"{where}: unknown key {key!r}; did you mean {close[0]!r}?")
    missing = [key for key in REQUIRED if key not in row]
    if row.get("serial_num") is None and row.get("id") is None:
        missing.insert(0, "serial_num")
    if "messages" in row and not row["messages"]:
        raise DataError(f"{where}: 'messages' is empty, expected at least one message")
    if missing:
        found = ", ".join(key for key, value in row.items() if value is not None)
        raise DataError(
            f"{where}: the key {missing[0]!r} is missing; found {found or 'no key'}; "
            "expected serial_num (or id), messages, tools and ground_truth"
        )


def _check_values(row: Mapping[str, Any], where: str) -> None:
    """The keys that name a case or say where it is counted; null is as good as absent."""
    for key, kinds, expected in _KINDS:
        value = row.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise DataError(f"{where}: {key!r} is {value!r:.60}, expected {expected}")
        if key == "id" and not str(value).strip():
            raise DataError(f"{where}: 'id' is empty, expected {expected}")
