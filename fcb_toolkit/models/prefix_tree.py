"""Prompts as a prefix tree of tokens: which prefixes to compute once.

    root = build([[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 9]], least=2)
    # Node(edge=[1, 2], children=[Node([3], ...leaves [4] and [5]), leaf [9]])

Every prompt is a leaf whose edge has at least one token: the one that the first new token follows from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(slots=True)
class Node:
    """`edge`: the tokens after the parent's. `leaf`: index of the prompt that ends here, or None."""

    edge: Sequence[int]
    children: list[Node] = field(default_factory=list)
    leaf: int | None = None

    @property
    def depth_below(self) -> int:
        """Edges on the longest way down."""
        return 1 + max((child.depth_below for child in self.children), default=0)


def shared_length(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the common prefix, at most one less than the shorter's length."""
    most = min(len(a), len(b)) - 1
    if list(a[:most]) == list(b[:most]):
        return max(most, 0)
    low, high = 0, most
    # Slices compare at the speed of C; a loop over tokens does not.
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def build(prompts: Sequence[Sequence[int]], least: int = 8) -> list[Node]:
    """The tree's top nodes. A shared prefix becomes a node where it saves at least `least` tokens a prompt."""
    order = sorted(range(len(prompts)), key=lambda i: list(prompts[i]))
    shared = [shared_length(prompts[a], prompts[b]) for a, b in pairwise(order)]
    return _groups(prompts, order, shared, 0, least)


def _groups(
    prompts: Sequence[Sequence[int]], order: list[int], shared: list[int], depth: int, least: int
) -> list[Node]:
    """Splits neighbours that share fewer than `least` tokens beyond `depth`; each part becomes a node."""
    nodes: list[Node] = []
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order) and shared[end - 1] >= depth + least:
            continue
        part, inner = order[start:end], shared[start : end - 1]
        start = end
        if len(part) == 1:
            nodes.append(Node(prompts[part[0]][depth:], leaf=part[0]))
            continue
        reach = min(inner)
        children = _groups(prompts, part, inner, reach, least)
        nodes.append(Node(prompts[part[0]][depth:reach], children))
    return nodes


def tokens(nodes: Sequence[Node]) -> int:
    """Tokens on all edges: what a prefill that computes each node once has to do."""
    return sum(len(node.edge) + tokens(node.children) for node in nodes)


def distinct_tokens(prompts: Sequence[Sequence[int]]) -> int:
    """Tokens of the exact prefix tree: the least that any prefill can do (one token a prompt is never shared)."""
    order = sorted(map(list, prompts))
    shared = [shared_length(a, b) for a, b in pairwise(order)]
    return sum(map(len, order)) - sum(shared)
