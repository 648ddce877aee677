"""`bfcl_ast`: Berkeley's AST checker, fault for fault, for comparison with the numbers of that leaderboard.

    match_bfcl(functions, [{"f": {"p": 5}}], [{"f": {"p": [5]}}], "simple_python").outcome == "pass"

Written from a description of bfcl_eval 2026.3.23 (Python categories). It is wrong on purpose where
Berkeley's is: punctuation in strings doesn't count, parallel calls are paired greedily, `True` is 1 inside
objects. Use `call_match` to find out whether a call is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Answer, Case, FailureKind, Verdict, tool_name, tool_parameters
from fcb_toolkit.scoring.bfcl_checker import Wrong, check
from fcb_toolkit.scoring.bfcl_decode import decode, has_call_shape, is_empty
from fcb_toolkit.scoring.gold import GoldCall, read_gold

_KINDS: Mapping[str, FailureKind] = {
    "wrong_count": FailureKind.WRONG_CALL_COUNT,
    "wrong_func_name": FailureKind.WRONG_TOOL,
    "missing_required": FailureKind.MISSING_ARGUMENT,
    "missing_optional": FailureKind.MISSING_ARGUMENT,
    "unexpected_param": FailureKind.EXTRA_ARGUMENT,
    "simple": FailureKind.WRONG_TYPE,
    "nested": FailureKind.WRONG_TYPE,
    "decoder_failed": FailureKind.MALFORMED_CALL,
    "decoder_wrong_output_format": FailureKind.MALFORMED_CALL,
    "decoder_success": FailureKind.UNEXPECTED_CALL,
}


def match_bfcl(
    functions: Sequence[Mapping[str, Any]],
    output: Any,
    possible_answer: Sequence[Mapping[str, Any]],
    category: str,
    underscore_to_dot: bool = False,
) -> Verdict:
    """Berkeley's verdict, with its error type first in `reason`.

    functions: Berkeley's function docs (`parameters.type` is "dict"). possible_answer: one object a call,
    {name: {parameter: [alternatives]}}; "" among them makes it optional. category: its name decides the
    rule (parallel, multiple, relevance, irrelevance, else one call). output: decoded calls
    [{name: {parameter: value}}], or a model's text, which is decoded first.
    underscore_to_dot: the model was given names with "_" for ".".

    `not_scored` where Berkeley's checker raises. `details["format_ok"]` is the check that the real
    pipeline makes before it: where false, it answers ast_decoder:decoder_wrong_output_format.
    """
    if isinstance(output, str):
        return _match_text(functions, output, possible_answer, category, underscore_to_dot)
    output = _with_tuples(output)
    if "relevance" in category:
        return _match_relevance(output, category)
    return _match_calls(functions, output, possible_answer, category, underscore_to_dot)


def _match_text(
    functions: Sequence[Mapping[str, Any]], text: str, answers: Any, category: str, underscore_to_dot: bool
) -> Verdict:
    try:
        decoded = decode(text)
    except ValueError as error:
        if "relevance" in category:
            return _match_relevance(None, category)
        bare = _match_calls(functions, text, answers, category, underscore_to_dot)
        return _verdict(
            "ast_decoder:decoder_failed",
            f"{error}; the checker alone, given this text as if it were decoded, says {bare.reason}",
        )
    if "relevance" in category:
        return _match_relevance(decoded, category)
    if not has_call_shape(decoded):
        return _verdict("ast_decoder:decoder_wrong_output_format", "the text holds no list of calls")
    return _match_calls(functions, decoded, answers, category, underscore_to_dot)


def _match_relevance(output: Any, category: str) -> Verdict:
    called = output is not None and has_call_shape(output) and not is_empty(output)
    if "irrelevance" in category:
        if not called:
            return Verdict.passed("no call, as expected")
        return _verdict("irrelevance_error:decoder_success", "expected no call, found one")
    if called:
        return Verdict.passed("some call, as expected")
    return _verdict(
        "relevance_error:decoder_failed", "expected any call, found none", FailureKind.MISSING_CALL
    )


def _match_calls(
    functions: Sequence[Mapping[str, Any]], output: Any, answers: Any, category: str, underscore_to_dot: bool
) -> Verdict:
    format_ok = has_call_shape(output)
    try:
        check(functions, output, answers, category, underscore_to_dot)
    except Wrong as wrong:
        return _verdict(wrong.error_type, str(wrong), format_ok=format_ok)
    except Exception as error:
        name = type(error).__name__
        reason = f"Berkeley's checker raises {name}: {str(error)[:200]}"
        return Verdict.not_scored(reason, exception=name, format_ok=format_ok)
    return Verdict.passed("accepted by Berkeley's rules", format_ok=format_ok)


def _verdict(error_type: str, message: str, kind: FailureKind | None = None, **details: Any) -> Verdict:
    kind = kind or _KINDS.get(error_type.partition(":")[2], FailureKind.WRONG_VALUE)
    return Verdict.failed(kind, f"{error_type}: {message}", error_type=error_type, **details)


def _with_tuples(value: Any) -> Any:
    """JSON has no tuples: recorded outputs write them as {"__tuple__": [...]}."""
    if isinstance(value, list):
        return [_with_tuples(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"__tuple__"}:
            return tuple(_with_tuples(item) for item in value["__tuple__"])
        return {key: _with_tuples(item) for key, item in value.items()}
    return value


# What JSON Schema calls a type, in Berkeley's words.
_BERKELEY_TYPES = {"object": "dict", "number": "float"}


def bfcl_ast(case: Case, answer: Answer) -> Verdict:
    """What Berkeley's checker would say of the same call: the case is put into its form first.

    A parity check: alternatives become its lists, optional parameters get its "", JSON Schema's types
    become its names. It can't see what its form cannot say (nested objects keep plain equality).
    """
    try:
        gold = read_gold(case.ground_truth, case.acceptable_arguments)
    except DataError as error:
        return Verdict.not_scored(f"the case's gold cannot be read: {error}")
    functions = [
        {"name": tool_name(tool), "parameters": _berkeley_schema(tool_parameters(tool))}
        for tool in case.tools
    ]
    answers = [{call.name: _possible(call)} for call in gold.calls]
    output = [{call.name: call.arguments} for call in answer.parse.tool_calls]
    category = "parallel_multiple" if len(answers) > 1 else "multiple"
    if answer.parse.error is not None:
        return _verdict("ast_decoder:decoder_failed", answer.parse.error.message)
    return match_bfcl(functions, output, answers, category)


def _possible(call: GoldCall) -> dict[str, list[Any]]:
    return {
        key: [_nested(value) for value in argument.any_of] + ([""] if argument.optional else [])
        for key, argument in call.arguments.items()
    }


def _nested(value: Any) -> Any:
    """Berkeley's alternatives of an object hold a list of values under each key."""
    if isinstance(value, Mapping):
        return {key: [item] for key, item in value.items()}
    if isinstance(value, list):
        return [_nested(item) for item in value]
    return value


def _berkeley_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    shown = properties if isinstance(properties, Mapping) else {}
    return {
        "type": "dict",
        "properties": {key: _berkeley_property(value) for key, value in shown.items()},
        "required": list(schema.get("required") or ()),
    }


def _berkeley_property(schema: Any) -> dict[str, Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if not isinstance(kind, str):
        return {"type": "any"}
    result: dict[str, Any] = {"type": _BERKELEY_TYPES.get(kind, kind)}
    if kind == "array":
        result["items"] = _berkeley_property(schema.get("items"))
    return result
