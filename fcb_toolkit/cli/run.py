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
from fcb_toolkit.errors import DataError


def run_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("benchmark")
    verb.add_argument("--source", help="folder or file of the benchmark; default: the fetched copy")
    verb.add_argument(
        "--model", default="embedded", help="embedded, hub id, folder, GGUF file, or openai:MODEL"
    )
    verb.add_argument("--out", help="folder of the run; default runs/MODEL-BENCHMARK")
    verb.add_argument("--limit", type=_positive, help="only the first N cases")
    verb.add_argument("--sample", type=_positive, help="N cases drawn at random (always the same ones)")
    verb.add_argument("--only", help="only cases whose id, category or condition is or contains this")
    verb.add_argument("--metric", action="append", default=[], help="a metric beside the default ones")
    verb.add_argument("--quiet", action="store_true", help="no progress bar")
    generation = verb.add_argument_group("generation")
    generation.add_argument("--max-new-tokens", type=_positive)
    generation.add_argument("--temperature", type=float)
    generation.add_argument("--top-p", type=float)
    generation.add_argument("--seed", type=int)
    generation.add_argument("--samples", type=_positive)
    generation.add_argument("--batch-size", type=_positive)
    generation.add_argument("--constrain", choices=("tools",))
    model = verb.add_argument_group("model")
    for name in (
        "device",
        "dtype",
        "revision",
        "template",
        "mode",
        "language",
        "format",
        "device-map",
        "engine",
    ):
        model.add_argument(f"--{name}")
    model.add_argument("--awq-backend")
    model.add_argument("--thinking", choices=("on", "off"), help="reasoning switch of the template")
    model.add_argument("--trust-remote-code", action="store_true")
    server.server_arguments(verb)
    _execution_option(verb)
    json_option(verb)


def _execution_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--allow-subprocess",
        action="store_true",
        help="programs that the sandbox interpreter cannot run may run in a confined CPython child",
    )


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return value


def run(given: argparse.Namespace) -> int:
    """generate, parse and score; run it again and it goes on where it stopped"""
    from fcb_toolkit.benchmarks import load_benchmark
    from fcb_toolkit.runs import evaluate

    cases = load_benchmark(given.benchmark, given.source)
    all_cases = len(cases)
    if given.only:
        cases = [c for c in cases if given.only in c.id or given.only in (c.category, c.condition)]
    if given.sample is not None and given.sample < len(cases):
        drawn = set(random.Random(0).sample(range(len(cases)), given.sample))
        cases = [case for index, case in enumerate(cases) if index in drawn]
    cases = cases[: given.limit]
    if not cases:
        raise DataError(f"no cases: {all_cases} in {given.benchmark}, none matches --only {given.only!r}")
    model = _model(given)
    out = given.out or f"runs/{model.name.replace('/', '--')}-{given.benchmark.replace('/', '-')}"
    execution.configure(allow_subprocess=given.allow_subprocess)
    done = evaluate(
        model, cases, out, metrics=given.metric, progress=not given.quiet, **_given(given, GENERATION)
    )
    for note in done.notes:
        print(f"note: {note}", file=sys.stderr)
    show(rates(done, ["benchmark", "category", "metric"]), given.json)
    if not given.json:
        print(f"\nrun: {out}\nnext: fcb report {out}")
    if done.missing:
        print(f"{len(done.missing)} cases have no reply yet; run the same command again", file=sys.stderr)
        return 130
    return 0


GENERATION = ("max_new_tokens", "temperature", "top_p", "seed", "samples", "batch_size", "constrain")


def _given(given: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(given, name) for name in names if getattr(given, name) is not None}


def _model(given: argparse.Namespace) -> Any:
    names = ("device", "dtype", "revision", "template", "mode", "language", "format", "device_map", "engine")
    options = _given(given, (*names, "awq_backend"))
    if given.thinking:
        options["enable_thinking"] = given.thinking == "on"
    if given.trust_remote_code:
        options["trust_remote_code"] = True
    return server.load(given.model, given, **options)


def rescore_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir")
    verb.add_argument("--metric", action="append", required=True)
    _execution_option(verb)
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
