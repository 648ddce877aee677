"""Verdicts of stored replies, and a run from disk. No model is needed for either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fcb_toolkit import scoring
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, Reply, Verdict
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.disk import T
from fcb_toolkit.runs.record import Key, Run

EXTRA_METRICS: Mapping[str, tuple[str, ...]] = {
    "call": ("decision", "functionchat_exact", "schema_valid"),
    "completion": ("decision",),
    "slot": ("decision",),
    "relevance": ("decision",),
    "code": ("dpab_official", "dpab_strict_official"),
}
"""What is computed beside a case's own metric, by its type of output."""


def default_metrics(case: Case) -> tuple[str, ...]:
    return (scoring.default_metric(case), *EXTRA_METRICS.get(case.type_of_output, ()))


def load_run(path: str | Path) -> Run:
    """Opens a run's folder, also one that was interrupted at any byte.

    Replies that have no verdict yet are scored in memory by their default metrics.
    A file instead of a folder is read as a result of the official tools (see `importers`).
    Raises `DataError` for anything that is neither.
    """
    path = Path(path)
    if path.is_file():
        from fcb_toolkit.runs.importers import import_results

        return import_results(path)
    manifest = disk.read_manifest(path)
    notes: list[str] = []
    cases = tuple(_records(path / "cases.jsonl", disk.case_of, notes))
    replies = disk.read_replies(path, notes)
    known = {case.id for case in cases}
    lost = [key for key in replies if key[0] not in known]
    if lost:
        raise DataError(f"{path}/replies.jsonl: a reply to {lost[0][0]!r}, which is not in cases.jsonl")
    run = Run(
        manifest,
        cases,
        tuple(replies.values()),
        disk.read_verdicts(path),
        dict(_records(path / "prompts.jsonl", disk.prompt_of, notes)),
        path,
        tuple(notes),
    )
    return scored(run, None, only_missing=True)


def _records(file: Path, read: Callable[[Mapping[str, Any]], T], notes: list[str]) -> list[T]:
    return disk.read_rows(file, disk.read_tail_tolerant(file, notes)[0], read)


def rescore(
    run: Run | str | Path, metric: str | Callable[..., object] | Sequence[str | Callable[..., object]]
) -> Run:
    """The run with the verdicts of `metric` (one or several, names or `@fcb.metric` functions) computed again.

    They are also written beside the run where it has a folder. Raises `UnknownName` for a wrong name.
    """
    if not isinstance(run, Run):
        run = load_run(run)
    names = metric_names(metric)
    if "rubric" in names:
        raise DataError(
            "metric rubric: a judge's verdicts are made by `fcb judge DIR --judge M`, not by rescoring"
        )
    done = scored(run, names)
    if run.path is not None:
        disk.write_verdicts(run.path, {name: done.verdicts[name] for name in names})
    return done


def metric_names(
    metric: str | Callable[..., object] | Sequence[str | Callable[..., object]],
) -> list[str]:
    """The names of one metric or several. Raises `UnknownName`, and `DataError` for what is no metric."""
    wanted = [metric] if isinstance(metric, str) or callable(metric) else metric
    if not isinstance(wanted, Iterable):
        raise DataError(f"metrics: found {type(metric).__name__}, expected a name or a list of names")
    return [scoring.metric_name(one) for one in wanted]


def scored(run: Run, metrics: Iterable[str] | None, *, only_missing: bool = False) -> Run:
    """The run with verdicts by these metrics, or (None) by each case's default ones.

    A reply is parsed once for all its metrics. With `metrics` given, every reply gets a verdict by each,
    `not_scored` where the metric does not apply.
    """
    names = None if metrics is None else tuple(metrics)
    verdicts: dict[str, dict[Key, Verdict]] = {name: dict(rows) for name, rows in run.verdicts.items()}
    for name in names or ():
        verdicts.setdefault(name, {})
    for reply in run.replies:
        case = run.case_by_id[reply.case_id]
        wanted = default_metrics(case) if names is None else names
        if only_missing:
            wanted = tuple(n for n in wanted if _is_open(verdicts.get(n, {}).get(reply.key), reply))
        if not wanted:
            continue
        if reply.finish_reason == "error":
            # The toolkit failed, not the model.
            reason = f"no reply from the model: {'; '.join(reply.notes) or 'an error'}"
            none = Verdict.not_scored(reason, reply_error=True)
            found = {name: replace(none, metric=name) for name in wanted}
        else:
            answer = run.answer(reply)
            found = {name: scoring.score_answer(case, answer, name) for name in wanted}
        for name, verdict in found.items():
            verdicts.setdefault(name, {})[reply.key] = verdict
    return replace(run, verdicts=verdicts)


def _is_open(verdict: Verdict | None, reply: Reply) -> bool:
    """No verdict yet, or one of an earlier reply that ended in an error and has come since."""
    return verdict is None or (bool(verdict.details.get("reply_error")) and reply.finish_reason != "error")
