"""Runs written for other programs, and read back."""

import json

import pandas as pd
import pytest

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.exporters import export, inspect_log
from fcb_toolkit.records import Reply
from fcb_toolkit.runs import Run
from fcb_toolkit.runs.score import scored

CALL = '확인할게요 <tool_call>\n{"name": "f", "arguments": {"a": "값"}}\n</tool_call>'


@pytest.fixture(scope="module")
def run():
    cases = fcb.load_benchmark("sample/korean")[:12]
    texts = [CALL, "=1+1", 'with "quotes",\nand lines', "lone \ud800 surrogate", None]
    replies = [
        Reply(
            case.id, texts[index % 5], sample, format="hermes", prompt_tokens=9, reply_tokens=4, seconds=0.25
        )
        for sample in (0, 1)
        for index, case in enumerate(cases)
    ]
    manifest = {"name": "toy", "model": {"id": "org/toy"}, "benchmark": {"name": "sample/korean"}}
    return scored(Run(manifest, tuple(cases), tuple(replies)), None)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_table_holds_the_rows_of_to_frame(run, suffix, tmp_path):
    path = export(run, tmp_path / f"rows.{suffix}")
    read = {
        "csv": lambda: pd.read_csv(path, keep_default_na=False, na_values=[""]),
        "jsonl": lambda: pd.read_json(path, lines=True, dtype=False),
        "parquet": lambda: pd.read_parquet(path),
    }[suffix]()
    frame = fcb.to_frame(run)
    assert list(read.columns) == list(frame.columns)
    assert len(read) == 24
    for name in ("case_id", "sample", "outcome", "reply", "gold"):
        ours, theirs = frame[name], read[name]
        assert ((ours == theirs) | (ours.isna() & theirs.isna()) | (ours.eq("") & theirs.isna())).all(), name
    assert read["reply"].iloc[3] == "lone \\ud800 surrogate"


def test_an_inspect_log_comes_back_whole(run, tmp_path):
    back = fcb.load_run(export(run, tmp_path / "log.json"))
    assert back.model_name == "org/toy"
    assert back.replies == run.replies
    assert back.verdicts == run.verdicts
    assert fcb.summarize(back).equals(fcb.summarize(run))
    assert [case.id for case in back.cases] == [case.id for case in run.cases]


def test_an_inspect_log_has_what_inspects_reader_requires(run):
    log = inspect_log(run)
    assert {"created", "task", "dataset", "model", "config"} <= log["eval"].keys()
    assert log["eval"]["config"]["epochs"] == 2
    for sample in log["samples"]:
        assert {"id", "epoch", "input", "target"} <= sample.keys()
        assert all({"role", "content"} <= message.keys() for message in sample["messages"])
        assert sample["messages"][-1]["role"] == "assistant"
        assert {score["value"] for score in sample["scores"].values()} <= {"C", "I", "N"}
    called = log["samples"][0]["output"]["choices"][0]["message"]["tool_calls"][0]
    assert (called["function"], called["arguments"]) == ("f", {"a": "값"})
    # Its JSON reader refuses the escape of a lone surrogate anywhere.
    json.dumps(log, ensure_ascii=False).encode("utf-8")


def test_the_accuracy_in_an_inspect_log_is_ours(run):
    scores = {score["name"]: score for score in inspect_log(run)["results"]["scores"]}
    metric = next(name for name in scores if name in run.verdicts)
    row = fcb.summarize(run, metric=metric).iloc[0]
    assert scores[metric]["scored_samples"] == row["n"]
    if row["n"]:
        assert scores[metric]["metrics"]["accuracy"]["value"] == pytest.approx(row["rate"])


def test_wrong_suffixes_and_several_runs_are_said(run, tmp_path):
    with pytest.raises(
        UnknownName, match=r"unknown export format '\.xlsx'.*Known: \.csv, \.json, \.jsonl, \.parquet"
    ):
        export(run, tmp_path / "x.xlsx")
    with pytest.raises(DataError, match="an Inspect log holds one run, found 2"):
        export([run, run], tmp_path / "x.json")
