"""A transformers model in process: its own chat template, its own tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fcb_toolkit.errors import ModelError
from fcb_toolkit.models import (
    huggingface_continuous,
    huggingface_plain,
    huggingface_prefix,
    huggingface_trial,
    huggingface_weights,
)
from fcb_toolkit.models.huggingface_batch import Prompt, failed_reply
from fcb_toolkit.models.huggingface_constrain import Constraints
from fcb_toolkit.models.huggingface_devices import places
from fcb_toolkit.models.huggingface_response import ResponseReader
from fcb_toolkit.parsers import FORMATS
from fcb_toolkit.records import Generation, Message, Rendered, Reply, Tool
from fcb_toolkit.rendering import load_template, render

if TYPE_CHECKING:
    from fcb_toolkit.models.huggingface_load import ModelOptions
    from fcb_toolkit.models.spec import ModelSpec

ENGINES: dict[str, Any] = {
    "prefix": huggingface_prefix,
    "plain": huggingface_plain,
    "continuous": huggingface_continuous,
}


class HuggingFaceModel:
    """What `fcb.load_model` gives. `model` and `tokenizer` are transformers' own objects."""

    def __init__(
        self, model: Any, tokenizer: Any, name: str, options: ModelOptions, revision: str = ""
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.name = name
        self.options = options
        self.revision = revision
        self.template = load_template(
            options.template if options.template is not None else tokenizer,
            bos_token=tokenizer.bos_token,
            eos_token=tokenizer.eos_token,
        )
        self.load_notes: tuple[str, ...] = ()
        """What the loader has to say, for the manifest."""
        self.spec: ModelSpec | None = None
        """By what `fcb.load_model` can load it elsewhere; None for a loaded pair."""
        self.stop_ids = stop_ids(model, tokenizer)
        carried = getattr(tokenizer, "response_template", None)
        # A format that the user names is the user's word on how replies are read.
        self.responses = ResponseReader(carried) if carried is not None and options.format is None else None

    def describe(self) -> dict[str, Any]:
        template = self.options.template or self.tokenizer.chat_template
        notes = [self.engine_note] if self.engine == "plain" and self.options.engine == "auto" else []
        return {
            "id": self.name,
            "kind": "huggingface",
            "revision": self.revision,
            "architecture": type(self.model).__name__,
            "parameters": huggingface_weights.count_parameters(self.model),
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "device": places(self.model),
            **huggingface_weights.describe(self.model),
            "template_sha256": hashlib.sha256(str(template).encode()).hexdigest() if template else "",
            "mode": self.options.mode,
            "language": self.options.language,
            "enable_thinking": self.options.enable_thinking,
            "format": self.options.format or "auto",
            "engine": self.engine,
            "notes": [*self.load_notes, *notes],
            **(self.responses.describe() if self.responses is not None else {}),
        }

    def prepare(self, messages: Sequence[Message], tools: Sequence[Tool] | None = ()) -> Rendered:
        """The prompt as the template makes it, or in prompt mode where the template cannot."""
        tools = tools or ()
        rendered = render(
            messages,
            tools,
            self.template,
            mode=self.options.mode,
            language=self.options.language,
            enable_thinking=self.options.enable_thinking,
        )
        return replace(rendered, format=self.options.format or rendered.format, tools=tuple(tools))

    def generate(self, prompts: Sequence[Rendered], settings: Generation) -> Iterator[tuple[int, Reply]]:
        """Replies as they end. A prompt longer than the model takes gives a reply that ended in an error."""
        waiting: list[Prompt] = []
        longest = max_positions(self.model)
        formats = {rendered.format for rendered in prompts} if settings.stop_after_calls else set()
        closes = {format: self.closes(format) for format in formats}
        for index, rendered in enumerate(prompts):
            # The template wrote every special token already: adding them again would double the BOS.
            ids = self.tokenizer(rendered.prompt, add_special_tokens=False)["input_ids"]
            if longest is not None and len(ids) + settings.max_new_tokens > longest:
                yield from too_long(index, len(ids), longest, settings)
            else:
                ends = closes.get(rendered.format, ())
                waiting += [Prompt(index, sample, ids, rendered, ends) for sample in range(settings.samples)]
        if self.responses is not None and waiting:
            self.responses.start()
        for prompt, reply in ENGINES[self.engine].generate(self, waiting, settings):
            read = self.responses.read(reply, prompt.rendered) if self.responses is not None else reply
            yield prompt.index, read

    def closes(self, format: str) -> tuple[int, ...]:
        """The format's closing marks of calls that are one token here."""
        marks = FORMATS[format].closes if format in FORMATS else ()
        tokens = [self.tokenizer(mark, add_special_tokens=False)["input_ids"] for mark in marks]
        return tuple(ids[0] for ids in tokens if len(ids) == 1)

    def stops(self, prompt: Prompt) -> tuple[int, ...]:
        """Tokens that end the reply to a prompt."""
        return (*self.stop_ids, *prompt.closes)

    @cached_property
    def engine(self) -> str:
        """A key of `ENGINES`. Where the prefix engine cannot serve the model, `engine_note` says why."""
        if self.options.engine in ("plain", "continuous"):
            return self.options.engine
        if self.engine_note and self.options.engine == "prefix":
            raise ModelError(f"{self.name}: engine='prefix' cannot serve it: {self.engine_note}; use 'plain'")
        return "plain" if self.engine_note else "prefix"

    @cached_property
    def constraints(self) -> Constraints:
        return Constraints(self)

    @cached_property
    def engine_note(self) -> str:
        return huggingface_trial.why_not(self.model) or ""


def too_long(index: int, tokens: int, longest: int, settings: Generation) -> Iterator[tuple[int, Reply]]:
    note = (
        f"the prompt has {tokens} tokens and max_new_tokens is {settings.max_new_tokens}, "
        f"but the model takes {longest} in all"
    )
    for sample in range(settings.samples):
        yield index, failed_reply(sample, tokens, note)


def max_positions(model: Any) -> int | None:
    value = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return int(value) if value else None


def stop_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Tokens that end a turn: the model's and tokenizer's own, and the one that its template writes
    after an assistant's text (Llama 3 names end-of-text as EOS but ends turns with another token)."""
    found: list[int | None] = []
    configured = getattr(model.generation_config, "eos_token_id", None)
    found += configured if isinstance(configured, (list, tuple)) else [configured]
    found.append(tokenizer.eos_token_id)
    found.append(_turn_end(tokenizer))
    return tuple(dict.fromkeys(int(i) for i in found if i is not None))


def _turn_end(tokenizer: Any) -> int | None:
    marker = "\ue000fcb\ue001"
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": marker}]
    try:
        text = tokenizer.apply_chat_template(turns, tokenize=False)
    except Exception:  # a template may raise anything; then it names no end of turn
        return None
    after = text.partition(marker)[2]
    ids = tokenizer(after.lstrip(), add_special_tokens=False)["input_ids"] if after.strip() else []
    special = set(getattr(tokenizer, "all_special_ids", ())) | {
        i for i, token in getattr(tokenizer, "added_tokens_decoder", {}).items() if token.special
    }
    return ids[0] if ids and ids[0] in special else None
