"""A model's text as Berkeley's prompting decoder reads it: a list of Python calls.

    decode("[get_time(city='Seoul')]") == [{"get_time": {"city": "Seoul"}}]

Its faults are kept (positional arguments vanish, `+5` is -5), with one exception: it evaluates an
arithmetic expression with `eval`; here only numbers and strings are added up, and nothing is run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

_MAX = 100_000
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def decode(text: str) -> list[dict[str, Any]]:
    """The calls of the text. Raises `ValueError` where Berkeley's decoder fails."""
    text = text.strip("`\n ")
    if not text.startswith("["):
        text = "[" + text
    if not text.endswith("]"):
        text += "]"
    if len(text) > _MAX:
        raise ValueError(f"longer than {_MAX} characters")
    try:
        body = ast.parse(text, mode="eval").body
        if isinstance(body, ast.Call):
            return [_call(body)]
        elements = body.elts if isinstance(body, ast.List) else None
        if elements is None or not all(isinstance(element, ast.Call) for element in elements):
            raise ValueError("not a list of calls")
        return [_call(element) for element in elements if isinstance(element, ast.Call)]
    except (SyntaxError, RecursionError, MemoryError, ArithmeticError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {str(error)[:120]}") from None


def has_call_shape(output: Any) -> bool:
    """A list of objects, each with one name, whose value is the object of its arguments."""
    return isinstance(output, list) and all(
        isinstance(item, dict) and len(item) <= 1 and all(isinstance(value, dict) for value in item.values())
        for item in output
    )


def is_empty(output: Any) -> bool:
    return output in ([], [{}])


def _call(node: ast.Call) -> dict[str, Any]:
    parts: list[str] = []
    function: ast.expr = node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    arguments = {keyword.arg: _value(keyword.value) for keyword in node.keywords}
    return {".".join(reversed(parts)): arguments}


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return "..." if node.value is Ellipsis else node.value
    if isinstance(node, ast.UnaryOp):
        # Any sign or `not` negates there.
        operand = node.operand
        return -operand.value  # type: ignore[attr-defined]
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return {
            _value(key) if key is not None else None: _value(value)
            for key, value in zip(node.keys, node.values, strict=True)
        }
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.BinOp):
        return _arithmetic(node)
    if isinstance(node, ast.Call):
        return _call(node) if node.keywords else ast.unparse(node)
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    raise ValueError(f"a {type(node).__name__} is no value")


def _arithmetic(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(_arithmetic(node.operand))
    if isinstance(node, ast.BinOp):
        left, right = _arithmetic(node.left), _arithmetic(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return left + right
        left, right = _number(left), _number(right)
        if isinstance(node.op, ast.Pow) and abs(right) > 64:
            raise ValueError("a power too large to work out")
        return _number(_OPERATORS[type(node.op)](left, right))
    raise ValueError("an expression that is not evaluated")


def _number(value: Any) -> int | float:
    # The bound keeps a chain of products from growing without end.
    if isinstance(value, (int, float)) and abs(value) < 10**60:
        return value
    raise ValueError("an expression that is not evaluated")
