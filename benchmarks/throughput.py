"""How fast are whole runs? The same prompts, model and limit on new tokens, in one go, engine after engine.

    python benchmarks/throughput.py [--quick] [--json] [--source ../shared/data/functionchat]
                                    [--cases N] [--new-tokens N] [--repeat N] [--growth]
                                    [--engines ours one_at_a_time ...] [--dtype float32]

Engines, each in a process of its own (`throughput_engines.py`): `ours` (the prefix engine), `padded` (transformers'
`generate` over sorted, left-padded batches), `continuous` (transformers' continuous batching), `one_at_a_time`,
`lm_eval` (HFLM) and `inspect` (its hf provider), the last two where the package is installed. Padded engines run at
their best batch size, found first on a part of the prompts. Prompts are FunctionChat-Bench single call with 4 and 8
tools where `--source` is given, else the bundled sample's.

Figures: seconds, requests/s, prompt and new tokens/s, peak memory, share of equal outputs, tokens read over the
prefix tree's, `ratio_<engine>`: its seconds over ours in the same repetition (above 1: ours is faster), with the
least and the most over the repetitions. `--growth`: ours from 1 to 8 tools, and over all 1,306 requests, with the
memory in use after each tenth of them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from throughput_engines import WARM_UP

import fcb_toolkit as fcb
from fcb_toolkit.models import prefix_tree

BATCH_SIZES = (2, 4, 8, 16)
ENGINES = ("ours", "padded", "continuous", "one_at_a_time", "lm_eval", "inspect")
UNPADDED = ("ours", "continuous", "one_at_a_time")
"""They take no batch size."""
PACKAGES = {"lm_eval": "lm_eval", "inspect": "inspect_ai"}
PARTS = ("singlecall", "dialog", "calldecision")
Item = dict[str, Any]


class Bench:
    """Prompts of the embedded model, and engines that answer them in child processes."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given = given
        self.folder = folder
        self.model = fcb.load_model("embedded", **({"dtype": given.dtype} if given.dtype else {}))
        # Peers load from a folder; all get the same dense weights.
        self.checkpoint = folder / "model"
        self.model.model.config.quantization_config = None
        self.model.model.save_pretrained(self.checkpoint)
        self.model.tokenizer.save_pretrained(self.checkpoint)
        self.dtype = str(self.model.model.dtype).removeprefix("torch.")

    def items(self, cases: Sequence[fcb.Case]) -> list[Item]:
        prompts = [self.model.prepare(case.messages, case.tools).prompt for case in cases]
        return [{"prompt": p, "ids": self._ids(p)} for p in prompts]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.model.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def run(self, engine: str, items: Sequence[Item], batch_size: int = 0) -> dict[str, Any]:
        """{"texts": [...], "facts": {...}} of one engine over these prompts."""
        work = {
            "checkpoint": str(self.checkpoint),
            "dtype": self.dtype,
            "new_tokens": self.given.new_tokens,
            "batch_size": batch_size,
            "warm_up_ids": self._ids(WARM_UP),
            "prompts": list(items),
        }
        work_file, result_file = self.folder / "work.json", self.folder / "result.json"
        work_file.write_text(json.dumps(work, ensure_ascii=False), encoding="utf-8")
        result_file.unlink(missing_ok=True)
        script = Path(__file__).with_name("throughput_engines.py")
        subprocess.run(
            [sys.executable, str(script), engine, str(work_file), str(result_file)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=None if self.given.verbose else subprocess.DEVNULL,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
        )
        found: dict[str, Any] = json.loads(result_file.read_text(encoding="utf-8"))
        print(
            f"  {engine} x{len(items)} batch {batch_size}: {found['facts']['seconds']:.1f} s", file=sys.stderr
        )
        return found


def main() -> None:
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given, Path(folder))
        report = growth(bench) if given.growth else comparison(bench)
    for name, value in report.items():
        print(f"{name:36} {value}")
    if given.json:
        print(json.dumps(report, ensure_ascii=False))


def arguments() -> argparse.Namespace:
    verb = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verb.add_argument("--quick", action="store_true", help="few cases, once: under 5 minutes on 2 cores")
    verb.add_argument("--json", action="store_true", help="one JSON object last")
    verb.add_argument("--growth", action="store_true", help="how ours grows with tools and requests")
    verb.add_argument("--source", help="folder of FunctionChat-Bench")
    verb.add_argument("--cases", type=int)
    verb.add_argument("--new-tokens", type=int)
    verb.add_argument("--repeat", type=int)
    verb.add_argument("--engines", nargs="+", choices=ENGINES, help="`ours` and these only")
    verb.add_argument("--dtype", choices=("bfloat16", "float32"))
    verb.add_argument("--verbose", action="store_true", help="what the engines say on stderr")
    given = verb.parse_args()
    given.cases = given.cases or (12 if given.quick else 100)
    given.new_tokens = given.new_tokens or (8 if given.quick else 32)
    given.repeat = given.repeat or (1 if given.quick else 3)
    return given


def read_cases(given: argparse.Namespace) -> list[fcb.Case]:
    """Cases with 4 and 8 tools."""
    if given.source:
        cases = fcb.load_benchmark("functionchat/singlecall", given.source)
    else:
        cases = fcb.load_benchmark("sample/korean")
    return [case for case in cases if case.condition[:1] in ("4", "8")]


def chosen_engines(wanted: Sequence[str] | None) -> list[str]:
    """`ours`, and of the others those asked for, or all whose package is installed."""
    missing = [e for e, package in PACKAGES.items() if importlib.util.find_spec(package) is None]
    if wanted and (lacking := set(wanted) & set(missing)):
        raise SystemExit(f"not installed: {', '.join(PACKAGES[e] for e in sorted(lacking))}")
    return [e for e in ENGINES if e == "ours" or e in (wanted or set(ENGINES) - set(missing))]


def comparison(bench: Bench) -> dict[str, Any]:
    given = bench.given
    items = bench.items(read_cases(given)[: given.cases])
    engines = chosen_engines(given.engines)
    part = items[: max(8, len(items) // 4)]
    best = {engine: best_batch_size(bench, engine, part) for engine in engines if engine not in UNPADDED}
    found: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
    for _ in range(given.repeat):
        for engine in engines:
            found[engine].append(bench.run(engine, items, best.get(engine, 0)))
    return {
        **about(bench, items),
        **{f"{e}_batch_size": size for e, size in best.items()},
        **figures(items, found, given.new_tokens),
    }


def best_batch_size(bench: Bench, engine: str, items: Sequence[Item]) -> int:
    sizes = [size for size in BATCH_SIZES if size <= len(items)]
    seconds = {size: bench.run(engine, items, size)["facts"]["seconds"] for size in sizes}
    return min(seconds, key=lambda size: seconds[size])


def about(bench: Bench, items: Sequence[Item]) -> dict[str, Any]:
    return {
        "cases": len(items),
        "prompt_tokens": sum(len(item["ids"]) for item in items),
        "prefix_tree_tokens": prefix_tree.distinct_tokens([item["ids"] for item in items]),
        "max_new_tokens": bench.given.new_tokens,
        "repetitions": bench.given.repeat,
        "dtype": bench.dtype,
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
    }


def figures(items: Sequence[Item], found: dict[str, list[dict[str, Any]]], new_tokens: int) -> dict[str, Any]:
    report: dict[str, Any] = {}
    total = sum(len(item["ids"]) for item in items)
    own = [one["facts"]["seconds"] for one in found["ours"]]
    texts = found["ours"][0]["texts"]
    for name, runs in found.items():
        seconds = [one["facts"]["seconds"] for one in runs]
        median = statistics.median(seconds)
        report[f"{name}_seconds"] = round(median, 2)
        report[f"{name}_requests_per_s"] = round(len(items) / median, 3)
        report[f"{name}_prompt_tokens_per_s"] = round(total / median, 1)
        report[f"{name}_new_tokens_per_s_at_most"] = round(len(items) * new_tokens / median, 1)
        report[f"{name}_peak_memory_mb"] = max(one["facts"]["peak_memory_mb"] for one in runs)
        if name == "ours":
            report |= {
                f"ours_{k}": v for k, v in runs[0]["facts"].items() if k not in ("seconds", "peak_memory_mb")
            }
            continue
        ratios = [other / mine for other, mine in zip(seconds, own, strict=True)]
        report[f"ratio_{name}"] = {
            "value": round(statistics.median(ratios), 2),
            "low": round(min(ratios), 2),
            "high": round(max(ratios), 2),
        }
        same = sum(trimmed(a) == trimmed(b) for a, b in zip(runs[0]["texts"], texts, strict=True))
        report[f"{name}_equal_outputs"] = round(same / len(items), 3)
    return report


def trimmed(text: str) -> str:
    """Peers cut the end-of-turn token off, some the white space too."""
    return text.removesuffix("<|im_end|>").strip()


def growth(bench: Bench) -> dict[str, Any]:
    """Seconds of ours: 100 cases by number of tools, then 130 requests of all kinds and ten times as many."""
    if not bench.given.source:
        raise SystemExit("--growth needs --source FOLDER: the public files are not part of this repository")
    single = fcb.load_benchmark("functionchat/singlecall", bench.given.source)
    everything = [c for part in PARTS for c in fcb.load_benchmark(f"functionchat/{part}", bench.given.source)]
    parts = {
        name: bench.items([case for case in single if case.condition == name])
        for name in ("exact", "4_random", "8_random")
    }
    items = bench.items(everything)
    parts |= {"tenth": items[::10], "all": items}
    report: dict[str, Any] = {}
    for name, chosen in parts.items():
        facts = {**about(bench, chosen), "repetitions": 1, **bench.run("ours", chosen)["facts"]}
        report |= {f"{name}_{key}": value for key, value in facts.items()}
    report["ratio_time_of_ten_times_the_requests"] = round(report["all_seconds"] / report["tenth_seconds"], 2)
    return report


if __name__ == "__main__":
    main()
