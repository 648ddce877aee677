"""What differs between an expected call and the one that came, down to single characters.

    text_diff("서울", "서 울")[1] == (("same", "서"), ("new", " "), ("same", "울"))
    remark("서울", "서 울") == "differs only in spaces"

It shows; it doesn't judge. Which call answers which, and which values are equal, is asked of `scoring`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from fcb_toolkit.records import ToolCall
from fcb_toolkit.scoring.gold import GoldArgument, GoldCall
from fcb_toolkit.scoring.matching import assign
from fcb_toolkit.scoring.values import compare, json_type, show
from fcb_toolkit.widgets.notes import code_points

Segment = tuple[str, str]
"""(`same`, `gone` or `new`; text)"""
MAX_PRODUCT = 1_000_000
"""Above this product of the lengths the middle is marked as one piece: the comparison is quadratic."""


@dataclass(frozen=True, slots=True)
class ArgumentDiff:
    """`status`: same, accepted (another right value), different, missing, extra or left_out (optional)."""

    name: str
    status: str
    expected: tuple[Segment, ...] = ()
    found: tuple[Segment, ...] = ()
    alternatives: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class CallDiff:
    """`status`: same, different, missing (no such call came) or extra (no such call was expected)."""

    status: str
    expected_name: tuple[Segment, ...] = ()
    found_name: tuple[Segment, ...] = ()
    arguments: tuple[ArgumentDiff, ...] = ()


def text_diff(expected: str, found: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Both texts cut into segments; those that only one has are `gone` (expected) or `new` (found)."""
    start = _common(expected, found)
    left, right = expected[start:], found[start:]
    end = _common(left[::-1], right[::-1])
    head, tail = expected[:start], left[len(left) - end :]
    left, right = left[: len(left) - end], right[: len(right) - end]
    before, after = _middle(left, right)
    return _joined([("same", head), *before, ("same", tail)]), _joined(
        [("same", head), *after, ("same", tail)]
    )


def _common(left: str, right: str) -> int:
    """Length of the common start."""
    differing = (place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    return next(differing, min(len(left), len(right)))


def _middle(left: str, right: str) -> tuple[list[Segment], list[Segment]]:
    if len(left) * len(right) > MAX_PRODUCT:
        return [("gone", left)], [("new", right)]
    before: list[Segment] = []
    after: list[Segment] = []
    for name, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        before.append(("same" if name == "equal" else "gone", left[i:j]))
        after.append(("same" if name == "equal" else "new", right[k:m]))
    return before, after


def _joined(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    return tuple(segment for segment in segments if segment[1])


def remark(expected: Any, found: Any) -> str:
    """What a reader cannot see: a difference of Unicode form, width, spaces, case or JSON type only."""
    if not (isinstance(expected, str) and isinstance(found, str)):
        kinds = json_type(expected), json_type(found)
        return "" if kinds[0] == kinds[1] else f"expected {_article(kinds[0])}, found {_article(kinds[1])}"
    if expected == found:
        return ""
    steps = {
        "the Unicode form (NFC against NFD)": lambda text: unicodedata.normalize("NFC", text),
        "full-width against half-width forms": lambda text: unicodedata.normalize("NFKC", text),
        "spaces": lambda text: "".join(text.split()),
        "letter case": str.casefold,
    }
    for name, step in steps.items():
        if step(expected) == step(found):
            points = _points(expected, found) if "Unicode" in name else ""
            return f"differs only in {name}{points}"
    together = [unicodedata.normalize("NFKC", "".join(t.split())).casefold() for t in (expected, found)]
    return "differs only in spaces, case, width or Unicode form" if together[0] == together[1] else ""


def _points(expected: str, found: str) -> str:
    """Where the two first differ, as code points: both look the same on the page."""
    start = _common(expected, found)
    return f": {code_points(expected[start:])} against {code_points(found[start:])}"


def _article(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def value_text(value: Any) -> str:
    """The value as JSON, in its own characters; what is nested too deeply or very long is cut."""
    return show(value, 100_000)


def diff_calls(gold: Sequence[GoldCall], calls: Sequence[ToolCall]) -> tuple[CallDiff, ...]:
    """One entry per expected call, then one per call that nothing expected.

    Calls are paired by name and arguments where they can be, then by name, then in order.
    """
    pairs = _pairs(gold, calls)
    found = [_diff_call(g, calls[p] if p is not None else None) for g, p in zip(gold, pairs, strict=True)]
    extra = [_extra(call) for index, call in enumerate(calls) if index not in pairs]
    return (*found, *extra)


def _pairs(gold: Sequence[GoldCall], calls: Sequence[ToolCall]) -> list[int | None]:
    pairs: list[int | None] = [None] * len(gold)
    for fits in (_equal, _same_name, lambda g, c: True):
        rows = [i for i, pair in enumerate(pairs) if pair is None]
        columns = [i for i in range(len(calls)) if i not in pairs]
        if rows and columns:
            for row, place in zip(
                rows, assign([[fits(gold[i], calls[k]) for k in columns] for i in rows]), strict=True
            ):
                pairs[row] = columns[place] if place is not None else None
    return pairs


def _same_name(gold: GoldCall, call: ToolCall) -> bool:
    return gold.name == call.name


def _equal(gold: GoldCall, call: ToolCall) -> bool:
    return gold.name == call.name and all(
        a.status in ("same", "accepted", "left_out") for a in _arguments(gold.arguments, call.arguments)
    )


def _diff_call(gold: GoldCall, call: ToolCall | None) -> CallDiff:
    if call is None:
        missing = tuple(
            ArgumentDiff(k, "missing", _whole("gone", _first(a))) for k, a in gold.arguments.items()
        )
        return CallDiff("missing", (("gone", gold.name),), (), missing)
    arguments = _arguments(gold.arguments, call.arguments)
    same = gold.name == call.name and all(a.status in ("same", "accepted", "left_out") for a in arguments)
    return CallDiff("same" if same else "different", *text_diff(gold.name, call.name), arguments)


def _extra(call: ToolCall) -> CallDiff:
    arguments = tuple(ArgumentDiff(k, "extra", (), _whole("new", v)) for k, v in call.arguments.items())
    return CallDiff("extra", (), (("new", call.name),), arguments)


def _arguments(gold: Mapping[str, GoldArgument], found: Mapping[str, Any]) -> tuple[ArgumentDiff, ...]:
    rows = [_argument(name, argument, found) for name, argument in gold.items()]
    rows += [ArgumentDiff(k, "extra", (), _whole("new", v)) for k, v in found.items() if k not in gold]
    return tuple(rows)


def _argument(name: str, argument: GoldArgument, found: Mapping[str, Any]) -> ArgumentDiff:
    others = tuple(value_text(value) for value in argument.any_of[1:])
    if name not in found:
        status = "left_out" if argument.optional else "missing"
        return ArgumentDiff(name, status, _whole("gone", _first(argument)), (), others)
    value = found[name]
    for place, right in enumerate(argument.any_of):
        if compare(right, value) is not None:
            text = value_text(value)
            status = "accepted" if place else "same"
            return ArgumentDiff(name, status, _whole("same", _first(argument)), (("same", text),), others)
    nearest = _nearest(argument.any_of, value)
    expected, got = (
        text_diff(value_text(nearest), value_text(value)) if argument.any_of else ((), _whole("new", value))
    )
    return ArgumentDiff(
        name, "different", expected, got, others, remark(nearest, value) if argument.any_of else ""
    )


def _nearest(values: Sequence[Any], found: Any) -> Any:
    """The right value that is closest in letters, so that the marks show what is really wrong."""
    if len(values) < 2:
        return values[0] if values else None
    text = value_text(found)[:500]
    return max(values, key=lambda value: SequenceMatcher(None, value_text(value)[:500], text).ratio())


def _first(argument: GoldArgument) -> Any:
    return argument.any_of[0] if argument.any_of else ""


def _whole(kind: str, value: Any) -> tuple[Segment, ...]:
    return ((kind, value_text(value)),)
