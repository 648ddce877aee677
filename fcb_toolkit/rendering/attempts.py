"""One way of rendering one conversation, and what it loses.

attempt = Work(profile, plan, conversation, Options()).best(refusals=[])
attempt.prompt, attempt.lost        # lost is () where the prompt shows everything
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fcb_toolkit.rendering import formats, prompt_mode
from fcb_toolkit.rendering.history import call_losses, call_turn
from fcb_toolkit.rendering.losses import conversation_losses, printed_twice
from fcb_toolkit.rendering.messages import Conversation
from fcb_toolkit.rendering.plans import Plan, fixes
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.shapes import Given, Shape, Texts
from fcb_toolkit.rendering.template import Template, TemplateFailure
from fcb_toolkit.rendering.tool_losses import reserved_losses, tool_losses, without_reserved
from fcb_toolkit.rendering.turns import added

THINKING = ("enable_thinking", "thinking", "force_reasoning")
"""Variables by which templates switch reasoning on; `skip_reasoning` is its opposite."""


@dataclass(frozen=True)
class Options:
    """How to render; see `render`."""

    mode: str = "auto"
    language: str = "ko"
    enable_thinking: bool | None = None
    add_generation_prompt: bool = True


@dataclass(frozen=True)
class Attempt:
    """One rendering of a conversation, and what it lost. `details` are the tools that are said again."""

    prompt: str
    given: Given
    plan: Plan
    shape: Shape
    lost: tuple[str, ...]
    details: tuple[Mapping[str, Any], ...] = ()


def thinking(template: Template, options: Options) -> dict[str, bool]:
    """The variables of the template that switch reasoning, set as asked."""
    if options.enable_thinking is None:
        return {}
    variables = {name: options.enable_thinking for name in THINKING if name in template.variables}
    if "skip_reasoning" in template.variables:
        variables["skip_reasoning"] = not options.enable_thinking
    return variables


@dataclass(frozen=True)
class Work:
    """A conversation on its way through one template by one plan."""

    profile: Profile
    plan: Plan
    conversation: Conversation
    options: Options

    def best(self, refusals: list[str]) -> Attempt | None:
        """The first set of changes that loses nothing, else the one that loses least; None where the
        template refuses them all (its words go to `refusals`)."""
        best: Attempt | None = None
        for shape in fixes(self.plan, self.conversation):
            try:
                attempt = self.attempt(shape)
            except TemplateFailure as failure:
                refusals.append(str(failure))
                continue
            if not attempt.lost:
                return attempt
            if best is None or len(attempt.lost) < len(best.lost):
                best = attempt
        return best

    def attempt(self, shape: Shape) -> Attempt:
        """Renders in this shape and looks for what is missing; `TemplateFailure` where it is refused."""
        texts = self.texts
        prompt, given = self.put(shape, texts)
        lost = [
            *call_losses(self.profile, self.plan, shape, self.conversation),
            *conversation_losses(prompt, self.conversation),
        ]
        details: list[Mapping[str, Any]] = []
        if self.conversation.tools and shape.tools != "text":
            fatal, details = self._tool_faults(shape, prompt, given)
            lost += fatal
        if details and not lost:
            more = prompt_mode.details_text(details, self.options.language)
            texts = replace(texts, system="\n\n".join(part for part in (texts.system, more) if part))
            prompt, given = self.put(shape, texts)
            lost += conversation_losses(prompt, self.conversation)
            lost += [] if more in prompt else ["the further details on the tools"]
        elif texts.system and texts.system not in prompt:
            lost.append("the text about the tools")
        if shape.calls == "content":
            lost += self._unwritten(prompt)
        return Attempt(prompt, given, self.plan, shape, tuple(lost), tuple(details))

    def _unwritten(self, prompt: str) -> list[str]:
        """Calls written into the content of which the template shows another text."""
        turns = [message["tool_calls"] for message in self.conversation.messages if "tool_calls" in message]
        written = [self.texts.write_calls(calls) for calls in turns]
        return ["a call written into the content" for text in written if text not in prompt]

    def put(
        self, shape: Shape, texts: Texts, tools: Sequence[dict[str, Any]] | None = None
    ) -> tuple[str, Given]:
        """The prompt in this shape; `tools` in place of the conversation's own."""
        conversation = self.conversation if tools is None else replace(self.conversation, tools=tuple(tools))
        switches = thinking(self.profile.template, self.options)
        profile = (
            replace(self.profile, variables={**self.profile.variables, **switches})
            if switches
            else self.profile
        )
        return profile.put(
            shape, conversation, texts, add_generation_prompt=self.options.add_generation_prompt
        )

    @cached_property
    def texts(self) -> Texts:
        """What goes into the system message beside the conversation's own text."""
        language, tools = self.options.language, self.conversation.tools
        parts = []
        if tools and self.plan.shape.tools == "text":
            parts.append(prompt_mode.tools_text(tools, language))
        if tools and self.plan.asks == "plain":
            parts.append(prompt_mode.reply_text(language))
        if tools and self.plan.asks == "native":
            parts.append(prompt_mode.native_text(self._example(), language))
        writer = formats.WRITERS.get(self.plan.format, prompt_mode.calls_text)
        return Texts("\n\n".join(parts), language, writer)

    def _example(self) -> str:
        """A call in the template's own form."""
        function = {"name": "tool_name", "arguments": {"parameter": "value"}}
        call = {"id": "call00001", "type": "function", "function": function}
        return call_turn(self.profile, self.plan.shape, json.dumps([call]), False).strip()

    def _region(self, shape: Shape, tools: Sequence[dict[str, Any]]) -> str:
        """The text that these tools add to the prompt."""
        with_tools, _ = self.put(shape, self.texts, tools)
        try:
            return added(self.put(shape, self.texts, ())[0], with_tools)
        except TemplateFailure:
            return with_tools

    def _tool_faults(
        self, shape: Shape, prompt: str, given: Given
    ) -> tuple[list[str], list[Mapping[str, Any]]]:
        """(what of the tools is lost for good, the tools of which details are missing)."""
        tools = self.conversation.tools
        dumped = [json.dumps(tool["function"], ensure_ascii=False) for tool in tools]
        if all(prompt.count(text) == 1 for text in dumped):
            return [], []
        region = self._region(shape, tools)
        losses = tool_losses(region, tools)
        fatal = [f"{', '.join(loss.fatal)} of the tool {loss.name!r}" for loss in losses if loss.fatal]
        if printed_twice(prompt, given.tools or ()):
            fatal.append("the tools are printed twice")
        if (
            not fatal
            and not all(loss.json for loss in losses)
            and (cut := without_reserved(tools)) is not None
        ):
            names = reserved_losses(region, self._region(shape, cut), tools)
            fatal += [f"the parameter {name!r}" for name in names]
        return fatal, [tool for tool, loss in zip(tools, losses, strict=True) if loss.missing]
