"""`make figures`."""

import subprocess
import sys

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel


@pytest.mark.slow
def test_the_script_draws_the_figures_of_the_runs_it_is_given(root, tmp_path):
    cases = fcb.load_benchmark("sample/korean")
    for name in ("one", "two"):
        fcb.evaluate(ScriptedModel(["네, 알겠습니다."], name=name), cases, out=tmp_path / name)
    command = [
        sys.executable,
        root / "scripts" / "figures.py",
        tmp_path / "one",
        tmp_path / "two",
        "--out",
        tmp_path / "out",
    ]
    done = subprocess.run([*command, "--width", "icml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"accuracy.pdf", "differences.pdf", "failures.png", "flow.csv", "tool_lists.json"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


def test_a_folder_that_is_no_run_ends_with_2_and_one_line(root, tmp_path):
    done = subprocess.run(
        [sys.executable, root / "scripts" / "figures.py", tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
