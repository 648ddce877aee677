"""How far two raters agree: confusion, Cohen's kappa, Krippendorff's alpha, intervals over clusters.

found = agree(["pass", "fail", "pass"], ["pass", "fail", "fail"], clusters=["a", "b", "c"])
found.kappa, found.kappa_low, found.kappa_high, found.table   # rows: first rater, columns: second
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcb_toolkit.errors import DataError

SIDES = ("pass", "fail")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """`table[i][j]`: items that the first rater calls `SIDES[i]` and the second `SIDES[j]`.

    `skipped`: items that one of the two did not score. NaN where a number is not defined (a rater that
    says the same of all has no kappa), and for intervals of fewer than two clusters.
    """

    n: int
    skipped: int
    table: tuple[tuple[int, int], tuple[int, int]]
    agree: float
    kappa: float
    kappa_low: float
    kappa_high: float
    alpha: float
    alpha_low: float
    alpha_high: float


def agree(
    first: Sequence[str | None],
    second: Sequence[str | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    draws: int = 2000,
    level: float = 0.95,
) -> Agreement:
    """Agreement of two raters on the same items; anything but pass and fail is skipped and counted.

    Intervals: percentile bootstrap that draws whole clusters (default: each item is its own), seed 0.
    """
    groups = list(clusters) if clusters is not None else list(range(len(first)))
    if not len(first) == len(second) == len(groups):
        raise DataError(
            f"raters and clusters of {len(first)}, {len(second)} and {len(groups)} items; expected equal"
        )
    tables: dict[Hashable, Floats] = {}
    for one, other, group in zip(first, second, groups, strict=True):
        if one in SIDES and other in SIDES:
            table = tables.setdefault(group, np.zeros(4))
            table[2 * SIDES.index(one) + SIDES.index(other)] += 1
    each = np.array(list(tables.values())).reshape(-1, 4)
    whole = each.sum(axis=0)
    n = int(whole.sum())
    low_high = _bootstrap(each, draws, level)
    a, b, c, d = (int(count) for count in whole)
    return Agreement(
        n,
        len(first) - n,
        ((a, b), (c, d)),
        (a + d) / n if n else math.nan,
        _kappa(whole),
        *low_high[0],
        float(alphas(whole[None])[0]),
        *low_high[1],
    )


def _kappa(table: Floats) -> float:
    """statsmodels', NaN where it divides by zero."""
    from statsmodels.stats.inter_rater import cohens_kappa

    if math.isnan(kappas(table[None])[0]):
        return math.nan
    return float(cohens_kappa(table.reshape(2, 2), return_results=False))


def kappas(tables: Floats) -> Floats:
    """Cohen's kappa of many tables (k, 4) at once, for the bootstrap."""
    a, b, c, d = tables.T
    n = tables.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = ((a + b) * (a + c) + (c + d) * (b + d)) / n**2
        found = ((a + d) / n - chance) / (1 - chance)
    return np.where(np.isclose(chance, 1.0), np.nan, found)


def alphas(tables: Floats) -> Floats:
    """Krippendorff's nominal alpha of two raters without gaps, of many tables (k, 4) at once."""
    a, b, c, d = tables.T
    passes, fails = 2 * a + b + c, 2 * d + b + c
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 1 - (passes + fails - 1) * (b + c) / (passes * fails)
    return np.where(passes * fails == 0, np.nan, found)


def krippendorff_alpha(ratings: Sequence[Sequence[Any]]) -> float:
    """Nominal alpha of any number of raters; `ratings[rater][item]`, None where a rater said nothing.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". NaN if all said the same, or no item has
    two ratings. (Own code: no library that the toolkit uses has it.)
    """
    pairs: Counter[tuple[Any, Any]] = Counter()
    for item in zip(*ratings, strict=True):
        said = Counter(value for value in item if value is not None)
        count = sum(said.values())
        if count < 2:
            continue
        for one, times in said.items():
            for other, again in said.items():
                pairs[one, other] += times * (again - (one == other)) / (count - 1)
    totals: Counter[Any] = Counter()
    for (one, _), weight in pairs.items():
        totals[one] += weight
    n = sum(totals.values())
    expected = n * n - sum(total * total for total in totals.values())
    if not expected:
        return math.nan
    observed = sum(weight for (one, other), weight in pairs.items() if one != other)
    return float(1 - (n - 1) * observed / expected)


def _bootstrap(each: Floats, draws: int, level: float) -> list[tuple[float, float]]:
    if len(each) < 2:
        return [(math.nan, math.nan)] * 2
    generator = np.random.default_rng(0)
    weights = generator.multinomial(len(each), np.full(len(each), 1 / len(each)), size=draws)
    drawn = weights.astype(float) @ each
    ends = [(1 - level) / 2, (1 + level) / 2]
    found = []
    for values in (kappas(drawn), alphas(drawn)):
        values = values[~np.isnan(values)]
        low, high = np.quantile(values, ends) if len(values) else (math.nan, math.nan)
        found.append((float(low), float(high)))
    return found
