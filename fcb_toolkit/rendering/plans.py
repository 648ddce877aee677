"""The ways in which one conversation can be put to one template, best first.

for plan in native_plans(profile, conversation, "auto"): ...
prompt_plan(profile)                # what always remains
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from fcb_toolkit.rendering import formats
from fcb_toolkit.rendering.messages import Conversation
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.shapes import PROMPT_MODE, Shape

MAX_FIXES = 4
"""How many changes at once are tried; no template at hand needs more than two."""


@dataclass(frozen=True)
class Plan:
    """One way: the shape, the parser of the reply, and how the reply's form is asked for."""

    shape: Shape
    mode: str
    format: str
    asks: str = ""
    """How a call is asked for: "" (by the template itself), `native` (by its own example) or `plain`."""
    why: tuple[str, ...] = ()


def native_plans(profile: Profile, conversation: Conversation, mode: str) -> Iterator[Plan]:
    """The template's own tools and calls; then, but for mode "native", tools as text beside native calls."""
    yield from _native(profile, conversation)
    if conversation.tools and mode != "native":
        yield from _tools_as_text(profile)


def prompt_plan(profile: Profile) -> Plan:
    """Tools and history as text."""
    system = "system" if profile.system else "user"
    shape = replace(PROMPT_MODE, system=system, text=profile.shape.text)
    return Plan(shape, "prompt", formats.PROMPT_FORMAT, "plain")


def why_not_native(profile: Profile, refusal: str) -> str:
    """Why prompt mode, in one sentence; `refusal` is what stood in the way of this conversation."""
    if not profile.shows_tools:
        return f"prompt mode: the template does not show the tools ({', '.join(profile.tool_faults)})"
    if not profile.format.format:
        return f"prompt mode: {profile.format.reason}"
    return f"prompt mode: the template cannot show this conversation as it is ({refusal})"


def _native(profile: Profile, conversation: Conversation) -> Iterator[Plan]:
    shape = profile.shape
    format = profile.format.format
    calls = any(message.get("tool_calls") for message in conversation.messages)
    if not conversation.tools:
        plain = Plan(shape, "native", format or formats.PROMPT_FORMAT)
        yield plain
        if calls and format in formats.WRITERS:
            yield replace(plain, shape=replace(shape, calls="content"))
        return
    if not profile.shows_tools:
        return
    if not format:
        if not profile.calls.some:
            asked = ("the template shows no form of a call: the reply is asked for as plain JSON",)
            yield Plan(replace(shape, calls="content"), "native", formats.PROMPT_FORMAT, "plain", asked)
        return
    for variant, why in _tool_variants(shape, conversation):
        if profile.calls.exact or profile.calls.some or not calls:
            yield Plan(variant, "native", format, why=why)
        if calls and format in formats.WRITERS:
            written = replace(variant, calls="content")
            said = (
                "calls in the history are written into the content: the template does not show them exactly"
            )
            yield Plan(written, "native", format, why=(*why, said))
            results = "tool results are user turns"
            yield Plan(replace(written, results="user"), "native", format, why=(*why, said, results))


def _tool_variants(shape: Shape, conversation: Conversation) -> Iterator[tuple[Shape, tuple[str, ...]]]:
    """The shape, and then with schemas made flat or descriptions escaped, where these tools could need it."""
    dumped = json.dumps([tool["function"] for tool in conversation.tools], ensure_ascii=False)
    loose = re.search(r'"type": \[|"\$ref"|"anyOf"|"oneOf"', dumped) is not None
    schemas = ["given", "flat"] if loose and shape.schemas == "given" else [shape.schemas]
    if shape.schemas == "flat":
        schemas.append("full")
    for escapes in ("none", "tool", "all") if "\\" in dumped else ("none",):
        for schema in schemas:
            why = () if schema == shape.schemas else ("schemas are flattened: the template fails on them",)
            escaped = (
                () if escapes == "none" else ("descriptions are escaped: the template builds JSON by hand",)
            )
            yield replace(shape, schemas=schema, escapes=escapes), (*why, *escaped)


def _tools_as_text(profile: Profile) -> Iterator[Plan]:
    """Tools in the system text, calls and results through the template."""
    shape = replace(profile.shape, tools="text", escapes="none", schemas="given")
    fault = ", ".join(profile.tool_faults) or "as they are"
    said = f"tools are written into the system text: the template does not show them ({fault})"
    if profile.calls.exact and profile.calls.strict and profile.later_calls:
        yield Plan(shape, "prompt", profile.format.format, "native", (said,))
    elif (
        profile.calls.some and not profile.names_tools and not (profile.calls.exact and profile.calls.strict)
    ):
        more = f"the reply is asked for as plain JSON: {profile.format.reason}"
        yield Plan(shape, "prompt", formats.PROMPT_FORMAT, "plain", (said, more))


def fixes(plan: Plan, conversation: Conversation) -> Iterator[Shape]:
    """The plan's shape with every set of changes that this conversation could need, smallest first.

    The order depends on the conversation alone: a prompt must not depend on what was rendered before.
    """
    relevant = relevant_fixes(plan, conversation)
    for size in range(min(len(relevant), MAX_FIXES) + 1):
        for chosen in combinations(relevant, size):
            shape = replace(plan.shape, fixes=chosen)
            yield replace(shape, system="user") if "move_system" in chosen else shape


def relevant_fixes(plan: Plan, conversation: Conversation) -> tuple[str, ...]:
    """Which changes could matter for this conversation at all."""
    messages = conversation.messages
    roles = [message["role"] for message in messages]
    pairs = list(pairwise(roles))
    opening = [role for role in roles if role != "system"][:1]
    called = [message for message in messages if message.get("tool_calls")]
    users = [message["content"] for message in messages if message["role"] == "user"]
    as_text = plan.shape.results == "user"
    native = plan.shape.calls == "template"
    found = {
        "split": native and any(len(message["tool_calls"]) > 1 for message in called),
        "join": any(a == b and a != "tool" for a, b in pairs) or (as_text and ("tool", "user") in pairs),
        "between": (not as_text and ("tool", "user") in pairs) or opening not in (["user"], []),
        "distinct": bool(conversation.tools) and plan.shape.tools == "tools" and len(users) > len(set(users)),
        "system": bool(conversation.tools) and plan.shape.tools == "tools" and "system" not in roles,
        "nine": plan.shape.ids == "given"
        and any(len(call["id"]) != 9 for m in called for call in m["tool_calls"]),
        "beside": native and any(message["content"] for message in called),
        "move_system": plan.shape.system == "system" and ("system" in roles or bool(plan.asks)),
    }
    return tuple(name for name, matters in found.items() if matters)
