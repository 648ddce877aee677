"""What an error of the sandbox interpreter means: the program's own, a refusal, or a missing feature.

meaning("AttributeError", "'list' object has no attribute '__reduce__'") -> ("blocked", ...)
meaning("NotImplementedError", "The monty syntax parser does not yet support yield expressions")
-> ("lacks", "yield expressions")
meaning("KeyError", "k") -> ("", "")
"""

from __future__ import annotations

import builtins
import importlib
import re

from fcb_toolkit.execution.sandbox_lacks import MONTY_LACKS, MONTY_MODULES, words

WALKS = words("""
    __class__ __mro__ __bases__ __base__ __subclasses__ __globals__ __code__ __closure__
    __builtins__ __getattribute__ __reduce__ __reduce_ex__ __dict__ __self__ __func__ __loader__
    __import__ __init_subclass__ __subclasshook__ __traceback__ tb_frame f_globals f_builtins f_back
    gi_frame gi_code cr_frame func_globals mro
""")
"""Attributes by which code climbs from a value to the interpreter's insides."""

_PARSER = re.compile(r"does not yet support (.*)", re.DOTALL)
_UNSUPPORTED = re.compile(r"not yet (supported|implemented)|are not supported$|is not supported( by monty)?$")
_ATTRIBUTE = re.compile(r"(?:'([\w.]+)' object|type object '([\w.]+)') has no attribute '(\w+)'")
_MODULE = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_FROM = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NAME = re.compile(r"name '(\w+)' is not defined")
_REFUSED = re.compile(r"'(os\.\w+|[\w.]+)' is not supported in this environment")


def meaning(kind: str, message: str, refused: str = "", token: str = "\0") -> tuple[str, str]:
    """("blocked" or "lacks", what) or ("", "") for an error that CPython would raise as well.

    `refused` is the last operation on the machine that was turned down, "" if none was. An error that
    names the sandbox's own helpers (`token`) comes from them, not from the program.
    """
    if token in message or "Internal error in monty" in message or message.startswith("internal error"):
        return "lacks", f"something it stumbles over ({message[:120]})" if token not in message else "this"
    if kind == "NotImplementedError" and (found := _PARSER.search(message)):
        return "lacks", found[1]
    if _UNSUPPORTED.search(message) and not _REFUSED.search(message):
        return "lacks", f"something ({message[:120]})"
    if refused and kind == "PermissionError" and message.startswith("Permission denied: "):
        return "blocked", f"{refused}: {message}"
    if found := _REFUSED.search(message):
        return "blocked", f"the program calls {found[1]}"
    if kind == "AttributeError" and (found := _MODULE.search(message)):
        return _module_attribute(found[1], found[2])
    if kind == "AttributeError" and (found := _ATTRIBUTE.search(message)):
        return _attribute(found[1] or found[2], found[3])
    if kind == "ImportError" and (found := _FROM.search(message)):
        return _module_attribute(found[2], found[1])
    if kind == "NameError" and (found := _NAME.search(message)) and found[1] in MONTY_LACKS:
        return "lacks", f"the builtin {found[1]!r}"
    return "", ""


def _module_attribute(module: str, name: str) -> tuple[str, str]:
    if module not in MONTY_MODULES or not hasattr(importlib.import_module(module), name):
        return "", ""
    if module == "os":
        return "blocked", f"the program uses os.{name}"
    if name.startswith("_"):
        return "blocked", f"the program reaches into {module}.{name}"
    return "lacks", f"{module}.{name}"


def _attribute(kind: str, name: str) -> tuple[str, str]:
    """Whether CPython's own type of that name has the attribute, and what it would lead to."""
    if name in WALKS:
        return "blocked", f"the program reaches for {name!r}"
    known = getattr(builtins, kind, None) if kind.isidentifier() else None
    if name.startswith("__") or (isinstance(known, type) and hasattr(known, name)):
        return "lacks", f"the attribute {name!r} of {kind}"
    if kind in ("function", "builtin_function_or_method", "module", "_io.TextIOWrapper", "coroutine"):
        return "lacks", f"the attribute {name!r} of a {kind}"
    return "", ""
