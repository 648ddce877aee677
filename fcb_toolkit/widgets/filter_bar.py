"""The filters: one dropdown a facet with the count beside each choice, the metric, the runs, a search.

bar = FilterBar(table, on_change)     # on_change(function from State to State)
bar.show(state, shown)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as widgets

from fcb_toolkit.widgets.markup import plain, plural, sendable
from fcb_toolkit.widgets.parts import Guard, small_button
from fcb_toolkit.widgets.state import FACETS, Listing, State, by_metric, by_run, choose, look_for, only
from fcb_toolkit.widgets.table import Table

Change = Callable[[State], State]
ALL = ""
"""The choice that frees a facet; ipywidgets takes None for no choice at all."""
MAX_CHOICES = 200
"""A dropdown with thousands of tools helps nobody: the most frequent ones, then the search."""


class FilterBar:
    def __init__(self, table: Table, on_change: Callable[[Change], None]) -> None:
        self._table = table
        self._on_change = on_change
        self._guard = Guard()
        names = [plain(run.name, 60) for run in table.runs]
        self.run = _dropdown("run", [(name, i) for i, name in enumerate(names)])
        self.other = _dropdown("against", [(name, i) for i, name in enumerate(names)])
        self.metric = _dropdown(
            "metric", [("each case's own", ""), *((name, name) for name in table.metrics)]
        )
        self.search = widgets.Text(
            placeholder="words in the question, reply, gold or id",
            description="search",
            continuous_update=False,
            layout=widgets.Layout(width="auto"),
        )
        self.facets = {facet: _dropdown(facet, []) for facet in self._facets()}
        self.reset = small_button("Clear filters", "Shows all items again")
        self._listen()
        several = [self.run, self.other] if len(names) > 1 else []
        self.box = widgets.Box([*several, self.metric, *self.facets.values(), self.search, self.reset])
        self.box.add_class("fcb-filters")

    def _facets(self) -> list[str]:
        return [facet for facet in FACETS if facet != "quadrant" or len(self._table.runs) > 1]

    def _listen(self) -> None:
        for facet, control in self.facets.items():
            control.observe(partial(self._chosen, facet), "value")
        self.metric.observe(lambda change: self._tell(lambda s: by_metric(s, change["new"])), "value")
        self.search.observe(lambda change: self._tell(lambda s: look_for(s, change["new"])), "value")
        self.run.observe(lambda change: self._runs_chosen(), "value")
        self.other.observe(lambda change: self._runs_chosen(), "value")
        self.reset.on_click(lambda button: self._tell(lambda state: only(state, {})))

    def _chosen(self, facet: str, change: dict[str, Any]) -> None:
        self._tell(lambda state: choose(state, facet, change["new"] or None))

    def _runs_chosen(self) -> None:
        other = self.other.value if len(self._table.runs) > 1 else None
        self._tell(lambda state: by_run(state, self.run.value, other))

    def _tell(self, change: Change) -> None:
        if not self._guard.closed:
            self._on_change(change)

    def show(self, state: State, shown: Listing) -> None:
        with self._guard:
            for facet, control in self.facets.items():
                _offer(control, shown.counts[facet], state.filters.get(facet))
            self.metric.value = state.view.metric
            self.search.value = sendable(state.search)
            self.run.value = state.view.run
            if state.view.other is not None:
                self.other.value = state.view.other
            self.reset.disabled = not state.filters and not state.search


def _dropdown(name: str, options: list[tuple[str, Any]]) -> Any:
    control = widgets.Dropdown(options=options, description=name, layout=widgets.Layout(width="auto"))
    control.style.description_width = "8.5em"
    return control


def _offer(control: Any, counts: tuple[tuple[str, int], ...], chosen: str | None) -> None:
    """New choices with their counts; nothing is sent if they are the same as before."""
    pairs = counts[:MAX_CHOICES]
    if chosen is not None and all(label != chosen for label, _ in pairs):
        pairs = (*pairs, *(pair for pair in counts if pair[0] == chosen))
    options = [(f"all ({len(counts)} choice{plural(len(counts))})" if counts else "nothing to choose", ALL)]
    options += [(f"{plain(label, 60)} ({count:,})", label) for label, count in pairs]
    if len(counts) > MAX_CHOICES:
        options[0] = (f"all (the {MAX_CHOICES} most frequent of {len(counts):,})", ALL)
    with control.hold_sync():
        if tuple(control.options) != tuple(options):
            control.options = options
        if control.value != (chosen or ALL):
            control.value = chosen or ALL
        control.disabled = not counts
