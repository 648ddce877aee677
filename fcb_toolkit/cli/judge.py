"""`fcb judge`: rubric verdicts of stored replies."""

from __future__ import annotations

import argparse
import json
from typing import Any

from fcb_toolkit.cli.output import json_option, rates, show


def judge_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir")
    verb.add_argument(
        "--judge",
        action="append",
        required=True,
        help="embedded, hub id, folder, or openai:MODEL; several: the votes of all count",
    )
    verb.add_argument("--base-url", help="an OpenAI-compatible server; its key: OPENAI_API_KEY")
    verb.add_argument("--rubric", help="folder with rubric_call.txt, ...; default: the toolkit's own")
    verb.add_argument("--language", choices=("ko", "en"), default="ko", help="of the toolkit's rubrics")
    verb.add_argument("--votes", type=int, default=1)
    verb.add_argument("--temperature", type=float, help="default 0, with more votes than one 1")
    verb.add_argument("--max-new-tokens", type=int, default=512)
    verb.add_argument("--all", action="store_true", help="ask also of what the exact stage passes")
    verb.add_argument("--dry-run", action="store_true", help="count calls and tokens, ask nothing")
    verb.add_argument("--price", type=_price, help="IN,OUT per million tokens, for --dry-run")
    server = verb.add_argument_group("server")
    server.add_argument("--concurrency", type=int, default=8)
    server.add_argument("--requests-per-minute", type=float)
    server.add_argument("--timeout", type=float, default=120.0, help="seconds a try")
    server.add_argument("--retries", type=int, default=5)
    server.add_argument("--structured", action="store_true", help="ask the server for a JSON verdict")
    server.add_argument("--batch-out", help="write an OpenAI batch file of the first askings, ask nothing")
    server.add_argument("--batch-in", help="read a batch's results into the cache first")
    json_option(verb)


def _price(text: str) -> tuple[float, float]:
    try:
        given, made = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not IN,OUT, as in 2.5,10") from None
    return given, made


def judge(given: argparse.Namespace) -> None:
    """rubric judging of stored replies, cached: run it again and it goes on"""
    from dataclasses import asdict

    from fcb_toolkit import judging
    from fcb_toolkit.runs import load_run

    options = judging.JudgeOptions(
        given.language, given.rubric, given.votes, given.all, given.max_new_tokens, given.temperature
    )
    run = load_run(given.dir)
    models = [_model(name, given) for name in given.judge]
    if given.batch_out:
        print(f"{judging.write_batch(run, models, options, given.batch_out)} requests: {given.batch_out}")
        return
    if given.dry_run:
        found = asdict(judging.plan(run, models, options, given.price))
        if given.json:
            print(json.dumps(found))
        else:
            for name, value in found.items():
                print(f"{name:14} {'no --price given' if value is None else value}")
        return
    if given.batch_in:
        read = judging.read_batch(run, models, options, given.batch_in)
        print(f"{read.taken} votes taken from {given.batch_in}, {read.failed} requests failed")
    done = judging.judged(run, models, options)
    show(rates(done, ["benchmark", "category"], judging.METRIC), given.json)
    if not given.json:
        print(f"\nnext: fcb report --judge {given.dir}")


def _model(name: str, given: argparse.Namespace) -> Any:
    from fcb_toolkit.models import load_model

    if not given.base_url and not name.startswith("openai:"):
        return load_model(name)
    from fcb_toolkit.judging import VERDICT_FORMAT
    from fcb_toolkit.models.openai_server import OpenAIServer, ServerOptions

    options = ServerOptions(
        given.timeout,
        given.retries,
        given.concurrency,
        given.requests_per_minute,
        response_format=VERDICT_FORMAT if given.structured else None,
    )
    return OpenAIServer(name.removeprefix("openai:"), given.base_url, options=options)
