"""What a loaded model holds: that its weights are all there and sound, how many, and how they are packed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from fcb_toolkit.errors import ModelError
from fcb_toolkit.models.huggingface_devices import input_device


def load_weights(shown: str, folder: str, keywords: Mapping[str, Any], packed: str = "") -> Any:
    """The model in evaluation mode, by transformers; `packed` says how its weights are, for the error."""
    from transformers import AutoModelForCausalLM

    loader: Any = AutoModelForCausalLM
    try:
        # Tensors of another shape are in `info` then, with their names.
        model, info = loader.from_pretrained(
            folder, **keywords, output_loading_info=True, ignore_mismatched_sizes=True
        )
    except Exception as error:  # the libraries raise all sorts
        raise ModelError(f"{shown}{packed}: cannot be loaded: {first_line(error)}") from error
    check_complete(shown, info)
    return model.eval()


def check_complete(shown: str, info: Mapping[str, Any]) -> None:
    """`ModelError` where the files hold other tensors than the model: it would run with random ones."""
    wrong = {
        "missing": set(info["missing_keys"]),
        "of another shape": {name for name, *_ in info["mismatched_keys"]},
    }
    for what, names in wrong.items():
        if names:
            some = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
            raise ModelError(
                f"{shown}: its weight files do not fit its config.json: of the tensors that the model needs "
                f"{len(names)} are {what} ({some}); load a complete copy of one checkpoint"
            )


def check_sound(shown: str, model: Any) -> None:
    """`ModelError` where the weights give no numbers: a trial of four tokens."""
    for name, buffer in model.named_buffers():
        if name.endswith(".scales") and buffer.device.type != "meta" and not bool(buffer.isfinite().all()):
            raise ModelError(f"{shown}: {name} holds values that are no finite numbers; load a sound copy")
    if any(tensor.device.type == "meta" for tensor in (*model.parameters(), *model.buffers())):
        return  # offloaded: each step reads the weights again
    device = input_device(model)
    try:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([[0, 1, 2, 3]], device=device)).logits
    except Exception as error:  # a kernel's own code
        raise ModelError(f"{shown}: its AWQ weights do not run on {device}: {first_line(error)}") from error
    if not bool(logits.isfinite().all()):
        raise ModelError(
            f"{shown}: a trial of four tokens gave logits that are no finite numbers, computed in "
            f"{str(model.dtype).removeprefix('torch.')}; try dtype='float32', or load a sound copy"
        )


def describe(model: Any) -> dict[str, Any]:
    """`quantization` and its details for a run's manifest; an empty name for dense weights."""
    config = getattr(model.config, "quantization_config", None)
    if not config:
        return {"quantization": ""}
    facts = config if isinstance(config, Mapping) else config.to_dict()
    method = facts.get("quant_method", "")
    packed = [type(module).__name__ for module in model.modules() if hasattr(module, "qweight")]
    details = {
        **{key: facts[key] for key in ("bits", "group_size", "zero_point") if key in facts},
        "layout": str(getattr(form := facts.get("version"), "value", form) or ""),
        "layers": len(packed),
        "kernel": packed[0] if packed else "",
        "package": named(packed_by(model)) if packed else "",
    }
    return {"quantization": str(getattr(method, "value", method)), "quantization_details": details}


def packed_by(model: Any) -> str:
    """The package whose layers hold the packed weights."""
    modules = {
        type(module).__module__.partition(".")[0] for module in model.modules() if hasattr(module, "qweight")
    }
    return {"awq": "autoawq"}.get(name := min(modules), name)


def count_parameters(model: Any) -> int:
    """As if the weights were dense: a packed layer has as many as the layer that it stands for."""
    packed = sum(
        module.in_features * module.out_features + (0 if module.bias is None else module.out_features)
        for module in model.modules()
        if hasattr(module, "qweight")
    )
    return int(packed + sum(parameter.numel() for parameter in model.parameters()))


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package
