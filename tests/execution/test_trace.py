"""A trace holds what happened, whatever the program tries to make of it."""

import pytest

from fcb_toolkit.execution import execute, prelude
from fcb_toolkit.execution.mocks import read

MOCKS = "def pay(amount):\n    return amount\n"


@pytest.mark.parametrize(
    "code",
    [
        # The names of the tracers are new for each program and not to be seen from inside.
        "names = [n for n in locals()]\nfor n in names:\n    if 'enter' in n or 'late' in n:\n        eval(n)([], 'pay', (1,), {})",
        "for n in [*locals()]:\n    try:\n        eval(n)('pay', lambda *a: 1)(5)\n    except Exception:\n        pass",
        "for n in [*locals()]:\n    try:\n        eval(n)().append((True, 'pay', (1,), {}))\n    except Exception:\n        pass",
        "for n in [*locals()]:\n    try:\n        eval(n)().clear()\n    except Exception:\n        pass",
        "enter([], 'pay', (1,), {})",
        "S_enter([], 'pay', (1,), {})",
        "def pay(amount):\n    return amount\npay(1)",
        "pay = lambda amount: amount\npay(1)",
    ],
)
def test_a_call_cannot_be_forged(code):
    assert execute(code, MOCKS).calls == ()


@pytest.mark.parametrize(
    "code",
    [
        "pay(1)\nfor n in [*locals()]:\n    try:\n        eval(n)().clear()\n    except Exception:\n        pass",
        "pay(1)\ndel_ = None\npay = None",
        "x = sorted([1], key=pay)\nfor n in [*locals()]:\n    try:\n        eval(n)().clear()\n    except Exception:\n        pass",
    ],
)
def test_a_call_cannot_be_erased(code):
    assert [call.arguments for call in execute(code, MOCKS).calls] == [{"amount": 1}]


def test_an_exec_of_the_setup_text_with_a_guessed_name_reports_nothing():
    source = prelude.setup_source(read(MOCKS), "fcb_guess", "fcb_guess2")
    ran = execute(f"exec({source!r})\npay(3)", MOCKS)
    assert ran.calls == ()


def test_a_program_that_redefines_builtins_does_not_break_the_record():
    code = "iter = next = tuple = list = type = locals = None\nx = pay(2)\ny = any(pay(n) for n in [0, 3])"
    ran = execute(code, MOCKS)
    assert [call.arguments["amount"] for call in ran.calls] == [2, 0, 3]
    assert ran.variables["x"] == 2 and ran.variables["y"] is True


def test_the_signature_binds_like_python():
    mocks = "def f(a, /, b, *rest, c=1, **more):\n    return 0\n"
    ran = execute("f(1, 2, 3, 4, c=5, d=6)\nf(1, b=2)", mocks)
    assert [call.arguments for call in ran.calls] == [
        {"a": 1, "b": 2, "rest": [3, 4], "c": 5, "d": 6},
        {"a": 1, "b": 2},
    ]


def test_helpers_with_an_underscore_and_classes_are_not_traced():
    mocks = "class Box:\n    pass\ndef _helper():\n    return 1\ndef f():\n    return _helper()\n"
    ran = execute("x = f()\ny = _helper()\nz = Box()", mocks)
    assert [call.name for call in ran.calls] == ["f"]
