"""AWQ checkpoints: 4-bit weights, loaded by transformers through gptqmodel (extra `awq`), or by autoawq.

layout = read_layout(folder, "my-model")        # None where config.json names no AWQ weights
model, notes = load_awq(folder, "my-model", layout, where)
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from fcb_toolkit.errors import MissingExtra, ModelError
from fcb_toolkit.models.huggingface_gptqmodel import Layout, import_gptqmodel, pick_kernel
from fcb_toolkit.models.huggingface_weights import check_sound, first_line, load_weights, named


@dataclass(frozen=True)
class Where:
    """How the model is to be loaded: the device that runs it, and keywords of `from_pretrained`."""

    device: torch.device
    keywords: Mapping[str, Any]


def read_layout(folder: str, shown: str, revision: str | None = None) -> Layout | None:
    """None where the configuration names no AWQ weights; `ModelError` where it cannot be read."""
    from transformers import PreTrainedConfig

    try:
        config, _ = PreTrainedConfig.get_config_dict(folder, revision=revision)
    except Exception as error:  # of several types, by what is wrong
        raise ModelError(f"{shown}: its config.json cannot be read: {first_line(error)}") from error
    found = config.get("quantization_config")
    if not found and (Path(folder) / "quant_config.json").is_file():
        raise ModelError(
            f"{shown}: an AWQ checkpoint in AutoAWQ's old form: quant_config.json, and no quantization_config in "
            "config.json; quantise it again, or take a checkpoint whose config.json says how it is packed"
        )
    if not isinstance(found, Mapping) or str(found.get("quant_method", "")).lower() != "awq":
        return None
    form = "llm-awq" if found.get("backend") == "llm-awq" else found.get("version") or found.get("format")
    try:
        bits, group = (int(found.get(key, usual)) for key, usual in (("bits", 4), ("group_size", 128)))
    except (TypeError, ValueError):
        raise ModelError(
            f"{shown}: quantization_config of its config.json says bits {found.get('bits')!r} and group_size "
            f"{found.get('group_size')!r}; expected whole numbers, as 4 and 128"
        ) from None
    dtype = config.get("dtype") or config.get("torch_dtype")
    return Layout(bits, group, str(form or "gemm").lower(), bool(found.get("zero_point", True)), dtype)


def load_awq(folder: str, shown: str, layout: Layout, where: Where) -> tuple[Any, tuple[str, ...]]:
    """(model, notes), through gptqmodel. Raises `MissingExtra` and `ModelError`."""
    from transformers import AwqConfig
    from transformers.utils.quantization_config import AwqBackend

    import_gptqmodel(shown, layout)
    keywords = dict(where.keywords)
    if "device_map" not in keywords and where.device.type != "cpu":
        # The kernel is chosen by the map: moved there later, the model would keep the one for a CPU.
        keywords["device_map"] = {"": str(where.device)}
    kernel, notes = pick_kernel(shown, layout, where.device, keywords)
    if kernel != "auto":
        keywords["quantization_config"] = AwqConfig(backend=AwqBackend(kernel))
    model = load_weights(shown, folder, keywords, f", an AWQ checkpoint of {layout}")
    check_sound(shown, model)
    return model, notes


def load_autoawq(folder: str, shown: str, where: Where) -> Any:
    """The transformers model inside autoawq's. Raises `MissingExtra` and `ModelError`.

    autoawq ended in 2025 at 0.2.9, last tested with torch 2.6 and transformers 4.51.
    """
    asked = f"{shown}: awq_backend='autoawq'"
    instead = "it is no longer maintained; awq_backend='gptqmodel' (extra 'awq') loads the same checkpoints"
    if find_spec("awq") is None:
        raise MissingExtra("autoawq", "autoawq", asked)
    try:
        autoawq = importlib.import_module("awq").AutoAWQForCausalLM
    except Exception as error:  # whatever a library that no longer fits the others raises
        raise ModelError(
            f"{asked}: {named('autoawq')} cannot be imported beside {named('transformers')} and "
            f"{named('torch')}: {first_line(error)}; its last tested ones are 4.51.3 and 2.6.0; {instead}"
        ) from error
    ipex = where.device.type == "cpu" and find_spec("intel_extension_for_pytorch") is not None
    if where.device.type != "cuda" and not ipex:
        raise ModelError(
            f"{asked}: autoawq runs on a CUDA GPU, or on a CPU with intel_extension_for_pytorch; the device is "
            f"{where.device} and that package is not installed; {instead}"
        )
    try:
        wrapped = autoawq.from_quantized(
            folder,
            fuse_layers=False,  # fused layers keep a cache of their own
            use_ipex=ipex,
            trust_remote_code=where.keywords["trust_remote_code"],
            device_map=where.keywords.get("device_map") or {"": str(where.device)},
            max_memory=where.keywords.get("max_memory"),
            download_kwargs={"revision": where.keywords["revision"]},
        )
    except Exception as error:
        raise ModelError(
            f"{asked}: {named('autoawq')} cannot load it: {first_line(error)}; {instead}"
        ) from error
    return wrapped.model.eval()
