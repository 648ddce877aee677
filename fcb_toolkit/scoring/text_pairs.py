"""Labelled pairs of texts, and how well closeness tells them apart: what notebook 6 calibrates on.

    {"id": "opposite-02", "kind": "opposite", "half": "held", "a": "문이 열려 있습니다.", "b": "문이 닫혀 있습니다."}

kind: `paraphrase` (should pass), `unrelated`, `related` (same topic, another statement), `opposite`,
`negation` (should all fail). half: `calibration` or `held`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.encoders import Encoder, cosine
from fcb_toolkit.errors import DataError
from fcb_toolkit.scoring.text_polarity import contradiction

KINDS = ("paraphrase", "unrelated", "related", "opposite", "negation")
HALVES = ("calibration", "held")
Row = Mapping[str, Any]


def read_pairs(path: Path | str) -> list[dict[str, Any]]:
    """The pairs in file order. Raises `DataError` with file and line."""
    pairs = []
    for number, row in jsonl.read(path):
        bad = row.get("kind") not in KINDS or row.get("half") not in HALVES
        if bad or not isinstance(row.get("a"), str) or not isinstance(row.get("b"), str):
            raise DataError(
                f"{path} line {number}: expected texts 'a' and 'b', a 'kind' of {', '.join(KINDS)} "
                f"and a 'half' of {', '.join(HALVES)}"
            )
        pairs.append(row)
    return pairs


def measure(pairs: Sequence[Row], encode: Encoder) -> list[dict[str, Any]]:
    """Each pair with its `similarity` and with `against`, what the guard found ("" for nothing)."""
    first, second = encode([pair["a"] for pair in pairs]), encode([pair["b"] for pair in pairs])
    return [
        {**pair, "similarity": cosine(one, two), "against": contradiction(pair["a"], pair["b"])}
        for pair, one, two in zip(pairs, first, second, strict=True)
    ]


def pass_rates(rows: Iterable[Row], threshold: float, guard: bool = True) -> dict[str, float]:
    """Of each kind, the share that passes at a threshold, with the guard or by closeness alone."""
    passed: dict[str, list[bool]] = {}
    for row in rows:
        close = row["similarity"] >= threshold and not (guard and row["against"])
        passed.setdefault(row["kind"], []).append(close)
    return {kind: sum(passed[kind]) / len(passed[kind]) for kind in KINDS if kind in passed}


def best_threshold(rows: Sequence[Row], step: float = 0.01) -> float:
    """The threshold with the greatest lead of paraphrases over the other kinds, each kind counting alike.

    Guard on. Of equally good ones the lowest, on a grid of `step`.
    """

    def lead(threshold: float) -> float:
        rates = pass_rates(rows, threshold)
        others = [rate for kind, rate in rates.items() if kind != "paraphrase"]
        return round(rates["paraphrase"] - sum(others) / len(others), 9)

    grid = [round(index * step, 6) for index in range(int(1 / step) + 1)]
    return max(grid, key=lead)


def roc_points(rows: Sequence[Row], guard: bool = True) -> list[dict[str, float]]:
    """Each threshold that changes something, with the shares of paraphrases (`right`) and others (`wrong`) passed.

    Kinds count alike in `wrong`. From the strictest threshold to none, so that both shares grow.
    """
    points = []
    for threshold in [1.01, *sorted({row["similarity"] for row in rows}, reverse=True)]:
        rates = pass_rates(rows, threshold, guard)
        others = [rate for kind, rate in rates.items() if kind != "paraphrase"]
        points.append(
            {"threshold": threshold, "right": rates["paraphrase"], "wrong": sum(others) / len(others)}
        )
    return points


def area(points: Sequence[Mapping[str, float]]) -> float:
    """Area under a curve of `roc_points` (trapezoids), completed to (1, 1) by a straight line."""
    ends = [*points, {"right": 1.0, "wrong": 1.0}]
    return sum((b["wrong"] - a["wrong"]) * (a["right"] + b["right"]) / 2 for a, b in pairwise(ends))
