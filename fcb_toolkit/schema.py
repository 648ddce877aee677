"""Arguments against a tool's JSON Schema -> problems.

    problems({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": True})
    -> [SchemaProblem(path="n", rule="type", message="True is not of type 'integer'")]

A schema that is broken is the data's fault: `BrokenSchema` says what is wrong with it. Nothing is ever
fetched: a `$ref` must point inside the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Json


class BrokenSchema(DataError):
    """A schema that no arguments can be checked against."""


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """`path` is where in the arguments ("" for the whole), `rule` the keyword that is broken."""

    path: str
    rule: str
    message: str


def problems(parameters: Mapping[str, Json] | None, arguments: Json) -> list[SchemaProblem]:
    """What is wrong with the arguments, outermost first; [] if they fit.

    parameters: a JSON Schema (absent or {} allows everything). The draft is the one that `$schema`
    names, else the newest whose rules the schema itself keeps (2020-12, 7, 4). `nullable: true`
    (OpenAPI 3.0) allows null. `format` is not checked, as JSON Schema has it by default, and undeclared
    arguments are allowed unless the schema says otherwise: see `undeclared`.
    Raises `BrokenSchema` if the schema is no valid schema or refers to what it does not hold.
    """
    if not parameters:
        return []
    from referencing.exceptions import Unresolvable

    validator = _validator(_key(parameters))
    try:
        errors = sorted(validator.iter_errors(arguments), key=lambda error: len(error.absolute_path))
    except Unresolvable as error:
        raise BrokenSchema(
            f"$ref {error.ref!r} does not point into the schema; put the definition under $defs "
            "(references are never fetched)"
        ) from None
    except RecursionError:
        raise BrokenSchema(
            "the schema refers to itself without end, or the arguments are nested too deeply to check"
        ) from None
    except Exception as error:  # a pattern that is no regular expression, a multipleOf of 0
        raise BrokenSchema(f"the schema cannot be applied: {type(error).__name__}: {error}") from None
    return [
        SchemaProblem(".".join(map(str, error.absolute_path)), _rule(error), _shorten(error.message))
        for error in errors
    ]


def fault(parameters: Json) -> str | None:
    """What makes this no usable schema, or None."""
    try:
        problems(parameters if isinstance(parameters, Mapping) else _refuse(parameters), {})
    except BrokenSchema as error:
        return str(error)
    return None


def undeclared(parameters: Mapping[str, Json] | None, arguments: Mapping[str, Json]) -> list[str]:
    """Arguments that the schema does not name (a valid call may have them, a real tool seldom takes them)."""
    schema = parameters if isinstance(parameters, Mapping) else {}
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    patterns = schema.get("patternProperties")
    return [] if patterns else [name for name in arguments if name not in known]


def _refuse(value: Json) -> Mapping[str, Json]:
    if value is None:
        return {}
    raise BrokenSchema(f"found {type(value).__name__}, expected an object as the schema")


def _key(parameters: Mapping[str, Json]) -> str:
    try:
        return json.dumps(parameters)
    except (TypeError, ValueError, RecursionError) as error:
        raise BrokenSchema(f"the schema is no JSON: {error}") from None


@lru_cache(maxsize=4096)
def _validator(text: str) -> Any:
    """A validator for the schema, made once: checking a schema takes far longer than using it."""
    from jsonschema.exceptions import SchemaError
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    try:
        schema = _with_null(json.loads(text))
        first: SchemaError | None = None
        for draft in _drafts(schema):
            try:
                draft.check_schema(schema)
            except SchemaError as error:
                first = first or error
                continue
            # A registry without a retriever: an unknown $ref raises instead of going to the network.
            return draft(schema, registry=REGISTRY)
    except RecursionError:
        raise BrokenSchema("the schema is nested too deeply") from None
    assert first is not None
    where = "/".join(map(str, first.absolute_path)) or "the schema"
    raise BrokenSchema(f"not valid JSON Schema: {where}: {_shorten(first.message)}")


def _drafts(schema: Any) -> Iterator[Any]:
    from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator
    from jsonschema.validators import validator_for

    named = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(named, str) and "json-schema.org" in named:
        import warnings

        with warnings.catch_warnings():
            # An unknown draft: warned of by jsonschema, and the newest is used.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield validator_for(schema, default=Draft202012Validator)
    else:
        yield from (Draft202012Validator, Draft7Validator, Draft4Validator)


def _with_null(schema: Any) -> Any:
    """OpenAPI's `nullable: true` in JSON Schema's own words."""
    if isinstance(schema, list):
        return [_with_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _with_null(value) for key, value in schema.items()}
    if result.get("nullable") is True:
        kind = result.get("type")
        if isinstance(kind, str):
            result["type"] = [kind, "null"]
        if isinstance(result.get("enum"), list) and None not in result["enum"]:
            result["enum"] = [*result["enum"], None]
        if "type" not in result and ("$ref" in result or "allOf" in result):
            del result["nullable"]
            return {"anyOf": [result, {"type": "null"}]}
    return result


def _rule(error: Any) -> str:
    """The keyword; for a choice of schemas the one rule that all choices break, if it is one."""
    if error.validator in ("anyOf", "oneOf") and error.context:
        rules = {inner.validator for inner in error.context}
        if len(rules) == 1:
            return str(rules.pop())
    return str(error.validator)


def _shorten(message: str, limit: int = 200) -> str:
    return message if len(message) <= limit else message[: limit - 1] + "…"
