"""One worker of a Ray cluster: loads the model once, then answers groups of cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import FcbError
from fcb_toolkit.models.base import Model, Wanted, generated
from fcb_toolkit.models.spec import ModelSpec
from fcb_toolkit.records import Case, Generation
from fcb_toolkit.runs import disk
from fcb_toolkit.runs.generate import complete, prepare


class Worker:
    """Ray Data makes one in each process and calls it with a batch of one group, a JSON text."""

    def __init__(self, spec: ModelSpec, settings: Generation) -> None:
        self.settings = settings
        self.model: Model | None = None
        self.described: Mapping[str, Any] = {}
        self.error = ""
        try:
            self.model = spec.load()
            self.described = self.model.describe()
        except FcbError as error:
            # Sent as a row: an exception here would be tried again and again.
            self.error = str(error)

    def __call__(self, batch: Mapping[str, Sequence[str]]) -> Iterator[dict[str, list[str]]]:
        for group in batch["group"]:
            for row in self.rows(json.loads(group)):
                yield {"row": [jsonl.dumps(row)]}

    def rows(self, group: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """A row a reply, or one with the error that a user can mend."""
        if self.model is None:
            yield {"error": self.error}
            return
        cases = [disk.case_of(one["case"]) for one in group]
        have = frozenset((i, sample) for i, one in enumerate(group) for sample in one["have"])
        try:
            yield from self.replies(self.model, cases, have)
        except FcbError as error:
            yield {"error": str(error)}

    def replies(
        self, model: Model, cases: Sequence[Case], have: frozenset[tuple[int, int]]
    ) -> Iterator[dict[str, Any]]:
        prompts = [prepare(model, case) for case in cases]
        wanted = Wanted(prompts, self.settings, lambda index, reply: None, have)
        for index, reply in generated(model, wanted):
            prompt = prompts[index]
            yield {
                "model": self.described,
                "reply": asdict(complete(reply, cases[index], prompt, "")),
                # The messages and tools in it are the case's, which the driver has.
                "prompt": {**asdict(prompt), "messages": (), "tools": ()},
            }
