"""Runs for other programs: CSV, Parquet, JSON Lines, and logs that `inspect view` opens.

export([run_a, run_b], "all.parquet")       # the rows of fcb.to_frame
export(run, "log.json")                     # an Inspect log; fcb.load_run reads it back whole
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from fcb_toolkit import scoring
from fcb_toolkit.errors import DataError, MissingExtra, UnknownName
from fcb_toolkit.frames import to_frame
from fcb_toolkit.jsonl import dumps, write_atomic
from fcb_toolkit.records import Case, Outcome, Reply, Verdict
from fcb_toolkit.runs import Run, disk

OURS = "fcb_toolkit"
"""Key of a sample's metadata that keeps case, reply and verdicts, so that nothing of a run is lost."""
VALUES = {Outcome.PASS: "C", Outcome.FAIL: "I", Outcome.NOT_SCORED: "N"}
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def export(runs: Run | Iterable[Run], path: str | Path) -> Path:
    """Writes the runs in the format of the path's suffix: .csv, .parquet, .jsonl, or .json (Inspect).

    The first three hold the rows of `fcb.to_frame`, all runs together; an Inspect log holds one run. Text
    that UTF-8 cannot hold (a lone surrogate) is written as an escape. Raises `UnknownName` for another suffix.
    """
    path = Path(path)
    several = [runs] if isinstance(runs, Run) else list(runs)
    if path.suffix == ".json":
        if len(several) != 1:
            raise DataError(
                f"{path}: an Inspect log holds one run, found {len(several)}; write one file a run"
            )
        write_atomic(path, dumps(inspect_log(several[0])) + "\n")
        return path
    if path.suffix not in TABLES:
        raise UnknownName("export format", path.suffix or path.name, [*TABLES, ".json"])
    write_atomic(path, TABLES[path.suffix](to_frame(several)))
    return path


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode("utf-8")


def _jsonl(frame: pd.DataFrame) -> bytes:
    rows = ({str(key): _json(value) for key, value in row.items()} for row in frame.to_dict("records"))
    return "".join(dumps(row) + "\n" for row in rows).encode("utf-8")


def _json(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = BytesIO()
    try:
        frame.to_parquet(buffer, index=False)
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", "Parquet") from None
    return buffer.getvalue()


TABLES: Mapping[str, Callable[[pd.DataFrame], bytes]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}


def inspect_log(run: Run) -> dict[str, Any]:
    """The run as an Inspect log (version 2): a sample a reply, an epoch a repeated sample, a score a metric."""
    samples = [_sample(run, reply) for reply in run.replies]
    if not samples:
        raise DataError(f"run {run.name}: no reply, so there is nothing to export")
    started = str(run.manifest.get("started") or datetime.fromtimestamp(0, UTC).isoformat())
    key = hashlib.sha256(f"{run.name}\n{run.model_name}\n{started}".encode()).hexdigest()[:22]
    benchmark = run.manifest.get("benchmark", {})
    epochs = max(reply.sample for reply in run.replies) + 1
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": key,
            "run_id": key,
            "task_id": key,
            "created": started,
            "task": str(benchmark.get("name") or run.name),
            "dataset": {"name": benchmark.get("name"), "samples": len(run.cases), "sample_ids": _ids(run)},
            "model": run.model_name or "unknown",
            "config": {"epochs": epochs},
            "packages": {},
            "metadata": {OURS: {"manifest": _plain(run.manifest), "run": run.name}},
        },
        "results": _results(run, len(samples)),
        "stats": {"started_at": started, "completed_at": started, "model_usage": {}},
        "samples": samples,
    }


def _ids(run: Run) -> list[str]:
    return [case.id for case in run.cases]


def _plain(value: Any) -> Any:
    """JSON values only."""
    return json.loads(json.dumps(value, default=str))


def _results(run: Run, total: int) -> dict[str, Any]:
    scores = []
    for metric, verdicts in run.verdicts.items():
        scored = [v.outcome is Outcome.PASS for v in verdicts.values() if v.outcome is not Outcome.NOT_SCORED]
        accuracy = sum(scored) / len(scored) if scored else 0.0
        scores.append(
            {
                "name": metric,
                "scorer": metric,
                "scored_samples": len(scored),
                "unscored_samples": len(verdicts) - len(scored),
                "params": {},
                "metrics": {"accuracy": {"name": "accuracy", "value": accuracy, "params": {}}},
            }
        )
    return {"total_samples": total, "completed_samples": total, "scores": scores}


def _sample(run: Run, reply: Reply) -> dict[str, Any]:
    case = run.case_by_id[reply.case_id]
    answer = run.answer(reply)
    calls = [
        {"id": call.id or f"call_{n}", "function": call.name, "arguments": call.arguments, "type": "function"}
        for n, call in enumerate(answer.parse.tool_calls, 1)
    ]
    said = {"role": "assistant", "content": answer.parse.content or "", "source": "generate"}
    message = {**said, **({"tool_calls": calls} if calls else {})}
    verdicts = {name: rows[reply.key] for name, rows in run.verdicts.items() if reply.key in rows}
    given = [_message(one) for one in case.messages]
    stop = "max_tokens" if reply.finish_reason == "length" else "tool_calls" if calls else "stop"
    sample = {
        "id": case.id,
        "epoch": reply.sample + 1,
        "input": given,
        "target": _target(case),
        "messages": [*given, message],
        "output": {
            "model": run.model_name,
            "choices": [{"message": message, "stop_reason": stop}],
            "completion": said["content"],
            "usage": _usage(reply),
            "time": reply.seconds,
        },
        "scores": {name: _score(verdict, reply) for name, verdict in verdicts.items()},
        "metadata": {
            "category": case.category,
            "condition": case.condition,
            OURS: _kept(case, reply, verdicts),
        },
        "store": {},
        "events": [],
        "attachments": {},
    }
    if reply.finish_reason == "error":
        told = "; ".join(reply.notes) or "no reply"
        sample["error"] = {"message": told, "traceback": "", "traceback_ansi": ""}
    return {key: _utf8(_plain(value)) for key, value in sample.items()}


def _usage(reply: Reply) -> dict[str, int]:
    prompt, said = reply.prompt_tokens or 0, reply.reply_tokens or 0
    return {"input_tokens": prompt, "output_tokens": said, "total_tokens": prompt + said}


def _kept(case: Case, reply: Reply, verdicts: Mapping[str, Verdict]) -> dict[str, Any] | str:
    """What a run is read back from. JSON text of it where it holds a lone surrogate, which Inspect's reader
    refuses as an escape; as text inside text it survives."""
    rows = {name: disk.verdict_row(reply.key, verdict) for name, verdict in verdicts.items()}
    kept = {"case": disk.case_row(case), "reply": asdict(reply), "verdicts": rows}
    plain: dict[str, Any] = _plain(kept)
    return plain if _utf8(plain) == plain else json.dumps(kept)


def _utf8(value: Any) -> Any:
    """JSON values with escapes for text that UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_utf8(one) for one in value]
    if isinstance(value, dict):
        return {_utf8(key): _utf8(one) for key, one in value.items()}
    return value


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """An OpenAI message in Inspect's form."""
    role = ROLES.get(str(message.get("role")), "user")
    content = message.get("content")
    out: dict[str, Any] = {"role": role, "content": content if isinstance(content, str) else _shown(content)}
    calls = message.get("tool_calls")
    if role == "assistant" and isinstance(calls, (list, tuple)):
        read = scoring.answer(dict(message)).parse.tool_calls
        out["tool_calls"] = [
            {
                "id": call.id or f"call_{n}",
                "function": call.name,
                "arguments": call.arguments,
                "type": "function",
            }
            for n, call in enumerate(read, 1)
        ]
    if role == "tool":
        out["tool_call_id"] = str(message.get("tool_call_id") or "")
        if message.get("name"):
            out["function"] = str(message["name"])
    return out


def _shown(value: Any) -> str:
    return "" if value is None else dumps(value)


def _target(case: Case) -> str:
    return case.ground_truth if isinstance(case.ground_truth, str) else _shown(case.ground_truth)


def _score(verdict: Verdict, reply: Reply) -> dict[str, Any]:
    return {
        "value": VALUES[verdict.outcome],
        "answer": reply.text or "",
        "explanation": verdict.reason,
        "metadata": {"failure": str(verdict.failure) if verdict.failure else None},
        "history": [],
    }
