"""Small pieces that several views share.

with guard: control.value = 3       # the observers see `guard.closed` and stay quiet
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ipywidgets as widgets

from fcb_toolkit.records import Generation
from fcb_toolkit.widgets.markup import Html, tag


class Guard:
    """True to its name while a view writes into its own controls."""

    def __init__(self) -> None:
        self._depth = 0

    @property
    def closed(self) -> bool:
        return self._depth > 0

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        self._depth -= 1


def html_box(cls: str = "", content: Html | None = None) -> Any:
    """A widget that holds `Html`; set it by `set_html` only."""
    box = widgets.HTML(value="" if content is None else content)
    box.add_class("fcb-html")
    if cls:
        box.add_class(cls)
    return box


def set_html(box: Any, content: Html) -> None:
    """The only way from here to the page. Refuses a plain string, which nothing has escaped."""
    if not isinstance(content, Html):
        raise TypeError(
            f"found {type(content).__name__}, expected Html; make it with markup.tag or markup.escape"
        )
    box.value = str(content)


def status(text: str, bad: bool = False) -> Html:
    """A line that a screen reader reads out when it changes."""
    return tag("p", text, cls="fcb-bad" if bad else "fcb-status-line", role="status", aria_live="polite")


def small_button(text: str, tooltip: str = "", style: str = "") -> Any:
    button = widgets.Button(
        description=text, tooltip=tooltip, button_style=style, layout=widgets.Layout(width="auto")
    )
    button.add_class("fcb-button")
    return button


def generation_controls() -> dict[str, Any]:
    """One control for each setting of `Generation` that people change."""
    known = Generation()
    controls = {
        "max_new_tokens": widgets.BoundedIntText(
            value=known.max_new_tokens, min=1, max=100_000, description="max tokens"
        ),
        "temperature": widgets.BoundedFloatText(
            value=known.temperature, min=0, max=5, step=0.1, description="temperature"
        ),
        "seed": widgets.IntText(value=known.seed, description="seed"),
    }
    label_width(controls.values())
    return controls


def label_width(controls: Iterable[Any], width: str = "8.5em") -> None:
    """Labels of one width, so that the controls stand in one line."""
    for control in controls:
        control.style.description_width = width
