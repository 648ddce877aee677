"""A hub id, folder, GGUF file, AWQ checkpoint or loaded pair -> `HuggingFaceModel`."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import socket
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch

from fcb_toolkit.errors import DataError, ModelError, UnknownName, check_fields
from fcb_toolkit.models.huggingface import HuggingFaceModel
from fcb_toolkit.models.huggingface_awq import Where, load_autoawq, load_awq, read_layout
from fcb_toolkit.models.huggingface_weights import first_line, load_weights
from fcb_toolkit.models.spec import ENGINES

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


@dataclass(frozen=True)
class ModelOptions:
    """How a model is loaded and asked."""

    device: str | None = None
    """None: cuda (under a launcher cuda:LOCAL_RANK), then mps, then cpu."""
    dtype: str = "auto"
    """auto: the checkpoint's own on an accelerator; on a CPU bfloat16 where the processor has it."""
    revision: str | None = None
    template: str | None = None
    """Jinja text or a file, in place of the model's own chat template."""
    mode: str = "auto"
    """auto, native (the template's `tools=`) or prompt (tools written into the system message)."""
    language: str = "ko"
    """Language of prompt mode: ko or en."""
    enable_thinking: bool | None = None
    format: str | None = None
    """Parser of the replies; None: read off the template."""
    name: str | None = None
    trust_remote_code: bool = False
    device_map: str | Mapping[str, Any] | None = None
    """auto spreads a large model over several GPUs, then main memory, then the disk (accelerate)."""
    max_memory: Mapping[int | str, int | str] | None = None
    """With `device_map`: at most this much on each, as {0: "70GiB", 1: "70GiB", "cpu": "100GiB"}."""
    awq_backend: str = "gptqmodel"
    """Of an AWQ checkpoint: gptqmodel, or autoawq in an older environment (docs/awq.md)."""
    engine: str = "auto"
    """auto, prefix (shared prefixes are computed once) or plain (padded batches)."""


def load_huggingface(source: str | Path | tuple[Any, Any], **options: Any) -> HuggingFaceModel:
    """See `fcb.load_model`."""
    settings = checked_options(options)
    if isinstance(source, tuple):
        return _from_pair(source, settings)
    folder, gguf, shown = _locate(str(source), settings)
    with _quiet(local=Path(folder).is_dir()):
        tokenizer = _tokenizer(folder, gguf, shown, settings)
        model, notes = _model(folder, gguf, shown, settings)
    device = _device(settings)
    if settings.device_map is None and getattr(model, "hf_device_map", None) is None:
        model = model.to(device)
    revision = getattr(model.config, "_commit_hash", None) or _fingerprint(folder, gguf)
    loaded = HuggingFaceModel(model, tokenizer, settings.name or shown, settings, revision)
    loaded.load_notes = notes
    return loaded


def load_tokenizer(source: str) -> Any:
    """See `fcb_toolkit.models.load_tokenizer`."""
    settings = ModelOptions()
    folder, gguf, shown = _locate(source, settings)
    with _quiet(local=Path(folder).is_dir()):
        return _tokenizer(folder, gguf, shown, settings)


def checked_options(options: dict[str, Any]) -> ModelOptions:
    check_fields("model option", options, ModelOptions)
    settings = ModelOptions(**options)
    choices = {
        "dtype": ("auto", *DTYPES),
        "mode": ("auto", "native", "prompt"),
        "language": ("ko", "en"),
        "awq_backend": ("gptqmodel", "autoawq"),
        "engine": ENGINES,
    }
    for name, allowed in choices.items():
        if getattr(settings, name) not in allowed:
            raise UnknownName(name, getattr(settings, name), allowed)
    if settings.max_memory is not None and settings.device_map is None:
        raise DataError("max_memory is given without device_map; expected device_map='auto' beside it")
    return settings


def _from_pair(pair: tuple[Any, Any], settings: ModelOptions) -> HuggingFaceModel:
    if len(pair) != 2 or not hasattr(pair[0], "generate") or not hasattr(pair[1], "apply_chat_template"):
        found = ", ".join(type(part).__name__ for part in pair)
        raise ModelError(f"a pair of ({found}); expected (a transformers model, its tokenizer)")
    model, tokenizer = pair
    shown = getattr(model.config, "_name_or_path", "") or type(model).__name__
    revision = getattr(model.config, "_commit_hash", None) or ""
    return HuggingFaceModel(model.eval(), tokenizer, settings.name or Path(shown).name, settings, revision)


def _locate(source: str, settings: ModelOptions) -> tuple[str, str | None, str]:
    """(folder or hub id, GGUF file name or None, name to show); `ModelError` if there is nothing."""
    path = Path(source).expanduser()
    if path.is_file():
        if path.suffix != ".gguf":
            raise ModelError(
                f"{source}: is a file but not a .gguf; expected a folder, a GGUF file or a hub id"
            )
        return str(path.parent), path.name, path.stem
    if path.is_dir():
        if not (path / "config.json").exists():
            raise ModelError(
                f"{source}: holds no config.json; expected the folder of a transformers checkpoint"
            )
        return str(path), None, path.resolve().name
    if path.is_absolute() or source.startswith((".", "~")) or source.count("/") > 1:
        raise ModelError(
            f"{source}: no such file or folder; expected a checkpoint's folder, a GGUF file or a hub id"
        )
    _need_hub(source, settings.revision)
    return source, None, source


def _need_hub(repo: str, revision: str | None) -> None:
    """Says at once that a model can't be had, instead of retrying for minutes."""
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(repo, "config.json", revision=revision)
    except HFValidationError:
        raise ModelError(f"{repo!r}: no such file or folder, and not a hub id (owner/name)") from None
    if isinstance(cached, str):
        return
    if constants.HF_HUB_OFFLINE:
        raise ModelError(
            f"{repo}: not in the local cache, and HF_HUB_OFFLINE is set; give a folder or go online"
        )
    address = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((address.hostname or "", address.port or 443), timeout=5).close()
    except OSError as error:
        raise ModelError(
            f"{repo}: not in the local cache, and {address.hostname} cannot be reached ({error}); "
            "check the name or the network, or give a local folder"
        ) from None


def _tokenizer(folder: str, gguf: str | None, shown: str, settings: ModelOptions) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(
            folder,
            **({"gguf_file": gguf} if gguf else {}),
            revision=settings.revision,
            trust_remote_code=settings.trust_remote_code,
        )
    except Exception as error:
        raise ModelError(f"{shown}: its tokenizer cannot be loaded: {first_line(error)}") from error


def _model(folder: str, gguf: str | None, shown: str, settings: ModelOptions) -> tuple[Any, tuple[str, ...]]:
    """(model, notes)"""
    from transformers import GgufConfig

    keywords: dict[str, Any] = {
        "dtype": _dtype(settings),
        "revision": settings.revision,
        "trust_remote_code": settings.trust_remote_code,
    }
    if settings.device_map:
        keywords |= {"device_map": settings.device_map, "max_memory": settings.max_memory}
    if gguf:
        # Packed GGUF kernels compute in float32; dense weights are faster in batches, and exact.
        keywords |= {"gguf_file": gguf, "quantization_config": GgufConfig(gguf_file=gguf, dequantize=True)}
    elif layout := read_layout(folder, shown, settings.revision):
        where = Where(_device(settings), keywords)
        if settings.awq_backend == "autoawq":
            return load_autoawq(folder, shown, where), ()
        return load_awq(folder, shown, layout, where)
    return load_weights(shown, folder, keywords), ()


def _device(settings: ModelOptions) -> torch.device:
    if settings.device is not None:
        try:
            return torch.device(settings.device)
        except RuntimeError:
            raise DataError(f"device {settings.device!r}: expected cpu, cuda, cuda:0, mps, ...") from None
    if torch.cuda.is_available():
        # Processes that accelerate or torchrun started on one machine take a GPU each.
        rank = os.environ.get("LOCAL_RANK", "")
        if rank.isdecimal():
            return torch.device("cuda", int(rank) % torch.cuda.device_count())
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def _dtype(settings: ModelOptions) -> torch.dtype | str:
    if settings.dtype != "auto":
        return DTYPES[settings.dtype]
    if _device(settings).type != "cpu" or settings.device_map:
        return "auto"
    return torch.bfloat16 if cpu_has_bfloat16() else torch.float32


def cpu_has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself; emulated it is slower than float32."""
    has = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(has and has())


def _fingerprint(folder: str, gguf: str | None) -> str:
    """Identifies local weights without reading them all: names, sizes, first and last megabyte."""
    files = (
        [Path(folder) / gguf]
        if gguf
        else sorted(Path(folder).glob("*.safetensors"))
        if Path(folder).is_dir()
        else []
    )
    digest = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as handle:
            digest.update(handle.read(1 << 20))
            handle.seek(max(0, size - (1 << 20)))
            digest.update(handle.read())
    return f"local-{digest.hexdigest()[:16]}" if files else ""


@contextlib.contextmanager
def _quiet(local: bool) -> Iterator[None]:
    """No notices of the libraries (their errors are raised); bars only for a download."""
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    verbosity = logging.get_verbosity()
    if local:
        logging.disable_progress_bar()
    logging.set_verbosity_error()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))  # gptqmodel's banner and log
        if local:
            # The GGUF reader draws a bar of its own that no setting turns off.
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()
