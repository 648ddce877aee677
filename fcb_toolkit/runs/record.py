"""The run as a record: manifest, cases, replies and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fcb_toolkit import scoring
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Answer, Case, Reply, Verdict

Key = tuple[str, int]
"""(case id, sample)"""


@dataclass(frozen=True)
class Run:
    """One model over many cases. `verdicts` maps a metric's name to {(case id, sample): Verdict}.

    `prompts` maps a reply's `prompt_sha256` to the prompt as sent. `path` is None for a run in memory.
    `notes` say what was noticed on the way: a half-written line dropped, a run that was stopped.
    """

    manifest: Mapping[str, Any]
    cases: tuple[Case, ...]
    replies: tuple[Reply, ...]
    verdicts: Mapping[str, Mapping[Key, Verdict]] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The folder's name, or the model's for a run in memory."""
        return self.path.name if self.path else str(self.manifest.get("name") or self.model_name)

    @property
    def model_name(self) -> str:
        return str(self.manifest.get("model", {}).get("id", ""))

    @cached_property
    def case_by_id(self) -> Mapping[str, Case]:
        return {case.id: case for case in self.cases}

    @cached_property
    def reply_by_key(self) -> Mapping[Key, Reply]:
        return {reply.key: reply for reply in self.replies}

    @property
    def missing(self) -> tuple[str, ...]:
        """Ids of cases without a reply: the run was stopped before its end."""
        answered = {reply.case_id for reply in self.replies}
        return tuple(case.id for case in self.cases if case.id not in answered)

    def case(self, case_id: str) -> Case:
        """Raises `UnknownName` with the closest ids."""
        if case_id not in self.case_by_id:
            raise UnknownName("case", case_id, self.case_by_id)
        return self.case_by_id[case_id]

    def reply(self, case_id: str, sample: int = 0) -> Reply:
        """Raises `DataError` if the run holds no reply of that case and sample."""
        reply = self.reply_by_key.get((self.case(case_id).id, sample))
        if reply is None:
            raise DataError(
                f"run {self.name}: no reply for {case_id} sample {sample}; the run was stopped before it"
            )
        return reply

    def answer(self, reply: Reply) -> Answer:
        """What the metrics saw of the reply: its parse in the run's format, its text and message."""
        case = self.case_by_id[reply.case_id]
        return answer_of(case, reply, self.prompts.get(reply.prompt_sha256))

    def verdict(self, case_id: str, sample: int = 0, metric: str | None = None) -> Verdict | None:
        """The verdict of a metric (default: the case's own), None where it was not computed."""
        name = metric or scoring.default_metric(self.case(case_id))
        return self.verdicts.get(name, {}).get((case_id, sample))

    def __repr__(self) -> str:
        metrics = ", ".join(self.verdicts) or "none"
        return (
            f"Run({self.name!r}: {len(self.replies)} replies to {len(self.cases)} cases, verdicts: {metrics})"
        )


def answer_of(case: Case, reply: Reply, prompt: str | None) -> Answer:
    """The reply as the metrics see it."""
    answer = scoring.answer(
        reply.message if reply.message is not None else reply.text,
        format=reply.format or "auto",
        tools=case.tools,
        prompt=prompt,
        finish_reason=reply.finish_reason,
    )
    if reply.message is None or reply.text is None or reply.format == "openai":
        return answer
    # The message was made of the text (transformers' parser); a server gives nothing but the message.
    return replace(answer, text=reply.text, parse=replace(answer.parse, raw=reply.text))
