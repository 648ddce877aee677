"""`Profile`: the facts about one template that rendering works with. `probe` finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fcb_toolkit.rendering import formats
from fcb_toolkit.rendering.messages import Conversation
from fcb_toolkit.rendering.shapes import Given, Shape, Texts, apply
from fcb_toolkit.rendering.template import Template


@dataclass(frozen=True)
class Calls:
    """What the template makes of a call in history."""

    shape: Shape
    format: str = ""
    exact: bool = False
    """A parser gives back exactly the name and the arguments of the richest call."""
    strict: bool = False
    visible: bool = False
    """The name and every key and value are in the text, unmangled."""
    text: str = ""
    """The richest call as the template writes it."""
    some: bool = False
    """At least simple arguments are shown unmangled."""

    @property
    def rank(self) -> tuple[bool, ...]:
        """How faithful: the more true from the left, the better."""
        return self.exact and self.strict, self.exact, self.visible, self.some


@dataclass(frozen=True)
class Profile:
    """The facts about one template."""

    template: Template
    shape: Shape
    format: formats.FormatChoice
    names_tools: bool
    """The tools' names come out somewhere in the prompt, whatever else is lost."""
    tool_faults: tuple[str, ...]
    tools: tuple[Mapping[str, Any], ...]
    """The probe tools that the template can print: all, those without nested objects, or none."""
    calls: Calls
    shows_results: bool
    result_fault: str
    system: bool
    empty_tools: Any
    variables: Mapping[str, Any]
    generation_prompt: str
    tool_words: str
    """The text that tools add to the prompt, for two small tools."""
    starts_answers: bool
    """Without a generation prompt too, the prompt ends where the text of an answer begins."""
    later_calls: bool
    """A second call turn, after a result, is as faithful as the first."""
    errors: tuple[str, ...] = ()

    @property
    def shows_tools(self) -> bool:
        """The tools are shown well enough to be used."""
        return self.names_tools and not FATAL.intersection(self.tool_faults)

    def put(
        self, shape: Shape, conversation: Conversation, texts: Texts, *, add_generation_prompt: bool = True
    ) -> tuple[str, Given]:
        """Renders a conversation in a shape; `TemplateFailure` where the template refuses it."""
        given = apply(shape, conversation, replace(texts, empty_tools=self.empty_tools))
        prompt = self.template.render(
            given.messages,
            given.tools,
            add_generation_prompt=add_generation_prompt,
            variables={**self.variables, **given.variables},
        )
        return prompt, given


FATAL = frozenset({"name", "parameters", "types", "json", "html"})
