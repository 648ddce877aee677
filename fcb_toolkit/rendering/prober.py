"""The state of one pass of probes over one template, and how a probe is rendered.

    prober = Prober(template)
    prober.attempt([{"role": "user", "content": "..."}])     # the text, or None where the template refuses

Each step (`find_tools`, `find_calls`, `find_results`) uses what the steps before found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.rendering.material import COMPANIONS, USER
from fcb_toolkit.rendering.messages import Conversation
from fcb_toolkit.rendering.shapes import Shape, Texts, apply
from fcb_toolkit.rendering.template import Template, TemplateFailure
from fcb_toolkit.rendering.turns import Cutter


class Prober:
    """`shape`, `tools`, `empty_tools` and `variables` are set as they are found; `errors` collects refusals."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.errors: list[str] = []
        self.variables = {
            name: value
            for name, value in COMPANIONS.items()
            if value is not None and name in template.variables
        }
        self.empty_tools: Any = None
        self.shape = Shape()
        self.tools: Sequence[dict[str, Any]] = ()

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[dict[str, Any]] = (),
        shape: Shape | None = None,
        generation: bool = False,
    ) -> str:
        conversation = Conversation(tuple(dict(message) for message in messages), tuple(tools))
        given = apply(shape or self.shape, conversation, Texts(empty_tools=self.empty_tools))
        variables = {**self.variables, **given.variables}
        return self.template.render(
            given.messages, given.tools, add_generation_prompt=generation, variables=variables
        )

    def attempt(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> str | None:
        """The text, or None (and the reason in `errors`) where the template refuses."""
        try:
            return self.render(messages, **options)
        except TemplateFailure as failure:
            self.errors.append(str(failure))
            return None

    def cutter(self, shape: Shape, before: Sequence[Mapping[str, Any]] = (USER,)) -> Cutter:
        return Cutter(
            lambda messages, generation: self.render(
                messages, tools=self.tools, shape=shape, generation=generation
            ),
            tuple(before),
        )
