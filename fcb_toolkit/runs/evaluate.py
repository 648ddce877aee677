"""One model over many cases: in this process, over several, or over a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError, UnknownName, check_fields
from fcb_toolkit.models.base import Model
from fcb_toolkit.models.spec import ENGINES, ModelSpec, spec_of
from fcb_toolkit.records import Case, Generation, Reply
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.folder import RunFolder
from fcb_toolkit.runs.generate import Session, Store, Work, generate_missing, run_in_memory, run_of
from fcb_toolkit.runs.manifest import make_manifest
from fcb_toolkit.runs.processes import launched, run_launched
from fcb_toolkit.runs.ray_options import RayOptions
from fcb_toolkit.runs.record import Run
from fcb_toolkit.runs.score import metric_names, scored


def evaluate(
    model: Model | ModelSpec | str,
    cases: Iterable[Case],
    out: str | Path | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    progress: bool = True,
    should_stop: Callable[[], bool] | None = None,
    on_reply: Callable[[Reply], None] | None = None,
    engine: str | RayOptions | None = None,
    workers: int | None = None,
    **generation: Any,
) -> Run:
    """Generates a reply to each case, scores it, and gives the `Run`.

    `model`: what `fcb.load_model` gave, or the name that it would be given.
    With `out`, each reply is appended there as it comes; called again with the same settings it goes on
    with the cases that have none. Ctrl-C, or `should_stop()` turning true, ends early: the run that
    comes back holds what was done, and `run.missing` says what was not.
    `metrics`: a name or names computed beside each case's own (see `default_metrics`).
    `engine`: where the replies are generated (docs/scale.md). None: in this process. "processes": over the
    processes that `accelerate launch` or `torchrun` started; only rank 0 gives the whole run, with verdicts.
    "ray", or `RayOptions`: on a Ray cluster by `workers` workers, each of which loads the model by its name.
    `generation`: the fields of `fcb.Generation`.
    Raises `DataError` (cases that cannot be run together, an `out` that belongs to another run, a full
    disk, a process that died), `UnknownName` (a generation setting or engine that does not exist),
    `ModelError` (a model that cannot be loaded, or not where the work is) and `MissingExtra` (ray).
    """
    settings = generation_settings(generation)
    # Before anything is generated: a misspelt name would come too late after hours.
    metrics = None if metrics is None else metric_names(metrics)
    where = checked_engine(engine, workers)
    work = Work(
        checked(cases),
        settings,
        Path(out) if out is not None else None,
        Session(progress, should_stop, on_reply),
    )
    if isinstance(where, RayOptions):
        from fcb_toolkit.runs.ray_engine import run_on_ray

        return finished(run_on_ray(spec_of(model), work, where), metrics)
    loaded = ModelSpec(str(model)).load() if isinstance(model, (str, Path)) else model
    loaded = loaded.load() if isinstance(loaded, ModelSpec) else loaded
    mine = launched() if where == "processes" else None
    if mine is None:
        return finished(run_here(loaded, work), metrics)
    run = run_launched(loaded, work, mine)
    return finished(run, metrics) if mine.rank == 0 else run


def run_here(model: Model, work: Work) -> Run:
    """The run in this process, without its verdicts."""
    manifest = make_manifest(model.describe(), work.settings)
    folder = RunFolder(work.out).begin(manifest, work.cases) if work.out is not None else None
    store = Store(folder)
    try:
        notes = generate_missing(model, work, store)
    finally:
        store.close()
    if folder is None:
        return run_in_memory(manifest, work, store, notes)
    return run_of(folder, store, notes)


def checked_engine(engine: str | RayOptions | None, workers: int | None) -> str | RayOptions | None:
    if isinstance(engine, RayOptions) or engine == "ray":
        options = engine if isinstance(engine, RayOptions) else RayOptions()
        return options.checked(workers)
    if workers is not None:
        raise DataError(f"workers={workers} is for engine='ray'; accelerate and torchrun start their own")
    if engine in ENGINES:
        raise DataError(
            f"engine {engine!r} is an option of the model: fcb.load_model(..., engine={engine!r})"
        )
    if engine not in (None, "processes"):
        raise UnknownName("engine", engine, ("processes", "ray"))
    return engine


def finished(run: Run, metrics: Sequence[str] | None) -> Run:
    """The run with its verdicts, which are written beside it."""
    run = scored(run, None, only_missing=True)
    if metrics:
        run = scored(run, metrics, only_missing=True)
    if run.path is not None:
        disk.write_verdicts(run.path, run.verdicts)
    return run


def generation_settings(given: dict[str, Any]) -> Generation:
    """Checked settings; the first wrong one is named with its value."""
    check_fields("generation setting", given, Generation)
    settings = Generation(**given)
    limits = {
        "max_new_tokens": settings.max_new_tokens >= 1,
        "temperature": settings.temperature >= 0,
        "top_p": 0 < settings.top_p <= 1,
        "samples": settings.samples >= 1 and (settings.samples == 1 or settings.temperature > 0),
        "batch_size": settings.batch_size is None or settings.batch_size >= 1,
        "constrain": settings.constrain in (None, "tools"),
        "stop_after_calls": isinstance(settings.stop_after_calls, bool),
    }
    expected = {
        "max_new_tokens": "at least 1",
        "temperature": "0 or more",
        "top_p": "above 0 and at most 1",
        "samples": "1, or more with a temperature above 0 (greedy samples are all the same)",
        "batch_size": "at least 1",
        "constrain": "None or 'tools'",
        "stop_after_calls": "True or False",
    }
    for name, right in limits.items():
        if not right:
            raise DataError(
                f"generation setting {name} is {getattr(settings, name)!r}, expected {expected[name]}"
            )
    return settings


def checked(given: Iterable[Case]) -> tuple[Case, ...]:
    if not isinstance(given, Iterable):
        raise DataError(f"cases: found {type(given).__name__}, expected a list of Case")
    cases = tuple(given)
    if not cases:
        raise DataError("no cases to run; the selection is empty")
    seen: set[str] = set()
    for case in cases:
        if not isinstance(case, Case):
            raise DataError(f"cases hold {type(case).__name__}, expected Case; use fcb.Case.from_request")
        if case.id in seen:
            raise DataError(f"two cases have the id {case.id!r}; ids must be unique within a run")
        seen.add(case.id)
    return cases
