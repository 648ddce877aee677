"""JSON equality, with a string policy: is this argument value that one?

    compare(5, 5.0) == ()                     the same number
    compare(True, 1) is None                  a boolean is never a number
    compare(["서울 역"], ["서울역"], policy("korean")) == ("space",)

Numbers are compared by exact value (9007199254740993 is not 9007199254740992.0). The walk keeps its
own stack: a model may nest as deep as it likes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fcb_toolkit.scoring.strings import EXACT, Policy, normalise, same_text

Steps = tuple[str, ...]


def compare(expected: Any, found: Any, steps: Policy = EXACT) -> Steps | None:
    """The string steps that made the values equal (() for none), or None if they differ."""
    kind = type(expected)
    if kind is str and type(found) is str:
        return same_text(expected, found, steps)
    if kind is not dict and kind is not list and kind is type(found):
        return () if expected == found else None
    return _walk(expected, found, steps)


def _walk(expected: Any, found: Any, steps: Policy) -> Steps | None:
    used: set[str] = set()
    stack = [(expected, found)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, str) and isinstance(right, str):
            needed = same_text(left, right, steps)
            if needed is None:
                return None
            used.update(needed)
        elif isinstance(left, Mapping) and isinstance(right, Mapping):
            pairs = _pairs(left, right, steps)
            if pairs is None:
                return None
            stack.extend(pairs)
        elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            if len(left) != len(right):
                return None
            stack.extend(zip(left, right, strict=True))
        elif not _same_scalar(left, right):
            return None
    return tuple(step for step in steps if step in used)


def _pairs(left: Mapping[str, Any], right: Mapping[str, Any], steps: Policy) -> list[tuple[Any, Any]] | None:
    """Values under the same key; keys may differ only by Unicode form, and only where the policy says."""
    if len(left) != len(right):
        return None
    if left.keys() != right.keys():
        if "nfc" not in steps:
            return None
        right = {normalise(key, ("nfc",)): value for key, value in right.items()}
        left = {normalise(key, ("nfc",)): value for key, value in left.items()}
        if left.keys() != right.keys():
            return None
    return [(value, right[key]) for key, value in left.items()]


def _same_scalar(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    # Python compares int with float by exact value, and a string with a number as unequal.
    return not isinstance(left, (Mapping, list, tuple)) and bool(left == right)


def json_type(value: Any) -> str:
    """The JSON Schema type: 5.0 is an integer, true is a boolean."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def show(value: Any, limit: int = 120) -> str:
    """The value as JSON for a reason, cut after `limit` characters."""
    try:
        text = _ENCODE(value)
    except (ValueError, RecursionError):
        text = "a value nested too deeply to show"
    return text if len(text) <= limit else text[: limit - 1] + "…"


_ENCODE = json.JSONEncoder(ensure_ascii=False, default=str).encode
