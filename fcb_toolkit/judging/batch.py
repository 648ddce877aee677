"""OpenAI's batch file: half the price, an answer within a day.

write_batch(run, server, options, "batch.jsonl")     # upload it, wait, download the results
read_batch(run, server, options, "results.jsonl")    # votes in the cache; then judge as usual
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.judging.asking import Ask, first_asks, prepare, vote_of
from fcb_toolkit.judging.jury import split
from fcb_toolkit.judging.options import JudgeOptions
from fcb_toolkit.judging.votes import Votes, read_votes
from fcb_toolkit.models import Model
from fcb_toolkit.models.openai_messages import reply_of
from fcb_toolkit.models.openai_server import OpenAIServer
from fcb_toolkit.runs import Run


@dataclass(frozen=True, slots=True)
class BatchRead:
    """`taken`: votes put into the cache; `failed`: requests that the batch could not answer."""

    taken: int
    failed: int


def write_batch(run: Run, models: Sequence[Model], options: JudgeOptions, path: str | Path) -> int:
    """Writes the calls that are not in the cache; `custom_id` is the vote's cache key. Gives their number.

    Raises `DataError` for a judge that is not behind a server, or if nothing is left to ask.
    """
    kept = {vote.key for vote in read_votes(run.path)} if run.path is not None else set()
    _, questions = split(run, options)
    rows = {}
    for model in models:
        if not isinstance(model, OpenAIServer):
            raise DataError(f"{model.name}: a batch file is for a judge behind a server (openai:MODEL)")
        for ask in first_asks(model, questions, options):
            if ask.cache_key not in kept:
                body = model.request(
                    prepare(model, ask.text), options.settings(ask.turn.vote, ask.turn.attempt)
                )
                rows[ask.cache_key] = {
                    "custom_id": ask.cache_key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": body,
                }
    if not rows:
        raise DataError("nothing left to ask: every vote is in the cache already")
    jsonl.write_lines(Path(path), rows.values())
    return len(rows)


def read_batch(run: Run, models: Sequence[Model], options: JudgeOptions, path: str | Path) -> BatchRead:
    """Puts a batch's results into the cache. Raises `DataError` for a line that belongs to another batch."""
    _, questions = split(run, options)
    asks: dict[str, tuple[Ask, str]] = {
        ask.cache_key: (ask, model.name) for model in models for ask in first_asks(model, questions, options)
    }
    votes = Votes(run.path)
    taken = failed = 0
    try:
        for number, row in jsonl.read(path):
            if row.get("custom_id") not in asks:
                raise DataError(
                    f"{path} line {number}: custom_id {row.get('custom_id')!r} is of no call of this judging; "
                    "use the options with which the batch was written"
                )
            ask, name = asks[row["custom_id"]]
            response = row.get("response")
            try:
                if not isinstance(response, dict) or response.get("status_code") != 200:
                    raise ValueError("no answer")
                reply = reply_of(response.get("body") or {})
            except ValueError:
                failed += 1
                continue
            if votes.get(ask.cache_key) is None:
                votes.add(vote_of(name, ask, reply))
                taken += 1
    finally:
        votes.close()
    return BatchRead(taken, failed)
