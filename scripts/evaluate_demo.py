"""Measures an adapter of the demo model, with the toolkit itself.

    python scripts/evaluate_demo.py data/demo_adapter --set held_out --limit 200
    python scripts/evaluate_demo.py data/demo_adapter --set sample/korean
    python scripts/evaluate_demo.py data/demo_adapter --set functionchat/singlecall --source FOLDER --limit 100

`held_out`: synthetic cases over functions that training never saw (see `demo_data.split`), with 1, 4 and 8
tools. Prints one line a group: passes, cases, rate and Wilson interval; `--json FILE` keeps them.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from demo_catalog import read_functions, split
from demo_data import make_pack

import fcb_toolkit as fcb
from fcb_toolkit.models.demo import load_demo


def held_out_cases(limit: int, seed: int = 7) -> list[fcb.Case]:
    """`limit` cases with gold, in equal parts with 1, 4 and 8 tools."""
    functions = read_functions()
    held = split(functions)[1]
    cases: list[fcb.Case] = []
    while len(cases) < limit:
        number = len(cases)
        rng = random.Random(f"held out {seed}/{number}")
        size = (1, 4, 8)[number % 3]
        pack = make_pack(functions, rng, targets=held, sizes=(size,), branches=1)
        branch = pack["branches"][0]
        cases.append(fcb.Case.from_request(_request(number, size, pack, branch), benchmark="held_out"))
    return cases


def _request(number: int, size: int, pack: dict[str, Any], branch: dict[str, Any]) -> dict[str, Any]:
    user, gold = branch["messages"][:2]
    kind = {"call": "call", "ask": "slot", "refuse": "relevance"}[branch["kind"]]
    if kind == "call":
        function = gold["tool_calls"][0]["function"]
        truth = {**function, "arguments": json.dumps(function["arguments"], ensure_ascii=False)}
    else:
        truth = gold
    return {
        "serial_num": number,
        "messages": [{"role": "system", "content": pack["system"]}, user],
        "tools": pack["tools"],
        "ground_truth": truth,
        "type_of_output": kind,
        "tools_type": f"{size} tools",
    }


def rates(run: Any) -> list[dict[str, Any]]:
    """One row per type of output and tool list: passes, cases, interval, kinds of failure."""
    frame = fcb.to_frame(run)
    rows = []
    for (kind, condition), part in frame.groupby(["type_of_output", "condition"], sort=True):
        scored = part[part["outcome"] != "not_scored"]
        passes = int((scored["outcome"] == "pass").sum())
        low, high = fcb.statistics.wilson(passes, len(scored))
        rows.append(
            {
                "type": kind,
                "tools": condition or "as given",
                "passes": passes,
                "n": len(scored),
                "rate": round(passes / max(1, len(scored)), 3),
                "low": round(low, 3),
                "high": round(high, 3),
                "failures": dict(Counter(scored["failure"].dropna().astype(str)).most_common()),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("adapter", type=Path)
    parser.add_argument("--set", default="held_out")
    parser.add_argument("--source", default=None)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None, help="keeps the run in this folder")
    args = parser.parse_args()
    if args.set == "held_out":
        cases = held_out_cases(args.limit or 150)
    else:
        cases = fcb.load_benchmark(args.set, args.source)
        cases = random.Random(1).sample(cases, min(len(cases), args.limit or len(cases)))
    model = fcb.load_model(load_demo(args.adapter), name="demo")
    run = fcb.evaluate(model, cases, out=args.out, max_new_tokens=160)
    rows = rates(run)
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))
    if args.json:
        args.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
