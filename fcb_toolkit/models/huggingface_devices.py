"""Where a model lies: on one device, or spread over several by accelerate's `device_map`.

input_device(model)     # cuda:0, where prompts go
places(model)           # "cuda:0, cuda:1", for the manifest
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

OFFLOADED = ("cpu", "disk")
"""Beside an accelerator, weights here are brought to it for each step."""


def input_device(model: Any) -> torch.device:
    """The device that takes the prompts and gives the logits.

    `model.device` says where the first weights lie, which is `meta` when they are on the disk.
    """
    placed = _map(model)
    if not placed:
        device: torch.device = model.device
        return device
    running = [place for place in placed.values() if place not in OFFLOADED]
    return torch.device(running[0] if running else "cpu")


def places(model: Any) -> str:
    """Every place that holds weights, in the model's order."""
    placed = _map(model)
    return ", ".join(dict.fromkeys(placed.values())) if placed else str(model.device)


def weight_shares(model: Any) -> dict[torch.device, float]:
    """Share of the weights that each device runs; layers spread likewise, and so do their caches."""
    home = input_device(model)
    if not _map(model):
        return {home: 1.0}
    sizes: Counter[torch.device] = Counter()
    for tensor in (*model.parameters(), *model.buffers()):
        offloaded = tensor.device.type == "meta" or (tensor.device.type == "cpu" and home.type != "cpu")
        sizes[home if offloaded else tensor.device] += tensor.numel() * tensor.element_size()
    total = sizes.total()
    return {device: size / total for device, size in sizes.items() if size} if total else {home: 1.0}


def free_bytes(model: Any) -> int:
    """Memory that is free where the model runs; over several devices as much as the fullest one allows."""
    return int(min(_free(device) / share for device, share in weight_shares(model).items()))


def _free(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    import psutil

    return int(psutil.virtual_memory().available)


def _map(model: Any) -> dict[str, str]:
    """Module -> place, as accelerate made it; integers number the accelerator's devices."""
    found = getattr(model, "hf_device_map", None) or {}
    return {
        module: str(torch.device(place) if isinstance(place, int) else place)
        for module, place in found.items()
    }
