"""Berkeley's AST checker for Python calls, rule by rule and fault for fault; see `bfcl_ast`.

check(functions, [{"f": {"p": 6}}], [{"f": {"p": [5]}}], "simple_python", False)
-> raises Wrong("value_error:others", "p: expected one of [5], found 6")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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


class Wrong(Exception):
    """The checker's answer is no: `error_type` in Berkeley's words."""

    def __init__(self, error_type: str, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type


def check(functions: Any, output: Any, answers: Any, category: str, dots: bool) -> None:
    """Returns where the checker accepts; raises `Wrong` where it refuses, and anything else where it crashes."""
    if "parallel" in category:
        _check_parallel(functions, output, answers, dots)
    elif "multiple" in category:
        if len(output) != len(answers):
            raise Wrong(
                "multiple_function_checker:wrong_count", f"expected {len(answers)}, found {len(output)}"
            )
        doc = _find(functions, next(iter(answers[0])))
        _check_call(doc, output[0], answers[0], dots)
    else:
        if len(output) != 1:
            raise Wrong("simple_function_checker:wrong_count", f"expected 1 call, found {len(output)}")
        _check_call(functions[0], output[0], answers[0], dots)


def _find(functions: Any, name: str) -> Any:
    return next((function for function in functions if function["name"] == name), None)


def _check_parallel(functions: Any, output: Any, answers: Any, dots: bool) -> None:
    if len(output) != len(answers):
        raise Wrong(
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
            except Wrong:
                continue
            taken.add(index)
            break
        else:
            raise Wrong(
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
        raise Wrong("simple_function_checker:wrong_func_name", f"expected a call of {name}")
    given = call[name]
    for parameter in required:
        if parameter not in given:
            raise Wrong(
                "simple_function_checker:missing_required", f"{parameter}: expected it, found nothing"
            )
    for parameter, value in given.items():
        if parameter not in properties or parameter not in possible:
            raise Wrong("simple_function_checker:unexpected_param", f"{parameter}: expected no such argument")
        _check_value(parameter, value, possible[parameter], properties[parameter])
    for parameter, alternatives in possible.items():
        if parameter not in given and "" not in alternatives:
            raise Wrong(
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
        raise Wrong(
            "value_error:others", f"{parameter}: expected one of {possible!r:.150}, found {value!r:.100}"
        )


def _check_type(parameter: str, value: Any, possible: Any, expected: type, nested: type | None) -> bool:
    """Whether the value is taken for a variable's name: then it is compared as it is."""
    answered = next((type(item) for item in possible if item != ""), None)
    if type(value) is expected:
        if nested is None or any(_items_fit(value, item, nested) for item in possible):
            return answered is not None and answered is not expected
        if type(value) is not answered:
            raise Wrong("type_error:simple", f"{parameter}: no alternative has this type")
        raise Wrong("type_error:nested", f"{parameter}: expected items of type {nested.__name__}")
    if answered is not None and type(value) is answered:
        return True
    raise Wrong(
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
        raise Wrong(
            "value_error:string", f"{parameter}: expected one of {possible!r:.150}, found {value!r:.100}"
        )


def _check_list(parameter: str, value: Any, possible: Any) -> None:
    if [_standard(item) for item in value] not in [[_standard(item) for item in one] for one in possible]:
        raise Wrong(
            "value_error:list/tuple", f"{parameter}: expected one of {possible!r:.150}, found {value!r:.100}"
        )


def _check_dict(parameter: str, value: Mapping[str, Any], possible: Any) -> None:
    wrong = Wrong("dict_checker:unclear", f"{parameter}: no alternative to compare with")
    for alternative in possible:
        if alternative == "":
            continue
        found = _dict_fault(parameter, value, alternative)
        if found is None:
            return
        wrong = found
    raise wrong


def _dict_fault(parameter: str, value: Mapping[str, Any], alternative: Mapping[str, Any]) -> Wrong | None:
    fault = None
    for key, item in value.items():
        if key not in alternative:
            fault = Wrong("value_error:dict_key", f"{parameter}: expected no key {key!r}")
            break
        if _standard(item) not in [_standard(one) for one in alternative[key]]:
            fault = Wrong("value_error:dict_value", f"{parameter}.{key}: found {item!r:.100}")
            break
    for key, items in alternative.items():
        if key not in value and "" not in items:
            return Wrong("value_error:dict_key", f"{parameter}: the key {key!r} is missing")
    return fault


def _check_dicts(parameter: str, value: Any, possible: Any) -> None:
    wrong = Wrong("list_dict_checker:unclear", f"{parameter}: no alternative to compare with")
    for alternative in possible:
        if len(value) != len(alternative):
            wrong = Wrong("value_error:list_dict_count", f"{parameter}: found {len(value)} objects")
            continue
        try:
            for item, expected in zip(value, alternative, strict=True):
                _check_dict(parameter, item, [expected])
        except Wrong as error:
            wrong = error
            continue
        return
    raise wrong
