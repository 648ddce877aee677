"""Where does an LLM with tools fail, and why? See README.md.

Names are loaded on first use, so that `import fcb_toolkit` takes milliseconds and never imports torch.
"""

from importlib import import_module
from typing import Any

from fcb_toolkit.records import (
    Answer,
    Case,
    Execution,
    FailureKind,
    Generation,
    Outcome,
    Parse,
    Rendered,
    Reply,
    ToolCall,
    Verdict,
)

__version__ = "0.1.0"

_WHERE = {
    "list_benchmarks": "frames",
    "load_benchmark": "benchmarks",
    "load_model": "models",
    "evaluate": "runs",
    "load_run": "runs",
    "rescore": "runs",
    "Run": "runs",
    "render": "rendering",
    "audit_template": "rendering",
    "parse": "parsers",
    "score": "scoring",
    "match_calls": "scoring",
    "match_bfcl": "scoring",
    "metric": "scoring",
    "execute": "execution",
    "read_verdict": "judging",
    "to_frame": "frames",
    "summarize": "statistics",
    "compare": "statistics",
    "explore": "widgets",
    "export": "exporters",
    "run_panel": "widgets",
}
_MODULES = ("benchmarks", "errors", "judging", "models", "plots", "statistics")

__all__ = [
    "Answer",
    "Case",
    "Execution",
    "FailureKind",
    "Generation",
    "Outcome",
    "Parse",
    "Rendered",
    "Reply",
    "ToolCall",
    "Verdict",
    *_WHERE,
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
