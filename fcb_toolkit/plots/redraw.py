"""A saved figure drawn again from its csv and json, without the runs.

fcb.plots.save(fcb.plots.redraw("figures/accuracy"), "figures/again")     # the same bytes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.plots.accuracy import accuracy
from fcb_toolkit.plots.agreement import judge_agreement, official_vs_ours
from fcb_toolkit.plots.cost import cost
from fcb_toolkit.plots.differences import differences
from fcb_toolkit.plots.draw import StyledFigure
from fcb_toolkit.plots.failures import failures
from fcb_toolkit.plots.flow import flow
from fcb_toolkit.plots.formats import formats
from fcb_toolkit.plots.heatmap import heatmap
from fcb_toolkit.plots.roc import roc
from fcb_toolkit.plots.save import read_rows
from fcb_toolkit.plots.stages import stages
from fcb_toolkit.plots.tool_lists import tool_lists

FIGURES: Mapping[str, Callable[..., StyledFigure]] = {
    "accuracy": accuracy,
    "cost": cost,
    "differences": differences,
    "failures": failures,
    "flow": flow,
    "formats": formats,
    "heatmap": heatmap,
    "judge_agreement": judge_agreement,
    "official_vs_ours": official_vs_ours,
    "roc": roc,
    "stages": stages,
    "tool_lists": tool_lists,
}


def redraw(path: str | Path, **changes: object) -> StyledFigure:
    """The figure that `save` wrote at `path`, with the arguments it had; `changes` replace some (width).

    Raises `DataError` for files that `save` did not write.
    """
    rows, about = read_rows(path)
    name = str(about["function"]).rsplit(".", 1)[-1]
    if name not in FIGURES:
        raise UnknownName("figure", name, FIGURES)
    arguments = {
        key: tuple(value) if isinstance(value, list) else value for key, value in about["arguments"].items()
    }
    frames = ("reference",)  # its rows are among the drawn ones
    arguments = {key: value for key, value in arguments.items() if key not in frames} | changes
    fig = FIGURES[name](rows, **arguments)
    fig.drawn = replace(fig.drawn, runs=tuple(about["runs"]))
    return fig
