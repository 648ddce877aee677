"""What a template makes of a call in history: the shape that it renders faithfully, the parser that reads it.

calls = find_calls(prober)
choose(prober, calls, words)      # FormatChoice("hermes", "a call in history reads back exactly ...")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from fcb_toolkit.rendering import formats
from fcb_toolkit.rendering.material import (
    LADDER,
    NAME,
    RICH,
    SIMPLE,
    TOOLS,
    USER,
    call_faults,
    call_message,
    result_message,
)
from fcb_toolkit.rendering.prober import Prober
from fcb_toolkit.rendering.profile import Calls
from fcb_toolkit.rendering.shapes import Shape
from fcb_toolkit.rendering.template import TemplateFailure


def find_calls(prober: Prober) -> Calls:
    """The most faithful of the shapes tried: arguments as object, string or literals, content, ids."""
    best = Calls(prober.shape)
    for arguments, content, ids in product(
        ("object", "string", "literals"), ("empty", "null", "absent"), ("given", "nine")
    ):
        shape = replace(prober.shape, content=content, arguments=arguments, ids=ids)
        found = _calls_in(prober, shape)
        if found.rank > best.rank and (arguments != "literals" or found.exact):
            best = found
        if found.strict and found.exact:
            break
    return best


def _calls_in(prober: Prober, shape: Shape) -> Calls:
    turns = [_call_turn(prober, arguments, shape) for arguments in LADDER]
    some = any(
        text is not None and not call_faults(text, arguments)
        for (text, _), arguments in zip(turns, LADDER, strict=True)
    )
    text, prompt = turns[0]
    if text is None:
        return Calls(shape, some=some)
    visible = not call_faults(text, RICH)
    found = formats.reading_formats(text, prompt, [(NAME, RICH)], TOOLS)
    if not found:
        return Calls(shape, visible=visible, text=text, some=some)
    strict = formats.reads_back(text, found[0], [(NAME, RICH)], TOOLS, strict=True)
    return Calls(shape, found[0], True, strict, visible, text, some)


def _call_turn(prober: Prober, arguments: Mapping[str, Any], shape: Shape) -> tuple[str | None, str]:
    """(the call's text cut out of the prompt, the prompt); (None, "") where the template refuses."""
    cutter = prober.cutter(shape)
    try:
        return cutter.reply(call_message(arguments)), cutter.base
    except TemplateFailure as failure:
        prober.errors.append(str(failure))
        return None, ""


def choose(prober: Prober, calls: Calls, words: str) -> formats.FormatChoice:
    """The parser of the calls: by calls in history, rich to simple, else by the template's words."""
    if calls.exact:
        how = "reads back exactly" if calls.strict else "reads back, leniently"
        return formats.FormatChoice(calls.format, f"a call in history {how} with this parser")
    for arguments in LADDER[1:]:
        text, prompt = _call_turn(prober, arguments, calls.shape)
        if text is None:
            continue
        found = formats.reading_formats(text, prompt, [(NAME, arguments)], TOOLS)
        if found:
            return formats.FormatChoice(
                found[0],
                f"a call with only {', '.join(arguments)} reads back; richer arguments are mangled",
            )
    if told := formats.told_format(words, words):
        return formats.FormatChoice(told, "the template's own words about its tools ask for it")
    if calls.some:
        return formats.FormatChoice("", "the template writes calls that no parser reads")
    if told := formats.told_format(prober.template.text, prober.template.text):
        return formats.FormatChoice(told, "the template's text holds its mark, though calls are not shown")
    return formats.FormatChoice("", "the template shows neither calls nor words about them")


def later_calls(prober: Prober, choice: formats.FormatChoice, calls: Calls) -> bool:
    """Whether a second call turn, after a result, is as faithful as the first."""
    if not choice.format:
        return False
    before = (
        USER,
        call_message({"city": "제주시"}, identity="call-obs-16"),
        result_message(identity="call-obs-16"),
    )
    turn = call_message(SIMPLE)
    try:
        text = prober.cutter(prober.shape, before).reply(turn)
        first = prober.cutter(prober.shape).reply(turn)
    except TemplateFailure:
        return False
    # Templates that number their calls differ in nothing but the number.
    alike = re.sub(r"\d+", "#", text.strip()) == re.sub(r"\d+", "#", first.strip())
    return alike and formats.reads_back(text, choice.format, [(NAME, SIMPLE)], TOOLS, strict=calls.strict)
