"""One engine, one process: the requests of a work file generated and timed (`throughput.py` starts it).

    python benchmarks/throughput_engines.py ours work.json result.json

The model is loaded and tried on a short prompt before the clock starts. Peak memory is the process's own.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

import fcb_toolkit as fcb
from fcb_toolkit.models import huggingface_continuous, huggingface_plain, prefix_tree
from fcb_toolkit.models.huggingface_batch import Prompt
from fcb_toolkit.models.huggingface_prefix import PrefixEngine

Texts = dict[int, str]
Result = tuple[Texts, dict[str, Any]]
Work = dict[str, Any]
Engine = Callable[[Sequence[Prompt], fcb.Generation], Result]
WARM_UP = "<|im_start|>user\n안녕<|im_end|>\n<|im_start|>assistant\n"


def loaded(work: Work) -> Any:
    return fcb.load_model(work["checkpoint"], dtype=work["dtype"])


def ours(work: Work) -> Engine:
    model = loaded(work)
    assert model.engine == "prefix", model.engine_note

    def run(prompts: Sequence[Prompt], settings: fcb.Generation) -> Result:
        engine = PrefixEngine(model, prompts, settings)
        texts, memory, process = {}, [], psutil.Process()
        for done, (prompt, reply) in enumerate(engine.run(), 1):
            texts[prompt.index] = reply.text or ""
            if done * 10 // len(prompts) > len(memory):
                memory.append(process.memory_info().rss // 2**20)
        least = prefix_tree.distinct_tokens([p.ids for p in prompts])
        return texts, {
            "tokens_read": engine.counts.read,
            "read_over_prefix_tree": round(engine.counts.read / least, 4),
            "padded_over_prefix_tree": round(engine.counts.padded / least, 4),
            "most_rows": engine.counts.most_rows,
            "most_tokens_held": engine.counts.most_held,
            "widest_batch_tokens": engine.counts.widest,
            "memory_mb_after_each_tenth": memory,
        }

    return run


def padded(work: Work) -> Engine:
    """transformers' `generate` over sorted, left-padded batches: our plain engine."""
    model = loaded(work)
    size = work["batch_size"] or None

    def run(prompts: Sequence[Prompt], settings: fcb.Generation) -> Result:
        replies = huggingface_plain.generate(model, prompts, replace(settings, batch_size=size))
        return {p.index: r.text or "" for p, r in replies}, {}

    return run


def continuous(work: Work) -> Engine:
    """transformers' continuous batching: our engine of that name."""
    model = loaded(work)

    def run(prompts: Sequence[Prompt], settings: fcb.Generation) -> Result:
        replies = huggingface_continuous.generate(model, prompts, settings)
        return {p.index: r.text or "" for p, r in replies}, {}

    return run


def one_at_a_time(work: Work) -> Engine:
    """transformers' `generate`, a prompt a call."""
    return padded({**work, "batch_size": 1})


def lm_eval(work: Work) -> Engine:
    """lm-eval's HFLM with its own sorting and batching."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = loaded(work)
    ends = [model.tokenizer.decode([i]) for i in model.stop_ids]
    peer = HFLM(pretrained=model.model, tokenizer=model.tokenizer, batch_size=work["batch_size"] or 8)

    def run(prompts: Sequence[Prompt], settings: fcb.Generation) -> Result:
        options = {"until": ends, "max_gen_toks": settings.max_new_tokens, "do_sample": False}
        requests = [
            Instance("generate_until", {}, (prompt.rendered.prompt, dict(options)), number)
            for number, prompt in enumerate(prompts)
        ]
        found = peer.generate_until(requests, disable_tqdm=True)
        return {prompt.index: text for prompt, text in zip(prompts, found, strict=True)}, {}

    return run


def inspect_hf(work: Work) -> Engine:
    """Inspect's `hf` provider, which gathers concurrent requests into batches."""
    import asyncio

    from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model

    size = work["batch_size"] or 8
    model = get_model(
        "hf/local",
        model_path=work["checkpoint"],
        dtype=work["dtype"],
        do_sample=False,
        # The prompts are rendered already: the same text for every engine.
        chat_template="{{ messages[0]['content'] }}",
    )

    def run(prompts: Sequence[Prompt], settings: fcb.Generation) -> Result:
        config = GenerateConfig(max_tokens=settings.max_new_tokens, max_connections=size)
        gate = asyncio.Semaphore(size)

        async def ask(prompt: Prompt) -> str:
            async with gate:
                out = await model.generate([ChatMessageUser(content=prompt.rendered.prompt)], config=config)
            return str(out.completion)

        async def everything() -> list[str]:
            return await asyncio.gather(*(ask(prompt) for prompt in prompts))

        found = asyncio.run(everything())
        return {prompt.index: text for prompt, text in zip(prompts, found, strict=True)}, {}

    return run


ENGINES: dict[str, Callable[[Work], Engine]] = {
    "ours": ours,
    "padded": padded,
    "continuous": continuous,
    "one_at_a_time": one_at_a_time,
    "lm_eval": lm_eval,
    "inspect": inspect_hf,
}


def main() -> None:
    name, work_file, result_file = sys.argv[1:]
    work = json.loads(Path(work_file).read_text(encoding="utf-8"))
    prompts = [
        Prompt(number, 0, item["ids"], fcb.Rendered(item["prompt"]))
        for number, item in enumerate(work["prompts"])
    ]
    engine = ENGINES[name](work)
    settings = fcb.Generation(max_new_tokens=work["new_tokens"])
    engine([Prompt(0, 0, work["warm_up_ids"], fcb.Rendered(WARM_UP))], replace(settings, max_new_tokens=2))
    started = time.perf_counter()
    texts, facts = engine(prompts, settings)
    facts |= {
        "seconds": time.perf_counter() - started,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    result = {"texts": [texts[number] for number in range(len(prompts))], "facts": facts}
    Path(result_file).write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
