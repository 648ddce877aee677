"""Whether a case's ground truth can be met at all: it makes a call, of a tool that is offered, in JSON.

check_truth(case, "data/x.jsonl line 4")    # DataError: "...: 'ground_truth' calls 'x', which is not in 'tools'"
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, tool_name


def check_truth(case: Case, where: str) -> None:
    """Raises `DataError` for a case whose gold cannot be met: no call, a tool that is not offered, or
    alternatives that are neither values by parameter nor a sentence."""
    _check_alternatives(case.acceptable_arguments, where)
    if case.type_of_output != "call":
        return
    offered = [tool_name(tool) for tool in case.tools]
    names = list(_called_names(case.ground_truth, where))
    if not names:
        raise DataError(
            f"{where}: 'ground_truth' makes no call, expected one, as 'type_of_output' is 'call'; "
            "write the call or another type_of_output"
        )
    for name in names:
        if name not in offered:
            raise DataError(
                f"{where}: 'ground_truth' calls {name!r}, which is not in 'tools'; "
                f"offered: {', '.join(offered) or 'none'}"
            )


def _called_names(truth: Any, where: str) -> Iterator[str]:
    """The names that a ground truth calls: a call, a list of calls, or a message with `tool_calls`."""
    if isinstance(truth, str):
        truth = _loads(truth, "'ground_truth'", where)
    if isinstance(truth, Mapping) and "name" not in truth and "function" not in truth:
        truth = truth.get("tool_calls") or []
    calls = [truth] if isinstance(truth, Mapping) else truth
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise DataError(
            f"{where}: 'ground_truth' is {jsonl.kind_of(truth)}, expected a call such as "
            '{"name": "lights_off", "arguments": "{}"} or a message with tool_calls'
        )
    for call in calls:
        function = call.get("function", call) if isinstance(call, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
            raise DataError(f"{where}: a call in 'ground_truth' has no name")
        _check_arguments(name, function.get("arguments"), where)
        yield name


def _check_alternatives(value: Any, where: str) -> None:
    if isinstance(value, str):
        # A sentence is no JSON and stands for itself; `fcb lint` tells of one that nobody can apply.
        with contextlib.suppress(json.JSONDecodeError, RecursionError):
            json.loads(value)
            _loads(value, "'acceptable_arguments'", where)
        return
    rows = value if isinstance(value, list) else [value]
    for row in rows:
        if not (row is None and row is value) and not isinstance(row, Mapping):
            found = jsonl.kind_of(value) if row is value else f"a list that holds {jsonl.kind_of(row)}"
            raise DataError(
                f"{where}: 'acceptable_arguments' is {found}, expected null, an object such as "
                '{"city": ["Busan"]}, its text, or a sentence'
            )


def _check_arguments(name: str, arguments: Any, where: str) -> None:
    if isinstance(arguments, str):
        what = f"the arguments of {name!r} in 'ground_truth'"
        arguments = _loads(arguments, what, where) if arguments.strip() else None
    if arguments is not None and not isinstance(arguments, Mapping):
        raise DataError(
            f"{where}: the arguments of {name!r} in 'ground_truth' are {jsonl.kind_of(arguments)}, "
            "expected a JSON object or its text"
        )


def _loads(text: str, what: str, where: str) -> Any:
    try:
        return jsonl.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: {what} cannot be read as JSON ({error}); found {text[:60]!r}") from None
