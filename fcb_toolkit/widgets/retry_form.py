"""Try again: edit the prompt, the question, a tool or the settings, and ask the model in memory once more.

form = RetryForm(model, annotations, metric_of)
form.show(run, case, sample, listed)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import ipywidgets as widgets

from fcb_toolkit.annotations import Variant, keep, read_variants
from fcb_toolkit.errors import DataError
from fcb_toolkit.models import Model
from fcb_toolkit.records import Case, Generation, tool_name
from fcb_toolkit.runs import Run
from fcb_toolkit.widgets.draw_retry import draw_attempt, draw_attempts, draw_variants
from fcb_toolkit.widgets.jobs import Job
from fcb_toolkit.widgets.markup import join, sendable
from fcb_toolkit.widgets.parts import (
    Guard,
    generation_controls,
    html_box,
    label_width,
    set_html,
    small_button,
    status,
)
from fcb_toolkit.widgets.retry import Attempt, Changes, ask, changed_case, replay_of, system_text, tool_texts
from fcb_toolkit.widgets.table import last_user_text

MAX_LISTED = 200
"""So many items of the list are asked again at most, with the same change."""
THIS, LISTED = "this item", f"the items in the list (at most {MAX_LISTED})"


class RetryForm:
    """`who` signs the variants. One job runs at a time; the page stays alive meanwhile."""

    def __init__(self, model: Model | None, who: str) -> None:
        """`model` None: a replay of the run and its variants, which answers only what was asked before."""
        self.model = model
        self._who = who
        self._guard = Guard()
        self._run: Run | None = None
        self._asked_run: Run | None = None
        self._case: Case | None = None
        self._sample = 0
        self._metric = ""
        self._listed: Callable[[], Sequence[Case]] = list
        self._shown: dict[str, str] = {}
        self._before: Mapping[str, Any] = {}
        self._kept: dict[int, list[Variant]] = {}
        self.job: Job | None = None
        self.attempts: tuple[Attempt, ...] = ()
        self._build()

    def _build(self) -> None:
        self.system, self.user = _text("system prompt", 3), _text("user text", 3)
        self.tool = widgets.Dropdown(description="tool", layout=widgets.Layout(width="auto"))
        self.description, self.parameters = _text("description", 2), _text("schema", 5)
        self.settings = generation_controls()
        self.scope = widgets.Dropdown(options=[THIS, LISTED], description="ask again")
        self.start = small_button("Run again", "Asks the model with the edits", "primary")
        self.stop = small_button("Stop", "Ends after the reply that is being made")
        self.reset = small_button("Reset edits", "Puts the original texts back")
        self.keep = small_button("Keep as variant", "Saves the new reply beside the run")
        self.bar = widgets.IntProgress(value=0, min=0, max=1, layout=widgets.Layout(width="100%"))
        self.status, self.result, self.variants = html_box(), html_box("fcb-retry-result"), html_box()
        label_width((self.tool, self.scope, self.system, self.user, self.description, self.parameters))
        self.start.on_click(lambda button: self._start())
        self.stop.on_click(lambda button: self._stop())
        self.reset.on_click(lambda button: self._fill())
        self.keep.on_click(lambda button: self._keep())
        self.tool.observe(lambda change: self._fill_tool(), "value")
        self.stop.disabled = self.keep.disabled = True
        settings = widgets.Box(list(self.settings.values()))
        settings.add_class("fcb-settings")
        buttons = widgets.HBox([self.scope, self.start, self.stop, self.reset, self.keep])
        texts = [self.system, self.user, self.tool, self.description, self.parameters]
        self.box = widgets.VBox(
            [*texts, settings, buttons, self.bar, self.status, self.result, self.variants]
        )
        self.box.add_class("fcb-retry")

    def show(
        self, run: Run, key: tuple[Case, int], metric: str, listed: Callable[[], Sequence[Case]]
    ) -> None:
        """Another item. A job that is under way goes on and shows its result when it is done."""
        self._run, (self._case, self._sample), self._metric, self._listed = run, key, metric, listed
        known = asdict(Generation()) | dict(run.manifest.get("generation", {}))
        self._before = {name: known[name] for name in self.settings}
        for name, control in self.settings.items():
            control.value = known[name]
        self._fill()
        self.attempts = ()
        self.keep.disabled = True
        if self.job is None or not self.job.running:
            set_html(self.result, join([]))
            set_html(self.status, status(f"asks {self._model_name(run)}"))
        self._show_variants()

    def _fill(self) -> None:
        case = self._case
        if case is None:
            return
        names = list(dict.fromkeys(tool_name(tool) for tool in case.tools))
        with self._guard:
            self._put(self.system, system_text(case))
            self._put(self.user, last_user_text(case))
            self.tool.options = [(sendable(name), name) for name in names]
            self.tool.value = names[0] if names else None
        self._fill_tool()

    def _fill_tool(self) -> None:
        if self._guard.closed or self._case is None:
            return
        texts = tool_texts(self._case, self.tool.value) if self.tool.value else ("", "")
        self._put(self.description, texts[0])
        self._put(self.parameters, texts[1])

    def _put(self, control: Any, text: str) -> None:
        """What the control holds before an edit is remembered: only a real edit is a change."""
        control.value = sendable(text)
        self._shown[control.description] = control.value

    def _edit(self, control: Any) -> str | None:
        return control.value if control.value != self._shown[control.description] else None

    def changes(self) -> Changes:
        """The edits as they stand in the form."""
        settings = {name: control.value for name, control in self.settings.items()}
        return Changes(
            self._edit(self.system),
            self._edit(self.user),
            self.tool.value,
            self._edit(self.description),
            self._edit(self.parameters),
            settings,
            self._before,
        )

    def _start(self) -> None:
        if self._run is None or self._case is None or (self.job is not None and self.job.running):
            return
        changes, metric = self.changes(), self._metric
        whole = [self._case] if self.scope.value == THIS else list(self._listed())[:MAX_LISTED]
        if self.scope.value == LISTED:
            changes = replace(changes, user=None, tool=None, description=None, parameters=None)
        try:
            cases = [changed_case(case, changes) for case in whole]
        except DataError as error:
            set_html(self.status, status(str(error), bad=True))
            return
        run, sample = self._run, self._sample
        model = self.model or replay_of(run, {case.id for case in cases}, self._variants(run))
        self.job = Job(
            lambda job: ask(model, cases, changes, metric, job), lambda job: self._moved(job, run, sample)
        )
        self.job.start(len(cases))

    def _model_name(self, run: Run) -> str:
        return self.model.name if self.model is not None else f"a replay of {run.name}"

    def _variants(self, run: Run) -> Sequence[Variant]:
        return read_variants(run.path) if run.path is not None else self._kept.get(id(run), [])

    def _stop(self) -> None:
        if self.job is not None:
            self.job.stop()

    def _moved(self, job: Job, run: Run | None, sample: int) -> None:
        """Called from the job's thread as well as from the page's."""
        self.bar.max = max(job.total, 1)
        self.bar.value = job.done
        self.start.disabled, self.stop.disabled = job.running, not job.running or job.stopping
        set_html(self.status, status(job.describe(), bad=job.state == "failed"))
        if job.running or run is None:
            return
        attempts: tuple[Attempt, ...] = job.result or ()
        self.attempts, self._asked_run = attempts, run
        self.keep.disabled = not attempts
        if len(attempts) == 1:
            set_html(self.result, draw_attempt(run, attempts[0], sample))
        else:
            set_html(self.result, draw_attempts(run, attempts))

    def _keep(self) -> None:
        run = self._asked_run
        if run is None or not self.attempts:
            return
        variants = [replace(one.variant, who=self._who) for one in self.attempts]
        try:
            for variant in variants:
                if run.path is not None:
                    keep(run.path, variant)
                else:
                    self._kept.setdefault(id(run), []).append(variant)
        except DataError as error:
            set_html(self.status, status(str(error), bad=True))
            return
        where = "beside the run" if run.path is not None else "in this session only: the run has no folder"
        set_html(self.status, status(f"{len(variants)} kept {where}"))
        self.keep.disabled = True
        self._show_variants()

    def _show_variants(self) -> None:
        run, case = self._run, self._case
        if run is None or case is None:
            return
        set_html(self.variants, draw_variants([v for v in self._variants(run) if v.case.id == case.id]))


def _text(name: str, rows: int) -> Any:
    return widgets.Textarea(description=name, rows=rows, layout=widgets.Layout(width="auto"))
