"""Messages and tools -> the prompt that a chat template makes of them.

rendered = render(messages, tools, tokenizer)
rendered.prompt, rendered.shape, rendered.format, rendered.notes
"""

from fcb_toolkit.rendering.audit import TemplateAudit, audit_template, describe
from fcb_toolkit.rendering.checks import Finding
from fcb_toolkit.rendering.choice import choose_format
from fcb_toolkit.rendering.formats import FormatChoice
from fcb_toolkit.rendering.function_schema import function_schema
from fcb_toolkit.rendering.messages import ConversationError
from fcb_toolkit.rendering.prompts import render
from fcb_toolkit.rendering.template import Template, TemplateFailure, load_template

__all__ = [
    "ConversationError",
    "Finding",
    "FormatChoice",
    "Template",
    "TemplateAudit",
    "TemplateFailure",
    "audit_template",
    "choose_format",
    "describe",
    "function_schema",
    "load_template",
    "render",
]
