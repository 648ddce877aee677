"""One item as HTML: verdicts, conversation, tools, prompt, raw reply.

    draw_head(...), draw_verdicts(...), draw_conversation(case), draw_tools(case), draw_raw(reply, prompt)

Every function gives `Html`, made through `markup` alone; none knows a widget, so the static export uses
the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.annotations import Annotation
from fcb_toolkit.records import Case, Message, Reply, Tool, Verdict, tool_name, tool_parameters
from fcb_toolkit.widgets.draw_calls import LIMIT
from fcb_toolkit.widgets.markup import Html, cut, details, escape, join, pre, table, tag
from fcb_toolkit.widgets.notes import text_notes

SYMBOLS = {"pass": "✓", "fail": "✗", "not_scored": "○", "no reply": "·"}
SPECIAL_TOKEN = re.compile(
    r"<\|[^<>|\n]{1,64}\|>|<｜[^<>\n]{1,64}｜>|\[/?[A-Z_]{3,24}\]|</?[a-z_]{1,32}>|<s>|</s>|▁"
)


def badge(outcome: str, failure: str | None = None) -> Html:
    """The outcome in a word, a sign and a colour, so that it never hangs on the colour alone."""
    word = outcome.replace("_", " ") + (f": {failure}" if failure else "")
    return tag(
        "span", f"{SYMBOLS.get(outcome, '')} {word}", cls=f"fcb-badge fcb-is-{outcome.replace(' ', '_')}"
    )


def draw_head(case: Case, sample: int, place: str = "") -> Html:
    facts = [case.benchmark, case.category, case.condition, f"sample {sample}" if sample else "", place]
    return tag(
        "div",
        tag("h3", case.id),
        tag("p", " · ".join(fact for fact in facts if fact), cls="fcb-facts"),
        cls="fcb-head",
    )


def draw_verdicts(verdicts: Mapping[str, Verdict], metric: str, note: Annotation | None = None) -> Html:
    """The verdict that counts with its reason, a correction beside it, and the other metrics."""
    parts: list[Html] = []
    main = verdicts.get(metric)
    if main is None:
        parts.append(tag("p", f"Not scored by {metric}."))
    else:
        failure = str(main.failure) if main.failure else None
        line = [badge(str(main.outcome), failure), " ", tag("span", metric, cls="fcb-metric")]
        parts.append(tag("p", *line))
        if main.reason:
            parts.append(tag("p", cut(main.reason, 4000)[0], cls="fcb-reason"))
    if note:
        parts.append(draw_annotation(note))
    others = [name for name in verdicts if name != metric]
    if others:
        rows = [(name, _verdict_badge(verdicts[name]), cut(verdicts[name].reason, 600)[0]) for name in others]
        parts.append(details(f"Other metrics ({len(others)})", table(("metric", "verdict", "reason"), rows)))
    return join(parts)


def _verdict_badge(verdict: Verdict) -> Html:
    return badge(str(verdict.outcome), str(verdict.failure) if verdict.failure else None)


def draw_annotation(note: Annotation) -> Html:
    """What people said: the corrected verdict, the note, the tag, who and when, and what was before."""
    parts: list[Html] = []
    if note.outcome is not None:
        parts.append(
            tag(
                "p",
                "Corrected to ",
                badge(note.outcome, note.failure),
                f" by {note.who}, {short_time(note.when)} UTC",
            )
        )
    if note.tag:
        parts.append(tag("p", tag("span", note.tag, cls="fcb-tag")))
    if note.note:
        parts.append(tag("p", note.note, cls="fcb-note"))
    rows = [
        (short_time(edit.when), edit.who, _values(edit.before), _values(edit.values))
        for edit in note.history[-20:]
    ]
    if rows:
        parts.append(
            details(f"Edits ({len(note.history)})", table(("when (UTC)", "who", "before", "after"), rows))
        )
    return tag("div", *parts, cls="fcb-annotation")


def short_time(when: str | None) -> str:
    """`2026-12-01 09:30` of an ISO time."""
    return (when or "")[:16].replace("T", " ")


def _values(values: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name}: {value if value is not None else '—'}" for name, value in values.items())


def draw_conversation(case: Case, limit: int | None = LIMIT) -> Html:
    return tag("ol", *(_message(message, limit) for message in case.messages), cls="fcb-chat")


def _message(message: Message, limit: int | None) -> Html:
    role = str(message.get("role", "?"))
    about = [message.get("name"), message.get("tool_call_id")]
    parts: list[Html | None] = [tag("span", " ".join([role, *(str(x) for x in about if x)]), cls="fcb-role")]
    content = message.get("content")
    if content is not None and content != "":
        parts.append(pre(content if isinstance(content, str) else jsonl.dumps(content), limit=limit))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, (list, tuple)) else ():
        parts.append(_past_call(call))
    return tag("li", *parts, cls=f"fcb-msg fcb-msg-{re.sub('[^a-z]', '', role)}")


def _past_call(call: Any) -> Html:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return tag("pre", cut(jsonl.dumps(call), 4000)[0], cls="fcb-pre fcb-call")
    name, arguments = function.get("name", "?"), function.get("arguments", "")
    text = arguments if isinstance(arguments, str) else jsonl.dumps(arguments)
    return tag("pre", tag("b", str(name)), f"({cut(text, 4000)[0]})", cls="fcb-pre fcb-call")


def draw_tools(case: Case) -> Html:
    """Each tool closed behind its name; its schema as a table, and as JSON behind one more click."""
    if not case.tools:
        return tag("p", "No tools were offered.", cls="fcb-none")
    return join([_tool(tool) for tool in case.tools])


def _tool(tool: Tool) -> Html:
    function = tool.get("function", tool)
    about = function.get("description") if isinstance(function, Mapping) else None
    schema = tool_parameters(tool)
    properties = schema.get("properties")
    rows = []
    if isinstance(properties, Mapping):
        listed = schema.get("required")
        required = listed if isinstance(listed, (list, tuple)) else ()
        rows = [_parameter(str(name), part, name in required) for name, part in properties.items()]
    head = ("parameter", "type", "required", "about")
    body = table(head, rows) if rows else tag("p", "no parameters", cls="fcb-none")
    return details(
        tag("code", tool_name(tool)),
        tag("p", str(about or "")),
        body,
        details("JSON", pre(_pretty(tool), limit=LIMIT)),
    )


def _parameter(name: str, part: Any, required: bool) -> tuple[object, ...]:
    part = part if isinstance(part, Mapping) else {}
    kind = part.get("type")
    kinds = " or ".join(map(str, kind)) if isinstance(kind, (list, tuple)) else str(kind or "any")
    more = [f"one of {jsonl.dumps(part['enum'])}"] if "enum" in part else []
    more += [f"default {jsonl.dumps(part['default'])}"] if "default" in part else []
    about = "; ".join([str(part.get("description") or ""), *more]).strip("; ")
    return tag("code", name), kinds, "yes" if required else "no", about


def _pretty(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def draw_facts(reply: Reply | None) -> Html:
    """Token counts, time, and why the reply ended."""
    if reply is None:
        return tag("p", "no reply", cls="fcb-facts")
    facts = [
        f"prompt {_count(reply.prompt_tokens)} tokens",
        f"reply {_count(reply.reply_tokens)} tokens",
        f"{reply.seconds:.2f} s" if reply.seconds is not None else "",
        f"ended: {reply.finish_reason}",
        f"format {reply.format}" if reply.format else "",
    ]
    return tag("p", " · ".join(fact for fact in facts if fact), cls="fcb-facts")


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def draw_raw(text: str | None, limit: int | None = LIMIT) -> Html:
    """The reply as it came, special tokens marked, nothing hidden."""
    if text is None:
        return tag("p", "the model gave no text", cls="fcb-none")
    found = text_notes(text)
    note = tag("p", "; ".join(found), cls="fcb-remark") if found else None
    return join([note, draw_tokens(text, limit)])


def draw_prompt(prompt: str | None, limit: int | None = LIMIT) -> Html:
    """The prompt as it was sent. None: the run did not keep it."""
    if prompt is None:
        return tag("p", "The prompt was not kept with this run.", cls="fcb-none")
    return draw_tokens(prompt, limit)


def draw_tokens(text: str, limit: int | None) -> Html:
    """Text with its special tokens marked and its line ends shown."""
    shown, rest = cut(text, limit)
    drawn = pre(join(_tokens(shown)), "fcb-exact")
    return join([drawn, tag("p", f"{rest:,} more characters are not drawn", cls="fcb-cut") if rest else None])


_NEWLINE = tag("span", "↵", cls="fcb-nl", aria_hidden="true") + "\n"


def _tokens(text: str) -> Iterable[Html]:
    start = 0
    for match in SPECIAL_TOKEN.finditer(text):
        yield _lines(text[start : match.start()])
        yield tag("span", match.group(), cls="fcb-token")
        start = match.end()
    yield _lines(text[start:])


def _lines(text: str) -> Html:
    return Html(escape(text).replace("\n", _NEWLINE))
