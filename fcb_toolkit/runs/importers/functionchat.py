"""Files of the official FunctionChat-Bench tool (commit cb32af3).

`*.eval.jsonl`, one row a case; it holds everything:

    {"model_request": {"serial_num": 1, "messages": [...], ...}, "model_response": {"tool_calls": [...]},
     "evaluate_response": {"choices": [...], "exact": "pass"}, "report_arguments": {"is_pass": "pass", ...}}

`*.output.jsonl` holds the reply alone, one message a row, in the order of `*.input.jsonl` beside it (or of
the benchmark's own file):

    {"role": "assistant", "content": null, "tool_calls": [...]}
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fcb_toolkit.benchmarks import load_benchmark
from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import read
from fcb_toolkit.records import Case, FailureKind, Reply, Verdict
from fcb_toolkit.requests import case_from_request
from fcb_toolkit.runs.importers.common import Parts, Rows, Source, make_run, need, recorded
from fcb_toolkit.runs.record import Key, Run

SUBSETS = {
    "singlecall": "functionchat/singlecall",
    "dialog": "functionchat/dialog",
    "calldecision": "functionchat/calldecision",
}
FILE_NAME = re.compile(
    r"FunctionChat-(?P<subset>[A-Za-z]+)\.(?P<model>.+?)"
    r"(?:\.(?:exact|all|[48]_(?:random|close)))?\.(?:output|eval)\.jsonl"
)


def is_evaluation(row: Mapping[str, Any]) -> bool:
    return "model_request" in row and "evaluate_response" in row


def is_output(row: Mapping[str, Any]) -> bool:
    # An official output is an OpenAI message; its role is missing where a server left it out.
    return (
        ("tool_calls" in row or "content" in row)
        and row.get("role", "assistant") == "assistant"
        and "doc" not in row
    )


def read_evaluation(rows: Rows, source: Source) -> Run:
    """Cases, replies and both verdicts: `official` (what the tool counted) and `rubric` (where it judged)."""
    cases, replies = [], []
    official: dict[Key, Verdict] = {}
    rubric: dict[Key, Verdict] = {}
    for number, row in rows:
        where = f"{source.path} line {number}"
        request = need(row, "model_request", dict, where)
        case = _case(request, _subset_of(request), where)
        reply = _reply(case.id, row.get("model_response"))
        verdict, judged = _verdicts(row, where)
        official[reply.key] = verdict
        if judged is not None:
            rubric[reply.key] = judged
        cases.append(case)
        replies.append(reply)
    parts = Parts(
        "FunctionChat-Bench evaluation",
        _model(source.path),
        tuple(cases),
        tuple(replies),
        {"official": official, "rubric": rubric},
    )
    return make_run(source, parts)


def read_output(rows: Rows, source: Source) -> Run:
    """Replies in the order of their input file, or of the benchmark."""
    cases, note = _cases(source)
    if len(rows) > len(cases):
        raise DataError(
            f"{source.path}: {len(rows)} replies to {len(cases)} cases ({note}); give the data they were made with"
        )
    replies = [_reply(case.id, row) for case, (_, row) in zip(cases, rows, strict=False)]
    notes = [f"cases from {note}"]
    if len(rows) < len(cases):
        notes.append(f"{len(rows)} of {len(cases)} cases have a reply: the run was stopped before its end")
    parts = Parts(
        "FunctionChat-Bench output", _model(source.path), tuple(cases), tuple(replies), {}, tuple(notes)
    )
    return make_run(source, parts)


def _cases(source: Source) -> tuple[Sequence[Case], str]:
    found = FILE_NAME.fullmatch(source.path.name)
    subset = found["subset"].lower() if found else ""
    inputs = [source.path.with_name(f"FunctionChat-{found['subset']}.input.jsonl")] if found else []
    inputs += sorted(source.path.parent.glob("*.input.jsonl")) if not found else []
    for path in inputs:
        if path.is_file():
            requests = list(read(path))
            name = subset if subset in SUBSETS else _subset_of(requests[0][1])
            return [_case(row, name, f"{path} line {number}") for number, row in requests], path.name
    if subset not in SUBSETS:
        raise DataError(
            f"{source.path}: holds replies without their questions; put the tool's *.input.jsonl beside it, or keep "
            f"its name FunctionChat-<{'|'.join(SUBSETS)}>.<model>.output.jsonl and give source="
        )
    return load_benchmark(SUBSETS[subset], source.data), f"the benchmark {SUBSETS[subset]}"


def _subset_of(request: Mapping[str, Any]) -> str:
    if "tools_type" in request:
        return "singlecall"
    return "calldecision" if "category" in request else "dialog"


def _case(request: Mapping[str, Any], subset: str, where: str) -> Case:
    """The case as our loader would make it; its cluster is told by content, as the file has no dialog numbers."""
    case = case_from_request(request, benchmark=SUBSETS[subset], where=where)
    if subset == "singlecall":
        return replace(case, cluster=f"query-{case.serial_num}")
    tools = json.dumps(list(case.tools), ensure_ascii=False, sort_keys=True)
    start = next(
        (str(message.get("content")) for message in case.messages if message.get("role") == "user"), ""
    )
    unit = tools if subset == "calldecision" else f"{tools}\n{start}"
    kind = "tools" if subset == "calldecision" else "dialog"
    return replace(case, cluster=f"{kind}-{hashlib.sha256(unit.encode()).hexdigest()[:12]}")


def _reply(case_id: str, message: Any) -> Reply:
    if not isinstance(message, Mapping):
        return Reply(case_id, None, notes=("the tool recorded no reply",))
    if message.get("error"):
        # The official tool writes an empty message where the server failed three times.
        return Reply(case_id, None, finish_reason="error", notes=(str(message["error"]),))
    content = message.get("content")
    return Reply(case_id, content if isinstance(content, str) else None, message=dict(message))


def _verdicts(row: Mapping[str, Any], where: str) -> tuple[Verdict, Verdict | None]:
    response = need(row, "evaluate_response", dict, where)
    report = row.get("report_arguments")
    word = str(report.get("is_pass")) if isinstance(report, Mapping) else ""
    choices = response.get("choices")
    try:
        text = str(choices[0]["message"]["content"])
    except (KeyError, IndexError, TypeError):
        text = ""
    if word not in ("pass", "fail"):
        unread = recorded(None, f"the judge's answer could not be read: {text[-200:]!r}")
        return unread, (None if "exact" in response else unread)
    passed = word == "pass"
    if "exact" in response:
        return recorded(passed, f"exact match of the official tool: {word}"), None
    verdict = recorded(passed, text.strip()[-500:], failure=FailureKind.UNFAITHFUL_ANSWER)
    return verdict, verdict


def _model(path: Path) -> str:
    found = FILE_NAME.fullmatch(path.name)
    return found["model"] if found else ""
