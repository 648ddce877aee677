"""Why `dpab` and the official strict verdict differ on a reply: one code from a closed list.

    disagreement(case, text, ours, official) -> "call_never_ran"
    REASONS["call_never_ran"]  -> "the official tool reads calls off the source; this one never ran"

"" where they agree, or where either gave no verdict.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from fcb_toolkit.execution.mocks import parse_quietly
from fcb_toolkit.parsers.code import extract_code
from fcb_toolkit.records import Case, Outcome, Verdict
from fcb_toolkit.scoring.dpab_official import OfficialError, reading
from fcb_toolkit.scoring.dpab_official import extract_code as official_code

REASONS: Mapping[str, str] = {
    # Official fail, ours pass.
    "target_without_name": "the official tool raises on a call assigned to an item, attribute or tuple",
    "json_not_escaped": "the official tool pastes strings into code without escaping them",
    "json_form": "the official tool reads one form of a JSON list only",
    "block_not_read": "the official tool reads blocks labelled `python` only, and reads all of those",
    "restricted_name": "the official tool refuses a program for a name, whatever it is",
    "call_not_recorded": "the call ran, but not in a form that the official tool takes note of",
    "main_block": "the official tool does not run an `if __name__ == '__main__'` block",
    "hidden_variable": "the official tool leaves out variables named like its own or with two underscores",
    "value_in_container": "the value stands in a list, dict or object that the program built",
    "float_tolerance": "floats inside lists and objects are compared with a tolerance",
    # Official pass, ours fail.
    "call_never_ran": "the official tool reads calls off the source; this one never ran",
    "call_raised": "the call raised or did not fit the signature",
    "called_too_few_times": "the checklist has the function several times; the official tool counts presence",
    "loose_equality": "the official tool takes 1 for True and 0 for False",
    "stopped": "the program was stopped: time, memory or something forbidden",
    "reply_read_otherwise": "ours reads another program out of the reply",
    "other": "none of these",
}


def disagreement(case: Case, text: str, ours: Verdict, official: Verdict) -> str:
    """`official` is the strict verdict; `text` is the reply."""
    if Outcome.NOT_SCORED in (ours.outcome, official.outcome) or ours.outcome == official.outcome:
        return ""
    mode = str(case.task["mode"])
    if ours.outcome == Outcome.PASS:
        return _too_strict(text, mode, ours, official)
    return _too_loose(text, mode, ours)


def _too_strict(text: str, mode: str, ours: Verdict, official: Verdict) -> str:
    exception = str(official.details.get("exception") or "")
    if "has no attribute 'id'" in exception and mode == "pythonic":
        return "target_without_name"
    if mode == "json":
        if exception:
            return "json_not_escaped" if exception.startswith("SyntaxError") else "json_form"
        return "json_not_escaped" if "\\" in text else _held_otherwise(text, mode, ours) or "other"
    if "NotAllowedError" in str(official.details.get("exec_error")):
        return "restricted_name"
    if official_code(text).strip() != extract_code(text).strip():
        return "block_not_read"
    if official.details.get("functions_missing"):
        return "call_not_recorded"
    if "__name__" in text:
        return "main_block"
    return _held_otherwise(text, mode, ours) or "other"


def _held_otherwise(text: str, mode: str, ours: Verdict) -> str:
    """Why a value that ours found is not one for the official tool."""
    places = [str(value["where"]) for value in ours.details.get("values", ())]
    if any(not place.isidentifier() for place in places):
        return "value_in_container"
    if any(place.startswith("__") or place in _names_of_mocks(text, mode) for place in places):
        return "hidden_variable"
    values = [value["value"] for value in ours.details.get("values", ())]
    if any(isinstance(value, (list, dict)) and "." in repr(value) for value in values):
        return "float_tolerance"
    return ""


def _names_of_mocks(text: str, mode: str) -> set[str]:
    """Names that the program both calls or imports by default, and assigns."""
    try:
        tree = parse_quietly(reading(text, mode).code)
    except (OfficialError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return called | {"List", "Dict", "Any", "Union", "Tuple", "Callable", "Optional"}


def _too_loose(text: str, mode: str, ours: Verdict) -> str:
    statuses = {entry["status"] for entry in ours.details.get("functions", ())}
    error = str(ours.details.get("error") or "")
    if error.startswith(("blocked", "timeout", "memory")):
        return "stopped"
    if mode == "pythonic" and official_code(text).strip() != extract_code(text).strip():
        return "reply_read_otherwise"
    if not ours.details.get("executor"):
        return "reply_read_otherwise"
    if statuses & {"raised", "rejected"}:
        return "call_raised"
    if "missing" in statuses:
        return "call_never_ran"
    if "too_few" in statuses:
        return "called_too_few_times"
    if any(value["status"] != "found" for value in ours.details.get("values", ())):
        return "loose_equality"
    return "other"
