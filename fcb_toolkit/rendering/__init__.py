"""Messages and tools -> the prompt that a chat template makes of them.

rendered = render(messages, tools, tokenizer)
rendered.prompt, rendered.shape, rendered.format, rendered.notes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.records import Rendered
from fcb_toolkit.rendering.function_schema import function_schema
from fcb_toolkit.rendering.messages import ConversationError, prepare
from fcb_toolkit.rendering.prompt_mode import reply_text, tools_text
from fcb_toolkit.rendering.shapes import PROMPT_MODE, Shape, Texts, apply
from fcb_toolkit.rendering.template import Template, TemplateFailure, load_template

__all__ = ["ConversationError", "Template", "TemplateFailure", "function_schema", "load_template", "render"]


def render(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Any] | None,
    template: Any,
    *,
    mode: str = "auto",
    language: str = "ko",
    enable_thinking: bool | None = None,
    add_generation_prompt: bool = True,
) -> Rendered:
    """The prompt for these messages and tools."""
    chosen = load_template(template)
    conversation = prepare(messages, tools)
    variables = {} if enable_thinking is None else {"enable_thinking": enable_thinking}
    shape = Shape()
    prompt = ""
    if conversation.tools and mode != "prompt":
        given = apply(shape, conversation, Texts())
        try:
            prompt = chosen.render(given.messages, given.tools, variables=variables)
        except TemplateFailure:
            prompt = ""
    native = all(tool["function"]["name"] in prompt for tool in conversation.tools) if prompt else False
    if not native:
        shape = PROMPT_MODE
        system = "\n\n".join([tools_text(conversation.tools, language), reply_text(language)])
        given = apply(shape, conversation, Texts(system if conversation.tools else "", language))
        prompt = chosen.render(
            given.messages, None, variables=variables, add_generation_prompt=add_generation_prompt
        )
    return Rendered(
        prompt,
        str(shape),
        conversation.notes,
        "native" if native else "prompt",
        "hermes" if native else "plain_json",
        tuple(given.messages),
        tuple(given.tools or ()),
    )
