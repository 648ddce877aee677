"""The plain engine: padded batches through transformers' own `generate`. Works for every model type."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from fcb_toolkit.models.huggingface_batch import (
    Prompt,
    cut_at_stop,
    failed_reply,
    is_out_of_memory,
    make_reply,
    release_memory,
    rows_that_fit,
)
from fcb_toolkit.models.huggingface_devices import input_device
from fcb_toolkit.models.huggingface_pick import Picker
from fcb_toolkit.records import Generation, Reply

if TYPE_CHECKING:
    from fcb_toolkit.models.huggingface import HuggingFaceModel


def generate(
    owner: HuggingFaceModel, prompts: Sequence[Prompt], settings: Generation
) -> Iterator[tuple[Prompt, Reply]]:
    """Longest first, so that memory runs out at once or never; a batch that does is halved."""
    waiting = sorted(prompts, key=lambda p: (-len(p.ids), p.index, p.sample))
    while waiting:
        tokens = len(waiting[0].ids) + settings.max_new_tokens
        rows = settings.batch_size or rows_that_fit(owner.model, tokens)
        batch, waiting = waiting[:rows], waiting[rows:]
        yield from _halving(owner, batch, settings)


def _halving(
    owner: HuggingFaceModel, batch: list[Prompt], settings: Generation
) -> Iterator[tuple[Prompt, Reply]]:
    try:
        replies = _batch(owner, batch, settings)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        replies = None
    # Outside the except block: the exception holds the failed batch's tensors alive.
    if replies is not None:
        yield from zip(batch, replies, strict=True)
        return
    release_memory(owner.model)
    if len(batch) == 1:
        note = f"out of memory with one prompt of {len(batch[0].ids)} tokens"
        yield batch[0], failed_reply(batch[0].sample, len(batch[0].ids), note)
        return
    half = len(batch) // 2
    yield from _halving(owner, batch[:half], settings)
    yield from _halving(owner, batch[half:], settings)


def _batch(owner: HuggingFaceModel, batch: Sequence[Prompt], settings: Generation) -> list[Reply]:
    model, tokenizer, device = owner.model, owner.tokenizer, input_device(owner.model)
    width = max(len(p.ids) for p in batch)
    pad = pad_token(owner)
    ids = torch.tensor([[pad] * (width - len(p.ids)) + p.ids for p in batch], device=device)
    mask = torch.tensor([[0] * (width - len(p.ids)) + [1] * len(p.ids) for p in batch], device=device)
    started = time.perf_counter()
    with torch.inference_mode():
        out = model.generate(
            ids,
            attention_mask=mask,
            generation_config=greedy_config(settings, _stops(owner, batch), pad),
            logits_processor=LogitsProcessorList([OnlyThePicked(Picker(owner, settings), batch)]),
        )
    seconds = (time.perf_counter() - started) / len(batch)
    replies = []
    for prompt, row in zip(batch, out[:, width:].tolist(), strict=True):
        new, finish = cut_at_stop(row, owner.stops(prompt))
        replies.append(make_reply(tokenizer, prompt, new, finish, seconds))
    return replies


def pad_token(owner: HuggingFaceModel) -> int:
    pad = owner.tokenizer.pad_token_id
    return int(pad if pad is not None else owner.stop_ids[0])


def _stops(owner: HuggingFaceModel, batch: Sequence[Prompt]) -> list[int]:
    """Where rows stop at different tokens, all go on to the end of their turn and are cut afterwards."""
    stops = {owner.stops(prompt) for prompt in batch}
    return list(stops.pop() if len(stops) == 1 else owner.stop_ids)


def greedy_config(settings: Generation, stops: list[int], pad: int) -> GenerationConfig:
    """Every setting is given: what a checkpoint's generation_config asks for (sampling, a repetition
    penalty, top_k) would make two models incomparable."""
    return GenerationConfig(
        max_new_tokens=settings.max_new_tokens,
        do_sample=False,  # `OnlyThePicked` draws
        num_beams=1,
        repetition_penalty=1.0,
        no_repeat_ngram_size=0,
        eos_token_id=stops,
        pad_token_id=pad,
        use_cache=True,
    )


class OnlyThePicked(LogitsProcessor):
    """Leaves each row the token that the picker chose, so that both engines choose alike."""

    def __init__(self, picker: Picker, batch: Sequence[Prompt]) -> None:
        self.picker = picker
        self.batch = batch

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        chosen = torch.tensor(self.picker.pick(scores, self.batch), device=scores.device)
        only = torch.full_like(scores, -torch.inf)
        return only.scatter_(1, chosen.unsqueeze(1), 0.0)
