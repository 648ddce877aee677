"""What one chat template does, found by rendering small conversations through it.

    profile = probe(template)        # cached by the template's text and tokens
    profile.shape                    # the message shape that it renders faithfully
    profile.format                   # the parser that reads its calls, and why

Nothing here knows a model's name.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from fcb_toolkit.rendering import formats
from fcb_toolkit.rendering.material import (
    COMPANIONS,
    LADDER,
    NAME,
    QUESTION,
    RESULT,
    RESULT_JSON,
    RESULT_ROLES,
    RICH,
    SIMPLE,
    SIMPLE_TOOLS,
    SYSTEM,
    TOOLS,
    USER,
    call_faults,
    call_message,
    result_message,
)
from fcb_toolkit.rendering.messages import Conversation
from fcb_toolkit.rendering.profile import Calls, Profile
from fcb_toolkit.rendering.shapes import Shape, Texts, apply
from fcb_toolkit.rendering.template import Template, TemplateFailure
from fcb_toolkit.rendering.tool_losses import tool_losses
from fcb_toolkit.rendering.turns import MARK, Cutter, added, shared_length

_CACHE: OrderedDict[str, Profile] = OrderedDict()
_CACHE_SIZE = 256


def probe(template: Template) -> Profile:
    """The profile of this template (not of its named siblings)."""
    found = _CACHE.get(template.sha256)
    if found is None:
        found = _Prober(template).profile()
        _CACHE[template.sha256] = found
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    return found if found.template.tokenizer is template.tokenizer else replace(found, template=template)


class _Prober:
    """One pass of probes over one template; each step uses what the steps before found."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.errors: list[str] = []
        self.variables = {
            name: value
            for name, value in COMPANIONS.items()
            if value is not None and name in template.variables
        }
        self.empty_tools: Any = None
        self.shape = Shape()
        self.tools: Sequence[dict[str, Any]] = ()

    def profile(self) -> Profile:
        self._find_empty_tools()
        system = self._shows_system()
        if not system:
            self.shape = replace(self.shape, system="user")
        names_tools, faults, words = self._find_tools()
        calls = self._find_calls()
        if calls.some or calls.exact:
            self.shape = replace(calls.shape, tools=self.shape.tools, variables=self.shape.variables)
        shows_results, result_fault = self._find_results()
        choice = self._choose(calls, words)
        return Profile(
            template=self.template,
            shape=self.shape,
            format=choice,
            names_tools=names_tools,
            tool_faults=faults,
            tools=tuple(self.tools),
            calls=calls,
            shows_results=shows_results,
            result_fault=result_fault,
            system=system,
            empty_tools=self.empty_tools,
            variables=self.variables,
            generation_prompt=self._generation_prompt(),
            starts_answers=self._starts_answers(),
            tool_words=words,
            later_calls=self._later_calls(choice, calls),
            errors=tuple(dict.fromkeys(self.errors)),
        )

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[dict[str, Any]] = (),
        shape: Shape | None = None,
        generation: bool = False,
    ) -> str:
        conversation = Conversation(tuple(dict(message) for message in messages), tuple(tools))
        given = apply(shape or self.shape, conversation, Texts(empty_tools=self.empty_tools))
        variables = {**self.variables, **given.variables}
        return self.template.render(
            given.messages, given.tools, add_generation_prompt=generation, variables=variables
        )

    def attempt(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> str | None:
        """The text, or None (and the reason in `errors`) where the template refuses."""
        try:
            return self.render(messages, **options)
        except TemplateFailure as failure:
            self.errors.append(str(failure))
            return None

    def _find_empty_tools(self) -> None:
        """What "no tools" is to this template, and text for a tools variable that it cannot do without."""
        if self._best_empty_tools() == 0:
            self.variables |= dict.fromkeys(self._tool_variables(), "")
            self._best_empty_tools()

    def _best_empty_tools(self) -> int:
        scores = []
        empties: tuple[Any, ...] = (None, [])
        for order, empty in enumerate(empties):
            self.empty_tools = empty
            texts = [self.attempt(m) for m in ([USER], [{"role": "system", "content": SYSTEM}, USER])]
            scores.append((sum(text is not None for text in texts), -order))
        score, order = max(scores)
        self.empty_tools = [] if order else None
        return score

    def _tool_variables(self) -> list[str]:
        names = sorted(self.template.variables)
        return [
            name
            for name in names
            if re.search(r"tool|function", name) and name not in ("tools", "tool_choice")
        ]

    def _shows_system(self) -> bool:
        text = self.attempt([{"role": "system", "content": SYSTEM}, USER])
        return text is not None and SYSTEM in text and QUESTION in text

    def region(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], shape: Shape) -> str:
        """The text that these tools add to the conversation."""
        with_tools = self.attempt(messages, tools=tools, shape=shape)
        return "" if with_tools is None else added(self.attempt(messages), with_tools)

    def _find_tools(self) -> tuple[bool, tuple[str, ...], str]:
        """Where the template takes its tools: (their names are shown, what is wrong with them, their text).

        Tried in turn: the argument `tools`, other variables, a key of the system message; each alone and
        with a system message, with nested and with simple schemas.
        """
        with_system = [{"role": "system", "content": SYSTEM}, USER]
        refused = False
        for shape in self._tool_places():
            for tools in (TOOLS, SIMPLE_TOOLS):
                for messages in ([USER], with_system):
                    found = self._tools_at(messages, tools, shape)
                    if found is None:
                        continue
                    faults, region = found
                    faults += () if tools is TOOLS else ("nested",)
                    faults += () if messages is not with_system else ("needs_system",)
                    self.tools = tools
                    return True, faults, region
            refused = refused or self.attempt(with_system, tools=SIMPLE_TOOLS, shape=shape) is None
        self.tools = ()
        return False, ("refused",) if refused else ("dropped",), ""

    def _tools_at(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], shape: Shape
    ) -> tuple[tuple[str, ...], str] | None:
        region = self.region(messages, tools, shape)
        losses = tool_losses(region, tools)
        if any("name" in loss.fatal for loss in losses):
            return None
        walked = not all(loss.json for loss in losses) and repr(tools[0]["function"]) not in region
        self.shape = replace(shape, schemas="flat") if walked else shape
        return tuple(dict.fromkeys(f for loss in losses for f in (*loss.fatal, *loss.missing))), region

    def _tool_places(self) -> list[Shape]:
        places = [self.shape]
        for name in self._tool_variables():
            places += [replace(self.shape, tools=name, variables=form) for form in ("text", "list")]
        if "['tools']" in self.template.text and self.shape.system == "system":
            places.append(replace(self.shape, tools="system.tools"))
        return places

    def _find_calls(self) -> Calls:
        best = Calls(self.shape)
        for arguments, content, ids in product(
            ("object", "string", "literals"), ("empty", "null", "absent"), ("given", "nine")
        ):
            shape = replace(self.shape, content=content, arguments=arguments, ids=ids)
            found = self._calls_in(shape)
            if found.rank > best.rank and (arguments != "literals" or found.exact):
                best = found
            if found.strict and found.exact:
                break
        return best

    def _calls_in(self, shape: Shape) -> Calls:
        turns = [self._call_turn(arguments, shape) for arguments in LADDER]
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

    def cutter(self, shape: Shape, before: Sequence[Mapping[str, Any]] = (USER,)) -> Cutter:
        return Cutter(
            lambda messages, generation: self.render(
                messages, tools=self.tools, shape=shape, generation=generation
            ),
            tuple(before),
        )

    def _call_turn(self, arguments: Mapping[str, Any], shape: Shape) -> tuple[str | None, str]:
        """(the call's text cut out of the prompt, the prompt); (None, "") where the template refuses."""
        cutter = self.cutter(shape)
        try:
            return cutter.reply(call_message(arguments)), cutter.base
        except TemplateFailure as failure:
            self.errors.append(str(failure))
            return None, ""

    def _choose(self, calls: Calls, words: str) -> formats.FormatChoice:
        if calls.exact:
            how = "reads back exactly" if calls.strict else "reads back, leniently"
            return formats.FormatChoice(calls.format, f"a call in history {how} with this parser")
        for arguments in LADDER[1:]:
            text, prompt = self._call_turn(arguments, calls.shape)
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
        if told := formats.told_format(self.template.text, self.template.text):
            return formats.FormatChoice(
                told, "the template's text holds its mark, though calls are not shown"
            )
        return formats.FormatChoice("", "the template shows neither calls nor words about them")

    def _find_results(self) -> tuple[bool, str]:
        """Sets the shape of tool results; (shown, what is wrong with them)."""
        fault = ""
        for role in RESULT_ROLES:
            found = self._results_as(replace(self.shape, result_role=role))
            if found is not None:
                return True, fault or found
            refused = self._result(replace(self.shape, result_role=role), RESULT) is None
            fault = fault or ("refused" if refused else "dropped")
        self.shape = replace(self.shape, results="user")
        return False, fault

    def _result(self, shape: Shape, content: str) -> str | None:
        after_call = self.attempt([USER, call_message(SIMPLE), result_message(content)], shape=shape)
        if after_call is not None:
            return after_call
        # The call may be what is refused: calls can be written into the content, results are still wanted.
        return self.attempt(
            [USER, {"role": "assistant", "content": MARK}, result_message(content)], shape=shape
        )

    def _results_as(self, shape: Shape) -> str | None:
        """What is wrong with results under this role ("" nothing); None where they are not shown."""
        as_text = self._result(shape, RESULT_JSON)
        verbatim = as_text is not None and RESULT_JSON in as_text
        named = self._result(replace(shape, results="named"), RESULT_JSON)
        if named and _named_result(named) and not (verbatim and _tells_name(as_text)):
            self.shape = replace(shape, results="named")
            return ""
        if verbatim:
            self.shape = shape
            return ""
        as_object = self._result(replace(shape, results="object"), RESULT_JSON)
        if as_object is not None and RESULT_JSON in as_object:
            self.shape = replace(shape, results="object")
            return "literal"
        simple = self._result(shape, RESULT)
        if simple is not None and RESULT in simple:
            self.shape = shape
            return "literal"
        return None

    def _generation_prompt(self) -> str:
        try:
            return self.cutter(self.shape).generation_prompt
        except TemplateFailure:
            return ""

    def _starts_answers(self) -> bool:
        base = self.attempt([USER])
        dialog = self.attempt([USER, {"role": "assistant", "content": MARK}, USER])
        if base is None or dialog is None or MARK not in dialog:
            return False
        answer = dialog[: dialog.index(MARK)].rpartition(QUESTION)[2].strip()
        end = base.rpartition(QUESTION)[2].strip()
        if answer == end:
            return True
        # Or it ends with more than what an answer's header shares with a user turn's.
        question = (self.attempt([USER, USER]) or "").rpartition(QUESTION)[0].rpartition(QUESTION)[2]
        return answer.startswith(end) and len(end) > shared_length(answer, question.strip()) > 0

    def _later_calls(self, choice: formats.FormatChoice, calls: Calls) -> bool:
        if not choice.format:
            return False
        before = (
            USER,
            call_message({"city": "제주시"}, identity="call-obs-16"),
            result_message(identity="call-obs-16"),
        )
        turn = call_message(SIMPLE)
        try:
            text = self.cutter(self.shape, before).reply(turn)
            first = self.cutter(self.shape).reply(turn)
        except TemplateFailure:
            return False
        # Templates that number their calls differ in nothing but the number.
        alike = re.sub(r"\d+", "#", text.strip()) == re.sub(r"\d+", "#", first.strip())
        return alike and formats.reads_back(text, choice.format, [(NAME, SIMPLE)], TOOLS, strict=calls.strict)


def _named_result(text: str) -> bool:
    """A {name, response} result came out unwrapped: name and values there, its own keys not."""
    tail = text[text.rfind(NAME) :]
    return (
        "21" in tail and '"response"' not in text and "'response'" not in text and NAME in text[-len(tail) :]
    )


def _tells_name(text: str | None) -> bool:
    return text is not None and text.count(NAME) > 1
