"""`render`: the prompt for a conversation, checked against the conversation before it is given back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.records import Rendered
from fcb_toolkit.rendering import formats, prompt_mode
from fcb_toolkit.rendering.history import call_losses, call_turn
from fcb_toolkit.rendering.losses import conversation_losses, printed_twice
from fcb_toolkit.rendering.messages import Conversation, ConversationError, prepare
from fcb_toolkit.rendering.plans import (
    Plan,
    fixes,
    native_plans,
    prompt_plan,
    why_not_native,
)
from fcb_toolkit.rendering.probe import Profile, probe
from fcb_toolkit.rendering.shapes import FIXES, Given, Shape, Texts
from fcb_toolkit.rendering.template import Template, TemplateFailure, load_template
from fcb_toolkit.rendering.tool_losses import tool_losses
from fcb_toolkit.rendering.turns import added

MODES = ("auto", "native", "prompt")
THINKING = ("enable_thinking", "thinking", "force_reasoning")
"""Variables by which templates switch reasoning on; `skip_reasoning` is its opposite."""


@dataclass(frozen=True)
class Options:
    """How to render."""

    mode: str = "auto"
    language: str = "ko"
    enable_thinking: bool | None = None
    add_generation_prompt: bool = True


@dataclass(frozen=True)
class Attempt:
    """One rendering of a conversation, and what it lost."""

    prompt: str
    given: Given
    plan: Plan
    shape: Shape
    lost: tuple[str, ...]
    details: tuple[Mapping[str, Any], ...] = ()


def render(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Any] | None,
    template: Any,
    *,
    mode: str = "auto",
    language: str = "ko",
    enable_thinking: bool | None = None,
    add_generation_prompt: bool = True,
) -> Rendered:
    """The prompt for these messages and tools, as the template renders them faithfully.

    `template`: a transformers tokenizer, Jinja text, a path (.jinja, tokenizer_config.json, model folder)
    or what `load_template` gives. `tools` may hold Python functions or their source. `mode`: `auto`
    (native where the template can carry this conversation, else as text), `native` or `prompt`.
    `language` ("ko", "en") of the text that prompt mode writes. `enable_thinking` goes to the template's
    own switch.

    `Rendered.shape` names the message shape, `format` the parser of the reply, `notes` what was changed
    and why, and what could not be shown. The text carries the BOS token at most once: tokenise it with
    `add_special_tokens=False`. Raises `ConversationError` (a `DataError` and a `ValueError`) for messages
    that cannot be read and for a template that refuses them in every shape.
    """
    if mode not in MODES:
        raise UnknownName("rendering mode", mode, MODES)
    prompt_mode.words(language)
    options = Options(mode, language, enable_thinking, add_generation_prompt)
    conversation = prepare(messages, tools)
    loaded = load_template(template)
    chosen = _choose(loaded, conversation, options)
    return _rendered(*chosen, conversation, options)


def _choose(template: Template, conversation: Conversation, options: Options) -> tuple[Profile, Attempt]:
    """The first attempt that loses nothing, else the one that loses least."""
    found: list[tuple[Profile, Attempt]] = []
    refusals: list[str] = []
    tried = candidates(template, bool(conversation.tools))
    if options.mode != "prompt":
        for profile in tried:
            for plan in native_plans(profile, conversation, options.mode):
                attempt = _try(profile, plan, conversation, options, refusals)
                if attempt is not None and not attempt.lost:
                    return profile, attempt
                found += [(profile, attempt)] if attempt is not None else []
    if options.mode != "native":
        lost = found[0][1].lost[0] if found else (refusals or [""])[-1]
        why = why_not_native(tried[0], lost) if conversation.tools and options.mode == "auto" else ""
        for profile in candidates(template, False):
            plan = replace(prompt_plan(profile), why=(why,) if why else ())
            attempt = _try(profile, plan, conversation, options, refusals)
            if attempt is not None and not attempt.lost:
                return profile, attempt
            found += [(profile, attempt)] if attempt is not None else []
    if not found:
        raise ConversationError(_refusal(tried[0], refusals))
    # Prompt mode comes last: among equals it is the one whose text is under our control.
    return min(reversed(found), key=lambda pair: len(pair[1].lost))


def _refusal(profile: Profile, refusals: list[str]) -> str:
    if refusals:
        return f"the template refuses this conversation in every shape, last with: {refusals[-1]}"
    return f"{why_not_native(profile, '')}; mode='native' cannot be had, use mode='auto'".replace(
        "prompt mode: ", ""
    )


def candidates(template: Template, tools: bool) -> list[Profile]:
    """The profiles of the named templates, those that show tools first if there are tools."""
    profiles = [probe(sibling) for sibling in template.siblings()]
    if len(profiles) == 1:
        return profiles
    rank = [(not (p.shows_tools and p.format.format) if tools else False, i) for i, p in enumerate(profiles)]
    return [profiles[i] for _, i in sorted(rank)]


def _try(
    profile: Profile, plan: Plan, conversation: Conversation, options: Options, refusals: list[str]
) -> Attempt | None:
    best: Attempt | None = None
    for shape in fixes(plan, conversation):
        try:
            attempt = _attempt(profile, plan, shape, conversation, options)
        except TemplateFailure as failure:
            refusals.append(str(failure))
            continue
        if not attempt.lost:
            return attempt
        if best is None or len(attempt.lost) < len(best.lost):
            best = attempt
    return best


def _attempt(
    profile: Profile, plan: Plan, shape: Shape, conversation: Conversation, options: Options
) -> Attempt:
    texts = _texts(profile, plan, conversation, options)
    prompt, given = _put(profile, shape, conversation, texts, options)
    lost = [*call_losses(profile, plan, shape, conversation), *conversation_losses(prompt, conversation)]
    details: list[Mapping[str, Any]] = []
    if conversation.tools and shape.tools != "text":
        fatal, details = _tool_faults(profile, shape, conversation, texts, options, prompt, given)
        lost += fatal
    if details and not lost:
        more = prompt_mode.details_text(details, options.language)
        texts = replace(texts, system="\n\n".join(part for part in (texts.system, more) if part))
        prompt, given = _put(profile, shape, conversation, texts, options)
        lost += conversation_losses(prompt, conversation)
        lost += [] if more in prompt else ["the further details on the tools"]
    elif texts.system and texts.system not in prompt:
        lost.append("the text about the tools")
    return Attempt(prompt, given, plan, shape, tuple(lost), tuple(details))


def _put(
    profile: Profile, shape: Shape, conversation: Conversation, texts: Texts, options: Options
) -> tuple[str, Given]:
    switched = replace(profile, variables={**profile.variables, **thinking(profile.template, options)})
    return switched.put(shape, conversation, texts, add_generation_prompt=options.add_generation_prompt)


def thinking(template: Template, options: Options) -> dict[str, bool]:
    """The variables of the template that switch reasoning, set as asked."""
    if options.enable_thinking is None:
        return {}
    variables = {name: options.enable_thinking for name in THINKING if name in template.variables}
    if "skip_reasoning" in template.variables:
        variables["skip_reasoning"] = not options.enable_thinking
    return variables


def _texts(profile: Profile, plan: Plan, conversation: Conversation, options: Options) -> Texts:
    """What goes into the system message beside the conversation's own text."""
    language = options.language
    parts = []
    if conversation.tools and plan.shape.tools == "text":
        parts.append(prompt_mode.tools_text(conversation.tools, language))
    if conversation.tools and plan.asks == "plain":
        parts.append(prompt_mode.reply_text(language))
    if conversation.tools and plan.asks == "native":
        parts.append(prompt_mode.native_text(_example(profile, plan.shape), language))
    writer = formats.WRITERS.get(plan.format, prompt_mode.calls_text)
    return Texts("\n\n".join(parts), language, writer)


def _example(profile: Profile, shape: Shape) -> str:
    """A call in the template's own form."""
    call = {"type": "function", "function": {"name": "tool_name", "arguments": {"parameter": "value"}}}
    return call_turn(profile, shape, json.dumps([{**call, "id": "call00001"}]), False).strip()


def _tool_faults(
    profile: Profile,
    shape: Shape,
    conversation: Conversation,
    texts: Texts,
    options: Options,
    prompt: str,
    given: Given,
) -> tuple[list[str], list[Mapping[str, Any]]]:
    """(what of the tools is lost for good, the tools of which details are missing)."""
    tools = conversation.tools
    dumped = [json.dumps(tool["function"], ensure_ascii=False) for tool in tools]
    if all(prompt.count(text) == 1 for text in dumped):
        return [], []
    try:
        without, _ = _put(profile, shape, replace(conversation, tools=()), texts, options)
    except TemplateFailure:
        without = None
    region = added(without, prompt)
    losses = tool_losses(region, tools)
    fatal = [f"{', '.join(loss.fatal)} of the tool {loss.name!r}" for loss in losses if loss.fatal]
    if printed_twice(prompt, given.tools or ()):
        fatal.append("the tools are printed twice")
    return fatal, [tool for tool, loss in zip(tools, losses, strict=True) if loss.missing]


def _rendered(profile: Profile, attempt: Attempt, conversation: Conversation, options: Options) -> Rendered:
    prompt, notes = attempt.prompt, [*conversation.notes, *attempt.plan.why]
    notes += [FIXES[fix] for fix in attempt.shape.fixes]
    if attempt.details:
        names = ", ".join(tool["function"]["name"] for tool in attempt.details)
        notes.append(f"details of {names} that the template does not show are said in the system text")
    notes += [f"not shown: {lost}" for lost in attempt.lost]
    has_system = any(m["role"] == "system" for m in conversation.messages) or bool(attempt.plan.asks)
    if attempt.shape.system == "user" and has_system:
        notes.append(FIXES["move_system"])
    prompt, again = _single_bos(profile.template, prompt)
    notes += again
    notes += _generation_notes(profile, attempt, options)
    shape = str(attempt.shape)
    if profile.template.name:
        shape = f"template={profile.template.name},{shape}"
    return Rendered(
        prompt=prompt,
        shape=shape,
        notes=tuple(dict.fromkeys(notes)),
        mode=attempt.plan.mode if conversation.tools else "native",
        format=attempt.plan.format,
        messages=tuple(attempt.given.messages),
        tools=tuple(attempt.given.tools or ()),
    )


def _single_bos(template: Template, prompt: str) -> tuple[str, list[str]]:
    bos = template.tokens.get("bos_token")
    bos = str(bos) if bos else ""
    if not bos or not prompt.startswith(bos + bos):
        return prompt, []
    while prompt.startswith(bos + bos):
        prompt = prompt[len(bos) :]
    return prompt, [f"the template printed {bos} twice; one was taken away"]


def _generation_notes(profile: Profile, attempt: Attempt, options: Options) -> list[str]:
    notes = []
    if options.enable_thinking is not None and not thinking(profile.template, options):
        notes.append("the template has no reasoning switch: enable_thinking does nothing")
    if options.add_generation_prompt:
        missing = missing_generation_prompt(profile, attempt, options)
        notes += [missing] if missing else []
    return notes


def missing_generation_prompt(profile: Profile, attempt: Attempt, options: Options) -> str:
    """A note where the prompt does not end with the header of the assistant's turn; "" where it does."""
    given = attempt.given
    variables = {**profile.variables, **given.variables, **thinking(profile.template, options)}
    try:
        without = profile.template.render(
            given.messages, given.tools, add_generation_prompt=False, variables=variables
        )
    except TemplateFailure:
        return ""
    if without != attempt.prompt:
        return ""
    last = given.messages[-1]["role"] if given.messages else ""
    if profile.generation_prompt:
        return f"after a {last} turn the template adds no generation prompt"
    return "" if profile.starts_answers else "the template adds no generation prompt"
