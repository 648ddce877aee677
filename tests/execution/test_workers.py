"""Workers and children: used again, replaced after a kill, and never believed."""

import contextlib
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcb_toolkit.errors import FcbError
from fcb_toolkit.execution import ExecutionOptions, cpython, execute, monty
from fcb_toolkit.execution.mocks import read
from fcb_toolkit.execution.values import decode

MOCKS = "def f(x):\n    return x\n"


def worker():
    with monty._pool().checkout() as session:
        return session.worker_pid


def test_a_worker_is_used_again():
    execute("1")
    assert worker() == worker()


def test_a_killed_worker_is_replaced():
    before = worker()
    os.kill(before, signal.SIGKILL)
    assert execute("x = f(1)", MOCKS).variables == {"x": 1}
    assert worker() != before


def test_a_worker_that_does_not_stop_itself_is_killed_and_replaced():
    ran = execute("a = b = []\nfor _ in range(60): a = [a, a]; b = [b, b]\nf(1)\na == b", MOCKS, seconds=0.3)
    assert ran.error.code == "timeout" and [call.name for call in ran.calls] == ["f"]
    assert execute("x = 1").variables == {"x": 1}


def test_threads_may_run_programs_at_once():
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda n: execute(f"x = f({n})", MOCKS).variables["x"], range(40)))
    assert results == list(range(40))


def test_workers_can_be_ended_and_come_back():
    execute("1")
    monty.close()
    assert execute("x = 1").variables == {"x": 1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_told_to_spawn_instead_of_waiting_for_ever():
    execute("1")
    child = os.fork()
    if child == 0:
        told = False
        try:
            execute("x = 1")
        except FcbError as error:
            told = "'spawn' instead of 'fork'" in str(error)
        finally:
            os._exit(0 if told else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert execute("x = 1").variables == {"x": 1}


def test_a_variable_that_cannot_be_read_with_the_others_is_read_alone():
    ran = execute("class A: pass\na = A()\na.n = f(1)\nK = A\nx = 5", MOCKS)
    assert ran.executor == "monty" and ran.variables["x"] == 5
    assert [call.arguments for call in ran.calls] == [{"x": 1}]


def test_values_too_large_to_read_together_are_read_one_by_one():
    ran = execute("a = 'a' * 14_000_000\nb = 'b' * 14_000_000\nc = f(1)", MOCKS, memory_mb=64)
    assert ran.error is None and ran.executor == "monty"
    assert len(ran.variables["a"]) == 14_000_000 and ran.variables["c"] == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tuple", "set", "dict", "int", "bytes", "float", "opaque", "x"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(json_values)
def test_whatever_a_child_reports_is_a_value_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        decode(data)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        json_values | st.sampled_from(["enter", "leave", "out", "variable", "end", "ready", "f"]), max_size=4
    )
)
def test_whatever_event_a_child_sends_is_taken_or_a_value_error(event):
    session = cpython._Session(read(MOCKS), ExecutionOptions())
    with contextlib.suppress(ValueError):
        session._event(event)
    session.trace.execution("subprocess", session.variables, session.error, 0.0)
