"""Records become DataFrames here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fcb_toolkit import jsonl, scoring
from fcb_toolkit.annotations import Annotations
from fcb_toolkit.benchmarks import BENCHMARKS
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Answer, Case, Reply
from fcb_toolkit.runs import load_run
from fcb_toolkit.runs.record import Key, Run

COLUMNS: Mapping[str, str] = {
    "run": "the run's folder or name",
    "model": "model id",
    "benchmark": "benchmark name",
    "case_id": "case id",
    "sample": "0, 1, ... of repeated samples",
    "category": "call, completion, slot, relevance, reject, slot-all, slot-some, or a benchmark's own",
    "condition": "tool list offered: exact, 4_random, 4_close, 8_random, 8_close, or empty",
    "cluster": "cases that share a query, dialog or tool list",
    "serial_num": "the benchmark's own number",
    "type_of_output": "what a right answer is: call, completion, slot, relevance, code",
    "query": "last user turn",
    "n_tools": "number of tools offered",
    "gold": "ground truth as JSON text",
    "reply": "raw text of the model",
    "content": "text of the reply outside calls and reasoning",
    "calls": "calls of the reply as JSON text",
    "reasoning": "reasoning of the reply",
    "parse_error": "code of the parser's error",
    "finish_reason": "stop, length or error",
    "prompt_tokens": "tokens of the prompt",
    "reply_tokens": "tokens of the reply",
    "seconds": "share of the generation time",
    "prompt_sha256": "key of the prompt in prompts.jsonl",
    "metric": "the case's own metric, which decides `outcome`",
    "outcome": "pass, fail or not_scored by that metric",
    "failure": "failure kind by that metric",
    "reason": "expected and found, in a sentence",
    "corrected_outcome": "the outcome with people's corrections (see `annotations`); `outcome` stays the metric's",
    "corrected_failure": "the failure kind with people's corrections",
    "note": "a note left in the explorer",
    "tag": "a tag set in the explorer",
    "annotated_by": "who made the last annotation",
    "annotated_at": "when, in UTC",
}
"""Columns of `to_frame`. For each stored metric m there are also outcome_m, failure_m and reason_m."""


def to_frame(runs: Run | str | Path | Iterable[Run | str | Path]) -> pd.DataFrame:
    """One row per case, sample and run; columns as in `COLUMNS`. Cases without a reply have no row.

    A folder stands for the run in it. Raises `DataError` for anything else.
    """
    several = [_run(one) for one in ([runs] if isinstance(runs, (Run, str, Path)) else _each(runs))]
    metrics = sorted({name for run in several for name in run.verdicts})
    rows = []
    for run in several:
        notes = Annotations(run.path)
        rows += [_row(run, reply, metrics) | _annotated(run, reply, notes) for reply in run.replies]
    extra = [f"{part}_{name}" for name in metrics for part in ("outcome", "failure", "reason")]
    return pd.DataFrame(rows, columns=[*COLUMNS, *extra])


def _each(runs: Any) -> Iterable[Any]:
    if isinstance(runs, Iterable) and not isinstance(runs, (pd.DataFrame, Mapping)):
        return runs
    raise DataError(f"found {type(runs).__name__}, expected a Run, a run's folder, or a list of them")


def _run(one: Any) -> Run:
    if isinstance(one, Run):
        return one
    if isinstance(one, (str, Path)):
        return load_run(one)
    raise DataError(f"found {type(one).__name__}, expected a Run or a run's folder")


def _row(run: Run, reply: Reply, metrics: Sequence[str]) -> dict[str, Any]:
    case = run.case_by_id[reply.case_id]
    row = {"run": run.name, "model": run.model_name, **_case_columns(case), **_reply_columns(reply)}
    row |= _parse_columns(run.answer(reply))
    metric = scoring.default_metric(case)
    row["metric"] = metric
    row |= _verdict_columns(run, metric, reply.key, "")
    for name in metrics:
        row |= _verdict_columns(run, name, reply.key, f"_{name}")
    return {name: _utf8(value) for name, value in row.items()}


def _utf8(value: Any) -> Any:
    """Text that UTF-8 cannot hold (a lone surrogate) with escapes: pandas' strings refuse it."""
    if not isinstance(value, str) or value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _annotated(run: Run, reply: Reply, notes: Annotations) -> dict[str, Any]:
    metric = scoring.default_metric(run.case_by_id[reply.case_id])
    found = notes.of(reply.key, metric)
    own = _verdict_columns(run, metric, reply.key, "")
    return {
        "corrected_outcome": found.outcome if found.corrected else own["outcome"],
        "corrected_failure": found.failure if found.corrected else own["failure"],
        "note": found.note,
        "tag": found.tag,
        "annotated_by": found.who,
        "annotated_at": found.when,
    }


def _case_columns(case: Case) -> dict[str, Any]:
    users = [m.get("content") for m in case.messages if m.get("role") == "user"]
    return {
        "benchmark": case.benchmark,
        "case_id": case.id,
        "category": case.category,
        "condition": case.condition,
        "cluster": case.cluster,
        "serial_num": case.serial_num,
        "type_of_output": case.type_of_output,
        "query": users[-1] if users else None,
        "n_tools": len(case.tools),
        "gold": jsonl.dumps(case.ground_truth),
    }


def _reply_columns(reply: Reply) -> dict[str, Any]:
    return {
        "sample": reply.sample,
        "reply": reply.text,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "reply_tokens": reply.reply_tokens,
        "seconds": reply.seconds,
        "prompt_sha256": reply.prompt_sha256,
    }


def _parse_columns(answer: Answer) -> dict[str, Any]:
    parse = answer.parse
    calls = [{"name": call.name, "arguments": call.arguments} for call in parse.tool_calls]
    return {
        "content": parse.content,
        "calls": jsonl.dumps(calls),
        "reasoning": parse.reasoning,
        "parse_error": parse.error.code if parse.error else None,
    }


def _verdict_columns(run: Run, metric: str, key: Key, suffix: str) -> dict[str, Any]:
    verdict = run.verdicts.get(metric, {}).get(key)
    return {
        f"outcome{suffix}": str(verdict.outcome) if verdict else None,
        f"failure{suffix}": str(verdict.failure) if verdict and verdict.failure else None,
        f"reason{suffix}": verdict.reason if verdict else None,
    }


def list_benchmarks() -> pd.DataFrame:
    """One row per benchmark: name, description, licence, source, how to get it."""
    return pd.DataFrame(
        [
            {
                "name": b.name,
                "about": b.about,
                "licence": b.licence,
                "source": b.source,
                "ships": b.ships,
            }
            for b in BENCHMARKS.values()
        ]
    )
