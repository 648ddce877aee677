"""How fast is the sandbox? The same 1,000 programs in it and in a stand-in for the official DPAB engine.

    python benchmarks/sandbox.py [--quick] [--json] [--shared ../shared]

The official engine is not part of this repository. Its stand-in does what the golden notes say it does to one
reply: import the mock functions, parse the code, note the calls, run it with `exec` in a thread of this very
process. It isolates nothing and traces nothing. With `--shared` the programs are the golden solver programs
for the 100 public problems, ten times each; without it, programs of our own.

Figures: `*_programs_per_s`, `sandbox_1000_s` (two threads, as a run scores), and `ratio_exec_in_process`, the
sandbox's programs per second over the stand-in's, in pairs of repetitions.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import io
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fcb_toolkit import execution, jsonl
from fcb_toolkit.benchmarks import dpab
from fcb_toolkit.execution import monty
from fcb_toolkit.scoring.dpab_official import reading

Program = tuple[str, str]
"""(the reply's text, source of its mock functions)."""

MOCKS = """
def find_route(start: str, end: str) -> dict:
    if not start or not end:
        raise ValueError("두 곳이 다 있어야 합니다")
    return {"stops": [start, "시청", end], "minutes": 10 + len(start) * 3}
def book_seat(route: dict, count: int = 1) -> bool:
    return count > 0 and route["minutes"] < 90
def send_ticket(to: str, route: dict) -> str:
    return f"{to}: {' - '.join(route['stops'])}"
"""
SHAPES = (
    "route = find_route('{a}', '{b}')\nbooked = book_seat(route, {n})\nticket = send_ticket('하람', route)",
    "def plan(a, b):\n    return find_route(a, b)\nroutes = [plan(a, '{b}') for a in ['{a}', '서울']]\n"
    "booked = [book_seat(r) for r in routes]\nticket = send_ticket('이든', routes[0])",
    "best = min((find_route(s, '{b}') for s in ['{a}', '역삼', '잠실']), key=lambda r: r['minutes'])\n"
    "booked = book_seat(best, count={n})\ntext = f\"{{send_ticket('하람', best)}}!\"",
    "total = 0\nfor i in range({n}):\n    route = find_route('{a}' + str(i), '{b}')\n    total += route['minutes']\n"
    "booked = book_seat(route)\nticket = send_ticket('관리자', route)",
)


def own_programs(count: int) -> list[Program]:
    places = ["강남", "부산역", "인천공항", "수원", "광화문"]
    return [
        (
            SHAPES[i % len(SHAPES)].format(a=places[i % 5], b=places[(i + 2) % 5], n=1 + i % 4),
            MOCKS,
        )
        for i in range(count)
    ]


def golden_programs(shared: Path, count: int) -> list[Program]:
    cases = dpab.load(shared / "data" / "dpab", "pythonic")
    rows = [row for _, row in jsonl.read(shared / "golden" / "dpab_exec.jsonl")]
    solvers = [row for row in rows if row["variant"] == "solution" and row["mode"] == "pythonic"]
    chosen = [solvers[i % len(solvers)] for i in range(count)]
    return [(row["completion"], cases[row["row"]].task["mock_functions"]) for row in chosen]


def in_sandbox(program: Program) -> None:
    code, mocks = program
    ran = execution.execute(reading(code, "pythonic").code, mocks)
    if ran.error or not ran.calls:
        raise SystemExit(f"a benchmark program failed: {ran.error}\n{code}")


def in_process(program: Program) -> None:
    """The stand-in. Only ever given the programs above."""
    code, mocks = program
    read = reading(code, "pythonic")
    space: dict[str, object] = {"__builtins__": builtins}
    exec("from typing import List, Dict, Any, Union, Tuple, Callable, Optional", space)
    exec(mocks, space)
    with contextlib.redirect_stdout(io.StringIO()), ThreadPoolExecutor(1) as pool:
        pool.submit(exec, read.code, space).result(30)


def timed(run: Callable[[Program], None], programs: Sequence[Program], threads: int) -> float:
    started = time.perf_counter()
    if threads == 1:
        for program in programs:
            run(program)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, programs))
    return time.perf_counter() - started


def measure(programs: Sequence[Program], repeats: int) -> dict[str, object]:
    in_sandbox(programs[0])
    in_process(programs[0])
    seconds: dict[str, list[float]] = {"sandbox_1": [], "sandbox_2": [], "exec_in_process": []}
    for _ in range(repeats):
        seconds["sandbox_1"].append(timed(in_sandbox, programs, 1))
        seconds["sandbox_2"].append(timed(in_sandbox, programs, 2))
        seconds["exec_in_process"].append(timed(in_process, programs, 1))
    ratios = [b / a for a, b in zip(seconds["sandbox_2"], seconds["exec_in_process"], strict=True)]
    rate = {name: len(programs) / statistics.median(values) for name, values in seconds.items()}
    return {
        "programs": len(programs),
        "repetitions": repeats,
        "sandbox_one_thread_programs_per_s": round(rate["sandbox_1"]),
        "sandbox_two_threads_programs_per_s": round(rate["sandbox_2"]),
        "exec_in_process_programs_per_s": round(rate["exec_in_process"]),
        "sandbox_1000_s": round(1000 / rate["sandbox_2"], 2),
        "ratio_exec_in_process": {
            "value": round(statistics.median(ratios), 3),
            "low": round(min(ratios), 3),
            "high": round(max(ratios), 3),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--json", action="store_true", help="one JSON object last")
    parser.add_argument("--shared", type=Path, help="folder with data/dpab and golden/dpab_exec.jsonl")
    given = parser.parse_args()
    programs = golden_programs(given.shared, 1000) if given.shared else own_programs(1000)
    found = measure(programs, 3 if given.quick else 10)
    found["programs_from"] = "golden solver programs" if given.shared else "own programs"
    found["peer"] = "exec in this process, standing in for the official engine (no isolation, no trace)"
    found["machine"] = (
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs, {platform.platform()}"
    )
    monty.close()
    for name, value in found.items():
        print(f"{name:40}{value}")
    if given.json:
        print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
