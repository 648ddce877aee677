"""Stored replies judged by a model: exact stage first, then votes, then the majority.

verdicts = judge(run, model, JudgeOptions(language="ko", votes=3))   # {(case id, sample): Verdict}
run = judged(run, [model, other])                                    # also written beside the run
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from fcb_toolkit import scoring
from fcb_toolkit.judging.asking import Key, Question, Turn, ask_all, ask_for
from fcb_toolkit.judging.options import METRIC, JudgeOptions
from fcb_toolkit.judging.orders import reordered
from fcb_toolkit.judging.rubrics import KINDS, fill, load_rubrics
from fcb_toolkit.judging.votes import Vote, Votes
from fcb_toolkit.models import Model
from fcb_toolkit.records import Answer, Case, FailureKind, Outcome, Reply, Verdict
from fcb_toolkit.runs import Run, disk

_KIND_OF_FAILURE = {
    "call": FailureKind.WRONG_VALUE,
    "completion": FailureKind.UNFAITHFUL_ANSWER,
    "slot": FailureKind.INCOMPLETE_QUESTION,
    "relevance": FailureKind.FALSE_CLAIM,
}
"""A rubric says pass or fail; where our rules find no cause either, the kind is the commonest of the type."""


def judge(
    run: Run, models: Model | Sequence[Model], options: JudgeOptions | None = None
) -> dict[Key, Verdict]:
    """The rubric verdicts of a run by one or several judges; votes are cached beside a run on disk.

    A majority of all readable votes decides; a tie, no readable vote or a server's error is `not_scored`.
    """
    options = options or JudgeOptions()
    judges = list(models) if isinstance(models, Sequence) else [models]
    verdicts, questions = split(run, options)
    ballot = _Ballot(Votes(run.path))
    try:
        for model in judges:
            for vote in range(options.votes):
                _vote(model, vote, questions, options, ballot)
    finally:
        ballot.kept.close()
    for question in questions:
        error = ballot.errors.get(question.key, "")
        verdicts[question.key] = decide(question, ballot.cast[question.key], error)
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
            rubric = rubrics[case.type_of_output]
            prompts = {order: fill(reordered(rubric, order), case, answer) for order in options.orders}
            questions.append(Question(reply.key, case, answer, prompts))
    return settled, questions


def _settled(run: Run, case: Case, reply: Reply, every: bool) -> tuple[Verdict | None, Answer | None]:
    if case.type_of_output not in KINDS:
        return Verdict.not_scored(f"no rubric asks of a case of type {case.type_of_output!r}"), None
    if reply.finish_reason == "error":
        return Verdict.not_scored("no reply from the model: an error", reply_error=True), None
    answer = run.answer(reply)
    # The metric alone is the exact stage, and what no reply at all is worth.
    exact = scoring.score_answer(case, answer, METRIC)
    if exact.outcome == Outcome.FAIL or (exact.outcome == Outcome.PASS and not every):
        return exact, None
    return None, answer


@dataclass(slots=True)
class _Ballot:
    """The cache, the votes of this judging by question, and what kept a judge from answering."""

    kept: Votes
    cast: dict[Key, list[Vote]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[Key, str] = field(default_factory=dict)


def _vote(
    model: Model, vote: int, questions: Sequence[Question], options: JudgeOptions, ballot: _Ballot
) -> None:
    """One vote of one judge on each question, in each order; the unreadable ones are asked once more."""
    left = [(question, order) for order in options.orders for question in questions]
    for attempt in (0, 1):
        asks = [ask_for(model, question, Turn(vote, attempt, order), options) for question, order in left]
        failed = ask_all(model, asks, ballot.kept, options.settings(vote, attempt))
        left = []
        for ask in asks:
            question, found = ask.question, ballot.kept.get(ask.cache_key)
            if found is None:
                ballot.errors[question.key] = failed.get(ask.cache_key, "no reply")
            elif found.verdict is None and not attempt:
                left.append((question, ask.turn.order))
            else:
                ballot.cast[question.key].append(found)


def decide(question: Question, votes: Sequence[Vote], error: str = "") -> Verdict:
    """The majority of the readable votes as a verdict; all votes are kept in its `details`."""
    count = Counter(vote.verdict for vote in votes)
    kept = [
        {"judge": v.judge, "vote": v.vote, "order": v.order, "verdict": v.verdict, "key": v.key}
        for v in votes
    ]
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
        verdict = Verdict.failed(_cause(question), _reason(votes, "fail", shown), votes=kept)
    return replace(verdict, metric=METRIC)


def _reason(votes: Iterable[Vote], side: str, shown: str) -> str:
    text = next((" ".join(v.text.split()) for v in votes if v.verdict == side), "")
    return f"{shown}: {text[:600]}"


def _cause(question: Question) -> FailureKind:
    own = scoring.default_metric(question.case)
    found = scoring.score_answer(question.case, question.answer, own).failure
    return found or _KIND_OF_FAILURE[question.case.type_of_output]
