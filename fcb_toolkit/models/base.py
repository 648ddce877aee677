"""What a model is to the rest of the toolkit: messages and tools in, raw text out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        """The prompt as it will be sent. The toolkit's own models take None for no tools, too."""

    def generate(self, prompts: Sequence[Rendered], settings: Generation) -> Iterator[tuple[int, Reply]]:
        """(index into `prompts`, reply) for each prompt and sample; `case_id` is left empty."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a model is asked in one go, and what happens to each reply where it arrives.

    `keep(index, reply)` is called once a reply, before it is yielded: a model behind a server calls it on
    the thread that got the answer, so that what was paid for is on the disk at once. `have` holds pairs
    (index, sample) that are not asked again. `ids`: an idempotency key for each prompt, or none.
    """

    prompts: Sequence[Rendered]
    settings: Generation
    keep: Callable[[int, Reply], None]
    have: frozenset[tuple[int, int]] = frozenset()
    ids: Sequence[str] = ()


def generated(model: Model, wanted: Wanted) -> Generator[tuple[int, Reply], None, None]:
    """(index, reply) as they come, each kept first. Close it to stop early."""
    own = getattr(model, "generate_wanted", None)
    if own is not None:
        yield from own(wanted)
        return
    for index, reply in model.generate(wanted.prompts, wanted.settings):
        if (index, reply.sample) not in wanted.have:
            wanted.keep(index, reply)
            yield index, reply
