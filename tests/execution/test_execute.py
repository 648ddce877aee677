"""What `execute` says a program did."""

import math

import pytest

from fcb_toolkit import execution
from fcb_toolkit.errors import DataError
from fcb_toolkit.execution import Opaque, execute

MOCKS = """
def price(day: int) -> int:
    if day < 0:
        raise ValueError("no such day")
    return 1000 * day

def twice(day: int) -> int:
    return price(day) + price(day)

def sort(numbers: list) -> list:
    numbers.sort()
    return numbers

def send(to, text="-", *, urgent=False, **more):
    return f"{to}:{text}:{urgent}"
"""


def calls(ran):
    return [(call.name, call.arguments) for call in ran.calls]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("price(1)", [("price", {"day": 1})]),
        ("x = [price(d) for d in (1, 2)]", [("price", {"day": 1}), ("price", {"day": 2})]),
        ("f = price\nx = f(day=3)", [("price", {"day": 3})]),
        ("def helper():\n    return price(4)\nhelper()", [("price", {"day": 4})]),
        ("x = f'{price(5)}'", [("price", {"day": 5})]),
        ("x = sorted([3, 1], key=lambda d: price(d))", [("price", {"day": 3}), ("price", {"day": 1})]),
        ("x = list(map(price, [1, 2]))", [("price", {"day": 1}), ("price", {"day": 2})]),
        ("x = any(price(d) for d in [0, 1, 2])", [("price", {"day": 0}), ("price", {"day": 1})]),
        ("x = next(filter(price, [0, 1, 2]))", [("price", {"day": 0}), ("price", {"day": 1})]),
        ("for i, x in enumerate(price(d) for d in [1, 2]):\n    break", [("price", {"day": 1})]),
        (
            "x = (price(a + b) for a in [1, 2] for b in [10, 20] if a < 2)\ny = next(x)",
            [("price", {"day": 11})],
        ),
        ("x = (price(d) for d in [1])", []),
        ("x = []\nx += (price(d) for d in [1])", [("price", {"day": 1})]),
        ("if False:\n    price(1)", []),
        ("def never():\n    price(1)", []),
        ("undefined(price(1))", []),
        ("twice(2)", [("twice", {"day": 2})]),
        ("send('a', 'b', urgent=True, cc=1)", [("send", {"to": "a", "text": "b", "urgent": True, "cc": 1})]),
        ("send('a')", [("send", {"to": "a"})]),
        ("send(to=(1, (2,)))", [("send", {"to": [1, [2]]})]),
        (
            "import asyncio\nasync def main():\n    return price(6)\nasyncio.run(main())",
            [("price", {"day": 6})],
        ),
        ("class Job:\n    def run(self):\n        return price(7)\nJob().run()", [("price", {"day": 7})]),
    ],
)
def test_a_call_is_in_the_trace_if_and_only_if_it_ran(code, expected):
    assert calls(execute(code, MOCKS)) == expected


def test_arguments_are_as_they_were_when_the_call_was_made():
    ran = execute("numbers = [3, 1]\nresult = sort(numbers)\nnumbers.append(9)", MOCKS)
    assert calls(ran) == [("sort", {"numbers": [3, 1]})]
    assert ran.variables == {"numbers": [1, 3, 9], "result": [1, 3, 9]}


def test_arguments_are_snapshots_also_where_the_worker_cannot_report_at_once():
    ran = execute("numbers = [3, 1]\nx = sorted([1], key=lambda _: sort(numbers)[0])\nnumbers.clear()", MOCKS)
    assert calls(ran) == [("sort", {"numbers": [3, 1]})]


def test_a_call_that_raised_is_kept_and_known_not_to_have_returned():
    ran = execute(
        "try:\n    price(-1)\nexcept ValueError as error:\n    text = str(error)\nx = price(2)", MOCKS
    )
    assert ran.returned == (False, True)
    assert ran.results == (None, 2000)
    assert ran.variables == {"text": "no such day", "x": 2000}


def test_a_call_that_does_not_fit_the_signature_never_ran():
    ran = execute("price(1, 2)", MOCKS)
    assert ran.calls == ()
    assert ran.rejected[0].name == "price"
    assert ran.error.code == "TypeError"


def test_mocks_may_use_the_names_of_typing_without_importing_them():
    ran = execute(
        "x = f([1])", "def f(v: List[int]) -> Dict[str, Any]:\n    return {'n': Optional is not None}"
    )
    assert ran.variables == {"x": {"n": True}}


def test_values_keep_their_python_types():
    code = "t = (1, [2])\ns = {1}\ni = float('inf')\nn = float('nan')\nb = b'x'\nbig = 10**30\nd = {1: 'a'}\nnone = None"
    variables = execute(code).variables
    assert variables["t"] == (1, [2]) and isinstance(variables["t"], tuple)
    assert variables["s"] == {1} and variables["i"] == math.inf and math.isnan(variables["n"])
    assert variables["b"] == b"x" and variables["big"] == 10**30 and variables["d"] == {1: "a"}
    assert variables["none"] is None


def test_functions_classes_and_modules_are_no_variables():
    code = "import json\nfrom math import pi, sqrt\nclass A: pass\ndef f(): pass\ng = lambda: 1\nh = len\nk = int\nT = type('T', (), {})"
    assert set(execute(code).variables) == {"pi"}


def test_an_instance_is_labelled_and_shows_its_attributes():
    value = execute("class A: pass\na = A()\na.x = price(1)", MOCKS).variables["a"]
    assert isinstance(value, Opaque) and value.kind == "A" and value.attributes == {"x": 1000}


def test_a_mock_name_that_holds_data_at_the_end_is_a_variable():
    assert execute("price = price(1)", MOCKS).variables == {"price": 1000}


def test_a_value_of_too_many_parts_is_labelled_instead_of_copied():
    code = "a = []\nfor i in range(60):\n    a = [a, a]"
    assert isinstance(execute(code).variables["a"], Opaque)


def test_context_gives_the_program_its_first_variables():
    ran = execute("y = x['a'] + 1", context={"x": {"a": 1}})
    assert ran.variables == {"x": {"a": 1}, "y": 2}


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("x = = 1", "syntax"),
        ("return 1", "syntax"),
        ("await price(1)", "syntax"),
        ("x = '\\0'\0", "syntax"),
        ("while True: pass", "timeout"),
        ("import time\ntime.sleep(10**9)", "timeout"),
        ("x = 'a' * 10**10", "memory"),
        ("x = []\nwhile True: x.append('a' * 1000)", "memory"),
        ("def f(): f()\nf()", "RecursionError"),
        ("exit()", "SystemExit"),
        ("quit(1)", "SystemExit"),
        ("import sys\nsys.exit(2)", "SystemExit"),
        ("from sys import exit as leave\nleave()", "SystemExit"),
        ("raise SystemExit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("open('/etc/passwd')", "blocked"),
        ("import os\nos.system('ls')", "blocked"),
        ("import os\nos.environ['HOME']", "blocked"),
        ("import socket", "blocked"),
        ("import urllib.request", "blocked"),
        ("__import__('subprocess')", "blocked"),
        ("input()", "blocked"),
        ("().__class__.__bases__[0].__subclasses__()", "blocked"),
        ("'{0.__class__.__mro__}'.format('x')", "blocked"),
        ("nowhere(1)", "NameError"),
        ("import json\njson.loads('[')", "JSONDecodeError"),
    ],
)
def test_the_error_code(code, error):
    ran = execute(code, MOCKS, seconds=0.5 if error == "timeout" else 20)
    assert ran.error.code == error
    assert ran.executor == "monty"


def test_an_exit_can_be_caught_like_in_python():
    code = "import sys\ntry:\n    sys.exit(4)\nexcept Exception:\n    x = 1\nexcept SystemExit as stop:\n    x = str(stop)"
    assert execute(code).variables == {"x": "4"}


def test_calls_and_output_before_a_time_out_are_kept():
    ran = execute("print('hi')\nprice(1)\nwhile True: pass", MOCKS, seconds=0.3)
    assert calls(ran) == [("price", {"day": 1})] and ran.stdout == "hi\n" and ran.variables == {}
    assert 0.25 < ran.seconds < 2


def test_a_loop_of_calls_ends_at_the_time_limit_and_fills_no_memory():
    ran = execute("while True: price(1)", MOCKS, seconds=2)
    assert ran.error.code == "timeout" and len(ran.calls) <= 10_000


def test_a_sleep_counts_as_time_and_does_not_wait():
    ran = execute("import time\ntime.sleep(4)\nx = 1", seconds=5)
    assert ran.variables == {"x": 1} and ran.seconds < 2


def test_output_is_cut_after_a_million_characters():
    ran = execute("for i in range(30): print('x' * 100_000)")
    assert ran.error is None and len(ran.stdout) == 2**20


def test_what_the_sandbox_lacks_is_not_run_unless_the_child_is_allowed():
    code = "def days():\n    yield 1\n    yield 2\nx = [price(d) for d in days()]"
    refused = execute(code, MOCKS)
    assert refused.executor == "" and refused.error.code == "NotImplementedError"
    assert "allow_subprocess=True" in refused.error.message and "yield" in refused.error.message
    allowed = execute(code, MOCKS, allow_subprocess=True)
    assert allowed.executor == "subprocess" and allowed.variables == {"x": [1000, 2000]}


def test_an_error_of_the_program_itself_is_not_tried_again_in_the_child():
    assert execute("x = {}['k']", allow_subprocess=True).executor == "monty"


def test_an_error_that_a_mock_raises_on_purpose_is_not_taken_for_a_refusal():
    ran = execute("f()", "def f():\n    raise PermissionError('no access')")
    assert ran.error.code == "PermissionError"


def test_mocks_that_are_not_python_say_where():
    with pytest.raises(DataError, match=r"mock functions line 2: not Python"):
        execute("1", "def f():\n  return (\n")


def test_mocks_that_fail_when_defined_say_why():
    with pytest.raises(DataError, match=r"mock functions: ZeroDivisionError"):
        execute("1", "x = 1 / 0")


def test_limits_out_of_range_are_refused():
    for seconds in (0, -1, math.nan, None, "5", True):
        with pytest.raises(DataError, match=f"seconds is {seconds!r}, expected a number above 0"):
            execute("1", seconds=seconds)
    with pytest.raises(DataError, match="memory_mb is 1, expected at least 16"):
        execute("1", memory_mb=1)


@pytest.mark.parametrize("code", [None, 3, b"x = 1", ["x = 1"]])
def test_a_program_that_is_no_text_is_refused(code):
    with pytest.raises(DataError, match=r"execute: code is \w+, expected the text of a program"):
        execute(code)


@pytest.mark.parametrize("functions", [None, 3, [None], b"def f(): pass"])
def test_mocks_that_are_no_text_are_refused(functions):
    with pytest.raises(DataError, match=r"mock functions: found \w+, expected their source"):
        execute("1", functions)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"x": object()}, "context: 'x' is no JSON value .Object of type object"),
        ({"x": [{1, 2}]}, "context: 'x' is no JSON value .Object of type set"),
        ({1: 2}, "context: 1 is no name that a variable can have"),
        ({"a b": 2}, "context: 'a b' is no name that a variable can have"),
        ({"class": 2}, "context: 'class' is no name that a variable can have"),
        ([1], "context: found list, expected variables by name"),
    ],
)
def test_a_context_that_cannot_enter_the_sandbox_names_the_variable(context, message):
    with pytest.raises(DataError, match=message):
        execute("y = 1", context=context)


def test_a_context_that_holds_itself_is_refused():
    itself = {}
    itself["x"] = itself
    with pytest.raises(DataError, match="context: 'x' is no JSON value .Circular reference"):
        execute("y = x", context=itself)


def test_options_hold_within_a_block():
    with execution.using(allow_subprocess=True, seconds=3.0):
        assert execution.current().allow_subprocess and execution.current().seconds == 3.0
    assert not execution.current().allow_subprocess


def test_several_sources_of_mocks_are_one():
    assert execute("x = f() + g()", ["def f(): return 1", "def g(): return 2"]).variables == {"x": 3}


def test_two_programs_share_nothing():
    execute("leak = 5")
    assert execute("x = leak").error.code == "NameError"
