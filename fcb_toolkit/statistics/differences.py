"""The arithmetic of paired differences: counts, Tango's interval, permutation test, least difference.

data = Pairs.of(passed_a, passed_b, units)
interval(data, 0.95)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcb_toolkit.statistics.intervals import LEAST_DF

Floats = NDArray[np.float64]
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Pairs:
    """Counts of the four outcomes, and the sum of differences (b - a) and the size of each cluster."""

    both: int
    only_a: int
    only_b: int
    neither: int
    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, a: Floats, b: Floats, unit: NDArray[np.intp]) -> Pairs:
        """From outcomes 1.0 and 0.0 of the same items; all three of shape (pairs,)."""
        return cls(
            both=int(np.sum((a == 1) & (b == 1))),
            only_a=int(np.sum((a == 1) & (b == 0))),
            only_b=int(np.sum((a == 0) & (b == 1))),
            neither=int(np.sum((a == 0) & (b == 0))),
            sums=np.bincount(unit, weights=b - a).astype(float),
            sizes=np.bincount(unit).astype(float),
        )

    @property
    def n(self) -> int:
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def clusters(self) -> int:
        return len(self.sizes)

    @property
    def clustered(self) -> bool:
        return bool((self.sizes > 1).any())

    @property
    def rate_a(self) -> float:
        return (self.both + self.only_a) / self.n if self.n else math.nan

    @property
    def rate_b(self) -> float:
        return (self.both + self.only_b) / self.n if self.n else math.nan

    @property
    def difference(self) -> float:
        return (self.only_b - self.only_a) / self.n if self.n else math.nan


def interval(data: Pairs, level: float) -> tuple[float, float]:
    """Tango's (1998) score interval of the paired difference, (low, high) in [-1, 1].

    With clusters the counts are scaled to the effective number of pairs and t takes z's place, as in
    `intervals.clustered_wilson`. No pairs at all give (-1, 1).
    """
    from scipy import stats

    if data.n == 0:
        return -1.0, 1.0
    tail = (1 + level) / 2
    if not data.clustered:
        return tango(data.only_b, data.only_a, data.n, float(stats.norm.ppf(tail)))
    effective, df = _effective(data)
    t = float(stats.t.ppf(tail, df)) if df >= 1 else float(stats.norm.ppf(tail))
    scale = effective / data.n
    return tango(data.only_b * scale, data.only_a * scale, effective, t)


def _effective(data: Pairs) -> tuple[float, float]:
    """Effective number of pairs, and degrees of freedom of its variance (0: unknown, one cluster)."""
    clusters, mean = data.clusters, data.difference
    single = (data.only_a + data.only_b) / data.n - mean**2
    variance = standard_error(data) ** 2
    residual = (data.sums - mean * data.sizes) ** 2
    if clusters < 2 or variance <= 0 or single <= 0:
        return float(clusters), float(clusters - 1)
    carried = residual.sum() ** 2 / (residual**2).sum() - 1
    df = min(max(carried, LEAST_DF), clusters - 1)
    return min(single / variance, data.n), df


def standard_error(data: Pairs) -> float:
    """Jackknife standard error of the difference over clusters (0 with fewer than two)."""
    if data.clusters < 2:
        return 0.0
    without = (data.sums.sum() - data.sums) / (data.n - data.sizes)
    spread = float(((without - data.difference) ** 2).sum())
    return math.sqrt(spread * (data.clusters - 1) / data.clusters)


def tango(plus: float, minus: float, n: float, z: float) -> tuple[float, float]:
    """Limits of (plus - minus) / n: the differences that the score test at `z` does not reject.

    `plus` and `minus` are the discordant counts, possibly scaled. Neither statsmodels nor scipy has it.
    """
    from scipy.optimize import brentq

    observed = (plus - minus) / n

    def excess(delta: float) -> float:
        return _score(plus, minus, n, delta) - z

    def deficit(delta: float) -> float:
        return _score(plus, minus, n, delta) + z

    edge = 1 - 1e-12
    low = -1.0 if excess(-edge) <= 0 else float(brentq(excess, -edge, observed, xtol=1e-10))
    high = 1.0 if deficit(edge) >= 0 else float(brentq(deficit, observed, edge, xtol=1e-10))
    return low, high


def _score(plus: float, minus: float, n: float, delta: float) -> float:
    """Tango's statistic for the hypothesis `difference = delta` (Statistics in Medicine 17, 891)."""
    a = 2 * n
    b = -plus - minus + (2 * n - plus + minus) * delta
    c = -minus * delta * (1 - delta)
    nuisance = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (2 * nuisance + delta * (1 - delta))
    distance = plus - minus - n * delta
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


def permutation_p(data: Pairs) -> float:
    """Two-sided p of 'a and b are alike': the share of all ways to swap a and b in whole clusters whose
    difference is at least the one seen. Exact for any number of clusters.

    A cluster's sum of differences is a whole number, so the sums of one size are a binomial times that size,
    and the distribution is their convolution. scipy's `permutation_test` tries swaps one by one, which is
    exact up to 13 clusters only; the tests compare with it.
    """
    from scipy import signal, stats

    steps = np.abs(data.sums).astype(int)
    total, seen = int(steps.sum()), abs(int(data.sums.sum()))
    chance = np.ones(1)
    for step, count in zip(*np.unique(steps[steps > 0], return_counts=True), strict=True):
        part = np.zeros(step * count + 1)
        part[::step] = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        chance = signal.convolve(chance, part)
    difference = np.abs(2 * np.arange(total + 1) - total)
    return float(np.clip(chance[difference >= seen].sum(), 0.0, 1.0))


def least_difference(data: Pairs, level: float, power: float = POWER) -> float:
    """The smallest true difference that a two-sided t-test over the clusters shows with this power.

    Miller 2024, section 5, with the standard error seen in these data; the t-test's power is
    statsmodels'. Where the two sides never differ the standard error is taken as if one pair did.
    NaN with fewer than three clusters.
    """
    from statsmodels.stats.power import TTestPower

    if data.clusters < 3:
        return math.nan
    error = standard_error(data) or 1 / data.n
    effect = TTestPower().solve_power(nobs=data.clusters, alpha=1 - level, power=power)
    return min(float(effect) * error * math.sqrt(data.clusters), 1.0)
