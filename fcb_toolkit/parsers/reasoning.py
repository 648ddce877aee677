"""Splits a reply into reasoning and answer, also where the chat template opened the reasoning.

    split("비가 온다.</think>우산을 챙기세요.", prompt="...<think>\\n", openers=())
    # Split(reasoning="비가 온다.", start=..., closed=True)

Reasoning is a block at the very start of a reply. A closing tag without an opening one ends reasoning
if no call begins before it: what stands in a call's argument is the argument's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fcb_toolkit.parsers.scan import Scan

PAIRS = (
    ("<think>", "</think>"),
    ("<thought>", "</thought>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
_NEAR = 80
"""Characters between the outer mark of a call and what its signature finds."""
_ORPHANS = ("</think>", "</thought>", "[/THINK]", "<|END_THINKING|>", "</seed:think>")
"""Closings that end reasoning without an opening. The others are words of ordinary answers."""


@dataclass(frozen=True, slots=True)
class Split:
    """`reasoning` is None where there is none; the answer begins at `start`. `closed` is False where the
    block never ends: then `start` is where a call begins in it, or the end of the text."""

    reasoning: str | None
    start: int
    closed: bool = True


def split(
    text: str, prompt: str | None, openers: tuple[str, ...], signature: re.Pattern[str] | None = None
) -> Split:
    """`openers` are the marks that begin a call in the reply's format; `signature` finds one that does,
    and not a mark that is only mentioned."""
    scan = Scan(text)
    blocks: list[str] = []
    start = scan.skip(0)
    pair = _opened_by(prompt)
    while True:
        opening = next((p for p in PAIRS if scan.at(p[0], start)), None)
        if opening is None and pair is None:
            break
        if opening is not None:
            start, pair = start + len(opening[0]), opening
        close = pair[1] if pair else ""
        stop = scan.find(close, start)
        if stop < 0:
            call = _call_start(scan, start, openers, signature)
            stop = scan.end if call < 0 else call
            blocks.append(text[start:stop])
            return Split(_joined(blocks), stop, closed=False)
        blocks.append(text[start:stop])
        start, pair = scan.skip(stop + len(close)), None
    if blocks:
        return _goes_on(scan, blocks, Split(None, start), signature)
    orphan = _orphan(scan, signature)
    if orphan.reasoning is None:
        return orphan
    return _goes_on(scan, [orphan.reasoning], orphan, signature)


def _call_start(scan: Scan, start: int, openers: tuple[str, ...], signature: re.Pattern[str] | None) -> int:
    """Where a call begins in reasoning that is never closed; -1 for nowhere."""
    found = scan.search(signature, start) if signature else None
    if found is None:
        return scan.find_first(openers, start)[0]
    window = max(start, found.start() - _NEAR)
    near = [scan.text.find(opener, window, found.start()) for opener in openers]
    return min([found.start(), *(at for at in near if at >= 0)])


def _orphan(scan: Scan, signature: re.Pattern[str] | None) -> Split:
    stop, close = scan.find_first(_ORPHANS, 0)
    called = stop > 0 and signature is not None and scan.search(signature, 0, stop) is not None
    first = scan.skip(0)
    begins_bare = scan.text[first : first + 1] in ("{", "[") or scan.at("```", first)
    quoted = stop > 0 and scan.text[stop + len(close) : stop + len(close) + 1] in ('"', "'", "\\")
    if stop < 0 or called or begins_bare or quoted:
        return Split(None, 0)
    opening = next(pair[0] for pair in PAIRS if pair[1] == close)
    if 0 <= scan.find(opening, 0) < stop:  # a block in the middle of an answer is the answer's
        return Split(None, 0)
    return Split(_joined([scan.text[:stop]]), stop + len(close))


def _goes_on(scan: Scan, blocks: list[str], split: Split, signature: re.Pattern[str] | None) -> Split:
    """A second closing tag at the edge of a line: the model went on thinking after the first."""
    start = split.start
    while True:
        stop, close = scan.find_first(_ORPHANS, start)
        opening = next((pair[0] for pair in PAIRS if pair[1] == close), "")
        after = stop + len(close)
        at_edge = scan.text[stop - 1 : stop] == "\n" or scan.text[after : after + 1] in ("", "\n", "<")
        if stop < 0 or not at_edge or 0 <= scan.find(opening, start) < stop:
            return Split(_joined(blocks), start)
        if signature is not None and scan.search(signature, start, stop) is not None:
            return Split(_joined(blocks), start)
        blocks.append(scan.text[start:stop])
        start = after


def _opened_by(prompt: str | None) -> tuple[str, str] | None:
    """The pair whose opening ends the prompt; a block that the template closed again does not count."""
    tail = (prompt or "")[-200:].rstrip()
    return next((pair for pair in PAIRS if tail.endswith(pair[0])), None)


def _joined(blocks: list[str]) -> str | None:
    return "\n".join(block.strip() for block in blocks).strip() or None
