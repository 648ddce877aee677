"""The facts of an audit, read off rendered text.

looks = look(profile)
looks.shows_tools, looks.parallel
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fcb_toolkit.rendering.material import (
    BESIDE,
    RESULT,
    SIMPLE,
    SYSTEM,
    USER,
    call_message,
    result_message,
    shows_leaf,
)
from fcb_toolkit.rendering.messages import Conversation
from fcb_toolkit.rendering.profile import Profile
from fcb_toolkit.rendering.shapes import Shape, Texts, apply
from fcb_toolkit.rendering.template import TemplateFailure

REASONING = re.compile(r"</?(?:think|thought|thinking|reasoning|seed:think)>|<\|think\|>|\[THINK\]")
ANSWER = "더 궁금한 것이 있으신가요?"
PAIR = ({"city": "부산광역시"}, {"city": "제주시"})


@dataclass(frozen=True)
class Looks:
    """The facts, with the texts that they were read off."""

    shows_tools: bool
    shows_calls: bool
    shows_results: bool
    parallel: bool
    beside: bool
    escapes: bool
    prefills: bool
    plain: str
    """System text and question, with a generation prompt."""


def look(profile: Profile) -> Looks:
    """Renders the probes and reads the facts off them."""
    eyes = Eyes(profile)
    system = {"role": "system", "content": SYSTEM}
    plain = eyes.best([system, USER], generation=True) or eyes.best([USER], generation=True) or ""
    parallel = pair_message()
    both = eyes.best([USER, parallel]) or eyes.best([USER, parallel, *pair_results()])
    beside = eyes.best([USER, call_message(SIMPLE, BESIDE)]) or eyes.best(
        [USER, call_message(SIMPLE, BESIDE), result_message()]
    )
    shows_calls = profile.calls.some
    texts = [plain, both or "", beside or "", profile.tool_words, profile.calls.text]
    return Looks(
        shows_tools=profile.names_tools and profile.shape.tools == "tools",
        shows_calls=shows_calls,
        shows_results=profile.shape.results != "user" and profile.shape.result_role == "tool",
        parallel=shows_calls and both is not None and all(shows_leaf(both, a["city"]) for a in PAIR),
        beside=shows_calls and beside is not None and BESIDE in beside and shows_leaf(beside, SIMPLE["city"]),
        escapes=any(re.search(r"\\u[0-9a-fA-F]{4}", text) for text in texts),
        prefills=bool(REASONING.search(profile.generation_prompt)),
        plain=plain,
    )


class Eyes:
    """Renders for the checks: in the best shape, or raw as an OpenAI client sends it."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def best(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Any] = (),
        shape: Shape | None = None,
        generation: bool = False,
    ) -> str | None:
        """In the shape that suits the template; None where it refuses."""
        conversation = Conversation(tuple(dict(m) for m in messages), tuple(tools))
        try:
            return self.profile.put(
                shape or self.profile.shape, conversation, Texts(), add_generation_prompt=generation
            )[0]
        except TemplateFailure:
            return None

    def raw(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Any] | None = None,
        *,
        generation: bool = False,
    ) -> str:
        """Exactly these messages; raises `TemplateFailure`."""
        empty = self.profile.empty_tools if tools is None else list(tools)
        return self.profile.template.render(
            messages, empty, add_generation_prompt=generation, variables=self.profile.variables
        )

    def shaped(self, *messages: Mapping[str, Any], shape: Shape | None = None) -> list[dict[str, Any]]:
        """These messages in the best shape, as the template gets them."""
        conversation = Conversation(tuple(dict(m) for m in messages), ())
        return apply(shape or self.profile.shape, conversation, Texts()).messages


def pair_message() -> dict[str, Any]:
    first, second = (
        call_message(arguments, identity=f"call-obs-{i}")["tool_calls"][0]
        for i, arguments in enumerate(PAIR, 31)
    )
    return {"role": "assistant", "content": "", "tool_calls": [first, second]}


def pair_results() -> list[dict[str, Any]]:
    return [result_message(RESULT, f"call-obs-{i}") for i in (31, 32)]
