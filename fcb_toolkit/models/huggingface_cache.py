"""Keys and values of many requests: shared prefixes that are held once, and the rows' own tokens below them.

prefix = Rows.below(EMPTY, 1, device).read(model, [[1, 2, 3]]).as_prefix(0)
rows = Rows.below(prefix, 2, device).read(model, [[4], [5, 6]])
logits = rows.step(model, [7, 8])           # (2, vocabulary)
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

from fcb_toolkit.models.huggingface_attention import Prefix, Shared, used_by

ROOM = 64
"""Columns added at a time."""


class GrowingLayer(DynamicLayer):
    """A `DynamicLayer` that writes into room which it keeps, where that one copies itself for each new token."""

    keys: Any
    values: Any

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)  # type: ignore[no-untyped-call]
        self._buffers: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """As `DynamicLayer.update`."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = key_states, value_states
            return self.keys, self.values
        have = self.get_seq_length()
        need = have + key_states.shape[-2]
        if self._buffers is None or self._buffers[0].shape[-2] < need:
            self._buffers = _room(self.keys, need), _room(self.values, need)
        keys, values = self._buffers
        keys[..., have:need, :] = key_states
        values[..., have:need, :] = value_states
        self.keys, self.values = keys[..., :need, :], values[..., :need, :]
        return self.keys, self.values

    def free(self) -> None:
        """Gives the memory back; the layer is of no use afterwards."""
        self.keys = self.values = self._buffers = None


def _room(old: torch.Tensor, need: int) -> torch.Tensor:
    batch, heads, have, width = old.shape
    buffer = old.new_empty(batch, heads, need + ROOM, width)
    buffer[..., :have, :] = old
    return buffer


def cache_of(layers: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> Cache:
    """A cache of (keys, values) a layer, each (rows, heads, columns, width)."""
    cache = Cache(layer_class_to_replicate=GrowingLayer)
    for number, (keys, values) in enumerate(layers):
        cache.update(keys, values, number)
    return cache


def layers_of(cache: Cache) -> list[Any]:
    """Only caches made here come in, so every layer is a `GrowingLayer`."""
    return cache.layers


class Rows:
    """A batch of partly read prompts.

    `groups`: (prefix, how many neighbouring rows follow it). `cache`: the rows' own tokens, tensors (rows, heads,
    columns, width) a layer, on that layer's device. `mask`: (rows, columns), True where a column holds a token of
    its row. `lengths`: (rows,), tokens with those of the prefix. Both lie where prompts go. Columns may have holes:
    positions are counted by tokens.
    """

    def __init__(
        self, groups: Iterable[tuple[Prefix, int]], cache: Cache, mask: torch.Tensor, lengths: torch.Tensor
    ) -> None:
        # Neighbours with the same prefix meet it together.
        same = groupby(groups, key=lambda group: id(group[0]))
        merged = [list(part) for _, part in same]
        self.groups = tuple((part[0][0], sum(count for _, count in part)) for part in merged)
        self.cache = cache
        self.mask = mask
        self.lengths = lengths

    def __len__(self) -> int:
        return self.mask.shape[0]

    @property
    def columns(self) -> int:
        return self.mask.shape[1]

    @classmethod
    def below(cls, prefix: Prefix, rows: int, device: torch.device) -> Rows:
        """Rows that hold nothing but the prefix."""
        mask = torch.zeros(rows, 0, dtype=torch.bool, device=device)
        lengths = torch.full((rows,), len(prefix), dtype=torch.long, device=device)
        return cls([(prefix, rows)], cache_of([]), mask, lengths)

    def held(self) -> dict[int, int]:
        """Tokens in memory by what holds them: each prefix once, and the rows' own columns."""
        own = {id(self): len(self) * self.columns}
        return own | {id(prefix): len(prefix) for prefix, _ in self.groups}

    def as_prefix(self, row: int) -> Prefix:
        """Everything that this row holds, for rows below it."""
        prefix = self._prefixes()[row]
        real = self.mask[row]
        keys, values = [], []
        for number, layer in enumerate(layers_of(self.cache)):
            own = real.to(layer.keys.device)
            pair = [layer.keys[row][:, own], layer.values[row][:, own]]
            if len(prefix):
                pair = [torch.cat(x, dim=1) for x in zip(prefix.layer(number), pair, strict=True)]
            keys.append(pair[0])
            values.append(pair[1])
        return Prefix(tuple(keys), tuple(values))

    def select(self, indices: Sequence[int]) -> Rows:
        """A copy of some rows, in ascending order."""
        return self._chosen(indices, free=False)

    def keep(self, indices: Sequence[int]) -> Rows:
        """As `select`, but frees each layer once it is copied: `self` is of no use afterwards."""
        return self._chosen(indices, free=True)

    def _chosen(self, indices: Sequence[int], free: bool) -> Rows:
        prefixes = self._prefixes()
        index = torch.tensor(indices, device=self.mask.device)

        def layers() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
            for layer in layers_of(self.cache):
                own = index.to(layer.keys.device)  # layers may lie on other devices than the prompts
                yield layer.keys[own], layer.values[own]
                if free:
                    layer.free()

        groups = [(prefixes[i], 1) for i in indices]
        return Rows(groups, cache_of(layers()), self.mask[index], self.lengths[index])

    def read(self, model: Any, segments: Sequence[Sequence[int]]) -> Rows:
        """These rows, which must hold one prefix and nothing else yet, with a segment each (at least one token)."""
        width = max(map(len, segments))
        device = self.mask.device
        # Padded at the right: no token sees what comes after it, so that reading needs no mask.
        ids = torch.tensor([[*s, *[0] * (width - len(s))] for s in segments], device=device)
        sizes = torch.tensor([len(s) for s in segments], device=device)
        columns = torch.arange(width, device=device)
        self._forward(model, ids, self.lengths[:, None] + columns, None)
        return Rows(self.groups, self.cache, columns < sizes[:, None], self.lengths + sizes)

    def step(self, model: Any, tokens: Sequence[int]) -> torch.Tensor:
        """Reads one token a row; gives the logits after each, (rows, vocabulary). A failed step changes nothing."""
        ids = torch.tensor(tokens, device=self.mask.device)[:, None]
        mask = torch.cat([self.mask, torch.ones_like(ids, dtype=torch.bool)], dim=1)
        try:
            logits = self._forward(model, ids, self.lengths[:, None], mask)
        except BaseException:
            self._cut(self.columns)
            raise
        self.mask = mask
        self.lengths = self.lengths + 1
        return logits

    def _forward(
        self, model: Any, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        # Here and not around the caller's loop: a generator would leave the mode on between its yields.
        with torch.inference_mode(), used_by(model):
            out = model(
                input_ids=ids,
                position_ids=positions,
                use_cache=True,
                logits_to_keep=1,
                shared=Shared(self.groups, mask),
                **{cache_keyword(model): self.cache},
            )
        logits: torch.Tensor = out.logits[:, -1]
        return logits

    def _cut(self, columns: int) -> None:
        """Drops what a failed step wrote: some layers may have a column more than others."""
        for layer in layers_of(self.cache):
            if layer.is_initialized and layer.get_seq_length() > columns:
                layer.keys, layer.values = layer.keys[..., :columns, :], layer.values[..., :columns, :]

    def _prefixes(self) -> list[Prefix]:
        """The prefix of each row."""
        return [prefix for prefix, count in self.groups for _ in range(count)]


def merge(parts: Sequence[Rows]) -> Rows:
    """One batch of all rows, their own columns aligned at the end.

    Each layer of the parts is freed once it is copied, or all would be in memory twice: they are of no use afterwards.
    """
    if len(parts) == 1:
        return parts[0]
    width = max(part.columns for part in parts)
    count = max(len(layers_of(part.cache)) for part in parts)
    mask = torch.cat([torch.nn.functional.pad(part.mask, (width - part.columns, 0)) for part in parts])
    groups = [group for part in parts for group in part.groups]
    layers = (_merged_layer(parts, number, width) for number in range(count))
    return Rows(groups, cache_of(layers), mask, torch.cat([part.lengths for part in parts]))


def _merged_layer(parts: Sequence[Rows], number: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(keys, values) of one layer of all parts, whose own ones are freed."""
    like = next(layers_of(part.cache)[number] for part in parts if part.columns)
    rows = sum(map(len, parts))
    keys, values = (x.new_zeros(rows, x.shape[1], width, x.shape[-1]) for x in (like.keys, like.values))
    start = 0
    for part in parts:
        if part.columns:
            own = layers_of(part.cache)[number]
            keys[start : start + len(part), :, width - part.columns :] = own.keys
            values[start : start + len(part), :, width - part.columns :] = own.values
            own.free()
        start += len(part)
    return keys, values


@lru_cache(maxsize=64)
def _takes_cache(forward: Any) -> bool:
    return "cache" in inspect.signature(forward).parameters


def cache_keyword(model: Any) -> str:
    """transformers renamed `past_key_values` to `cache` in 5.24."""
    return "cache" if _takes_cache(type(model).forward) else "past_key_values"
