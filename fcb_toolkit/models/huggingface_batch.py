"""What the engines share: one prompt as tokens, batches that fit the memory, out-of-memory, texts."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from fcb_toolkit.models.huggingface_devices import free_bytes, input_device
from fcb_toolkit.records import Rendered, Reply

MEMORY_SHARE = 0.3
"""Share of the free memory that a batch's cache may take; joining batches holds it twice."""
MOST_ROWS = {"cpu": 32, "cuda": 256}
"""A CPU is busy with fewer rows: reading their caches soon takes longer than the weights."""

STEP_TOKENS = {"cpu": 2048, "cuda": 16384}
"""Tokens of one reading step: enough to keep the processor busy, few enough for its activations."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """`index` counts the caller's prompts; `ids` are tokens, special ones included."""

    index: int
    sample: int
    ids: list[int]
    rendered: Rendered
    closes: tuple[int, ...] = ()
    """Tokens that end its reply besides those that end a turn."""


def cache_bytes_per_token(model: Any) -> int:
    """Bytes of keys and values that one token takes over all layers."""
    config = model.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", 1)
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(2 * config.num_hidden_layers * heads * width * model.dtype.itemsize)


def rows_that_fit(model: Any, tokens: int) -> int:
    """Rows of `tokens` (prompt and reply) whose cache and logits fit; at least 1.

    Computed from the lengths at hand, not from the longest that the model could take.
    """
    vocabulary = model.config.get_text_config().vocab_size
    row = tokens * cache_bytes_per_token(model) + 4 * vocabulary
    return max(
        1,
        min(MOST_ROWS.get(input_device(model).type, 64), int(MEMORY_SHARE * free_bytes(model)) // int(row)),
    )


def tokens_that_fit(model: Any) -> int:
    """Tokens whose keys and values may lie in memory at once; at least 1."""
    return max(1, int(MEMORY_SHARE * free_bytes(model)) // cache_bytes_per_token(model))


def tokens_a_step(model: Any) -> int:
    """Tokens that one reading step takes at most."""
    return STEP_TOKENS.get(input_device(model).type, 4096)


def is_out_of_memory(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or (
        isinstance(error, RuntimeError) and ("not enough memory" in text or "can't allocate memory" in text)
    )


def release_memory(model: Any) -> None:
    """Gives freed memory back to the device, or to the system where the C library can."""
    if input_device(model).type == "cuda":
        torch.cuda.empty_cache()
    elif (trim := _malloc_trim()) is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    """glibc keeps the gaps between tensors that are still in use; None elsewhere."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def cut_at_stop(ids: Sequence[int], stop_ids: Sequence[int]) -> tuple[list[int], str]:
    """(tokens up to and including the first stop token, finish reason)."""
    stops = set(stop_ids)
    for position, token in enumerate(ids):
        if token in stops:
            return list(ids[: position + 1]), "stop"
    return list(ids), "length"


def failed_reply(sample: int, tokens: int, note: str, seconds: float = 0.0) -> Reply:
    """No text came of a prompt of so many tokens; `note` says why."""
    return Reply("", None, sample, "error", tokens, 0, round(seconds, 4), notes=(note,))


def make_reply(tokenizer: Any, prompt: Prompt, ids: Sequence[int], finish: str, seconds: float) -> Reply:
    """The text keeps its special tokens; the prompt's tokens are not among `ids`."""
    text = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return Reply(
        "",
        text,
        prompt.sample,
        finish,
        len(prompt.ids),
        len(ids),
        round(seconds, 4),
        format=prompt.rendered.format,
    )
