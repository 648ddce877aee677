"""How quick is the explorer with 50,000 cases? First view, a filter change, a search, a step.

    python benchmarks/explorer.py [--quick] [--json] [--browser]

The run is made up: Korean questions of about 60 characters, replies of about 300, three metrics, 200 tools,
40% failures. Times are those of the kernel: from the call to the last message for the page; `cpu` is processor
time, which says the same on a machine that others use. `--browser` also
measures in JupyterLab with Chromium on the same cores: from the click to the page showing the result.
`--quick` repeats 3 times instead of 10. Targets: first view 2 s, filter change 300 ms, on 2 cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median

import fcb_toolkit as fcb
from fcb_toolkit.records import Case, FailureKind, Reply, Verdict
from fcb_toolkit.runs import Run

CASES = 50_000
TOOLS = 200
TARGETS = {"first_view_s": 2.0, "filter_change_s": 0.3}
WORDS = [
    "내일",
    "서울",
    "부산",
    "날씨",
    "알려",
    "주세요",
    "예약",
    "확인",
    "주문",
    "환율",
    "회의",
    "일정",
    "취소",
    "식당",
    "추천",
]


def made_up(number: int, seed: int = 0) -> Run:
    """A run in memory; `seed` decides who fails and why."""
    draw = random.Random(seed)
    kinds = list(FailureKind)
    cases, replies = [], []
    verdicts: dict[str, dict] = {"call_match": {}, "decision": {}, "functionchat_exact": {}}
    for place in range(number):
        name = f"tool_{draw.randrange(TOOLS)}"
        tools = tuple(tool(f"tool_{(place + i) % TOOLS}") for i in range(4))
        question = " ".join(draw.choices(WORDS, k=15)) + f" {place}"
        gold = {"name": name, "arguments": json.dumps({"text": question[:20]}, ensure_ascii=False)}
        kind = ("call", "slot-all", "reject", "completion")[place % 4]
        case = Case(
            f"made_up/{place}", "made_up", ({"role": "user", "content": question},), tools, gold, category=kind,
            condition=("exact", "4_random", "4_close", "8_random", "8_close")[place % 5],
        )  # fmt: skip
        cases.append(case)
        text = f'<tool_call>{{"name": "{name}", "arguments": {{"text": "{question * 3}"}}}}</tool_call>'
        counts = draw.randrange(100, 4000), draw.randrange(5, 400)
        replies.append(Reply(case.id, text, prompt_tokens=counts[0], reply_tokens=counts[1], format="hermes"))
        right = draw.random() < 0.6
        for metric, rows in verdicts.items():
            passed = right if metric == "call_match" or draw.random() < 0.95 else not right
            reason = f"{name}.text: expected {question[:20]!r}, found {question!r}"
            rows[(case.id, 0)] = (
                Verdict.passed() if passed else Verdict.failed(kinds[draw.randrange(len(kinds))], reason)
            )
    return Run({"model": {"id": f"made-up-{seed}"}}, tuple(cases), tuple(replies), verdicts)


def tool(name: str) -> dict:
    schema = {"type": "object", "properties": {"text": {"type": "string", "description": "무엇을"}}}
    return {
        "type": "function",
        "function": {"name": name, "description": "무엇을 합니다.", "parameters": schema},
    }


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_kernel(number: int, repeats: int) -> dict[str, list[float]]:
    """Seconds of each step, once per repetition, each with a run that was never looked at."""
    times: dict[str, list[float]] = {
        "import_s": [timed(lambda: import_module("fcb_toolkit.widgets.explorer"))]
    }
    for repeat in range(repeats):
        run, other = made_up(number, repeat), made_up(number, repeat + 1000)
        steps = one_run(run) | two_runs(run, other)
        for name, seconds in steps.items():
            times.setdefault(name, []).append(seconds)
    return times


def one_run(run: Run) -> dict[str, float]:
    explorer = None

    def first() -> None:
        nonlocal explorer
        explorer = fcb.explore(run)

    cpu = time.process_time()
    steps = {"first_view_s": timed(first), "first_view_cpu_s": time.process_time() - cpu}
    facets = explorer.filters.facets
    changes = []
    explorer.filters.reset.click()
    cpu = time.process_time()
    for facet, label in (
        ("failure", "wrong_value"), ("tool", "tool_7"), ("failure", ""), ("category", "reject"), ("tool", ""),
        ("disagreement", "any"), ("reply tokens", "65 to 128"), ("verdict", "fail"),
    ):  # fmt: skip
        changes.append(timed(lambda facet=facet, label=label: setattr(facets[facet], "value", label)))
    steps["filter_change_s"] = max(changes)
    steps["filter_change_cpu_s"] = (time.process_time() - cpu) / len(changes)
    steps["clear_filters_s"] = timed(explorer.filters.reset.click)
    steps["other_metric_s"] = timed(lambda: setattr(explorer.filters.metric, "value", "decision"))
    steps["first_search_s"] = timed(lambda: setattr(explorer.filters.search, "value", "서울 4999"))
    steps["next_search_s"] = timed(lambda: setattr(explorer.filters.search, "value", "회의 부산"))
    steps["next_item_s"] = timed(lambda: explorer.press("next"))
    steps["next_failure_s"] = timed(lambda: explorer.press("next_failure"))
    steps["annotate_s"] = timed(explorer.forms[0].wrong.click)
    explorer.filters.reset.click()
    steps["cohorts_s"] = timed(lambda: setattr(explorer.tabs, "selected_index", 1))
    return steps


def two_runs(run: Run, other: Run) -> dict[str, float]:
    explorer = None

    def first() -> None:
        nonlocal explorer
        explorer = fcb.explore([run, other])

    steps = {"first_view_of_two_runs_s": timed(first)}
    quadrant = explorer.filters.facets["quadrant"]
    steps["quadrant_s"] = timed(lambda: setattr(quadrant, "value", "only B right"))
    return steps


FIRST_VIEW = """async () => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = 1;
    await window.jupyterapp.commands.execute('notebook:clear-cell-output');
    const start = performance.now();
    window.jupyterapp.commands.execute('notebook:run-cell');
    const there = () => document.querySelectorAll('.jp-OutputArea-output .fcb-list option').length === 20
        && document.querySelector('.jp-OutputArea-output .fcb-item-head h3');
    while (!there()) await new Promise(requestAnimationFrame);
    return (performance.now() - start) / 1000;
}"""
FILTER = """async place => {
    const root = document.querySelector('.jp-OutputArea-output .fcb-explorer');
    const control = [...root.querySelectorAll('label')].find(l => l.textContent === 'failure').control;
    const status = root.querySelector('.fcb-list-status');
    const before = status.textContent;
    const start = performance.now();
    control.selectedIndex = place;
    control.dispatchEvent(new Event('change', {bubbles: true}));
    while (status.textContent === before) await new Promise(requestAnimationFrame);
    return (performance.now() - start) / 1000;
}"""


def in_browser(number: int, repeats: int) -> dict[str, list[float]]:
    """The two targets as a reader feels them: from the click to the page that shows the result."""
    root = Path(__file__).parent.parent
    sys.path.insert(0, str(root / "tests" / "browser"))
    from harness import Page, make_home, running_chromium, running_lab

    setup = f"import sys; sys.path.insert(0, {str(root / 'benchmarks')!r})\nimport explorer as bench\n"
    setup += f"import fcb_toolkit as fcb\nrun = bench.made_up({number})"
    times: dict[str, list[float]] = {"browser_first_view_s": [], "browser_filter_change_s": []}
    with tempfile.TemporaryDirectory() as folder:
        home, notebooks = make_home(Path(folder) / "home"), Path(folder) / "notebooks"
        notebooks.mkdir()
        with running_lab(home, notebooks) as lab, running_chromium(home) as browser:
            page = Page(browser.new_page(viewport={"width": 1360, "height": 1200}), lab)
            page.open("bench.ipynb", [setup, "fcb.explore(run)"])
            for repeat in range(repeats):
                page.execute(f"run = bench.made_up({number}, {repeat + 1})")
                times["browser_first_view_s"].append(page.page.evaluate(FIRST_VIEW))
                changes = [page.page.evaluate(FILTER, place) for place in (2, 5, 0, 3)]
                times["browser_filter_change_s"].append(max(changes))
            page.close()
    return times


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="3 repetitions instead of 10")
    options.add_argument("--json", action="store_true", help="one JSON object as the last line")
    options.add_argument("--browser", action="store_true", help="also in JupyterLab with Chromium")
    options.add_argument("--cases", type=int, default=CASES)
    given = options.parse_args()
    repeats = 3 if given.quick else 10
    times = in_kernel(given.cases, repeats)
    if given.browser:
        times |= in_browser(given.cases, repeats)
    figures = {name: summary(seconds) for name, seconds in times.items()}
    for name, found in figures.items():
        target = TARGETS.get(name.removeprefix("browser_"))
        note = f"   target {target:g} s: {'met' if found['high'] <= target else 'MISSED'}" if target else ""
        print(f"{name:28} {found['median']:.3f} s   ({found['low']:.3f} to {found['high']:.3f}){note}")
    if given.json:
        print(json.dumps({"cases": given.cases, "repeats": repeats, **figures, "machine": machine()}))


def summary(seconds: list[float]) -> dict[str, float]:
    return {"median": median(seconds), "low": min(seconds), "high": max(seconds)}


def machine() -> dict[str, object]:
    return {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count()}


if __name__ == "__main__":
    main()
