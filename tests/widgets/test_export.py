"""A run's failures as one HTML file."""

import re

import pytest
from widget_toys import case_of

import fcb_toolkit as fcb
from fcb_toolkit.errors import DataError
from fcb_toolkit.models import ScriptedModel
from fcb_toolkit.widgets import export_html
from fcb_toolkit.widgets.export import POLICY, write_html


def test_the_file_holds_the_failures_by_kind(run, tmp_path):
    text = export_html(run, tmp_path / "out" / "failures.html").read_text("utf-8")
    assert text.count("<section>") == 30
    assert (
        "wrong_value (10)" in text and 'href="#kind-wrong-value"' in text and 'id="kind-wrong-value"' in text
    )
    assert "toy/서울-0/exact" not in text
    assert text.startswith("<!doctype html>") and text.endswith("</html>\n")


def test_all_items_can_be_written_and_prompts_too(run, tmp_path):
    text = write_html(run, tmp_path / "all.html", failures_only=False, prompts=True).read_text("utf-8")
    assert text.count("<section>") == 50
    assert "Prompt as sent" in text and "pass (20)" in text


def test_the_listed_items_are_exported_from_the_explorer(run, tmp_path):
    explorer = fcb.explore(run)
    explorer.filters.facets["failure"].value = "unknown_tool"
    assert explorer.export(tmp_path / "some.html").read_text("utf-8").count("<section>") == 10


def test_the_file_is_self_contained_and_nothing_in_it_can_run(tmp_path):
    hostile = '<script>alert(1)</script><img src=http://x onerror=alert(2)><a href="javascript:alert(3)">'
    case = case_of("서울", messages=[{"role": "user", "content": hostile}])
    run = fcb.evaluate(ScriptedModel([hostile + "\ud800"], name=hostile), [case], progress=False)
    text = export_html(run, tmp_path / "x.html").read_text("utf-8")
    assert POLICY.replace("'", "&#x27;") in text and "default-src 'none'" in POLICY
    elements = set(re.findall(r"<([a-z0-9]+)", text))
    assert not elements & {"script", "img", "iframe", "object", "link", "form", "svg", "base"}
    assert set(re.findall(r"href=.(.)", re.sub("&lt;.*?&gt;", "", text))) == {"#"}
    assert "\\ud800" in text


def test_a_run_without_failures_says_so(tmp_path):
    run = fcb.evaluate(
        ScriptedModel(["안녕"]), [case_of("서울", type_of_output="completion")], progress=False
    )
    run.verdicts["completion"].clear()
    assert "Nothing failed." in export_html(run, tmp_path / "x.html").read_text("utf-8")


def test_a_correction_is_in_the_file(run, tmp_path):
    explorer = fcb.explore(run, who="kim")
    explorer.press("next_failure")
    explorer.forms[0].wrong.click()
    text = export_html(run, tmp_path / "x.html").read_text("utf-8")
    assert "1 verdict changed" in text and "by kim" in text


def test_a_place_that_cannot_be_written_is_named(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file"):
        export_html(run, tmp_path / "file" / "x.html")
