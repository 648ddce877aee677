"""A run's failures as one HTML file, for people without Python.

    write_html(run, "failures.html")

The file holds no script and no link to anywhere, and its own policy forbids both, so that even text that
slipped through the escaping could not run. Parts open and close by themselves (`details`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from fcb_toolkit import jsonl
from fcb_toolkit.annotations import Annotations
from fcb_toolkit.runs import Run
from fcb_toolkit.runs.record import Key
from fcb_toolkit.widgets.cohorts import corrected_rate, rate
from fcb_toolkit.widgets.draw_calls import draw_answer
from fcb_toolkit.widgets.draw_item import (
    draw_conversation,
    draw_facts,
    draw_head,
    draw_prompt,
    draw_raw,
    draw_tools,
    draw_verdicts,
)
from fcb_toolkit.widgets.draw_program import draw_program, is_program, program_text
from fcb_toolkit.widgets.draw_summary import draw_summary
from fcb_toolkit.widgets.explorer_style import style
from fcb_toolkit.widgets.markup import Html, details, escape, join, tag
from fcb_toolkit.widgets.table import FAIL, OUTCOMES, Table, View

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; form-action 'none'; base-uri 'none'"


def write_html(
    run: Run,
    path: str | Path,
    *,
    keys: Collection[Key] | None = None,
    failures_only: bool = True,
    prompts: bool = False,
) -> Path:
    """Writes the file and gives its path.

    `keys`: these cases and samples only. `prompts` adds each prompt as sent, which makes the file several
    times as large. Raises `DataError` if the file cannot be written; then no half of it is left.
    """
    path = Path(path).expanduser()
    table, notes = Table([run]), Annotations(run.path)
    rows = _rows(table, keys, failures_only)
    page = _page(run, table, notes, rows, prompts)
    jsonl.write_atomic(path, "".join(page))
    return path


def _rows(table: Table, keys: Collection[Key] | None, failures_only: bool) -> list[int]:
    wanted = set(keys) if keys is not None else None
    codes = table.scores(0, "").outcome.codes
    return [
        row
        for row, key in enumerate(table.keys)
        if (wanted is None or key in wanted) and (codes[row] == FAIL or not failures_only)
    ]


def _page(run: Run, table: Table, notes: Annotations, rows: Sequence[int], prompts: bool) -> Iterator[str]:
    """Head, rates, contents by kind, items; piece by piece, since a run may be large."""
    title = f"{run.name}: {len(rows):,} items"
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        style(),
    ]
    yield f'<!doctype html><html lang="en"><head>{join(head)}</head><body class="fcb-page"><main>'
    own = rate(table, View())
    corrected, changed = corrected_rate(table, View(), notes)
    yield tag("h1", title) + draw_summary([(run, own, corrected, changed)], "")
    groups = _by_kind(table, rows)
    yield _contents({kind: len(found) for kind, found in groups.items()})
    for kind, found in groups.items():
        yield tag("h2", f"{kind} ({len(found):,})", id=_anchor(kind))
        for row in found:
            yield _item(run, table, notes, row, prompts)
    yield "</main></body></html>\n"


def _by_kind(table: Table, rows: Sequence[int]) -> dict[str, list[int]]:
    """Failure kinds in the order of their frequency; what did not fail under its outcome."""
    scores = table.scores(0, "")
    groups: dict[str, list[int]] = {}
    for row in rows:
        code = scores.outcome.codes[row]
        kind = scores.failure.labels[scores.failure.codes[row]] if code == FAIL else OUTCOMES[code]
        groups.setdefault(kind, []).append(row)
    return dict(sorted(groups.items(), key=lambda pair: -len(pair[1])))


def _contents(counts: dict[str, int]) -> Html:
    lines = [
        tag("li", tag("a", f"{kind} ({count:,})", href=f"#{_anchor(kind)}")) for kind, count in counts.items()
    ]
    return tag("nav", tag("ul", *lines), aria_label="failure kinds") if lines else tag("p", "Nothing failed.")


def _anchor(kind: str) -> str:
    return "kind-" + "".join(char if char.isalnum() else "-" for char in kind)


def _item(run: Run, table: Table, notes: Annotations, row: int, prompts: bool) -> Html:
    case, key = table.cases[row], table.keys[row]
    reply = run.reply_by_key.get(key)
    answer = run.answer(reply) if reply is not None else None
    metric = table.metric_of(row, View())
    verdicts = {name: rows[key] for name, rows in run.verdicts.items() if key in rows}
    against = draw_answer(case, answer)
    if is_program(case):
        against = draw_program(case, program_text(case, answer), verdicts.get(metric))
    prompt = run.prompts.get(reply.prompt_sha256) if reply is not None and prompts else None
    return tag(
        "section",
        draw_head(case, key[1]),
        draw_verdicts(verdicts, metric, notes.of(key, metric)),
        tag("h4", "Gold against reply"),
        against,
        details("Conversation", draw_conversation(case), open_=True),
        details(f"Tools offered ({len(case.tools)})", draw_tools(case)),
        details("Raw reply", draw_raw(reply.text if reply else None), draw_facts(reply)),
        details("Prompt as sent", draw_prompt(prompt)) if prompts else escape(""),
    )
