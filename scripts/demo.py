"""`make demo`: the demo model on the bundled Korean sample; a table, a figure and an executed notebook."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / ".demo"
NOTEBOOK = ROOT / "notebooks" / "1_load_and_run.ipynb"
MODEL = os.environ.get("FCB_DEMO_MODEL", "demo")


def main() -> int:
    from fcb_toolkit.cli import main as fcb

    run = str(OUT / f"run-{MODEL}")
    print(f"1/3  {MODEL} on sample/korean (goes on where it stopped if you interrupt it)\n")
    status = fcb(
        ["run", "sample/korean", "--model", MODEL, "--out", run, "--sample", "60", "--max-new-tokens", "64"]
    )
    if status:
        return status
    print("\n2/3  tables with 95% intervals, figures\n")
    status = fcb(["report", run, "--out", str(OUT / "report")])
    if status:
        return status
    print("\n3/3  the notebook, in a fresh kernel\n")
    print(f"notebook: {execute(NOTEBOOK, OUT / NOTEBOOK.name)}")
    return 0


def execute(source: Path, target: Path) -> Path:
    """Runs a notebook from top to bottom in a kernel of this very environment and writes it with outputs."""
    import nbformat
    from nbclient import NotebookClient

    os.environ["FCB_DEMO_RUN"] = str(OUT / f"run-{MODEL}")
    notebook = nbformat.read(source, as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    return target


if __name__ == "__main__":
    sys.exit(main())
