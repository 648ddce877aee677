"""The checks of `audit_template`: what plain OpenAI messages would have met in one template.

findings = find_all(profile, look(profile))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fcb_toolkit.rendering.looks import ANSWER, REASONING, Eyes, Looks, pair_message
from fcb_toolkit.rendering.losses import printed_twice, shows_result
from fcb_toolkit.rendering.material import (
    LADDER,
    NAME,
    QUESTION,
    RESULT_JSON,
    RICH,
    SIMPLE,
    SYSTEM,
    USER,
    call_faults,
    call_message,
    result_message,
)
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.template import TemplateFailure
from fcb_toolkit.rendering.tool_losses import tool_losses
from fcb_toolkit.rendering.turns import added


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be: a short stable code and a sentence."""

    code: str
    message: str


def find_all(profile: Profile, looks: Looks) -> tuple[Finding, ...]:
    """All findings, in the order of a conversation: tools, calls, results, turns, generation prompt."""
    eyes = Eyes(profile)
    found: list[Finding] = []
    for check in CHECKS:
        found += [Finding(code, message) for code, message in check(profile, looks, eyes)]
    return tuple(dict.fromkeys(found))


Check = Callable[[Profile, Looks, Eyes], Iterator[tuple[str, str]]]

_TOOL_FAULTS = {
    "dropped": "tools= changes nothing in the prompt: the tools are silently dropped",
    "refused": "the template raises when it is given tools",
    "needs_system": "the tools are shown only if the conversation has a system message",
    "nested": "a parameter that is an object makes the template raise",
    "html": "the tools reach the prompt with HTML entities in place of quotes",
    "json": "the tools' JSON is broken",
    "types": "the types of parameters are lost",
    "parameters": "names of parameters are lost",
    "enum": "the values of an enum are lost",
    "description": "descriptions are lost",
    "properties": "the properties of a nested object are lost",
    "required": "which parameters are required is lost",
    "default": "defaults are lost",
    "null": "it is lost that null is allowed",
}


def _tools(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    for fault in profile.tool_faults:
        yield f"tools_{fault}", _TOOL_FAULTS[fault]
    place = profile.shape.tools
    if place not in ("tools", "text") and profile.names_tools:
        yield "tools_elsewhere", f"tools= does nothing: the template takes its tools from {place!r}"
    if profile.names_tools and "{'" in profile.tool_words and f"'name': '{NAME}'" in profile.tool_words:
        yield "tools_repr", "the tools are printed as Python, not as JSON"


def _hard_descriptions(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    """Quotes and line breaks in a description."""
    if not profile.shows_tools:
        return
    parameters = {"type": "object", "properties": {"q": {"type": "string", "description": "말"}}}
    function = {"name": "find_text", "description": 'a "따옴표"\n둘째 줄', "parameters": parameters}
    tool = {"type": "function", "function": function}
    messages = [{"role": "system", "content": SYSTEM}, USER]
    with_tool = eyes.best(messages, tools=[tool])
    if with_tool is None:
        yield "tools_description_refused", "quotes or line breaks in a description make the template raise"
        return
    region = added(eyes.best(messages), with_tool)
    if any("json" in loss.fatal for loss in tool_losses(region, [tool])):
        yield "tools_json_unescaped", "a quote or line break in a description breaks the tools' JSON"


def _empty_tools(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    texts: list[str | None] = []
    empties: tuple[Any, ...] = (None, [])
    for empty in empties:
        try:
            texts.append(profile.template.render([USER], empty, variables=profile.variables))
        except TemplateFailure:
            texts.append(None)
    without, with_empty = texts
    if without is None:
        yield "tools_none_refused", "the template raises without tools (tools=None)"
    words = without is None and with_empty is not None and re.search(r"\b(tool|function)s?\b", with_empty)
    if words or (without is not None and with_empty not in (None, without)):
        yield "tools_empty_preamble", "tools=[] prints a tool preamble without tools"
    twice = [USER, {"role": "assistant", "content": ANSWER}, USER]
    if profile.shows_tools and printed_twice(
        eyes.best(twice, tools=_probe_tools(profile)) or "", _probe_tools(profile)
    ):
        yield "tools_twice", "two equal user turns print the tools twice"


def _calls(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    if not looks.shows_calls:
        yield "calls_dropped", "calls in the history do not reach the prompt, or not with their arguments"
        return
    if not profile.calls.exact:
        faults = call_faults(profile.calls.text, RICH) if profile.calls.text else ()
        how = f" ({', '.join(faults)})" if faults else ""
        yield "calls_not_read_back", f"no parser gives back exactly the call that the template prints{how}"
    if profile.calls.exact and not profile.calls.strict:
        yield "calls_lenient", "the call that the template prints is outside its own format, though readable"
    if profile.format.format and not profile.later_calls:
        yield "calls_later", "a second call, after a result, is not printed as the first"
    if repr(RICH["areas"]) in profile.calls.text and "areas=" not in profile.calls.text:
        yield "calls_values_repr", "lists in arguments are printed as Python, not as JSON"
    found = {fault for arguments in LADDER for fault in _string_faults(eyes, arguments)}
    for fault in sorted(found):
        yield fault, _STRING_FAULTS[fault]


_STRING_FAULTS = {
    "calls_string_refused": "arguments as a JSON string (OpenAI's form) make the template raise",
    "calls_string_double_encoded": "arguments as a JSON string are encoded a second time",
    "calls_string_mangled": "arguments as a JSON string come out mangled",
    "calls_object_refused": "arguments as an object make the template raise",
    "calls_object_repr": "arguments as an object are printed as Python",
}


def _string_faults(eyes: Eyes, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What goes wrong with a string where objects are right, and the other way round."""
    shape = eyes.profile.shape
    as_string = eyes.best([USER, call_message(arguments)], shape=replace(shape, arguments="string"))
    as_object = eyes.best([USER, call_message(arguments)], shape=replace(shape, arguments="object"))
    if as_string is None:
        yield "calls_string_refused"
    elif '{\\"' in as_string:
        yield "calls_string_double_encoded"
    elif call_faults(as_string, arguments):
        yield "calls_string_mangled"
    if as_object is None:
        yield "calls_object_refused"
    elif re.search(r"[^\w]\{'\w+': ", as_object):
        yield "calls_object_repr"


def _content(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    """Content null, content absent, and content "" of a turn that only calls, alone and answered."""
    words = {"empty": 'content ""', "null": "content null", "absent": "no content key"}
    for content, said in words.items():
        shape = replace(profile.shape, content=content, calls="template")
        text = eyes.best([USER, call_message(SIMPLE)], shape=shape)
        answered = eyes.best([USER, call_message(SIMPLE), result_message()], shape=shape)
        if text is None or (answered is None and profile.shape.results != "user"):
            yield f"content_{content}_refused", f"a call with {said} makes the template raise"
        elif looks.shows_calls and SIMPLE["city"] not in text:
            yield f"content_{content}_loses_call", f"a call with {said} is silently dropped"
        elif content != "empty" and re.search(r"\bNone\b", text):
            yield f"content_{content}_printed", f"a call with {said} prints the word None"


def _empty_calls(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    """`tool_calls: null` and `[]` on an ordinary turn, as `model_dump()` of a client gives them."""
    values: tuple[tuple[Any, str], ...] = ((None, "null"), ([], "[]"))
    for value, word in values:
        turn = {"role": "assistant", "content": ANSWER, "tool_calls": value}
        code = "null" if value is None else "empty"
        try:
            text = eyes.raw([USER, turn, USER])
        except TemplateFailure:
            yield (
                f"tool_calls_{code}_refused",
                f"tool_calls: {word} on an ordinary turn makes the template raise",
            )
            continue
        if ANSWER not in text:
            yield f"tool_calls_{code}_loses_text", f"tool_calls: {word} on an ordinary turn loses its text"


def _parallel(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    if not looks.shows_calls:
        return
    if not looks.parallel:
        refused = eyes.best([USER, pair_message()]) is None
        how = "make the template raise" if refused else "do not all reach the prompt"
        yield "parallel_refused" if refused else "parallel_lost", f"two calls in one turn {how}"
    if not looks.beside:
        yield "beside_lost", "text beside a call is lost, or the call is"
    if profile.shape.ids == "nine":
        yield "ids_nine", "call ids must be nine letters and digits"


def _results(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    said = {
        "refused": "the role tool makes the template raise",
        "dropped": "the role tool is silently dropped",
        "literal": "a tool result comes out as a JSON literal, quoted and escaped",
    }
    if profile.result_fault:
        yield f"results_{profile.result_fault}", said[profile.result_fault]
    if profile.shape.result_role != "tool" and profile.shape.results != "user":
        yield "results_role", f"tool results need the role {profile.shape.result_role!r}"
    if looks.shows_results:
        text = eyes.best([USER, call_message(SIMPLE), result_message(RESULT_JSON)])
        if text is not None and not shows_result(text, RESULT_JSON):
            yield "results_mangled", "a tool result that is a JSON object comes out mangled"


def _turns(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    if profile.shape.text == "parts":
        yield (
            "string_content_lost",
            "content that is a plain string is lost or refused: only lists of parts are shown",
        )
    if not profile.system:
        yield "system_refused", "a system message makes the template raise, or is dropped"
    system = {"role": "system", "content": SYSTEM}
    talk = [system, USER, call_message(SIMPLE), result_message()]
    after_result = eyes.best(talk, tools=_probe_tools(profile))
    if profile.system and looks.shows_results and after_result is not None and SYSTEM not in after_result:
        yield (
            "system_lost_after_result",
            "the system text disappears when the conversation ends with a result",
        )
    if looks.shows_results and after_result is not None:
        follow = {"role": "user", "content": ANSWER}
        text = eyes.best([*talk, follow], tools=_probe_tools(profile))
        if text is None or ANSWER not in text:
            yield (
                "user_after_result_refused",
                "a user turn right after a tool result makes the template raise",
            )
    text = eyes.best([USER, {"role": "user", "content": ANSWER}])
    if text is None or ANSWER not in text or QUESTION not in text:
        yield "two_users_refused", "two user turns in a row make the template raise"


def _generation(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    header = profile.generation_prompt
    if not header:
        where = "it always ends with one" if profile.starts_answers else "none is added"
        yield "generation_ignored", f"add_generation_prompt is ignored: {where}"
    if header and looks.shows_results:
        talk = [USER, call_message(SIMPLE), result_message()]
        pair = [eyes.best(talk, generation=generation) for generation in (False, True)]
        if pair[0] is not None and pair[0] == pair[1]:
            yield "generation_none_after_result", "after a tool result no generation prompt is added"
    marks = REASONING.findall(header)
    if marks:
        closed = marks[-1].startswith("</")
        how = "holds a closed (empty) reasoning block" if closed else "opens a reasoning block"
        yield "reasoning_closed" if closed else "reasoning_opened", f"the generation prompt {how}"
    if "strftime_now" in profile.template.text:
        yield "date_in_prompt", "the template can print today's date: prompts change from day to day"
    bos = str(profile.template.tokens.get("bos_token") or "")
    if bos and looks.plain.startswith(bos + bos):
        yield "bos_twice", "the template prints the BOS token twice"


def _escapes(profile: Profile, looks: Looks, eyes: Eyes) -> Iterator[tuple[str, str]]:
    if looks.escapes:
        yield "korean_escaped", "Hangul comes out as \\u escapes"
    for name in profile.template.missing_filters:
        yield "missing_filter", f"the filter {name!r} does not exist in transformers"
    if not looks.plain:
        yield "unusable", f"the template cannot render a plain question: {(profile.errors or ('',))[-1]}"
    if not profile.format.format:
        yield "format_unknown", profile.format.reason


CHECKS: tuple[Check, ...] = (
    _tools,
    _hard_descriptions,
    _empty_tools,
    _calls,
    _content,
    _empty_calls,
    _parallel,
    _results,
    _turns,
    _generation,
    _escapes,
)


def _probe_tools(profile: Profile) -> Sequence[Any]:
    return profile.tools
