"""`samples_<task>_<date>.jsonl` of lm-evaluation-harness (`--log_samples`).

    {"doc_id": 0, "doc": {...}, "target": "4", "arguments": {"gen_args_0": {"arg_0": "2+2=", "arg_1": {...}}},
     "resps": [["4"]], "filtered_resps": ["4"], "filter": "none", "metrics": ["exact_match"], "exact_match": 1.0}

Only generation tasks hold a reply; those scored by likelihood are refused. Each metric that is 0 or 1 becomes
a metric of the run; other numbers have no outcome.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, Reply, Verdict
from fcb_toolkit.runs.importers.common import Parts, Rows, Source, make_run, recorded, unique
from fcb_toolkit.runs.record import Key, Run

_OWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}


def is_sample(row: Mapping[str, Any]) -> bool:
    return {"doc_id", "resps", "arguments"} <= row.keys()


def read_samples(rows: Rows, source: Source) -> Run:
    """One case a document, one reply a generation, and the recorded metrics that are 0 or 1."""
    found = re.fullmatch(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT.*)?", source.path.stem)
    task = found[1] if found else source.path.stem
    cases, replies = [], {}
    verdicts: dict[str, dict[Key, Verdict]] = {}
    filters = {str(row.get("filter", "none")) for _, row in rows}
    for number, row in rows:
        where = f"{source.path} line {number}"
        case = _case(row, task, where)
        cases.append(case)
        for sample, text in enumerate(_texts(row, where)):
            reply = Reply(case.id, text, sample)
            replies[reply.key] = reply
            for name, value in _metrics(row).items():
                # A task with several filters has a row for each, with the same replies.
                metric = name if len(filters) == 1 else f"{name}_{row.get('filter')}"
                verdicts.setdefault(metric, {})[reply.key] = recorded(value, f"recorded {name} {row[name]}")
    parts = Parts(
        "lm-eval samples", source.path.parent.name, unique(cases), tuple(replies.values()), verdicts
    )
    return make_run(source, parts)


def _case(row: Mapping[str, Any], task: str, where: str) -> Case:
    return Case(
        id=f"lm-eval/{task}/{row['doc_id']}",
        benchmark=f"lm-eval/{task}",
        messages=_messages(_prompt(row, where)),
        ground_truth=row.get("target"),
        type_of_output="completion",
        category=task,
        task={"doc": row.get("doc"), "target": row.get("target")},
    )


def _prompt(row: Mapping[str, Any], where: str) -> Any:
    arguments = row["arguments"]
    try:
        if isinstance(arguments, Mapping):  # since 0.4.3
            return arguments["gen_args_0"]["arg_0"]
        return arguments[0][0]
    except (KeyError, IndexError, TypeError):
        raise DataError(f"{where}: 'arguments' holds no prompt, expected gen_args_0.arg_0") from None


def _messages(prompt: Any) -> tuple[Mapping[str, Any], ...]:
    """Chat messages where the prompt is a JSON list of them, else one user turn."""
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.lstrip().startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            prompt = json.loads(prompt)
    if isinstance(prompt, list) and all(isinstance(one, Mapping) and "role" in one for one in prompt):
        return tuple(prompt)
    return ({"role": "user", "content": prompt if isinstance(prompt, str) else json.dumps(prompt)},)


def _texts(row: Mapping[str, Any], where: str) -> list[str]:
    resps = row["resps"]
    texts = resps[0] if isinstance(resps, list) and resps and isinstance(resps[0], list) else resps
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise DataError(
            f"{where}: 'resps' holds no text (a task scored by likelihood?), expected generated replies"
        )
    return texts


def _metrics(row: Mapping[str, Any]) -> dict[str, bool]:
    """The recorded metrics that are 0 or 1; newer files name them, older ones only have the keys."""
    named = row.get("metrics")
    names = named if isinstance(named, list) else [key for key in row if key not in _OWN]
    return {
        name: bool(row[name])
        for name in names
        if isinstance(name, str) and isinstance(row.get(name), (int, float)) and row[name] in (0, 1)
    }
