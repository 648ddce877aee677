"""transformers' continuous batching as an engine: a paged cache whose full pages are shared by prompts that begin alike.

    model = fcb.load_model("Qwen/Qwen2.5-7B-Instruct", engine="continuous")

Meant for a GPU, where its one step over rows of any length keeps the processor busy. Greedy only: it takes no picker
of ours. Never chosen by itself: on the machines at hand it was not measured against the prefix engine on a GPU.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fcb_toolkit.errors import ModelError
from fcb_toolkit.models.huggingface_batch import (
    Prompt,
    cut_at_stop,
    failed_reply,
    make_reply,
    tokens_a_step,
    tokens_that_fit,
)
from fcb_toolkit.models.huggingface_plain import greedy_config, pad_token
from fcb_toolkit.records import Generation, Reply

if TYPE_CHECKING:
    from fcb_toolkit.models.huggingface import HuggingFaceModel

PAGE = 256
"""Tokens of a page; only whole pages are shared."""
POLL = 0.2
"""Seconds after which a thread that died is noticed."""


def generate(
    owner: HuggingFaceModel, prompts: Sequence[Prompt], settings: Generation
) -> Iterator[tuple[Prompt, Reply]]:
    """(prompt, reply) as replies end; a request that fails gives a reply that ended in an error.

    Raises `ModelError` for sampling, for `constrain`, and where transformers refuses or gives up.
    """
    if settings.temperature > 0 or settings.constrain:
        asked = "temperature above 0" if settings.temperature > 0 else f"constrain={settings.constrain!r}"
        raise ModelError(
            f"{owner.name}: engine='continuous' is greedy, found {asked}; use 'prefix' or 'plain'"
        )
    if not prompts:
        return
    manager = _manager(owner, prompts, settings)
    manager.start()
    try:
        # Prompts that begin alike come one after the other, or their pages would be gone before they are met again.
        waiting = {}
        for prompt in sorted(prompts, key=lambda prompt: prompt.ids):
            stops = list(owner.stops(prompt)) or -1
            waiting[manager.add_request(prompt.ids, eos_token_id=stops)] = prompt
        yield from _replies(owner, manager, waiting)
    finally:
        manager.stop(block=True, hard_stop=True)
        manager.destroy()


def _replies(
    owner: HuggingFaceModel, manager: Any, waiting: dict[str, Prompt]
) -> Iterator[tuple[Prompt, Reply]]:
    last = time.perf_counter()
    while waiting:
        output = manager.get_result(timeout=POLL)
        if output is None:
            if not manager.is_running() and manager.output_router.output_queue.empty():
                error = manager.background_thread_status.fatal_error
                raise ModelError(
                    f"{owner.name}: continuous batching ended with {len(waiting)} requests open"
                    f"{f' ({type(error).__name__}: {error})' if error else ''}; go on with engine='prefix'"
                )
            continue
        prompt = waiting.pop(output.request_id)
        now = time.perf_counter()
        seconds, last = now - last, now
        if output.error is not None:
            note = f"continuous batching: {output.error}"
            yield prompt, failed_reply(prompt.sample, len(prompt.ids), note, seconds)
            continue
        ids, finish = cut_at_stop(output.generated_tokens, owner.stops(prompt))
        yield prompt, make_reply(owner.tokenizer, prompt, ids, finish, seconds)


def _manager(owner: HuggingFaceModel, prompts: Sequence[Prompt], settings: Generation) -> Any:
    """A manager whose cache holds what these prompts need, or as much of it as fits."""
    pages = sum(-(-(len(prompt.ids) + settings.max_new_tokens) // PAGE) for prompt in prompts)
    try:
        from transformers import ContinuousBatchingConfig

        config = ContinuousBatchingConfig(
            page_size=PAGE,
            num_blocks=max(2, min(pages + 1, tokens_that_fit(owner.model) // PAGE)),
            max_batch_tokens=tokens_a_step(owner.model),
            auto_switch_to_flash=False,  # it would load compiled kernels from the hub
        )
        return owner.model.init_continuous_batching(
            generation_config=greedy_config(settings, list(owner.stop_ids), pad_token(owner)),
            continuous_batching_config=config,
        )
    except (ImportError, TypeError) as error:
        raise ModelError(
            f"{owner.name}: engine='continuous' was written for transformers 5.24, found {version('transformers')} "
            f"({error}); use 'prefix' or 'plain'"
        ) from error
    except (ValueError, NotImplementedError, AttributeError) as error:
        raise ModelError(
            f"{owner.name}: engine='continuous' cannot serve it: {error}; use 'prefix' or 'plain'"
        ) from error
