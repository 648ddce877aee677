"""The style sheet as a `style` element; its colours are those of the page's theme."""

from __future__ import annotations

from importlib import resources

from fcb_toolkit.widgets.markup import Html, tag


def style() -> Html:
    """For the top of a widget or the head of a page."""
    text = resources.files("fcb_toolkit.widgets").joinpath("explorer.css").read_text("utf-8")
    return tag("style", Html(text))
