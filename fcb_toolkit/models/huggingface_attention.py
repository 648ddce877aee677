"""Attention of requests that share a prefix: its keys and values are held once and met by all its rows at once.

What a token sees is split into the shared prefix and the row's own tokens; the two results are joined by their
log-sum-exp, which is exact. This is the idea of Hydragen (Juravsky et al. 2024, arXiv:2402.05099), here as one of
transformers' attention functions, so that the models' own code is used unchanged.

    with used_by(model):
        model(input_ids=..., cache=own, shared=Shared(((prefix, 4),), mask))
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

NAME = "fcb_shared_prefix"
UNKNOWN = ("softcap", "sliding_window", "s_aux", "position_bias")
"""What a model's attention may want beyond the plain one, and this function does not do."""
Partial = tuple[torch.Tensor, torch.Tensor]
"""(values (batch, heads, queries, width), log-sum-exp (batch, heads, queries) in float32)."""


@dataclass(frozen=True)
class Prefix:
    """Keys and values of tokens that several rows begin with; those of a layer are (kv heads, tokens, width)."""

    keys: tuple[torch.Tensor, ...]
    values: tuple[torch.Tensor, ...]

    def __len__(self) -> int:
        return self.keys[0].shape[1] if self.keys else 0

    def layer(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.keys[number], self.values[number]


EMPTY = Prefix((), ())


@dataclass(frozen=True)
class Shared:
    """`groups`: (prefix, how many neighbouring rows have it). `mask`: (rows, columns) of the rows' own cache, False
    where a column holds nothing; None while rows are read, each from its first own token on."""

    groups: tuple[tuple[Prefix, int], ...]
    mask: torch.Tensor | None


def attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    _mask: torch.Tensor | None,
    scaling: float | None = None,
    shared: Shared | None = None,
    **given: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers' attention functions: `query` (rows, heads, tokens, width), `key` and `value` of the own cache.

    Gives (rows, tokens, heads, width). `NotImplementedError` where the model wants what is not done here.
    """
    wanted = [name for name in UNKNOWN if given.get(name) is not None]
    if shared is None or wanted:
        raise NotImplementedError(f"attention with {', '.join(wanted) or 'layers that take no prefix'}")
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if shared.mask is None:
        (prefix, _), *_ = shared.groups
        out = _read(query, key, value, prefix.layer(module.layer_idx) if len(prefix) else None, scale)
    else:
        out = _write(query, key, value, module.layer_idx, shared, scale)
    return out.transpose(1, 2).contiguous(), None


def _read(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    prefix: tuple[torch.Tensor, torch.Tensor] | None,
    scale: float,
) -> torch.Tensor:
    """Rows that follow one prefix, each from its first own token on. (rows, heads, tokens, width)."""
    rows, heads, tokens, width = query.shape
    if not _has_flash(query, value):
        return _read_joined(query, key, value, prefix, scale)
    own = _flash(query, _repeated(key, heads), _repeated(value, heads), scale, causal=True)
    if prefix is None:
        return own[0]
    keys, values = (_repeated(x[None], heads) for x in prefix)
    # To the prefix the rows are one long row.
    all_rows = query.transpose(0, 1).reshape(1, heads, rows * tokens, width)
    out, mass = _flash(all_rows, keys, values, scale)
    before = (
        out.view(heads, rows, tokens, -1).transpose(0, 1),
        mass.view(heads, rows, tokens).transpose(0, 1),
    )
    return _joined(before, own)


def _read_joined(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    prefix: tuple[torch.Tensor, torch.Tensor] | None,
    scale: float,
) -> torch.Tensor:
    """The same through torch's public function, with the prefix copied to each row."""
    rows, heads, tokens, _ = query.shape
    before = 0 if prefix is None else prefix[0].shape[1]
    if prefix is not None:
        key, value = (
            torch.cat([x.expand(rows, -1, -1, -1), own], dim=2)
            for x, own in zip(prefix, (key, value), strict=True)
        )
    sees = torch.ones(tokens, before + tokens, dtype=torch.bool, device=query.device).tril(before)
    return scaled_dot_product_attention(
        query, _repeated(key, heads), _repeated(value, heads), attn_mask=sees, scale=scale
    )


def _write(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layer: int, shared: Shared, scale: float
) -> torch.Tensor:
    """One new token a row: its own columns, and each group's prefix for the group's rows together."""
    rows, heads, _, width = query.shape
    kv_heads = key.shape[1]
    assert shared.mask is not None
    folded = query.reshape(rows, kv_heads, heads // kv_heads, width)  # query heads of one kv head, as a row
    own = _math(folded, key, value, scale, shared.mask[:, None, None].to(query.device))
    attention = _flash if _has_flash(query, value) else _math
    parts, start = [], 0
    for prefix, count in shared.groups:
        part = own[0][start : start + count], own[1][start : start + count]
        if len(prefix):
            keys, values = prefix.layer(layer)
            group = folded[start : start + count].transpose(0, 1).reshape(1, kv_heads, -1, width)
            out, mass = attention(group, keys[None], values[None], scale)
            before = (
                out.view(kv_heads, count, -1, out.shape[-1]).transpose(0, 1),
                mass.view(kv_heads, count, -1).transpose(0, 1),
            )
            parts.append(_joined(before, part))
        else:
            parts.append(part[0])
        start += count
    return torch.cat(parts).reshape(rows, heads, 1, -1)


def _joined(a: Partial, b: Partial) -> torch.Tensor:
    """Attention over two sets of keys from that over each."""
    weight = torch.sigmoid(b[1] - a[1])[..., None].to(a[0].dtype)
    return torch.lerp(a[0], b[0], weight)


def _has_flash(query: torch.Tensor, value: torch.Tensor) -> bool:
    return query.device.type == "cpu" and query.shape[-1] == value.shape[-1]


def _flash(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float, causal: bool = False
) -> Partial:
    """The CPU kernel below torch's public function, which keeps the log-sum-exp to itself."""
    out, mass = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, causal, scale=scale
    )
    return out, mass


def _math(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    mask: torch.Tensor | None = None,
) -> Partial:
    scores = (query @ key.transpose(-1, -2)).float() * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    mass = scores.logsumexp(-1)
    return (scores - mass[..., None]).exp().to(value.dtype) @ value, mass


def _repeated(x: torch.Tensor, heads: int) -> torch.Tensor:
    return x if x.shape[1] == heads else x.repeat_interleave(heads // x.shape[1], dim=1)


@contextlib.contextmanager
def used_by(model: Any) -> Iterator[None]:
    """The model's attention goes through `attend` inside, through its own function again afterwards."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attend)
    config = model.config.get_text_config(decoder=True)
    before = config._attn_implementation
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before
