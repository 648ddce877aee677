"""Reading a program before it runs: rewriting keeps its meaning, and the lists fit the installed sandbox."""

import builtins
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcb_toolkit.execution import execute, monty, prelude
from fcb_toolkit.execution.program import read
from fcb_toolkit.execution.sandbox_lacks import MONTY_LACKS, MONTY_MODULES


def test_a_program_without_anything_special_is_not_rewritten():
    code = "x = f(1)   # spaces and comments stay\n"
    assert read(code, "t", {"f"}).source == code


def test_a_generator_expression_becomes_lazy():
    assert read("x = any(f(i) for i in y)", "t", {"f", "y"}).source == (
        "x = any(t_lazy(y, lambda t_item: [f(i) for i in [t_item]], False))"
    )


@pytest.mark.parametrize(
    "code",
    [
        "-" * 100_000 + "1",
        "a" + ".b" * 50_000,
        "(" * 150 + "1" + ")" * 150,
        "x = " * 40_000 + "1",
        "f" + "()" * 50_000,
    ],
)
def test_nesting_without_end_neither_raises_nor_hangs(code):
    program = read(code, "t", ())
    assert program.lacks or program.source or program.syntax


def test_a_program_over_the_size_limit_is_refused():
    assert execute("x = 1\n" * 100_000).error.code == "memory"


numbers = st.lists(st.integers(-5, 5), max_size=6)
ELEMENTS = ["i", "i * 2", "(i, -i)", "str(i)"]
CONDITIONS = ["", " if i > 0", " if i % 2 if i != 3"]
CONSUMERS = [
    "list({g})",
    "tuple({g})",
    "set({g})",
    "sorted({g}, key=repr)",
    "[*{g}]",
    "len(list({g}))",
    "next({g}, None)",
]


@settings(max_examples=80, deadline=None)
@given(
    values=numbers,
    element=st.sampled_from(ELEMENTS),
    condition=st.sampled_from(CONDITIONS),
    consumer=st.sampled_from(CONSUMERS),
    nested=st.booleans(),
)
def test_rewritten_generator_expressions_mean_the_same(values, element, condition, consumer, nested):
    second = " for j in (i, i + 1)" if nested else ""
    code = f"x = {consumer.format(g=f'({element} for i in {values}{condition}{second})')}"
    expected: dict = {}
    exec(code, expected)  # our own text, made above
    assert execute(code).variables == {"x": expected["x"]}


@settings(max_examples=40, deadline=None)
@given(values=numbers, stop=st.integers(0, 6))
def test_lazy_builtins_stop_where_python_stops(values, stop):
    code = (
        "seen = []\n"
        "def look(v):\n    seen.append(v)\n    return v > 0\n"
        f"for n, (a, b) in enumerate(zip(filter(look, {values}), map(str, {values}))):\n"
        f"    if n >= {stop}:\n        break\n"
    )
    expected: dict = {}
    exec(code, expected)  # our own text, made above
    assert execute(code).variables["seen"] == expected["seen"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = [1, 2, 3]\ndel x[0], x[-1]", {"x": [2]}),
        ("x = [1, 2, 3, 4]\ndel x[1:3]", {"x": [1, 4]}),
        ("x = {'a': 1}\ndel x['a']", {"x": {}}),
        ("a = b = 1\ndel (a)", {"b": 1}),
        ("class A(object):\n    n = 1\nx = A().n", {"x": 1}),
        (
            "x = [round(2.675, 2), round(2.5), round(0.125, 2), round(15, -1), round(1e300, 2)]",
            {"x": [2.67, 2, 0.12, 20, 1e300]},
        ),
        (
            "x = [callable(len), callable(lambda: 1), callable(int), callable(1), callable('a')]",
            {"x": [True, True, True, False, False]},
        ),
        ("x = [hasattr(1, 'nope'), hasattr({}, '__nope__')]", {"x": [False, False]}),
        ("import builtins\nx = builtins.len([1])", {"x": 1}),
        ("x = __import__('math').floor(1.5)", {"x": 1}),
        ("try:\n    1 / 0\nexcept Exception as e:\n    x = e.__class__.__name__", {"x": "ZeroDivisionError"}),
    ],
)
def test_what_the_sandbox_has_otherwise_means_the_same(code, expected):
    ran = execute(code)
    assert ran.executor == "monty" and ran.variables == expected


@pytest.mark.parametrize(
    "code",
    [
        "import re\nx = re.sub('a', lambda m: 'b', 'a')",
        "class A:\n    def __lt__(self, other):\n        return True\nx = sorted([A(), A()])",
        "from math import *",
        "x = hasattr('a', 'upper')",
        "raise ValueError(404)",
        "x = (1).real",
        "import statistics",
    ],
)
def test_what_the_sandbox_does_otherwise_is_not_run_there(code):
    assert execute(code).executor == ""
    assert execute(code, allow_subprocess=True).executor == "subprocess"


def test_the_list_of_missing_builtins_is_that_of_the_installed_sandbox():
    newer = {"PythonFinalizationError", "_IncompleteInputError"}
    unused = {"__loader__", "__spec__", "__debug__", "__package__"}
    known = set(dir(builtins)) - prelude.PRELUDE_NAMES - unused - newer - {"input"}
    missing = {name for name in known if _fails(f"x = {name} is None", "NameError")}
    assert missing == (MONTY_LACKS & known)


def test_the_list_of_modules_is_that_of_the_installed_sandbox():
    names = sys.stdlib_module_names
    present = {name for name in names if not _fails(f"import {name}", "ModuleNotFoundError")}
    assert present | {"__future__"} == MONTY_MODULES


def _fails(code: str, kind: str) -> bool:
    """Whether the bare sandbox, without our reading of the program, raises this."""
    import pydantic_monty

    with monty._pool().checkout() as session:
        try:
            session.feed_run(code)
        except pydantic_monty.MontyError as error:
            return str(error).startswith(kind)
    return False
