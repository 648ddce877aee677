"""Values that leave a sandbox: plain Python data, or a label for what cannot leave.

    plain([1, (2.5, None)])      -> [1, (2.5, None)]
    plain(datetime.date(2024, 1, 1)) -> Opaque(kind="date", text="datetime.date(2024, 1, 1)")

None, bool, int, float (inf and nan too), str, bytes, list, tuple, set, frozenset and dict keep their
types, so that a scorer can tell a tuple from a list. A named tuple becomes a tuple, other subclasses
of these (Counter, an enumeration of strings) their base type. Everything else becomes `Opaque`,
which equals no JSON value. A value over `MAX_NODES` parts or `MAX_DEPTH` levels becomes `Opaque` as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_NODES = 200_000
MAX_DEPTH = 60
MAX_INT_BITS = 14_000
"""Python refuses to print longer integers by default (4,300 digits), so JSON could not hold them."""
MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that stays in the sandbox. `kind` is its type's name, `text` what it printed, cut short.

    `attributes` are those of an instance of the program's own class, as plain values.
    """

    kind: str
    text: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict, compare=False)


class _TooLarge(Exception):
    pass


def plain(value: Any) -> Any:
    """`value` as plain data, or `Opaque`. Never raises; shared and cyclic parts count each time."""
    try:
        return _Walk().visit(value, 0)
    except (_TooLarge, RecursionError):
        return Opaque(type(value).__name__, f"more than {MAX_NODES} parts or {MAX_DEPTH} levels")


class _Walk:
    """One conversion; the budget stops a few shared lists from growing into millions of parts."""

    def __init__(self) -> None:
        self.left = MAX_NODES

    def visit(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            raise _TooLarge
        if value is None or isinstance(value, (bool, float, str, bytes)):
            return value
        if isinstance(value, int):
            if value.bit_length() > MAX_INT_BITS:
                return Opaque("int", f"an integer of {value.bit_length()} bits")
            return value
        if isinstance(value, Opaque):
            return value
        if isinstance(value, dict):
            return {self._key(k, depth): self.visit(v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            parts = [self.visit(part, depth + 1) for part in value]
            return parts if isinstance(value, list) else tuple(parts)
        if isinstance(value, (set, frozenset)):
            members = [self._key(part, depth) for part in value]
            return set(members) if isinstance(value, set) else frozenset(members)
        label = opaque(value)
        own = {} if label.kind == "iterator" else getattr(value, "attributes", None)
        if not isinstance(own, dict) or not own:
            return label
        inner = {str(name): self.visit(part, depth + 1) for name, part in own.items()}
        return Opaque(label.kind, label.text, inner)

    def _key(self, key: Any, depth: int) -> Any:
        visited = self.visit(key, depth + 1)
        try:
            hash(visited)
        except TypeError:
            return Opaque(type(key).__name__)
        return visited


def opaque(value: Any) -> Opaque:
    """The label of a host value (a date, a decimal, the sandbox's stand-in for an instance)."""
    kind = type(value).__name__
    if kind in ("MontyClassProxy", "MontyClassTypeProxy", "MontyStdTypeProxy"):
        # The sandbox's lazy objects bear the name of a session (see `prelude`).
        return Opaque("iterator" if str(value.name).startswith("fcb_") else str(value.name))
    try:
        text = repr(value)
    except Exception:
        text = ""
    return Opaque(kind, text[:MAX_TEXT])


def as_json(value: Any) -> Any:
    """A plain value as JSON: tuples and sets become lists, keys strings, the rest its text."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(as_json(key)): as_json(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted((as_json(part) for part in value), key=repr)
    if isinstance(value, bytes):
        return repr(value)
    if isinstance(value, Opaque):
        return value.text or f"<{value.kind}>"
    return value


def text_size(value: Any) -> int:
    """About how many characters the value has; used to bound what a trace may hold."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, Mapping):
        return sum(text_size(k) + text_size(v) + 2 for k, v in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return sum(text_size(part) + 2 for part in value)
    return 8


def loads(line: bytes) -> Any:
    """One line from the child process; ValueError for anything that is not its encoding."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def decode(data: Any) -> Any:
    """What `cpython_child.encode` made, back to plain values. Raises ValueError on anything else."""
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    if isinstance(data, list):
        return [decode(part) for part in data]
    if isinstance(data, dict) and len(data) == 1:
        tag, body = next(iter(data.items()))
        if tag in _DECODERS:
            try:
                return _DECODERS[tag](body)
            except (TypeError, ValueError, IndexError, KeyError) as error:
                raise ValueError(f"a broken value of kind {tag!r} from the child process: {error}") from None
    raise ValueError("a value of unknown form from the child process")


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "int": lambda body: plain(int(body, 16)),
    "tuple": lambda body: tuple(decode(part) for part in body),
    "set": lambda body: {_hashable(part) for part in body},
    "frozenset": lambda body: frozenset(_hashable(part) for part in body),
    "dict": lambda body: {_hashable(key): decode(value) for key, value in body},
    "bytes": bytes.fromhex,
    "opaque": lambda body: Opaque(
        str(body[0]), str(body[1]), {str(name): decode(part) for name, part in body[2]}
    ),
}


def _hashable(data: Any) -> Any:
    value = decode(data)
    try:
        hash(value)
    except TypeError:
        return Opaque(type(value).__name__)
    return value
