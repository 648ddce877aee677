"""`render`: the prompt for a conversation, checked against the conversation before it is given back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.records import Rendered
from fcb_toolkit.rendering import prompt_mode
from fcb_toolkit.rendering.attempts import Attempt, Options, Work, thinking
from fcb_toolkit.rendering.messages import Conversation, ConversationError, prepare
from fcb_toolkit.rendering.plans import native_plans, prompt_plan, why_not_native
from fcb_toolkit.rendering.probe import probe
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.reordered import FIXES
from fcb_toolkit.rendering.template import Template, TemplateFailure, load_template

MODES = ("auto", "native", "prompt")


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
                attempt = Work(profile, plan, conversation, options).best(refusals)
                if attempt is not None and not attempt.lost:
                    return profile, attempt
                found += [(profile, attempt)] if attempt is not None else []
    if options.mode != "native":
        lost = found[0][1].lost[0] if found else (refusals or [""])[-1]
        why = why_not_native(tried[0], lost) if conversation.tools and options.mode == "auto" else ""
        for profile in candidates(template, False):
            plan = replace(prompt_plan(profile), why=(why,) if why else ())
            attempt = Work(profile, plan, conversation, options).best(refusals)
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
