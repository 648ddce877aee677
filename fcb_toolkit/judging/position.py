"""Position bias: how often a judge's verdict turns when only the order of its prompt does.

audit(run).position     # one row a judge and order: flip_rate with its interval, and the shift of the pass rate

`order` is compared with the rubric as it is written (see `orders`). Nothing is measured where the votes of both
orders are not there: `fcb judge --both-orders`. At temperature 0 a flip is the order's doing; at a higher one,
compare with `flipped` of `repeated_items`, which is chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fcb_toolkit.judging.asking import Key
from fcb_toolkit.judging.orders import GIVEN, ORDERS
from fcb_toolkit.runs import Run
from fcb_toolkit.statistics import compare, flip_rate

COLUMNS = ("judge", "order", "items", "clusters", "unread", "flipped", "flip_rate", "low", "high",
           "pass_given", "pass_other", "shift", "shift_low", "shift_high")  # fmt: skip
Cast = Mapping[Key, list[Mapping[str, Any]]]


def position_rows(run: Run, judge: str, cast: Cast) -> list[dict[str, Any]]:
    """The rows of one judge; none where it was asked in one order only. Columns as in `COLUMNS`.

    `items`: replies with a readable majority in both orders; `unread`: those that lack one. `shift`: pass rate
    in the other order minus that in the given one. Intervals: 95%, clustered, as of `fcb.statistics`.
    """
    rows = []
    for order in ORDERS[1:]:
        both = {
            key: (majority(votes, GIVEN), majority(votes, order))
            for key, votes in cast.items()
            if {GIVEN, order} <= {vote.get("order", GIVEN) for vote in votes}
        }
        read = {key: pair for key, pair in both.items() if None not in pair}
        if both:
            rows.append({"judge": judge, "order": order, **_row(run, read), "unread": len(both) - len(read)})
    return rows


def majority(votes: list[Mapping[str, Any]], order: str | None = None) -> str | None:
    """What most readable votes (of one order) say; None for a tie or none."""
    said = [vote["verdict"] for vote in votes if order in (None, vote.get("order", GIVEN))]
    passes, fails = said.count("pass"), said.count("fail")
    return None if passes == fails else "pass" if passes > fails else "fail"


def _row(run: Run, read: Mapping[Key, tuple[str | None, str | None]]) -> dict[str, Any]:
    none = dict.fromkeys(COLUMNS[6:], float("nan"))
    if not read:
        return {"items": 0, "clusters": 0, "flipped": 0, **none}
    frames = [
        pd.DataFrame(
            {
                "run": name,
                # Samples of one case are items of their own here, and not independent.
                "case_id": [f"{case} {sample}" for case, sample in read],
                "sample": 0,
                "cluster": [run.case_by_id[case].cluster or case for case, _ in read],
                "outcome": [pair[side] for pair in read.values()],
            }
        )
        for side, name in enumerate(("given", "other"))
    ]
    flips = flip_rate(pd.concat(frames, ignore_index=True)).iloc[0]
    pair = compare(*frames)
    return {
        "items": len(read),
        "clusters": pair.clusters,
        "flipped": pair.only_a + pair.only_b,
        "flip_rate": flips["rate"],
        "low": flips["low"],
        "high": flips["high"],
        "pass_given": pair.rate_a,
        "pass_other": pair.rate_b,
        "shift": pair.difference,
        "shift_low": pair.low,
        "shift_high": pair.high,
    }
