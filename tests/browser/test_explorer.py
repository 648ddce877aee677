"""Flows of the explorer in a real JupyterLab, with the mouse and the keyboard."""

import json
import os
import shutil
import unicodedata
from pathlib import Path

import pytest
from harness import Page
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)
SHOTS = Path(__file__).parent.parent.parent / "docs" / "screenshots"
NAMELESS = """() => [...document.querySelectorAll('.jp-OutputArea-output .fcb-explorer')].flatMap(root =>
    [...root.querySelectorAll('input, select, textarea, button, summary, [role=tab]')].filter(e =>
        e.checkVisibility() &&
        !(e.labels?.length && [...e.labels].some(l => l.textContent.trim()))
        && !e.getAttribute('aria-label') && !e.textContent.trim() && !e.title).map(e => e.outerHTML))"""


def open_explorer(page, *paths, more=""):
    listed = ", ".join(f"fcb.load_run({str(path)!r})" for path in paths)
    page.open(
        "flow.ipynb", ["import fcb_toolkit as fcb", f"explorer = fcb.explore([{listed}]{more})\nexplorer"]
    )
    page.explorer.wait_for()
    page.explorer.locator("[data-fcb-keys=ready]").wait_for(state="attached")


def shot(page, name, where=None):
    """Kept only where they are asked for, so that a test run changes no file."""
    if os.environ.get("FCB_SCREENSHOTS"):
        SHOTS.mkdir(exist_ok=True)
        if where is None:  # a part that is scrolled away cannot be taken
            height = page.explorer.evaluate("e => e.scrollHeight")
            page.page.set_viewport_size({"width": 1360, "height": min(int(height) + 400, 3000)})
        (where or page.explorer).screenshot(path=str(SHOTS / f"{name}.png"), animations="disabled")


def head(page):
    return page.explorer.locator(".fcb-item-head")


def annotations(path):
    return [json.loads(line) for line in (path / "annotations.jsonl").read_text("utf-8").splitlines()]


def test_filters_show_their_counts_and_narrow_the_list(page, runs):
    open_explorer(page, runs[0])
    expect(page.explorer.get_by_text("48 of 48 items · page 1 of 3")).to_be_visible()
    failure = page.label("failure")
    expect(failure.locator("option", has_text="wrong_value (12)")).to_have_count(1)
    failure.select_option(label="wrong_value (12)")
    expect(page.explorer.get_by_text("12 of 48 items")).to_be_visible()
    expect(head(page).get_by_text("fail: wrong_value").first).to_be_visible()
    expect(page.label("condition").locator("option", has_text="4_close (6)")).to_have_count(1)
    shot(page, "explorer-light")
    page.button("Clear filters").click()
    expect(page.explorer.get_by_text("48 of 48 items · page 1 of 3")).to_be_visible()
    assert page.page.evaluate(NAMELESS) == []


def test_only_the_visible_page_is_drawn_and_the_next_one_on_a_click(page, runs):
    open_explorer(page, runs[0])
    items = page.label("items").locator("option")
    expect(items).to_have_count(20)
    page.button("page ▶").click()
    expect(page.explorer.get_by_text("page 2 of 3")).to_be_visible()
    expect(items).to_have_count(20)
    page.label("items").select_option(index=3)
    expect(head(page).locator("h3")).to_have_text("toy/세종-2/exact")


def test_keys_go_to_the_next_the_previous_and_the_next_failing_item(page, runs):
    open_explorer(page, runs[0])
    title = head(page).locator("h3")
    expect(title).to_have_text("toy/서울-0/exact")
    title.click()
    for key, name in (("n", "부산-0"), ("f", "대구-0"), ("f", "인천-0"), ("p", "대구-0")):
        page.page.keyboard.press(key)
        expect(title).to_have_text(f"toy/{name}/exact")
    for key in ("x", "d", "d"):  # JupyterLab's "cut cell" and "delete cell"
        page.page.keyboard.press(key)
    page.button("Next ▶").focus()
    page.page.keyboard.press("x")
    page.page.keyboard.press("n")
    expect(title).to_have_text("toy/인천-0/exact")
    assert page.page.locator(".jp-CodeCell").count() == 2
    page.label("search").fill("npf")
    expect(title).to_have_text("toy/인천-0/exact")


def test_the_list_is_worked_with_arrow_keys(page, runs):
    open_explorer(page, runs[0])
    page.label("items").focus()
    page.page.keyboard.press("ArrowDown")
    expect(head(page).locator("h3")).to_have_text("toy/부산-0/exact")


def test_the_search_finds_hangul_however_it_is_typed(page, runs):
    open_explorer(page, runs[0])
    search = page.label("search")
    search.fill(unicodedata.normalize("NFD", "대전"))
    search.press("Enter")
    expect(page.explorer.get_by_text("6 of 48 items")).to_be_visible()
    expect(head(page).locator("h3")).to_have_text("toy/대전-0/exact")


def test_an_item_marks_what_differs_and_shows_all_that_was_sent(page, runs):
    open_explorer(page, runs[0])
    page.label("failure").select_option(label="wrong_value (12)")
    city = page.explorer.get_by_role("row", name="city")
    expect(city.locator("ins")).to_have_text(["␣", "␣시"])
    expect(city.get_by_text("different", exact=True)).to_be_visible()
    tools = page.explorer.get_by_text("Tools offered (1)")
    about = page.explorer.get_by_text("지정한 도시의 날씨를 알려 줍니다.", exact=True)
    expect(about).to_be_hidden()
    tools.click()
    page.explorer.locator("summary", has_text="get_weather").click()
    expect(about).to_be_visible()
    expect(page.explorer.get_by_role("row", name="day string no 언제인지")).to_be_visible()
    page.explorer.get_by_text("Prompt as sent").click()
    expect(page.explorer.locator(".fcb-exact", has_text="messages")).to_be_visible()
    shot(page, "item-light")


def test_a_hostile_reply_is_shown_as_text_and_nothing_of_it_runs(page, runs):
    open_explorer(page, runs[0])
    page.label("search").fill("울산")
    page.label("search").press("Enter")
    raw = page.explorer.locator(".fcb-exact").first
    expect(raw).to_contain_text("<script>window.fcbPwned = 1</script><img src=x onerror=")
    expect(raw).to_contain_text("⟨ESC⟩[31mred⟨ESC⟩[0m")
    expect(raw).to_contain_text("⟨U+202E⟩")
    expect(raw).to_contain_text("\\ud800")
    expect(page.explorer.get_by_text("980,").first).to_be_visible()
    shot(page, "hostile-light")
    page.label("draw long texts whole").check()
    page.page.wait_for_function(
        "[...document.querySelectorAll('.jp-OutputArea-output .fcb-exact')].some(e => e.textContent.length > 1e6)"
    )
    assert page.page.evaluate("window.fcbPwned") is None
    assert page.explorer.locator("script, img, svg[onload]").count() == 0


def test_a_corrected_verdict_is_saved_at_once_and_survives_a_new_kernel(page, runs):
    open_explorer(page, runs[0])
    page.button("Next failure").click()
    page.explorer.get_by_text("Annotate").click()
    page.button("The verdict is wrong").click()
    expect(page.explorer.get_by_text("1 verdict changed")).to_be_visible()
    page.label("note").fill("둘 다 맞는 도시 이름")
    page.label("note").blur()
    expect(page.explorer.get_by_text("saved beside the run: note")).to_be_visible()
    shot(page, "annotate-light")
    edits = annotations(runs[0])
    assert [(e["who"], e["values"], e["before"]) for e in edits] == [
        ("kim", {"outcome": "pass", "failure": None}, {"outcome": "fail", "failure": "wrong_value"}),
        ("kim", {"note": "둘 다 맞는 도시 이름"}, {"note": None}),
    ]
    page.restart()
    expect(page.explorer.get_by_text("1 verdict changed")).to_be_visible()
    page.label("annotation").select_option(label="corrected (1)")
    expect(head(page).get_by_text("Corrected to ✓ pass by kim")).to_be_visible()
    page.explorer.get_by_text("Annotate").click()
    page.button("Undo").click()
    page.button("Undo").click()
    expect(page.explorer.get_by_text("no verdict changed")).to_be_visible()


def test_two_notebooks_on_one_run_keep_each_others_annotations(page, runs, browser, lab):
    open_explorer(page, runs[0])
    context = browser.new_context(viewport={"width": 1200, "height": 1200})
    try:
        other = Page(context.new_page(), lab)
        other.open(
            "other.ipynb",
            ["import fcb_toolkit as fcb", f"fcb.explore(fcb.load_run({str(runs[0])!r}), who='lee')"],
        )
        for one in (page, other):
            one.explorer.get_by_text("Annotate").click()
        page.label("note").fill("from kim")
        page.label("note").blur()
        expect(page.explorer.get_by_text("saved beside the run")).to_be_visible()
        other.label("tag").fill("from lee")
        other.label("tag").blur()
        expect(other.explorer.get_by_text("saved beside the run")).to_be_visible()
        expect(head(other).get_by_text("from kim").first).to_be_visible()
        page.button("Next ▶").click()
        page.button("◀ Previous").click()
        expect(head(page).get_by_text("from lee").first).to_be_visible()
        other.close()
    finally:
        context.close()
    assert [e["who"] for e in annotations(runs[0])] == ["kim", "lee"]


def test_two_runs_are_compared_by_quadrant_and_by_argument(page, runs):
    open_explorer(page, *runs)
    page.explorer.get_by_role("tab", name="Compare").click()
    quadrants = page.explorer.locator(".fcb-quadrants")
    expect(quadrants.get_by_role("button", name="only model-a right: 6")).to_be_visible()
    expect(quadrants.get_by_role("button", name="both right: 12")).to_be_visible()
    quadrants.get_by_role("button", name="only model-b right: 30").click()
    expect(page.explorer.get_by_text("30 of 48 items")).to_be_visible()
    expect(page.explorer.get_by_text("model-a against model-b")).to_be_visible()
    between = page.explorer.locator("table.fcb-calls").last
    expect(between.locator("del")).to_have_text(["␣", "␣시"])
    shot(page, "compare-light")


def test_the_model_in_memory_is_asked_again_and_the_variant_is_kept(page, runs):
    page.open(
        "flow.ipynb",
        [
            "import fcb_toolkit as fcb\nfrom fcb_toolkit.models import ScriptedModel\n"
            "def script(messages, tools):\n"
            "    if '묻지 말고' in str(messages[0]['content']):\n"
            '        return \'<tool_call>{"name": "get_weather", "arguments": {"city": "대전", "day": "내일"}}</tool_call>\'\n'
            "    return '어느 날짜인가요?'",
            f"run = fcb.load_run({str(runs[0])!r})\n"
            "fcb.explore(run, model=ScriptedModel(script, name='in memory', format='hermes'))",
        ],
    )
    page.label("search").fill("대전")
    page.label("search").press("Enter")
    expect(head(page).locator("h3")).to_have_text("toy/대전-0/exact")
    page.explorer.get_by_text("Try again").click()
    page.label("system prompt").fill("묻지 말고 바로 호출하세요.")
    page.button("Run again").click()
    result = page.explorer.locator(".fcb-retry-result")
    expect(result.get_by_text("changed: system prompt")).to_be_visible()
    expect(result.get_by_text("✗ fail: missing_call").first).to_be_visible()
    expect(result.get_by_text("✓ pass").first).to_be_visible()
    page.button("Keep as variant").click()
    expect(page.explorer.get_by_text("Variants kept (1)")).to_be_visible()
    shot(page, "try-again-light")
    kept = json.loads((runs[0] / "variants.jsonl").read_text("utf-8"))
    assert (kept["changes"], kept["model"]) == (["system prompt"], "in memory")


def test_a_long_second_try_shows_progress_leaves_the_page_alive_and_stops(page, runs):
    page.open(
        "flow.ipynb",
        [
            "import threading\nimport fcb_toolkit as fcb\nfrom fcb_toolkit.models import ScriptedModel\n"
            "gate = threading.Semaphore(0)\n"
            "def script(messages, tools):\n    gate.acquire()\n    return '네'",
            f"fcb.explore(fcb.load_run({str(runs[0])!r}), model=ScriptedModel(script, format='hermes'))",
        ],
    )
    page.explorer.get_by_text("Try again").click()
    page.label("ask again").select_option(label="the items in the list (at most 200)")
    page.button("Run again").click()
    expect(page.explorer.get_by_text("running · 0 of 48")).to_be_visible()
    page.button("Next ▶").click()
    expect(head(page).locator("h3")).to_have_text("toy/부산-0/exact")
    page.execute("gate.release()")
    expect(page.explorer.get_by_text("running · 1 of 48")).to_be_visible()
    page.button("Stop").click()
    expect(page.explorer.get_by_text("stopping after the reply that is being made")).to_be_visible()
    page.execute("gate.release()")
    expect(page.explorer.get_by_text("stopped · 2 of 48")).to_be_visible()
    expect(page.button("Run again")).to_be_enabled()


def test_a_cohort_is_opened_with_a_click(page, runs):
    open_explorer(page, runs[0])
    page.explorer.get_by_role("tab", name="Cohorts").click()
    expect(page.explorer.get_by_text("30 failures in 3 groups")).to_be_visible()
    shot(page, "cohorts-light")
    page.button("unknown_tool × get_weather × call").click()
    expect(page.explorer.get_by_text("6 of 48 items")).to_be_visible()
    expect(head(page).locator("h3")).to_have_text("toy/인천-0/exact")


def test_items_that_all_runs_fail_are_suspected_and_opened(page, runs):
    open_explorer(page, runs[0], runs[0])
    page.explorer.get_by_role("tab", name="Suspect gold").click()
    expect(page.explorer.get_by_text("30 items whose gold may be wrong")).to_be_visible()
    expect(page.explorer.get_by_text("all 2 runs fail").first).to_be_visible()
    page.button("내일 광주 날씨 어때? (0)").click()
    expect(head(page).locator("h3")).to_have_text("toy/광주-0/exact")


def test_the_dark_theme_colours_the_explorer(page, runs):
    open_explorer(page, *runs)
    page.command("apputils:change-theme", theme="JupyterLab Dark")
    page.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    page.label("failure").select_option(label="wrong_value (12)")
    expect(page.explorer.get_by_text("12 of 48 items")).to_be_visible()
    back, front = page.page.evaluate(
        "() => { const e = document.querySelector('.jp-OutputArea-output .fcb-pre'), s = getComputedStyle(e);"
        " return [s.backgroundColor, s.color].map(c => c.match(/[\\d.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0)); }"
    )
    assert front - back > 300
    shot(page, "explorer-dark")
    page.command("apputils:change-theme", theme="JupyterLab Light")
    page.page.wait_for_function("document.body.dataset.jpThemeLight === 'true'")


def test_the_static_export_needs_no_server_and_asks_for_nothing(page, runs, tmp_path):
    import fcb_toolkit as fcb
    from fcb_toolkit.widgets import export_html

    path = export_html(fcb.load_run(runs[0]), tmp_path / "failures.html")
    page.page.goto(path.as_uri())
    expect(page.page.get_by_role("link", name="wrong_value (12)")).to_be_visible()
    expect(page.page.locator("section")).to_have_count(30)
    assert page.page.evaluate("window.fcbPwned") is None
    assert page.asked == [path.as_uri()]
    shot(page, "export-light", page.page)


def test_notebook_3_runs_in_jupyterlab(page, runs, lab, root):
    shutil.copytree(runs[0], lab.root / "data" / "recorded" / "demo-free")
    shutil.copy(root / "notebooks" / "3_explore_failures.ipynb", lab.root)
    page.run_file("3_explore_failures.ipynb")
    explorers = page.output.locator(".fcb-explorer")
    expect(explorers).to_have_count(4)
    expect(explorers.nth(0).locator(".fcb-item-head h3")).to_have_text("toy/대구-0/exact")
    expect(explorers.nth(1).get_by_text("Variants kept (1)")).to_be_visible()
    expect(explorers.nth(2).get_by_role("tab", name="Compare")).to_be_visible()
    expect(explorers.nth(3).get_by_role("button", name="Start")).to_be_visible()
    assert page.output.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
