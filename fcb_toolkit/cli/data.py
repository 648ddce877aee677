"""`fcb list`, `fcb fetch`, `fcb lint`."""

from __future__ import annotations

import argparse
import json

from fcb_toolkit.cli.output import json_option


def list_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("what", nargs="?", choices=("benchmarks", "metrics", "parsers", "models"))
    json_option(verb)


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
            "openai:MODEL": "a model behind a server that speaks OpenAI's chat completions (--base-url)",
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


def fetch_arguments(verb: argparse.ArgumentParser) -> None:
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


def lint_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("benchmark")
    verb.add_argument("--source", help="folder or file of the benchmark; default: the fetched copy")
    json_option(verb)


def lint(given: argparse.Namespace) -> int:
    """what is wrong in the data itself; exit status 1 if anything is"""
    from dataclasses import asdict

    from fcb_toolkit.benchmarks import load_benchmark
    from fcb_toolkit.lint import lint

    found = lint(load_benchmark(given.benchmark, given.source))
    if given.json:
        print(json.dumps([asdict(finding) for finding in found], ensure_ascii=False, indent=1))
    else:
        for finding in found:
            print(f"{finding.case_id}: {finding.code}: {finding.message}")
        print(f"{len(found)} findings")
    return 1 if found else 0
