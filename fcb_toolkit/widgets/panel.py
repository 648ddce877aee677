"""A panel to start a run, watch it, stop it and go on with it.

panel = RunPanel(model)
panel.benchmark.value = "sample/korean"; panel.start.click(); panel.job.wait(); panel.run
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from fcb_toolkit import jsonl
from fcb_toolkit.benchmarks import BENCHMARKS, load_benchmark
from fcb_toolkit.models import NAMED, Model, load_model
from fcb_toolkit.runs import Run, evaluate
from fcb_toolkit.widgets.cohorts import rate
from fcb_toolkit.widgets.draw_summary import rate_text
from fcb_toolkit.widgets.explorer import Explorer
from fcb_toolkit.widgets.explorer_style import style
from fcb_toolkit.widgets.jobs import Job
from fcb_toolkit.widgets.parts import (
    generation_controls,
    html_box,
    label_width,
    set_html,
    small_button,
    status,
)
from fcb_toolkit.widgets.table import Table, View


class RunPanel(widgets.VBox):  # type: ignore[misc]
    """See `fcb.run_panel`. `run` is the last run that ended or was stopped."""

    def __init__(self, model: Model | None = None) -> None:
        self._given = model
        self._loaded: dict[str, Model] = {}
        self.job: Job | None = None
        self.run: Run | None = None
        self._build()
        settings = widgets.Box(list(self.settings.values()))
        settings.add_class("fcb-settings")
        buttons = widgets.HBox([self.start, self.stop, self.resume, self.look])
        inputs = [self.benchmark, self.source, self.model, self.out, self.limit, settings]
        super().__init__(
            [html_box("fcb-style", style()), *inputs, buttons, self.bar, self.status, self.below]
        )
        self.add_class("fcb-explorer")

    def __repr__(self) -> str:
        return f"RunPanel({self.job.describe() if self.job else 'not started'})"

    def _build(self) -> None:
        names = [*([self._given.name] if self._given is not None else []), *NAMED]
        self.benchmark = widgets.Dropdown(
            options=list(BENCHMARKS), value="sample/korean", description="benchmark"
        )
        self.source = _text("source", "folder or file; empty for the fetched or bundled copy")
        self.model = widgets.Combobox(
            value=names[0],
            options=names,
            description="model",
            layout=widgets.Layout(width="auto"),
            placeholder="hub id, folder or file",
        )
        self.out = _text("save to", "folder; empty keeps the run in memory only")
        self.limit = widgets.BoundedIntText(value=0, min=0, max=1_000_000, description="first cases")
        self.settings = generation_controls()
        self.start = small_button("Start", "Generates, parses and scores", "primary")
        self.stop = small_button("Stop", "Ends after the reply, or the batch, that is being made")
        self.resume = small_button("Resume", "Goes on where the run stopped")
        self.look = small_button("Explore", "Opens the failures below")
        self.bar = widgets.IntProgress(value=0, min=0, max=1, layout=widgets.Layout(width="100%"))
        self.status, self.below = html_box(), widgets.VBox([])
        label_width((self.benchmark, self.source, self.model, self.out, self.limit))
        self.start.on_click(lambda button: self._start())
        self.stop.on_click(lambda button: self.job.stop() if self.job else None)
        self.resume.on_click(lambda button: self._start())
        self.look.on_click(lambda button: self._explore())
        self.stop.disabled = self.resume.disabled = self.look.disabled = True
        set_html(self.status, status("first cases: 0 takes all of them"))

    def _start(self) -> None:
        if self.job is not None and self.job.running:
            return
        wanted = {
            "benchmark": self.benchmark.value,
            "source": self.source.value.strip() or None,
            "model": self.model.value.strip(),
            "out": str(Path(self.out.value.strip()).expanduser()) if self.out.value.strip() else None,
            "limit": self.limit.value,
            "settings": {name: control.value for name, control in self.settings.items()},
        }
        self.job = Job(lambda job: self._work(job, wanted), self._moved)
        self.job.start()

    def _work(self, job: Job, wanted: Mapping[str, Any]) -> Run:
        """In the job's thread; reads no control, since those may be changed meanwhile."""
        job.begin(0, message="reading the benchmark ...")
        cases = load_benchmark(wanted["benchmark"], wanted["source"])
        cases = cases[: wanted["limit"] or None]
        job.begin(len(cases), message="loading the model ...")
        model = self._model(wanted["model"])
        job.begin(len(cases), skipped=answered(wanted["out"], {case.id for case in cases}))
        return evaluate(
            model,
            cases,
            wanted["out"],
            progress=False,
            should_stop=job.should_stop,
            on_reply=lambda reply: job.advance(),
            **wanted["settings"],
        )

    def _model(self, name: str) -> Model:
        if self._given is not None and name == self._given.name:
            return self._given
        if name not in self._loaded:
            # One model at a time: a second one may not fit beside the first.
            self._loaded = {}
            self._loaded = {name: load_model(name)}
        return self._loaded[name]

    def _moved(self, job: Job) -> None:
        """Called from the job's thread as well as from the page's."""
        self.bar.max = max(job.total, 1)
        self.bar.value = job.done
        self.start.disabled = job.running
        self.stop.disabled = not job.running or job.stopping
        text = job.describe()
        if job.result is not None:
            self.run = job.result
            self.look.disabled = False
            text += f" · pass rate {rate_text(rate(Table([self.run]), View()))}"
            text += f" · saved in {self.run.path}" if self.run.path else " · in memory, as panel.run"
        can_resume = job.state in ("stopped", "failed") and bool(self.out.value.strip())
        self.resume.disabled = not can_resume
        if job.state == "stopped" and not can_resume:
            text += " · to go on later, give a folder to save to before you start"
        set_html(self.status, status(text, bad=job.state == "failed"))

    def _explore(self) -> None:
        if self.run is not None:
            model = self._given if self._given is not None else next(iter(self._loaded.values()), None)
            self.below.children = [Explorer([self.run], model=model)]


def answered(out: str | None, wanted: Collection[str]) -> int:
    """How many of the cases have a reply in the folder already."""
    if out is None:
        return 0
    rows, _ = jsonl.read_appended(Path(out) / "replies.jsonl")
    return len({row.get("case_id") for row in rows if row.get("finish_reason") != "error"} & set(wanted))


def _text(name: str, hint: str) -> Any:
    return widgets.Text(description=name, placeholder=hint, layout=widgets.Layout(width="auto"))
