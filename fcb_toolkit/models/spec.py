"""A model by its name and options: what travels to another process or machine in place of its weights.

ModelSpec("Qwen/Qwen2.5-7B-Instruct", {"dtype": "bfloat16"}).load()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fcb_toolkit.errors import ModelError
from fcb_toolkit.models.base import Model

M = TypeVar("M", bound=Model)
ENGINES = ("auto", "prefix", "plain", "continuous")
"""Who generates in the model's own process; auto: prefix where it serves the model, else plain."""


@dataclass(frozen=True)
class ModelSpec:
    """What `fcb.load_model(source, **options)` is given."""

    source: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the loaded model is called, without loading it."""
        path = _path(self.source)
        if self.options.get("name"):
            return str(self.options["name"])
        if path is None:
            return self.source
        return path.stem if path.is_file() else path.name

    def load(self) -> Model:
        """Errors as those of `fcb.load_model`."""
        from fcb_toolkit.models import load_model

        return load_model(self.source, **self.options)


def with_spec(model: M, source: str, options: Mapping[str, Any]) -> M:
    """The model, which remembers how it was loaded."""
    setattr(model, "spec", ModelSpec(source, options))  # noqa: B010 (a `Model` need not have it)
    return model


def spec_of(model: Any) -> ModelSpec:
    """The spec of a name, a path, or a model that `fcb.load_model` loaded by its name.

    Raises `ModelError` for what can only be had by copying the object itself.
    """
    if isinstance(model, ModelSpec):
        return _absolute(model)
    if isinstance(model, (str, Path)):
        return _absolute(ModelSpec(str(model)))
    spec = getattr(model, "spec", None)
    if isinstance(spec, ModelSpec):
        return _absolute(spec)
    found = (
        f"a pair of ({', '.join(type(part).__name__ for part in model)})"
        if isinstance(model, tuple)
        else f"a loaded {type(model).__name__}"
    )
    raise ModelError(
        f"{found} cannot be sent to other processes: gigabytes would be copied to each; give what each can "
        "load itself: a hub id or folder, or fcb.models.ModelSpec(name, options)"
    )


def _absolute(spec: ModelSpec) -> ModelSpec:
    """Another process has another working folder."""
    source, template = _path(spec.source), spec.options.get("template")
    options = dict(spec.options)
    if isinstance(template, str) and "{" not in template and Path(template).is_file():
        options["template"] = str(Path(template).resolve())
    return ModelSpec(str(source) if source is not None else spec.source, options)


def _path(source: str) -> Path | None:
    """The file or folder that a source is; None for a name."""
    from fcb_toolkit.models import NAMED

    path = Path(source).expanduser()
    return path.resolve() if source not in NAMED and path.exists() else None
