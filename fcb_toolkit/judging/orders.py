"""A rubric in another order that says the same: what a judge's verdict must not depend on.

A judge of one reply has no first and second answer to prefer, but its prompt has an order all the same.

given      as the rubric is written
verdicts   the two verdict lines that it may choose from, named the other way round
material   the reply to grade before the model answer and its alternatives

Options in another order, and material in another order, are the two kinds of position bias that a pointwise
judge can have; each is measured by asking in both orders (`position`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from fcb_toolkit.errors import DataError
from fcb_toolkit.judging.read import read_verdict
from fcb_toolkit.judging.rubrics import Rubric

GIVEN = "given"
ORDERS = (GIVEN, "verdicts", "material")
_BLOCK = re.compile(r"^[^\n]+\n\{(ground_truth|acceptable_arguments|response)\}$", re.MULTILINE)


def reordered(rubric: Rubric, order: str) -> Rubric:
    """Raises `DataError` for a rubric that cannot be put into that order without changing its words."""
    if order == GIVEN:
        return rubric
    text = _other_verdict_first(rubric.text) if order == "verdicts" else _reply_first(rubric.text)
    if text is None:
        wanted = {
            "verdicts": "two lines at its end that are a pass and a fail",
            "material": "a heading and {ground_truth}, then a heading and {response}, on lines of their own",
        }
        raise DataError(
            f"rubric {rubric.kind} ({rubric.source}): cannot be asked in the order {order!r}; "
            f"expected {wanted[order]}"
        )
    return replace(rubric, text=text)


def _other_verdict_first(text: str) -> str | None:
    lines = text.rstrip().split("\n")
    if len(lines) < 2 or {read_verdict(lines[-2]), read_verdict(lines[-1])} != {"pass", "fail"}:
        return None
    lines[-2:] = [lines[-1], lines[-2]]
    return "\n".join(lines) + text[len(text.rstrip()) :]


def _reply_first(text: str) -> str | None:
    blocks = list(_BLOCK.finditer(text))
    places = [block[1] for block in blocks]
    if len(places) < 2 or places[-1] != "response" or places[0] != "ground_truth":
        return None
    moved = [blocks[-1], *blocks[:-1]]
    parts, end = [], 0
    for old, new in zip(blocks, moved, strict=True):
        parts += [text[end : old.start()], new[0]]
        end = old.end()
    return "".join([*parts, text[end:]])
