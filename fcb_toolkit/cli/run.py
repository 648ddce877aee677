"""`fcb run`, `fcb rescore`."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from typing import Any

from fcb_toolkit import execution
from fcb_toolkit.cli import server
from fcb_toolkit.cli.output import json_option, rates, show
from fcb_toolkit.cli.run_arguments import CLUSTER, GENERATION, MODEL, execution_option, run_arguments
from fcb_toolkit.errors import DataError
from fcb_toolkit.models.spec import ModelSpec
from fcb_toolkit.records import Case
from fcb_toolkit.runs.processes import Rank, launch_note, launched
from fcb_toolkit.runs.ray_options import RayOptions

__all__ = ["rescore", "rescore_arguments", "run", "run_arguments"]


def run(given: argparse.Namespace) -> int:
    """generate, parse and score; run it again and it goes on where it stopped"""
    from fcb_toolkit.runs import evaluate

    execution.configure(allow_subprocess=given.allow_subprocess)
    mine, engine = _where(given)
    cases = _cases(given)
    model = _model(given, engine)
    asked = "-".join([given.benchmark.replace("/", "-"), *([given.prompt] if given.prompt else [])])
    out = given.out or f"runs/{model.name.replace('/', '--')}-{asked}"
    quiet = given.quiet or (mine is not None and mine.rank > 0)
    options = {"metrics": given.metric, "progress": not quiet, "engine": engine, **_given(given, GENERATION)}
    done = evaluate(model, cases, out, **options)
    if mine is not None and mine.rank > 0:
        return 0  # rank 0 holds and shows the whole run
    for note in done.notes:
        print(f"note: {note}", file=sys.stderr)
    show(rates(done, ["benchmark", "category", "metric"]), given.json)
    if not given.json:
        print(f"\nrun: {out}\nnext: fcb report {out}")
    if done.missing:
        print(f"{len(done.missing)} cases have no reply yet; run the same command again", file=sys.stderr)
        return 130
    return 0


def _cases(given: argparse.Namespace) -> list[Case]:
    from fcb_toolkit.benchmarks import load_benchmark

    cases = load_benchmark(given.benchmark, given.source, prompt=given.prompt)
    all_cases = len(cases)
    if given.only:
        cases = [c for c in cases if given.only in c.id or given.only in (c.category, c.condition)]
    if given.sample is not None and given.sample < len(cases):
        drawn = set(random.Random(0).sample(range(len(cases)), given.sample))
        cases = [case for index, case in enumerate(cases) if index in drawn]
    cases = cases[: given.limit]
    if not cases:
        raise DataError(f"no cases: {all_cases} in {given.benchmark}, none matches --only {given.only!r}")
    return cases


def _where(given: argparse.Namespace) -> tuple[Rank | None, str | RayOptions | None]:
    """(place among processes that a launcher started, `engine` of `evaluate`)."""
    mine = launched()
    if (given.engine or "").partition(":")[0] == "ray":
        if mine is not None:
            raise DataError("--engine ray starts its own workers; run it without accelerate or torchrun")
        names = {name: name.removeprefix("worker_") for name in CLUSTER}
        return None, RayOptions(**{names[k]: v for k, v in _given(given, CLUSTER).items()})
    for name in _given(given, CLUSTER):
        raise DataError(f"--{name.replace('_', '-')} is for --engine ray")
    if note := launch_note():
        print(f"note: {note}", file=sys.stderr)
    return mine, "processes" if mine else None


def _given(given: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(given, name) for name in names if getattr(given, name) is not None}


def _model(given: argparse.Namespace, engine: str | RayOptions | None) -> Any:
    options = _given(given, MODEL)
    if given.thinking:
        options["enable_thinking"] = given.thinking == "on"
    if given.trust_remote_code:
        options["trust_remote_code"] = True
    if not isinstance(engine, RayOptions):
        return server.load(given.model, given, **options)
    inner = given.engine.partition(":")[2]
    options.pop("engine")
    return ModelSpec(
        server.full_name(given.model, given), {**options, **({"engine": inner} if inner else {})}
    )


def rescore_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir")
    verb.add_argument("--metric", action="append", required=True)
    execution_option(verb)
    json_option(verb)


def rescore(given: argparse.Namespace) -> None:
    """score stored replies again by a metric; no model is loaded"""
    from fcb_toolkit.runs import rescore

    execution.configure(allow_subprocess=given.allow_subprocess)
    done = rescore(given.dir, given.metric)
    for metric in given.metric:
        table = rates(done, ["benchmark", "category"], metric)
        table.insert(0, "metric", metric)
        show(table, given.json)
