"""The prefix engine: each shared prefix is read once, then many requests are decoded together.

1. Prompts become a prefix tree (`prefix_tree`). 2. A node's tokens are read with the cache of its parent,
several nodes at a time, left-padded. 3. A node's cache is copied to its children. 4. Requests whose prompt is
read go into a pool and are decoded in large batches; rows that end leave it, and new ones are read in.

Works for models whose whole past is a cache of keys and values (`why_not`); the others take the plain engine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from fcb_toolkit.models import prefix_tree
from fcb_toolkit.models.huggingface_batch import (
    Prompt,
    cut_at_stop,
    is_out_of_memory,
    make_reply,
    release_memory,
    rows_that_fit,
)
from fcb_toolkit.models.huggingface_cache import Rows, merge
from fcb_toolkit.models.huggingface_devices import input_device
from fcb_toolkit.models.huggingface_pick import Picker
from fcb_toolkit.models.prefix_tree import Node
from fcb_toolkit.records import Generation, Reply

if TYPE_CHECKING:
    from fcb_toolkit.models.huggingface import HuggingFaceModel

CHUNK_TOKENS = {"cpu": 2048, "cuda": 16384}
"""Tokens of one reading step: enough to keep the processor busy, few enough for its activations."""
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


@dataclass(frozen=True)
class Batch:
    """Requests that are decoded together. `logits` is None until their last token has been read.

    `ended` are places of requests that are done but still have a row.
    """

    rows: Rows
    requests: list[Request]
    logits: torch.Tensor | None
    ended: frozenset[int] = frozenset()

    def going(self) -> list[int]:
        return [i for i in range(len(self.requests)) if i not in self.ended]

    def half(self, back: bool) -> Batch:
        middle = len(self.requests) // 2
        return self.select(list(range(len(self.requests)))[middle:] if back else list(range(middle)))

    def select(self, chosen: list[int], logits: torch.Tensor | None = None) -> Batch:
        return Batch(self.rows.select(chosen), [self.requests[i] for i in chosen], logits)

    def cleared(self) -> Batch:
        """Without the rows of ended requests."""
        if not self.ended:
            return self
        going = self.going()
        return self.select(going, None if self.logits is None else self.logits[going])


@dataclass
class Counts:
    """What was done, for benchmarks."""

    read: int = 0
    """Prompt tokens that went through the model, without padding."""
    padded: int = 0
    """The same with padding."""
    steps: int = 0
    most_rows: int = 0


class PrefixEngine:
    """One generation over many prompts."""

    def __init__(self, owner: HuggingFaceModel, prompts: Sequence[Prompt], settings: Generation) -> None:
        self.owner = owner
        self.settings = settings
        self.requests = [Request(prompt) for prompt in prompts]
        self.picker = Picker(owner, settings)
        self.counts = Counts()
        self.pool: list[Batch] = []
        """Requests whose prompt is read."""
        self.parked: list[Batch] = []
        """Requests for which the memory did not suffice; they go on when others have ended."""
        longest = max((len(p.ids) for p in prompts), default=0)
        self.capacity = settings.batch_size or rows_that_fit(owner.model, longest + settings.max_new_tokens)
        self.chunk = CHUNK_TOKENS.get(input_device(owner.model).type, 4096)

    def run(self) -> Iterator[tuple[Prompt, Reply]]:
        tree = prefix_tree.build([request.prompt.ids for request in self.requests], LEAST_SHARED)
        root = Rows.empty(1, input_device(self.owner.model))
        yield from self._children(root, [(0, node) for node in tree])
        while self._waiting():
            yield from self._decode(until=0)

    def _children(self, rows: Rows, children: list[tuple[int, Node]]) -> Iterator[tuple[Prompt, Reply]]:
        """Reads the edges below `rows`; `children` are (row, node)."""
        inner = [pair for pair in children if pair[1].children]
        leaves = [pair for pair in children if not pair[1].children]
        for chunk in self._chunks(leaves):
            for part, read, logits in self._read(rows, chunk):
                requests = [self.requests[node.leaf] for _, node in part if node.leaf is not None]
                self.pool.append(Batch(read, requests, logits))
                if self._waiting() >= self.capacity:
                    yield from self._decode(until=self.capacity // 2)
        for chunk in self._chunks(inner):
            for part, read, _ in self._read(rows, chunk):
                below = [(row, child) for row, (_, node) in enumerate(part) for child in node.children]
                yield from self._children(read, below)

    def _chunks(self, children: list[tuple[int, Node]]) -> Iterator[list[tuple[int, Node]]]:
        """Neighbours in length, so that padding stays small, within the tokens of one step."""
        chunk: list[tuple[int, Node]] = []
        for pair in sorted(children, key=lambda pair: len(pair[1].edge)):
            widest = len(pair[1].edge)
            if chunk and ((len(chunk) + 1) * widest > self.chunk or len(chunk) >= self.capacity):
                yield chunk
                chunk = []
            chunk.append(pair)
        if chunk:
            yield chunk

    def _read(
        self, rows: Rows, chunk: list[tuple[int, Node]]
    ) -> Iterator[tuple[list[tuple[int, Node]], Rows, torch.Tensor]]:
        """(chunk, its rows, logits after each edge); in halves where the memory does not suffice."""
        started = time.perf_counter()
        edges = [node.edge for _, node in chunk]
        try:
            read = rows.select([row for row, _ in chunk])
            logits = read.extend(self.owner.model, edges)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error) or len(chunk) == 1:
                raise
            logits = None
        if logits is None:
            release_memory(self.owner.model)
            self.chunk = max(1, self.chunk // 2)
            for half in (chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :]):
                yield from self._read(rows, half)
            return
        self.counts.read += sum(map(len, edges))
        self.counts.padded += len(edges) * max(map(len, edges))
        share = (time.perf_counter() - started) / len(chunk)
        for _, node in chunk:
            if node.leaf is not None:
                self.requests[node.leaf].seconds += share
        yield chunk, read, logits

    def _waiting(self) -> int:
        return sum(len(batch.requests) for batch in self.pool + self.parked)

    def _decode(self, until: int) -> Iterator[tuple[Prompt, Reply]]:
        """Writes new tokens until at most `until` requests of the batch are left."""
        batch = self._next()
        while len(going := batch.going()) > until:
            if batch.logits is None:
                batch = self._step(batch.cleared() if len(going) < CLEAR_AT * len(batch.requests) else batch)
                continue
            ended = set(batch.ended)
            for i, token in zip(going, self._pick(batch, going), strict=True):
                request = batch.requests[i]
                request.new.append(token)
                if self._ended(request):
                    ended.add(i)
                    yield self._finished(request)
            batch = replace(batch, logits=None, ended=frozenset(ended))
        if going:
            batch = batch.cleared()
            (self.pool if batch.logits is not None else self.parked).append(batch)

    def _pick(self, batch: Batch, going: list[int]) -> list[int]:
        assert batch.logits is not None
        logits = batch.logits if len(going) == len(batch.requests) else batch.logits[going]
        return self.picker.pick(logits, [batch.requests[i].prompt for i in going])

    def _next(self) -> Batch:
        """As many waiting requests as the memory takes, as one batch; parked ones when no others wait."""
        if not self.pool:
            return self.parked.pop()
        chosen = [self.pool.pop()]
        while (
            self.pool and sum(len(b.requests) for b in chosen) + len(self.pool[-1].requests) <= self.capacity
        ):
            chosen.append(self.pool.pop())
        rows = merge([batch.rows for batch in chosen])
        logits = torch.cat([batch.logits for batch in chosen if batch.logits is not None])
        return Batch(rows, [request for batch in chosen for request in batch.requests], logits)

    def _step(self, batch: Batch) -> Batch:
        """One token a row through the model; out of memory parks half of the rows."""
        started = time.perf_counter()
        logits = None
        while logits is None:
            try:
                logits = batch.rows.extend(self.owner.model, [r.new[-1:] for r in batch.requests])
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error) or len(batch.requests) == 1:
                    raise
            if logits is None:
                release_memory(self.owner.model)
                batch = batch.cleared()
                if len(batch.requests) > 1:
                    self.parked.append(batch.half(back=True))
                    batch = batch.half(back=False)
                self.capacity = len(batch.requests)
        self.counts.steps += 1
        self.counts.most_rows = max(self.counts.most_rows, len(batch.requests))
        going = batch.going()
        share = (time.perf_counter() - started) / len(going)
        for i in going:
            batch.requests[i].seconds += share
        return replace(batch, logits=logits)

    def _ended(self, request: Request) -> bool:
        return request.new[-1] in self.owner.stop_ids or len(request.new) >= self.settings.max_new_tokens

    def _finished(self, request: Request) -> tuple[Prompt, Reply]:
        ids, finish = cut_at_stop(request.new, self.owner.stop_ids)
        return request.prompt, make_reply(self.owner.tokenizer, request.prompt, ids, finish, request.seconds)


def generate(
    owner: HuggingFaceModel, prompts: Sequence[Prompt], settings: Generation
) -> Iterator[tuple[Prompt, Reply]]:
    """(prompt, reply) as replies end."""
    yield from PrefixEngine(owner, prompts, settings).run()


def why_not(model: Any) -> str | None:
    """None if the prefix engine gives this model's own answers, else the reason why not.

    First by what the configuration says, then by trying: three short rows with a shared prefix must get the
    logits that the whole rows get one at a time.
    """
    config = model.config.get_text_config()
    if getattr(model.config, "is_encoder_decoder", False):
        return "an encoder-decoder model"
    kinds = set(getattr(config, "layer_types", None) or ())
    if kinds - {"full_attention"}:
        return f"layers that keep no whole cache: {', '.join(sorted(kinds - {'full_attention'}))}"
    if not kinds and getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True):
        return f"a sliding window of {config.sliding_window}"
    try:
        with torch.inference_mode():
            return _trial(model, config.vocab_size)
    except Exception as error:  # whatever a model's own code raises on a cache that it does not know
        return f"a trial failed: {type(error).__name__}: {error}"


def _trial(model: Any, vocabulary: int) -> str | None:
    draw = torch.Generator().manual_seed(0)
    prefix = torch.randint(vocabulary, (9,), generator=draw).tolist()
    ends = [torch.randint(vocabulary, (n,), generator=draw).tolist() for n in (1, 5, 3)]
    device = input_device(model)
    rows = Rows.empty(1, device)
    rows.extend(model, [prefix])
    rows = rows.select([0, 0, 0])
    rows.extend(model, ends)
    rows = merge([rows.select([1]), rows.select([2, 0])])
    found = rows.extend(model, [[1], [2], [3]]).float()
    for row, (end, last) in enumerate(zip((ends[1], ends[2], ends[0]), (1, 2, 3), strict=True)):
        ids = torch.tensor([[*prefix, *end, last]], device=device)
        expected = model(input_ids=ids).logits[0, -1].float()
        # A wrong position or mask moves logits by their whole spread; rounding, also in bfloat16, does not.
        if (found[row] - expected).abs().mean() > 0.1 * expected.std():
            return "a trial gave other logits than one row at a time"
    return None
