"""170 small programs in both executors: the sandbox says what CPython says, or that it cannot run them."""

from pathlib import Path

import pytest

from fcb_toolkit.execution import ExecutionOptions, Opaque, cpython, execute
from fcb_toolkit.execution.mocks import read
from fcb_toolkit.execution.program import Program

MOCKS = """
def f(x, y=0):
    return x
def rows(n):
    return [{"id": i, "name": "n%d" % i, "score": i * 1.5} for i in range(n)]
def fail(msg):
    raise ValueError(msg)
"""
PROGRAMS = Path(__file__).with_name("programs.txt").read_text("utf-8").rstrip("\n").split("\n---\n")
KNOWN = {
    "deque": "a deque is read out as a list, and a named tuple has no _asdict",
    "fs = [lambda": "a function inside a list is read out as its text",
    "x = f((i for i": "a generator given to a mock shows another text",
    "x = str(zip(": "the lazy builtins have other type names",
}
"""Start or part of a program -> the difference that is known."""


def labelled(value):
    """Without what differs from process to process: the text of values that stay inside."""
    if isinstance(value, Opaque):
        return "opaque"
    if isinstance(value, dict):
        return {str(key): labelled(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(labelled(part) for part in value)
    return repr(value) if isinstance(value, (set, frozenset)) and len(value) < 2 else value


def summary(ran):
    calls = [(call.name, call.arguments) for call in ran.calls]
    return calls, labelled(dict(ran.variables)), ran.stdout, ran.error.code if ran.error else None


@pytest.mark.slow
@pytest.mark.parametrize("code", PROGRAMS)
def test_the_sandbox_agrees_with_cpython_or_declines(code):
    if any(start in code for start in KNOWN):
        pytest.skip(next(why for start, why in KNOWN.items() if start in code))
    here = execute(code, MOCKS)
    if here.executor == "":
        return
    there = cpython.run(Program(code, code), read(MOCKS), ExecutionOptions(), {})
    found, expected = summary(here), summary(there)
    assert found == expected or repr(found) == repr(expected)  # nan is not equal to itself


def test_most_programs_run_in_the_sandbox():
    declined = [code for code in PROGRAMS if execute(code, MOCKS).executor == ""]
    assert len(PROGRAMS) > 150 and len(declined) < 0.15 * len(PROGRAMS)
