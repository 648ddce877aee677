"""Stored replies judged by a model: exact stage first, then votes, then the majority.

verdicts = judge(run, model, JudgeOptions(language="ko", votes=3))   # {(case id, sample): Verdict}
plan(run, model, JudgeOptions()).calls                               # what it would ask, without asking
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fcb_toolkit import scoring
from fcb_toolkit.errors import DataError
from fcb_toolkit.judging.read import read_verdict
from fcb_toolkit.judging.rubrics import KINDS, fill, load_rubrics
from fcb_toolkit.judging.votes import Vote, Votes, read_votes, vote_key
from fcb_toolkit.models import Model
from fcb_toolkit.records import Answer, Case, FailureKind, Generation, Outcome, Rendered, Reply, Verdict
from fcb_toolkit.runs import Run, disk

METRIC = "rubric"
VERDICT_FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "reasoning": {"type": "string"},
                "verdict": {"type": "string", "enum": ["pass", "fail"]},
            },
            "required": ["reasoning", "verdict"],
            "additionalProperties": False,
        },
    },
}
"""`response_format` for servers that have structured output; the reasoning comes first."""
Key = tuple[str, int]
EXACT = ("functionchat_exact", "call_match")
AGAIN = {
    "ko": "\n\n설명 없이 한 줄만 적으세요: '판정: 합격' 또는 '판정: 불합격'.",
    "en": "\n\nWrite one line only and no explanation: 'Verdict: PASS' or 'Verdict: FAIL'.",
}
_KIND_OF_FAILURE = {
    "call": FailureKind.WRONG_VALUE,
    "completion": FailureKind.UNFAITHFUL_ANSWER,
    "slot": FailureKind.INCOMPLETE_QUESTION,
    "relevance": FailureKind.FALSE_CLAIM,
}
"""A rubric says pass or fail; where our rules find no cause either, the kind is the commonest of the type."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """`every`: ask the judge of all replies, not only of those that the exact stage leaves open.

    `temperature` None: 0 for one vote, 1 for more (votes that cannot differ say nothing new).
    """

    language: str = "ko"
    rubric: str | Path | None = None
    votes: int = 1
    every: bool = False
    max_new_tokens: int = 512
    temperature: float | None = None

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise DataError(f"votes is {self.votes}, expected 1 or more")

    def settings(self, vote: int, attempt: int) -> Generation:
        warm = (0.0 if self.votes == 1 else 1.0) if self.temperature is None else self.temperature
        return Generation(self.max_new_tokens, warm, seed=vote + 1000 * attempt)


@dataclass(frozen=True, slots=True)
class Question:
    """One reply that a judge has to see. `key` is (case id, sample)."""

    key: Key
    case: Case
    answer: Answer
    prompt: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a judge: a question, which vote, which attempt, and the vote's cache key."""

    question: Question
    vote: int
    attempt: int
    cache_key: str
    text: str


def judge(
    run: Run, models: Model | Sequence[Model], options: JudgeOptions | None = None
) -> dict[Key, Verdict]:
    """The rubric verdicts of a run by one or several judges; votes are cached beside a run on disk.

    A majority of all readable votes decides; a tie, no readable vote or a server's error is `not_scored`.
    """
    options = options or JudgeOptions()
    judges = list(models) if isinstance(models, Sequence) else [models]
    verdicts, questions = split(run, options)
    votes = Votes(run.path)
    cast: dict[Key, list[Vote]] = {question.key: [] for question in questions}
    errors: dict[Key, str] = {}
    try:
        for model in judges:
            for vote in range(options.votes):
                _cast(model, vote, options, questions, votes, cast, errors)
    finally:
        votes.close()
    for question in questions:
        verdicts[question.key] = decide(question, cast[question.key], errors.get(question.key, ""))
    return {reply.key: verdicts[reply.key] for reply in run.replies}


def judged(run: Run, models: Model | Sequence[Model], options: JudgeOptions | None = None) -> Run:
    """The run with its rubric verdicts, which are also written beside it (`verdicts/rubric.jsonl`)."""
    verdicts = judge(run, models, options)
    if run.path is not None:
        disk.write_verdicts(run.path, {METRIC: verdicts})
    return replace(run, verdicts={**run.verdicts, METRIC: verdicts})


def split(run: Run, options: JudgeOptions) -> tuple[dict[Key, Verdict], list[Question]]:
    """Verdicts that need no judge (the exact stage's passes, what no rubric asks of), and the open questions."""
    rubrics = load_rubrics(options.language, options.rubric)
    settled: dict[Key, Verdict] = {}
    questions = []
    for reply in run.replies:
        case = run.case_by_id[reply.case_id]
        verdict, answer = _settled(run, case, reply, options.every)
        if verdict is not None:
            settled[reply.key] = replace(verdict, metric=METRIC)
        elif answer is not None:
            prompt = fill(rubrics[case.type_of_output], case, answer)
            questions.append(Question(reply.key, case, answer, prompt))
    return settled, questions


def _settled(run: Run, case: Case, reply: Reply, every: bool) -> tuple[Verdict | None, Answer | None]:
    if case.type_of_output not in KINDS:
        return Verdict.not_scored(f"no rubric asks of a case of type {case.type_of_output!r}"), None
    if reply.finish_reason == "error":
        return Verdict.not_scored("no reply from the model: an error", reply_error=True), None
    answer = run.answer(reply)
    if answer.message is None:
        return Verdict.failed(FailureKind.NO_REPLY, "no reply to judge"), None
    for metric in () if every else EXACT:
        if scoring.score_answer(case, answer, metric).outcome == Outcome.PASS:
            return Verdict.passed(f"exact stage: {metric} passes", stage=metric), None
    return None, answer


def _cast(
    model: Model,
    vote: int,
    options: JudgeOptions,
    questions: Sequence[Question],
    votes: Votes,
    cast: Mapping[Key, list[Vote]],
    errors: dict[Key, str],
) -> None:
    """One vote of one judge on each question; the unreadable ones are asked once more."""
    left = list(questions)
    for attempt in (0, 1):
        asks = [ask_for(model, question, vote, attempt, options) for question in left]
        failed = _ask(model, asks, options, votes)
        got = [(ask, votes.get(ask.cache_key)) for ask in asks]
        for ask, found in got:
            if found is None:
                errors[ask.question.key] = failed.get(ask.cache_key, "no reply")
            if found is not None and (found.verdict is not None or attempt):
                cast[ask.question.key].append(found)
        left = [ask.question for ask, found in got if found is not None and found.verdict is None]


def ask_for(model: Model, question: Question, vote: int, attempt: int, options: JudgeOptions) -> Ask:
    text = question.prompt + (AGAIN[options.language] if attempt else "")
    key = vote_key(model.describe(), options.settings(vote, attempt), text, vote, attempt)
    return Ask(question, vote, attempt, key, text)


def _ask(model: Model, asks: Sequence[Ask], options: JudgeOptions, votes: Votes) -> dict[str, str]:
    """Asks what no vote is kept of; each vote is kept as it comes. Gives the errors by cache key."""
    failed: dict[str, str] = {}
    # Two replies with one text are one call.
    new = list({ask.cache_key: ask for ask in asks if votes.get(ask.cache_key) is None}.values())
    if not new:
        return failed
    prompts = [prepare(model, ask.text) for ask in new]
    settings = options.settings(new[0].vote, new[0].attempt)
    for index, reply in model.generate(prompts, settings):
        ask = new[index]
        if reply.finish_reason == "error":
            failed[ask.cache_key] = "; ".join(reply.notes) or "an error"
        else:
            votes.add(vote_of(model.name, ask, reply, prompts[index]))
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
        ask.vote,
        ask.attempt,
        verdict,
        text,
        len(ask.question.answer.text or ""),
        reply.prompt_tokens,
        reply.reply_tokens,
        reply.seconds,
    )


def decide(question: Question, votes: Sequence[Vote], error: str = "") -> Verdict:
    """The majority of the readable votes as a verdict; all votes are kept in its `details`."""
    count = Counter(vote.verdict for vote in votes)
    kept = [{"judge": v.judge, "vote": v.vote, "verdict": v.verdict, "key": v.key} for v in votes]
    shown = f"{count['pass']} pass, {count['fail']} fail, {count[None]} unreadable"
    if error:
        verdict = Verdict.not_scored(f"a judge gave no answer: {error}; run it again", votes=kept)
    elif not count["pass"] and not count["fail"]:
        verdict = Verdict.not_scored("no vote could be read, asked twice", votes=kept)
    elif count["pass"] == count["fail"]:
        verdict = Verdict.not_scored(f"a tie: {shown}", votes=kept)
    elif count["pass"] > count["fail"]:
        verdict = Verdict.passed(_reason(votes, "pass", shown), votes=kept)
    else:
        kind = _cause(question)
        verdict = Verdict.failed(kind, _reason(votes, "fail", shown), votes=kept)
    return replace(verdict, metric=METRIC)


def _reason(votes: Iterable[Vote], side: str, shown: str) -> str:
    text = next((" ".join(v.text.split()) for v in votes if v.verdict == side), "")
    return f"{shown}: {text[:600]}"


def _cause(question: Question) -> FailureKind:
    ruled = scoring.score_answer(
        question.case, question.answer, scoring.default_metric(question.case)
    ).failure
    return ruled or _KIND_OF_FAILURE[question.case.type_of_output]


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
    kept = {vote.key for vote in read_votes(run.path)} if run.path is not None else set()
    asks = {ask.cache_key: ask for model in judges for ask in first_asks(model, questions, options)}
    open_ = [ask for key, ask in asks.items() if key not in kept]
    given = sum(estimate_tokens(ask.text) for ask in open_)
    made = len(open_) * options.max_new_tokens
    cost = None if price is None else (given * price[0] + made * price[1]) / 1e6
    return Plan(len(open_), len(asks) - len(open_), len(settled), given, made, cost)


def first_asks(model: Model, questions: Sequence[Question], options: JudgeOptions) -> Iterator[Ask]:
    for vote in range(options.votes):
        for question in questions:
            yield ask_for(model, question, vote, 0, options)


def estimate_tokens(text: str) -> int:
    """About 4 ASCII characters a token, and one token for any other character (Hangul: on the safe side)."""
    ascii_ = sum(character.isascii() for character in text)
    return -(-ascii_ // 4) + len(text) - ascii_
