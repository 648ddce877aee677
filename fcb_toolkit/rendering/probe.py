"""What one chat template does, found by rendering small conversations through it.

    profile = probe(template)        # cached by the template's text and tokens
    profile.shape                    # the message shape that it renders faithfully
    profile.format                   # the parser that reads its calls, and why

Nothing here knows a model's name.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from fcb_toolkit.rendering.find_calls import choose, find_calls, later_calls
from fcb_toolkit.rendering.find_results import find_results
from fcb_toolkit.rendering.find_tools import find_empty_tools, find_tools
from fcb_toolkit.rendering.material import QUESTION, SYSTEM, USER
from fcb_toolkit.rendering.prober import Prober
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.template import Template, TemplateFailure
from fcb_toolkit.rendering.turns import MARK, shared_length

_CACHE: OrderedDict[str, Profile] = OrderedDict()
_CACHE_SIZE = 256


def probe(template: Template) -> Profile:
    """The profile of this template (not of its named siblings)."""
    found = _CACHE.get(template.sha256)
    if found is None:
        found = _profile(template)
        _CACHE[template.sha256] = found
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    return found if found.template.tokenizer is template.tokenizer else replace(found, template=template)


def _profile(template: Template) -> Profile:
    prober = Prober(template)
    prober.shape = replace(prober.shape, text=_text_form(prober))
    find_empty_tools(prober)
    system = _shows_system(prober)
    if not system:
        prober.shape = replace(prober.shape, system="user")
    names_tools, faults, words = find_tools(prober)
    calls = find_calls(prober)
    if calls.some or calls.exact:
        prober.shape = replace(calls.shape, tools=prober.shape.tools, variables=prober.shape.variables)
    shows_results, result_fault = find_results(prober)
    choice = choose(prober, calls, words)
    return Profile(
        template=prober.template,
        shape=prober.shape,
        format=choice,
        names_tools=names_tools,
        tool_faults=faults,
        tools=tuple(prober.tools),
        calls=calls,
        shows_results=shows_results,
        result_fault=result_fault,
        system=system,
        empty_tools=prober.empty_tools,
        variables=prober.variables,
        generation_prompt=_generation_prompt(prober),
        starts_answers=_starts_answers(prober),
        tool_words=words,
        later_calls=later_calls(prober, choice, calls),
        errors=tuple(dict.fromkeys(prober.errors)),
    )


def _text_form(prober: Prober) -> str:
    """`parts` where the template shows a question only as a list of parts, as some image models' do."""
    for form in ("string", "parts"):
        try:
            text = prober.render([USER], shape=replace(prober.shape, text=form))
        except TemplateFailure:
            continue
        if QUESTION in text:
            return form
    return "string"


def _shows_system(prober: Prober) -> bool:
    text = prober.attempt([{"role": "system", "content": SYSTEM}, USER])
    return text is not None and SYSTEM in text and QUESTION in text


def _generation_prompt(prober: Prober) -> str:
    try:
        return prober.cutter(prober.shape).generation_prompt
    except TemplateFailure:
        return ""


def _starts_answers(prober: Prober) -> bool:
    base = prober.attempt([USER])
    dialog = prober.attempt([USER, {"role": "assistant", "content": MARK}, USER])
    if base is None or dialog is None or MARK not in dialog:
        return False
    answer = dialog[: dialog.index(MARK)].rpartition(QUESTION)[2].strip()
    end = base.rpartition(QUESTION)[2].strip()
    if answer == end:
        return True
    # Or it ends with more than what an answer's header shares with a user turn's.
    question = (prober.attempt([USER, USER]) or "").rpartition(QUESTION)[0].rpartition(QUESTION)[2]
    return answer.startswith(end) and len(end) > shared_length(answer, question.strip()) > 0
