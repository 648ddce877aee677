"""Correct a verdict, leave a note or a tag. Each change is saved when it is made; undo takes it back.

form = AnnotateForm(annotations, on_change)
form.show(key, metric, verdict)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from fcb_toolkit.annotations import Annotations, Edit
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import FailureKind, Outcome, Verdict
from fcb_toolkit.runs.record import Key
from fcb_toolkit.widgets.markup import sendable
from fcb_toolkit.widgets.parts import Guard, html_box, label_width, set_html, small_button, status

AS_SCORED = "as the metric says"
NO_KIND = "no kind chosen"
UNSET = ""
"""ipywidgets takes None for no choice at all."""


class AnnotateForm:
    """`on_change(edit)` is told after each save; an undo gives the edit that was taken back."""

    def __init__(self, notes: Annotations, on_change: Callable[[Edit], None]) -> None:
        self.notes = notes
        self._on_change = on_change
        self._guard = Guard()
        self._key: Key | None = None
        self._metric = ""
        self._verdict: Verdict | None = None
        self._controls()
        self._listen()
        rows = [
            widgets.HBox([self.wrong, self.undo]),
            self.outcome,
            self.failure,
            self.note,
            self.tag,
            self.status,
        ]
        self.box = widgets.VBox(rows)
        self.box.add_class("fcb-annotate")

    def _controls(self) -> None:
        wide = widgets.Layout(width="auto")
        self.wrong = small_button(
            "The verdict is wrong", "Turns pass into fail and fail into pass, saved at once"
        )
        self.undo = small_button("Undo", "Takes back the last change (key u)")
        self.outcome = widgets.Dropdown(
            options=[(AS_SCORED, UNSET), *((str(o).replace("_", " "), str(o)) for o in Outcome)],
            description="right verdict",
            layout=wide,
        )
        self.failure = widgets.Dropdown(
            options=[(NO_KIND, UNSET), *((str(kind), str(kind)) for kind in FailureKind)],
            description="right kind",
            layout=wide,
        )
        self.note = widgets.Textarea(description="note", continuous_update=False, rows=2, layout=wide)
        self.tag = widgets.Combobox(description="tag", continuous_update=False, layout=wide)
        self.status = html_box()
        label_width((self.outcome, self.failure, self.note, self.tag))

    def _listen(self) -> None:
        self.wrong.on_click(lambda button: self._flip())
        self.undo.on_click(lambda button: self.take_back())
        self.outcome.observe(lambda change: self._set_outcome(change["new"] or None), "value")
        self.failure.observe(
            lambda change: self._save(outcome="fail", failure=change["new"] or None), "value"
        )
        self.note.observe(lambda change: self._save(note=change["new"] or None), "value")
        self.tag.observe(lambda change: self._save(tag=change["new"] or None), "value")

    def show(self, key: Key | None, metric: str, verdict: Verdict | None) -> None:
        """Fills the form with what holds for this item now."""
        self._key, self._metric, self._verdict = key, metric, verdict
        found = self.notes.of(key, metric) if key is not None else None
        with self._guard:
            self.outcome.value = (found.outcome if found else None) or UNSET
            self.failure.value = (found.failure if found else None) or UNSET
            self.failure.disabled = self.outcome.value != "fail"
            self.note.value = sendable(found.note or "") if found else ""
            self.tag.value = sendable(found.tag or "") if found else ""
            self.tag.options = sorted(
                {sendable(tag) for edit in self.notes.edits if (tag := edit.values.get("tag"))}
            )
            self.wrong.disabled = key is None or verdict is None or verdict.outcome is Outcome.NOT_SCORED
            self.undo.disabled = self._undoable() is None

    def _undoable(self) -> Edit | None:
        """This notebook's last edit; after a restart, the last one of the item that is open."""
        mine = self.notes.undoable()
        return mine or (self.notes.undoable(self._key) if self._key is not None else None)

    def _flip(self) -> None:
        if self._verdict is not None:
            now = self.notes.of(self._key, self._metric).outcome if self._key else None
            passing = (now or self._verdict.outcome) == Outcome.PASS
            self._set_outcome("fail" if passing else "pass")

    def _set_outcome(self, outcome: str | None) -> None:
        self._save(outcome=outcome, failure=None)

    def _save(self, **values: str | None) -> None:
        key = self._key
        if self._guard.closed or key is None:
            return
        self._try(lambda: self.notes.edit(key, self._metric, self._verdict, **values), "saved")

    def take_back(self) -> None:
        """Undoes the last change, wherever it was made."""
        edit = self._undoable()
        if edit is None:
            set_html(self.status, status("nothing to undo"))
            return
        self._try(lambda: self.notes.undo(None if self.notes.undoable() else edit.key), "taken back")

    def _try(self, action: Callable[[], Any], word: str) -> None:
        try:
            edit = action()
        except DataError as error:
            set_html(self.status, status(str(error), bad=True))
            return
        where = (
            "beside the run" if self.notes.path is not None else "in this session only: the run has no folder"
        )
        set_html(self.status, status(f"{word} {where}: {', '.join(edit.values)} of {edit.case_id}"))
        self._on_change(edit)
