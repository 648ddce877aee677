"""What runs in a sandbox session before the program: helpers, the mocks, tracers around the mocks.

`T_` and `S_` stand for two random words, new in each session: `T_` names can be seen by the program (`locals()`)
and are harmless; `S_enter`, by which tracers report, is defined nowhere and cannot be seen.

The helpers make good what the interpreter has otherwise than CPython (see `program`): lazy `map`, `filter`, `zip`
and `enumerate`, `round` to the nearest decimal, `callable`, `hasattr`, `exit`, `__import__`.
"""

from __future__ import annotations

from fcb_toolkit.execution.mocks import Mocks
from fcb_toolkit.execution.sandbox_lacks import MONTY_MODULES, words

PRELUDE_NAMES = words("""
    Any Callable Dict List Optional Tuple Union zip enumerate map filter ascii round hasattr callable exit quit __import__
""")
PRELUDE = """
from typing import Any, Callable, Dict, List, Optional, Tuple, Union
T_type, T_iter, T_next, T_tuple, T_locals = type, iter, next, tuple, locals
T_round, T_float, T_hasattr = round, float, hasattr
class T_gone:
    pass
T_deleted = T_gone()
def T_delete(container, key):
    if T_hasattr(container, "__delitem__"):
        container.__delitem__(key)
    else:
        container.pop(key)
def round(number, ndigits=None):
    if ndigits is None:
        return T_round(number)
    if T_type(number) is T_float and ndigits >= 0 and -1e15 < number < 1e15:
        return T_float(f"{number:.{ndigits}f}")
    return T_round(number, ndigits)
def hasattr(value, name):
    return T_hasattr(value, name) or T_asked(T_type(value).__name__, name)
def callable(value):
    kinds = ("function", "builtin_function_or_method", "type", "functools.partial", "method")
    return T_type(value).__name__ in kinds or T_hasattr(value, "__call__")
class T_lazy:
    def __init__(self, items, step, nested):
        self.items, self.step, self.nested = T_iter(items), step, nested
        self.ready, self.inner = T_iter([]), T_iter([])
    def __iter__(self):
        return self
    def __next__(self):
        while True:
            for value in self.inner:
                return value
            for value in self.ready:
                if not self.nested:
                    return value
                self.inner = T_iter(value)
                break
            else:
                self.ready = T_iter(self.step(T_next(self.items)))
class T_zip:
    def __init__(self, items, strict):
        self.items, self.strict = [T_iter(item) for item in items], strict
    def __iter__(self):
        return self
    def __next__(self):
        found = []
        for item in self.items:
            try:
                found.append(T_next(item))
            except StopIteration:
                if self.strict and found:
                    raise ValueError("zip() arguments have different lengths")
                raise
        if not found:
            raise StopIteration
        return T_tuple(found)
class T_count:
    def __init__(self, items, start):
        self.items, self.at = T_iter(items), start
    def __iter__(self):
        return self
    def __next__(self):
        value = T_next(self.items)
        self.at += 1
        return (self.at - 1, value)
def zip(*iterables, strict=False):
    return T_zip(iterables, strict)
def enumerate(iterable, start=0):
    return T_count(iterable, start)
def map(function, iterable, *iterables):
    if iterables:
        return T_lazy(T_zip((iterable,) + iterables, False), lambda values: [function(*values)], False)
    return T_lazy(iterable, lambda value: [function(value)], False)
def filter(function, iterable):
    if function is None:
        return T_lazy(iterable, lambda value: [value] if value else [], False)
    return T_lazy(iterable, lambda value: [value] if function(value) else [], False)
def ascii(value):
    return f"{value!a}"
def T_exit(code=None):
    if code is None:
        raise SystemExit
    raise SystemExit(f"{code}")
exit = quit = T_exit
def __import__(name, globals=None, locals=None, fromlist=(), level=0):
{imports}
    return T_import(name)
"""
PRELUDE = PRELUDE.replace(
    "{imports}",
    "\n".join(
        f"    if name == {name!r}:\n        import {name}\n        return {name}"
        for name in sorted(MONTY_MODULES - {"__future__"})
    ),
)
TRACER = """
def T_build():
    from copy import deepcopy
    late, sealed = [], []
    def copied(value):
        try:
            return deepcopy(value)
        except Exception:
            return value
    def wrap(name, function):
        if sealed:
            return None
        def traced(*args, **kwargs):
            try:
                S_enter([*late], name, args, kwargs)
                late.clear()
            except NotImplementedError:
                late.append((True, name, copied(args), copied(kwargs)))
            ok, value = False, None
            try:
                value = function(*args, **kwargs)
                ok = True
                return value
            finally:
                late.append((False, ok, copied(value)))
        return traced
    def seal():
        sealed.append(True)
    def read():
        return [*late]
    return wrap, seal, read
T_wrap, T_seal, T_late = T_build()
"""


def setup_source(mocks: Mocks, token: str, secret: str) -> str:
    """The first snippet of a session: prelude, mocks, tracers around the mocks."""
    own = (PRELUDE + TRACER).replace("T_", f"{token}_").replace("S_", f"{secret}_")
    wrapped = [f'{name} = {token}_wrap("{name}", {name})' for name in mocks.signatures]
    return "\n".join((own, mocks.source, *wrapped, f"{token}_seal()"))
