"""The command line, run as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fcb_toolkit as fcb
from fcb_toolkit.cli import main
from fcb_toolkit.models import ScriptedModel

CASES = [c for c in fcb.load_benchmark("sample/korean") if "name" in (c.ground_truth or {})][:6]


def gold(messages, tools):
    """Answers rightly on the first half of the cases."""
    for case in CASES[:3]:
        if tuple(messages) == case.messages and tuple(tools) == case.tools:
            call = {"id": "1", "type": "function", "function": case.ground_truth}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
    return "모르겠습니다."


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "scripted"
    fcb.evaluate(ScriptedModel(gold), CASES, folder, progress=False)
    return folder


def test_import_is_quick_and_without_torch():
    script = (
        "import sys, fcb_toolkit; print(any(m in sys.modules for m in ('torch', 'pandas', 'transformers')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_public_name_is_there():
    for name in fcb.__all__:
        assert getattr(fcb, name) is not None, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fcb.nothing


def test_list_names_benchmarks_metrics_parsers_and_models(capsys):
    assert main(["list", "--json"]) == 0
    known = json.loads(capsys.readouterr().out)
    assert set(known["benchmarks"]) == set(fcb.list_benchmarks()["name"])
    assert {"call_match", "functionchat_exact", "dpab", "rubric"} <= set(known["metrics"])
    assert {"hermes", "plain_json", "gpt_oss"} <= set(known["parsers"])
    assert "embedded" in known["models"]


def test_report_writes_tables_items_and_figures(run_folder, tmp_path, capsys):
    assert main(["report", str(run_folder), "--out", str(tmp_path / "report")]) == 0
    out = capsys.readouterr().out
    assert "call_match" in out and "accuracy.png" in out
    names = {p.name for p in (tmp_path / "report").rglob("*")}
    assert {"summary.csv", "summary.md", "items-scripted.html", "items-scripted.md", "accuracy.pdf"} <= names
    table = (tmp_path / "report" / "summary.md").read_text(encoding="utf-8")
    assert "| 50.0 |" in table
    items = (tmp_path / "report" / "items-scripted.md").read_text(encoding="utf-8")
    assert items.count("## Pass: ") == 3 and items.count("## Fail: ") == 3
    assert "Failure: missing_call" in items


def test_rescore_prints_a_table_and_json(run_folder, capsys):
    assert main(["rescore", str(run_folder), "--metric", "functionchat_exact", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["metric"] == "functionchat_exact" and rows[0]["n"] == 6


def test_parity_lists_the_items_on_which_the_scorers_differ(tmp_path, capsys):
    """A second, wrong call after the right one: the official stage compares only the first."""

    def twice(messages, tools):
        call = {"id": "1", "type": "function", "function": CASES[0].ground_truth}
        return {"role": "assistant", "content": None, "tool_calls": [call, call]}

    folder = tmp_path / "twice"
    fcb.evaluate(ScriptedModel(twice), CASES[:1], folder, progress=False)
    assert main(["report", str(folder), "--parity", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["official"], r["ours"]) for r in rows] == [("pass", "fail")]
    assert rows[0]["official_reason"] or rows[0]["ours_reason"]
    assert (folder / "report" / "parity.csv").exists()


def test_lint_finds_what_is_wrong_and_exits_with_1(tmp_path, capsys):
    file = tmp_path / "x.jsonl"
    row = {"serial_num": 1, "messages": [{"role": "user", "content": "a"}], "type_of_output": "call"}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
        "n": {"type": "integer"}}}}}  # fmt: skip
    row |= {"tools": [tool], "ground_truth": {"name": "f", "arguments": '{"n": "three"}'}}
    file.write_text(json.dumps(row), encoding="utf-8")
    assert main(["lint", "jsonl", "--source", str(file)]) == 1
    assert "jsonl/1: gold_invalid: " in capsys.readouterr().out
    assert main(["lint", "sample/korean"]) == 0
    assert capsys.readouterr().out == "0 findings\n"


def test_compare_of_a_run_with_itself_shows_no_difference(run_folder, capsys):
    assert main(["compare", str(run_folder), str(run_folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["difference"] == 0 and found["n"] == 6
    assert found["paired_by"] == "case_id"


def test_the_official_prompt_of_dpab_is_an_option_of_run(tmp_path, monkeypatch, capsys):
    row = {"difficulty": "hard", "user_query": "인사해 줘", "checklist": {"functions": ["f"], "values": []}}
    row |= dict.fromkeys(("mock_functions", "function_schema_python"), "def f():\n    return 1\n")
    row |= {"function_schema_json": [{"name": "f"}]}
    (tmp_path / "eval_alpha.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "system_prompt_pythonic.txt").write_text("OFFICIAL {{functions_schema}}", encoding="utf-8")
    model = ScriptedModel(["```python\nf()\n```"])
    monkeypatch.setattr("fcb_toolkit.cli.server.load", lambda *given, **options: model)
    monkeypatch.chdir(tmp_path)
    command = ["run", "dpab/pythonic", "--source", str(tmp_path), "--quiet"]
    assert main([*command, "--prompt", "official"]) == 0
    (case,) = fcb.load_run("runs/scripted-dpab-pythonic-official").cases
    assert case.messages[0]["content"].startswith("OFFICIAL def f")
    assert main([*command, "--prompt", "offical"]) == 2
    assert "Did you mean 'official'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "sample/koraen"], "unknown benchmark 'sample/koraen'. Did you mean 'sample/korean'?"),
        (["run", "jsonl"], "benchmark jsonl: no file given; pass source=FILE"),
        (["run", "jsonl", "--source", "no/such.jsonl"], "no/such.jsonl: no such file"),
        (["run", "sample/korean", "--model", "no/such-model"], "no/such-model: not in the local cache"),
        (["run", "sample/korean", "--only", "nothing-like-it", "--model", "x/y"], "no cases"),
        (["report", "no/such/run"], "no/such/run: no such run"),
        (["rescore", "no/such/run", "--metric", "call_match"], "no/such/run: no such run"),
        (["fetch", "functionchatt"], "unknown benchmark to fetch 'functionchatt'"),
        (["template", "no/such/model/at/all"], "no such file or folder"),
    ],
)
def test_bad_input_is_one_or_two_lines_and_exit_2(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith(f"fcb {arguments[0]}: ")
    assert len(error.strip().splitlines()) <= 2


def test_bad_usage_exits_with_2(capsys):
    for arguments in (["run"], ["run", "sample/korean", "--limit", "0"], ["nothing"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2


def test_a_report_of_two_runs_of_one_name_is_refused(run_folder, capsys):
    assert main(["report", str(run_folder), str(run_folder)]) == 2
    assert "two runs have the name 'scripted'" in capsys.readouterr().err


HOSTILE = "<script>alert(1)</script> ``` # x \x1b[31m \u202e \ud83d &amp; | $x$"


def test_hostile_text_is_escaped_in_every_report(tmp_path):
    run = fcb.evaluate(ScriptedModel([HOSTILE]), CASES[:1], tmp_path / "run", progress=False)
    from fcb_toolkit.reports import items_html, items_markdown

    page = items_html(run)
    assert "<script" not in page and "&lt;script&gt;" in page
    for text in (page, items_markdown(run)):
        assert not set("\x1b\u202e\ud83d") & set(text)
        text.encode("utf-8")
    assert all(line.startswith("    ") for line in items_markdown(run).splitlines() if "<script" in line)


def test_the_command_is_installed():
    command = Path(sys.executable).parent / "fcb"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("fcb_toolkit ")


def test_a_folder_stands_for_its_run_and_anything_else_is_named(run_folder):
    from fcb_toolkit.errors import DataError

    assert len(fcb.to_frame(run_folder)) == 6
    assert fcb.summarize(str(run_folder))["n"].tolist() == [6]
    for wrong in (None, 5, [5], {"a": 1}):
        with pytest.raises(DataError, match="expected a Run"):
            fcb.summarize(wrong)
