"""The metrics by name, and a metric of your own.

@fcb.metric                                     # in a notebook cell; from now on a name like the others
def polite(case, answer):
    return "요" in (answer.parse.content or "")   # bool, (bool, reason), Verdict, or None: not scored

fcb.rescore(run, "polite")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, overload

from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.answers import answer as make_answer

Function = Callable[[Case, Answer], Verdict]
UserFunction = Callable[[Case, Answer], "bool | tuple[bool, str] | Verdict | None"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A question asked of a reply. `applies` says to which cases; for the others it is `not_scored`."""

    name: str
    function: Function
    applies: Callable[[Case], bool]
    doc: str
    asks_of: str = "every case"
    """What `applies` accepts, in words, for the reason of a verdict that was not scored."""


def _in_module(module: str, name: str) -> Function:
    """The function, imported when it is first called: `import fcb_toolkit.scoring` stays quick."""

    function: Function | None = None

    def call(case: Case, answer: Answer) -> Verdict:
        nonlocal function
        if function is None:
            function = getattr(import_module(f"fcb_toolkit.scoring.{module}"), name)
        return function(case, answer)

    call.__name__ = name
    return call


def _is(*types: str) -> Callable[[Case], bool]:
    return lambda case: case.type_of_output in types


def _always(case: Case) -> bool:
    return True


_CALL = (_is("call"), "cases that want a call")
_TEXT = (_is("completion", "slot", "relevance"), "cases whose gold is text")
_RELEVANCE = (_is("relevance"), "relevance cases")
_CODE = (_is("code"), "code cases")
_CHAT = (lambda case: case.type_of_output != "code", "cases that want a call or text")
_TOOLS = (lambda case: bool(case.tools), "cases with tools")

# name, module, (applies, in words), doc
_BUILTINS: tuple[tuple[str, str, tuple[Callable[[Case], bool], str], str], ...] = (
    ("functionchat_exact", "functionchat_exact", _CHAT, "the official exact stage, fault for fault"),
    ("call_match", "call_match", _CALL, "are the calls right (ours)"),
    ("schema_valid", "schema_valid", _TOOLS, "does each call fit the JSON Schema of an offered tool"),
    ("decision", "decision", _CHAT, "was the right kind of thing done: call, ask, decline or answer"),
    (
        "completion",
        "completion",
        (_is("completion"), "completion cases"),
        "a whole answer, in words and Korean",
    ),
    ("slot", "slot", (_is("slot"), "slot cases"), "is all that is missing asked for, and nothing else"),
    ("relevance", "relevance", _RELEVANCE, "no call, and no claim to have done what no tool can do"),
    ("reject", "reject", _RELEVANCE, "is the request declined in words"),
    ("text_exact", "text_match", _TEXT, "the same string as the gold text"),
    ("text_any", "text_match", _TEXT, "equal to one of the candidates"),
    ("text_close", "text_close", _TEXT, "close in meaning to one of the candidates"),
    ("dpab", "dpab", _CODE, "the program's traced calls and values"),
    ("dpab_official", "dpab", _CODE, "the official DPAB score of the program"),
    ("dpab_strict_official", "dpab", _CODE, "the official strict DPAB score of the program"),
    ("bfcl_ast", "bfcl_ast", _CALL, "Berkeley's AST checker on the same call"),
    ("rubric", "verdicts", _CHAT, "a judge's verdict, exact stage first; see `fcb judge`"),
)

METRICS: dict[str, Metric] = {
    name: Metric(name, _in_module(module, name), applies, doc, asks_of)
    for name, module, (applies, asks_of), doc in _BUILTINS
}
"""A literal dict; `@fcb.metric` adds to it at run time."""

_DEFAULT = {"call": "call_match", "completion": "completion", "slot": "slot", "code": "dpab"}


def default_metric(case: Case) -> str:
    """The metric that a case is judged by unless you say otherwise."""
    if case.type_of_output == "relevance":
        return "reject" if case.category == "reject" else "relevance"
    return _DEFAULT.get(case.type_of_output, "call_match")


def metric_name(which: str | Metric | Callable[..., Any]) -> str:
    """The name of a metric given by name, as a `Metric` or as a function; a new function is added.

    Raises `UnknownName`.
    """
    if isinstance(which, str):
        if which not in METRICS:
            raise UnknownName("metric", which, METRICS)
        return which
    if isinstance(which, Metric):
        METRICS.setdefault(which.name, which)
        return which.name
    name = getattr(which, "metric_name", None)
    if name is None or name not in METRICS:
        # Not looked up by its own name: a function defined again in a notebook is another function.
        metric(which)
    made: Any = which
    return str(made.metric_name)


def score(case: Case, reply: Any, metric: str | Metric | Callable[..., Any] = "") -> Verdict:
    """The verdict of a metric (default: the case's own) on one reply.

    reply: raw text, an OpenAI-style assistant message, an `Answer`, or None.
    Never raises on what a model said; raises `UnknownName` for a metric that does not exist.
    """
    name = metric_name(metric or default_metric(case))
    return score_answer(case, make_answer(reply, tools=case.tools), name)


def score_answer(case: Case, answer: Answer, name: str) -> Verdict:
    """As `score`, for an answer that is parsed already: parse once, score by many metrics."""
    chosen = METRICS.get(name)
    if chosen is None:
        raise UnknownName("metric", name, METRICS)
    try:
        if not chosen.applies(case):
            what = case.type_of_output or "no type"
            return Verdict(
                _NOT_SCORED, None, f"{name} asks of {chosen.asks_of}, found a case of type {what!r}", name
            )
        verdict = chosen.function(case, answer)
    except Exception as error:
        return Verdict(_NOT_SCORED, None, f"metric crashed: {type(error).__name__}: {str(error)[:300]}", name)
    if verdict.metric == name:
        return verdict
    # Not dataclasses.replace: this line runs once per reply and metric.
    return Verdict(verdict.outcome, verdict.failure, verdict.reason, name, verdict.details)


_NOT_SCORED = Verdict.not_scored("").outcome


@overload
def metric(function: UserFunction, /) -> UserFunction: ...


@overload
def metric(
    *, name: str = "", applies: Callable[[Case], bool] | None = None
) -> Callable[[UserFunction], UserFunction]: ...


def metric(
    function: UserFunction | None = None,
    /,
    *,
    name: str = "",
    applies: Callable[[Case], bool] | None = None,
) -> Any:
    """Makes a function of (case, answer) a metric, under its own name or `name`.

    It may return a bool, (bool, reason), a `Verdict`, or None for not scored. `applies` says which
    cases it is asked of (default: all). The function is given back, so it can still be called. Defining
    it again, as one does in a notebook, replaces it; a built-in name raises `DataError`.
    """

    def add(user: UserFunction) -> UserFunction:
        chosen = name or user.__name__.strip("<>")
        if chosen in _BUILTIN:
            raise DataError(f"metric {chosen!r} is built in; give yours another name: @fcb.metric(name=...)")
        doc = (user.__doc__ or "a metric of your own").strip().splitlines()[0]
        METRICS[chosen] = Metric(
            chosen, _verdicts_of(user), applies or _always, doc, "the cases it applies to"
        )
        user.metric_name = chosen  # type: ignore[attr-defined]
        return user

    return add if function is None else add(function)


_BUILTIN = frozenset(METRICS)


def _verdicts_of(user: UserFunction) -> Function:
    def function(case: Case, answer: Answer) -> Verdict:
        result = user(case, answer)
        if isinstance(result, Verdict):
            return result
        if result is None:
            return Verdict.not_scored("the metric gave None")
        passed, reason = result if isinstance(result, tuple) and len(result) == 2 else (result, "")
        if type(passed).__name__ not in ("bool", "bool_"):
            # A score of 0.5 or the text "no" is true in Python; neither is a pass.
            raise TypeError(
                f"it gave {str(result)[:60]!r}, expected True, False, (bool, reason), a Verdict or None"
            )
        if passed:
            return Verdict.passed(reason)
        return Verdict.failed(_user_kind(case), reason or "the metric gave False")

    return function


def _user_kind(case: Case) -> FailureKind:
    """A bool says no more than that the answer is wrong: return a Verdict to say how."""
    return FailureKind.WRONG_VALUE if case.type_of_output == "call" else FailureKind.UNFAITHFUL_ANSWER
