"""Arguments against a tool's JSON Schema -> problems.

    problems({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": True})
    -> [SchemaProblem(path="n", rule="type", message="True is not of type 'integer'")]

A schema that is broken is the data's fault: `BrokenSchema` says what is wrong with it. Nothing is ever
fetched: a `$ref` must point inside the schema. A `pattern` is searched for `PATTERN_SECONDS` at most: Python's
`re`, which jsonschema uses, can take years and cannot be stopped, the package `regex` can.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Json

PATTERN_SECONDS = 0.5
"""Processor time that one pattern may take for one text."""


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
    Raises `BrokenSchema` if the schema is no valid schema, refers to what it does not hold, or has a
    pattern that takes longer than `PATTERN_SECONDS`.
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
    except BrokenSchema:
        raise
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

    if '"patternProperties"' in text and '"unevaluatedProperties"' in text:
        # jsonschema searches the one's patterns for the other with `re`, in a place that cannot be replaced.
        raise BrokenSchema(
            "patternProperties together with unevaluatedProperties cannot be checked within a time limit; "
            "use additionalProperties"
        )
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
            return _with_limit(draft)(_without_drafts(schema), registry=REGISTRY)
    except RecursionError:
        raise BrokenSchema("the schema is nested too deeply") from None
    assert first is not None
    where = "/".join(map(str, first.absolute_path)) or "the schema"
    raise BrokenSchema(f"not valid JSON Schema: {where}: {_shorten(first.message)}")


def _with_limit(draft: Any) -> Any:
    """The draft's validator, with every keyword that searches a pattern under the time limit."""
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    def pattern(validator: Any, wanted: str, instance: Any, schema: Any) -> Iterator[Any]:
        if validator.is_type(instance, "string") and not _search(wanted, instance):
            yield ValidationError(f"{instance!r} does not match {wanted!r}")

    def pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return
        for wanted, part in patterns.items():
            for name, value in instance.items():
                if _search(wanted, name):
                    yield from validator.descend(value, part, path=name, schema_path=wanted)

    def additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
        patterns = schema.get("patternProperties")
        if patterns and validator.is_type(instance, "object"):
            rest = {name: value for name, value in instance.items() if not _matches_any(patterns, name)}
            instance, schema = rest, {key: schema[key] for key in schema if key != "patternProperties"}
        yield from draft.VALIDATORS["additionalProperties"](validator, allowed, instance, schema) or ()

    limited = {
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "additionalProperties": additional,
    }
    return extend(draft, limited)  # type: ignore[no-untyped-call]


def _matches_any(patterns: Iterable[str], name: str) -> bool:
    return any(_search(wanted, name) for wanted in patterns)


def _search(pattern: str, text: str) -> bool:
    import regex

    try:
        return regex.search(pattern, text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        raise BrokenSchema(
            f"the pattern {_shorten(pattern, 80)!r} took longer than {PATTERN_SECONDS:g} s on "
            f"{_shorten(text, 40)!r}; write it so that a text can match in one way only"
        ) from None


def _without_drafts(schema: Any) -> Any:
    """Without `$schema`, with which jsonschema would go on with its own validator, which has no limit."""
    if isinstance(schema, list):
        return [_without_drafts(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_drafts(value)
        for key, value in schema.items()
        if key != "$schema" or not isinstance(value, str)
    }


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
