"""Do the intervals hold? Coverage of `summarize` and `compare` on simulated clustered binary data.

    python benchmarks/coverage.py [--quick] [--json] [--write docs/statistics.md]

Rates: clusters draw their own rate from a beta distribution (intraclass correlation `rho`), items are
Bernoulli. Differences: clusters draw the shares of the four paired outcomes from a Dirichlet
distribution. The table is the one in docs/statistics.md; `--write` puts it there between its marks.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import time
from pathlib import Path

import numpy as np
from scipy import stats

from fcb_toolkit.statistics.differences import Pairs, interval
from fcb_toolkit.statistics.intervals import Clusters, clustered_wilson, wilson_at

DESIGNS = {
    "10 clusters of 5": [5] * 10,
    "10 clusters of 1 to 12": [1, 2, 2, 3, 3, 4, 5, 6, 8, 12],
    "20 clusters of 5": [5] * 20,
    "20 single cases and 10 clusters of 5": [1] * 20 + [5] * 10,
    "45 dialogs of 1 to 9": [1, 2, 3, 4, 4, 5, 5, 7, 9] * 5,
    "100 queries x 5 tool lists": [5] * 100,
    "200 tool lists of 1 to 6": [1, 2, 3, 6] * 50,
}
RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9, 0.97)
RHOS = (0.0, 0.1, 0.3, 0.7, 1.0)
METHODS = ("wilson clustered", "t", "logit t", "Korn-Graubard", "wilson, clusters ignored")
# (both, only a, only b, neither): a tie, ties of strong and weak models, a small and a large gain.
QUADRANTS = {
    "tie, half right": (0.4, 0.1, 0.1, 0.4),
    "tie, nearly always right": (0.94, 0.02, 0.02, 0.02),
    "gain 5 points": (0.6, 0.05, 0.10, 0.25),
    "gain 20 points": (0.5, 0.05, 0.25, 0.2),
}


def simulate(rng: np.random.Generator, sizes: np.ndarray, p: float, rho: float, repeats: int) -> np.ndarray:
    """Passes of each cluster; shape (repeats, clusters)."""
    shape = (repeats, len(sizes))
    if rho == 0:
        own = np.full(shape, p)
    elif rho == 1:
        own = (rng.random(shape) < p).astype(float)
    else:
        own = rng.beta(p * (1 / rho - 1), (1 - p) * (1 / rho - 1), shape)
    return rng.binomial(sizes[None, :], np.clip(own, 0, 1)).astype(float)


def alternatives(passes: np.ndarray, sizes: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The intervals that were compared, each (low, high) of shape (repeats,)."""
    repeats, count = passes.shape
    n, rate = sizes.sum(), passes.sum(1) / sizes.sum()
    group = np.repeat(np.arange(repeats), count)
    data = Clusters(group, passes.ravel(), np.tile(sizes, repeats).astype(float), repeats)
    _, low, high = clustered_wilson(data)
    residual = passes - rate[:, None] * sizes
    error = np.sqrt(count / (count - 1) * (residual**2).sum(1)) / n
    t = stats.t.ppf(0.975, count - 1)
    inside = np.clip(rate, 1e-9, 1 - 1e-9)
    logit, spread = np.log(inside / (1 - inside)), error / (inside * (1 - inside))
    with np.errstate(all="ignore"):
        effective = np.where(error > 0, rate * (1 - rate) / error**2, n)
    effective = np.minimum(effective * (stats.norm.ppf(0.975) / t) ** 2, n)
    hits = rate * effective
    lower = np.where(hits > 0, stats.beta.ppf(0.025, hits, effective - hits + 1), 0)
    upper = np.where(rate < 1, stats.beta.ppf(0.975, hits + 1, np.maximum(effective - hits, 1e-12)), 1)
    return {
        "wilson clustered": (low, high),
        "t": (rate - t * error, rate + t * error),
        "logit t": (stats.logistic.cdf(logit - t * spread), stats.logistic.cdf(logit + t * spread)),
        "Korn-Graubard": (lower, upper),
        "wilson, clusters ignored": wilson_at(rate, np.full(repeats, float(n)), 1.96),
    }


def rate_cells(repeats: int, seed: int = 0) -> list[dict[str, object]]:
    """Coverage and mean width of each method in each cell of the design."""
    rng = np.random.default_rng(seed)
    cells: list[dict[str, object]] = []
    for design, sizes in DESIGNS.items():
        for p in RATES:
            for rho in RHOS:
                passes = simulate(rng, np.array(sizes), p, rho, repeats)
                for method, (low, high) in alternatives(passes, np.array(sizes)).items():
                    held = (low <= p + 1e-12) & (p <= high + 1e-12)
                    width = np.minimum(high, 1) - np.maximum(low, 0)
                    cells.append(
                        {
                            "design": design,
                            "p": p,
                            "rho": rho,
                            "method": method,
                            "coverage": float(held.mean()),
                            "width": float(width.mean()),
                        }
                    )
    return cells


def difference_cells(repeats: int, seed: int = 1) -> list[dict[str, object]]:
    """Coverage and mean width of the paired interval in each cell of the design."""
    rng = np.random.default_rng(seed)
    cells: list[dict[str, object]] = []
    for design, sizes in DESIGNS.items():
        for name, share in QUADRANTS.items():
            for rho in (0.0, 0.3, 0.7):
                true = share[2] - share[1]
                held, widths = 0, 0.0
                for _ in range(repeats):
                    data = draw_pairs(rng, sizes, share, rho)
                    low, high = interval(data, 0.95)
                    held += low - 1e-9 <= true <= high + 1e-9
                    widths += high - low
                cells.append(
                    {
                        "design": design,
                        "truth": name,
                        "rho": rho,
                        "coverage": held / repeats,
                        "width": widths / repeats,
                    }
                )
    return cells


def draw_pairs(rng: np.random.Generator, sizes: list[int], share: tuple[float, ...], rho: float) -> Pairs:
    """Paired outcomes of one simulated benchmark."""
    unit = np.repeat(np.arange(len(sizes)), sizes)
    own = np.tile(share, (len(sizes), 1))
    if rho > 0:
        own = rng.dirichlet(np.array(share) * (1 / rho - 1), len(sizes))
    kind = (rng.random(len(unit))[:, None] > np.cumsum(own, axis=1)[unit]).sum(1)
    kind = np.minimum(kind, 3)
    a, b = np.isin(kind, (0, 1)).astype(float), np.isin(kind, (0, 2)).astype(float)
    return Pairs.of(a, b, unit)


def rate_table(cells: list[dict[str, object]]) -> str:
    """Markdown: one line a method, over all cells."""
    lines = [
        "| interval | least coverage | 5% of cells below | median | cells below 0.94 | mean width |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for method in METHODS:
        part = [cell for cell in cells if cell["method"] == method]
        held = np.array([cell["coverage"] for cell in part], dtype=float)
        width = np.array([cell["width"] for cell in part], dtype=float)
        lines.append(
            f"| {method} | {held.min():.3f} | {np.quantile(held, 0.05):.3f} | {np.median(held):.3f} "
            f"| {(held < 0.94).sum()} of {len(held)} | {width.mean():.3f} |"
        )
    return "\n".join(lines)


def design_table(cells: list[dict[str, object]]) -> str:
    """Markdown: least and mean coverage of the shipped interval, by design and rate."""
    lines = [
        "| data | " + " | ".join(f"p={p:g}" for p in RATES) + " |",
        "| --- |" + " --- |" * len(RATES),
    ]
    for design in DESIGNS:
        row = []
        for p in RATES:
            held = [
                float(str(cell["coverage"]))
                for cell in cells
                if cell["design"] == design and cell["p"] == p and cell["method"] == "wilson clustered"
            ]
            row.append(f"{min(held):.3f} / {np.mean(held):.3f}")
        lines.append(f"| {design} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def difference_table(cells: list[dict[str, object]]) -> str:
    """Markdown: coverage of the paired interval for three intraclass correlations."""
    lines = ["| data | " + " | ".join(QUADRANTS) + " |", "| --- |" + " --- |" * len(QUADRANTS)]
    for design in DESIGNS:
        row = []
        for name in QUADRANTS:
            part = [cell for cell in cells if cell["design"] == design and cell["truth"] == name]
            row.append(" / ".join(f"{float(str(cell['coverage'])):.3f}" for cell in part))
        lines.append(f"| {design} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def write(path: Path, tables: dict[str, str]) -> None:
    """Each table between its marks `<!-- name -->` and `<!-- end -->` in the document."""
    text = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        pattern = rf"(<!-- {name} -->\n)[^<]*(<!-- end -->)"
        text, count = re.subn(pattern, lambda mark, t=table: f"{mark[1]}\n{t}\n\n{mark[2]}", text)
        if count != 1:
            raise SystemExit(f"{path}: found {count} marks '<!-- {name} -->', expected one")
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, under a minute")
    parser.add_argument("--json", action="store_true", help="one JSON object last")
    parser.add_argument("--write", type=Path, help="put the tables into this document")
    options = parser.parse_args()
    start = time.perf_counter()
    rates, differences = (1000, 300) if options.quick else (10_000, 2000)
    cells, pairs = rate_cells(rates), difference_cells(differences)
    tables = {
        "coverage of rates": rate_table(cells),
        "coverage by data": design_table(cells),
        "coverage of differences": difference_table(pairs),
    }
    for name, table in tables.items():
        print(f"{name}\n\n{table}\n")
    if options.write:
        write(options.write, tables)
    if options.json:
        shipped = [float(str(c["coverage"])) for c in cells if c["method"] == "wilson clustered"]
        paired = [float(str(c["coverage"])) for c in pairs]
        print(
            json.dumps(
                {
                    "least_coverage_rate": min(shipped),
                    "median_coverage_rate": float(np.median(shipped)),
                    "least_coverage_difference": min(paired),
                    "median_coverage_difference": float(np.median(paired)),
                    "repetitions_rate": rates,
                    "repetitions_difference": differences,
                    "seconds": round(time.perf_counter() - start, 1),
                    "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
                }
            )
        )


if __name__ == "__main__":
    main()
