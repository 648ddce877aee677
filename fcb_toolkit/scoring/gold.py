"""What a right answer is, read from every shape that the benchmarks have, in one place.

    read_gold({"name": "get_weather", "arguments": "{\\"city\\": \\"부산\\"}"}, '{"city": ["Busan"]}')
    -> Gold((GoldCall("get_weather", {"city": GoldArgument(("부산", "Busan"))}),))

`ground_truth`: a call, a message with `tool_calls`, or a list of calls, with the arguments as a JSON
string or as an object; or the form of our own gold, `{"any_of": [...], "optional": bool}` a parameter.
`acceptable_arguments`: null, an object, a JSON string of one (even encoded twice), or a sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import kind_of, loads

_ONLY_TRUTH = re.compile(r"only (?:the )?ground[ -]?truth (?:is |are )?(?:allowed|accepted)\W*", re.I)
_ONLY_FORMAT = re.compile(r"only .{1,60}\bformat\b.{0,20}\b(?:allowed|accepted)\W*", re.I)
_KEYWORDS = re.compile(r"the keywords? (.{1,200}) must (?:both |all )?be included\W*", re.I)
_QUOTED = re.compile(r"['‘\"“]([^'’\"”]+)['’\"”]")


@dataclass(frozen=True, slots=True)
class GoldArgument:
    """What is right for one parameter: the first of `any_of` is the ground truth itself."""

    any_of: tuple[Any, ...]
    optional: bool = False
    exact: bool = False
    """Strings count as they are (a sentence in the data says so); Unicode form is still normalised."""
    keywords: tuple[str, ...] = ()
    """A string that holds all of these is right too."""
    rule: str = ""
    """The data's own sentence about this parameter."""


@dataclass(frozen=True, slots=True)
class GoldCall:
    name: str
    arguments: Mapping[str, GoldArgument] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gold:
    calls: tuple[GoldCall, ...]
    rule: str = ""
    """The data's own sentence about the whole call."""
    unread: bool = False
    """The alternatives are there and could not be read: only the ground truth counts."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`acceptable_arguments` as read: values per parameter, or a sentence."""

    values: Mapping[str, Any] = field(default_factory=dict)
    rule: str = ""
    exact: bool = False
    unread: bool = False


def read_gold(ground_truth: Any, acceptable_arguments: Any = None) -> Gold:
    """The gold calls with their alternatives. Raises `DataError` if the ground truth is no call."""
    if acceptable_arguments is None or isinstance(acceptable_arguments, str):
        plain = _plain_calls(ground_truth)
        if plain is not None:
            return _read_plain(plain, acceptable_arguments)
    return _read([read_call(item) for item in _call_items(ground_truth)], acceptable_arguments)


def _plain_calls(truth: Any) -> tuple[tuple[str, str], ...] | None:
    """(name, arguments text) of each call, where the gold is in the official form: strings make a key."""
    if type(truth) is not dict:
        return None
    items = truth.get("tool_calls", truth)
    calls = []
    for item in items if type(items) is list else [items]:
        function = item.get("function", item) if type(item) is dict else None
        if type(function) is not dict:
            return None
        name, arguments = function.get("name"), function.get("arguments")
        if type(name) is not str or type(arguments) is not str:
            return None
        calls.append((name, arguments))
    return tuple(calls)


@lru_cache(maxsize=4096)
def _read_plain(calls: tuple[tuple[str, str], ...], acceptable: str | None) -> Gold:
    return _read([read_call({"name": name, "arguments": text}) for name, text in calls], acceptable)


def _read(calls: list[GoldCall], acceptable: Any) -> Gold:
    alternatives = read_alternatives(acceptable)
    if alternatives.values and calls:
        # The data has one set of alternatives; it belongs to the first call.
        calls[0] = _with_alternatives(calls[0], alternatives.values)
    if alternatives.exact:
        calls = [_all_exact(call) for call in calls]
    return Gold(tuple(calls), alternatives.rule, alternatives.unread)


def _call_items(truth: Any) -> Sequence[Any]:
    if isinstance(truth, str):
        truth = _loads(truth)
    if isinstance(truth, Mapping) and "tool_calls" in truth:
        truth = truth["tool_calls"] or []
    if isinstance(truth, Mapping):
        return [truth]
    if isinstance(truth, Sequence) and not isinstance(truth, str):
        return truth
    raise DataError(
        f"ground_truth: found {kind_of(truth)}, expected a call such as "
        '{"name": "get_weather", "arguments": "{}"}, or a message with tool_calls'
    )


def read_call(item: Any) -> GoldCall:
    """One gold call, in the official form or in ours. Raises `DataError`."""
    if isinstance(item, GoldCall):
        return item
    function = item.get("function", item) if isinstance(item, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise DataError('ground_truth: a call has no name; expected {"name": ..., "arguments": ...}')
    name = function["name"]
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        arguments = _loads(arguments) if arguments.strip() else {}
    elif fault := _no_json(arguments):
        raise DataError(f"ground_truth: the arguments of {name!r} are no JSON value: {fault}")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise DataError(
            f"ground_truth: the arguments of {name!r} are {kind_of(arguments)}, expected a JSON object"
        )
    return GoldCall(name, {key: _argument(value) for key, value in arguments.items()})


def _no_json(value: Any) -> str:
    """Why this value from memory equals nothing, or would be compared without end; "" for plain data."""
    try:
        json.dumps(value, allow_nan=False, skipkeys=True, default=str)
    except ValueError as error:  # NaN, Infinity, an object that holds itself
        return str(error)
    except RecursionError:
        return ""
    return ""


def _argument(value: Any) -> GoldArgument:
    if isinstance(value, GoldArgument):
        return value
    if isinstance(value, Mapping) and value and value.keys() <= {"any_of", "optional"} and "any_of" in value:
        any_of = value["any_of"]
        if isinstance(any_of, (list, tuple)):
            return GoldArgument(tuple(any_of), bool(value.get("optional", False)))
    return GoldArgument((value,))


def read_alternatives(acceptable: Any) -> Alternatives:
    """`acceptable_arguments` in any of its shapes; never raises.

    A sentence is a rule and not a value: "Only ground truth is allowed." makes every string exact,
    any other sentence leaves the ground truth alone (`unread` unless it is one that is known).
    """
    if isinstance(acceptable, str):
        return _alternatives_of_text(acceptable)
    return _alternatives_of_value(acceptable)


@lru_cache(maxsize=4096)
def _alternatives_of_text(text: str) -> Alternatives:
    value: Any = text
    for _ in range(2):
        try:
            value = _loads(value)
        except DataError:
            break
        if not isinstance(value, str):
            return _alternatives_of_value(value)
    sentence = str(value).strip()
    if not sentence:
        return Alternatives()
    exact = _ONLY_TRUTH.fullmatch(sentence) is not None
    known = exact or _ONLY_FORMAT.fullmatch(sentence) is not None or _about_dates(sentence)
    return Alternatives(rule=sentence, exact=exact, unread=not known)


def _about_dates(sentence: str) -> bool:
    """The two rules of the data that forbid a year or a day that the user didn't say: truth only."""
    text = sentence.lower()
    return ("should not be" in text and "date" in text) or ("will fail if" in text and "year" in text)


def _alternatives_of_value(value: Any) -> Alternatives:
    if value is None:
        return Alternatives()
    if fault := _no_json(value):
        return Alternatives(rule=f"alternatives that are no JSON value: {fault}", unread=True)
    if isinstance(value, Mapping):
        return Alternatives(dict(value))
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        merged: dict[str, list[Any]] = {}
        for item in value:
            for key, alternative in item.items():
                merged.setdefault(key, []).extend(
                    alternative if isinstance(alternative, list) else [alternative]
                )
        return Alternatives(merged)
    if value == [] or value == "":
        return Alternatives()
    return Alternatives(rule=json.dumps(value, ensure_ascii=False, default=str), unread=True)


def _with_alternatives(call: GoldCall, values: Mapping[str, Any]) -> GoldCall:
    arguments = dict(call.arguments)
    for key, value in values.items():
        known = arguments.get(key)
        if known is None:
            # An alternative for a parameter that the truth leaves out: it may be given, with that value.
            extra = _alternative(GoldArgument((), optional=True), value)
            if extra.any_of:
                arguments[key] = extra
        else:
            arguments[key] = _alternative(known, value)
    return GoldCall(call.name, arguments)


def is_sentence(value: str) -> bool:
    """Whether an alternative is a rule in words ("Only YYYY-MM-DD format is allowed."), not a value."""
    rules = (_ONLY_TRUTH, _ONLY_FORMAT, _KEYWORDS)
    return any(rule.fullmatch(value.strip()) for rule in rules)


def _alternative(argument: GoldArgument, value: Any) -> GoldArgument:
    if isinstance(value, str):
        sentence = value.strip()
        if _ONLY_TRUTH.fullmatch(sentence) or _ONLY_FORMAT.fullmatch(sentence):
            return replace(argument, exact=True, rule=sentence)
        keywords = _KEYWORDS.fullmatch(sentence)
        if keywords and (words := tuple(_QUOTED.findall(keywords.group(1)))):
            return replace(argument, keywords=words, rule=sentence)
    return replace(argument, any_of=(*argument.any_of, *_values(argument, value)))


def _values(argument: GoldArgument, value: Any) -> tuple[Any, ...]:
    """A list holds alternatives; for a parameter that is itself a list, it does only if it holds lists."""
    if not isinstance(value, list):
        return (value,)
    truth_is_list = bool(argument.any_of) and isinstance(argument.any_of[0], list)
    if truth_is_list and not (value and all(isinstance(item, list) for item in value)):
        return (value,)
    return tuple(value)


def _all_exact(call: GoldCall) -> GoldCall:
    return GoldCall(call.name, {key: replace(item, exact=True) for key, item in call.arguments.items()})


def _loads(text: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"ground_truth: not JSON: {error}; found {text[:80]!r}") from None
