"""How a template shows a tool's result: under which role, as text, as an object, or with the tool's name.

find_results(prober)              # (shown, what is wrong: "", "literal", "refused" or "dropped")
"""

from __future__ import annotations

from dataclasses import replace

from fcb_toolkit.rendering.material import (
    NAME,
    RESULT,
    RESULT_JSON,
    RESULT_ROLES,
    SIMPLE,
    USER,
    call_message,
    result_message,
)
from fcb_toolkit.rendering.prober import Prober
from fcb_toolkit.rendering.shapes import Shape
from fcb_toolkit.rendering.turns import MARK


def find_results(prober: Prober) -> tuple[bool, str]:
    """Sets the shape of tool results; (shown, what is wrong with them)."""
    fault = ""
    for role in RESULT_ROLES:
        found = _results_as(prober, replace(prober.shape, result_role=role))
        if found is not None:
            return True, fault or found
        refused = _result(prober, replace(prober.shape, result_role=role), RESULT) is None
        fault = fault or ("refused" if refused else "dropped")
    prober.shape = replace(prober.shape, results="user")
    return False, fault


def _result(prober: Prober, shape: Shape, content: str) -> str | None:
    after_call = prober.attempt([USER, call_message(SIMPLE), result_message(content)], shape=shape)
    if after_call is not None:
        return after_call
    # The call may be what is refused: calls can be written into the content, results are still wanted.
    return prober.attempt(
        [USER, {"role": "assistant", "content": MARK}, result_message(content)], shape=shape
    )


def _results_as(prober: Prober, shape: Shape) -> str | None:
    """What is wrong with results under this role ("" nothing); None where they are not shown."""
    as_text = _result(prober, shape, RESULT_JSON)
    verbatim = as_text is not None and RESULT_JSON in as_text
    named = _result(prober, replace(shape, results="named"), RESULT_JSON)
    if named and _named_result(named) and not (verbatim and _tells_name(as_text)):
        prober.shape = replace(shape, results="named")
        return ""
    if verbatim:
        prober.shape = shape
        return ""
    as_object = _result(prober, replace(shape, results="object"), RESULT_JSON)
    if as_object is not None and RESULT_JSON in as_object:
        prober.shape = replace(shape, results="object")
        return "literal"
    simple = _result(prober, shape, RESULT)
    if simple is not None and RESULT in simple:
        prober.shape = shape
        return "literal"
    return None


def _named_result(text: str) -> bool:
    """A {name, response} result came out unwrapped: name and values there, its own keys not."""
    tail = text[text.rfind(NAME) :]
    return (
        "21" in tail and '"response"' not in text and "'response'" not in text and NAME in text[-len(tail) :]
    )


def _tells_name(text: str | None) -> bool:
    return text is not None and text.count(NAME) > 1
