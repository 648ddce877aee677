"""Widgets for JupyterLab: the failure explorer, the run panel, and a static copy for people without Python.

fcb.explore(run)                 # or fcb.explore([run_a, run_b], model=model)
fcb.run_panel()
export_html(run, "failures.html")
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fcb_toolkit.models.base import Model
from fcb_toolkit.runs import Run

if TYPE_CHECKING:
    from fcb_toolkit.widgets.explorer import Explorer
    from fcb_toolkit.widgets.panel import RunPanel

__all__ = ["explore", "export_html", "run_panel"]


def explore(
    run_or_runs: Run | Iterable[Run], *, model: Model | None = None, who: str | None = None
) -> Explorer:
    """The failure explorer: filter, read, compare, correct, try again.

    `model` answers "Try again"; without one the run itself is replayed, which knows only what was asked
    before. `who` signs annotations (default: the environment's FCB_USER, else the user's name).
    Several runs are laid over each other by case id. Raises `DataError` without any run, or where the
    annotations beside a run cannot be read.
    """
    from fcb_toolkit.widgets.explorer import Explorer

    runs = [run_or_runs] if isinstance(run_or_runs, Run) else list(run_or_runs)
    return Explorer(runs, model=model, who=who)


def run_panel(model: Model | None = None) -> RunPanel:
    """A panel to start, watch, stop and resume a run; `panel.run` is the run when it has ended.

    `model`: one that is in memory already; without it the panel loads the one that is named.
    """
    from fcb_toolkit.widgets.panel import RunPanel

    return RunPanel(model)


def export_html(run: Run, path: str | Path, *, failures_only: bool = True) -> Path:
    """Writes a run's items as one HTML file: no script, no link to anywhere, all text escaped."""
    from fcb_toolkit.widgets.export import write_html

    return write_html(run, path, failures_only=failures_only)
