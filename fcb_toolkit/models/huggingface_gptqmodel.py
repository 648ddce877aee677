"""gptqmodel: imported without its side effects, and the kernel of it that computes AWQ layers right here.

gptqmodel has several kernels. The one that it chooses is tried on a small layer of random codes, with the
device and dtype at hand; where it fails or computes something else, the slower plain one is taken and said.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from fcb_toolkit.errors import MissingExtra, ModelError
from fcb_toolkit.models.huggingface_weights import first_line, named

KERNELS = ("auto", "torch_awq")
"""gptqmodel's choice, then the kernel that works everywhere and unpacks the weights at each step."""
SUPPORTED = "4 bits in groups of 16, 32, 64 or 128, GEMM layout"
TOLERANCE = 0.05
"""Relative error of a kernel's output; rounding in bfloat16 makes 0.003, a wrong layout about 1."""


@dataclass(frozen=True)
class Layout:
    """How a checkpoint's weights are packed (`quantization_config` of config.json)."""

    bits: int
    group_size: int
    format: str
    """gemm, gemv, gemv_fast or llm-awq."""
    zero_point: bool
    dtype: str | None
    """The checkpoint's own, of what is not quantised."""

    def __str__(self) -> str:
        return f"{self.bits} bits in groups of {self.group_size}, {self.format.upper()} layout"


def import_gptqmodel(shown: str, layout: Layout) -> None:
    """Raises `MissingExtra` or `ModelError` where it cannot be used."""
    if find_spec("gptqmodel") is None:
        raise MissingExtra("gptqmodel", "awq", f"{shown}: an AWQ checkpoint ({layout})")
    try:
        with _kept_environment():
            _stand_in_for_pcre()
            importlib.import_module("gptqmodel")
    except Exception as error:  # whatever one of its parts raises
        raise ModelError(
            f"{shown}: an AWQ checkpoint needs gptqmodel, and {named('gptqmodel')} cannot be imported: "
            f"{first_line(error)}; pip install 'fcb-toolkit[awq]' installs what it needs"
        ) from error


def pick_kernel(
    shown: str, layout: Layout, device: torch.device, keywords: Mapping[str, Any]
) -> tuple[str, tuple[str, ...]]:
    """(transformers' name of the first of `KERNELS` that computes right, what to say about it)."""
    from gptqmodel.quantization import METHOD
    from gptqmodel.utils.importer import hf_select_quant_linear_v2

    dtype = _compute_dtype(keywords.get("dtype"), layout, device)
    refused = []
    for kernel in KERNELS:
        try:
            layer = hf_select_quant_linear_v2(
                bits=layout.bits,
                group_size=layout.group_size,
                desc_act=False,
                sym=False,
                format=layout.format,
                backend=kernel,
                device_map=keywords.get("device_map"),
                quant_method=METHOD.AWQ,
                zero_point=layout.zero_point,
                pack=False,
            )
        except Exception as error:  # of several types, by what it lacks
            refused.append(f"{kernel}: {first_line(error)}")
            continue
        wrong = _try_kernel(layer, layout, device, dtype) if layout.format == "gemm" else ""
        if not wrong:
            why = "; ".join(refused)
            return kernel, (f"AWQ kernel {layer.__name__}, because {why}",) if refused else ()
        refused.append(f"{layer.__name__}: {wrong}")
    raise ModelError(
        f"{shown}: an AWQ checkpoint of {layout}; {named('gptqmodel')} has no kernel for it on {device} with "
        f"{str(dtype).removeprefix('torch.')} ({'; '.join(refused)}). What runs everywhere: {SUPPORTED}"
    )


def _compute_dtype(asked: Any, layout: Layout, device: torch.device) -> torch.dtype:
    """What the layers will be given; transformers makes bfloat16 float16 on a GPU."""
    own = getattr(torch, str(layout.dtype).removeprefix("torch."), torch.float16)
    dtype: torch.dtype = asked if isinstance(asked, torch.dtype) else own
    return torch.float16 if device.type == "cuda" and dtype == torch.bfloat16 else dtype


def _try_kernel(layer: Any, layout: Layout, device: torch.device, dtype: torch.dtype) -> str:
    """What is wrong with a kernel's output on a layer of random codes; empty if nothing is."""
    from gptqmodel.utils import model as gptqmodel_model

    group = layout.group_size if layout.group_size > 0 else 256
    size = max(256, group)
    draw = torch.Generator().manual_seed(0)
    words = torch.randint(-(2**31), 2**31, (size + size // group, size // 8), generator=draw).int()
    qweight, qzeros = words[:size], words[size:]
    scales = 0.01 + 0.01 * torch.rand(size // group, size, generator=draw).half()
    inputs = torch.randn(4, size, generator=draw).to(dtype)
    expected = inputs.float() @ dense_weight(qweight, qzeros, scales)
    try:
        tried = layer(
            bits=layout.bits, group_size=layout.group_size, sym=False, desc_act=False, in_features=size,
            out_features=size, bias=False, register_buffers=True,
        )  # fmt: skip
        tried.qweight, tried.qzeros, tried.scales = qweight, qzeros, scales
        whole = torch.nn.Sequential(tried.to(device)).eval()
        gptqmodel_model.hf_gptqmodel_post_init(whole, use_act_order=False)
        with torch.inference_mode():
            found = whole(inputs.to(device)).float().cpu()
    except Exception as error:  # a kernel's own code, which may also fail to compile
        return first_line(error)
    off = float((found - expected).norm() / expected.norm())
    return "" if off < TOLERANCE else f"its output is off by {off:.2g} of its size"


def dense_weight(qweight: torch.Tensor, qzeros: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The weights (in, out) in float32 that packed ones stand for, in the GEMM layout.

    `qweight` (in, out / 8) and `qzeros` (groups, out / 8) hold eight codes a word: column 8 j + c lies at bit
    `shifts[c]` of word j. `scales` is (groups, out). A weight is (code - zero) * scale.
    """
    shifts = torch.tensor([0, 16, 4, 20, 8, 24, 12, 28], dtype=torch.int32)
    codes, zeros = (((p[..., None] >> shifts) & 15).flatten(1) for p in (qweight, qzeros))
    group = qweight.shape[0] // qzeros.shape[0]
    spread = [rows.repeat_interleave(group, 0) for rows in (zeros, scales.float())]
    return (codes - spread[0]) * spread[1]


def _stand_in_for_pcre() -> None:
    """gptqmodel and defuser compile a few regular expressions with pypcre, which comes as C source only; where
    it is not installed, Python's own take its place, so that no compiler is needed."""
    if "pcre" in sys.modules or find_spec("pcre") is not None:
        return
    module = ModuleType("pcre", "Python's `re` under the names of pypcre that gptqmodel uses")
    module.__dict__.update({name: value for name, value in vars(re).items() if not name.startswith("__")})
    module.__dict__["Flag"] = SimpleNamespace(
        CASELESS=re.IGNORECASE, MULTILINE=re.MULTILINE, DOTALL=re.DOTALL, EXTENDED=re.VERBOSE
    )
    sys.modules["pcre"] = module


@contextlib.contextmanager
def _kept_environment() -> Iterator[None]:
    """Importing gptqmodel points HF_HOME to a temporary folder, which child processes would follow."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
