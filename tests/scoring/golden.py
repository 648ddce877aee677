"""The golden rows as (case, answer, verdict): shared by the tests of the scorers and of their parity."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fcb_toolkit import parsers
from fcb_toolkit.benchmarks import load_benchmark
from fcb_toolkit.records import Answer, Case, Parse


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def answer_of(output: Any) -> Answer:
    """As the official scorer gets it: the message as it is, whatever its shape."""
    parse = Parse() if output is None or isinstance(output, str) else parsers.parse(output, "openai")
    return Answer(parse, None, "stop", output)


def functionchat_rows(shared: Path) -> Iterator[tuple[str, Case, Answer, str]]:
    """(name, case, answer, official verdict: pass, fail or error) for both golden files."""
    cases = {}
    for part in ("singlecall", "dialog", "calldecision"):
        for case in load_benchmark(f"functionchat/{part}", shared / "data" / "functionchat"):
            cases[part, case.serial_num, case.condition] = case
    for row in lines(shared / "golden" / "functionchat_exact.jsonl"):
        case = cases[row["benchmark"], row["serial_num"], row.get("tools_type") or ""]
        yield row["perturbation"], case, answer_of(row["output"]), row["verdict"]
    for row in lines(shared / "golden" / "functionchat_synthetic.jsonl"):
        request = {"messages": [{"role": "user", "content": "x"}], **row["request"]}
        yield row["case"], Case.from_request(request), answer_of(row["output"]), row["verdict"]
