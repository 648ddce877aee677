"""A run over a Ray cluster: Ray Data maps the model over groups of cases, and this process alone writes.

    run_on_ray(ModelSpec("Qwen/Qwen2.5-7B-Instruct"), work, RayOptions(workers=8, address="auto"))

What travels to a worker is the model's name with its options, and cases; what comes back is one row a reply, as
it ends. Ray places the workers, starts a killed one again and repeats its group; a reply that is stored already
is not stored twice. The manifest's model is what the workers say that they loaded, and all must say the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError, ModelError
from fcb_toolkit.models.spec import ModelSpec
from fcb_toolkit.records import Case, Rendered
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.folder import RunFolder, check_same_run
from fcb_toolkit.runs.generate import Store, Work, run_in_memory, run_of
from fcb_toolkit.runs.manifest import make_manifest
from fcb_toolkit.runs.ray_cluster import cluster, mapped
from fcb_toolkit.runs.ray_options import RayOptions
from fcb_toolkit.runs.ray_worker import Worker
from fcb_toolkit.runs.record import Key, Run
from fcb_toolkit.runs.split import split

GROUPS_EACH = 4
"""Groups that a worker gets at least, where there are cases enough: so that none waits long for the last."""


def run_on_ray(spec: ModelSpec, work: Work, options: RayOptions) -> Run:
    """The run without its verdicts. Raises `ModelError` where the workers cannot load or run the model."""
    if spec.source.startswith("openai:"):
        raise ModelError(
            f"{spec.source}: its server does the work and takes many requests at a time; run it without "
            "engine='ray', with --concurrency"
        )
    driver = Driver(work, RunFolder(work.out) if work.out is not None else None)
    try:
        driver.check(spec)
        if driver.lacking:
            driver.generate(spec, options)
        return driver.run()
    finally:
        driver.close()


class Driver:
    """The one process that writes: takes the workers' rows into the run."""

    def __init__(self, work: Work, folder: RunFolder | None) -> None:
        self.work = work
        self.folder = folder
        self.store = Store(folder)
        self.waiting, self.done = work.waiting(self.store.replies)
        self.samples = range(work.settings.samples)
        self.lacking: set[Key] = {(case.id, n) for case in self.waiting for n in self.samples} - self.done
        """Not asked for again once they have come, even if they ended in an error."""
        self.manifest: Mapping[str, Any] = folder.manifest if folder else {}
        self.begun = False
        self.notes: list[str] = []

    def check(self, spec: ModelSpec) -> None:
        """Raises `DataError`, before anything is started, where the folder belongs to another run."""
        if self.folder is None or not self.manifest:
            return
        self.folder.check({"generation": asdict(self.work.settings)}, ["generation"])
        self.folder.with_cases(self.work.cases)
        stored = self.manifest.get("model") or {}
        given = {"id": spec.name, **{k: v for k, v in spec.options.items() if v not in (None, "auto")}}
        for name in ("id", "dtype", "mode", "language", "enable_thinking", "format"):
            if name in given and stored.get(name) != given[name]:
                raise DataError(
                    f"{self.folder.path}: belongs to another run: model.{name} is {stored.get(name)!r} there "
                    f"and {given[name]!r} now; choose another --out, or use the same settings"
                )

    def generate(self, spec: ModelSpec, options: RayOptions) -> None:
        """Returns when nothing is lacking, or the user stopped it, which the notes say."""
        total = len(self.work.cases) * self.work.settings.samples
        with cluster(options) as size, self.bar(total) as bar:
            arguments = (spec, self.work.settings)
            try:
                while self.lacking and not self.notes:
                    before = len(self.lacking)
                    with closing(mapped(Worker, arguments, self.groups(size), size)) as rows:
                        self.take_all(rows, size, bar)
                    if len(self.lacking) == before and not self.notes:
                        raise ModelError(f"the Ray workers gave no reply to {sorted(self.lacking)[0][0]}")
            except KeyboardInterrupt:
                if not self.begun:
                    raise
                self.notes.append(
                    f"interrupted after {len(self.store.replies)} of {total} replies; run it again to go on"
                )

    def bar(self, total: int) -> Any:
        return tqdm(total=total, initial=len(self.done), unit="reply", disable=not self.work.session.progress)

    def groups(self, size: RayOptions) -> list[str]:
        """What is lacking, as JSON texts: cases with the same tools and first messages stay together, since
        their prompts share that prefix."""
        cases = [c for c in self.waiting if any((c.id, n) in self.lacking for n in self.samples)]
        begins = [jsonl.dumps([case.tools, case.messages]) for case in cases]
        parts = max((size.workers or 1) * GROUPS_EACH, -(-len(cases) // size.group))
        return [jsonl.dumps([self.row(cases[i]) for i in part]) for part in split(begins, parts)]

    def row(self, case: Case) -> dict[str, Any]:
        have = [n for n in self.samples if (case.id, n) not in self.lacking]
        return {"case": disk.case_row(case), "have": have}

    def take_all(self, rows: Iterable[str], size: RayOptions, bar: Any) -> None:
        for text in rows:
            row = json.loads(text)
            if "error" in row:
                raise ModelError(f"on a Ray worker: {row['error']}")
            self.begin(row["model"], size)
            reply = disk.reply_of(row["reply"])
            # The group of a worker that was killed comes again from its start.
            if reply.key not in self.lacking:
                continue
            prompt = Rendered(**{**row["prompt"], "notes": tuple(row["prompt"]["notes"])})
            self.store.add_reply(replace(reply, prompt_sha256=self.store.add_prompt(prompt)))
            self.lacking.discard(reply.key)
            self.work.session.on_reply(self.store.replies[reply.key])
            bar.update(1)
            if self.work.session.should_stop():
                self.notes.append(
                    f"stopped on request after {len(self.store.replies)} of {bar.total} replies"
                )
                return

    def begin(self, described: Mapping[str, Any], size: RayOptions) -> None:
        """With the first row: what the workers loaded. Every worker must have loaded the same."""
        if self.begun:
            if described != self.manifest["model"]:
                check_same_run(self.work.out or Path(), self.manifest, {"model": described}, ["model"])
            return
        self.manifest = {
            **make_manifest(described, self.work.settings),
            "engine": {"name": "ray", "workers": size.workers, "gpus": size.gpus, "cpus": size.cpus},
        }
        if self.folder is not None:
            self.folder.begin(self.manifest, self.work.cases)
        self.begun = True

    def run(self) -> Run:
        """The run as far as it came."""
        if self.folder is None:
            return run_in_memory(self.manifest, self.work, self.store, self.notes)
        if not self.begun:
            self.folder.begin(self.manifest, self.work.cases)
        return run_of(self.folder, self.store, self.notes)

    def close(self) -> None:
        self.store.close()
