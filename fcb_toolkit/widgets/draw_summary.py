"""Rates per run: by the metric alone, and with people's corrections.

draw_summary([(run, rate, corrected, changed)], metric="")
"""

from __future__ import annotations

from collections.abc import Sequence

from fcb_toolkit.runs import Run
from fcb_toolkit.widgets.cohorts import Rate
from fcb_toolkit.widgets.markup import Html, join, plural, table, tag

HEAD = (
    "run",
    "model",
    "pass rate by the metric",
    "with corrections",
    "not scored",
    "no reply",
)


def draw_summary(rows: Sequence[tuple[Run, Rate, Rate, int]], metric: str) -> Html:
    """One row per run, without intervals: those that respect clusters come from `fcb.summarize`."""
    cells = [
        (
            run.name,
            run.model_name,
            rate_text(own),
            _corrected(corrected, changed),
            f"{own.not_scored:,}",
            f"{own.missing:,}",
        )
        for run, own, corrected, changed in rows
    ]
    notes = [tag("p", note, cls="fcb-remark") for run, *_ in rows for note in run.notes]
    caption = tag("p", f"metric: {metric or 'each case’s own'}", cls="fcb-facts")
    return join([table(HEAD, cells), caption, *notes])


def rate_text(rate: Rate) -> str:
    if rate.rate is None:
        return "nothing scored"
    return f"{rate.rate:.1%}, {rate.passes:,} of {rate.scored:,}"


def _corrected(rate: Rate, changed: int) -> str:
    if not changed:
        return "no verdict changed"
    return f"{rate_text(rate)}, {changed:,} verdict{plural(changed)} changed"
