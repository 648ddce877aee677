"""DPAB-alpha (Dria, 100 problems): a row -> a Case whose answer is a program or a list of calls.

    {"difficulty": "hard", "user_query": "...", "mock_functions": "def f(...): ...",
     "function_schema_python": "def f(...): ...", "function_schema_json": [{"name": "f", ...}],
     "checklist": {"functions": ["f", ...], "values": [...]}}

Source: github.com/firstbatchxyz/function-calling-eval at 7aa8498. `dpab/pythonic` asks for Python code,
`dpab/json` for a JSON list of calls, about the same problems. The tools stand in the system message, as in
the official tool; `Case.tools` is empty so that no chat template shows them a second time. The prompts are
our own (`PROMPTS`) unless `with_prompt` is given another, such as the official one (`official_prompt`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Case

FILE = "eval_alpha.jsonl"
MODES = ("pythonic", "json")
PLACEHOLDER = "{{functions_schema}}"
PROMPTS = ("pythonic", "json", "json_references")
"""Our own prompts. `json_references` lets a call take the result of an earlier one."""
_TEXT_KEYS = ("user_query", "mock_functions", "function_schema_python")


def load(source: Path, mode: str) -> list[Case]:
    """100 cases. `source` is the data file or its folder. Raises `DataError`, `UnknownName`."""
    if mode not in MODES:
        raise UnknownName("DPAB mode", mode, MODES)
    path = source / FILE if source.is_dir() else source
    first_row: dict[str, int] = {}
    cases = []
    for index, (where, row) in enumerate(_rows(path)):
        # Two problems stand twice in the file: rows with one query are one cluster.
        cluster = first_row.setdefault(row["user_query"], index)
        cases.append(_case(mode, index, row, f"row-{cluster}", where))
    return with_prompt(cases, own_prompt(mode))


def own_prompt(name: str) -> str:
    """The text of one of `PROMPTS`. Raises `UnknownName`."""
    if name not in PROMPTS:
        raise UnknownName("DPAB prompt", name, PROMPTS)
    return resources.files("fcb_toolkit.benchmarks").joinpath(f"dpab_{name}.txt").read_text("utf-8")


def official_prompt(source: Path, mode: str) -> str:
    """The official system prompt, read from the benchmark's folder. Raises `DataError` where it is absent."""
    folder = source if source.is_dir() else source.parent
    path = folder / f"system_prompt_{mode}.txt"
    if not path.exists():
        raise DataError(f"{path}: no such file; put the official prompt there or use our own")
    return jsonl.read_text(path)


def with_prompt(cases: Sequence[Case], prompt: str) -> list[Case]:
    """The cases with another system prompt. `{{functions_schema}}` in it becomes each case's tools:
    Python stubs in pythonic mode, a JSON list in JSON mode."""
    if PLACEHOLDER not in prompt:
        raise DataError(f"the prompt has no {PLACEHOLDER}; a model would not see the tools")
    return [_with_prompt(case, prompt) for case in cases]


def _with_prompt(case: Case, prompt: str) -> Case:
    system = prompt.replace(PLACEHOLDER, str(case.task["schema"]))
    user = [message for message in case.messages if message["role"] != "system"]
    return replace(case, messages=({"role": "system", "content": system}, *user))


def _case(mode: str, index: int, row: Mapping[str, Any], cluster: str, where: str) -> Case:
    schema = row["function_schema_python"]
    if mode == "json":
        schema = json.dumps(row["function_schema_json"], ensure_ascii=False, indent=2)
    return Case(
        id=f"dpab/{mode}/{index}",
        benchmark=f"dpab/{mode}",
        messages=({"role": "user", "content": row["user_query"]},),
        ground_truth=_checklist(row, where),
        type_of_output="code",
        category=row["difficulty"],
        condition=mode,
        cluster=cluster,
        serial_num=index,
        task={
            "mode": mode,
            "mock_functions": row["mock_functions"],
            "schema": schema,
            "function_schema_python": row["function_schema_python"],
            "function_schema_json": row["function_schema_json"],
        },
    )


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, row in jsonl.read(path):
        where = f"{path} line {number}"
        for key in _TEXT_KEYS:
            if not isinstance(row.get(key), str):
                raise DataError(f"{where}: {key!r} is {jsonl.kind_of(row.get(key))}, expected a string")
        if not isinstance(row.get("function_schema_json"), list):
            found = jsonl.kind_of(row.get("function_schema_json"))
            raise DataError(f"{where}: 'function_schema_json' is {found}, expected a list")
        row.setdefault("difficulty", "")
        yield where, row


def _checklist(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    checklist = row.get("checklist")
    if not isinstance(checklist, Mapping):
        raise DataError(f"{where}: 'checklist' is {jsonl.kind_of(checklist)}, expected an object")
    functions, values = checklist.get("functions"), checklist.get("values")
    if not isinstance(functions, list) or not all(isinstance(name, str) for name in functions):
        raise DataError(f"{where}: checklist.functions is not a list of names")
    if not isinstance(values, list):
        raise DataError(f"{where}: checklist.values is {jsonl.kind_of(values)}, expected a list")
    return {"functions": functions, "values": values}
