"""`jsonl`: a user's own cases, one request in the official form a line (`data/README.md`).

{"serial_num": 1, "messages": [{"role": "user", "content": "불 꺼 줘"}], "tools": [...],
 "temperature": 0, "tool_choice": "auto",
 "ground_truth": {"name": "lights_off", "arguments": "{}"}, "type_of_output": "call"}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, tool_name
from fcb_toolkit.requests import case_from_request

REQUIRED = ("messages", "tools", "ground_truth")
KEYS = (
    *("serial_num", "id", "messages", "tools", "tools_type", "temperature", "tool_choice"),
    *("ground_truth", "acceptable_arguments", "type_of_output", "category", "cluster"),
)


def load(path: Path | str) -> list[Case]:
    """All cases in file order; ids are `jsonl/<id or serial_num>[/<tools_type>]`.

    Raises `DataError` with file and line for a file that cannot be read, a line that is not a request,
    a case id that occurs twice, and a ground truth that calls a tool which the case does not offer.
    """
    cases: dict[str, Case] = {}
    lines: dict[str, int] = {}
    for number, row in jsonl.read(path):
        where = f"{path} line {number}"
        _check_keys(row, where)
        case = case_from_request(row, benchmark="jsonl", where=where)
        if case.id in cases:
            raise DataError(
                f"{where}: the case id {case.id!r} is already used on line {lines[case.id]}; "
                "give each line its own 'serial_num' or 'id'"
            )
        _check_truth(case, where)
        cases[case.id], lines[case.id] = case, number
    return list(cases.values())


def _check_keys(row: Mapping[str, Any], where: str) -> None:
    for key in row:
        # A misspelt optional key would otherwise be dropped without a word.
        close = get_close_matches(key, KEYS, n=1, cutoff=0.85)
        if key not in KEYS and close and close[0] not in row:
            raise DataError(f"{where}: unknown key {key!r}; did you mean {close[0]!r}?")
    missing = [key for key in REQUIRED if key not in row]
    if "serial_num" not in row and "id" not in row:
        missing.insert(0, "serial_num")
    if missing:
        raise DataError(
            f"{where}: the key {missing[0]!r} is missing; found {', '.join(row) or 'no key'}; "
            "expected serial_num (or id), messages, tools and ground_truth"
        )


def _check_truth(case: Case, where: str) -> None:
    if case.type_of_output != "call":
        return
    offered = [tool_name(tool) for tool in case.tools]
    names = list(_called_names(case.ground_truth, where))
    if not names:
        raise DataError(
            f"{where}: 'ground_truth' makes no call, expected one, as 'type_of_output' is 'call'; "
            "write the call or another type_of_output"
        )
    for name in names:
        if name not in offered:
            raise DataError(
                f"{where}: 'ground_truth' calls {name!r}, which is not in 'tools'; "
                f"offered: {', '.join(offered) or 'none'}"
            )


def _called_names(truth: Any, where: str) -> Iterator[str]:
    """The names that a ground truth calls: a call, a list of calls, or a message with `tool_calls`."""
    if isinstance(truth, str):
        truth = _loads(truth, "'ground_truth'", where)
    if isinstance(truth, Mapping) and "name" not in truth and "function" not in truth:
        truth = truth.get("tool_calls") or []
    calls = [truth] if isinstance(truth, Mapping) else truth
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise DataError(
            f"{where}: 'ground_truth' is {jsonl.kind_of(truth)}, expected a call such as "
            '{"name": "lights_off", "arguments": "{}"} or a message with tool_calls'
        )
    for call in calls:
        function = call.get("function", call) if isinstance(call, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
            raise DataError(f"{where}: a call in 'ground_truth' has no name")
        _check_arguments(name, function.get("arguments"), where)
        yield name


def _check_arguments(name: str, arguments: Any, where: str) -> None:
    if isinstance(arguments, str) and arguments.strip():
        arguments = _loads(arguments, f"the arguments of {name!r} in 'ground_truth'", where)
    if arguments and not isinstance(arguments, Mapping):
        raise DataError(
            f"{where}: the arguments of {name!r} in 'ground_truth' are {jsonl.kind_of(arguments)}, "
            "expected a JSON object or its text"
        )


def _loads(text: str, what: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: {what} cannot be read as JSON ({error}); found {text[:60]!r}") from None
