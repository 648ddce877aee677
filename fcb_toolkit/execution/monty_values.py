"""The variables of a sandbox session, read when the program has ended.

All at once, in one round trip. A few values end the worker when they are handed out together (a class beside its
instance); then the program runs once more and each is read by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fcb_toolkit.execution.sandbox_lacks import words
from fcb_toolkit.execution.values import Opaque, plain

_NOT_DATA = words("""
    function builtin_function_or_method method type module class bound_method builtin_method
""")
_NO_DATA = object()
_PRINTED = re.compile(r"<|range\(|re\.compile\(|slice\(|typing\.")


class SessionLost(Exception):
    """The worker was ended at its memory limit while it handed the values out together."""


def read(worker: Any, names: Iterable[str], token: str, together: bool) -> dict[str, Any]:
    """Name -> plain value, for names that hold data.

    Raises `SessionLost`, or `MontyCrashedError` where the worker died. Read by itself, a value that is too
    large to hand out and those after it become `Opaque`.
    """
    import pydantic_monty

    chosen = [name for name in names if not name.startswith(token) and not _is_special(name)]
    raw: dict[str, Any] = {}
    if together and chosen:
        try:
            values = worker.feed_run(f"[{', '.join(chosen)}]")
        except pydantic_monty.MontyRuntimeError:
            pass  # one of them cannot be read at all; each by itself tells which
        else:
            raw = dict(zip(chosen, values, strict=True))
    found: dict[str, Any] = {}
    for name in chosen:
        try:
            value = raw[name] if raw else worker.feed_run(name)
            found[name] = _data(worker, name, value, token)
        except pydantic_monty.MontyRuntimeError:
            found[name] = Opaque("unreadable")
        except RuntimeError:  # "this checkout has already been finished"
            if together:
                raise SessionLost from None
            found[name] = Opaque("unreadable")
    return {name: plain(value) for name, value in found.items() if value is not _NO_DATA}


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _data(worker: Any, name: str, value: Any, token: str) -> Any:
    """The sandbox hands out as their text what has no counterpart here; functions and the like are no data."""
    proxy = type(value).__name__
    if isinstance(value, type) or proxy in ("MontyStdTypeProxy", "MontyClassTypeProxy"):
        return _NO_DATA
    if proxy == "MontyClassProxy" and value.name == f"{token}_gone":
        return _NO_DATA
    if not isinstance(value, str) or not _PRINTED.match(value):
        return value
    kind = worker.feed_run(f"{token}_type({name})")
    if kind is str:
        return value
    label = str(getattr(kind, "name", None) or getattr(kind, "__name__", kind))
    if kind is type or label in _NOT_DATA or value.startswith("typing."):
        return _NO_DATA
    return Opaque(label, value)
