"""Constrained decoding: a reply is a valid call of an offered tool, or plain text (extra `constrain`).

It separates failures of format from failures of choice: what is still wrong under constraint is the choice.
xgrammar compiles the tools' schemas into a grammar over the model's own tokens. Formats that write calls as
JSON are covered; for the others `load_model(..., mode="prompt")` gives one that is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from fcb_toolkit.errors import MissingExtra, ModelError
from fcb_toolkit.records import Rendered, Tool, tool_name, tool_parameters

if TYPE_CHECKING:
    from fcb_toolkit.models.huggingface import HuggingFaceModel

Format = dict[str, Any]
"""A part of an xgrammar structural tag."""

NO_BRACES = r"[^{\[]*"
"""Plain text where a call is bare JSON: a brace would begin one."""


def _schema(tool: Tool) -> Format:
    schema = dict(tool_parameters(tool)) or {"type": "object", "properties": {}}
    schema.setdefault("type", "object")
    schema.setdefault("additionalProperties", False)
    return {"type": "json_schema", "json_schema": schema}


def _call(tool: Tool, key: str) -> Format:
    """One call as a JSON object with the keys `name` and `key`."""
    begin = f'{{"name": {json.dumps(tool_name(tool), ensure_ascii=False)}, "{key}": '
    return {"type": "tag", "begin": begin, "content": _schema(tool), "end": "}"}


def _bare(key: str, tools: Sequence[Tool]) -> Format:
    """A bare JSON object, a list of them, or text without braces."""
    call = _either([_call(tool, key) for tool in tools])
    listed = {
        "type": "tag",
        "begin": "[",
        "content": {"type": "tags_with_separator", "tags": [_call(t, key) for t in tools], "separator": ", ",
                    "at_least_one": True},
        "end": "]",
    }  # fmt: skip
    return _either([call, listed, {"type": "regex", "pattern": NO_BRACES}])


def _tagged(begin: str, end: str, tools: Sequence[Tool]) -> Format:
    """Text in which each `begin` starts a JSON object with `name` and `arguments`."""
    tags = []
    for tool in tools:
        call = _call(tool, "arguments")
        tags.append({**call, "begin": begin + call["begin"], "end": call["end"] + end})
    return {"type": "triggered_tags", "triggers": [begin.strip()], "tags": tags}


def _either(elements: list[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": elements}


FORMATS: Mapping[str, Callable[[Sequence[Tool]], Format]] = {
    "plain_json": partial(_bare, "arguments"),
    "llama3_json": partial(_bare, "parameters"),
    "hermes": partial(_tagged, "<tool_call>\n", "\n</tool_call>"),
}
"""Parser -> grammar of its replies."""


class Constraints:
    """The grammars of one model; each set of tools is compiled once."""

    def __init__(self, owner: HuggingFaceModel) -> None:
        try:
            import xgrammar
        except ImportError:
            raise MissingExtra("xgrammar", "constrain", "constrain='tools'") from None
        self._xgrammar = xgrammar
        self.vocabulary = owner.model.config.get_text_config().vocab_size
        self._stop_ids = list(owner.stop_ids)
        about = xgrammar.TokenizerInfo.from_huggingface(
            owner.tokenizer, vocab_size=self.vocabulary, stop_token_ids=self._stop_ids
        )
        self._compiler = xgrammar.GrammarCompiler(about)
        self._compiled: dict[str, Any] = {}

    def matcher(self, rendered: Rendered) -> Any | None:
        """A fresh matcher for one reply; None where no tools are offered and all text is right."""
        if not rendered.tools:
            return None
        if rendered.format not in FORMATS:
            raise ModelError(
                f"constrain='tools' knows {', '.join(FORMATS)}, this model writes {rendered.format}; "
                "load it with mode='prompt', which has it write plain_json"
            )
        tag = {"type": "structural_tag", "format": FORMATS[rendered.format](rendered.tools)}
        text = json.dumps(tag, ensure_ascii=False)
        if text not in self._compiled:
            try:
                self._compiled[text] = self._compiler.compile_structural_tag(text)
            except Exception as error:  # the library raises types of its own for a schema it cannot express
                names = ", ".join(map(tool_name, rendered.tools))
                raise ModelError(f"constrain='tools': no grammar for the tools {names}: {error}") from error
        return self._xgrammar.GrammarMatcher(self._compiled[text], override_stop_tokens=self._stop_ids)

    def mask(self, logits: torch.Tensor, matchers: Sequence[Any | None]) -> torch.Tensor:
        """`logits` (rows, vocabulary) with every token that would break a row's grammar at minus infinity."""
        bits = self._xgrammar.allocate_token_bitmask(len(matchers), self.vocabulary)
        bound = [row for row, matcher in enumerate(matchers) if matcher is not None]
        for row in bound:
            matchers[row].fill_next_token_bitmask(bits, row)  # type: ignore[union-attr]
        if bound:
            self._xgrammar.apply_token_bitmask_inplace(logits, bits.to(logits.device), indices=bound)
        return logits
