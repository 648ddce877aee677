"""`bfcl_ast`: Berkeley's AST checker, fault for fault, for comparison with the numbers of that leaderboard.

    match_bfcl(functions, [{"f": {"p": 5}}], [{"f": {"p": [5]}}], "simple_python").outcome == "pass"

Written from a description of bfcl_eval 2026.3.23 (Python categories). It is wrong on purpose where
Berkeley's is: punctuation in strings doesn't count, parallel calls are paired greedily, `True` is 1 inside
objects. Use `call_match` to find out whether a call is right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Answer, Case, FailureKind, Verdict, tool_name, tool_parameters
from fcb_toolkit.scoring.bfcl_decode import decode, has_call_shape, is_empty
from fcb_toolkit.scoring.gold import GoldCall, read_gold

_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_PUNCTUATION = re.compile(r"[ ,./\-_*^]")

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


class _Wrong(Exception):
    """The checker's answer is no: `error_type` in Berkeley's words."""

    def __init__(self, error_type: str, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type


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
        _check(functions, output, answers, category, underscore_to_dot)
    except _Wrong as wrong:
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


def _check(functions: Any, output: Any, answers: Any, category: str, dots: bool) -> None:
    if "parallel" in category:
        _check_parallel(functions, output, answers, dots)
    elif "multiple" in category:
        if len(output) != len(answers):
            raise _Wrong(
                "multiple_function_checker:wrong_count", f"expected {len(answers)}, found {len(output)}"
            )
        doc = _find(functions, next(iter(answers[0])))
        _check_call(doc, output[0], answers[0], dots)
    else:
        if len(output) != 1:
            raise _Wrong("simple_function_checker:wrong_count", f"expected 1 call, found {len(output)}")
        _check_call(functions[0], output[0], answers[0], dots)


def _find(functions: Any, name: str) -> Any:
    return next((function for function in functions if function["name"] == name), None)


def _check_parallel(functions: Any, output: Any, answers: Any, dots: bool) -> None:
    if len(output) != len(answers):
        raise _Wrong(
            "parallel_function_checker_no_order:wrong_count", f"expected {len(answers)}, found {len(output)}"
        )
    taken: set[int] = set()
    for answer in answers:
        doc = _find(functions, next(iter(answer)))
        for index in range(len(output)):
            if index in taken:
                continue
            try:
                _check_call(doc, output[index], answer, dots)
            except _Wrong:
                continue
            taken.add(index)
            break
        else:
            raise _Wrong(
                "parallel_function_checker_no_order:cannot_find_match",
                f"no call matches {next(iter(answer))} (the first fit is taken, without going back)",
            )


def _check_call(doc: Any, call: Any, answer: Mapping[str, Any], dots: bool) -> None:
    possible = next(iter(answer.values()))
    name = doc["name"]
    properties, required = doc["parameters"]["properties"], doc["parameters"]["required"]
    if dots:
        name = name.replace(".", "_")
    if name not in call:
        raise _Wrong("simple_function_checker:wrong_func_name", f"expected a call of {name}")
    given = call[name]
    for parameter in required:
        if parameter not in given:
            raise _Wrong(
                "simple_function_checker:missing_required", f"{parameter}: expected it, found nothing"
            )
    for parameter, value in given.items():
        if parameter not in properties or parameter not in possible:
            raise _Wrong(
                "simple_function_checker:unexpected_param", f"{parameter}: expected no such argument"
            )
        _check_value(parameter, value, possible[parameter], properties[parameter])
    for parameter, alternatives in possible.items():
        if parameter not in given and "" not in alternatives:
            raise _Wrong(
                "simple_function_checker:missing_optional", f"{parameter}: expected it, found nothing"
            )


def _check_value(parameter: str, value: Any, possible: Any, schema: Mapping[str, Any]) -> None:
    declared = schema["type"]
    expected = _TYPES[declared]
    nested = _TYPES[schema["items"]["type"]] if declared in ("array", "tuple") else None
    if declared == "tuple" and type(value) is tuple:
        value = list(value)
    if declared == "float" and type(value) is int:
        value = float(value)
    variable = _check_type(parameter, value, possible, expected, nested)
    if not variable:
        if expected is dict:
            _check_dict(parameter, value, possible)
            return
        if expected is list and nested is dict:
            _check_dicts(parameter, value, possible)
            return
        if expected is str:
            _check_string(parameter, value, possible)
            return
        if expected is list:
            _check_list(parameter, value, possible)
            return
    if value not in possible:
        raise _Wrong(
            "value_error:others", f"{parameter}: expected one of {possible!r:.150}, found {value!r:.100}"
        )


def _check_type(parameter: str, value: Any, possible: Any, expected: type, nested: type | None) -> bool:
    """Whether the value is taken for a variable's name: then it is compared as it is."""
    answered = next((type(item) for item in possible if item != ""), None)
    if type(value) is expected:
        if nested is None or any(_items_fit(value, item, nested) for item in possible):
            return answered is not None and answered is not expected
        if type(value) is not answered:
            raise _Wrong("type_error:simple", f"{parameter}: no alternative has this type")
        raise _Wrong("type_error:nested", f"{parameter}: expected items of type {nested.__name__}")
    if answered is not None and type(value) is answered:
        return True
    raise _Wrong(
        "type_error:simple", f"{parameter}: expected {expected.__name__}, found {type(value).__name__}"
    )


def _items_fit(value: Any, alternative: Any, nested: type) -> bool:
    if type(alternative) is not list:
        return True
    answered = next((type(item) for item in alternative if item != ""), None)
    return all(type(item) is nested or type(item) is answered for item in value)


def _standard(value: Any) -> Any:
    if type(value) is not str:
        return value
    return _PUNCTUATION.sub("", value).lower().replace("'", '"')


def _check_string(parameter: str, value: str, possible: Any) -> None:
    if _standard(value) not in [_standard(item) for item in possible if type(item) is str]:
        raise _Wrong(
            "value_error:string", f"{parameter}: expected one of {possible!r:.150}, found {value!r:.100}"
        )


def _check_list(parameter: str, value: Any, possible: Any) -> None:
    if [_standard(item) for item in value] not in [[_standard(item) for item in one] for one in possible]:
        raise _Wrong(
            "value_error:list/tuple", f"{parameter}: expected one of {possible!r:.150}, found {value!r:.100}"
        )


def _check_dict(parameter: str, value: Mapping[str, Any], possible: Any) -> None:
    wrong = _Wrong("dict_checker:unclear", f"{parameter}: no alternative to compare with")
    for alternative in possible:
        if alternative == "":
            continue
        found = _dict_fault(parameter, value, alternative)
        if found is None:
            return
        wrong = found
    raise wrong


def _dict_fault(parameter: str, value: Mapping[str, Any], alternative: Mapping[str, Any]) -> _Wrong | None:
    fault = None
    for key, item in value.items():
        if key not in alternative:
            fault = _Wrong("value_error:dict_key", f"{parameter}: expected no key {key!r}")
            break
        if _standard(item) not in [_standard(one) for one in alternative[key]]:
            fault = _Wrong("value_error:dict_value", f"{parameter}.{key}: found {item!r:.100}")
            break
    for key, items in alternative.items():
        if key not in value and "" not in items:
            return _Wrong("value_error:dict_key", f"{parameter}: the key {key!r} is missing")
    return fault


def _check_dicts(parameter: str, value: Any, possible: Any) -> None:
    wrong = _Wrong("list_dict_checker:unclear", f"{parameter}: no alternative to compare with")
    for alternative in possible:
        if len(value) != len(alternative):
            wrong = _Wrong("value_error:list_dict_count", f"{parameter}: found {len(value)} objects")
            continue
        try:
            for item, expected in zip(value, alternative, strict=True):
                _check_dict(parameter, item, [expected])
        except _Wrong as error:
            wrong = error
            continue
        return
    raise wrong


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
