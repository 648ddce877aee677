"""`results.jsonl` of the DPAB tool: what it ran, and the score it gave.

    {"code": "x = f(1)", "score": 1.0, "results": "{...}", "expected": "{\\"functions\\": [...], ...}",
     "user_query": "...", "functions": "def f(...): ..."}          # JSON mode: "function_calls" for "code"

The file has neither the mock functions nor the model's whole text. With the benchmark's data at hand (given or
fetched) the programs can be run again by our metrics; without it only the recorded score counts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fcb_toolkit.benchmarks import load_benchmark
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, Reply, Verdict
from fcb_toolkit.runs.importers.common import Parts, Rows, Source, make_run, need, recorded
from fcb_toolkit.runs.record import Key, Run

STRICT = 0.99
"""The tool's own bound: from here on a score counts as 1 in strict mode."""


def is_result(row: Mapping[str, Any]) -> bool:
    return {"score", "expected", "user_query"} <= row.keys() and ("code" in row or "function_calls" in row)


def read_results(rows: Rows, source: Source) -> Run:
    """Verdicts: `dpab_strict_official`, from the recorded score.

    JSON mode drops the rows that raised in the tool; with the data at hand they come back as cases whose
    reply is unknown and whose official verdict is a fail, as the tool counts them.
    """
    mode = "json" if "function_calls" in rows[0][1] else "pythonic"
    known, note = _benchmark(mode, source)
    places: dict[str, list[Case]] = defaultdict(list)
    for case in known:
        places[_query(case)].append(case)
    cases, replies, strict = [], [], {}
    for place, (number, row) in enumerate(rows):
        where = f"{source.path} line {number}"
        case = _case(row, mode, place, places, bool(known), where)
        reply = Reply(case.id, _text(row, mode, where), format=f"dpab_{mode}")
        cases.append(case)
        replies.append(reply)
        strict[reply.key] = _verdict(row, where)
    notes = [note]
    for case in (one for rest in places.values() for one in rest):
        cases.append(case)
        reply = Reply(case.id, None, finish_reason="error", notes=("the official tool kept no row of it",))
        replies.append(reply)
        strict[reply.key] = recorded(False, "the official tool kept no row of it, and counts that as 0")
    if len(cases) > len(rows):
        notes.append(f"{len(cases) - len(rows)} cases have no row: the official tool drops those that raise")
    verdicts: dict[str, Mapping[Key, Verdict]] = {"dpab_strict_official": strict}
    model = source.path.parent.name if source.path.parent.name not in ("", ".", "results") else ""
    parts = Parts("DPAB results", model, tuple(cases), tuple(replies), verdicts, tuple(notes))
    return make_run(source, parts)


def _benchmark(mode: str, source: Source) -> tuple[list[Case], str]:
    try:
        return load_benchmark(f"dpab/{mode}", source.data), "cases from the benchmark's data"
    except DataError:
        if source.data is not None:
            raise
        return (
            [],
            "the benchmark's data is not here: programs cannot be run again (fcb fetch dpab, or source=)",
        )


def _query(case: Case) -> str:
    return next(str(message["content"]) for message in case.messages if message["role"] == "user")


def _case(
    row: Mapping[str, Any], mode: str, place: int, places: dict[str, list[Case]], known: bool, where: str
) -> Case:
    query = need(row, "user_query", str, where)
    if known:
        # Two problems stand twice in the data; their rows come in its order.
        if not places[query]:
            raise DataError(
                f"{where}: this question is not in the benchmark's data, or more often than there"
            )
        return places[query].pop(0)
    expected = row["expected"]
    try:
        expected = json.loads(expected) if isinstance(expected, str) else expected
    except ValueError:
        raise DataError(f"{where}: 'expected' is not JSON, expected the checklist as JSON text") from None
    return Case(
        id=f"dpab/{mode}/{place}",
        benchmark=f"dpab/{mode}",
        messages=({"role": "user", "content": query},),
        ground_truth=expected,
        type_of_output="code",
        condition=mode,
        serial_num=place,
        task={"mode": mode, "schema": row.get("functions", "")},
    )


def _text(row: Mapping[str, Any], mode: str, where: str) -> str:
    if mode == "json":
        return json.dumps(row.get("function_calls"), ensure_ascii=False)
    code: str = need(row, "code", str, where)
    return f"```python\n{code}\n```"


def _verdict(row: Mapping[str, Any], where: str) -> Verdict:
    score = need(row, "score", (int, float), where)
    return recorded(score >= STRICT, f"recorded score {score:g}", score=float(score))
