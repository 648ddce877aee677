"""Cutting one assistant turn out of a prompt: what the model itself would have written.

cutter = Cutter(template.render, user_turn)
cutter.reply(call_message)      # '<tool_call>\n{"name": ...}\n</tool_call>'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fcb_toolkit.rendering.template import TemplateFailure

MARK = "대답표시XQ7"
Render = Callable[[Sequence[Mapping[str, Any]], bool], str]
"""(messages, add_generation_prompt) -> text, or TemplateFailure."""


def shared_length(a: str, b: str) -> int:
    """How many characters two texts share at their beginning."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True)
class Cutter:
    """Cuts the turns of one template after `before`, the messages that precede the turn."""

    render: Render
    before: tuple[Mapping[str, Any], ...]

    @cached_property
    def base(self) -> str:
        return self.render(self.before, False)

    @cached_property
    def generation_prompt(self) -> str:
        """What `add_generation_prompt` adds ("" where it adds nothing)."""
        with_prompt = self.render(self.before, True)
        return with_prompt[shared_length(self.base, with_prompt) :]

    @cached_property
    def text_turn(self) -> tuple[str, str]:
        """What stands around the text of a plain assistant turn; ("", "") where it is not shown."""
        try:
            full = self.render([*self.before, {"role": "assistant", "content": MARK}], False)
        except TemplateFailure:
            return "", ""
        head, found, tail = full.rpartition(MARK)
        if not found:
            return "", ""
        return head[shared_length(self.base, head) :], tail

    def whole(self, *turns: Mapping[str, Any]) -> str:
        """All that these turns add to the prompt."""
        full = self.render([*self.before, *turns], False)
        return full[shared_length(self.base, full) :]

    def reply(self, turn: Mapping[str, Any]) -> str:
        """The turn without its header and end, as the model writes it."""
        rest = self.whole(turn)
        head, tail = self.text_turn
        heads = [*_shortened(self.generation_prompt), *_shortened(head)]
        start = max((len(h) for h in heads if rest.startswith(h)), default=0)
        rest = rest[start:]
        return rest[: -len(tail)] if tail and rest.endswith(tail) else rest.rstrip("\n")


def _shortened(head: str) -> list[str]:
    """The header, whole and without what may follow it (an opened reasoning block, a final channel)."""
    return [head, *(head[: match.start()] for match in re.finditer("<", head) if match.start())]


def added(without: str | None, with_tools: str) -> str:
    """What `with_tools` has between the beginning and the end that it shares with `without`."""
    if without is None:
        return with_tools
    start = shared_length(without, with_tools)
    rest, other = with_tools[start:], without[start:]
    end = shared_length(rest[::-1], other[::-1])
    return rest[: len(rest) - end] if end else rest
