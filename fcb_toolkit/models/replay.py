"""A model that answers from a recorded run: notebooks, tests and re-scoring without a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from fcb_toolkit.errors import DataError, ModelError
from fcb_toolkit.models.scripted import conversation_sha256
from fcb_toolkit.records import Case, Generation, Message, Rendered, Reply, Tool


class Recorded(Protocol):
    """The part of a `Run` that a replay needs."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def cases(self) -> Iterable[Case]: ...
    @property
    def replies(self) -> Iterable[Reply]: ...
    @property
    def prompts(self) -> Mapping[str, str]: ...


class ReplayModel:
    """Gives each recorded reply to the same messages and tools; anything else is a `ModelError`."""

    def __init__(self, run: Recorded) -> None:
        if not hasattr(run, "manifest"):
            raise DataError(
                f"ReplayModel: found {type(run).__name__}, expected a Run; load one with fcb.load_run(folder)"
            )
        self._manifest = run.manifest
        self._prompts = run.prompts
        self._replies: dict[str, list[Reply]] = {}
        conversations = {c.id: conversation_sha256(c.messages, c.tools) for c in run.cases}
        for reply in run.replies:
            self._replies.setdefault(conversations[reply.case_id], []).append(reply)

    @property
    def name(self) -> str:
        return str(self._manifest.get("model", {}).get("id", "replay"))

    def describe(self) -> Mapping[str, Any]:
        return {**self._manifest.get("model", {}), "kind": "replay"}

    def prepare(self, messages: Sequence[Message], tools: Sequence[Tool] | None = ()) -> Rendered:
        tools = tools or ()
        reply = self._recorded(messages, tools)[0]
        prompt = self._prompts.get(reply.prompt_sha256, "")
        return Rendered(prompt, "recorded", (), "native", reply.format, tuple(messages), tuple(tools))

    def generate(self, prompts: Sequence[Rendered], settings: Generation) -> Iterator[tuple[int, Reply]]:
        for index, prompt in enumerate(prompts):
            replies = sorted(self._recorded(prompt.messages, prompt.tools), key=lambda reply: reply.sample)
            seen: set[int] = set()
            for reply in replies:
                # Two cases with one conversation have recorded the same samples twice.
                if reply.sample < settings.samples and reply.sample not in seen:
                    seen.add(reply.sample)
                    yield index, replace(reply, case_id="")

    def _recorded(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[Reply]:
        found = self._replies.get(conversation_sha256(messages, tools))
        if not found:
            last = str(messages[-1].get("content"))[:60] if messages else ""
            raise ModelError(
                f"replay of {self.name}: no recorded reply to this conversation (last turn {last!r}); "
                "a replay answers only what its run was asked"
            )
        return found
