"""The same widget in Jupyter Notebook 7."""

import pytest
from harness import Page, running_lab
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_explorer_works_in_notebook_7(home, browser, runs, tmp_path):
    (tmp_path / "root").mkdir()
    with running_lab(home, tmp_path / "root", "notebook") as server:
        context = browser.new_context(viewport={"width": 1360, "height": 1500})
        page = Page(context.new_page(), server)
        page.open("flow.ipynb", ["import fcb_toolkit as fcb", f"fcb.explore(fcb.load_run({str(runs[0])!r}))"])
        page.explorer.locator("[data-fcb-keys=ready]").wait_for(state="attached")
        title = page.explorer.locator(".fcb-item-head h3")
        title.click()
        page.page.keyboard.press("f")
        expect(title).to_have_text("toy/대구-0/exact")
        page.label("failure").select_option(label="unknown_tool (6)")
        expect(page.explorer.get_by_text("6 of 48 items")).to_be_visible()
        page.explorer.get_by_text("Annotate").click()
        page.button("The verdict is wrong").click()
        expect(page.explorer.get_by_text("1 verdict changed")).to_be_visible()
        page.close()
        context.close()
    assert (runs[0] / "annotations.jsonl").exists()
