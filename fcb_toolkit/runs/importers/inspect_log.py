"""Inspect logs (`.json`, or `.eval`, which is a zip of JSON files).

    {"version": 2, "eval": {"task": "t", "model": "openai/gpt-4o", ...},
     "samples": [{"id": 1, "epoch": 1, "input": "...", "target": "4", "messages": [...],
                  "output": {"choices": [{"message": {...}, "stop_reason": "stop"}], "usage": {...}},
                  "scores": {"match": {"value": "C", "answer": "4", "explanation": "..."}}}]}

A log that `exporters.to_inspect` wrote carries each case in its sample's metadata and comes back whole.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError, MissingExtra
from fcb_toolkit.records import Case, Reply, Verdict
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.importers.common import Parts, Source, make_run, need, recorded, unique
from fcb_toolkit.runs.record import Key, Run

ZSTANDARD = 93
"""The number of that compression in zip files."""
OURS = "fcb_toolkit"
"""Key of a sample's metadata under which our exporter keeps case, reply and verdicts."""
MOST_BYTES = 2 * 1024**3
"""What a packed log may unpack to; a zip can hold any number of zeros."""
VALUES = {"C": True, "I": False, 1: True, 0: False, "pass": True, "fail": False}
"""Inspect's values with an outcome: correct, incorrect; partial and no answer have none."""


def is_log(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("eval"), Mapping) and ("samples" in value or "results" in value)


def unpacked(path: Path) -> dict[str, Any]:
    """The log in a `.eval` file as one object."""
    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
            if sum(file.getinfo(name).file_size for name in names) > MOST_BYTES:
                raise DataError(
                    f"{path}: unpacks to more than {MOST_BYTES >> 30} GB; export the samples you need"
                )
            head = "header.json" if "header.json" in names else "_journal/start.json"
            log: dict[str, Any] = json.loads(_entry(file, head))
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            log["samples"] = [json.loads(_entry(file, name)) for name in samples]
            return log
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a whole Inspect log: {error}") from None


def _entry(file: zipfile.ZipFile, name: str) -> bytes:
    """One file of the zip. Inspect packs with Zstandard, which Python's zipfile reads from 3.14 on only."""
    info = file.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return file.read(name)
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", "an Inspect log packed with Zstandard") from None
    stream = file.fp
    if stream is None:
        raise zipfile.BadZipFile("the file is closed")
    stream.seek(info.header_offset)
    fixed = stream.read(30)
    # The local header ends in the lengths of the name and of the extra field.
    stream.seek(int.from_bytes(fixed[26:28], "little") + int.from_bytes(fixed[28:30], "little"), 1)
    packed = stream.read(info.compress_size)
    return bytes(pyarrow.decompress(packed, decompressed_size=info.file_size, codec="zstd", asbytes=True))


def read_log(log: Mapping[str, Any], source: Source) -> Run:
    """Each sample a case (an epoch is a repeated sample), each score a metric."""
    head = need(log, "eval", dict, str(source.path))
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise DataError(f"{source.path}: the log holds no samples, expected them (it was written without)")
    task = str(head.get("task") or source.path.stem)
    cases, replies = [], []
    verdicts: dict[str, dict[Key, Verdict]] = {}
    for index, sample in enumerate(samples):
        where = f"{source.path} sample {index + 1}"
        if not isinstance(sample, Mapping):
            raise DataError(f"{where}: is not an object")
        ours = _kept(sample.get("metadata"))
        case, reply, found = _ours(ours) if isinstance(ours, Mapping) else _theirs(sample, task, where)
        cases.append(case)
        replies.append(reply)
        for metric, verdict in found.items():
            verdicts.setdefault(metric, {})[reply.key] = verdict
    model = str(head.get("model") or "")
    parts = Parts("Inspect log", model, unique(cases), tuple(replies), verdicts)
    return make_run(source, parts)


def _kept(metadata: Any) -> Any:
    """What our exporter kept: an object, or JSON text of one (where it holds a lone surrogate)."""
    ours = metadata.get(OURS) if isinstance(metadata, Mapping) else None
    if not isinstance(ours, str):
        return ours
    try:
        return json.loads(ours)
    except ValueError:
        return None


def _ours(kept: Mapping[str, Any]) -> tuple[Case, Reply, dict[str, Verdict]]:
    verdicts = {name: disk.verdict_of(row)[1] for name, row in kept.get("verdicts", {}).items()}
    return disk.case_of(kept["case"]), disk.reply_of(kept["reply"]), verdicts


def _theirs(sample: Mapping[str, Any], task: str, where: str) -> tuple[Case, Reply, dict[str, Verdict]]:
    given = sample.get("input")
    messages = (
        [_message(one) for one in given]
        if isinstance(given, list)
        else [{"role": "user", "content": str(given)}]
    )
    case = Case(
        id=f"inspect/{task}/{sample.get('id')}",
        benchmark=f"inspect/{task}",
        messages=tuple(messages),
        tools=_tools(sample),
        ground_truth=sample.get("target"),
        type_of_output="completion",
        category=task,
    )
    epoch = sample.get("epoch")
    reply = _reply(case.id, sample, (epoch if isinstance(epoch, int) else 1) - 1, where)
    scores = sample.get("scores")
    verdicts = {
        str(name): _verdict(score)
        for name, score in (scores if isinstance(scores, Mapping) else {}).items()
        if isinstance(score, Mapping)
    }
    return case, reply, verdicts


def _reply(case_id: str, sample: Mapping[str, Any], number: int, where: str) -> Reply:
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, Mapping) else None
    if not isinstance(choices, list) or not choices:
        error = sample.get("error")
        told = str(error.get("message", "")) if isinstance(error, Mapping) else "no output"
        return Reply(case_id, None, number, finish_reason="error", notes=(told,))
    choice = choices[0] if isinstance(choices[0], Mapping) else {}
    message = _message(need(choice, "message", dict, where))
    usage = output.get("usage") if isinstance(output, Mapping) else None
    counts = usage if isinstance(usage, Mapping) else {}
    content = message.get("content")
    return Reply(
        case_id,
        content if isinstance(content, str) else None,
        number,
        finish_reason="length" if choice.get("stop_reason") in ("max_tokens", "model_length") else "stop",
        prompt_tokens=counts.get("input_tokens"),
        reply_tokens=counts.get("output_tokens"),
        seconds=output.get("time") if isinstance(output, Mapping) else None,
        message=message,
    )


def _message(message: Any) -> dict[str, Any]:
    """An Inspect chat message in OpenAI's form: content parts joined, calls with their arguments as text."""
    if not isinstance(message, Mapping):
        return {"role": "user", "content": str(message)}
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping)) or None
    out: dict[str, Any] = {"role": message.get("role", "assistant"), "content": content}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        out["tool_calls"] = [_call(call) for call in calls if isinstance(call, Mapping)]
    if message.get("tool_call_id"):
        out["tool_call_id"] = message["tool_call_id"]
    return out


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": call.get("function"), "arguments": text},
    }


def _tools(sample: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The tools of the first call of the model that the log tells of."""
    events = sample.get("events")
    for event in events if isinstance(events, list) else []:
        if (
            isinstance(event, Mapping)
            and event.get("event") == "model"
            and isinstance(event.get("tools"), list)
        ):
            keys = ("name", "description", "parameters")
            return tuple(
                {"type": "function", "function": {key: tool[key] for key in keys if key in tool}}
                for tool in event["tools"]
                if isinstance(tool, Mapping)
            )
    return ()


def _verdict(score: Mapping[str, Any]) -> Verdict:
    value = score.get("value")
    passed = VALUES.get(value) if isinstance(value, (str, int, float)) else None
    reason = str(score.get("explanation") or f"recorded {value!r}, answer {score.get('answer')!r}")
    return recorded(passed, reason[:2000], value=value)
