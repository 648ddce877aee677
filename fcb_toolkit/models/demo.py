"""The demo model: the embedded SmolLM2-135M-Instruct with a small adapter that calls tools in Korean.

    model = fcb.load_model("demo")

It is there so that a first run shows right calls and varied failures, not a wall of one failure. It says
nothing about any other model. Data, training and measured rates: `data/demo_adapter/README.md`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import ModelError

# `fcb_toolkit/data` is a link to the repository's `data/`; a wheel carries the files themselves.
FOLDER = Path(__file__).parent.parent / "data" / "demo_adapter"


def load_demo(folder: Path = FOLDER, **options: Any) -> tuple[Any, Any]:
    """(model, tokenizer): the embedded model with the adapter merged into its weights, and our chat template.

    `options` are those of `fcb.load_model`. Raises `ModelError` where the base or the adapter is missing.
    """
    from fcb_toolkit.models.huggingface_load import load_huggingface
    from fcb_toolkit.models.named import embedded_gguf

    template = folder / "chat_template.jinja"
    if not template.is_file():
        raise ModelError(
            f"{template}: not found; expected the demo adapter's chat template beside its weights"
        )
    loaded = load_huggingface(embedded_gguf(), **{**options, "template": None})
    merge_adapter(loaded.model, folder)
    loaded.tokenizer.chat_template = template.read_text(encoding="utf-8")
    return loaded.model, loaded.tokenizer


def merge_adapter(model: Any, folder: Path) -> int:
    """Adds a LoRA adapter in peft's file format to the weights of `model`: W += (alpha / r) B A.

    Gives the number of weights that were changed. The sum is made in float32 and rounded once. Raises
    `ModelError` where the files are missing or do not belong to the model.
    """
    import torch
    from safetensors.torch import load_file

    weights, config = folder / "adapter_model.safetensors", folder / "adapter_config.json"
    for file in (weights, config):
        if not file.is_file():
            raise ModelError(f"{file}: not found; expected the files of a LoRA adapter")
    settings = json.loads(config.read_text(encoding="utf-8"))
    scale = settings["lora_alpha"] / settings["r"]
    tensors = load_file(weights)
    merged = 0
    for name, down in tensors.items():
        if not name.endswith(".lora_A.weight"):
            continue
        module = name.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
        up = tensors[name.replace(".lora_A.", ".lora_B.")]
        try:
            weight = model.get_parameter(f"{module}.weight")
        except AttributeError:
            raise ModelError(
                f"{weights}: changes {module}, which {type(model).__name__} does not have"
            ) from None
        if weight.shape != (up.shape[0], down.shape[1]):
            raise ModelError(
                f"{weights}: {module} is {tuple(weight.shape)} in the model, but the adapter was made for "
                f"{(up.shape[0], down.shape[1])}"
            )
        with torch.no_grad():
            change = (up.float() @ down.float()) * scale
            weight.copy_((weight.float() + change.to(weight.device)).to(weight.dtype))
        merged += 1
    return merged
