"""Two verdicts on the same replies: the official scorer against ours, a judge against a scorer or a person."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure, order, require
from fcb_toolkit.plots.rates import side
from fcb_toolkit.plots.rows import beside, height_of, name_lines, widest
from fcb_toolkit.plots.text import labels

PARTS = (
    ("both_pass", "both pass", "#56B4E9", "", "black"),
    ("only_first", "only {first} passes", "#D55E00", "////", "white"),
    ("only_second", "only {second} passes", "#222222", "....", "white"),
    ("both_fail", "both fail", "0.9", "", "black"),
)


@figure
def official_vs_ours(
    frame: pd.DataFrame,
    *,
    official: str = "functionchat_exact",
    ours: str = "call_match",
    over: str | None = None,
    width: str | float = "acl*",
) -> tuple[StyledFigure, pd.DataFrame]:
    """Where the official exact match and our matcher agree: shares of the replies that both scored."""
    return _draw(frame, (official, ours), over, inches(width), "official_vs_ours")


@figure
def judge_agreement(
    frame: pd.DataFrame,
    *,
    judge: str = "rubric",
    reference: str = "call_match",
    over: str | None = None,
    width: str | float = "acl*",
) -> tuple[StyledFigure, pd.DataFrame]:
    """Where a judge and another verdict agree, with Cohen's kappa at the right.

    `judge` and `reference` are metrics of the frame: another judge, a rule-based metric, or a person's
    labels in a column `outcome_<name>`.
    """
    return _draw(frame, (judge, reference), over, inches(width), "judge_agreement")


def agreement_table(frame: pd.DataFrame, first: str, second: str, *, over: str | None = None) -> pd.DataFrame:
    """The four counts per `over`, `n`, `not_scored` (by either), `agree` (share) and Cohen's `kappa`.

    kappa is statsmodels'; NaN where a verdict never varies. Raises `UnknownName` for a metric that is
    not stored.
    """
    columns = [f"outcome_{name}" for name in (first, second)]
    stored = [str(name)[8:] for name in frame.columns if str(name).startswith("outcome_")]
    for name, column in zip((first, second), columns, strict=True):
        if column not in frame.columns:
            raise UnknownName("metric (stored in these runs)", name, stored)
    key = side(frame, over)
    rows = []
    for value, part in frame.groupby(key, sort=False):
        scored = part[part[columns].isin(["pass", "fail"]).all(axis=1)]
        a, b = (scored[column].eq("pass").to_numpy() for column in columns)
        counts = [int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum())]
        # A metric that does not apply to a row (no verdict stored) is not a missing verdict.
        applies = part[columns].notna().all(axis=1).sum()
        row = dict(zip([look[0] for look in PARTS], counts, strict=True))
        agree = (counts[0] + counts[3]) / len(scored) if len(scored) else np.nan
        rows.append(
            {
                key: str(value),
                **row,
                "n": len(scored),
                "not_scored": int(applies) - len(scored),
                "agree": agree,
            }
            | {"kappa": _kappa(counts)}
        )
    return pd.DataFrame(rows)


def _kappa(counts: list[int]) -> float:
    from statsmodels.stats.inter_rater import cohens_kappa

    both, first, second, neither = counts
    if (both + first) * (second + neither) * (both + second) * (first + neither) == 0:
        return float("nan")
    return float(cohens_kappa([[both, first], [second, neither]], return_results=False))


def _draw(
    frame: pd.DataFrame, metrics: tuple[str, str], over: str | None, total: float, function: str
) -> tuple[StyledFigure, pd.DataFrame]:
    key = side(frame, over)
    require(frame, [key], function)
    rows = frame if "both_pass" in frame.columns else agreement_table(frame, *metrics, over=key)
    names = order(rows[key])
    label = labels(names, min(0.34 * total, 1.9))
    texts = [part[1].format(first=metrics[0], second=metrics[1]) for part in PARTS]
    across = max(1, min(4, int(total / (widest(texts) + 0.45))))
    # Of four entries, three beside each other look like a mistake.
    across = 2 if across == 3 else across
    fig = new_figure(total, height_of([label[name] for name in names]) + 0.66 + 0.15 * -(-4 // across))
    axes = fig.add_subplot()
    room = total - widest(list(label.values())) - 0.9
    for y, (_, row) in zip(name_lines(axes, [label[name] for name in names]), rows.iterrows(), strict=True):
        left = 0.0
        for column, _, face, hatch, line in PARTS:
            share = 100 * row[column] / row["n"] if row["n"] else 0.0
            if share:
                axes.barh(
                    y, share, left=left, height=0.95, color=face, hatch=hatch, edgecolor=line, linewidth=0
                )
                axes.barh(y, share, left=left, height=0.95, color="none", edgecolor="white", linewidth=0.8)
            if share / 100 * room > 0.055 * (len(str(row[column])) + 1):
                box = {"facecolor": "white", "edgecolor": "none", "pad": 0.7}
                axes.text(left + share / 2, y, str(row[column]), ha="center", va="center", size=6, bbox=box)
            left += share
        kappa = "\u2013" if np.isnan(row["kappa"]) else f"{row['kappa']:.2f}"
        agree = "no pair" if not row["n"] else f"{100 * row['agree']:.0f}%, {kappa}"
        beside(axes, y, agree)
    axes.set_title("agree, kappa", loc="right", size=6.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("replies, %")
    patches = [
        Patch(facecolor=part[2], hatch=part[3], edgecolor=part[4], linewidth=0, label=text)
        for part, text in zip(PARTS, texts, strict=True)
    ]
    fig.legend(handles=patches, loc="outside lower center", ncols=across, handleheight=1.0)
    return fig, rows
