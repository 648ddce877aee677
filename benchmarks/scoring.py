"""How fast are the scorers? Each on the same replies, beside a stand-in for the official exact stage.

    python benchmarks/scoring.py [--quick] [--json] [--shared ../shared]

The official FunctionChat-Bench code is not part of this repository. Its stand-in, `official_exact`, is
written here from a description of its rules and does no more than they say: json.loads, keys, values,
alternatives. Against the numbers recorded for the official code itself, see docs/scoring.md.

With `--shared` (or ../shared) the replies are the golden file's; without it, the sample's gold and four
spoilt copies of each. Figures: `<scorer>_rows_per_s`; `ratio_official_exact`, rows per second of call_match
over those of the stand-in, in pairs of repetitions; `rescore_100000_s`, seconds to parse 100,000 raw replies
and score them with call_match, on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fcb_toolkit import jsonl, scoring
from fcb_toolkit.benchmarks import load_benchmark
from fcb_toolkit.records import Answer, Case

Row = tuple[Case, Any]
"""(case, the reply as an OpenAI message)."""
SCORERS = ("functionchat_exact", "call_match", "schema_valid", "decision", "bfcl_ast")
TEXT_SCORERS = ("completion", "slot", "relevance", "reject")
RESCORED = 100_000


def official_exact(case: Case, output: Any) -> bool:
    """The stand-in: the rules of the official stage in their own order, nothing else."""
    if case.type_of_output != "call" or output is None:
        return False
    acceptable = case.acceptable_arguments
    if acceptable:
        try:
            acceptable = json.loads(acceptable)
        except Exception:
            acceptable = json.loads('"' + acceptable + '"')
        if isinstance(acceptable, str) and acceptable.endswith("."):
            acceptable = None
    if acceptable is None:
        acceptable = {}
    elif isinstance(acceptable, str):
        acceptable = json.loads(acceptable)
    truth = case.ground_truth
    if "tool_calls" in truth:
        truth = truth["tool_calls"][0]["function"]
    calls = output.get("tool_calls", [])
    if not calls:
        return False
    found = calls[0].get("function", {})
    if truth.get("name") != found.get("name"):
        return False
    try:
        expected, given = json.loads(truth.get("arguments")), json.loads(found.get("arguments"))
    except json.JSONDecodeError:
        return False
    if any(key not in expected for key in given.keys()):  # noqa: SIM118  (a list has no keys: it must raise)
        return False
    return all(accepted(key, value, given.get(key), acceptable) for key, value in expected.items())


def accepted(key: str, expected: Any, given: Any, acceptable: Any) -> bool:
    if equal(expected, given):
        return True
    allowed = acceptable.get(key, [])
    if isinstance(allowed, list):
        return any(equal(item, given) for item in allowed)
    return equal(allowed, given) if isinstance(allowed, str) else True


def equal(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.replace(" ", "").lower() == right.replace(" ", "").lower()
    return bool(left == right)


def golden_rows(shared: Path) -> list[Row]:
    cases = {}
    for part in ("singlecall", "dialog", "calldecision"):
        for case in load_benchmark(f"functionchat/{part}", shared / "data" / "functionchat"):
            cases[part, case.serial_num, case.condition] = case
    return [
        (cases[row["benchmark"], row["serial_num"], row["tools_type"] or ""], row["output"])
        for _, row in jsonl.read(shared / "golden" / "functionchat_exact.jsonl")
    ]


def sample_rows() -> list[Row]:
    """The sample's gold calls and spoilt copies, as many as the golden file has rows."""
    cases = [case for case in load_benchmark("sample/korean") if case.type_of_output == "call"]
    made = [(case, message) for case in cases for message in spoilt(case.ground_truth)]
    return (made * (10_000 // len(made) + 1))[:10_000]


def spoilt(truth: dict[str, Any]) -> Iterator[Any]:
    function = truth["tool_calls"][0]["function"] if "tool_calls" in truth else truth
    arguments = json.loads(function["arguments"])
    yield message(function["name"], arguments)
    yield message(function["name"], dict(list(arguments.items())[1:]))
    yield message(function["name"], {key: f"{value} x" for key, value in arguments.items()})
    yield message("no_such_tool", arguments)
    yield {"role": "assistant", "content": "죄송하지만 도와드릴 수 없습니다."}


def message(name: str, arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": function}]}


def run_official(rows: Sequence[Row]) -> None:
    for case, output in rows:
        try:
            official_exact(case, output)
        except Exception:
            continue


def run_metric(rows: Sequence[tuple[Case, Answer]], metric: str) -> None:
    for case, answer in rows:
        scoring.score_answer(case, answer, metric)


def run_from_messages(rows: Sequence[Row]) -> None:
    for case, output in rows:
        scoring.score_answer(case, scoring.answer(output, tools=case.tools), "call_match")


def raw_text(output: Any) -> str:
    """The message as a Hermes model would have written it."""
    calls = output.get("tool_calls") if isinstance(output, dict) else None
    if not isinstance(calls, list):
        return str(output)
    parts = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = function.get("arguments")
            body = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            parts.append(
                f'<tool_call>\n{{"name": "{function.get("name")}", "arguments": {body}}}\n</tool_call>'
            )
    return "\n".join(parts)


def rescore(rows: Sequence[Row]) -> float:
    texts = [(case, raw_text(output)) for case, output in rows]
    replies = (texts * (RESCORED // len(texts) + 1))[:RESCORED]
    start = time.process_time()
    for case, text in replies:
        scoring.score_answer(case, scoring.answer(text, "hermes", case.tools), "call_match")
    return time.process_time() - start


def rate(count: int, work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return count / (time.process_time() - start)


def text_answers() -> list[tuple[Case, Answer]]:
    cases = [case for case in load_benchmark("sample/korean") if case.type_of_output != "call"]
    return [(case, scoring.answer(case.ground_truth, tools=case.tools)) for case in cases] * 10


def measure(rows: Sequence[Row], repetitions: int) -> dict[str, Any]:
    answers = [(case, scoring.answer(output, tools=case.tools)) for case, output in rows]
    texts = text_answers()
    works: dict[str, tuple[int, Callable[[], None]]] = {
        "official_exact": (len(rows), lambda: run_official(rows))
    }
    for metric in SCORERS:
        works[metric] = (len(answers), lambda metric=metric: run_metric(answers, metric))  # type: ignore[misc]
    works["call_match_from_message"] = (len(rows), lambda: run_from_messages(rows))
    for metric in TEXT_SCORERS:
        own = [pair for pair in texts if scoring.METRICS[metric].applies(pair[0])]
        works[metric] = (len(own), lambda own=own, metric=metric: run_metric(own, metric))  # type: ignore[misc]
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repetitions):
        for name, (count, work) in works.items():
            rates[name].append(rate(count, work))
    figures: dict[str, Any] = {
        f"{name}_rows_per_s": round(statistics.median(found)) for name, found in rates.items()
    }
    figures["ratio_official_exact"] = ratio(rates["call_match"], rates["official_exact"])
    figures["ratio_official_exact_from_message"] = ratio(
        rates["call_match_from_message"], rates["official_exact"]
    )
    figures["ratio_official_exact_functionchat_exact"] = ratio(
        rates["functionchat_exact"], rates["official_exact"]
    )
    return figures


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, float]:
    """Ours over the peer's, repetition by repetition: what disturbs one of a pair often disturbs both."""
    pairs = sorted(one / other for one, other in zip(ours, theirs, strict=True))
    return {
        "value": round(statistics.median(pairs), 3),
        "low": round(pairs[0], 3),
        "high": round(pairs[-1], 3),
    }


def machine() -> dict[str, Any]:
    return {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(),
            "python": platform.python_version(), "system": platform.system()}  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--quick", action="store_true", help="3 repetitions instead of 9")
    options.add_argument("--json", action="store_true", help="one JSON object last")
    options.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    given = options.parse_args()
    golden = (given.shared / "golden" / "functionchat_exact.jsonl").exists()
    rows = golden_rows(given.shared) if golden else sample_rows()
    figures = {"rows": len(rows), "replies": "golden" if golden else "sample"}
    figures |= measure(rows, 3 if given.quick else 9)
    figures["rescore_100000_s"] = round(rescore(rows), 2)
    for name, value in figures.items():
        print(f"{name:42} {value}")
    if given.json:
        print(json.dumps({**figures, "machine": machine()}))


if __name__ == "__main__":
    main()
