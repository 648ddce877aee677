"""A small model and three checkpoints of it: as it was, quantised to 4 bits in AutoAWQ's GEMM layout, and with
the dense weights that the quantised ones stand for. The packing is written out here, from the format's
definition, so that the loader is not checked against itself."""

import json
from pathlib import Path
from typing import Any

import tiny

GROUP = 128
NIBBLES = (0, 2, 4, 6, 1, 3, 5, 7)
"""AWQ's order: nibble i of a 32-bit word (from the low end) holds the column NIBBLES[i] of its eight."""


def quantise(weight: Any, group: int = GROUP) -> tuple[Any, Any, Any]:
    """`weight` (out, in) -> codes (in, out) and zeros (groups, out) in 0..15, scales (groups, out) in float16."""
    grouped = weight.float().t().reshape(-1, group, weight.shape[0])
    low, high = grouped.amin(1).clamp(max=0), grouped.amax(1).clamp(min=0)
    scales = ((high - low) / 15).clamp(min=1e-5).half()
    zeros = (-low / scales.float()).round().clamp(0, 15)
    codes = (grouped / scales.float()[:, None] + zeros[:, None]).round().clamp(0, 15)
    return codes.reshape(weight.shape[1], weight.shape[0]).int(), zeros.int(), scales


def dequantise(codes: Any, zeros: Any, scales: Any, group: int = GROUP) -> Any:
    """The dense weight (out, in) in float32: (code - zero) * scale."""
    spread = lambda rows: rows.repeat_interleave(group, 0)  # noqa: E731
    return ((codes - spread(zeros)) * spread(scales.float())).t().contiguous()


def pack(codes: Any) -> Any:
    """(rows, columns) in 0..15 -> (rows, columns / 8) of 32-bit words."""
    import torch

    eights = codes.long().reshape(codes.shape[0], -1, 8)
    words = sum(eights[..., column] << (4 * place) for place, column in enumerate(NIBBLES))
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32).contiguous()


def model(tok: Any, seed: int = 0) -> Any:
    """A Qwen2: its attention has biases, which the quantised layers must keep."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tok),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        bos_token_id=tok.bos_token_id,
        eos_token_id=tok.eos_token_id,
        pad_token_id=tok.pad_token_id,
        initializer_range=0.05,
    )
    built = Qwen2ForCausalLM(config).eval()
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.1)
    return built


def checkpoints(folder: Path, seed: int = 0) -> dict[str, Path]:
    """{"full", "awq", "dense"}: folders of one model before, as and after quantisation."""
    import torch
    from safetensors.torch import save_file

    tok = tiny.tokenizer()
    built = model(tok, seed)
    paths = {name: folder / f"tiny-{name}" for name in ("full", "awq", "dense")}
    built.save_pretrained(paths["full"])
    state = {name: value.half() for name, value in built.state_dict().items()}
    packed, dense = dict(state), {name: value.float() for name, value in state.items()}
    for name, module in built.named_modules():
        if isinstance(module, torch.nn.Linear) and name != "lm_head":
            codes, zeros, scales = quantise(module.weight.detach())
            del packed[f"{name}.weight"]
            packed |= {
                f"{name}.qweight": pack(codes),
                f"{name}.qzeros": pack(zeros),
                f"{name}.scales": scales,
            }
            dense[f"{name}.weight"] = dequantise(codes, zeros, scales)
    built.load_state_dict(dense)
    built.save_pretrained(paths["dense"])
    paths["awq"].mkdir(parents=True)
    save_file(packed, paths["awq"] / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((paths["full"] / "config.json").read_text(encoding="utf-8"))
    config["dtype"] = "float16"
    config["quantization_config"] = {
        "bits": 4, "group_size": GROUP, "modules_to_not_convert": None, "quant_method": "awq",
        "version": "gemm", "zero_point": True,
    }  # fmt: skip
    (paths["awq"] / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    for path in paths.values():
        tok.save_pretrained(path)
    return paths
