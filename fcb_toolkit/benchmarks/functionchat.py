"""FunctionChat-Bench (Kakao, Apache-2.0): its three files -> Cases, as the official request builder does.

Single call, one row:

    {"function_num": 1, "function_name": ..., "query": [{"serial_num": 1, "content": "..."}, ...],
     "ground_truth": [{"serial_num": 1, "content": "{\\"name\\": ..., \\"arguments\\": \\"{...}\\"}"}],
     "acceptable_arguments": [...], "tools": [{"type": "exact", "content": [...]}, ...]}

Source: github.com/kakao/FunctionChat-Bench at cb32af3. The system prompt file is put before the messages
of single call and dialog; call decision carries its own. Clusters: single call by query, dialog by dialog,
call decision by tool list.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.benchmarks.truth import check_truth
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case
from fcb_toolkit.requests import case_from_request

FILES = {
    "singlecall": "FunctionChat-Singlecall.jsonl",
    "dialog": "FunctionChat-Dialog.jsonl",
    "calldecision": "FunctionChat-CallDecision.jsonl",
}


def load_singlecall(source: Path) -> list[Case]:
    """500 cases: each query under exact, 4_random, 4_close, 8_random and 8_close."""
    path, system = _open(source, "singlecall"), _system_prompt(source)
    return _unique(path, (case for where, row in _rows(path) for case in _singlecall(where, row, system)))


def load_dialog(source: Path) -> list[Case]:
    """200 cases, one per turn."""
    path, system = _open(source, "dialog"), _system_prompt(source)
    return _unique(path, (case for where, row in _rows(path) for case in _dialog(where, row, system)))


def load_calldecision(source: Path) -> list[Case]:
    """606 cases."""
    path = _open(source, "calldecision")
    return _unique(path, (_calldecision(where, row) for where, row in _rows(path)))


def _singlecall(where: str, row: Mapping[str, Any], system: str) -> Iterator[Case]:
    queries, truths = _need(row, "query", where), _need(row, "ground_truth", where)
    alternatives, tool_lists = _need(row, "acceptable_arguments", where), _need(row, "tools", where)
    for index, query in enumerate(queries):
        serial = _need(query, "serial_num", where)
        truth = _need(_at(truths, index, "ground_truth", where), "content", where)
        for tools in tool_lists:
            yield _case(
                "singlecall",
                where,
                {
                    "serial_num": serial,
                    "messages": [
                        *_system(system),
                        {"role": "user", "content": _need(query, "content", where)},
                    ],
                    "tools": _need(tools, "content", where),
                    "tools_type": _need(tools, "type", where),
                    "ground_truth": _truth(truth, where),
                    "acceptable_arguments": _at(alternatives, index, "acceptable_arguments", where).get(
                        "content"
                    ),
                    "type_of_output": "call",
                    "cluster": f"query-{serial}",
                },
            )


def _dialog(where: str, row: Mapping[str, Any], system: str) -> Iterator[Case]:
    tools = _need(row, "tools", where)
    for turn in _need(row, "turns", where):
        alternatives = turn.get("acceptable_arguments")
        if isinstance(alternatives, Mapping):
            # The official builder turns an object into text; the scorers read that text.
            alternatives = json.dumps(alternatives, ensure_ascii=False)
        yield _case(
            "dialog",
            where,
            {
                "serial_num": _need(turn, "serial_num", where),
                "messages": [*_system(system), *_need(turn, "query", where)],
                "tools": tools,
                "ground_truth": _need(turn, "ground_truth", where),
                "acceptable_arguments": alternatives,
                "type_of_output": _need(turn, "type_of_output", where),
                "cluster": f"dialog-{_need(row, 'dialog_num', where)}",
            },
        )


def _calldecision(where: str, row: Mapping[str, Any]) -> Case:
    tools = _need(row, "input_tools", where)
    names = json.dumps(tools, ensure_ascii=False, sort_keys=True)
    return _case(
        "calldecision",
        where,
        {
            "serial_num": _need(row, "serial_num", where),
            "messages": _need(row, "input_messages", where),
            "tools": tools,
            "category": _need(row, "category", where),
            "ground_truth": _need(row, "ground_truth", where),
            "acceptable_arguments": row.get("acceptable_arguments"),
            "type_of_output": _need(row, "type_of_output", where),
            "cluster": f"tools-{hashlib.sha256(names.encode()).hexdigest()[:12]}",
        },
    )


def _case(subset: str, where: str, request: Mapping[str, Any]) -> Case:
    case = case_from_request(request, benchmark=f"functionchat/{subset}", where=where)
    check_truth(case, where)
    return case


def _truth(content: Any, where: str) -> Any:
    """Single call keeps its truth as JSON text of `{"name", "arguments"}`."""
    if not isinstance(content, str):
        return content
    try:
        return jsonl.loads(content)
    except (ValueError, RecursionError):
        raise DataError(
            f"{where}: ground_truth is not JSON: {content[:80]!r}; expected an object in text"
        ) from None


def _system(prompt: str) -> list[dict[str, str]]:
    # The official builder adds the message also where the prompt file is absent; then its text is empty.
    return [{"role": "system", "content": prompt}]


def _system_prompt(source: Path) -> str:
    path = (source if source.is_dir() else source.parent) / "system_prompt.txt"
    if not path.exists():
        raise DataError(f"{path}: no such file; it belongs to the benchmark, put it beside the data")
    return jsonl.read_text(path).strip()


def _open(source: Path, subset: str) -> Path:
    if source.is_dir():
        return source / FILES[subset]
    return source


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, row in jsonl.read(path):
        yield f"{path} line {number}", row


def _need(row: Any, key: str, where: str) -> Any:
    if not isinstance(row, Mapping):
        raise DataError(f"{where}: found {jsonl.kind_of(row)}, expected an object with the key {key!r}")
    if key not in row:
        raise DataError(f"{where}: the key {key!r} is missing; found {', '.join(map(str, row)) or 'no key'}")
    return row[key]


def _at(rows: Any, index: int, name: str, where: str) -> Mapping[str, Any]:
    if not isinstance(rows, list) or index >= len(rows):
        raise DataError(f"{where}: {name} has no entry for query {index + 1}; expected one for each query")
    row = rows[index]
    if not isinstance(row, Mapping):
        raise DataError(f"{where}: {name}[{index}] is {jsonl.kind_of(row)}, expected an object")
    return row


def _unique(path: Path, cases: Iterator[Case]) -> list[Case]:
    found: dict[str, Case] = {}
    for case in cases:
        if case.id in found:
            raise DataError(f"{path}: two cases have the id {case.id}; serial numbers must be unique")
        found[case.id] = case
    return list(found.values())
