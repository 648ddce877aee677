"""How fast are whole runs? The same prompts, model and limit on new tokens, in one go, engine after engine.

    python benchmarks/throughput.py [--quick] [--json] [--source ../shared/data/functionchat]
                                    [--cases N] [--new-tokens N] [--repeat N]

Engines: `one_at_a_time` (transformers' generate, a prompt a call), `padded` (our plain engine: sorted, left-padded
batches), `lm_eval` (lm-eval's HFLM, where that package is installed) and `ours` (the prefix engine). Prompts are
FunctionChat-Bench single call with 4 and 8 tools where `--source` is given, else the bundled sample's call cases.

Figures: seconds, requests/s, prompt and new tokens/s, share of equal outputs, `ratio_<engine>` = its seconds over
ours in the same repetition (above 1: ours is faster), tokens read by ours over the prefix tree's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import fcb_toolkit as fcb
from fcb_toolkit.models import huggingface_plain, prefix_tree
from fcb_toolkit.models.huggingface_batch import Prompt
from fcb_toolkit.models.huggingface_prefix import PrefixEngine

Texts = dict[int, str]
Engine = Callable[[Any, Sequence[Prompt], fcb.Generation], tuple[Texts, dict[str, float]]]


def one_at_a_time(
    model: Any, prompts: Sequence[Prompt], settings: fcb.Generation
) -> tuple[Texts, dict[str, float]]:
    return padded(model, prompts, replace(settings, batch_size=1))


def padded(model: Any, prompts: Sequence[Prompt], settings: fcb.Generation) -> tuple[Texts, dict[str, float]]:
    return {p.index: r.text or "" for p, r in huggingface_plain.generate(model, prompts, settings)}, {}


def ours(model: Any, prompts: Sequence[Prompt], settings: fcb.Generation) -> tuple[Texts, dict[str, float]]:
    engine = PrefixEngine(model, prompts, settings)
    texts = {p.index: r.text or "" for p, r in engine.run()}
    least = prefix_tree.distinct_tokens([p.ids for p in prompts])
    return texts, {
        "tokens_read": engine.counts.read,
        "read_over_prefix_tree": engine.counts.read / least,
        "padded_over_prefix_tree": engine.counts.padded / least,
    }


def lm_eval(
    model: Any, prompts: Sequence[Prompt], settings: fcb.Generation
) -> tuple[Texts, dict[str, float]]:
    """lm-eval's own batching at the batch size that our memory estimate gives."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    ends = [model.tokenizer.decode([i]) for i in model.stop_ids]
    options = {"until": ends, "max_gen_toks": settings.max_new_tokens, "do_sample": False}
    peer = HFLM(pretrained=model.model, tokenizer=model.tokenizer, batch_size=settings.batch_size or 16)
    requests = [
        Instance("generate_until", {}, (prompt.rendered.prompt, dict(options)), number)
        for number, prompt in enumerate(prompts)
    ]
    found = peer.generate_until(requests, disable_tqdm=True)
    return {prompt.index: text for prompt, text in zip(prompts, found, strict=True)}, {}


def engines() -> dict[str, Engine]:
    found: dict[str, Engine] = {"ours": ours, "padded": padded, "one_at_a_time": one_at_a_time}
    try:
        import lm_eval as _  # noqa: F401
    except ImportError:
        return found
    return {**found, "lm_eval": lm_eval}


def main() -> None:
    given = arguments()
    model = fcb.load_model("embedded", **({"dtype": given.dtype} if given.dtype else {}))
    prompts = read_prompts(model, given)
    settings = fcb.Generation(max_new_tokens=given.new_tokens)
    seconds: dict[str, list[float]] = {name: [] for name in engines()}
    facts: dict[str, Any] = {}
    texts: dict[str, Texts] = {}
    for _ in range(given.repeat):
        for name, engine in engines().items():
            started = time.perf_counter()
            texts[name], extra = engine(model, prompts, settings)
            seconds[name].append(time.perf_counter() - started)
            facts |= {f"{name}_{key}": value for key, value in extra.items()}
    report = {**figures(prompts, seconds, texts, given), **facts}
    for name, value in report.items():
        print(f"{name:32} {value}")
    if given.json:
        print(json.dumps(report, ensure_ascii=False))


def arguments() -> argparse.Namespace:
    verb = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verb.add_argument("--quick", action="store_true", help="few cases, once: under 5 minutes on 2 cores")
    verb.add_argument("--json", action="store_true", help="one JSON object last")
    verb.add_argument("--source", help="folder of FunctionChat-Bench")
    verb.add_argument("--cases", type=int)
    verb.add_argument("--new-tokens", type=int)
    verb.add_argument("--repeat", type=int)
    verb.add_argument("--dtype")
    given = verb.parse_args()
    given.cases = given.cases or (16 if given.quick else 100)
    given.new_tokens = given.new_tokens or (16 if given.quick else 32)
    given.repeat = given.repeat or (1 if given.quick else 3)
    return given


def read_prompts(model: Any, given: argparse.Namespace) -> list[Prompt]:
    if given.source:
        cases = fcb.load_benchmark("functionchat/singlecall", given.source)
    else:
        cases = fcb.load_benchmark("sample/korean")
    cases = [case for case in cases if case.condition[:1] in ("4", "8")][: given.cases]
    rendered = [model.prepare(case.messages, case.tools) for case in cases]
    ids = [model.tokenizer(r.prompt, add_special_tokens=False)["input_ids"] for r in rendered]
    return [Prompt(i, 0, tokens, r) for i, (tokens, r) in enumerate(zip(ids, rendered, strict=True))]


def figures(
    prompts: Sequence[Prompt],
    seconds: dict[str, list[float]],
    texts: dict[str, Texts],
    given: argparse.Namespace,
) -> dict[str, Any]:
    total = sum(len(p.ids) for p in prompts)
    report: dict[str, Any] = {
        "cases": len(prompts),
        "prompt_tokens": total,
        "prefix_tree_tokens": prefix_tree.distinct_tokens([p.ids for p in prompts]),
        "max_new_tokens": given.new_tokens,
        "repetitions": given.repeat,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
    }
    for name, times in seconds.items():
        median = statistics.median(times)
        report[f"{name}_seconds"] = round(median, 2)
        report[f"{name}_requests_per_s"] = round(len(prompts) / median, 3)
        report[f"{name}_prompt_tokens_per_s"] = round(total / median, 1)
        if name != "ours":
            ratios = [other / own for other, own in zip(times, seconds["ours"], strict=True)]
            low, high = round(min(ratios), 2), round(max(ratios), 2)
            report[f"ratio_{name}"] = {"value": round(statistics.median(ratios), 2), "low": low, "high": high}
            same = sum(trimmed(texts[name][i]) == trimmed(texts["ours"][i]) for i in texts["ours"])
            report[f"{name}_equal_outputs"] = round(same / len(prompts), 3)
    return report


def trimmed(text: str) -> str:
    """lm-eval cuts the end-of-turn token off."""
    return text.removesuffix("<|im_end|>").strip()


if __name__ == "__main__":
    main()
