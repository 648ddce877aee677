"""`choose_format`: the parser of the replies to prompts with tools."""

from __future__ import annotations

from typing import Any

from fcb_toolkit.rendering.formats import PROMPT_FORMAT, FormatChoice
from fcb_toolkit.rendering.material import TOOLS, USER
from fcb_toolkit.rendering.messages import ConversationError
from fcb_toolkit.rendering.prompts import candidates, render
from fcb_toolkit.rendering.template import load_template


def choose_format(template: Any) -> FormatChoice:
    """The parser that `render` names for a first question with tools, and why.

    Read off the template: what it writes for a call in history, else what its own words about tools ask
    for; `plain_json` where tools have to be written as text.
    """
    loaded = load_template(template)
    try:
        rendered = render([USER], candidates(loaded, True)[0].tools or TOOLS, loaded)
    except ConversationError as error:
        return FormatChoice(PROMPT_FORMAT, str(error))
    for profile in candidates(loaded, True):
        if profile.format.format == rendered.format:
            return profile.format
    why = next(
        (note for note in rendered.notes if "plain JSON" in note or "prompt mode" in note), "prompt mode"
    )
    return FormatChoice(PROMPT_FORMAT, why)
