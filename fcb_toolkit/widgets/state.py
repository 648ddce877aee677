"""What the explorer shows, as a value: filters, search, page, selection, and what follows from them.

    state = choose(State(), "failure", "wrong_value")
    shown = listing(table, state)                 # rows, counts beside each choice, the visible page
    state = step(state, shown, +1)                # the next item; next_failure(...) the next that fails

No widget is known here: `explorer` draws a state, and every click is `state -> state`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fcb_toolkit.annotations import Annotations
from fcb_toolkit.widgets.table import FAIL, Column, Flags, Mask, Table, View, folded

FACETS = (
    "verdict",
    "failure",
    "category",
    "condition",
    "tool",
    "benchmark",
    "quadrant",
    "disagreement",
    "prompt tokens",
    "reply tokens",
    "annotation",
)
"""Filters in the order in which they are drawn."""
PAGE = 20


@dataclass(frozen=True, slots=True)
class State:
    """`filters` maps a facet to the one label it is held to. `selected` is a row of the table."""

    view: View = field(default_factory=View)
    filters: Mapping[str, str] = field(default_factory=dict)
    search: str = ""
    page: int = 0
    selected: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Rows that pass all filters; `counts` per facet are what each choice would leave, the others held."""

    rows: NDArray[np.intp]
    counts: Mapping[str, tuple[tuple[str, int], ...]]
    total: int

    @property
    def pages(self) -> int:
        return max(1, -(-len(self.rows) // PAGE))

    def on_page(self, page: int) -> NDArray[np.intp]:
        return self.rows[page * PAGE : (page + 1) * PAGE]

    def place(self, row: int | None) -> int | None:
        """Where a row stands in the list, None if the filters hide it."""
        if row is None:
            return None
        place = int(np.searchsorted(self.rows, row))
        return place if place < len(self.rows) and self.rows[place] == row else None


def listing(table: Table, state: State, notes: Annotations | None = None) -> Listing:
    """Everything that the list and the filters show."""
    columns = {facet: _column(table, facet, state.view, notes) for facet in FACETS}
    masks = {facet: columns[facet].mask(label) for facet, label in state.filters.items()}
    found = _search(table, state)
    counts = {}
    for facet, column in columns.items():
        others = [mask for name, mask in masks.items() if name != facet]
        counts[facet] = _counted(column, _all(table, found, others), state.filters.get(facet))
    rows = np.flatnonzero(_all(table, found, list(masks.values())))
    return Listing(rows, counts, len(table))


def _column(table: Table, facet: str, view: View, notes: Annotations | None) -> Column | Flags:
    return _annotated(table, notes) if facet == "annotation" else table.column(facet, view)


def _all(table: Table, found: Mask | None, masks: list[Mask]) -> Mask:
    whole = np.ones(len(table), np.bool_) if found is None else found
    for mask in masks:
        whole = whole & mask
    return whole


def _counted(column: Column | Flags, mask: Mask, chosen: str | None) -> tuple[tuple[str, int], ...]:
    """Labels with their counts, the most frequent first; empty ones are left out unless chosen."""
    pairs = [(a, n) for a, n in zip(column.labels, column.counts(mask), strict=True) if n or a == chosen]
    if chosen is not None and chosen not in column.labels:
        pairs.append((chosen, 0))
    return tuple(sorted(pairs, key=lambda pair: -pair[1]))


def _search(table: Table, state: State) -> Mask | None:
    words = folded(state.search).split()
    if not words:
        return None
    texts = table.haystack(state.view.run)
    return np.fromiter((all(word in text for word in words) for text in texts), np.bool_, len(table))


def _annotated(table: Table, notes: Annotations | None) -> Flags:
    masks: dict[str, Mask] = {}
    for key in notes.keys() if notes is not None else ():
        row = table.row_of.get(key)
        if row is None or notes is None:
            continue
        for label in _marks(notes, key):
            masks.setdefault(label, np.zeros(len(table), np.bool_))[row] = True
    return Flags(masks, len(table))


def _marks(notes: Annotations, key: tuple[str, int]) -> list[str]:
    found = notes.all_of(key)
    marks = ["corrected"] if any(one.corrected for one in found) else []
    marks += ["with a note"] if any(one.note for one in found) else []
    return marks + sorted({f"tag: {one.tag}" for one in found if one.tag})


def choose(state: State, facet: str, label: str | None) -> State:
    """Holds a facet to one label, or frees it (None)."""
    filters = {name: held for name, held in state.filters.items() if name != facet}
    if label is not None:
        filters[facet] = label
    return replace(state, filters=filters, page=0)


def only(state: State, filters: Mapping[str, str]) -> State:
    """These filters and no others: a click on a cohort."""
    return replace(state, filters=dict(filters), search="", page=0)


def look_for(state: State, text: str) -> State:
    return replace(state, search=text, page=0)


def by_metric(state: State, metric: str) -> State:
    """Another metric decides the verdicts; filters on verdicts that it may not know are freed."""
    kept = {k: v for k, v in state.filters.items() if k not in ("failure", "quadrant")}
    return replace(state, view=replace(state.view, metric=metric), filters=kept, page=0)


def by_run(state: State, run: int, other: int | None) -> State:
    return replace(state, view=replace(state.view, run=run, other=other), page=0)


def turn(state: State, shown: Listing, pages: int) -> State:
    """Another page of the list, as far as there is one; the selection stays."""
    return replace(state, page=min(max(state.page + pages, 0), shown.pages - 1))


def select(state: State, shown: Listing, row: int | None) -> State:
    """Opens an item and turns to its page."""
    place = shown.place(row)
    return replace(state, selected=row, page=place // PAGE if place is not None else state.page)


def settle(state: State, shown: Listing) -> State:
    """After a filter: keeps the selection if it is still listed, else opens the first item."""
    if shown.place(state.selected) is not None:
        return select(state, shown, state.selected)
    first = int(shown.rows[0]) if len(shown.rows) else None
    return replace(state, selected=first, page=0)


def step(state: State, shown: Listing, by: int) -> State:
    """The next or the previous item of the list; stays at its ends."""
    if not len(shown.rows):
        return state
    place = shown.place(state.selected)
    goal = 0 if place is None else min(max(place + by, 0), len(shown.rows) - 1)
    return select(state, shown, int(shown.rows[goal]))


def next_failure(state: State, shown: Listing, table: Table) -> State:
    """The next item in the list that fails, from the start again after the last; the same if none does."""
    failing = shown.rows[table.scores(state.view.run, state.view.metric).outcome.codes[shown.rows] == FAIL]
    if not len(failing):
        return state
    after = failing[failing > (state.selected if state.selected is not None else -1)]
    return select(state, shown, int(after[0] if len(after) else failing[0]))
