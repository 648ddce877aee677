"""Runs of a tiny random model over cases of three tool lists, as separate processes."""

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest

from fcb_toolkit.cli import main


def write_cases(file, lists=3, each=5):
    """Cases that share their tools within a list; serial numbers are mixed over the lists."""
    rows = []
    for serial in range(lists * each):
        which = serial % lists
        parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        function = {"name": f"weather_{which}", "description": f"list {which} " * 4, "parameters": parameters}
        truth = {"name": f"weather_{which}", "arguments": json.dumps({"city": "서울"}, ensure_ascii=False)}
        rows.append(
            {
                "serial_num": serial,
                "messages": [{"role": "user", "content": f"서울 날씨 {serial}"}],
                "tools": [{"type": "function", "function": function}],
                "ground_truth": truth,
                "type_of_output": "call",
            }
        )
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8")
    return file


class Job:
    """One run that several tests make in several ways: its arguments, and what one process makes of it."""

    def __init__(self, folder: Path) -> None:
        file = Path(__file__).parent.parent / "models" / "tiny.py"
        spec = importlib.util.spec_from_file_location("tiny_of_models", file)
        tiny = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tiny)
        self.model = tiny.checkpoint(folder / "tiny")
        self.cases = write_cases(folder / "cases.jsonl")
        self.whole = folder / "whole"

    def arguments(self, out, tokens=400):
        """One request at a time, so that a run lasts a few seconds and can be killed within."""
        return [
            *("run", "jsonl", "--source", str(self.cases), "--model", str(self.model), "--out", str(out)),
            *("--dtype", "float32", "--max-new-tokens", str(tokens), "--batch-size", "1", "--quiet"),
        ]


@pytest.fixture(scope="session")
def job(tmp_path_factory):
    made = Job(tmp_path_factory.mktemp("job"))
    assert main(made.arguments(made.whole)) == 0
    return made


def running(process):
    """Whether it still runs; takes up to a tenth of a second, in which others can use the processor."""
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        return True
    return False


def stored(folder):
    """The rows of all reply files of a run: the main one first."""
    files = [folder / "replies.jsonl", *sorted((folder / "shards").glob("*.jsonl"))]
    lines = [line for file in files if file.exists() for line in file.read_bytes().split(b"\n")[:-1]]
    return [json.loads(line) for line in lines]


def content(folder):
    """All that a run holds but for times: replies and verdicts by key, prompts and cases."""
    replies = {}
    for row in stored(folder):
        key = row["case_id"], row["sample"]
        assert key not in replies, f"{key} twice"
        replies[key] = {name: value for name, value in row.items() if name != "seconds"}
    verdicts = {
        file.name: sorted(file.read_text(encoding="utf-8").splitlines())
        for file in (folder / "verdicts").iterdir()
    }
    prompts = sorted((folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines())
    return replies, verdicts, prompts, (folder / "cases.jsonl").read_text(encoding="utf-8")
