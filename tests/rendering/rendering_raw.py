"""Renders with transformers alone, for checks that must not lean on the toolkit's own probing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transformers.utils.chat_template_utils import render_jinja_template

NINE = "abcdefgh1"
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "book_room",
            "description": "회의실을 잡는다.",
            "parameters": {
                "type": "object",
                "properties": {"place": {"type": "string", "description": "어느 곳"}},
                "required": ["place"],
            },
        },
    }
]
SYSTEM = {"role": "system", "content": "비서로서 답하라."}
ASK = {"role": "user", "content": "회의실 잡아 줘"}
RESULT_TEXT = "예약했습니다 7층"


def raw(text: str, messages: list[dict[str, Any]], tools: Any = None, **variables: Any) -> str | None:
    """The prompt, or None where the template refuses."""
    # One template cannot render without the last two, whatever the conversation.
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "functions": "", "datetime": ""}
    try:
        rendered: Any = render_jinja_template(
            conversations=[messages], tools=tools, chat_template=text, **{**tokens, **variables}
        )
    except Exception:
        return None
    return str(rendered[0][0])


def call(place: Any, *, identity: str = NINE, content: Any = "", string: bool = False) -> dict[str, Any]:
    """An assistant turn; `content=...` leaves the key out."""
    arguments: Any = {"place": place}
    if string:
        arguments = json.dumps(arguments, ensure_ascii=False)
    function = {"name": "book_room", "arguments": arguments}
    turn = {"role": "assistant", "tool_calls": [{"id": identity, "type": "function", "function": function}]}
    return turn if content is ... else {**turn, "content": content}


def result(text: Any = RESULT_TEXT, identity: str = NINE) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "name": "book_room", "content": text}


def shapes() -> Iterator[tuple[Any, bool]]:
    """(content of a call turn, arguments as a string)."""
    yield from itertools.product(("", None, ...), (False, True))


def templates(shared: Path) -> dict[str, str]:
    return {
        path.stem: path.read_text(encoding="utf-8") for path in sorted((shared / "templates").glob("*.jinja"))
    }
