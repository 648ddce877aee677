"""What a judging would cost, without asking.

plan(run, model, JudgeOptions(votes=3), price=(2.5, 10)).cost     # in the price's currency
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fcb_toolkit.judging.asking import first_asks
from fcb_toolkit.judging.jury import split
from fcb_toolkit.judging.options import JudgeOptions
from fcb_toolkit.judging.votes import read_votes
from fcb_toolkit.models import Model
from fcb_toolkit.runs import Run


@dataclass(frozen=True, slots=True)
class Plan:
    """What a judging would still ask. `reply_tokens` is the limit, so that `cost` is the most it can be,
    second askings of unreadable answers left out. `prompt_tokens` is estimated from the text's length."""

    calls: int
    cached: int
    settled: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None = None


def plan(
    run: Run,
    models: Model | Sequence[Model],
    options: JudgeOptions | None = None,
    price: tuple[float, float] | None = None,
) -> Plan:
    """Counts calls and tokens without asking. `price`: per million tokens, (in, out)."""
    options = options or JudgeOptions()
    judges = list(models) if isinstance(models, Sequence) else [models]
    settled, questions = split(run, options)
    asks = {ask.cache_key: ask.text for model in judges for ask in first_asks(model, questions, options)}
    return plan_of(run, asks, options.max_new_tokens, price, len(settled))


def plan_of(
    run: Run,
    asks: dict[str, str],
    max_new_tokens: int,
    price: tuple[float, float] | None = None,
    settled: int = 0,
) -> Plan:
    """The plan of these calls, texts by cache key."""
    kept = {vote.key for vote in read_votes(run.path)} if run.path is not None else set()
    new = [text for key, text in asks.items() if key not in kept]
    given, made = sum(map(estimate_tokens, new)), len(new) * max_new_tokens
    cost = None if price is None else (given * price[0] + made * price[1]) / 1e6
    return Plan(len(new), len(asks) - len(new), settled, given, made, cost)


def estimate_tokens(text: str) -> int:
    """About 4 ASCII characters a token, and one token for any other character (Hangul: on the safe side)."""
    ascii_ = sum(character.isascii() for character in text)
    return -(-ascii_ // 4) + len(text) - ascii_
