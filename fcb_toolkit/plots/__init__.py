"""Figures for papers: one function each, DataFrame in, matplotlib Figure out.

fig = fcb.plots.accuracy(fcb.to_frame(runs), width="acl*")
fcb.plots.save(fig, "figures/accuracy")        # pdf, png, drawn rows as csv, provenance as json
"""

from fcb_toolkit.plots.accuracy import accuracy
from fcb_toolkit.plots.agreement import agreement_table, judge_agreement, official_vs_ours
from fcb_toolkit.plots.cost import cost
from fcb_toolkit.plots.differences import differences
from fcb_toolkit.plots.draw import WIDTHS, style
from fcb_toolkit.plots.every import every
from fcb_toolkit.plots.failures import failures
from fcb_toolkit.plots.flow import flow
from fcb_toolkit.plots.formats import formats
from fcb_toolkit.plots.heatmap import heatmap
from fcb_toolkit.plots.redraw import FIGURES, redraw
from fcb_toolkit.plots.reference import published
from fcb_toolkit.plots.roc import roc
from fcb_toolkit.plots.save import save
from fcb_toolkit.plots.stages import stages
from fcb_toolkit.plots.tables import latex_table
from fcb_toolkit.plots.tool_lists import tool_lists

__all__ = [
    "FIGURES",
    "WIDTHS",
    "accuracy",
    "agreement_table",
    "cost",
    "differences",
    "every",
    "failures",
    "flow",
    "formats",
    "heatmap",
    "judge_agreement",
    "latex_table",
    "official_vs_ours",
    "published",
    "redraw",
    "roc",
    "save",
    "stages",
    "style",
    "tool_lists",
]
