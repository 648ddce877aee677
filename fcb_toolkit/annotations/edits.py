"""Corrections of verdicts, notes and tags, kept beside a run in `annotations.jsonl`.

    notes = Annotations(run.path)
    notes.edit(("sample/korean/seoul", 0), "call_match", verdict, outcome="pass", note="both are right")
    notes.undo()

The file only grows. An edit says who, when, what was set and what was there before; an undo is one more
line that names the edit it takes back. What holds is the last edit in time of each field that was not
taken back, so two notebooks on the same run, or two files put together, give the same answer in any order.
"""

from __future__ import annotations

import getpass
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fcb_toolkit.annotations.log import Log, Row
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import FailureKind, Outcome, Verdict

Key = tuple[str, int]
FILE = "annotations.jsonl"
VERDICT_FIELDS = ("outcome", "failure")
"""Belong to one metric's verdict; the others belong to the item."""
FIELDS = (*VERDICT_FIELDS, "note", "tag")


@dataclass(frozen=True, slots=True)
class Edit:
    """One change by one person. `undoes` is the id of the edit that this one takes back."""

    id: str
    case_id: str
    sample: int
    metric: str
    values: Mapping[str, str | None]
    before: Mapping[str, str | None]
    who: str
    when: str
    session: str = ""
    undoes: str | None = None

    @property
    def key(self) -> Key:
        return self.case_id, self.sample


@dataclass(frozen=True, slots=True)
class Annotation:
    """What holds for one item and metric now. A field that nobody set is None."""

    outcome: str | None = None
    failure: str | None = None
    note: str | None = None
    tag: str | None = None
    who: str | None = None
    when: str | None = None
    history: tuple[Edit, ...] = field(default=(), compare=False)

    @property
    def corrected(self) -> bool:
        return self.outcome is not None

    def __bool__(self) -> bool:
        return any(getattr(self, name) is not None for name in FIELDS)


NOTHING = Annotation()


class Annotations:
    """Raises `DataError` for a file that cannot be read or written, or an edit that makes no sense."""

    def __init__(self, folder: Path | None, who: str | None = None) -> None:
        """`folder` None: in memory only. `who`: default the environment's FCB_USER, else the user's name."""
        self.who = who or os.environ.get("FCB_USER") or _user()
        self._session = uuid.uuid4().hex
        self._log = Log(folder / FILE if folder is not None else None)
        self._read()

    @property
    def path(self) -> Path | None:
        return self._log.path

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All of them in the order of time, undone ones too."""
        return self._edits

    def refresh(self) -> bool:
        """Takes in what other notebooks have written; True if there was something."""
        changed = self._log.refresh()
        if changed:
            self._read()
        return changed

    def edit(self, key: Key, metric: str, verdict: Verdict | None = None, **values: str | None) -> Edit:
        """Sets fields of the item and saves them before it returns.

        `values`: outcome (pass, fail, not_scored, or None to go back to the metric's), failure, note, tag.
        `verdict` is the metric's own, which is what was there before the first correction.
        """
        _check(values)

        def make(rows: tuple[Row, ...]) -> Row:
            self._read(rows)
            before = self._before(key, metric, verdict, values)
            return self._signed(rows, key, metric=metric, values=values, before=before, undoes=None)

        return self._append(make)

    def undo(self, key: Key | None = None) -> Edit | None:
        """Takes back the last edit of this notebook, or with `key` the last one of that item.

        Returns the edit that was taken back, None if there is nothing left to undo.
        """
        target = self.undoable(key)
        if target is None:
            return None

        def make(rows: tuple[Row, ...]) -> Row:
            parts = {"metric": target.metric, "values": target.before, "before": target.values}
            return self._signed(rows, target.key, **parts, undoes=target.id)

        self._append(make)
        return target

    def undoable(self, key: Key | None = None) -> Edit | None:
        """The edit that `undo` would take back."""
        for edit in reversed(self._live):
            if edit.key == key if key is not None else edit.session == self._session:
                return edit
        return None

    def of(self, key: Key, metric: str) -> Annotation:
        """What holds for the item and the metric now."""
        return self._items.get(key, {}).get(metric) or self._items.get(key, {}).get("") or NOTHING

    def all_of(self, key: Key) -> tuple[Annotation, ...]:
        """What holds for the item, one entry per metric that was corrected and one for the rest."""
        return tuple(self._items.get(key, {}).values())

    def keys(self) -> frozenset[Key]:
        """Items that have at least one edit that holds."""
        return frozenset(self._items)

    def _append(self, make: Any) -> Edit:
        row = self._log.append(make)
        self._read()
        return _edit(row)

    def _read(self, rows: tuple[Row, ...] | None = None) -> None:
        edits = [_edit(row) for row in (self._log.rows if rows is None else rows)]
        self._edits = tuple(sorted(edits, key=lambda edit: edit.when))
        undone = {edit.undoes for edit in self._edits}
        self._live = tuple(e for e in self._edits if e.undoes is None and e.id not in undone)
        self._items = _resolve(self._live)

    def _before(
        self, key: Key, metric: str, verdict: Verdict | None, values: Mapping[str, str | None]
    ) -> dict[str, str | None]:
        now = self.of(key, metric)
        found = {name: getattr(now, name) for name in values}
        if not now.corrected and verdict is not None:
            own = {
                "outcome": str(verdict.outcome),
                "failure": str(verdict.failure) if verdict.failure else None,
            }
            found |= {name: own[name] for name in VERDICT_FIELDS if name in values}
        return found

    def _signed(self, rows: tuple[Row, ...], key: Key, **parts: Any) -> Row:
        """A whole row: what was done, by whom and when."""
        return {
            "id": uuid.uuid4().hex,
            "case_id": key[0],
            "sample": key[1],
            **parts,
            "who": self.who,
            "when": _after(rows),
            "session": self._session,
        }


def _resolve(edits: tuple[Edit, ...]) -> dict[Key, dict[str, Annotation]]:
    """Per item and metric the last value of each field; "" holds what has no metric."""
    fields: dict[Key, dict[tuple[str, str], Edit]] = {}
    history: dict[Key, list[Edit]] = {}
    for edit in edits:
        history.setdefault(edit.key, []).append(edit)
        for name in edit.values:
            slot = (edit.metric if name in VERDICT_FIELDS else "", name)
            fields.setdefault(edit.key, {})[slot] = edit
    return {key: _annotations(found, tuple(history[key])) for key, found in fields.items()}


def _annotations(found: Mapping[tuple[str, str], Edit], history: tuple[Edit, ...]) -> dict[str, Annotation]:
    metrics = {metric for metric, _ in found} | {""}
    annotations = {}
    for metric in metrics:
        mine = {name: edit for (owner, name), edit in found.items() if owner in ("", metric)}
        values = {name: edit.values[name] for name, edit in mine.items()}
        last = max(mine.values(), key=lambda edit: edit.when, default=None)
        who, when = (last.who, last.when) if last else (None, None)
        annotations[metric] = Annotation(**values, who=who, when=when, history=history)
    return annotations


def _edit(row: Row) -> Edit:
    try:
        return Edit(**{name: row[name] for name in Edit.__slots__ if name in row})
    except TypeError as error:
        raise DataError(
            f"{FILE}: an edit is incomplete ({error}); delete that line or restore the file"
        ) from None


def _check(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if name not in FIELDS:
            raise UnknownName("annotation field", name, FIELDS)
        known = {"outcome": [str(o) for o in Outcome], "failure": [str(k) for k in FailureKind]}.get(name)
        if known is not None and value is not None and value not in known:
            raise UnknownName(name, value, known)
    if values.get("failure") and values.get("outcome") not in ("fail", None):
        raise DataError(
            f"a verdict of {values['outcome']!r} has no failure kind; found {values['failure']!r}"
        )


def _after(rows: tuple[Row, ...]) -> str:
    """Now, or just after the last edit in the file where another machine's clock is ahead of ours."""
    now = datetime.now(UTC)
    last = max((row["when"] for row in rows), default=None)
    if last is not None:
        now = max(now, datetime.fromisoformat(last) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"
