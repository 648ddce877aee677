"""Result files of the Berkeley Function Calling Leaderboard, single-turn categories.

    {"id": "simple_0", "result": "[f(a=1)]", "input_token_count": 100, "output_token_count": 9, "latency": 0.4}

A native function-calling model has a list: `"result": [{"f": "{\\"a\\": 1}"}]`. The questions stand in the
benchmark's own data (`BFCL_v3_simple.json`, `possible_answer/BFCL_v3_simple.json`), which `source` names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fcb_toolkit import scoring
from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import read
from fcb_toolkit.records import Case, Reply, Verdict
from fcb_toolkit.runs.importers.common import Parts, Rows, Source, make_run, need
from fcb_toolkit.runs.record import Key, Run

NAME = re.compile(r"(?P<data>BFCL_v\d+_(?P<category>\w+?))_result")
TYPES = {"dict": "object", "float": "number", "tuple": "array"}
"""Berkeley's names of types -> JSON Schema's; `any` says nothing and is left out."""


def is_result(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("id"), str) and "result" in row


def read_results(rows: Rows, source: Source) -> Run:
    """Cases with Berkeley's gold, replies, and `bfcl_ast` by our copy of Berkeley's rules."""
    found = NAME.fullmatch(source.path.stem)
    if source.data is None or found is None:
        raise DataError(
            f"{source.path}: BFCL results hold no questions; keep the name BFCL_v<n>_<category>_result.json "
            "and give source= with the folder of BFCL's data"
        )
    questions = _by_id(_data(source.data, found["data"]))
    answers_file = source.data / "possible_answer"
    relevance = "relevance" in found["category"]
    answers = {} if relevance else _by_id(_data(answers_file, found["data"]))
    cases, replies, verdicts = [], [], {}
    for number, row in rows:
        where = f"{source.path} line {number}"
        question = questions.get(row["id"])
        if question is None:
            raise DataError(f"{where}: id {row['id']!r} is not in {found['data']} of {source.data.name}")
        gold = answers.get(row["id"], {}).get("ground_truth")
        case = _case(question, gold, found["category"], where)
        reply = _reply(case.id, row)
        cases.append(case)
        replies.append(reply)
        functions = question["function"]
        verdicts[reply.key] = _verdict(functions, row["result"], gold, found["category"])
    metrics: dict[str, Mapping[Key, Verdict]] = {"bfcl_ast": verdicts}
    parts = Parts("BFCL results", source.path.parent.name, tuple(cases), tuple(replies), metrics)
    return make_run(source, parts)


def _data(folder: Path, name: str) -> Path:
    for suffix in (".json", ".jsonl"):
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    raise DataError(f"{folder}: no file {name}.json; give the folder of BFCL's data as source=")


def _by_id(path: Path) -> dict[str, dict[str, Any]]:
    return {need(row, "id", str, f"{path} line {number}"): row for number, row in read(path)}


def _case(question: Mapping[str, Any], gold: Any, category: str, where: str) -> Case:
    turns = need(question, "question", list, where)
    functions = need(question, "function", list, where)
    messages = turns[0] if turns and isinstance(turns[0], list) else turns
    return Case(
        id=f"bfcl/{question['id']}",
        benchmark=f"bfcl/{category}",
        messages=tuple(messages),
        tools=tuple(_tool(one) for one in functions),
        ground_truth=_gold(gold),
        type_of_output="relevance" if gold is None else "call",
        category=category,
        task={"functions": functions, "possible_answer": gold},
    )


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {**function, "parameters": _schema(function.get("parameters", {}))},
    }


def _schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_schema(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    out = {key: _schema(value) for key, value in schema.items() if not (key == "type" and value == "any")}
    if isinstance(out.get("type"), str):
        out["type"] = TYPES.get(out["type"], out["type"])
    return out


def _gold(gold: Any) -> Any:
    """Berkeley's lists of right values in the form of our own gold; "" among them: may be left out."""
    if not isinstance(gold, list):
        return None
    return [
        {
            "name": name,
            "arguments": {
                key: {"any_of": [v for v in values if v != ""] or [""], "optional": "" in values}
                for key, values in arguments.items()
            },
        }
        for call in gold
        for name, arguments in call.items()
    ]


def _reply(case_id: str, row: Mapping[str, Any]) -> Reply:
    result = row["result"]
    blank = Reply(
        case_id,
        None,
        prompt_tokens=_number(row.get("input_token_count")),
        reply_tokens=_number(row.get("output_token_count")),
        seconds=row["latency"] if isinstance(row.get("latency"), (int, float)) else None,
    )
    if not isinstance(result, list):
        return replace(blank, text=str(result), format="pythonic")
    calls = [
        {"type": "function", "function": {"name": name, "arguments": _text(arguments)}}
        for call in result
        if isinstance(call, Mapping)
        for name, arguments in call.items()
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return replace(blank, text=json.dumps(result, ensure_ascii=False), message=message)


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _verdict(functions: Any, result: Any, gold: Any, category: str) -> Verdict:
    if isinstance(result, list):
        result = [
            {name: _value(arguments) for name, arguments in call.items()}
            for call in result
            if isinstance(call, Mapping)
        ]
    verdict: Verdict = scoring.match_bfcl(functions, result, gold or [], category)
    return verdict


def _value(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments
