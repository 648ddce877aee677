"""The official DPAB verdict, fault for fault, except that the model's code runs in a sandbox.

    reading("```python\\nx = f()\\n```", "pythonic").functions   -> {"f": ["x"]}
    score(values=[1], functions=["f"], variables={"x": 1}, found={"f": ["x"]})  -> 1.0

Reference: github.com/firstbatchxyz/function-calling-eval at 7aa8498. What it does, in short: calls are read
off the source and never observed; a checklist value matches if any variable equals it by Python's `==`
(two floats within 1e-6); half of the score is values, half functions; strict is 0.99 <= score < 1.01.
JSON calls are pasted into source text with their strings unescaped. An exception of the tool itself counts 0.

No verdict is given where the official tool has none (it hangs, or the program ends the whole evaluation), and
where the program was not let do what it wanted (see `execution`); such replies are not scored.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fcb_toolkit import execution
from fcb_toolkit.execution.mocks import parse_quietly
from fcb_toolkit.parsers.special import trim
from fcb_toolkit.records import Answer, Case, Execution, FailureKind, Verdict

RESTRICTED = frozenset({"exec", "eval", "execfile", "compile", "exit", "input"})
PRE_IMPORTED = frozenset({"List", "Dict", "Any", "Union", "Tuple", "Callable", "Optional"})
TOLERANCE = 1e-6
_BLOCK = re.compile(r"```python(.*?)```", re.DOTALL)


class OfficialError(Exception):
    """An exception that leaves the official engine: the reply counts 0."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the official tool sees in a reply before it runs anything."""

    code: str
    functions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Function name -> variables that its calls are assigned to, or "name:internal" inside a function."""
    restricted: str = ""
    """A name that the official tool refuses; then nothing runs and `functions` is empty."""


def dpab_official(case: Case, answer: Answer) -> Verdict:
    """Passes at the full official (lenient) score of 1; the score is in `details["lenient"]`."""
    return _verdict(case, answer, strict=False)


def dpab_strict_official(case: Case, answer: Answer) -> Verdict:
    """Passes where the official strict score is 1."""
    return _verdict(case, answer, strict=True)


def reading(text: str, mode: str) -> Reading:
    """Raises `OfficialError` where the official tool would raise."""
    code = json_source(parse_json_calls(text)) if mode == "json" else extract_code(text)
    try:
        tree = parse_quietly(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise OfficialError(f"{type(error).__name__}: {error}") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in RESTRICTED:
            return Reading(code, restricted=node.id)
    return Reading(code, recorded_functions(tree))


def extract_code(text: str) -> str:
    """All blocks labelled `python` (as a prefix, in this case of letters) joined; the whole text if it has no
    fence; nothing if it has fences of other kinds only."""
    if "```" not in text:
        return text
    return "\n".join(_BLOCK.findall(text))


def parse_json_calls(text: str) -> Any:
    """The official reader of JSON calls. Raises `OfficialError`; None where it gives None."""
    cut = text
    if "```json" in text:
        cut = text.split("```json", 1)[1]
        cut = cut.rsplit("```", 1)[0]
    try:
        return json.loads(cut.strip())
    except json.JSONDecodeError:
        pass
    except (RecursionError, ValueError) as error:
        raise OfficialError(f"{type(error).__name__}: {error}") from None
    first, last = text.find("["), text.rfind("]")
    if first < 0 or last < first:
        return None
    try:
        return json.loads(text[first : last + 1])
    except (ValueError, RecursionError):
        raise OfficialError("ValueError: Could not parse JSON array from completion") from None


def json_source(calls: Any) -> str:
    """`result_0 = f(k='v')` for each call; strings are pasted without escaping, as the official tool does."""
    try:
        lines = []
        for number, call in enumerate(calls):
            arguments = ", ".join(f"{key}={_pasted(value)}" for key, value in call["args"].items())
            lines.append(f"result_{number} = {call['name']}({arguments})")
        return "\n".join(lines)
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise OfficialError(f"{type(error).__name__}: {error}") from None


def _pasted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(value)


def recorded_functions(tree: ast.Module) -> dict[str, list[str]]:
    """The calls that the official tool takes note of. Raises `OfficialError` for a target without a name."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for name in _assigned_calls(node.value):
                found.setdefault(name, []).append(_target(node.targets[0]))
            if isinstance(node.value, ast.Dict):
                _target(node.targets[0])
        elif isinstance(node, ast.FunctionDef):
            for name in _calls_inside(node):
                found.setdefault(name, []).append(f"{node.name}:internal")
    return found


def _assigned_calls(value: ast.expr) -> list[str]:
    if isinstance(value, ast.Call):
        return _called(value)
    if isinstance(value, ast.Dict):
        return [name for part in value.values for name in _called(part)]
    if isinstance(value, (ast.ListComp, ast.DictComp)):
        return _calls_inside(value)
    return []


def _calls_inside(node: ast.AST) -> list[str]:
    return [name for part in ast.walk(node) for name in _called(part)]


def _called(node: ast.AST) -> list[str]:
    return [node.func.id] if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else []


def _target(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    raise OfficialError(f"AttributeError: {type(target).__name__!r} object has no attribute 'id'")


def is_match(expected: Any, found: Any) -> bool:
    """Python's `==`, except for two floats. An infinity is not within 1e-6 of itself."""
    if type(expected) is float and type(found) is float:
        return abs(expected - found) <= TOLERANCE
    try:
        return bool(expected == found)
    except RecursionError:
        return False


def score(
    values: Sequence[Any], functions: Sequence[str], variables: Mapping[str, Any], found: Mapping[str, Any]
) -> float:
    """The lenient score, 0 to 1. An empty list counts as all found."""
    matched = [any(is_match(value, variable) for variable in variables.values()) for value in values]
    called = [name in found for name in functions]
    return 0.5 * _share(matched) + 0.5 * _share(called)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0


def strict_score(lenient: float) -> int:
    return 1 if 0.99 <= lenient < 1.01 else 0


def _verdict(case: Case, answer: Answer, strict: bool) -> Verdict:
    text = answer.text
    if not isinstance(case.ground_truth, Mapping):
        return Verdict.not_scored("the official DPAB score needs a checklist; this case has none")
    if text is None:
        return Verdict.failed(FailureKind.NO_REPLY, "expected code, found no reply", lenient=0.0, strict=0)
    try:
        frame = trim(
            text
        )  # a server has taken the special tokens away before the official tool sees the text
        read = reading(text[frame.start : frame.stop], str(case.task["mode"]))
    except OfficialError as error:
        return Verdict.failed(
            FailureKind.MALFORMED_CALL,
            f"the official tool raises {error} and counts 0",
            lenient=0.0,
            strict=0,
            exception=str(error),
        )
    ran = Execution()
    if not read.restricted:
        ran = execution.execute_with(execution.current(), _as_run(read.code), case.task["mock_functions"])
        if without := _no_verdict(ran):
            return Verdict.not_scored(without, executor=ran.executor)
    return _scored(case, read, ran, strict)


def _as_run(code: str) -> str:
    """The official engine runs code under the name of the module `builtins`, so that a
    `if __name__ == "__main__":` block does not run."""
    return f'__name__ = "builtins"\n{code}' if "__name__" in code else code


def _scored(case: Case, read: Reading, ran: Execution, strict: bool) -> Verdict:
    values, functions = case.ground_truth["values"], case.ground_truth["functions"]
    hidden = PRE_IMPORTED | execution.mock_names(case.task["mock_functions"])
    variables = {
        name: value
        for name, value in ran.variables.items()
        if name not in hidden and not name.startswith("__")
    }
    lenient = score(values, functions, variables, read.functions)
    missing_values = [
        value for value in values if not any(is_match(value, variable) for variable in variables.values())
    ]
    missing_functions = [name for name in functions if name not in read.functions]
    error = f"{ran.error.code}: {ran.error.message}" if ran.error else None
    if read.restricted:
        error = f"NotAllowedError: Usage of dangerous builtin {read.restricted!r} is not allowed"
    details: dict[str, Any] = {
        "lenient": lenient,
        "strict": strict_score(lenient),
        "functions_found": sorted(read.functions),
        "functions_missing": missing_functions,
        "values_missing": missing_values,
        "exec_error": error,
        "executor": ran.executor,
    }
    passed = strict_score(lenient) == 1 if strict else lenient >= 1.0
    if passed:
        return Verdict.passed(f"official score {lenient:.3g}", **details)
    kind = FailureKind.MISSING_CALL if missing_functions else FailureKind.MISSING_VALUE
    reason = (
        f"official score {lenient:.3g}, expected {'0.99' if strict else '1'}: "
        f"{len(missing_functions)} of {len(functions)} functions and "
        f"{len(missing_values)} of {len(values)} values not found"
    )
    return Verdict.failed(kind, reason, **details)


def _no_verdict(ran: Execution) -> str:
    """Why there is no official verdict to reproduce; "" if there is one."""
    code, message = (ran.error.code, ran.error.message) if ran.error else ("", "")
    if not ran.executor:
        return message
    if code == "timeout":
        return "the official tool hangs on a program that does not end"
    if code in ("SystemExit", "KeyboardInterrupt"):
        return f"{code}: the official evaluation ends here without a verdict"
    if code == "blocked":
        return f"not run as the official tool would: {message}"
    if code == "memory":
        return f"stopped at the memory limit, which the official tool has not: {message}"
    return ""
