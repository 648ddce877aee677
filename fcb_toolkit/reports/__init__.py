"""What a finished run becomes on paper: tables with intervals, a page per item, figures.

write_report([run], "runs/demo/report")
# summary.csv summary.md summary.tex items.md items.html figures/*.pdf|png|csv|json
"""

from fcb_toolkit.reports.items import items_html, items_markdown
from fcb_toolkit.reports.parity import write_parity
from fcb_toolkit.reports.report import write_report

__all__ = ["items_html", "items_markdown", "write_parity", "write_report"]
