"""Intervals of a pass rate: Wilson and Jeffreys for single items, Wilson at the effective size for clusters.

    wilson(18, 20)                    # (0.699, 0.972)

statsmodels computes Wilson and Jeffreys. The clustered interval is not in statsmodels or scipy; its
variance is the delete-one-cluster jackknife, checked in the tests against a loop over
statsmodels' own estimates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcb_toolkit.errors import DataError

Floats = NDArray[np.float64]
LEAST_DF = 5.0
"""Floor of the degrees of freedom: below it t explodes, and coverage is above 0.95 already (docs)."""


def wilson(passes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a rate, (low, high) in [0, 1]. Wilson 1927; `statsmodels` computes it.

    `n = 0` gives (0.0, 1.0), Wilson's own limit: nothing is known. Raises `DataError` for impossible
    counts and for a level outside (0, 1).
    """
    return _interval(passes, n, level, "wilson")


def jeffreys(passes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Jeffreys' equal-tailed interval, with 0 and 1 as limits where none or all pass.

    The limits at the ends follow Brown, Cai and DasGupta 2001; `statsmodels` computes the rest.
    """
    low, high = _interval(passes, n, level, "jeffreys")
    return (0.0 if passes == 0 else low), (1.0 if passes == n else high)


def _interval(passes: float, n: float, level: float, method: str) -> tuple[float, float]:
    from statsmodels.stats.proportion import proportion_confint

    check_level(level)
    if not 0 <= passes <= n:
        raise DataError(f"passes={passes!r} of n={n!r}: expected 0 <= passes <= n")
    if n == 0:
        return 0.0, 1.0
    low, high = proportion_confint(passes, n, alpha=1 - level, method=method)
    # Rounding leaves 1e-17 instead of 0 where none pass.
    return (0.0 if passes == 0 else float(low)), (1.0 if passes == n else float(high))


def check_level(level: float) -> None:
    """`DataError` unless the level is a share strictly between 0 and 1."""
    if not 0 < level < 1:
        raise DataError(f"level={level!r}: expected a share between 0 and 1, as 0.95")


@dataclass(frozen=True, slots=True)
class Clusters:
    """Totals of clusters, one element a cluster: `group` (0..groups-1), `passes` and `size` (both > 0)."""

    group: NDArray[np.intp]
    passes: Floats
    size: Floats
    groups: int

    def sum(self, values: Floats) -> Floats:
        """Sums over the clusters of each group; shape (groups,)."""
        return np.bincount(self.group, weights=values, minlength=self.groups).astype(float)

    @property
    def count(self) -> Floats:
        return np.bincount(self.group, minlength=self.groups).astype(float)


def intervals(data: Clusters, level: float) -> tuple[Floats, Floats, Floats, NDArray[np.str_]]:
    """(rate, low, high, method) of each group: Wilson where clusters are single items, else clustered."""
    from scipy import stats

    rate, low, high = clustered_wilson(data, level)
    n = data.sum(data.size)
    single = data.sum((data.size > 1).astype(float)) == 0
    plain_low, plain_high = wilson_at(rate, n, stats.norm.ppf((1 + level) / 2))
    method = np.where(n == 0, "none", np.where(single, "wilson", "wilson clustered"))
    return rate, np.where(single, plain_low, low), np.where(single, plain_high, high), method


def clustered_wilson(data: Clusters, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """(rate, low, high) of each group whose items come in clusters; each of shape (groups,).

    Wilson's interval at the effective number of items `p (1 - p) / v`, where `v` is the jackknife
    variance over clusters, with Student's t in place of z. This is Korn and Graubard's (1998) idea with
    Wilson's interval for Clopper-Pearson's, and with additions found by simulation:

    * degrees of freedom are the effective number of clusters that carry the variance,
      `(sum e^2)^2 / sum e^4 - 1`, between 5 and clusters - 1. With a rate near 0 or 1 a few clusters
      carry it all; t on clusters - 1 then covers as little as 88%.
    * where all items pass or fail the variance is unknown, and the items count as few as there are
      clusters: a cluster may be one observation said several times.
    * where the clusters of several items all have one outcome and only single items differ, nothing tells
      how alike a cluster's items are; they count as if wholly alike, `(sum m)^2 / sum m^2` for sizes m.

    A single cluster counts as one item. Empty groups give NaN and (0, 1).
    """
    from scipy import stats

    check_level(level)
    count, n, passes = data.count, data.sum(data.size), data.sum(data.passes)
    with np.errstate(all="ignore"):
        rate = passes / n
        variance, carried = _jackknife(data, rate)
        unknown = (passes == 0) | (passes == n) | (carried == 0) | (count < 2)
        effective = np.where(unknown, count, np.minimum(rate * (1 - rate) / variance, n))
        effective = np.minimum(effective, np.where(_unseen(data), n**2 / data.sum(data.size**2), np.inf))
        least = np.minimum(LEAST_DF, count - 1)
        df = np.where(unknown, count - 1, np.clip(carried - 1, least, count - 1))
        # One cluster has no degrees of freedom at all, and counts as one item.
        t = np.where(
            count < 2, stats.norm.ppf((1 + level) / 2), stats.t.ppf((1 + level) / 2, np.maximum(df, 1))
        )
    low, high = wilson_at(rate, effective, t)
    return rate, low, high


def _unseen(data: Clusters) -> NDArray[np.bool_]:
    """Groups whose clusters of several items all pass, or all fail, while single items differ."""
    several = (data.size > 1).astype(float)
    size, passes = data.sum(data.size * several), data.sum(data.passes * several)
    total, all_passes = data.sum(data.size), data.sum(data.passes)
    same = (size > 0) & ((passes == 0) | (passes == size))
    unseen: NDArray[np.bool_] = same & (all_passes > 0) & (all_passes < total)
    return unseen


def _jackknife(data: Clusters, rate: Floats) -> tuple[Floats, Floats]:
    """Variance of the rate when one cluster is left out at a time, and how many clusters carry it."""
    n, passes, count = data.sum(data.size), data.sum(data.passes), data.count
    group = data.group
    without = (passes[group] - data.passes) / (n[group] - data.size)
    spread = data.sum((without - rate[group]) ** 2)
    residual = (data.passes - rate[group] * data.size) ** 2
    total, squared = data.sum(residual), data.sum(residual**2)
    carried = np.where(squared > 0, total**2 / np.where(squared > 0, squared, 1), 0)
    return spread * (count - 1) / count, carried


def wilson_at(rate: Floats, n: Floats, t: Floats | float) -> tuple[Floats, Floats]:
    """Wilson's limits with a multiplier in place of z for each element; n may be a broken number."""
    from scipy import stats
    from statsmodels.stats.proportion import proportion_confint

    some = np.where(n > 0, n, 1.0)
    passes = np.clip(np.where(n > 0, rate, 0.5), 0, 1) * some
    low, high = proportion_confint(passes, some, alpha=2 * stats.norm.sf(t), method="wilson")
    low = np.where(n > 0, np.where(rate == 0, 0.0, low), 0.0)
    return low, np.where(n > 0, np.where(rate == 1, 1.0, high), 1.0)
