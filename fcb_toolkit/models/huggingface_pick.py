"""The next token of each row: greedy, or drawn with a seed of the request's own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from fcb_toolkit.models.huggingface_batch import Prompt
from fcb_toolkit.records import Generation

if TYPE_CHECKING:
    from fcb_toolkit.models.huggingface import HuggingFaceModel


class Picker:
    """One for a whole generation; a request's draws do not depend on which others share its batch."""

    def __init__(self, owner: HuggingFaceModel, settings: Generation) -> None:
        self.owner = owner
        self.settings = settings
        self._generators: dict[tuple[int, int], torch.Generator] = {}
        self._matchers: dict[tuple[int, int], Any | None] = {}

    def pick(self, logits: torch.Tensor, prompts: Sequence[Prompt]) -> list[int]:
        """`logits`: (rows, vocabulary), one row a prompt."""
        if self.settings.constrain is None:
            return self._choose(logits, prompts)
        matchers = [self._matcher(prompt) for prompt in prompts]
        chosen = self._choose(self.owner.constraints.mask(logits.float(), matchers), prompts)
        for matcher, token in zip(matchers, chosen, strict=True):
            if matcher is not None:
                matcher.accept_token(token)
        return chosen

    def _choose(self, logits: torch.Tensor, prompts: Sequence[Prompt]) -> list[int]:
        if self.settings.temperature == 0:
            chosen: list[int] = logits.float().argmax(-1).tolist()
            return chosen
        return draw(logits, [self._generator(prompt) for prompt in prompts], self.settings)

    def _matcher(self, prompt: Prompt) -> Any | None:
        key = prompt.index, prompt.sample
        if key not in self._matchers:
            self._matchers[key] = self.owner.constraints.matcher(prompt.rendered)
        matcher = self._matchers[key]
        # The plain engine keeps asking for rows that have ended.
        return None if matcher is None or matcher.is_terminated() else matcher

    def _generator(self, prompt: Prompt) -> torch.Generator:
        key = prompt.index, prompt.sample
        if key not in self._generators:
            self._generators[key] = torch.Generator().manual_seed(seed_of(prompt, self.settings))
        return self._generators[key]


def seed_of(prompt: Prompt, settings: Generation) -> int:
    """From the run's seed, the sample's number and the prompt."""
    key = f"{settings.seed}\0{prompt.sample}\0{prompt.rendered.prompt}"
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1


def draw(logits: torch.Tensor, generators: Sequence[torch.Generator], settings: Generation) -> list[int]:
    """One token a row by temperature and top_p (nucleus sampling, Holtzman et al. 2020)."""
    probabilities = torch.softmax(logits.float() / settings.temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    # A token stays if the mass before it is below top_p; the first always does.
    ordered[(ordered.cumsum(-1) - ordered) >= settings.top_p] = 0.0
    picks = [
        torch.multinomial(row, 1, generator=generator)
        for row, generator in zip(ordered.cpu(), generators, strict=True)
    ]
    chosen: list[int] = order.gather(1, torch.stack(picks).to(order.device)).squeeze(1).tolist()
    return chosen
