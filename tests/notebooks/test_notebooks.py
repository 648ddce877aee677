"""Every notebook runs from top to bottom in a fresh kernel, and one headline of each is asserted."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

HEADLINES = {
    "5_prototype_a_metric": r"call .*115 ",
    "1_load_and_run": r"Run\('demo': 4 replies to 4 cases",
    "2_first_look": r"replies to 181 cases, verdicts: .*call_match",
    "3_explore_failures": r"Explorer\(demo-free: 181 of 181 items\)",
    "4_paper_figures": r"\d+ rows of ([3-9]|\d\d+) runs",
    "6_text_close": r"opposites and negations that pass in the held half: [0-9] of 94",
}
"""What must stand somewhere in the outputs (a regular expression)."""


def outputs_of(notebook):
    """All text that the cells printed or displayed."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            yield from (output.get("text", ""), data.get("text/plain", ""), data.get("text/html", ""))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the kernel's own
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs_in_a_fresh_kernel(path, tmp_path, monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    assert path.stem in HEADLINES, f"{path.name}: give it a headline in HEADLINES"
    text = "\n".join(outputs_of(notebook))
    assert re.search(HEADLINES[path.stem], text), (
        f"{path.name}: {HEADLINES[path.stem]!r} is not in its outputs"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_is_committed_without_outputs_and_names_its_kernel(path):
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata.get("kernelspec", {}).get("name") == "python3"
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None
