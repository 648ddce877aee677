"""The run panel as a widget in this process."""

import threading

import ipywidgets

import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel


def panel_for(script=lambda messages, tools: "네"):
    panel = fcb.run_panel(ScriptedModel(script, name="mine"))
    panel.limit.value = 6
    return panel


def test_a_run_is_made_scored_and_shown():
    panel = panel_for()
    assert isinstance(panel, ipywidgets.Widget)
    assert panel.model.value == "mine" and panel.look.disabled
    panel.start.click()
    assert panel.job.wait(60)
    assert "done · 6 of 6" in panel.status.value and "in memory, as panel.run" in panel.status.value
    assert len(panel.run.replies) == 6
    panel.look.click()
    assert "6 of 6 items" in panel.below.children[0].list.status.value


def test_a_stopped_run_goes_on_where_it_stopped(tmp_path):
    asked, gate, begun = [], threading.Event(), threading.Event()

    def script(messages, tools):
        asked.append(messages)
        begun.set()
        gate.wait(30)
        return "네"

    panel = panel_for(script)
    panel.out.value = str(tmp_path / "run")
    panel.start.click()
    assert begun.wait(30)
    panel.stop.click()
    gate.set()
    assert panel.job.wait(60)
    assert "stopped · 1 of 6" in panel.status.value and not panel.resume.disabled
    panel.resume.click()
    assert panel.job.wait(60)
    assert "done · 6 of 6" in panel.status.value
    assert len(asked) == 6, "the first reply was not made again"
    assert len(fcb.load_run(tmp_path / "run").replies) == 6


def test_settings_reach_the_run():
    panel = panel_for()
    panel.settings["max_new_tokens"].value = 17
    panel.start.click()
    assert panel.job.wait(60)
    assert panel.run.manifest["generation"]["max_new_tokens"] == 17


def test_a_benchmark_that_is_not_there_is_told(tmp_path):
    panel = panel_for()
    panel.benchmark.value = "jsonl"
    panel.source.value = str(tmp_path / "none.jsonl")
    panel.start.click()
    assert panel.job.wait(60)
    assert "none.jsonl: no such file" in panel.status.value
    assert not panel.start.disabled


def test_a_model_that_is_not_there_is_told(tmp_path):
    panel = panel_for()
    panel.model.value = str(tmp_path / "no-model")
    panel.start.click()
    assert panel.job.wait(120)
    assert "failed" in panel.status.value and "no-model" in panel.status.value
