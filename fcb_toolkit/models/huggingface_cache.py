"""Keys and values of many requests: a cache that grows in place, and its rows as a batch.

A transformers `DynamicCache` copies itself for each new token, which at 64 requests of 1,500 tokens is more
work than the model's own. `GrowingLayer` keeps room and writes into it.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

ROOM = 64
"""Columns added at a time."""


class GrowingLayer(DynamicLayer):
    """A `DynamicLayer` whose `keys` and `values` are views into larger buffers."""

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
        have = self.get_seq_length()
        need = have + key_states.shape[-2]
        if self._buffers is None or self._buffers[0].shape[-2] < need or not self._is_view():
            self._buffers = (
                self._room(self.keys, key_states, need),
                self._room(self.values, value_states, need),
            )
        keys, values = self._buffers
        keys[..., have:need, :] = key_states
        values[..., have:need, :] = value_states
        self.keys, self.values = keys[..., :need, :], values[..., :need, :]
        return self.keys, self.values

    def _is_view(self) -> bool:
        # Selecting rows replaces `keys` by a copy; the old buffer then belongs to nobody.
        return self._buffers is not None and self.keys.data_ptr() == self._buffers[0].data_ptr()

    def _room(self, old: torch.Tensor, new: torch.Tensor, need: int) -> torch.Tensor:
        batch, heads, _, width = new.shape
        buffer = new.new_zeros(batch, heads, need + (ROOM if new.shape[-2] == 1 else 0), width)
        if self.get_seq_length():
            buffer[..., : old.shape[-2], :] = old
        return buffer


def layers_of(cache: Cache) -> list[Any]:
    """Only caches made here come in, so every layer is a `GrowingLayer`."""
    return cache.layers


class Rows:
    """A batch of partly read prompts: cache, which columns are real, and how long each row is.

    `cache` holds tensors (rows, heads, columns, width) a layer; `mask` is (rows, columns), 1 where a column
    holds a token of that row; `lengths` is (rows,). Columns may have holes: positions are counted by tokens.
    """

    def __init__(self, cache: Cache, mask: torch.Tensor, lengths: torch.Tensor) -> None:
        self.cache = cache
        self.mask = mask
        self.lengths = lengths

    def __len__(self) -> int:
        return self.mask.shape[0]

    @property
    def columns(self) -> int:
        return self.mask.shape[1]

    @classmethod
    def empty(cls, rows: int, device: torch.device) -> Rows:
        cache = Cache(layer_class_to_replicate=GrowingLayer)
        return cls(
            cache,
            torch.zeros(rows, 0, dtype=torch.long, device=device),
            torch.zeros(rows, dtype=torch.long, device=device),
        )

    def select(self, indices: Sequence[int]) -> Rows:
        """A copy of some rows, each as often as it is named."""
        index = torch.tensor(indices, device=self.mask.device)
        cache = Cache(layer_class_to_replicate=GrowingLayer)
        if self.columns:
            for number, layer in enumerate(layers_of(self.cache)):
                cache.update(layer.keys[index], layer.values[index], number)
        return Rows(cache, self.mask[index], self.lengths[index])

    def extend(self, model: Any, segments: Sequence[Sequence[int]]) -> torch.Tensor:
        """Reads one segment a row (at least one token each); gives the logits after each, (rows, vocabulary)."""
        width = max(map(len, segments))
        device = self.mask.device
        ids = torch.tensor([[0] * (width - len(s)) + list(s) for s in segments], device=device)
        mask = torch.tensor([[0] * (width - len(s)) + [1] * len(s) for s in segments], device=device)
        positions = (self.lengths[:, None] + mask.cumsum(1) - 1).clamp(min=0)
        before = self.columns
        try:
            # Here and not around the caller's loop: a generator would leave the mode on between its yields.
            with torch.inference_mode():
                out = model(
                    input_ids=ids,
                    attention_mask=torch.cat([self.mask, mask], dim=1),
                    position_ids=positions,
                    use_cache=True,
                    logits_to_keep=1,
                    **{cache_keyword(model): self.cache},
                )
        except BaseException:
            self.cut(before)
            raise
        self.mask = torch.cat([self.mask, mask], dim=1)
        self.lengths = self.lengths + mask.sum(1)
        logits: torch.Tensor = out.logits[:, -1]
        return logits

    def cut(self, columns: int) -> None:
        """Drops what a failed step wrote: some layers may have a column more than others."""
        for layer in layers_of(self.cache):
            if layer.is_initialized and layer.get_seq_length() > columns:
                layer.keys, layer.values = layer.keys[..., :columns, :], layer.values[..., :columns, :]


@lru_cache(maxsize=64)
def _takes_cache(forward: Any) -> bool:
    return "cache" in inspect.signature(forward).parameters


def cache_keyword(model: Any) -> str:
    """transformers renamed `past_key_values` to `cache` in 5.24."""
    return "cache" if _takes_cache(type(model).forward) else "past_key_values"


def merge(parts: Sequence[Rows]) -> Rows:
    """One batch of all rows, without holes, aligned at their ends."""
    longest = max(int(part.lengths.max()) for part in parts)
    rows = sum(map(len, parts))
    device = parts[0].mask.device
    lengths = torch.cat([part.lengths for part in parts])
    mask = (torch.arange(longest, device=device)[None, :] >= (longest - lengths)[:, None]).long()
    cache = Cache(layer_class_to_replicate=GrowingLayer)
    for number, layer in enumerate(layers_of(parts[0].cache)):
        shape = (rows, layer.keys.shape[1], longest)
        keys = layer.keys.new_zeros(*shape, layer.keys.shape[-1])
        values = layer.values.new_zeros(*shape, layer.values.shape[-1])
        row = 0
        for part in parts:
            own = layers_of(part.cache)[number]
            for index in range(len(part)):
                real = part.mask[index].bool()
                length = longest - int(part.lengths[index])
                keys[row, :, length:] = own.keys[index][:, real]
                values[row, :, length:] = own.values[index][:, real]
                row += 1
        cache.update(keys, values, number)
    return Rows(cache, mask, lengths)
