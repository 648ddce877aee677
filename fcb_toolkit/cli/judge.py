"""`fcb judge`: rubric verdicts of stored replies."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fcb_toolkit.cli import server
from fcb_toolkit.cli.output import json_option, rates, show

if TYPE_CHECKING:
    from fcb_toolkit.judging.planning import Plan
    from fcb_toolkit.runs import Run


def judge_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("dir")
    verb.add_argument(
        "--judge",
        action="append",
        required=True,
        help="embedded, hub id, folder, or openai:MODEL; several: the votes of all count",
    )
    verb.add_argument("--rubric", help="folder with rubric_call.txt, ...; default: the toolkit's own")
    verb.add_argument("--language", choices=("ko", "en"), default="ko", help="of the toolkit's rubrics")
    verb.add_argument("--votes", type=int, default=1)
    verb.add_argument("--temperature", type=float, help="default 0, with more votes than one 1")
    verb.add_argument("--max-new-tokens", type=int, default=512)
    verb.add_argument("--all", action="store_true", help="ask also of what the exact stage passes")
    verb.add_argument(
        "--both-orders",
        action="store_true",
        help="each vote also with the prompt in another order; fcb report --judge then has the position bias",
    )
    verb.add_argument(
        "--swap",
        choices=("verdicts", "material"),
        default="verdicts",
        help="what --both-orders swaps: the two verdict lines, or model answer and reply",
    )
    verb.add_argument(
        "--notes",
        action="store_true",
        help="no verdicts: one sentence a failed reply on why it failed, in groups, largest first",
    )
    verb.add_argument(
        "--metric", help="whose failures --notes asks of; default: the rubric's, else each case's own"
    )
    verb.add_argument("--dry-run", action="store_true", help="count calls and tokens, ask nothing")
    verb.add_argument("--price", type=_price, help="IN,OUT per million tokens, for --dry-run")
    verb.add_argument("--structured", action="store_true", help="ask the server for a JSON verdict")
    verb.add_argument("--batch-out", help="write an OpenAI batch file of the first askings, ask nothing")
    verb.add_argument("--batch-in", help="read a batch's results into the cache first")
    server.server_arguments(verb)
    json_option(verb)


def _price(text: str) -> tuple[float, float]:
    try:
        given, made = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not IN,OUT, as in 2.5,10") from None
    return given, made


def judge(given: argparse.Namespace) -> None:
    """rubric judging of stored replies, cached: run it again and it goes on"""
    from fcb_toolkit import judging
    from fcb_toolkit.runs import load_run

    options = judging.JudgeOptions(
        given.language,
        given.rubric,
        given.votes,
        given.all,
        given.max_new_tokens,
        given.temperature,
        ("given", given.swap) if given.both_orders else ("given",),
    )
    run = load_run(given.dir)
    models = [_model(name, given) for name in given.judge]
    if given.notes:
        _notes(run, models, given)
        return
    if given.batch_out:
        print(f"{judging.write_batch(run, models, options, given.batch_out)} requests: {given.batch_out}")
        return
    if given.dry_run:
        _show_plan(judging.plan(run, models, options, given.price), given.json)
        return
    if given.batch_in:
        read = judging.read_batch(run, models, options, given.batch_in)
        print(f"{read.taken} votes taken from {given.batch_in}, {read.failed} requests failed")
    done = judging.judged(run, models, options)
    show(rates(done, ["benchmark", "category"], judging.METRIC), given.json)
    if not given.json:
        print(
            f"\nnext: fcb report {given.dir}, and fcb report --judge {given.dir} for what the verdicts are worth"
        )


def _show_plan(plan: Plan, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        print(json.dumps(asdict(plan)))
        return
    for name, value in asdict(plan).items():
        print(f"{name:14} {'no --price given' if value is None else value}")


def _notes(run: Run, models: Sequence[Any], given: argparse.Namespace) -> None:
    from fcb_toolkit import judging
    from fcb_toolkit.errors import DataError

    if len(models) != 1:
        raise DataError(
            f"--notes with {len(models)} judges; expected one: the sentences of several are not grouped"
        )
    if given.dry_run:
        plan = judging.notes_plan(run, models[0], given.metric, given.language, given.price)
        _show_plan(plan, given.json)
        return
    notes = judging.failure_notes(run, models[0], given.metric, given.language)
    groups = judging.group_notes(notes)
    file = judging.write_notes(run, notes, groups)
    if given.json:
        rows = [{"n": len(g.keys), "words": g.words, "example": g.example, "replies": g.keys} for g in groups]
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for group in groups:
        print(f"{len(group.keys):5}  {printable(', '.join(group.words)) or '(no words)'}")
        print(f"       {printable(group.example)[:300]}")
    print(f"\n{len(notes)} failed replies in {len(groups)} groups: {file}")


def printable(text: str) -> str:
    """A model's text on a terminal: control characters could move the cursor or change the screen."""
    return "".join(c if c.isprintable() else " " for c in text)


def _model(name: str, given: argparse.Namespace) -> Any:
    from fcb_toolkit.judging import VERDICT_FORMAT
    from fcb_toolkit.models import SERVER

    structured = given.structured and (name.startswith(SERVER) or given.base_url)
    return server.load(name, given, **({"response_format": VERDICT_FORMAT} if structured else {}))
