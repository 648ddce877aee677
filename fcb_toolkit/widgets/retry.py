"""A case asked again with something changed. Pure, apart from the model.

changes = Changes(system="간단히 답하세요.", settings={"max_new_tokens": 64})
case = changed_case(case, changes)                  # DataError says what is wrong with an edit
attempts = ask(model, [case], changes.settings, metric, job)
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from fcb_toolkit import scoring
from fcb_toolkit.annotations import Variant
from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import kind_of
from fcb_toolkit.models import Model, ReplayModel
from fcb_toolkit.records import Answer, Case, Message, Reply, Tool, Verdict, tool_name, tool_parameters
from fcb_toolkit.runs import Run, evaluate


@dataclass(frozen=True, slots=True)
class Changes:
    """None leaves a part as it was. `parameters` is the JSON text of the tool's schema.

    `settings` are fields of `Generation`, all of them used; `before` are the run's own, to tell a change.
    """

    system: str | None = None
    user: str | None = None
    tool: str | None = None
    description: str | None = None
    parameters: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """What was changed, for the list of variants."""
        parts = {
            "system prompt": self.system,
            "user text": self.user,
            f"description of {self.tool}": self.description,
            f"schema of {self.tool}": self.parameters,
        }
        edited = [name for name, value in parts.items() if value is not None]
        return (*edited, *(n for n, value in self.settings.items() if value != self.before.get(n)))


@dataclass(frozen=True, slots=True)
class _Recorded:
    manifest: Mapping[str, Any]
    cases: tuple[Case, ...]
    replies: tuple[Reply, ...]
    prompts: Mapping[str, str]


def replay_of(run: Run, case_ids: Collection[str], variants: Sequence[Variant] = ()) -> Model:
    """A model that knows these cases' conversations and those of their variants, and nothing else.

    An unchanged case gives its old reply; settings are not told apart.
    """
    cases = [case for case in run.cases if case.id in case_ids]
    replies = [reply for reply in run.replies if reply.case_id in case_ids]
    prompts = dict(run.prompts)
    for number, variant in enumerate(variants):
        if variant.case.id not in case_ids:
            continue
        name = f"{variant.case.id}#{number}"
        cases.append(replace(variant.case, id=name))
        replies.append(replace(variant.reply, case_id=name))
        prompts.setdefault(variant.reply.prompt_sha256, variant.prompt)
    return ReplayModel(_Recorded(run.manifest, tuple(cases), tuple(replies), prompts))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A case as it was asked again, and what came of it."""

    case: Case
    answer: Answer
    verdict: Verdict
    variant: Variant


class Progress(Protocol):
    """The part of a `Job` that `ask` uses."""

    def should_stop(self) -> bool: ...
    def advance(self, count: int = 1) -> None: ...


def system_text(case: Case) -> str:
    """The text of the first system message, "" if there is none."""
    return next((str(m.get("content") or "") for m in case.messages if m.get("role") == "system"), "")


def tool_named(case: Case, name: str) -> Tool:
    return next(tool for tool in case.tools if tool_name(tool) == name)


def tool_texts(case: Case, name: str) -> tuple[str, str]:
    """(description, schema as indented JSON) of a tool, to be edited."""
    tool = tool_named(case, name)
    function = tool.get("function", tool)
    return str(function.get("description") or ""), json.dumps(
        tool_parameters(tool), ensure_ascii=False, indent=2
    )


def changed_case(case: Case, changes: Changes) -> Case:
    """The same case with the edits made; its id, gold and metric stay."""
    messages = list(case.messages)
    if changes.system is not None:
        messages = with_system(messages, changes.system)
    if changes.user is not None:
        messages = with_last_user(messages, changes.user)
    tools = case.tools
    if changes.tool is not None and (changes.description is not None or changes.parameters is not None):
        tools = tuple(_edited(tool, changes) if tool_name(tool) == changes.tool else tool for tool in tools)
    return replace(case, messages=tuple(messages), tools=tools)


def with_system(messages: Sequence[Message], text: str) -> list[Message]:
    """The first system message replaced, put in front if there was none, left out if `text` is empty."""
    place = next((i for i, m in enumerate(messages) if m.get("role") == "system"), None)
    rest = [m for i, m in enumerate(messages) if i != place]
    if not text:
        return rest
    rest.insert(place or 0, {"role": "system", "content": text})
    return rest


def with_last_user(messages: Sequence[Message], text: str) -> list[Message]:
    changed = list(messages)
    for place in range(len(changed) - 1, -1, -1):
        if changed[place].get("role") == "user":
            changed[place] = {**changed[place], "content": text}
            return changed
    return [*changed, {"role": "user", "content": text}]


def _edited(tool: Tool, changes: Changes) -> Tool:
    function = dict(tool.get("function", tool))
    if changes.description is not None:
        function["description"] = changes.description
    if changes.parameters is not None:
        function["parameters"] = _schema(changes.parameters, changes.tool or "")
    return {**tool, "function": function} if "function" in tool else function


def _schema(text: str, tool: str) -> Mapping[str, Any]:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"schema of {tool}: not JSON: {error}; mend it and run again") from None
    if not isinstance(schema, dict):
        raise DataError(f"schema of {tool}: found {kind_of(schema)}, expected a JSON object")
    return schema


def ask(
    model: Model, cases: Sequence[Case], changes: Changes, metric: str, job: Progress
) -> tuple[Attempt, ...]:
    """Generates, parses and scores; the attempts that were made before a stop.

    `metric` "" is each case's own. Raises what the model raises, and `DataError` for a wrong setting.
    """
    run = evaluate(
        model,
        cases,
        progress=False,
        should_stop=job.should_stop,
        on_reply=lambda reply: job.advance(),
        **changes.settings,
    )
    return tuple(
        _attempt(run, case, metric, changes) for case in run.cases if (case.id, 0) in run.reply_by_key
    )


def _attempt(run: Run, case: Case, metric: str, changes: Changes) -> Attempt:
    reply = run.reply(case.id)
    answer = run.answer(reply)
    name = metric or scoring.default_metric(case)
    stored = {m: rows[reply.key] for m, rows in run.verdicts.items() if reply.key in rows}
    verdict = stored.get(name) or scoring.score_answer(case, answer, name)
    variant = Variant(
        case=case,
        reply=reply,
        verdicts={**stored, name: verdict},
        changes=changes.names(),
        prompt=run.prompts.get(reply.prompt_sha256, ""),
        model=run.model_name,
        generation=dict(run.manifest.get("generation", {})),
    )
    return Attempt(case, answer, verdict, variant)
