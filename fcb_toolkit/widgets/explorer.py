"""The explorer: draws a `State`, and turns every click into the next one.

explorer = Explorer([run]); explorer.press("next_failure"); explorer.state.selected
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from fcb_toolkit.annotations import Annotations, Edit
from fcb_toolkit.errors import DataError
from fcb_toolkit.models import Model
from fcb_toolkit.records import Case
from fcb_toolkit.runs import Run
from fcb_toolkit.widgets.annotate_form import AnnotateForm
from fcb_toolkit.widgets.cohorts import corrected_rate, rate
from fcb_toolkit.widgets.draw_summary import draw_summary
from fcb_toolkit.widgets.explorer_style import style
from fcb_toolkit.widgets.filter_bar import FilterBar
from fcb_toolkit.widgets.group_panes import CohortPane, ComparePane, SuspectPane
from fcb_toolkit.widgets.item_pane import ItemPane
from fcb_toolkit.widgets.keyboard import Keyboard
from fcb_toolkit.widgets.list_pane import ListPane
from fcb_toolkit.widgets.parts import html_box, set_html, small_button, status
from fcb_toolkit.widgets.retry_form import RetryForm
from fcb_toolkit.widgets.state import (
    Listing,
    State,
    listing,
    next_failure,
    only,
    select,
    settle,
    step,
    turn,
)
from fcb_toolkit.widgets.table import Table, View


class Explorer(widgets.VBox):  # type: ignore[misc]
    """See `fcb.explore`. `state` is what is shown; `apply` goes to another one."""

    def __init__(self, runs: Sequence[Run], *, model: Model | None = None, who: str | None = None) -> None:
        if not runs:
            raise DataError("explore: no runs given; expected a Run or a list of Runs")
        if odd := [run for run in runs if not isinstance(run, Run)]:
            raise DataError(f"explore: found {type(odd[0]).__name__}, expected a Run or a list of Runs")
        self.table = Table(runs)
        self.notes = [Annotations(run.path, who) for run in runs]
        self.state = State(View(0, "", 1 if len(runs) > 1 else None))
        self._build(model)
        super().__init__(
            [html_box("fcb-style", style()), self.keyboard, self.summary, self.filters.box, self.tabs]
        )
        self.add_class("fcb-explorer")
        self.apply(lambda state: state)
        # The search needs every text folded once, which the first view does not wait for.
        self._folding = threading.Thread(target=self.table.haystack, args=(0,), daemon=True)
        self._folding.start()

    def _build(self, model: Model | None) -> None:
        self.summary = html_box("fcb-summary")
        self.keyboard = Keyboard(self.press)
        self.filters = FilterBar(self.table, self.apply)
        self.list = ListPane(self.table, self.open_row, self.turn_page)
        self.item = ItemPane(self.table, self.notes)
        self.forms = [AnnotateForm(notes, self._annotated) for notes in self.notes]
        self.retry = RetryForm(model, self.notes[0].who)
        self.buttons = self._buttons()
        self.annotate = widgets.VBox([])
        self.more = widgets.Accordion([self.annotate, self.retry.box], titles=["Annotate", "Try again"])
        self.more.selected_index = None
        right = widgets.VBox([widgets.HBox(list(self.buttons.values())), self.item.box, self.more])
        right.add_class("fcb-right")
        items = widgets.HBox([self.list.box, right])
        items.add_class("fcb-items")
        self.cohorts = CohortPane(self.table, self._pick)
        self.suspects = SuspectPane(self.table, self._open_suspect)
        self.compare = ComparePane(self.table, self._pick)
        panes = {"Items": items, "Cohorts": self.cohorts.box, "Suspect gold": self.suspects.box}
        if len(self.table.runs) > 1:
            panes["Compare"] = self.compare.box
        self.tabs = widgets.Tab(list(panes.values()), titles=list(panes))
        self.tabs.observe(lambda change: self._draw_pane(), "selected_index")

    def _buttons(self) -> dict[str, Any]:
        texts = {
            "previous": ("◀ Previous", "Previous item (key p)"),
            "next": ("Next ▶", "Next item (key n)"),
            "next_failure": ("Next failure", "Next item that fails (key f)"),
        }
        buttons = {name: small_button(*text) for name, text in texts.items()}
        for name, button in buttons.items():
            button.on_click(lambda _, name=name: self.press(name))
        return buttons

    def apply(self, change: Callable[[State], State]) -> None:
        """Goes to another state and draws what is different in it."""
        before = self.state
        self.state = change(self.state)
        if self._filtered(before) or not hasattr(self, "shown"):
            self.shown = self._listing()
            self.state = settle(self.state, self.shown)
            self.filters.show(self.state, self.shown)
            self._draw_summary()
            self._draw_pane()
        self.list.show(self.state, self.shown)
        opened = (self.state.selected, self.state.view)
        if opened != getattr(self, "_opened", None):
            self._opened = opened
            self._draw_item()

    def _filtered(self, before: State) -> bool:
        parts = ("view", "filters", "search")
        return any(getattr(before, part) != getattr(self.state, part) for part in parts)

    def _listing(self) -> Listing:
        if self.state.search:
            self._folding.join()
        return listing(self.table, self.state, self.notes[self.state.view.run])

    def press(self, command: str) -> None:
        """`next`, `previous`, `next_failure` or `undo`: what a key or a button asks for."""
        if command == "undo":
            self.forms[self.state.view.run].take_back()
        elif command == "next_failure":
            self.apply(lambda state: next_failure(state, self.shown, self.table))
        else:
            self.apply(lambda state: step(state, self.shown, 1 if command == "next" else -1))

    def open_row(self, row: int) -> None:
        self.apply(lambda state: select(state, self.shown, row))

    def turn_page(self, by: int) -> None:
        self.apply(lambda state: turn(state, self.shown, by))

    def _pick(self, filters: Mapping[str, str]) -> None:
        self.apply(lambda state: only(state, filters))
        self.tabs.selected_index = 0

    def _open_suspect(self, row: int) -> None:
        self.open_row(row)
        self.tabs.selected_index = 0

    def _draw_item(self) -> None:
        row, view = self.state.selected, self.state.view
        self._reload_notes()
        place = self.shown.place(row)
        self.item.show(row, view, f"{place + 1:,} of {len(self.shown.rows):,}" if place is not None else "")
        form = self.forms[view.run]
        self.annotate.children = [form.box]
        for button in self.buttons.values():
            button.disabled = row is None
        if row is None:
            form.show(None, "", None)
            return
        metric = self.table.metric_of(row, view)
        form.show(self.table.keys[row], metric, self.table.verdict(row, view))
        case, sample = self.table.cases[row], self.table.keys[row][1]
        self.retry.show(self.table.runs[view.run], (case, sample), view.metric, self._listed)

    def _reload_notes(self) -> None:
        """Takes in what another notebook has written meanwhile; a broken file is told beside the form."""
        try:
            changed = [notes.refresh() for notes in self.notes]
        except DataError as error:
            set_html(self.forms[self.state.view.run].status, status(str(error), bad=True))
            return
        if any(changed):
            self._draw_summary()

    def _listed(self) -> list[Case]:
        """The cases of the list, each once, as far as the open run has them."""
        known = self.table.runs[self.state.view.run].case_by_id
        cases = {self.table.keys[row][0]: self.table.cases[row] for row in self.shown.rows}
        return [case for case_id, case in cases.items() if case_id in known]

    def _annotated(self, edit: Edit) -> None:
        """After a save: the rates, the verdict, the counts; an undo opens the item that it concerns."""
        self.shown = self._listing()
        self.filters.show(self.state, self.shown)
        self.list.show(self.state, self.shown)
        self._draw_summary()
        row = self.table.row_of.get(edit.key)
        if row is not None and row != self.state.selected:
            self.open_row(row)
            return
        self.item.refresh()
        if row is not None:
            metric = self.table.metric_of(row, self.state.view)
            form = self.forms[self.state.view.run]
            form.show(edit.key, metric, self.table.verdict(row, self.state.view))

    def _draw_pane(self) -> None:
        """Only the tab that is open is drawn."""
        panes: list[Any] = [None, self.cohorts, self.suspects, self.compare]
        pane = panes[self.tabs.selected_index or 0]
        if pane is not None:
            pane.show(self.state, self.shown)

    def _draw_summary(self) -> None:
        rows = []
        for place, run in enumerate(self.table.runs):
            view = replace(self.state.view, run=place)
            corrected, changed = corrected_rate(self.table, view, self.notes[place])
            rows.append((run, rate(self.table, view), corrected, changed))
        set_html(self.summary, draw_summary(rows, self.state.view.metric))

    def __repr__(self) -> str:
        """What stands for the widget where none can be drawn: a printed notebook."""
        names = ", ".join(run.name for run in self.table.runs)
        return f"Explorer({names}: {len(self.shown.rows)} of {len(self.table)} items)"

    def export(self, path: str | Path, *, failures_only: bool = True) -> Path:
        """Writes the listed items as one HTML file that needs no Python; see `fcb_toolkit.widgets.export`."""
        from fcb_toolkit.widgets.export import write_html

        keys = [self.table.keys[row] for row in self.shown.rows]
        return write_html(self.table.runs[self.state.view.run], path, keys=keys, failures_only=failures_only)
