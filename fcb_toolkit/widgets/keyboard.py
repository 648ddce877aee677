"""The keys of the explorer: `n`, `p`, `f`, `u` while it has the focus.

Keyboard(lambda command: print(command))     # "next", "previous", "next_failure" or "undo"
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget

COMMANDS = ("next", "previous", "next_failure", "undo")


class Keyboard(anywidget.AnyWidget):
    """Draws nothing. Where a page runs no JavaScript of ours, the buttons do the same."""

    _esm = Path(__file__).with_name("keyboard.js")

    def __init__(self, on_command: Callable[[str], None]) -> None:
        super().__init__()
        self._on_command = on_command
        self.on_msg(self._received)

    def _received(self, widget: Any, content: Any, buffers: Any) -> None:
        command = content.get("command") if isinstance(content, dict) else None
        if command in COMMANDS:
            self._on_command(command)
