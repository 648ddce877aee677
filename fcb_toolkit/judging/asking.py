"""Questions to a judge, and its answers as votes in the cache.

asks = [ask_for(model, question, Turn(vote=0), options) for question in questions]
errors = ask_all(model, asks, votes, options.settings(0, 0))     # what came is in `votes` already
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from fcb_toolkit import scoring
from fcb_toolkit.judging.options import JudgeOptions
from fcb_toolkit.judging.orders import GIVEN
from fcb_toolkit.judging.read import read_verdict
from fcb_toolkit.judging.votes import Vote, Votes, vote_key
from fcb_toolkit.models import Model
from fcb_toolkit.models.base import Wanted, generated
from fcb_toolkit.records import Answer, Case, Generation, Rendered, Reply

Key = tuple[str, int]
"""(case id, sample)"""


@dataclass(frozen=True, slots=True)
class Question:
    """One reply that a judge has to see, and the prompt for each order of the rubric."""

    key: Key
    case: Case
    answer: Answer
    prompts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Turn:
    """Which of a judge's votes on a question: its number, the attempt (1: asked once more), the order."""

    vote: int = 0
    attempt: int = 0
    order: str = GIVEN


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a judge, and the cache key of the vote that it gives."""

    question: Question
    turn: Turn
    cache_key: str
    text: str


def ask_for(model: Model, question: Question, turn: Turn, options: JudgeOptions) -> Ask:
    text = question.prompts[turn.order] + (options.again(turn.order) if turn.attempt else "")
    settings = options.settings(turn.vote, turn.attempt)
    return Ask(question, turn, vote_key(model.describe(), settings, text, turn.vote, turn.attempt), text)


def first_asks(model: Model, questions: Sequence[Question], options: JudgeOptions) -> Iterator[Ask]:
    """All calls but those that an unreadable answer would add."""
    for vote in range(options.votes):
        for order in options.orders:
            for question in questions:
                yield ask_for(model, question, Turn(vote, 0, order), options)


def ask_all(model: Model, asks: Sequence[Ask], votes: Votes, settings: Generation) -> dict[str, str]:
    """Asks what no vote is kept of; each vote is kept where it arrives. Gives the errors by cache key."""
    # Two replies with one text are one call.
    new = list({ask.cache_key: ask for ask in asks if votes.get(ask.cache_key) is None}.values())
    failed: dict[str, str] = {}
    if not new:
        return failed
    prompts = [prepare(model, ask.text) for ask in new]

    def keep(index: int, reply: Reply) -> None:
        if reply.finish_reason != "error":
            votes.add(vote_of(model.name, new[index], reply, prompts[index]))

    ids = [votes.request_id(ask.cache_key) for ask in new]
    with closing(generated(model, Wanted(prompts, settings, keep, ids=ids))) as stream:
        for index, reply in stream:
            if reply.finish_reason == "error":
                failed[new[index].cache_key] = "; ".join(reply.notes) or "an error"
    return failed


def prepare(model: Model, text: str) -> Rendered:
    return model.prepare([{"role": "user", "content": text}])


def vote_of(judge_name: str, ask: Ask, reply: Reply, prompt: Rendered | None = None) -> Vote:
    """The vote that a judge's reply is."""
    given: Any = reply.message if reply.message is not None else reply.text
    before = prompt.prompt if prompt is not None and reply.message is None else None
    text = scoring.answer(given, format=reply.format or "auto", prompt=before).parse.content or ""
    # An answer cut off at the token limit may end in the middle of quoting the rubric.
    verdict = None if reply.finish_reason == "length" else read_verdict(text)
    return Vote(
        ask.cache_key,
        *ask.question.key,
        judge_name,
        ask.question.case.type_of_output,
        ask.turn.vote,
        ask.turn.attempt,
        verdict,
        text,
        len(ask.question.answer.text or ""),
        reply.prompt_tokens,
        reply.reply_tokens,
        reply.seconds,
        ask.turn.order,
    )
