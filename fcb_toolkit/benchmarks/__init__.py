"""Benchmarks: a file on disk -> Cases.

cases = fcb.load_benchmark("functionchat/dialog", source="../data/functionchat")
cases = fcb.load_benchmark("sample/korean")     # ships with the package
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fcb_toolkit.benchmarks import dpab, fetch, functionchat, jsonl_file, sample
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Case


@dataclass(frozen=True)
class Benchmark:
    """`load` takes a folder or file. `fetch_name` is what `fcb fetch` takes; None: nothing to fetch."""

    name: str
    about: str
    load: Callable[[Path], list[Case]]
    licence: str
    source: str
    fetch_name: str | None = None
    ships: bool = False


_KAKAO = ("Apache-2.0", "github.com/kakao/FunctionChat-Bench", "functionchat")
_DRIA = ("MIT (pyproject; no LICENSE file)", "github.com/firstbatchxyz/function-calling-eval", "dpab")


BENCHMARKS: Mapping[str, Benchmark] = {
    b.name: b
    for b in (
        Benchmark(
            "functionchat/singlecall",
            "FunctionChat-Bench: 100 queries x 5 tool lists, one call each",
            functionchat.load_singlecall,
            *_KAKAO,
        ),
        Benchmark(
            "functionchat/dialog",
            "FunctionChat-Bench: 200 turns of 45 dialogs (call, completion, slot, relevance)",
            functionchat.load_dialog,
            *_KAKAO,
        ),
        Benchmark(
            "functionchat/calldecision",
            "FunctionChat-Bench: 606 decisions (call, reject, slot-all, slot-some)",
            functionchat.load_calldecision,
            *_KAKAO,
        ),
        Benchmark(
            "dpab/pythonic",
            "DPAB-alpha: 100 problems solved by Python code",
            partial(dpab.load, mode="pythonic"),
            *_DRIA,
        ),
        Benchmark(
            "dpab/json",
            "DPAB-alpha: the same 100 problems solved by a JSON list of calls",
            partial(dpab.load, mode="json"),
            *_DRIA,
        ),
        Benchmark(
            "sample/korean",
            "Korean cases of our own in every condition and type",
            sample.load,
            "Apache-2.0",
            "ships with the toolkit",
            ships=True,
        ),
        Benchmark(
            "jsonl",
            "your own cases, one request a line (data/README.md)",
            jsonl_file.load,
            "yours",
            "your file, given as source",
        ),
    )
}


def load_benchmark(name: str, source: str | Path | None = None, *, prompt: str | None = None) -> list[Case]:
    """The cases of a benchmark, in file order.

    `source` is a folder or file; without it the copy that `fcb fetch` made, or the one that ships.
    `prompt` (DPAB only) is the system prompt: `official`, read from the benchmark's folder, or one of
    `dpab.PROMPTS`; None is our own of the mode.
    Raises `UnknownName` for a name that is not in `fcb.list_benchmarks()` or no prompt, and `DataError` with file and
    line for anything that is wrong in the data.
    """
    if name not in BENCHMARKS:
        raise UnknownName("benchmark", name, BENCHMARKS)
    benchmark = BENCHMARKS[name]
    place = _source(benchmark, source)
    if prompt is None:
        return benchmark.load(place)
    return dpab.with_prompt(benchmark.load(place), _prompt(name, prompt, place))


def _prompt(name: str, prompt: str, source: Path) -> str:
    family, _, mode = name.partition("/")
    if family != "dpab":
        raise DataError(
            f"benchmark {name}: its messages are given as they are; prompt={prompt!r} (--prompt) is for "
            "dpab/pythonic and dpab/json"
        )
    if prompt == "official":
        return dpab.official_prompt(source, mode)
    if prompt not in dpab.PROMPTS:
        raise UnknownName("DPAB prompt", prompt, ("official", *dpab.PROMPTS))
    return dpab.own_prompt(prompt)


def _source(benchmark: Benchmark, source: str | Path | None) -> Path:
    if source is not None:
        return Path(source).expanduser()
    if benchmark.ships:
        return sample.bundled()
    if benchmark.fetch_name is None:
        raise DataError(f"benchmark {benchmark.name}: no file given; pass source=FILE (--source FILE)")
    folder = fetch.home() / benchmark.fetch_name
    if not folder.is_dir():
        raise DataError(
            f"benchmark {benchmark.name}: not on this machine; run `fcb fetch {benchmark.fetch_name}`, "
            "or pass source=FOLDER (--source FOLDER)"
        )
    return folder
