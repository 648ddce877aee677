"""Gold and reply side by side as HTML: calls with every changed character marked, or the two texts.

draw_answer(case, answer)                       # one reply beside the gold
draw_between(answer_a, answer_b, "A", "B")      # two replies beside each other
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Answer, Case, ToolCall
from fcb_toolkit.scoring.gold import Gold, GoldArgument, GoldCall, read_gold
from fcb_toolkit.widgets.diff import ArgumentDiff, CallDiff, Segment, diff_calls, text_diff
from fcb_toolkit.widgets.markup import Html, details, escape, join, pre, tag
from fcb_toolkit.widgets.notes import text_notes

LIMIT = 20_000
MAX_CALLS = 20
AGAINST_GOLD = {
    "same": "same",
    "accepted": "accepted",
    "different": "different",
    "missing": "missing",
    "extra": "not expected",
    "left_out": "may be left out",
    "no call": "no such call was made",
    "no gold": "no such call was expected",
}
"""Words for what stands against what was expected; `_against` has those for two replies."""


def draw_answer(case: Case, answer: Answer | None, limit: int | None = LIMIT) -> Html:
    """What was expected beside what came."""
    gold, problem = gold_of(case)
    if answer is None:
        return join(
            [_gold_alone(case, gold, problem, limit), tag("p", "No reply: the run was stopped before it.")]
        )
    calls = answer.parse.tool_calls
    parts: list[Html | None] = []
    if answer.parse.error is not None:
        error = answer.parse.error
        parts.append(tag("p", tag("b", f"Parse error {error.code}: "), error.message, cls="fcb-bad"))
    if gold is not None:
        parts.append(draw_calls(diff_calls(gold.calls, calls)))
        parts.append(tag("p", tag("b", "The data's own rule: "), gold.rule) if gold.rule else None)
        if answer.parse.content:
            parts.append(_text_part("Text beside the calls", answer.parse.content, limit))
    elif calls:
        parts.append(_gold_alone(case, gold, problem, limit))
        parts.append(draw_calls(diff_calls((), calls)))
        parts.append(_text_part("Text beside the calls", answer.parse.content or "", limit))
    else:
        parts.append(_texts(gold_text(case), answer.parse.content or "", ("Expected", "Found"), limit))
    if answer.parse.reasoning:
        parts.append(details("Reasoning", pre(answer.parse.reasoning, limit=limit)))
    return join(parts)


def draw_between(
    a: Answer | None, b: Answer | None, name_a: str, name_b: str, limit: int | None = LIMIT
) -> Html:
    """The argument-level difference of two replies: the first stands where the gold stands elsewhere."""
    if a is None or b is None:
        return tag("p", f"Nothing to compare: {name_a if a is None else name_b} has no reply to this item.")
    first, second = a.parse.tool_calls, b.parse.tool_calls
    parts: list[Html] = []
    if first or second:
        found = diff_calls(tuple(map(_as_gold, first)), second)
        parts.append(draw_calls(found, (name_a, name_b), _against(name_a, name_b)))
    texts = a.parse.content or "", b.parse.content or ""
    if any(texts):
        parts.append(_texts(*texts, (name_a, name_b), limit))
    return join(parts) if parts else tag("p", "Both replies are empty.")


def _against(a: str, b: str) -> Mapping[str, str]:
    only_a, only_b = f"only in {a}", f"only in {b}"
    return {**AGAINST_GOLD, "missing": only_a, "extra": only_b, "no call": only_a, "no gold": only_b}


def _as_gold(call: ToolCall) -> GoldCall:
    return GoldCall(call.name, {name: GoldArgument((value,)) for name, value in call.arguments.items()})


def gold_of(case: Case) -> tuple[Gold | None, str]:
    """The gold calls, or None and why there are none (it expects a text, or it cannot be read)."""
    if case.type_of_output != "call":
        return None, ""
    try:
        return read_gold(case.ground_truth, case.acceptable_arguments), ""
    except DataError as error:
        return None, str(error)


def gold_text(case: Case) -> str:
    truth = case.ground_truth
    if isinstance(truth, Mapping):
        return str(truth.get("content") or "")
    return truth if isinstance(truth, str) else ""


def _gold_alone(case: Case, gold: Gold | None, problem: str, limit: int | None) -> Html:
    if gold is not None:
        return draw_calls(diff_calls(gold.calls, ()))
    if problem:
        return tag("p", tag("b", "The gold cannot be read: "), problem, cls="fcb-bad")
    return _text_part("Expected", gold_text(case), limit)


def draw_calls(
    calls: Sequence[CallDiff],
    heads: tuple[str, str] = ("Expected", "Found"),
    words: Mapping[str, str] = AGAINST_GOLD,
) -> Html:
    """One table per call, with two columns under `heads` and what differs in `words`."""
    if not calls:
        return tag("p", "No call expected, and none made.")
    drawn: list[Html] = [
        _call_table(number, call, heads, words) for number, call in enumerate(calls[:MAX_CALLS], 1)
    ]
    if len(calls) > MAX_CALLS:
        drawn.append(tag("p", f"{len(calls) - MAX_CALLS:,} more calls are not drawn", cls="fcb-cut"))
    return join(drawn)


def _call_table(number: int, call: CallDiff, heads: tuple[str, str], words: Mapping[str, str]) -> Html:
    names = (f"Call {number}", *heads, "Difference")
    head = tag("tr", *(tag("th", text, scope="col") for text in names))
    first = _row("function", call.expected_name, call.found_name, _call_status(call, words), call.status)
    rows = [_argument_row(argument, words) for argument in call.arguments[:200]]
    return tag("table", tag("thead", head), tag("tbody", first, *rows), cls="fcb-table fcb-calls")


def _call_status(call: CallDiff, words: Mapping[str, str]) -> Html:
    if call.status in ("missing", "extra"):
        return escape(words["no call" if call.status == "missing" else "no gold"])
    return escape("same" if all(kind == "same" for kind, _ in call.found_name) else "another function")


def _argument_row(argument: ArgumentDiff, words: Mapping[str, str]) -> Html:
    note = [tag("span", words[argument.status], cls=f"fcb-status fcb-{argument.status}")]
    if argument.remark:
        note.append(tag("div", argument.remark, cls="fcb-remark"))
    if argument.alternatives:
        note.append(
            tag("div", "also right: ", join(map(_code, argument.alternatives[:20]), ", "), cls="fcb-also")
        )
    return _row(argument.name, argument.expected, argument.found, join(note), argument.status)


def _code(text: str) -> Html:
    return tag("code", text[:200])


def _row(name: str, expected: Sequence[Segment], found: Sequence[Segment], note: Html, status: str) -> Html:
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", draw_segments(expected), cls="fcb-value"),
        tag("td", draw_segments(found), cls="fcb-value"),
        tag("td", note),
        cls=f"fcb-row-{status}",
    )


def draw_segments(segments: Iterable[Segment]) -> Html:
    """Deletions and insertions as `del` and `ins`; a space that was changed is drawn as ␣."""
    drawn = []
    for kind, text in segments:
        if kind == "same":
            drawn.append(tag("span", _shortened(text)))
        else:
            name = "del" if kind == "gone" else "ins"
            drawn.append(tag(name, _shortened(text).replace(" ", "␣"), cls=f"fcb-{kind}"))
    return join(drawn) if drawn else tag("span", "nothing", cls="fcb-none")


def _shortened(text: str, limit: int = 4000) -> str:
    """Keeps both ends of a very long piece: what differs stands beside them."""
    half = limit // 2
    return (
        text if len(text) <= limit else f"{text[:half]} … {len(text) - limit:,} characters … {text[-half:]}"
    )


def _texts(expected: str, found: str, names: tuple[str, str], limit: int | None) -> Html:
    """Two texts side by side; marked only where they are close, since two free answers share little."""
    before, after = text_diff(expected[:4000], found[:4000])
    same = sum(len(text) for kind, text in before if kind == "same")
    close = 2 * same > max(len(expected), len(found))
    sides = []
    for name, text, segments in ((names[0], expected, before), (names[1], found, after)):
        body = tag("pre", draw_segments(segments), cls="fcb-pre") if close and len(text) <= 4000 else None
        body = body or (pre(text, limit=limit) if text else tag("p", "no text", cls="fcb-none"))
        sides.append(tag("div", tag("h4", name), body, _noted(text)))
    return tag("div", *sides, cls="fcb-sides")


def _text_part(name: str, text: str, limit: int | None) -> Html:
    body = pre(text, limit=limit) if text else tag("p", "no text", cls="fcb-none")
    return tag("div", tag("h4", name), body, _noted(text))


def _noted(text: str) -> Html | None:
    found = text_notes(text)
    return tag("p", "; ".join(found), cls="fcb-remark") if found else None
