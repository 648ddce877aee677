"""The child process's own program: takes a request, gives up its rights, runs the model's code, reports.

Started as `python -I -S -B cpython_child.py` by `cpython.run`; standard library only. The request comes as
one JSON object on the standard input, the report goes out as JSON lines while the program runs:

    ["ready", ["network", ...]]  ["enter", "send", [...], {...}]  ["leave", true, "ok"]  ["out", "text"]
    ["variable", "r", "ok"]  ["end", null]  or  ["end", ["ValueError", "message"]]
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

MAX_NODES, MAX_DEPTH, MAX_OUTPUT, MAX_TEXT = 200_000, 60, 2**20, 200
BALLAST = 16 * 2**20
OUT_OF_MEMORY = 77
"""Exit status of a child that has not even the memory to say so."""
_TYPING = ("Any", "Callable", "Dict", "List", "Optional", "Tuple", "Union")


class _TooLarge(Exception):
    pass


def encode(value: Any) -> Any:
    """See `values.decode`. Never raises for a value of the program, whatever its methods do."""
    try:
        return _encode(value, [MAX_NODES], 0)
    except (_TooLarge, RecursionError):
        return {"opaque": [type(value).__name__, f"more than {MAX_NODES} parts or {MAX_DEPTH} levels", []]}


def _encode(value: Any, left: list[int], depth: int) -> Any:
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH:
        raise _TooLarge
    kind = type(value)
    if value is None or kind is bool:
        return value
    if isinstance(value, str):
        return str.__add__("", value)
    if isinstance(value, int):
        whole = int.__add__(value, 0)
        return whole if abs(whole) < 2**53 else {"int": hex(whole)}
    if isinstance(value, float):
        number = float.__add__(value, 0.0)
        return number if number - number == 0 else {"float": repr(number)}
    if kind is bytes:
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        pairs = list(dict.items(value))
        return {"dict": [[_encode(k, left, depth + 1), _encode(v, left, depth + 1)] for k, v in pairs]}
    if isinstance(value, list):
        return _parts(list.__iter__(value), left, depth)
    if isinstance(value, tuple):
        return {"tuple": _parts(tuple.__iter__(value), left, depth)}
    if isinstance(value, set):
        return {"set": _parts(set.__iter__(value), left, depth)}
    if isinstance(value, frozenset):
        return {"frozenset": _parts(frozenset.__iter__(value), left, depth)}
    return {"opaque": [kind.__name__, _text(value), _attributes(value, left, depth)]}


def _attributes(value: Any, left: list[int], depth: int) -> list[Any]:
    """Those of an instance of a class that the program defined."""
    if getattr(type(value), "__module__", "") != "__main__":
        return []
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return [[name, _encode(part, left, depth + 1)] for name, part in dict.items(own)]


def _parts(values: Iterator[Any], left: list[int], depth: int) -> list[Any]:
    return [_encode(value, left, depth + 1) for value in values]


def _text(value: Any) -> str:
    try:
        return str.__add__("", repr(value))[:MAX_TEXT]
    except Exception:
        return ""


class Reporter:
    """Writes the report. The program shares this process, so it could write here too; see `execution`."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._write = os.write
        self._dumps = json.dumps

    def send(self, *event: Any) -> None:
        data = (self._dumps(event) + "\n").encode("utf-8", "surrogatepass")
        while data:
            data = data[self._write(self._handle, data) :]


class Output:
    """Stands for the standard output; sends what is printed, up to a limit."""

    encoding, errors, closed = "utf-8", "strict", False

    def __init__(self, report: Reporter, limit: int = MAX_OUTPUT) -> None:
        self._report = report
        self._left = limit

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        kept = text[: self._left]
        if kept:
            self._left -= len(kept)
            self._report.send("out", kept)
        return len(text)

    def flush(self) -> None:
        return None

    def isatty(self) -> bool:
        return False


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def guard(folder: str, readable: list[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook: what Python code may not do, whether or not the kernel would stop it."""
    abspath, fspath, fsdecode = os.path.abspath, os.fspath, os.fsdecode
    refused = words("""
        os.exec os.fork os.forkpty os.posix_spawn os.spawn os.system os.startfile os.kill os.killpg
        os.chown os.chmod os.setxattr os.removexattr os.getxattr os.listxattr os.chroot os.lockf
        builtins.input resource.setrlimit resource.prlimit signal.pthread_kill sys._debugmalloc
        cpython.run
    """)
    families = ("subprocess.", "socket.", "ctypes.", "urllib.", "ftplib.", "smtplib.", "imaplib.", "poplib.",
                "telnetlib.", "http.", "webbrowser.", "sqlite3.", "pty.", "fcntl.", "syslog.", "msvcrt.",
                "winreg.", "_winapi.", "ensurepip.", "nntplib.")  # fmt: skip
    paths = words("""
        os.remove os.rename os.mkdir os.rmdir os.link os.symlink os.truncate os.utime os.listdir
        os.scandir os.chdir os.walk os.fwalk shutil.rmtree shutil.move shutil.copyfile
        shutil.copytree shutil.make_archive shutil.unpack_archive tempfile.mkstemp tempfile.mkdtemp
        glob.glob
    """)

    def inside(path: Any, roots: list[str]) -> bool:
        if path is None or isinstance(path, int):
            return True
        full = abspath(fsdecode(fspath(path)))
        return any(full == root or full.startswith(root + "/") for root in roots)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args[0], args[1], args[2]
            writes = (isinstance(flags, int) and flags & 0o3) or (
                isinstance(mode, str) and set(mode) & set("wax+")
            )
            if not inside(path, [folder] if writes else [folder, *readable]):
                raise PermissionError(1, "not permitted in the sandbox", str(path))
        elif event == "socket.__new__":
            return  # an event loop makes a pair for itself; to connect or bind is refused
        elif event in refused or event.startswith(families):
            raise PermissionError(1, f"not permitted in the sandbox: {event}")
        elif event in paths:
            reads = event in ("os.listdir", "os.scandir", "glob.glob")
            for path in args[: 2 if event in ("os.rename", "os.link") else 1]:
                if not inside(path, [folder, *readable] if reads else [folder]):
                    raise PermissionError(1, f"not permitted in the sandbox: {event}", str(path))

    return hook


def traced(report: Reporter, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        report.send("enter", name, [encode(a) for a in args], {k: encode(v) for k, v in kwargs.items()})
        ok, value = False, None
        try:
            value = function(*args, **kwargs)
            ok = True
            return value
        finally:
            report.send("leave", ok, encode(value))

    return wrapper


def run(request: dict[str, Any], report: Reporter) -> None:
    """Defines the mocks, runs the program, reports its variables and how it ended."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    space = module.__dict__
    import typing

    space.update({name: getattr(typing, name) for name in _TYPING})
    try:
        exec(compile(request["functions"], "<functions>", "exec"), space)
    except BaseException as error:
        report.send("broken", describe(error))
        return
    for name in request["names"]:
        space[name] = traced(report, name, space[name])
    space.update(request["context"])
    before = {name: value for name, value in space.items() if name not in request["context"]}
    try:
        code = compile(request["code"], "<program>", "exec")
    except (SyntaxError, ValueError) as error:
        report.send("end", ["syntax", str(error)])
        return
    except (RecursionError, MemoryError) as error:
        report.send("end", [type(error).__name__, "the program is nested too deeply"])
        return
    ended: list[str] | None = None
    ballast = bytearray(BALLAST)  # room to report in when the program has used up its memory
    try:
        exec(code, space)
    except BaseException as error:
        ended = describe(error)
    del ballast
    for name, value in list(space.items()):
        special = name.startswith("__") and name.endswith("__")
        if special or (name in before and before[name] is value):
            continue
        if not callable(value) and not isinstance(value, types.ModuleType):
            report.send("variable", name, encode(value))
    report.send("end", ended)


def describe(error: BaseException) -> list[str]:
    """[code, message] as in `Execution.error`."""
    try:
        message = str.__add__("", str(error))[:2000]
    except Exception:
        message = ""
    if isinstance(error, MemoryError):
        return ["memory", message or "the memory limit was reached"]
    if isinstance(error, PermissionError) and error.errno in (1, 13):
        return ["blocked", message]
    return [type(error).__name__, message]


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    handle = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    report = Reporter(handle)
    beside = __file__.replace("cpython_child.py", "cpython_confine.py")
    spec = importlib.util.spec_from_file_location("confine", beside)
    assert spec is not None and spec.loader is not None
    confine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(confine)
    readable = request["readable"]
    memory = request["memory_bytes"] + BALLAST
    held = confine.confine(request["folder"], readable, request["seconds"], memory)
    sys.stdout = Output(report)
    sys.stderr = Output(report, limit=0)
    sys.argv, sys.path = ["main.py"], [path for path in sys.path if path]
    sys.addaudithook(guard(request["folder"], readable))
    report.send("ready", held)
    try:
        run(request, report)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    os._exit(0)


if __name__ == "__main__":
    for word in ("exit", "quit"):
        # Without `site` there are none.
        setattr(builtins, word, sys.exit)
    main()
