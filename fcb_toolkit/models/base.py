"""What a model is to the rest of the toolkit: messages and tools in, raw text out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from fcb_toolkit.records import Generation, Message, Rendered, Reply, Tool


@runtime_checkable
class Model(Protocol):
    """Anything that can be evaluated, judged with, or asked again from the explorer.

    `prepare` is pure and cheap; `generate` does the work and yields as replies end, in any order.
    """

    @property
    def name(self) -> str:
        """Shown in tables: the hub id, folder or file name as the user gave it."""

    def describe(self) -> Mapping[str, Any]:
        """For the manifest: id, revision, dtype, device, template hash, parser format, notes."""

    def prepare(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Rendered:
        """The prompt as it will be sent."""

    def generate(self, prompts: Sequence[Rendered], settings: Generation) -> Iterator[tuple[int, Reply]]:
        """(index into `prompts`, reply) for each prompt and sample; `case_id` is left empty."""
