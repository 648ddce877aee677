"""Whether the calls of a conversation's history survive: rendered, cut out again, and read by the parser."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fcb_toolkit.rendering import formats
from fcb_toolkit.rendering.losses import shows_call
from fcb_toolkit.rendering.material import USER, result_message
from fcb_toolkit.rendering.messages import Conversation
from fcb_toolkit.rendering.plans import Plan
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.shapes import Shape, Texts
from fcb_toolkit.rendering.template import TemplateFailure
from fcb_toolkit.rendering.turns import Cutter


def call_losses(profile: Profile, plan: Plan, shape: Shape, conversation: Conversation) -> list[str]:
    """Calls of the history that cannot be read back from what the template makes of them."""
    lost = []
    tools = json.dumps(list(conversation.tools), ensure_ascii=False)
    later = False
    for index, message in enumerate(conversation.messages):
        calls = message.get("tool_calls")
        if not calls:
            continue
        groups = [[call] for call in calls] if "split" in shape.fixes else [calls]
        for group in groups:
            text = json.dumps(group, ensure_ascii=False)
            if not _carries(profile, plan, shape, text, tools, later):
                lost.append(f"the exact call in messages[{index}]")
        later = True
    return lost


def _carries(profile: Profile, plan: Plan, shape: Shape, calls: str, tools: str, later: bool) -> bool:
    if shape.calls == "content":
        written = formats.WRITERS[plan.format](json.loads(calls))
        return formats.writes_back(plan.format, written, calls, tools)
    try:
        turn = call_turn(profile, shape, calls, later)
    except TemplateFailure:
        return False
    if profile.format.format:
        return formats.writes_back(profile.format.format, turn, calls, tools)
    return all(shows_call(turn, call) for call in json.loads(calls))


_TURNS: dict[tuple[str, str, str, bool], str] = {}


def call_turn(profile: Profile, shape: Shape, calls: str, later: bool) -> str:
    """The text of one call turn, alone or after an earlier call and its result; cached."""
    key = (profile.template.sha256, str(shape), calls, later)
    if key not in _TURNS:
        if len(_TURNS) > 8192:
            _TURNS.clear()
        plain = replace(shape, fixes=tuple(fix for fix in shape.fixes if fix == "nine"))

        def put(messages: Sequence[Mapping[str, Any]], generation: bool) -> str:
            conversation = Conversation(tuple(dict(message) for message in messages), ())
            return profile.put(plain, conversation, Texts(), add_generation_prompt=generation)[0]

        first = {"id": "call00009", "type": "function", "function": {"name": "earlier", "arguments": {}}}
        before: list[Mapping[str, Any]] = [USER]
        if later:
            before += [
                {"role": "assistant", "content": "", "tool_calls": [first]},
                result_message("1", "call00009", "earlier"),
            ]
        turn = {"role": "assistant", "content": "", "tool_calls": json.loads(calls)}
        _TURNS[key] = Cutter(put, tuple(before)).reply(turn)
    return _TURNS[key]
