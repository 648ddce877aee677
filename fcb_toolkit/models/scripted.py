"""A model that answers from a script, for tests, baselines and notebooks.

ScriptedModel(["first reply", "second reply"])         # in the order of the prompts, then again
ScriptedModel(lambda messages, tools: "an answer")      # from what is asked
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Generation, Message, Rendered, Reply, Tool

Script = Sequence[str] | Callable[[Sequence[Message], Sequence[Tool]], "str | Mapping[str, Any] | None"]


class ScriptedModel:
    """Replies come from a list (cycled) or a function; a function may give an OpenAI message or None."""

    def __init__(self, script: Script, *, name: str = "scripted", format: str = "plain_json") -> None:
        if not callable(script) and not script:
            raise DataError("ScriptedModel: the list of replies is empty; give at least one, or a function")
        self.script = script
        self.name = name
        self.format = format

    def describe(self) -> dict[str, Any]:
        return {"id": self.name, "kind": "scripted", "format": self.format}

    def prepare(self, messages: Sequence[Message], tools: Sequence[Tool] | None = ()) -> Rendered:
        tools = tools or ()
        prompt = jsonl.dumps({"messages": list(messages), "tools": list(tools)})
        return Rendered(prompt, "openai", (), "native", self.format, tuple(messages), tuple(tools))

    def generate(self, prompts: Sequence[Rendered], settings: Generation) -> Iterator[tuple[int, Reply]]:
        for index, prompt in enumerate(prompts):
            for sample in range(settings.samples):
                answer = self._answer(index, prompt)
                text = answer if isinstance(answer, str) or answer is None else jsonl.dumps(answer)
                message = answer if isinstance(answer, Mapping) else None
                yield index, Reply("", text, sample, format=prompt.format, message=message, seconds=0.0)

    def _answer(self, index: int, prompt: Rendered) -> str | Mapping[str, Any] | None:
        if callable(self.script):
            return self.script(prompt.messages, prompt.tools)
        return self.script[index % len(self.script)]


def conversation_sha256(messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """Identifies what a model was asked, whatever the template made of it."""
    text = jsonl.dumps([list(messages), list(tools)])
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
