"""Panels whose lines are named things: places for labels of several lines, points with intervals.

places(["one line", "two\\nlines"])       # [0.675, 2.525]: middle of each, one unit a line of text
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from fcb_toolkit.plots.draw import COLORS, MARKERS
from fcb_toolkit.plots.text import LINE, lines, width_of

GAP = 0.35
"""Space between two lines, in lines of text."""


def places(ticks: Sequence[str]) -> list[float]:
    """Middle of each label from the top, in lines of text: a label of two lines gets twice the room."""
    middles, top = [], 0.0
    for tick in ticks:
        room = lines(tick) + GAP
        middles.append(top + room / 2)
        top += room
    return middles


def height_of(ticks: Sequence[str]) -> float:
    """Inches that the lines of a panel take."""
    return sum(lines(tick) + GAP for tick in ticks) * LINE


def name_lines(axes: Axes, ticks: Sequence[str]) -> list[float]:
    """Labels the y axis from the top down; gives the place of each line."""
    middles = places(ticks)
    axes.set_yticks(middles, list(ticks))
    axes.set_ylim(sum(lines(tick) + GAP for tick in ticks), 0)
    return middles


def point(axes: Axes, y: float, span: tuple[float, float, float], **look: Any) -> None:
    """A mark at `span[1]` with a line from `span[0]` to `span[2]`; `index` chooses colour and mark.

    `hollow` marks what was not measured here; it has no interval.
    """
    index, hollow = look.get("index", 0), look.get("hollow", False)
    color = look.get("color") or COLORS[index % len(COLORS)]
    if not hollow:
        axes.plot([span[0], span[2]], [y, y], color=color, lw=1.3, solid_capstyle="butt")
    axes.plot(
        span[1],
        y,
        marker="D" if hollow else look.get("marker") or MARKERS[index % len(MARKERS)],
        color=color,
        markerfacecolor="white" if hollow else color,
        markersize=4.2,
        linestyle="none",
        clip_on=False,
        zorder=3,
    )


def beside(axes: Axes, y: float, text: str, color: str = "black") -> None:
    """Text right of the panel, on the height of a line."""
    axes.text(1.02, y, text, transform=axes.get_yaxis_transform(), va="center", size=6.5, color=color)


def widest(texts: Sequence[str], size: float = 7.0) -> float:
    """Inches of the widest text; 0 for none."""
    return max((width_of(text, size) for text in texts), default=0.0)
