"""Figures for papers: one function each, DataFrame in, matplotlib Figure out.

fig = fcb.plots.accuracy(fcb.to_frame(runs), width="acl*")
fcb.plots.save(fig, "figures/accuracy")        # pdf, png, drawn rows as csv, provenance as json
"""

from fcb_toolkit.plots.accuracy import accuracy
from fcb_toolkit.plots.draw import WIDTHS, style
from fcb_toolkit.plots.reference import published
from fcb_toolkit.plots.save import save

__all__ = ["WIDTHS", "accuracy", "published", "save", "style"]
