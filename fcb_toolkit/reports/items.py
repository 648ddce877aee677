"""The per-item report: for each reply the result, what was judged, the reply as JSON, and the reason.

    Result: Fail · Item: Call · functionchat/dialog/12
    Reply:  {"content": null, "tool_calls": [...]}
    Reasoning: argument 'city': expected "부산", found "서울"

A judged run has the rubric's verdict first, with each vote and its whole text, and the case's own metric after it.
All text of models, judges and benchmarks is untrusted; it is escaped for the place where it stands.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fcb_toolkit import scoring
from fcb_toolkit.judging.options import METRIC
from fcb_toolkit.judging.orders import GIVEN
from fcb_toolkit.judging.votes import Vote, read_votes
from fcb_toolkit.records import Outcome, Reply, Verdict
from fcb_toolkit.runs import Run

RESULTS = {Outcome.PASS: "Pass", Outcome.FAIL: "Fail", Outcome.NOT_SCORED: "Not scored"}


@dataclass(frozen=True, slots=True)
class Result:
    """What one metric says of a reply."""

    metric: str
    outcome: str
    failure: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class Item:
    """One reply with its verdicts, the one that it is filed under first."""

    case_id: str
    sample: int
    judged: str
    query: str
    gold: str
    reply: str
    results: tuple[Result, ...]

    @property
    def result(self) -> str:
        return self.results[0].outcome


def items(run: Run, metric: str | None = None) -> Iterator[Item]:
    """One item a reply, in the order of the run, by `metric`; default: a judge's rubric where the reply has been
    judged, and the case's own metric."""
    votes = {vote.key: vote for vote in read_votes(run.path)} if run.path is not None else {}
    for reply in run.replies:
        case = run.case_by_id[reply.case_id]
        users = [str(m.get("content")) for m in case.messages if m.get("role") == "user"]
        yield Item(
            case.id,
            reply.sample,
            (case.category or case.type_of_output).capitalize(),
            users[-1] if users else "",
            pretty(case.ground_truth),
            pretty(reply_json(run.answer(reply).message, reply.text)),
            tuple(_result(run, reply, name, votes) for name in _metrics(run, reply, metric)),
        )


def _metrics(run: Run, reply: Reply, metric: str | None) -> tuple[str, ...]:
    if metric is not None:
        return (metric,)
    own = scoring.default_metric(run.case_by_id[reply.case_id])
    rubric = run.verdicts.get(METRIC, {}).get(reply.key)
    if rubric is None:
        return (own,)
    # What no rubric asks of, and what could not be read, is filed under the case's own metric.
    return (own, METRIC) if rubric.outcome == Outcome.NOT_SCORED else (METRIC, own)


def _result(run: Run, reply: Reply, name: str, votes: Mapping[str, Vote]) -> Result:
    verdict = run.verdicts.get(name, {}).get(reply.key) or Verdict.not_scored("no verdict stored")
    return Result(name, RESULTS[verdict.outcome], str(verdict.failure or ""), _reasoning(verdict, votes))


def _reasoning(verdict: Verdict, votes: Mapping[str, Vote]) -> str:
    """The verdict's reason, or each judge's whole answer where it is kept."""
    cast = verdict.details.get("votes")
    keys = [v.get("key") for v in cast if isinstance(v, Mapping)] if isinstance(cast, list) else []
    kept = [votes[key] for key in keys if isinstance(key, str) and key in votes]
    if not kept:
        return verdict.reason
    told = [
        f"{vote.judge}, vote {vote.vote + 1}"
        f"{f' (order: {vote.order})' if vote.order != GIVEN else ''}: {vote.verdict or 'unreadable'}\n{vote.text}"
        for vote in kept
    ]
    scored = verdict.outcome != Outcome.NOT_SCORED
    # The reason of a scored verdict ends in the first lines of a vote, which follows whole.
    return "\n\n".join([verdict.reason.split(":")[0] if scored else verdict.reason, *told])


def reply_json(message: Any, text: str | None) -> Any:
    """The reply as JSON: its text and its calls, with the arguments readable."""
    if not isinstance(message, Mapping):
        return message if message is not None else {"content": text}
    return {"content": message.get("content"), "tool_calls": message.get("tool_calls") or []}


def pretty(value: Any) -> str:
    """JSON text that shows Hangul and no control or direction-changing character unescaped."""
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return "".join(c if c == "\n" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def items_markdown(run: Run, metric: str | None = None) -> str:
    """All items as Markdown; text stands in indented code blocks, so that nothing in it is markup."""
    parts = [f"# {inline(run.name)}\n\n{inline(run.model_name)}\n"]
    for item in items(run, metric):
        sample = f" sample {item.sample}" if item.sample else ""
        parts.append(
            f"## {item.result}: {inline(item.case_id)}{sample}\n\n"
            f"Item: {inline(item.judged)}.\n\nQuery\n\n{block(item.query)}\n\n"
            f"Ground truth\n\n{block(item.gold)}\n\nReply\n\n{block(item.reply)}\n"
        )
        parts += [
            f"Result by {inline(result.metric)}: {result.outcome}"
            f"{f'. Failure: {result.failure}' if result.failure else ''}. Reasoning\n\n{block(result.reasoning)}\n"
            for result in item.results
        ]
    return "\n".join(parts)


def inline(text: str) -> str:
    """Text as it stands in a line of Markdown."""
    flat = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+!|<>~&" else c for c in flat)


def block(text: str) -> str:
    """An indented code block: no fence that the text could close."""
    shown = "".join(c if c == "\n" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return "\n".join(f"    {line}" for line in shown.split("\n")) if shown.strip() else "    (empty)"


PAGE = """<!doctype html>
<html lang="ko"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
article {{ border-top: 1px solid; padding: .5rem 0 }}
h2 {{ font-size: 1rem }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; margin: .2rem 0 .6rem }}
dt {{ font-weight: 600 }} dd {{ margin: 0 }}
</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""


def items_html(run: Run, metric: str | None = None) -> str:
    """All items as one page without scripts; a policy in its head forbids any."""
    body = "\n".join(_article(item) for item in items(run, metric))
    return PAGE.format(title=escape(f"{run.name}: {run.model_name}"), body=body)


def _article(item: Item) -> str:
    fields = [
        ("Item", item.judged),
        ("Query", item.query),
        ("Ground truth", item.gold),
        ("Reply", item.reply),
    ]
    for result in item.results:
        failure = f" ({result.failure})" if result.failure else ""
        fields += [
            (f"Result by {result.metric}", f"{result.outcome}{failure}"),
            ("Reasoning", result.reasoning),
        ]
    rows = "".join(f"<dt>{escape(name)}</dt><dd><pre>{escape(text)}</pre></dd>" for name, text in fields)
    sample = f" sample {item.sample}" if item.sample else ""
    return f"<article><h2>{item.result}: {escape(item.case_id)}{sample}</h2><dl>{rows}</dl></article>"


def escape(text: str) -> str:
    """Text for HTML: markup escaped, control and direction-changing characters shown as escapes."""
    shown = "".join(c if c in "\n\t" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return html.escape(shown)
