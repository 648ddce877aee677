"""Why models fail: failure kinds stacked, as shares of the scored cases."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure, order, require, require_scored
from fcb_toolkit.plots.rates import side
from fcb_toolkit.plots.rows import beside, height_of, name_lines, widest
from fcb_toolkit.plots.text import fit, labels
from fcb_toolkit.records import FailureKind

LOOKS = (
    ("#0072B2", "", "white"),
    ("#E69F00", "////", "black"),
    ("#009E73", "....", "white"),
    ("#56B4E9", "\\\\\\\\", "black"),
    ("#D55E00", "xxxx", "white"),
    ("#CC79A7", "||||", "black"),
    ("#222222", "", "white"),
    ("#F0E442", "----", "black"),
)
"""Fill, hatch and colour of the hatch: kinds differ in grey by lightness and hatch."""
OTHER = "other kinds"
REST = ("0.85", "oo", "0.4")


@figure
def failures(
    frame: pd.DataFrame, *, over: str | None = None, most: int = 8, width: str | float = "acl*"
) -> tuple[StyledFigure, pd.DataFrame]:
    """Stacked failure kinds in percent of the scored cases, a bar for each `over`.

    `frame` has `outcome` and `failure` (`fcb.to_frame`). The `most` frequent kinds over all bars are
    shown (at most 8), in the order in which they are decided; the others are one segment. The drawn rows
    keep every kind: `over`, kind, count, shown_as, scored, share.
    """
    over = side(frame, over)
    rows = frame
    if "shown_as" not in frame.columns:
        require(frame, [over, "outcome", "failure"], "failures")
        require_scored(frame, "failures")
        rows = _rows(frame, over, min(most, len(LOOKS)))
    kinds = [*dict.fromkeys(kind for kind in [*FailureKind, OTHER] if kind in set(rows["shown_as"]))]
    looks = {kind: LOOKS[index] for index, kind in enumerate(k for k in kinds if k != OTHER)} | {OTHER: REST}
    total, models = inches(width), order(rows[over])
    label = labels(models, min(0.36 * total, 1.9))
    texts = [str(kind).replace("_", " ") for kind in kinds]
    across = max(1, int(total / (widest(texts) + 0.45)))
    legend = -(-len(kinds) // across) * 0.15 if kinds else 0
    fig = new_figure(total, height_of(list(label.values())) + 0.5 + legend)
    axes = fig.add_subplot()
    middles = name_lines(axes, [label[name] for name in models])
    top = max(5.0, 100 * rows.groupby(over)["share"].sum().max())
    room = (total - widest(list(label.values())) - 0.5) / (top * 1.02)
    for y, name in zip(middles, models, strict=True):
        _bar(axes, y, rows[rows[over] == name], looks, room)
    axes.set_xlim(0, top * 1.02)
    axes.set_xlabel(fit("failed cases, % of the scored", total * 0.6))
    patches = [
        Patch(
            facecolor=looks[kind][0], hatch=looks[kind][1], edgecolor=looks[kind][2], linewidth=0, label=text
        )
        for kind, text in zip(kinds, texts, strict=True)
    ]
    if patches:
        fig.legend(handles=patches, loc="outside lower center", ncols=across, handleheight=1.0)
    return fig, rows


def _rows(frame: pd.DataFrame, over: str, most: int) -> pd.DataFrame:
    scored = frame[frame["outcome"].isin(["pass", "fail"])].assign(**{over: frame[over].map(str)})
    size = scored.groupby(over, sort=False).size()
    failed = scored[scored["outcome"] == "fail"].assign(kind=lambda f: f["failure"].map(_kind))
    table = failed.groupby([over, "kind"], sort=False).size().rename("count").reset_index()
    often = list(failed["kind"].value_counts().index[:most])
    table["shown_as"] = [kind if kind in often else OTHER for kind in table["kind"]]
    table["scored"] = table[over].map(size)
    table["share"] = table["count"] / table["scored"]
    without = [name for name in size.index if name not in set(table[over])]
    none = pd.DataFrame({over: without, "kind": "", "count": 0, "shown_as": "", "share": 0.0})
    table = pd.concat([table, none.assign(scored=none[over].map(size))], ignore_index=True)
    # The bars keep the order of the frame, whichever of them failed first.
    return table.sort_values(over, key=lambda names: names.map(list(size.index).index), kind="stable")


def _kind(value: object) -> str:
    return str(value) if str(value) in set(FailureKind) else OTHER


def _bar(
    axes: Axes, y: float, part: pd.DataFrame, looks: dict[str, tuple[str, str, str]], room: float
) -> None:
    left = 0.0
    for kind, (face, hatch, line) in looks.items():
        some = part[part["shown_as"] == kind]
        if some.empty:
            continue
        share, count = 100 * float(some["share"].sum()), int(some["count"].sum())
        axes.barh(y, share, left=left, height=0.95, color=face, hatch=hatch, edgecolor=line, linewidth=0)
        axes.barh(y, share, left=left, height=0.95, color="none", edgecolor="white", linewidth=0.8)
        if share * room > 0.055 * (len(str(count)) + 1):
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.7}
            axes.text(left + share / 2, y, str(count), ha="center", va="center", size=6, bbox=box)
        left += share
    beside(axes, y, f"{left:.0f}%")
