"""Published numbers beside ours: visibly not measured here, each with its source.

fcb.plots.accuracy(frame, reference=fcb.plots.published("dpab", metric="strict"))
"""

from __future__ import annotations

from importlib.resources import files

import pandas as pd
from matplotlib.figure import Figure

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.plots.draw import order, require
from fcb_toolkit.plots.rates import OVERALL
from fcb_toolkit.plots.text import fit

DAGGER = "\u2020"
"""Set at the name without a space, so that a break into lines never leaves it alone."""


def published(benchmark: str, metric: str) -> pd.DataFrame:
    """Published rates of one benchmark by one metric: model, rate (0 to 1), source, how_known.

    Both names are asked for, because a number is comparable only where benchmark, split and metric are
    the same (`dpab/pythonic`, `dpab_strict_official`). Raises `UnknownName` with those that exist.
    """
    with (files("fcb_toolkit") / "data" / "published.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file)
    for column, value in (("benchmark", benchmark), ("metric", metric)):
        if value not in set(table[column]):
            raise UnknownName(f"published {column}", value, order(table[column]))
        table = table[table[column] == value]
    return table.reset_index(drop=True)


def add_reference(
    rows: pd.DataFrame, reference: pd.DataFrame | None, by: str, over: str
) -> tuple[pd.DataFrame, list[str]]:
    """The rows with published ones below them, and the footnotes that name their sources.

    `reference` has the columns `over` (or model), rate and source; a column `by` puts each into its
    panel. Without it they are rates over all items, and go into the only panel or the one over all.
    Rates whose panel does not exist are left out: they are about something else.
    """
    if "published" in rows.columns:  # rows that were drawn before
        return rows, notes_of(rows)
    rows = rows.assign(published=False)
    if reference is None or reference.empty:
        return rows, []
    require(reference, ["rate", "source"], "reference")
    other = reference.rename(columns={"model": over})
    require(other, [over], "reference")
    panels = set(rows[by])
    if by not in other:
        other = other.assign(**{by: next(iter(panels)) if len(panels) == 1 else OVERALL})
    other = other[other[by].map(str).isin(panels)]
    added = pd.DataFrame(
        {
            by: other[by].map(str),
            over: other[over].map(lambda name: f"{name}{DAGGER}"),
            "rate": other["rate"],
            "source": other["source"],
            "published": True,
        }
    )
    return pd.concat([rows, added], ignore_index=True), notes_of(added)


def notes_of(rows: pd.DataFrame) -> list[str]:
    """One footnote for each source of the published rows."""
    if "source" not in rows.columns:
        return []
    return [f"\u2020 published, not measured here: {s}" for s in order(rows.loc[rows["published"], "source"])]


def footnote(fig: Figure, notes: list[str], width: float) -> None:
    """Small text below the axes; constrained layout keeps room for a figure's bottom label."""
    if notes:
        fig.supxlabel("\n".join(fit(note, width - 0.1, 6) for note in notes), fontsize=6, color="0.2")
