"""The exact stage and the judge: one rule for the metric, for `fcb judge` and for the report."""

import pytest
from judging_toys import a_run, cases

import fcb_toolkit as fcb
from fcb_toolkit.cli import main
from fcb_toolkit.errors import DataError
from fcb_toolkit.judging import JudgeOptions, judge, judged
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.reports import items_html, items_markdown, report_table

HOSTILE = "<script>alert(1)</script> | `x` **b** \u202e\x07 [a](javascript:1)\n# 제목"


def test_the_metric_alone_is_the_exact_stage_and_leaves_the_rest_to_a_judge():
    run = a_run()
    verdicts = judge(run, ScriptedModel(["판정: 불합격"]))
    for reply in run.replies:
        case, message = run.case_by_id[reply.case_id], run.answer(reply).message
        alone = fcb.score(case, message, "rubric")
        if alone.outcome == "not_scored":
            assert alone.reason == "the rubric needs a judge: fcb judge DIR --judge M"
            assert verdicts[reply.key].details["votes"]
        else:
            assert alone == verdicts[reply.key]
    assert verdicts["jsonl/0", 0].reason == "exact stage: functionchat_exact passes"


def test_a_call_that_the_exact_stage_fails_may_pass_by_the_judge():
    run = judged(a_run(), ScriptedModel(["판정: 합격"]))
    assert run.verdict("jsonl/1").outcome == "fail"
    assert run.verdict("jsonl/1", metric="rubric").outcome == "pass"


def test_no_reply_fails_by_the_metric_and_by_the_judge_alike():
    model = ScriptedModel(lambda messages, tools: None)
    run = fcb.evaluate(model, cases(3), progress=False)
    asked = []
    verdicts = judge(run, ScriptedModel(lambda m, t: asked.append(m) or "판정: 합격"))
    assert asked == []
    for reply in run.replies:
        alone = fcb.score(run.case_by_id[reply.case_id], None, "rubric")
        assert verdicts[reply.key] == alone
        assert (alone.outcome, alone.failure) == ("fail", "no_reply")


def test_rescoring_by_the_rubric_names_the_command():
    with pytest.raises(DataError, match="made by `fcb judge DIR --judge M`"):
        fcb.rescore(a_run(), "rubric")


def test_code_is_left_out_of_the_rubric():
    case = fcb.Case("c", "toy", ({"role": "user", "content": "x"},), type_of_output="code")
    verdict = fcb.score(case, "x = 1", "rubric")
    assert verdict.reason == "rubric asks of cases that want a call or text, found a case of type 'code'"


def test_the_report_of_a_judged_run_has_the_rubric_without_being_asked(tmp_path, capsys):
    folder = tmp_path / "run"
    judge_model = ScriptedModel(
        ["하나하나 따졌다.\n판정: 합격", "도시를 묻지 않았다.\n판정: 불합격"], name="j"
    )
    run = judged(a_run(folder), judge_model, JudgeOptions(votes=3))
    assert main(["report", str(folder)]) == 0
    out = capsys.readouterr().out
    assert {row.metric for row in report_table([run]).itertuples()} == {"call_match", "slot", "rubric"}
    assert "rubric" in out and "judges" in out
    table = report_table([run]).set_index(["category", "metric"])
    assert (table.loc[("call", "rubric"), "n"], table.loc[("call", "call_match"), "n"]) == (2, 2)
    report = folder / "report"
    assert (report / "judges.csv").exists() and (report / "judge_agreement.csv").exists()
    assert "| rubric |" in (report / "summary.md").read_text("utf-8")
    for name in ("items-run.md", "items-run.html"):
        text = (report / name).read_text("utf-8")
        assert text.count("Result by rubric") == 4 and text.count("Result by slot") == 2
        assert "하나하나 따졌다." in text and "j, vote 3: pass" in text
        assert "어느 도시 {tools} 말씀인가요, 2?" in text


def test_an_item_is_filed_under_the_rubric_and_an_unscored_one_under_its_own_metric():
    script = lambda m, t: "글쎄요." if "2번" in m[0]["content"] else "판정: 합격"  # noqa: E731
    run = judged(a_run(), ScriptedModel(script))
    page = items_markdown(run)
    assert "## Pass: jsonl/1\n" in page.replace("\\", "")
    assert run.verdict("jsonl/2", metric="rubric").outcome == "not_scored"
    own = "Pass" if run.verdict("jsonl/2").outcome == "pass" else "Fail"
    assert f"## {own}: jsonl/2\n" in page.replace("\\", "")


def test_a_run_that_was_not_judged_has_no_rubric_in_its_report(tmp_path):
    page = items_markdown(a_run())
    assert "rubric" not in page and "rubric" not in set(report_table([a_run()])["metric"])


def test_what_a_judge_writes_is_escaped_in_every_report(tmp_path):
    run = judged(a_run(tmp_path / "run"), ScriptedModel([f"{HOSTILE}\n판정: 합격"], name="<b>j</b>"))
    page = items_html(run)
    assert "alert(1)" in page and "<script>alert" not in page and "<b>j" not in page
    text = items_markdown(run)
    assert all(line.startswith("    ") for line in text.splitlines() if "alert(1)" in line or "제목" in line)
    assert "\u202e" not in page + text and "\x07" not in page + text
