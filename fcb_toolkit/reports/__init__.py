"""What a finished run becomes on paper: tables with intervals, a page per item, figures.

write_report([run], "runs/demo/report")
# summary.csv summary.md summary.tex items-RUN.md items-RUN.html figures/*.pdf|png|csv|json; of a judged run
# also judge_agreement.csv judges.csv judge_position.csv
"""

from fcb_toolkit.reports.items import items_html, items_markdown
from fcb_toolkit.reports.judges import NOT_MEASURED, judge_tables, write_judges
from fcb_toolkit.reports.parity import write_parity
from fcb_toolkit.reports.report import report_table, write_report

__all__ = [
    "NOT_MEASURED",
    "items_html",
    "items_markdown",
    "judge_tables",
    "report_table",
    "write_judges",
    "write_parity",
    "write_report",
]
