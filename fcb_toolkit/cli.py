"""The command `fcb`: thin, every verb is a function of the package.

    fcb run sample/korean --model embedded --out runs/demo
    fcb report runs/demo

Exit status 0: done; 1: a finding that the command exists to find; 2: bad usage or input.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcb_toolkit.errors import FcbError

if TYPE_CHECKING:
    import pandas as pd

    from fcb_toolkit.runs import Run


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; gives its exit status. Errors that a user can mend take one or two lines."""
    given = parser().parse_args(arguments)
    try:
        return int(given.run(given) or 0)
    except FcbError as error:
        print(f"fcb {given.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"fcb {given.command}: interrupted; what was done is kept", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; keep Python from failing again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="fcb", description="Where does an LLM with tools fail, and why?")
    top.add_argument("--version", action="version", version=_version())
    verbs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (add, run) in COMMANDS.items():
        verb = verbs.add_parser(name, help=(run.__doc__ or "").splitlines()[0], description=run.__doc__)
        add(verb)
        verb.set_defaults(run=run)
    return top


def _version() -> str:
    import fcb_toolkit

    return f"fcb_toolkit {fcb_toolkit.__version__}"


def _json_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="machine-readable output")


def _show(rows: pd.DataFrame, as_json: bool) -> None:
    if as_json:
        print(rows.to_json(orient="records", force_ascii=False, indent=1))
    else:
        print(rows.to_string(index=False))


# list ------------------------------------------------------------------------------------------


def _list_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("what", nargs="?", choices=("benchmarks", "metrics", "parsers", "models"))
    _json_option(verb)


def list_(given: argparse.Namespace) -> None:
    """benchmarks, metrics, parsers and models known to the toolkit"""
    from fcb_toolkit.benchmarks import BENCHMARKS
    from fcb_toolkit.models import NAMED
    from fcb_toolkit.parsers import FORMATS
    from fcb_toolkit.scoring import METRICS

    known: dict[str, dict[str, str]] = {
        "benchmarks": {b.name: b.about for b in BENCHMARKS.values()},
        "metrics": {m.name: m.doc for m in METRICS.values()},
        "parsers": {f.name: f.models for f in FORMATS.values()},
        "models": {
            **{name: about for name, (_, about) in NAMED.items()},
            "HUB_ID | FOLDER | FILE.gguf": "any causal language model of transformers, in process",
        },
    }
    chosen = {given.what: known[given.what]} if given.what else known
    if given.json:
        print(json.dumps(chosen, ensure_ascii=False, indent=1))
        return
    for group, names in chosen.items():
        print(group)
        width = max(map(len, names))
        for name, about in names.items():
            print(f"  {name:{width}}  {about}")


# fetch -----------------------------------------------------------------------------------------


def _fetch_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("name", help="functionchat or dpab")
    verb.add_argument("--from", dest="from_path", metavar="PATH", help="take a local copy instead")


def fetch(given: argparse.Namespace) -> None:
    """download a public benchmark at a pinned commit and check its sha256"""
    from fcb_toolkit.benchmarks.fetch import fetch, remote_of

    _, remote = remote_of(given.name)
    folder = fetch(given.name, given.from_path)
    print(f"{len(remote.files)} files in {folder}")
    print(f"source    github.com/{remote.repository} at {remote.commit}")
    print(f"licence   {remote.licence}")
    print(f"citation  {remote.citation}")


# run -------------------------------------------------------------------------------------------


def _run_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("benchmark")
    verb.add_argument("--source", help="folder or file of the benchmark; default: the fetched copy")
    verb.add_argument("--model", default="embedded", help="embedded, hub id, folder or GGUF file")
    verb.add_argument("--out", help="folder of the run; default runs/MODEL-BENCHMARK")
    verb.add_argument("--limit", type=_positive, help="only the first N cases")
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
    _json_option(verb)


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
    if given.only:
        cases = [c for c in cases if given.only in c.id or given.only in (c.category, c.condition)]
    cases = cases[: given.limit]
    model = _model(given)
    out = given.out or f"runs/{model.name.replace('/', '--')}-{given.benchmark.replace('/', '-')}"
    done = evaluate(
        model, cases, out, metrics=given.metric, progress=not given.quiet, **_given(given, GENERATION)
    )
    for note in done.notes:
        print(f"note: {note}", file=sys.stderr)
    _show(_table(done, ["benchmark", "category", "metric"]), given.json)
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
    from fcb_toolkit.models import load_model

    names = ("device", "dtype", "revision", "template", "mode", "language", "format", "device_map", "engine")
    options = _given(given, (*names, "awq_backend"))
    if given.thinking:
        options["enable_thinking"] = given.thinking == "on"
    if given.trust_remote_code:
        options["trust_remote_code"] = True
    return load_model(given.model, **options)


def _table(runs: Run | Sequence[Run], by: Sequence[str]) -> pd.DataFrame:
    from fcb_toolkit.statistics import summarize

    table = summarize(runs, by=list(by))
    for column in ("rate", "low", "high"):
        table[column] = table[column].round(3)
    return table


# rescore ---------------------------------------------------------------------------------------


def _rescore_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir")
    verb.add_argument("--metric", action="append", required=True)
    _json_option(verb)


def rescore(given: argparse.Namespace) -> None:
    """score stored replies again by a metric; no model is loaded"""
    from fcb_toolkit.runs import rescore
    from fcb_toolkit.statistics import summarize

    done = rescore(given.dir, given.metric)
    for metric in given.metric:
        table = summarize(done, by=["benchmark", "category"], metric=metric)
        table.insert(0, "metric", metric)
        _show(table.round(3), given.json)


# report ----------------------------------------------------------------------------------------


def _report_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir", nargs="+")
    verb.add_argument("--out", help="folder of the report; default FIRST_DIR/report")
    _json_option(verb)


def report(given: argparse.Namespace) -> None:
    """tables with intervals, per-item report, figures"""
    from fcb_toolkit.reports import write_report
    from fcb_toolkit.runs import load_run

    runs = [load_run(folder) for folder in given.dir]
    written = write_report(runs, given.out or Path(given.dir[0]) / "report")
    _show(_table(runs, ["model", "benchmark", "category", "metric"]), given.json)
    for name, path in written.items() if not given.json else ():
        print(f"{name}: {path}")


# compare ---------------------------------------------------------------------------------------


def _compare_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir_a")
    verb.add_argument("dir_b")
    verb.add_argument("--metric", help="default: each case's own")
    _json_option(verb)


def compare(given: argparse.Namespace) -> None:
    """paired comparison of two runs over the same cases"""
    from dataclasses import asdict

    from fcb_toolkit.runs import load_run
    from fcb_toolkit.statistics import compare

    found = compare(load_run(given.dir_a), load_run(given.dir_b), metric=given.metric)
    if given.json:
        print(json.dumps(asdict(found), ensure_ascii=False, indent=1, default=str))
    else:
        for name, value in asdict(found).items():
            print(f"{name:24} {value:.4g}" if isinstance(value, float) else f"{name:24} {value}")


COMMANDS: Mapping[
    str, tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], Any]]
] = {
    "list": (_list_arguments, list_),
    "fetch": (_fetch_arguments, fetch),
    "run": (_run_arguments, run),
    "rescore": (_rescore_arguments, rescore),
    "report": (_report_arguments, report),
    "compare": (_compare_arguments, compare),
}
"""Verb -> (adds its arguments, runs it)."""


if __name__ == "__main__":
    sys.exit(main())
