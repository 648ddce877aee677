"""Rates with intervals that hold, and paired comparisons, from the frames of `fcb.to_frame`.

    fcb.summarize(runs, by="category")      # rate, low, high, n, not_scored, clusters, method
    fcb.compare(run_a, run_b)               # difference, interval, exact McNemar p, quadrants
    fcb.statistics.wilson(18, 20)           # (0.699, 0.972)

How well the intervals hold is measured by `benchmarks/coverage.py` and printed in docs/statistics.md.
"""

from fcb_toolkit.statistics.averages import averages
from fcb_toolkit.statistics.intervals import jeffreys, wilson
from fcb_toolkit.statistics.paired import Comparison, compare, compare_all
from fcb_toolkit.statistics.repeats import flip_rate, pass_at_k, pass_hat_k, repeated
from fcb_toolkit.statistics.summary import summarize

__all__ = [
    "Comparison",
    "averages",
    "compare",
    "compare_all",
    "flip_rate",
    "jeffreys",
    "pass_at_k",
    "pass_hat_k",
    "repeated",
    "summarize",
    "wilson",
]
