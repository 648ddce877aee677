"""Flows of the run panel in a real JupyterLab."""

import pytest
from playwright.sync_api import expect
from test_explorer import NAMELESS, shot

pytestmark = pytest.mark.browser

SETUP = """
import threading
import fcb_toolkit as fcb
from fcb_toolkit.models import ScriptedModel
gate = threading.Semaphore(0)
def script(messages, tools):
    gate.acquire()
    return "안녕하세요"
"""


def test_a_run_is_started_watched_stopped_resumed_and_explored(page, tmp_path):
    page.open("panel.ipynb", [SETUP, "panel = fcb.run_panel(ScriptedModel(script, name='mine'))\npanel"])
    page.label("save to").fill(str(tmp_path / "run"))
    page.label("first cases").fill("5")
    page.label("first cases").blur()
    page.button("Start").click()
    expect(page.explorer.get_by_text("running · 0 of 5")).to_be_visible()
    page.execute("gate.release()")
    expect(page.explorer.get_by_text("running · 1 of 5")).to_be_visible()
    expect(page.explorer.get_by_text("left")).to_be_visible()
    shot(page, "run-panel-light")
    page.button("Stop").click()
    page.execute("gate.release()")
    expect(page.explorer.get_by_text("stopped · 2 of 5")).to_be_visible()
    page.button("Resume").click()
    expect(page.explorer.get_by_text("running · 2 of 5")).to_be_visible()
    page.execute("gate.release(3)")
    expect(page.explorer.get_by_text("done · 5 of 5")).to_be_visible()
    page.button("Explore").click()
    expect(page.output.get_by_text("5 of 5 items")).to_be_visible()
    assert page.page.evaluate(NAMELESS) == []
