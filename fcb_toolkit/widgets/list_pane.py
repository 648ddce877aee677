"""The list of items: one page of it, whatever the number of cases.

pane = ListPane(table, on_select, on_turn)
pane.show(state, shown)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from fcb_toolkit.widgets.draw_item import SYMBOLS
from fcb_toolkit.widgets.markup import plain
from fcb_toolkit.widgets.parts import Guard, html_box, set_html, small_button, status
from fcb_toolkit.widgets.state import PAGE, Listing, State
from fcb_toolkit.widgets.table import OUTCOMES, Table, last_user_text


class ListPane:
    """A native list box: arrow keys, first letters and screen readers work as everywhere."""

    def __init__(
        self, table: Table, on_select: Callable[[int], None], on_turn: Callable[[int], None]
    ) -> None:
        self._table = table
        self._guard = Guard()
        self._on_select = on_select
        self.items = widgets.Select(
            options=[], rows=PAGE, description="items", layout=widgets.Layout(width="auto")
        )
        self.items.observe(self._selected, "value")
        self.back = small_button("◀ page", "Previous page of the list")
        self.forward = small_button("page ▶", "Next page of the list")
        self.back.on_click(lambda button: on_turn(-1))
        self.forward.on_click(lambda button: on_turn(1))
        self.status = html_box("fcb-list-status")
        pager = widgets.HBox([self.back, self.forward])
        pager.add_class("fcb-pager")
        self.box = widgets.VBox([self.status, self.items, pager])
        self.box.add_class("fcb-list")

    def _selected(self, change: dict[str, Any]) -> None:
        if not self._guard.closed and change["new"] is not None:
            self._on_select(change["new"])

    def show(self, state: State, shown: Listing) -> None:
        rows = [int(row) for row in shown.on_page(state.page)]
        options = [(self._label(row, state), row) for row in rows]
        with self._guard, self.items.hold_sync():
            if tuple(self.items.options) != tuple(options):
                self.items.options = options
            self.items.value = state.selected if state.selected in rows else None
        self.back.disabled = state.page == 0
        self.forward.disabled = state.page >= shown.pages - 1
        set_html(self.status, status(self._status(state, shown)))

    def _status(self, state: State, shown: Listing) -> str:
        if not len(shown.rows):
            return f"none of {shown.total:,} items passes the filters"
        return f"{len(shown.rows):,} of {shown.total:,} items · page {state.page + 1:,} of {shown.pages:,}"

    def _label(self, row: int, state: State) -> str:
        """`✗  wrong_value  서울 날씨 알려줘`, with one sign per run where there are several."""
        view = state.view
        runs = [view.run] if len(self._table.runs) == 1 else range(len(self._table.runs))
        marks = "".join(
            SYMBOLS[OUTCOMES[self._table.scores(run, view.metric).outcome.codes[row]]] for run in runs
        )
        failure = self._table.scores(view.run, view.metric).failure
        kind = failure.labels[failure.codes[row]] if failure.codes[row] else ""
        case, sample = self._table.cases[row], self._table.keys[row][1]
        text = plain(last_user_text(case), 48) or plain(case.id, 48)
        return "  ".join(part for part in (marks, kind, text, f"#{sample}" if sample else "") if part)
