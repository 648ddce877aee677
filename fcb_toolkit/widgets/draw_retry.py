"""Second tries beside the first: one in full, many as a table, and those kept earlier.

draw_attempt(run, attempt, sample=0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fcb_toolkit.annotations import Variant
from fcb_toolkit.records import Answer, Case, Verdict
from fcb_toolkit.runs import Run
from fcb_toolkit.widgets.draw_calls import draw_answer, draw_between
from fcb_toolkit.widgets.draw_item import badge, draw_facts, draw_prompt, draw_raw, short_time
from fcb_toolkit.widgets.markup import Html, cut, details, join, table, tag
from fcb_toolkit.widgets.retry import Attempt
from fcb_toolkit.widgets.table import last_user_text


def draw_attempt(run: Run, attempt: Attempt, sample: int = 0) -> Html:
    """The old reply and the new one, both against the gold, and against each other."""
    case = run.case_by_id[attempt.case.id]
    old = run.reply_by_key.get((case.id, sample))
    before = run.answer(old) if old is not None else None
    changed = ", ".join(attempt.variant.changes) or "nothing"
    name = attempt.verdict.metric
    was = run.verdicts.get(name, {}).get((case.id, sample))
    return join(
        [
            tag("h4", f"{case.id}, changed: {changed}"),
            tag("div", *_sides(case, (before, was), attempt), cls="fcb-sides"),
            tag("h4", "Old against new"),
            draw_between(before, attempt.answer, "the old", "the new"),
            details("New prompt as sent", draw_prompt(attempt.variant.prompt)),
            details("New raw reply", draw_raw(attempt.variant.reply.text), draw_facts(attempt.variant.reply)),
        ]
    )


def _sides(case: Case, before: tuple[Answer | None, Verdict | None], attempt: Attempt) -> list[Html]:
    answer, was = before
    return [
        tag("div", tag("h4", "Old reply"), _verdict(was), draw_answer(case, answer)),
        tag("div", tag("h4", "New reply"), _verdict(attempt.verdict), draw_answer(case, attempt.answer)),
    ]


def _verdict(verdict: Verdict | None) -> Html:
    if verdict is None:
        return tag("p", "not scored")
    shown = badge(str(verdict.outcome), str(verdict.failure) if verdict.failure else None)
    return join(
        [
            tag("p", shown),
            tag("p", cut(verdict.reason, 2000)[0], cls="fcb-reason") if verdict.reason else None,
        ]
    )


def draw_attempts(run: Run, attempts: Sequence[Attempt]) -> Html:
    """How many turned right and wrong, then one row per item."""
    if not attempts:
        return tag("p", "no reply was made", cls="fcb-none")
    rows, moves = [], Counter[str]()
    for attempt in attempts[:1000]:
        old = run.verdicts.get(attempt.verdict.metric, {}).get((attempt.case.id, 0))
        was, now = str(old.outcome) if old else "not_scored", str(attempt.verdict.outcome)
        moves[_move(was, now)] += 1
        kind = str(attempt.verdict.failure) if attempt.verdict.failure else None
        rows.append((attempt.case.id, cut(last_user_text(attempt.case), 80)[0], badge(was), badge(now, kind)))
    summary = " · ".join(f"{n:,} {move}" for move, n in moves.most_common())
    return join([tag("p", tag("b", summary)), table(("item", "question", "old", "new"), rows)])


def _move(was: str, now: str) -> str:
    if was == now:
        return f"still {now.replace('_', ' ')}"
    return f"{was.replace('_', ' ')} → {now.replace('_', ' ')}"


def draw_variants(variants: Sequence[Variant]) -> Html:
    """What was kept for this item earlier, newest first."""
    if not variants:
        return join([])
    rows = [
        (
            short_time(variant.when),
            variant.who,
            variant.model,
            ", ".join(variant.changes) or "nothing",
            join([_verdict(verdict) for verdict in list(variant.verdicts.values())[:1]]),
            tag("pre", cut(variant.reply.text or "", 400)[0], cls="fcb-pre"),
        )
        for variant in reversed(variants[-20:])
    ]
    head = ("when (UTC)", "who", "model", "changed", "verdict", "reply")
    return details(f"Variants kept ({len(variants)})", table(head, rows), open_=True)
