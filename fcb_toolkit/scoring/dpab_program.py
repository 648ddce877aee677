"""A reply -> the program that `dpab` runs: the code as written, or the JSON calls as safe code.

    program('[{"name": "f", "args": {"s": "it\\'s"}}, {"name": "g", "args": {"x": {"result_of": 1}}}]', "json")
    -> result_1 = f(**{'s': "it's"})
       result_2 = g(**{'x': result_1})

In JSON mode an argument `{"result_of": N}` is the result of the N-th call (from 1), with `"path": ["key", 0]` a part
of it. The official form has no such thing; a list of calls without references means the same in both.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fcb_toolkit import parsers
from fcb_toolkit.execution.mocks import parse_quietly
from fcb_toolkit.parsers.code import answer_of, extract_code, find_blocks
from fcb_toolkit.records import FailureKind, ToolCall

REFERENCE = "result_of"


@dataclass(frozen=True, slots=True)
class Read:
    """`code` is None where there is nothing to run; then `failure` and `reason` say what the reply is."""

    code: str | None
    failure: FailureKind | None = None
    reason: str = ""


def program(text: str, mode: str, tools: Collection[str]) -> Read:
    """`tools` are the names of the functions offered."""
    if mode != "json":
        code = extract_code(text)
        if not code.strip() or _is_prose(text, code, tools):
            return Read(None, FailureKind.MISSING_CALL, "expected Python code, found text only")
        return Read(code)
    parsed = parsers.parse(text, "dpab_json")
    if not parsed.tool_calls and parsed.error is None and (span := _list_in_words(text)):
        parsed = parsers.parse(span, "dpab_json")
    if parsed.error is not None:
        found = f"found a list that cannot be read: {parsed.error.message}"
        return Read(None, FailureKind.MALFORMED_CALL, f"expected a JSON list of calls, {found}")
    if not parsed.tool_calls:
        return Read(None, FailureKind.MISSING_CALL, "expected a JSON list of calls, found none")
    return Read(source_of(parsed.tool_calls, tools))


def _list_in_words(text: str) -> str:
    """From the first "[" to the last "]": a list in the middle of a sentence, as the official tool reads it."""
    body = answer_of(text)
    first, last = body.find("["), body.rfind("]")
    return body[first : last + 1] if 0 <= first < last else ""


def _is_prose(text: str, code: str, tools: Collection[str]) -> bool:
    """Text without a block that is no Python and mentions no call: an answer in words, not broken code."""
    if find_blocks(text) or any(f"{name}(" in code for name in tools):
        return False
    try:
        parse_quietly(code)
    except (SyntaxError, ValueError):
        return True
    except (RecursionError, MemoryError):
        return False
    return False


def source_of(calls: Collection[ToolCall], tools: Collection[str]) -> str:
    """One assignment for each call. A call of a function that is not offered ends the program there."""
    lines = []
    for number, call in enumerate(calls, 1):
        if call.name not in tools or not call.name.isidentifier() or keyword.iskeyword(call.name):
            lines.append(f"raise NameError({f'name {call.name!r} is not defined'!r})")
            continue
        try:
            arguments = _expression(call.arguments, number)
        except (IndexError, RecursionError) as error:
            lines.append(f"raise LookupError({str(error) or 'nested too deeply'!r})")
            continue
        lines.append(f"result_{number} = {call.name}(**{arguments})")
    return "\n".join(lines)


def _expression(value: Any, number: int) -> str:
    """Python source of a JSON value with its references; raises IndexError for one that leads nowhere."""
    if isinstance(value, Mapping):
        if REFERENCE in value and set(value) <= {REFERENCE, "path"}:
            return _reference(value, number)
        pairs = ", ".join(f"{key!r}: {_expression(part, number)}" for key, part in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list):
        return f"[{', '.join(_expression(part, number) for part in value)}]"
    if isinstance(value, float) and value - value != 0:
        return f"float({str(value)!r})"
    return repr(value)


def _reference(value: Mapping[str, Any], number: int) -> str:
    target, path = value[REFERENCE], value.get("path", [])
    earlier = isinstance(target, int) and not isinstance(target, bool) and 1 <= target < number
    steps = isinstance(path, list) and all(isinstance(step, (str, int)) for step in path)
    if not earlier or not steps:
        raise IndexError(
            f"call {number} refers to {value!r}; expected the number of an earlier call and a list of keys"
        )
    return f"result_{target}" + "".join(f"[{step!r}]" for step in path)
