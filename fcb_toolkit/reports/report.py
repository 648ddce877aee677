"""`fcb report`: everything that one or several runs give, into one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fcb_toolkit import plots
from fcb_toolkit.errors import DataError
from fcb_toolkit.frames import to_frame
from fcb_toolkit.jsonl import write_atomic
from fcb_toolkit.judging.options import METRIC
from fcb_toolkit.judging.rubrics import KINDS
from fcb_toolkit.reports.items import items_html, items_markdown
from fcb_toolkit.reports.judges import judge_tables, write_judges
from fcb_toolkit.runs import Run
from fcb_toolkit.statistics import summarize

BY = ("run", "model", "benchmark", "category", "metric")


def write_report(runs: Sequence[Run], out: str | Path) -> dict[str, Path]:
    """Tables, per-item pages and figures of these runs. Gives the paths by name.

    Raises `DataError` for runs without a reply, or two runs of one name.
    """
    out = Path(out)
    names = [run.name for run in runs]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise DataError(f"two runs have the name {doubled!r}; give folders with different names")
    frame = to_frame(runs)
    if frame.empty:
        raise DataError(f"{names[0]}: no replies yet, so there is nothing to report")
    table = report_table(frame)
    written = {"table": out / "summary.csv", "markdown": out / "summary.md", "latex": out / "summary.tex"}
    write_atomic(written["table"], table.to_csv(index=False, lineterminator="\n"))
    write_atomic(written["markdown"], markdown_table(table))
    write_atomic(written["latex"], plots.latex_table(summarize(frame, by=list(BY)), index="run"))
    for run in runs:
        written[f"items {run.name}"] = out / f"items-{run.name}.html"
        write_atomic(written[f"items {run.name}"], items_html(run))
        write_atomic(out / f"items-{run.name}.md", items_markdown(run))
    judged = [run for run in runs if METRIC in run.verdicts]
    written |= write_judges(judge_tables(judged), out) if judged else {}
    for name, figure in plots.every(frame).items():
        written[f"figure {name}"] = plots.save(figure, out / "figures" / name)["png"]
    return written


def report_table(runs: Sequence[Run] | pd.DataFrame) -> pd.DataFrame:
    """Pass rates by `BY`: of each case's own metric, and of the rubric where a judge has been asked."""
    frame = runs if isinstance(runs, pd.DataFrame) else to_frame(runs)
    table = summarize(frame, by=list(BY))
    if f"outcome_{METRIC}" not in frame:
        return table
    judged = frame[frame[f"outcome_{METRIC}"].notna() & frame["type_of_output"].isin(KINDS)]
    if judged.empty:
        return table
    rubric = summarize(judged.assign(metric=METRIC), by=list(BY), metric=METRIC)
    return pd.concat([table, rubric], ignore_index=True)


def markdown_table(table: pd.DataFrame) -> str:
    """A table of `summarize` as Markdown, rates in percent with their interval."""
    columns = [name for name in table.columns if name not in ("rate", "low", "high", "method")]
    lines = ["| " + " | ".join([*columns, "rate, %", "95% interval"]) + " |"]
    lines.append("| " + " | ".join(["---"] * (len(columns) + 2)) + " |")
    for _, row in table.iterrows():
        cells = [str(row[name]).replace("|", "\\|") for name in columns]
        lines.append("| " + " | ".join([*cells, *_percent(row)]) + " |")
    return "\n".join(lines) + "\n"


def _percent(row: pd.Series) -> list[str]:
    if pd.isna(row["rate"]):
        return ["-", "-"]
    return [f"{100 * row['rate']:.1f}", f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"]
