"""What `fcb run` takes, with its help."""

from __future__ import annotations

import argparse

from fcb_toolkit.cli import server
from fcb_toolkit.cli.output import json_option

GENERATION = (
    "max_new_tokens",
    "temperature",
    "top_p",
    "seed",
    "samples",
    "batch_size",
    "constrain",
    "stop_after_calls",
)
MODEL = (
    "device",
    "dtype",
    "revision",
    "template",
    "mode",
    "language",
    "format",
    "device_map",
    "engine",
    "awq_backend",
)
CLUSTER = ("workers", "address", "worker_gpus", "worker_cpus", "group")


def run_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("benchmark", help="a name that `fcb list` shows, e.g. sample/korean")
    verb.add_argument("--source", help="folder or file of the benchmark; default: the fetched copy")
    verb.add_argument(
        "--prompt",
        metavar="NAME",
        help="DPAB's system prompt: official (from the benchmark's folder) or json_references; default: our own",
    )
    verb.add_argument(
        "--model", default="embedded", help="embedded, demo, hub id, folder, GGUF file, or openai:MODEL"
    )
    verb.add_argument("--out", help="folder of the run; default runs/MODEL-BENCHMARK")
    verb.add_argument("--limit", type=positive, metavar="N", help="only the first N cases")
    verb.add_argument(
        "--sample", type=positive, metavar="N", help="N cases drawn at random (always the same ones)"
    )
    verb.add_argument("--only", help="only cases whose id, category or condition is or contains this")
    verb.add_argument(
        "--metric", action="append", default=[], help="a metric beside the default ones; may be repeated"
    )
    verb.add_argument("--quiet", action="store_true", help="no progress bar")
    json_option(verb)
    execution_option(verb)
    _generation(verb.add_argument_group("generation"))
    _model(verb.add_argument_group("model"))
    _cluster(
        verb.add_argument_group(
            "several GPUs or machines (docs/scale.md)",
            "Under `accelerate launch -m fcb_toolkit run ...` or torchrun the processes share the cases. "
            "The options here are for --engine ray.",
        )
    )
    server.server_arguments(verb)


def _generation(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--max-new-tokens", type=positive, metavar="N", help="default 512")
    group.add_argument("--temperature", type=float, metavar="T", help="default 0: greedy")
    group.add_argument("--top-p", type=float, metavar="P", help="default 1")
    group.add_argument("--seed", type=int, metavar="N", help="of each reply's own draws, default 0")
    group.add_argument("--samples", type=positive, metavar="N", help="replies to each case, default 1")
    group.add_argument("--batch-size", type=positive, metavar="N", help="default: what the memory takes")
    group.add_argument("--constrain", choices=("tools",), help="only valid calls of the tools, or plain text")
    group.add_argument(
        "--stop-after-calls",
        action="store_true",
        default=None,
        help="end a reply where its format closes the calls, if the format has such a mark",
    )


def _model(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--device", help="cpu, cuda, cuda:1, mps; default: the first that is there")
    group.add_argument("--dtype", help="auto (default), bfloat16, float16, float32")
    group.add_argument("--revision", help="branch, tag or commit of a hub id")
    group.add_argument("--template", help="a Jinja file in place of the model's own chat template")
    group.add_argument("--mode", help="auto (default), native (the template's tools), prompt (written out)")
    group.add_argument("--language", help="of prompt mode: ko (default) or en")
    group.add_argument("--format", help="parser of the replies; default: read off the template")
    group.add_argument("--device-map", help="auto: one large model over several GPUs")
    group.add_argument(
        "--engine",
        help="who generates: auto (default), prefix, plain or continuous in this process; ray on a cluster, whose workers "
        "each take auto (or what ray:prefix, ray:plain, ... name)",
    )
    group.add_argument("--awq-backend", help="gptqmodel (default) or autoawq")
    group.add_argument("--thinking", choices=("on", "off"), help="reasoning switch of the template")
    group.add_argument(
        "--trust-remote-code", action="store_true", help="run Python code that comes with the model"
    )


def _cluster(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--workers", type=positive, metavar="N", help="default: one a GPU, else one a machine")
    group.add_argument(
        "--address",
        help="of a running cluster: auto, HOST:PORT; default: RAY_ADDRESS, else this machine alone",
    )
    group.add_argument("--worker-gpus", type=float, metavar="N", help="GPUs of a worker, default 1 if any")
    group.add_argument("--worker-cpus", type=float, metavar="N", help="CPUs of a worker")
    group.add_argument(
        "--group", type=positive, metavar="N", help="most cases that a worker takes at a time, default 64"
    )


def execution_option(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--allow-subprocess",
        action="store_true",
        help="programs that the sandbox interpreter cannot run may run in a confined CPython child",
    )


def positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return value
