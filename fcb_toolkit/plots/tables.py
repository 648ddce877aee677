"""Tables for a paper: LaTeX with booktabs rules and intervals, through pandas' Styler.

print(latex_table(fcb.summarize(runs, by=["model", "category"]), index="model", columns="category"))
"""

from __future__ import annotations

import pandas as pd

from fcb_toolkit.plots.draw import order, require


def rate_text(row: pd.Series, digits: int = 1) -> str:
    """A rate in percent with its interval, as `71.4 [60.0, 80.6]`; a dash where nothing was scored."""
    if pd.isna(row["rate"]):
        return "--"
    low, high = (f"{100 * row[name]:.{digits}f}" for name in ("low", "high"))
    return f"{100 * row['rate']:.{digits}f} [{low}, {high}]"


def latex_table(
    table: pd.DataFrame,
    *,
    index: str = "model",
    columns: str | None = None,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """A table of `fcb.summarize` as LaTeX (needs the package booktabs; Hangul needs kotex or fontspec).

    Without `columns` each row of the table is a line: rate with interval, n, not scored. With it, one
    line each `index` and one column each value of `columns`. All text is escaped.
    """
    require(table, [index, "rate", "low", "high", "n", *([columns] if columns else [])], "latex_table")
    cells = table.assign(**{"rate, \\%": table.apply(rate_text, axis=1)})
    if columns:
        shown = cells.pivot(index=index, columns=columns, values="rate, \\%")
        shown = shown.reindex(index=order(table[index]), columns=order(table[columns])).fillna("--")
        shown = shown.reset_index()
    else:
        keys = list(table.columns[: list(table.columns).index("rate")])
        counts = [name for name in ("n", "not_scored", "clusters") if name in table.columns]
        shown = cells[[*keys, "rate, \\%", *counts]]
    shown.columns = [
        name if name == "rate, \\%" else _escaped(str(name).replace("_", " ")) for name in shown.columns
    ]
    right = [name in ("n", "not scored", "clusters") for name in shown.columns]
    styler = shown.style.hide(axis="index").format(escape="latex")
    return str(
        styler.to_latex(
            hrules=True,
            column_format="".join("r" if is_count else "l" for is_count in right),
            caption=caption,
            label=label,
            position="t" if caption else None,
            position_float="centering" if caption else None,
        )
    )


def _escaped(text: str) -> str:
    for mark in "&%$#{}":
        text = text.replace(mark, f"\\{mark}")
    return text
