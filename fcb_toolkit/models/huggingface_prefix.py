"""The prefix engine: each shared prefix is read once, then many requests are decoded together.

1. Prompts become a prefix tree (`prefix_tree`). 2. A node's tokens are read below those of its parent, several
nodes at a time. 3. Requests whose prompt is read, but for its last token, go into a pool and are decoded in large
batches; rows that end leave it, and new ones are read in. 4. A prefix is held once, and attended to by all
its rows together (`huggingface_attention`).

Works for models whose whole past is a cache of keys and values (`huggingface_trial`); the others take the
plain engine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import torch

from fcb_toolkit.models import prefix_tree
from fcb_toolkit.models.huggingface_attention import EMPTY, Prefix
from fcb_toolkit.models.huggingface_batch import (
    Prompt,
    cut_at_stop,
    is_out_of_memory,
    make_reply,
    release_memory,
    tokens_a_step,
    tokens_that_fit,
)
from fcb_toolkit.models.huggingface_cache import Rows, merge
from fcb_toolkit.models.huggingface_devices import input_device
from fcb_toolkit.models.huggingface_pick import Picker
from fcb_toolkit.models.prefix_tree import Node
from fcb_toolkit.records import Generation, Reply

if TYPE_CHECKING:
    from fcb_toolkit.models.huggingface import HuggingFaceModel

MOST_ROWS = {"cpu": 64, "cuda": 512}
"""Rows of one decoding step; more no longer make a token cheaper."""
FIRST_ROWS = 8
"""The first batch is small, so that a user sees the first replies early; each later one is twice as large."""
CLEAR_AT = 0.75
"""Ended rows are carried along until fewer than this share are going: taking them out copies the others."""
LEAST_SHARED = 8
"""Fewer shared tokens than this cost more in steps than they save."""


@dataclass
class Request:
    """One prompt on its way: its new tokens, and its share of the time."""

    prompt: Prompt
    new: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def last(self) -> int:
        """The token to read next."""
        return self.new[-1] if self.new else self.prompt.ids[-1]


@dataclass(frozen=True)
class Batch:
    """Requests that are decoded together; of each, all but the last token has been read.

    `ended` are places of requests that are done but still have a row.
    """

    rows: Rows
    requests: list[Request]
    ended: frozenset[int] = frozenset()

    def going(self) -> list[int]:
        return [i for i in range(len(self.requests)) if i not in self.ended]

    def select(self, chosen: list[int]) -> Batch:
        return Batch(self.rows.select(chosen), [self.requests[i] for i in chosen])

    def halves(self) -> tuple[Batch, Batch]:
        places = list(range(len(self.requests)))
        middle = len(places) // 2
        return self.select(places[:middle]), self.select(places[middle:])

    def cleared(self) -> Batch:
        """Without the rows of ended requests; `self` is of no use afterwards."""
        if not self.ended:
            return self
        going = self.going()
        return Batch(self.rows.keep(going), [self.requests[i] for i in going])


@dataclass
class Counts:
    """What was done, for benchmarks."""

    read: int = 0
    """Prompt tokens that went through the model, without padding."""
    padded: int = 0
    """The same with padding."""
    steps: int = 0
    most_rows: int = 0
    most_held: int = 0
    """Tokens whose keys and values waited in memory at once."""
    widest: int = 0
    """The same of one decoding batch's own tokens, with padding."""


class PrefixEngine:
    """One generation over many prompts."""

    def __init__(self, owner: HuggingFaceModel, prompts: Sequence[Prompt], settings: Generation) -> None:
        self.owner = owner
        self.settings = settings
        self.requests = [Request(prompt) for prompt in prompts]
        self.picker = Picker(owner, settings)
        self.counts = Counts()
        self.pool: list[Batch] = []
        device = input_device(owner.model)
        self.device = device
        self.capacity = settings.batch_size or MOST_ROWS.get(device.type, 64)
        self.wanted = min(self.capacity, FIRST_ROWS)
        """Rows to wait for before the next decoding."""
        self.room = tokens_that_fit(owner.model)
        self.chunk = tokens_a_step(owner.model)

    def run(self) -> Iterator[tuple[Prompt, Reply]]:
        # The last token of a prompt is read by the first decoding step.
        tree = prefix_tree.build([request.prompt.ids[:-1] for request in self.requests], LEAST_SHARED)
        yield from self._children(EMPTY, tree)
        while self.pool:
            yield from self._decode(until=0)

    def _children(self, prefix: Prefix, children: list[Node]) -> Iterator[tuple[Prompt, Reply]]:
        """Reads the edges below `prefix`."""
        for chunk in self._chunks([node for node in children if not node.children]):
            for part, rows in self._read(prefix, chunk):
                self.pool.append(
                    Batch(rows, [self.requests[node.leaf] for node in part if node.leaf is not None])
                )
                yield from self._make_room()
        for chunk in self._chunks([node for node in children if node.children]):
            for part, rows in self._read(prefix, chunk):
                for row, node in enumerate(part):
                    yield from self._children(rows.as_prefix(row), node.children)

    def _make_room(self) -> Iterator[tuple[Prompt, Reply]]:
        """Decodes once enough requests wait, or more would not fit."""
        waiting = sum(len(batch.requests) for batch in self.pool)
        if waiting >= self.wanted or self._held() > self.room:
            yield from self._decode(until=self.wanted // 2)
            self.wanted = min(2 * self.wanted, self.capacity)

    def _held(self) -> int:
        """Tokens in memory, with those that the waiting requests will write."""
        held: dict[int, int] = {}
        for batch in self.pool:
            held |= batch.rows.held()
        now = sum(held.values())
        self.counts.most_held = max(self.counts.most_held, now)
        return now + self.settings.max_new_tokens * sum(len(batch.requests) for batch in self.pool)

    def _chunks(self, nodes: list[Node]) -> Iterator[list[Node]]:
        """Neighbours in length, so that padding stays small, within the tokens of one step."""
        chunk: list[Node] = []
        for node in sorted(nodes, key=lambda node: len(node.edge)):
            more, width = len(chunk) + 1, len(node.edge)
            fits = more * (width + self.settings.max_new_tokens) <= self.room
            if chunk and (more > self.capacity or more * width > self.chunk or not fits):
                yield chunk
                chunk = []
            chunk.append(node)
        if chunk:
            yield chunk

    def _read(self, prefix: Prefix, chunk: list[Node]) -> Iterator[tuple[list[Node], Rows]]:
        """(chunk, its rows); in halves where the memory does not suffice."""
        started = time.perf_counter()
        edges = [node.edge for node in chunk]
        rows = Rows.below(prefix, len(chunk), self.device)
        read: Rows | None = rows
        if any(edges):  # a prompt of one token has nothing to read before it
            try:
                read = rows.read(self.owner.model, edges)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error) or len(chunk) == 1:
                    raise
                read = None
        if read is None:
            release_memory(self.owner.model)
            self.chunk = max(1, self.chunk // 2)
            for half in (chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :]):
                yield from self._read(prefix, half)
            return
        self.counts.read += sum(map(len, edges))
        self.counts.padded += len(edges) * max(map(len, edges))
        share = (time.perf_counter() - started) / len(chunk)
        for node in chunk:
            if node.leaf is not None:
                self.requests[node.leaf].seconds += share
        yield chunk, read

    def _decode(self, until: int) -> Iterator[tuple[Prompt, Reply]]:
        """Writes new tokens until at most `until` requests of the batch are left."""
        batch = self._next()
        while len(going := batch.going()) > until:
            if len(going) < CLEAR_AT * len(batch.requests):
                batch = batch.cleared()
            batch, logits = self._step(batch)
            going = batch.going()
            chosen = self.picker.pick(
                logits if len(going) == len(batch.requests) else logits[going],
                [batch.requests[i].prompt for i in going],
            )
            ended = set(batch.ended)
            for i, token in zip(going, chosen, strict=True):
                request = batch.requests[i]
                request.new.append(token)
                if self._ended(request):
                    ended.add(i)
                    yield self._finished(request)
            batch = replace(batch, ended=frozenset(ended))
        if going:
            self.pool.append(batch.cleared())

    def _next(self) -> Batch:
        """As many waiting requests as make one batch, of those whose own tokens are about as many.

        In a batch all rows are as wide as the widest, so that one long row among short ones could take many
        times the memory that they take apart.
        """
        first = self.pool[-1]
        rows, width = len(first.requests), first.rows.columns
        chosen = [len(self.pool) - 1]
        others = range(len(self.pool) - 1)
        for i in sorted(others, key=lambda i: abs(self.pool[i].rows.columns - first.rows.columns)):
            more, wide = rows + len(self.pool[i].requests), max(width, self.pool[i].rows.columns)
            if more > self.capacity or more * (wide + self.settings.max_new_tokens) > self.room:
                break
            chosen.append(i)
            rows, width = more, wide
        self.counts.widest = max(self.counts.widest, rows * width)
        # In their old order: neighbours share a prefix.
        batches = [self.pool[i] for i in sorted(chosen)]
        self.pool = [batch for i, batch in enumerate(self.pool) if i not in chosen]
        requests = [request for batch in batches for request in batch.requests]
        merged = Batch(merge([batch.rows for batch in batches]), requests)
        if self.device.type == "cpu":
            release_memory(self.owner.model)
        return merged

    def _step(self, batch: Batch) -> tuple[Batch, torch.Tensor]:
        """(batch, logits) after one more token a row; out of memory sends half of the rows back to the pool."""
        started = time.perf_counter()
        logits = None
        while logits is None:
            try:
                logits = batch.rows.step(self.owner.model, [r.last for r in batch.requests])
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error) or len(batch.requests) == 1:
                    raise
            if logits is None:
                release_memory(self.owner.model)
                batch = batch.cleared()
                if len(batch.requests) > 1:
                    batch, other = batch.halves()
                    self.pool.insert(0, other)
                self.capacity = max(1, len(batch.requests))
                self.wanted = min(self.wanted, self.capacity)
        self.counts.steps += 1
        self.counts.most_rows = max(self.counts.most_rows, len(batch.requests))
        first = sum(not request.new for request in batch.requests)
        self.counts.read += first
        self.counts.padded += first
        going = batch.going()
        share = (time.perf_counter() - started) / len(going)
        for i in going:
            batch.requests[i].seconds += share
        return batch, logits

    def _ended(self, request: Request) -> bool:
        stopped = request.new[-1] in self.owner.stops(request.prompt)
        return stopped or len(request.new) >= self.settings.max_new_tokens

    def _finished(self, request: Request) -> tuple[Prompt, Reply]:
        ids, finish = cut_at_stop(request.new, self.owner.stops(request.prompt))
        return request.prompt, make_reply(self.owner.tokenizer, request.prompt, ids, finish, request.seconds)


def generate(
    owner: HuggingFaceModel, prompts: Sequence[Prompt], settings: Generation
) -> Iterator[tuple[Prompt, Reply]]:
    """(prompt, reply) as replies end."""
    yield from PrefixEngine(owner, prompts, settings).run()
