"""Whether the prefix engine may serve a model: by what its configuration says, then by a trial.

why_not(model)      # None, or "a sliding window of 4096"
"""

from __future__ import annotations

import math
import statistics
from typing import Any

import torch

from fcb_toolkit.models.huggingface_attention import EMPTY
from fcb_toolkit.models.huggingface_cache import Rows, merge
from fcb_toolkit.models.huggingface_devices import input_device

MOST_DIFFERENCE = 0.3
"""In spreads (standard deviations) of a row's logits; rounding in bfloat16 moved those of padded rows by 0.15."""


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
    """A wrong position or mask moves logits by their whole spread, whatever the tokens. Rounding in bfloat16 does now and
    then with tokens that make no sense, so that one draw that fails is followed by two more, and the middle one counts."""
    found = [_differences(model, vocabulary, 0)]
    if max(found[0]) > MOST_DIFFERENCE:
        found += [_differences(model, vocabulary, seed) for seed in (1, 2)]
    worst = max(statistics.median(row) for row in zip(*found, strict=True))
    return "a trial gave other logits than one row at a time" if worst > MOST_DIFFERENCE else None


def _differences(model: Any, vocabulary: int, seed: int) -> list[float]:
    """For each of four rows: how far its logits are from those of the row alone, in spreads of the latter."""
    draw = torch.Generator().manual_seed(seed)
    start = torch.randint(vocabulary, (9,), generator=draw).tolist()
    ends = [torch.randint(vocabulary, (n,), generator=draw).tolist() for n in (7, 12, 9)]
    device = input_device(model)
    prefix = Rows.below(EMPTY, 1, device).read(model, [start]).as_prefix(0)
    rows = Rows.below(prefix, 3, device).read(model, ends)
    alone = Rows.below(EMPTY, 1, device).read(model, [ends[0]])
    rows = merge([rows.select([0, 1]), alone, rows.select([2])])
    logits = rows.step(model, [1, 2, 3, 4]).float()
    # Rows with a token or two are not among them: rounding moves theirs by half of the spread.
    whole = ([*start, *ends[0], 1], [*start, *ends[1], 2], [*ends[0], 3], [*start, *ends[2], 4])
    differences = []
    for row, ids in enumerate(whole):
        expected = model(input_ids=torch.tensor([ids], device=device)).logits[0, -1].float()
        moved = float((logits[row] - expected).abs().mean() / expected.std())
        differences.append(math.inf if math.isnan(moved) else moved)
    return differences
