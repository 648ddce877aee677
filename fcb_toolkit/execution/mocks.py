"""The source of mock functions -> their names and signatures, without running anything.

read(["def send(to: str, text: str, *, urgent: bool = False): ..."])
-> Mocks(source="def send...", signatures={"send": <Signature (to, text, *, urgent=...)>})
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Any

from fcb_toolkit.errors import DataError


@dataclass(frozen=True, slots=True)
class Mocks:
    """`signatures` has each traced function: defined at the top level, name not starting with `_`."""

    source: str
    signatures: Mapping[str, Signature]
    names: frozenset[str]
    """All names that the source binds at its top level."""


def read(functions: str | Sequence[str]) -> Mocks:
    """Raises `DataError` where the source is no text, or not Python."""
    texts = [functions] if isinstance(functions, str) else functions
    wrong = [text for text in texts if not isinstance(text, str)] if isinstance(texts, Sequence) else [texts]
    if wrong:
        raise DataError(
            f"mock functions: found {type(wrong[0]).__name__}, expected their source, as one text or a list"
        )
    return _read("\n".join(texts))


@lru_cache(maxsize=512)
def _read(source: str) -> Mocks:
    try:
        tree = parse_quietly(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise DataError(
            f"mock functions line {line or '?'}: not Python: {getattr(error, 'msg', None) or error}; "
            "expected the source of functions"
        ) from None
    signatures = {
        node.name: signature(node.args)
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_")
    }
    return Mocks(source, signatures, frozenset(top_level_names(tree)))


def parse_quietly(source: str) -> ast.Module:
    """`ast.parse` without its warnings (an unknown escape like "\\d" is the model's, not the user's)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def signature(arguments: ast.arguments) -> Signature:
    """The signature's names and kinds; a default is only known to exist (its value is never computed)."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    parameters = []
    for index, argument in enumerate(positional):
        kind = (
            Parameter.POSITIONAL_ONLY
            if index < len(arguments.posonlyargs)
            else Parameter.POSITIONAL_OR_KEYWORD
        )
        default = Parameter.empty if index < required else None
        parameters.append(Parameter(argument.arg, kind, default=default))
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = Parameter.empty if value is None else None
        parameters.append(Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=default))
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    return Signature(parameters)


def bind(
    shape: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, str]:
    """(arguments by parameter name, "") or (None, why they do not fit). Defaults are not filled in.

    Extra keywords go under their own names, extra positions under the name of `*args`.
    """
    try:
        bound = dict(shape.bind(*args, **kwargs).arguments)
    except TypeError as error:
        return None, str(error)
    for name, parameter in shape.parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD and name in bound:
            bound.update(bound.pop(name))
    return bound, ""


def top_level_names(tree: ast.Module) -> set[str]:
    """The names that the module itself binds, those inside its functions and classes left out."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)
    names: set[str] = set()
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        names |= _bound_by(node)
        if not isinstance(node, inner):
            stack.extend(ast.iter_child_nodes(node))
    return names


def bound_names(tree: ast.AST) -> set[str]:
    """Every name that the code may bind, at any level (a superset of its module-level variables)."""
    return {name for node in ast.walk(tree) for name in _bound_by(node)}


def _bound_by(node: ast.AST) -> set[str]:
    """The names that this node alone binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {alias.asname or alias.name.split(".")[0] for alias in aliases}
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return set(names)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}
        case ast.MatchMapping(rest=str(name)) | ast.arg(arg=name):
            return {name}
    return set()
