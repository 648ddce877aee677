"""Is a checklist value among those that a program ended with?

    find(True, {"ok": 1}, [])                         -> None: a number is never a boolean
    find([1, 2], {"both": [[1, 2], "x"]}, [[1, 2]])   -> "both[0]": the program put a result into its own list
    find(True, {"r": {"success": True}}, [{"success": True}])  -> None: a part of a result is not the result

Equality is JSON's: numbers by value (within 1e-6 and one part in 1e9, as the official scorer allows for bare
floats), a tuple equals a list, keys as text. Ours differs from the official `==` in that True is not 1 and
that floats inside lists and objects are compared with the same tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fcb_toolkit.execution import Opaque

TOLERANCE = 1e-6
MAX_PARTS = 20_000
"""Parts of containers that are looked through for one program."""


def equal(expected: Any, found: Any) -> bool:
    """JSON equality with a tolerance for numbers. Keeps its own stack: values may be nested deeply."""
    stack = [(expected, found)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            other = {str(key): value for key, value in right.items()}
            if len(left) != len(other) or {str(key) for key in left} != other.keys():
                return False
            stack.extend((value, other[str(key)]) for key, value in left.items())
        elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            if len(left) != len(right):
                return False
            stack.extend(zip(left, right, strict=True))
        elif not _same_scalar(left, right):
            return False
    return True


def _same_scalar(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        try:
            return math.isclose(left, right, rel_tol=1e-9, abs_tol=TOLERANCE)
        except OverflowError:
            return left == right
    return type(left) is type(right) and bool(left == right)


def find(value: Any, variables: Mapping[str, Any], results: Sequence[Any]) -> str | None:
    """Where the value is held: a variable, or a part of a container that the program itself built.

    `results` are what the calls returned; their parts do not count as held.
    """
    for name, held in places(variables, results):
        if equal(value, held):
            return name
    return None


def places(variables: Mapping[str, Any], results: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """(place, value), variables first, then what stands inside the program's own containers."""
    containers = [result for result in results if isinstance(result, (Mapping, list, tuple))]
    inside: list[tuple[str, Any]] = []
    for name, value in variables.items():
        yield name, value
        inside.append((name, value))
    left = MAX_PARTS
    while inside and left > 0:
        name, value = inside.pop()
        if isinstance(value, (Mapping, list, tuple)) and any(equal(result, value) for result in containers):
            continue
        for part_name, part in _parts(name, value):
            left -= 1
            yield part_name, part
            inside.append((part_name, part))


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield f"{name}[{key!r}]", part
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield f"{name}[{index}]", part
    elif isinstance(value, (set, frozenset)):
        for part in value:
            yield f"{name}{{}}", part
    elif isinstance(value, Opaque):
        for key, part in value.attributes.items():
            yield f"{name}.{key}", part
