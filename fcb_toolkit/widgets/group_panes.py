"""Groups to click on: cohorts of failures, quadrants of two runs, items whose gold is suspect.

CohortPane(table, on_pick)     # on_pick({"failure": "wrong_value", "tool": "get_weather"})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ipywidgets as widgets

from fcb_toolkit.widgets.cohorts import PARTS, Cohort, Suspect, cohorts, suspects
from fcb_toolkit.widgets.markup import plain, plural
from fcb_toolkit.widgets.parts import html_box, set_html, small_button, status
from fcb_toolkit.widgets.state import Listing, State
from fcb_toolkit.widgets.table import QUADRANTS, Table, last_user_text

SHOWN = 30
GROUPINGS: Mapping[str, tuple[str, ...]] = {
    "kind × tool × category": PARTS,
    "kind × tool": ("failure", "tool"),
    "kind × category": ("failure", "category"),
    "tool × category": ("tool", "category"),
    "kind": ("failure",),
    "tool": ("tool",),
}


class CohortPane:
    """Counts the items that pass the filters; a click holds the filters to one group."""

    def __init__(self, table: Table, on_pick: Callable[[Mapping[str, str]], None]) -> None:
        self._table = table
        self._on_pick = on_pick
        self._last: tuple[State, Listing] | None = None
        self.grouping = widgets.Dropdown(options=list(GROUPINGS), description="group by")
        self.grouping.observe(lambda change: self._again(), "value")
        self.status = html_box()
        self.rows = widgets.VBox([])
        self.rows.add_class("fcb-groups")
        self.box = widgets.VBox([self.grouping, self.status, self.rows])

    def show(self, state: State, shown: Listing) -> None:
        self._last = state, shown
        parts = GROUPINGS[self.grouping.value]
        found = cohorts(self._table, state.view, shown.rows, parts)
        failures = sum(cohort.failures for cohort in found)
        more = f", the {SHOWN} largest shown" if len(found) > SHOWN else ""
        set_html(
            self.status,
            status(
                f"{failures:,} failure{plural(failures)} in {len(found):,} group{plural(len(found))}{more}"
            ),
        )
        largest = found[0].failures if found else 1
        self.rows.children = [self._row(cohort, parts, largest, state) for cohort in found[:SHOWN]]

    def _again(self) -> None:
        if self._last is not None:
            self.show(*self._last)

    def _row(self, cohort: Cohort, parts: tuple[str, ...], largest: int, state: State) -> Any:
        names = {part: getattr(cohort, part) for part in parts}
        button = small_button(plain(" × ".join(names.values()), 90), "Shows these items")
        button.on_click(lambda _: self._on_pick({**state.filters, **names, "verdict": "fail"}))
        bar = widgets.IntProgress(
            value=cohort.failures, min=0, max=largest, layout=widgets.Layout(width="20%")
        )
        count = widgets.Label(f"{cohort.failures:,} of {cohort.of:,} scored fail")
        return _line([button, bar, count])


class ComparePane:
    """The four quadrants of the two runs in view."""

    def __init__(self, table: Table, on_pick: Callable[[Mapping[str, str]], None]) -> None:
        self._table = table
        self._on_pick = on_pick
        self._filters: Mapping[str, str] = {}
        self.status = html_box()
        self.buttons = {name: small_button(name, "Shows these items") for name in QUADRANTS}
        for name, button in self.buttons.items():
            button.on_click(partial(self._picked, name))
        grid = widgets.GridBox(list(self.buttons.values()))
        grid.add_class("fcb-quadrants")
        self.box = widgets.VBox([self.status, grid])

    def _picked(self, name: str, button: Any) -> None:
        self._on_pick({**self._filters, "quadrant": name})

    def show(self, state: State, shown: Listing) -> None:
        self._filters = state.filters
        a = self._table.runs[state.view.run].name
        b = self._table.runs[state.view.other].name if state.view.other is not None else "nothing"
        counts = dict(shown.counts["quadrant"])
        for name, button in self.buttons.items():
            button.description = f"{_named(name, a, b)}: {counts.get(name, 0):,}"
        set_html(self.status, status(f"A is {a}, B is {b}; choose others by 'run' and 'against'"))


def _named(quadrant: str, a: str, b: str) -> str:
    return quadrant.replace(" A ", f" {plain(a, 30)} ").replace(" B ", f" {plain(b, 30)} ")


class SuspectPane:
    """Items whose gold may be wrong, with the reasons; a click opens the item."""

    def __init__(self, table: Table, on_open: Callable[[int], None]) -> None:
        self._table = table
        self._on_open = on_open
        self.status = html_box()
        self.rows = widgets.VBox([])
        self.rows.add_class("fcb-groups")
        self.box = widgets.VBox([self.status, self.rows])

    def show(self, state: State, shown: Listing) -> None:
        found = [one for one in suspects(self._table, state.view) if shown.place(one.row) is not None]
        text = f"{len(found):,} items whose gold may be wrong"
        if not found and len(self._table.runs) == 1:
            text = "Nothing to suspect from one run without a judge: open two or more runs, or run fcb judge."
        set_html(self.status, status(text + (f", the first {SHOWN} shown" if len(found) > SHOWN else "")))
        self.rows.children = [self._row(one) for one in found[:SHOWN]]

    def _row(self, suspect: Suspect) -> Any:
        case = self._table.cases[suspect.row]
        button = small_button(plain(last_user_text(case) or case.id, 70), plain(f"Opens {case.id}"))
        button.on_click(lambda _: self._on_open(suspect.row))
        return _line([button, widgets.Label(plain("; ".join(suspect.reasons)))])


def _line(children: list[Any]) -> Any:
    line = widgets.HBox(children)
    line.add_class("fcb-group")
    return line
