"""One item: verdicts, gold against reply for each run, and everything that was sent and came back.

pane = ItemPane(table, notes)
pane.show(row, view, place)
"""

from __future__ import annotations

import ipywidgets as widgets

from fcb_toolkit.annotations import Annotations
from fcb_toolkit.errors import FcbError
from fcb_toolkit.records import Answer, Verdict
from fcb_toolkit.runs import Run
from fcb_toolkit.widgets.draw_calls import LIMIT, draw_answer, draw_between
from fcb_toolkit.widgets.draw_item import (
    draw_conversation,
    draw_facts,
    draw_head,
    draw_prompt,
    draw_raw,
    draw_tools,
    draw_verdicts,
)
from fcb_toolkit.widgets.draw_program import draw_execution, draw_program, execute, is_program, program_text
from fcb_toolkit.widgets.markup import Html, details, join, tag
from fcb_toolkit.widgets.parts import html_box, set_html, small_button, status
from fcb_toolkit.widgets.table import Table, View


class ItemPane:
    """Texts over `LIMIT` characters are cut until the reader asks for all of them."""

    def __init__(self, table: Table, notes: list[Annotations]) -> None:
        self._table = table
        self._notes = notes
        self._row: int | None = None
        self._view = View()
        self._place = ""
        self.head, self.body, self.trace = (
            html_box("fcb-item-head"),
            html_box("fcb-item"),
            html_box("fcb-item"),
        )
        self.whole = widgets.Checkbox(value=False, description="draw long texts whole", indent=False)
        self.whole.observe(lambda change: self._draw_body(), "value")
        self.execute = small_button(
            "Run the program in the sandbox", "Runs this reply's code again and traces its calls"
        )
        self.execute.on_click(lambda button: self._execute())
        self.box = widgets.VBox([self.head, self.body, self.whole, self.execute, self.trace])

    def show(self, row: int | None, view: View, place: str = "") -> None:
        """Another item or another view of it."""
        self._row, self._view, self._place = row, view, place
        self.refresh()
        self._draw_body()

    def refresh(self) -> None:
        """Only the verdicts: after an annotation the reader's open parts stay open."""
        if self._row is None:
            set_html(self.head, tag("p", "No item is open.", cls="fcb-none"))
            return
        key = self._table.keys[self._row]
        heads = [draw_head(self._table.cases[self._row], key[1], self._place)]
        heads += [self._verdicts(run) for run in self._runs()]
        set_html(self.head, join(heads))

    def _runs(self) -> list[int]:
        """The run in view first, then the one it is compared with, then the others."""
        first = [self._view.run, *([] if self._view.other is None else [self._view.other])]
        return list(dict.fromkeys([*first, *range(len(self._table.runs))]))

    def _verdicts(self, place: int) -> Html:
        run, row = self._table.runs[place], self._row or 0
        key, metric = self._table.keys[row], self._table.metric_of(row, self._view)
        stored = {name: rows[key] for name, rows in run.verdicts.items() if key in rows}
        drawn = draw_verdicts(stored, metric, self._notes[place].of(key, metric))
        if len(self._table.runs) == 1:
            return drawn
        return tag("div", tag("h4", f"{'ABCDEFGH'[place : place + 1]} {run.name}"), drawn, cls="fcb-run")

    def _draw_body(self) -> None:
        set_html(self.trace, join([]))
        self.execute.layout.display = "none"
        if self._row is None:
            set_html(self.body, join([]))
            return
        case = self._table.cases[self._row]
        limit = None if self.whole.value else LIMIT
        self.execute.layout.display = "" if is_program(case) else "none"
        parts = [
            *self._answers(limit),
            tag("h4", "Conversation"),
            draw_conversation(case, limit),
            details(f"Tools offered ({len(case.tools)})", draw_tools(case)),
            *self._sent_and_received(limit),
        ]
        set_html(self.body, join(parts))

    def _answers(self, limit: int | None) -> list[Html]:
        runs = [self._table.runs[place] for place in self._runs()]
        shown = [self._answer_part(run, limit) for run in runs]
        if len(runs) == 1:
            return shown
        parts = [tag("div", *shown, cls="fcb-sides")]
        a, b = self._runs()[:2]
        left, right = self._table.runs[a], self._table.runs[b]
        between = draw_between(self._answer(left), self._answer(right), left.name, right.name, limit)
        return [*parts, tag("h4", f"{left.name} against {right.name}"), between]

    def _answer_part(self, run: Run, limit: int | None) -> Html:
        case, answer = self._table.cases[self._row or 0], self._answer(run)
        name = tag("h4", f"Gold against reply{'' if len(self._table.runs) == 1 else ': ' + run.name}")
        if not is_program(case):
            return tag("div", name, draw_answer(case, answer, limit))
        verdict = self._verdict(run)
        return tag("div", name, draw_program(case, program_text(case, answer), verdict))

    def _verdict(self, run: Run) -> Verdict | None:
        row = self._row or 0
        metric = self._table.metric_of(row, self._view)
        return run.verdicts.get(metric, {}).get(self._table.keys[row])

    def _answer(self, run: Run) -> Answer | None:
        key = self._table.keys[self._row or 0]
        reply = run.reply_by_key.get(key)
        return run.answer(reply) if reply is not None else None

    def _sent_and_received(self, limit: int | None) -> list[Html]:
        parts = []
        for place in self._runs():
            run = self._table.runs[place]
            reply = run.reply_by_key.get(self._table.keys[self._row or 0])
            title = "" if len(self._table.runs) == 1 else f": {run.name}"
            prompt = run.prompts.get(reply.prompt_sha256) if reply is not None else None
            parts.append(
                details(f"Raw reply{title}", draw_raw(reply.text if reply else None, limit), open_=True)
            )
            parts.append(draw_facts(reply))
            parts.append(details(f"Prompt as sent{title}", draw_prompt(prompt, limit)))
        return parts

    def _execute(self) -> None:
        """The trace, whatever the metric kept of it."""
        if self._row is None:
            return
        case, run = self._table.cases[self._row], self._table.runs[self._view.run]
        try:
            code = program_text(case, self._answer(run))
            drawn = draw_execution(case, code, execute(case, code))
        except FcbError as error:
            set_html(self.trace, status(str(error), bad=True))
            return
        set_html(self.trace, drawn)
