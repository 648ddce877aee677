"""Texts cut into parts that keep what the prefix engine gains: texts with a long common prefix stay together.

split(["AAx", "By", "AAz", "Bw"], 2)      # [[0, 2], [3, 1]]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

EACH = 500
"""Cost of one text beside its characters: its reply is written whatever its prompt shares."""
SLACK = 0.2
"""A cut may lie this share of a part beside the even one, to fall where neighbours share least."""


def split(texts: Sequence[str], parts: int) -> list[list[int]]:
    """Indices of all texts in at most `parts` parts of about equal cost, none of them empty.

    The parts are stretches of the texts in order, so that a common prefix is torn only at a cut. The cost
    counts a text's characters behind what it shares with the one before it, and `EACH`.
    """
    order = sorted(range(len(texts)), key=texts.__getitem__)
    parts = min(parts, len(order))
    if parts < 2:
        return [order] if order else []
    shared = [shared_length(texts[a], texts[b]) for a, b in pairwise(order)]
    costs = [EACH + len(texts[i]) - known for i, known in zip(order, [0, *shared], strict=True)]
    until = [0, *accumulate(costs)]
    cuts = [0]
    for part in range(1, parts):
        first, last = cuts[-1] + 1, len(order) - (parts - part)
        cuts.append(_cut(shared, until, until[-1] * part / parts, range(first, last + 1), parts))
    return [order[a:b] for a, b in pairwise([*cuts, len(order)])]


def _cut(shared: Sequence[int], until: Sequence[int], even: float, places: range, parts: int) -> int:
    """The place near the even one whose two neighbours share least; cut `i` lies before text `i`."""
    slack = SLACK * until[-1] / parts
    near = [i for i in places if abs(until[i] - even) <= slack]
    if not near:
        return min(places, key=lambda i: abs(until[i] - even))
    return min(near, key=lambda i: (shared[i - 1], abs(until[i] - even)))


def shared_length(a: str, b: str) -> int:
    """Length of the common prefix. Slices compare at the speed of C; a loop over characters does not."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
