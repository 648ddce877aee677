"""From call to verdict: where cases are lost on the way to a pass."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from fcb_toolkit.plots.draw import StyledFigure, figure, inches, new_figure, order, require, require_scored
from fcb_toolkit.plots.rates import side
from fcb_toolkit.plots.text import LINE, fit, lines
from fcb_toolkit.records import FailureKind

STAGES: Mapping[str, tuple[str, ...]] = {
    "reply": ("no_reply", "truncated"),
    "format": ("malformed_call",),
    "decision": ("missing_call", "unexpected_call"),
    "tool": ("unknown_tool", "wrong_tool", "wrong_call_count"),
    "arguments": ("missing_argument", "extra_argument", "wrong_type", "wrong_value"),
    "text": (
        "missing_question",
        "incomplete_question",
        "redundant_question",
        "false_claim",
        "wrong_language",
        "unfaithful_answer",
    ),
    "execution": ("execution_error", "blocked_code"),
    "values": ("missing_value",),
}
"""Where a case can be lost, in the order in which failures are decided; all failure kinds, once each."""


@figure
def flow(
    frame: pd.DataFrame, *, over: str | None = None, width: str | float = "acl*"
) -> tuple[StyledFigure, pd.DataFrame]:
    """The flow of the scored cases through the stages to a pass: what goes on, and what is lost where.

    `frame` has `outcome` and `failure` (`fcb.to_frame`). A failed case is lost at the stage of its
    failure kind; stages at which nothing is lost in any row are left out. Drawn rows: `over`, stage,
    entered, lost, kinds (each with its count).
    """
    key = side(frame, over)
    rows = frame
    if "entered" not in frame.columns:
        require(frame, [key, "outcome", "failure"], "flow")
        require_scored(frame, "flow")
        rows = _rows(frame, key)
    used = [name for name in STAGES if rows.loc[rows["stage"] == name, "lost"].sum() > 0] or ["reply"]
    rows = rows[rows["stage"].isin([*used, "pass"])]
    total, names = inches(width), order(rows[key])
    titles = {name: fit(name, total - 0.3) for name in names}
    lane = 0.72 if len(names) <= 4 else 0.52
    heights = [lane + lines(titles[name]) * LINE for name in names]
    told = _told(rows, used, total) if len(names) == 1 else [*used, "pass"]
    fig = new_figure(total, sum(heights) + 0.18 + LINE * max(lines(text) for text in told))
    grid = fig.subplots(len(names), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, name in zip(grid, names, strict=True):
        axes.set_title(titles[name], loc="left", size=7)
        _lane(axes, rows[rows[key] == name], used)
    grid[-1].set_xticks(range(len(told)), told, size=6)
    grid[-1].set_xlim(-0.45, len(used) + 0.45)
    return fig, rows


def _rows(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    stage_of = {kind: stage for stage, kinds in STAGES.items() for kind in kinds}
    rows = []
    for name, part in frame[frame["outcome"].isin(["pass", "fail"])].groupby(key, sort=False):
        left = len(part)
        failed = part.loc[part["outcome"] == "fail", "failure"].map(str)
        counts = failed.value_counts()
        for stage in STAGES:
            kinds = {
                kind: int(counts[kind]) for kind in FailureKind if stage_of[kind] == stage and kind in counts
            }
            lost = sum(kinds.values())
            told = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
            rows.append({key: str(name), "stage": stage, "entered": left, "lost": lost, "kinds": told})
            left -= lost
        rows.append({key: str(name), "stage": "pass", "entered": left, "lost": 0, "kinds": ""})
    return pd.DataFrame(rows, columns=[key, "stage", "entered", "lost", "kinds"])


def _told(rows: pd.DataFrame, used: list[str], total: float) -> list[str]:
    """Names of the stages with what was lost there, kind by kind; only the names where there is no room."""
    room = total / (len(used) + 1) - 0.06
    if room < 0.65:
        return [*used, "pass"]
    texts = []
    for stage in used:
        kinds = rows.loc[rows["stage"] == stage, "kinds"].iloc[0].replace("_", " ").split(", ")
        texts.append("\n".join([stage, *(fit(kind, room, 6) for kind in kinds if kind)]))
    return [*texts, "pass"]


def _lane(axes: Axes, part: pd.DataFrame, used: list[str]) -> None:
    """Bars of what arrives, joined by bands; what is lost at a stage hangs below its bar, hatched."""
    bars = part.set_index("stage").loc[[*used, "pass"]]
    whole = max(int(bars["entered"].iloc[0]), 1)
    half = 0.16
    for x, (stage, row) in enumerate(bars.iterrows()):
        on, lost = (row["entered"] - row["lost"]) / whole, row["lost"] / whole
        top = 1.0
        axes.bar(
            x, on, bottom=top - on, width=2 * half, color="#0072B2" if stage == "pass" else "#56B4E9", lw=0
        )
        if lost:
            axes.bar(
                x,
                lost,
                bottom=top - on - lost,
                width=2 * half,
                color="white",
                hatch="/////",
                edgecolor="#D55E00",
                lw=0.5,
            )
        if stage != "pass":
            axes.fill_between([x + half, x + 1 - half], top - on, top, color="#56B4E9", alpha=0.28, lw=0)
        text = f"{row['entered']}" if stage == "pass" else (f"\u2212{row['lost']}" if lost else "0")
        axes.text(x + half + 0.03, 0.02, text, ha="left", va="bottom", size=6.5)
    axes.text(-half - 0.04, 0.98, str(whole), ha="right", va="top", size=6.5)
    axes.set_ylim(0, 1.02)
    axes.set_yticks([])
    axes.grid(False)
    axes.spines["left"].set_visible(False)
