"""Where a template takes its tools, and what it loses of them.

find_empty_tools(prober)          # what "no tools" is to it
find_tools(prober)                # (names are shown, what is wrong with them, their text)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fcb_toolkit.rendering.material import SIMPLE_TOOLS, SYSTEM, TOOLS, USER
from fcb_toolkit.rendering.prober import Prober
from fcb_toolkit.rendering.shapes import Shape
from fcb_toolkit.rendering.tool_losses import tool_losses
from fcb_toolkit.rendering.turns import added


def find_empty_tools(prober: Prober) -> None:
    """What "no tools" is to this template, and text for a tools variable that it cannot do without."""
    if _best_empty_tools(prober) == 0:
        prober.variables |= dict.fromkeys(_tool_variables(prober), "")
        _best_empty_tools(prober)


def _best_empty_tools(prober: Prober) -> int:
    scores = []
    empties: tuple[Any, ...] = (None, [])
    for order, empty in enumerate(empties):
        prober.empty_tools = empty
        texts = [prober.attempt(m) for m in ([USER], [{"role": "system", "content": SYSTEM}, USER])]
        scores.append((sum(text is not None for text in texts), -order))
    score, order = max(scores)
    prober.empty_tools = [] if order else None
    return score


def _tool_variables(prober: Prober) -> list[str]:
    names = sorted(prober.template.variables)
    return [
        name for name in names if re.search(r"tool|function", name) and name not in ("tools", "tool_choice")
    ]


def find_tools(prober: Prober) -> tuple[bool, tuple[str, ...], str]:
    """Where the template takes its tools: (their names are shown, what is wrong with them, their text).

    Tried in turn: the argument `tools`, other variables, a key of the system message; each alone and
    with a system message, with nested and with simple schemas.
    """
    with_system = [{"role": "system", "content": SYSTEM}, USER]
    refused = False
    for shape in _tool_places(prober):
        for tools in (TOOLS, SIMPLE_TOOLS):
            for messages in ([USER], with_system):
                found = _tools_at(prober, messages, tools, shape)
                if found is None:
                    continue
                faults, region = found
                faults += () if tools is TOOLS else ("nested",)
                faults += () if messages is not with_system else ("needs_system",)
                prober.tools = tools
                return True, faults, region
        refused = refused or prober.attempt(with_system, tools=SIMPLE_TOOLS, shape=shape) is None
    prober.tools = ()
    return False, ("refused",) if refused else ("dropped",), ""


def _tools_at(
    prober: Prober, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], shape: Shape
) -> tuple[tuple[str, ...], str] | None:
    region = _region(prober, messages, tools, shape)
    losses = tool_losses(region, tools)
    if any("name" in loss.fatal for loss in losses):
        return None
    walked = not all(loss.json for loss in losses) and repr(tools[0]["function"]) not in region
    prober.shape = replace(shape, schemas="flat") if walked else shape
    return tuple(dict.fromkeys(f for loss in losses for f in (*loss.fatal, *loss.missing))), region


def _region(prober: Prober, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], shape: Shape) -> str:
    """The text that these tools add to the conversation."""
    with_tools = prober.attempt(messages, tools=tools, shape=shape)
    return "" if with_tools is None else added(prober.attempt(messages), with_tools)


def _tool_places(prober: Prober) -> list[Shape]:
    places = [prober.shape]
    for name in _tool_variables(prober):
        places += [replace(prober.shape, tools=name, variables=form) for form in ("text", "list")]
    if "['tools']" in prober.template.text and prober.shape.system == "system":
        places.append(replace(prober.shape, tools="system.tools"))
    return places
