"""Nothing gets out of either executor: forty and more attempts, looked at from outside.

Each attempt runs in the sandbox and, without any reading of the program before, in the CPython child. After
it no file outside has changed, no process is left, a bystander process lives, nobody knocked at a port,
and this process goes on.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from fcb_toolkit.execution import ExecutionOptions, cpython, execute
from fcb_toolkit.execution.mocks import read
from fcb_toolkit.execution.program import Program

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

SECONDS = 0.5
WRITES = {
    "write": "open({file!r}, 'w').write('gone')",
    "append": "open({file!r}, 'a').write('more')",
    "create": "open({new!r}, 'w').write('x')",
    "pathlib_write": "import pathlib\npathlib.Path({new!r}).write_text('x')",
    "pathlib_remove": "import pathlib\npathlib.Path({file!r}).unlink()",
    "remove": "import os\nos.remove({file!r})",
    "rename": "import os\nos.rename({file!r}, {new!r})",
    "mkdir": "import os\nos.mkdir({new!r})",
    "symlink": "import os\nos.symlink('/etc/passwd', {new!r})",
    "link": "import os\nos.link({file!r}, {new!r})",
    "chmod": "import os\nos.chmod({file!r}, 0o777)",
    "utime": "import os\nos.utime({file!r}, (0, 0))",
    "truncate": "import os\nos.truncate({file!r}, 0)",
    "low_level_open": "import os\nos.write(os.open({new!r}, os.O_CREAT | os.O_WRONLY), b'x')",
    "posix_module": "import sys\nsys.modules['posix'].mkdir({new!r})",
    "import_posix": "__import__('posix').mkdir({new!r})",
    "shutil": "__import__('shutil').rmtree({folder!r})",
    "link_then_write": "import os\nos.symlink({file!r}, 'mine')\nopen('mine', 'w').write('gone')",
    "climb_out": "open('../' * 20 + {file!r}, 'w').write('gone')",
    "sqlite": "__import__('sqlite3').connect({new!r}).execute('create table t (x)')",
    "libc_mkdir": "import ctypes\nctypes.CDLL(None).mkdir({new_bytes!r}, 0o777)",
    "libc_chmod": "import ctypes\nctypes.CDLL(None).chmod({file_bytes!r}, 0o777)",
    "libc_without_audit": (
        "import _ctypes\nhandle = _ctypes.dlopen(None, 0)\n"
        "_ctypes.call_function(_ctypes.dlsym(handle, 'mkdir'), ({new_bytes!r}, 511))"
    ),
    "mount_over": "import ctypes\nctypes.CDLL(None).mount(b'tmpfs', {folder_bytes!r}, b'tmpfs', 0, b'')",
}
PROCESSES = {
    "system": "import os\nos.system('touch {new}; sleep 60')",
    "popen": "import os\nos.popen('sleep 60')",
    "subprocess": "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)",
    "subprocess_by_name": "__import__('subprocess').Popen(['sleep', '60'])",
    "posix_spawn": "import os\nos.posix_spawn('/bin/sleep', ['sleep', '60'], {{}})",
    "fork": "import os\nif os.fork() == 0:\n    while True: pass",
    "double_fork": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: pass",
    "fork_bomb": "import os\nwhile True: os.fork()",
    "fork_bomb_past_the_hook": "import ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.fork()",
    "libc_fork_without_audit": (
        "import _ctypes\nh = _ctypes.dlopen(None, 0)\nf = _ctypes.dlsym(h, 'fork')\n"
        "while True: _ctypes.call_function(f, ())"
    ),
    "fork_exec_helper": (
        "import _posixsubprocess, os\n_posixsubprocess.fork_exec([b'/bin/sleep', b'60'], [b'/bin/sleep'], True, (), "
        "None, None, -1, -1, -1, -1, -1, -1, *os.pipe(), True, True, 0, None, None, None, -1, None, False)"
    ),
    "multiprocessing": "import multiprocessing\nmultiprocessing.Process(target=print).start()",
    "exec_over": "import os\nos.execv('/bin/sleep', ['sleep', '60'])",
    "thread_bomb": "import threading\ndef go():\n    while True: pass\nwhile True: threading.Thread(target=go).start()",
    "kill_bystander": "import os\nos.kill({pid}, 9)",
    "kill_parent": "import os\nos.kill(os.getppid(), 9)",
    "kill_all": "import os\nos.kill(-1, 9)",
    "libc_kill": "import ctypes\nctypes.CDLL(None).kill({pid}, 9)",
    "signal_by_file": (
        "import fcntl, os\nr, w = os.pipe()\nfcntl.fcntl(r, 10, 9)\nfcntl.fcntl(r, 8, {pid})\n"
        "fcntl.fcntl(r, 4, 0o20000)\nos.write(w, b'x')"
    ),
    "ptrace": "import ctypes\nctypes.CDLL(None).ptrace(16, {pid}, 0, 0)",
    "ignore_signals": "import signal\nfor n in range(1, 60):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass\nwhile True: pass",
    "leave_the_group": "import os\nos.setsid()\nwhile True: pass",
    "raise_limits": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (-1, -1))\nwhile True: pass",
}
NETWORK = {
    "socket": "import socket\nsocket.create_connection(('127.0.0.1', {port}), 1).send(b'x')",
    "socket_by_name": "__import__('socket').create_connection(('127.0.0.1', {port}), 1)",
    "low_level_socket": "import _socket\ns = _socket.socket()\ns.connect(('127.0.0.1', {port}))",
    "urllib": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{port}', timeout=1)",
    "asyncio": "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', {port}))",
    "libc_socket": "import ctypes\nassert ctypes.CDLL(None).socket(2, 1, 0) < 0\nx = 1",
}
READS = {
    "password_file": "found = open('/etc/passwd').read()",
    "environment": "import os\nfound = os.environ['FCB_SECRET']",
    "environment_by_proc": "found = open('/proc/self/environ').read()[10_000_000]",
    "environment_of_parent": "import os\nfound = open(f'/proc/{{os.getppid()}}/environ').read()",
    "home": "import os\nfound = os.listdir({folder!r})",
    "globs": "__import__('glob').glob({folder!r} + '/*')[0]",
    "inherited_handle": "import os\nfound = os.read({handle}, 5)",
    "dunder_walk": "found = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'FileIO'][0]({file!r}).read()",
    "format_string": "found = '{{0.__class__.__init__.__globals__[os]}}'.format(execute)",
    "frames": "import sys\nfound = sys._getframe(1).f_globals['report'].handle_of_parent",
    "input": "found = input()",
}
EXHAUST = {
    "endless_loop": "while True: pass",
    "endless_generator": "sum(1 for _ in iter(int, 1))",
    "loop_that_catches_all": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "recursion": "def f(): return f()\nf()",
    "recursion_in_c": "x = []\nfor _ in range(10**6): x = [x]\nrepr(x) and x == x.copy()",
    "recursion_that_catches": "def f():\n    try: f()\n    finally: f()\nf()",
    "list_bomb": "x = [0] * 10**11",
    "string_bomb": "x = 'a'\nwhile True: x += x",
    "dict_bomb": "x = {{}}\nfor i in range(10**12): x[i] = str(i)",
    "power": "x = 10 ** 10 ** 9",
    "slow_power": "x = int('9' * 4000) ** 10000",
    "shift": "x = (1 << 10**10) * 3",
    "factorial": "import math\nx = math.factorial(10**8)",
    "format_width": "x = '%1000000000000d' % 1",
    "regex": "import re\nx = re.match(r'(a+)+\\1$', 'a' * 40 + 'b')",
    "regex_alternation": "import re\nx = re.match('(x+x+)+y', 'x' * 60)",
    "hash": "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'a', b'b', 10**10)",
    "output_flood": "while True: print('x' * 10_000)",
    "raw_output_flood": "import os\nwhile True: os.write(1, b'x' * 10_000)",
    "disk_flood": "n = 0\nwhile True:\n    n += 1\n    open(f'f{{n}}', 'wb').write(b'x' * 10**7)",
    "shared_lists": "a = []\nfor _ in range(60): a = [a, a]",
    "compare_shared_lists": "a = b = []\nfor _ in range(60): a = [a, a]; b = [b, b]\na == b",
    "sleep": "import time\ntime.sleep(10**6)",
    "deep_source": "eval('(' * 100_000)",
    "crash": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
    "abort": "import os\nos.abort()",
    "hard_exit": "import os\nos._exit(0)",
}
ATTEMPTS = {**WRITES, **PROCESSES, **NETWORK, **READS, **EXHAUST}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What must not change: a folder, a bystander, a port, an open file, a secret."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "file").write_text("whole")
    folder.chmod(0o777)
    (folder / "file").chmod(0o666)
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.01)
    handle = os.open(folder / "file", os.O_RDONLY)
    os.set_inheritable(handle, True)
    os.environ["FCB_SECRET"] = "secret"
    # Orphans of the children become ours, so that none hides.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    execute("1")  # the sandbox's worker is a child that stays
    names = {
        "folder": str(folder),
        "folder_bytes": str(folder).encode(),
        "file": str(folder / "file"),
        "file_bytes": str(folder / "file").encode(),
        "new": str(folder / "new"),
        "new_bytes": str(folder / "new").encode(),
        "pid": bystander.pid,
        "port": server.getsockname()[1],
        "handle": handle,
    }
    yield names, bystander, server, folder
    bystander.kill()
    bystander.wait()
    server.close()
    os.close(handle)
    del os.environ["FCB_SECRET"]
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


def state(folder: Path):
    kept = {}
    for path in [folder, *sorted(folder.iterdir())]:
        info = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        kept[path.name] = (info.st_mode, info.st_uid, info.st_nlink, info.st_mtime_ns, content)
    return kept


def parents_of_all():
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
    return parents


@pytest.fixture(scope="module", autouse=True)
def other_tests_processes():
    """What other test files have left running, such as the browser of the session, comes and goes by itself."""
    OTHERS.update(child for child, parent in parents_of_all().items() if parent == os.getpid())
    yield
    OTHERS.clear()


OTHERS: set[int] = set()


def offspring():
    """Our child processes and theirs, the sandbox's workers and those of other test files left out."""
    parents = parents_of_all()
    found, new = set(), {os.getpid()}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found - OTHERS
        found |= new
    names = {}
    for pid in found:
        try:
            names[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return {pid: name for pid, name in names.items() if "monty" not in name}


def run_in(executor: str, code: str):
    if executor == "monty":
        return execute(code, seconds=SECONDS, memory_mb=64)
    # Straight into the child, past the reading that refuses some programs before they run.
    return cpython.run(Program(code, code), read(""), ExecutionOptions(SECONDS, 64), {})


@pytest.fixture(scope="module")
def without_audit_hook(tmp_path_factory):
    """A copy of the child that leaves everything to the kernel."""
    folder = tmp_path_factory.mktemp("child")
    source = cpython._CHILD.read_text()
    hook = 'sys.addaudithook(guard(request["folder"], readable))'
    assert hook in source
    (folder / "cpython_child.py").write_text(source.replace(hook, "pass"))
    (folder / "cpython_confine.py").write_text(cpython._CHILD.with_name("cpython_confine.py").read_text())
    folder.chmod(0o755)
    return folder / "cpython_child.py"


def look(world, name, run):
    """Runs one attempt and looks from outside."""
    names, bystander, server, folder = world
    before, children = state(folder), offspring()
    started = time.monotonic()
    ran = run(ATTEMPTS[name].format(**names))
    assert time.monotonic() - started < SECONDS + 6
    assert state(folder) == before
    assert bystander.poll() is None
    assert set(offspring()) == set(children)
    with pytest.raises(TimeoutError):
        server.accept()
    if name in READS:
        assert "found" not in ran.variables and ran.error is not None
    assert execute("x = 1").variables == {"x": 1}


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["monty", "subprocess"])
@pytest.mark.parametrize("name", ATTEMPTS)
def test_nothing_gets_out(world, name, executor):
    look(world, name, lambda code: run_in(executor, code))


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTEMPTS)
def test_nothing_gets_past_the_kernel_alone(world, without_audit_hook, monkeypatch, name):
    if name in ("input",):
        pytest.skip("only the hook refuses it; there is nothing to read")
    monkeypatch.setattr(cpython, "_CHILD", without_audit_hook)
    if not {"files", "calls"} <= set(layers()):
        pytest.skip("this kernel has no Landlock or no seccomp filter: the hook is what holds")
    look(world, name, lambda code: run_in("subprocess", code))


def test_there_are_enough_attempts():
    assert len(ATTEMPTS) >= 40


def layers() -> tuple[str, ...]:
    """What a child gives up on this machine."""
    session = cpython._Session(read(""), ExecutionOptions(2.0, 64))
    with tempfile.TemporaryDirectory() as folder:
        request = {
            "functions": "",
            "names": [],
            "code": "x = 1",
            "context": {},
            "folder": str(Path(folder).resolve()),
            "readable": cpython._readable(),
            "seconds": 2.0,
            "memory_bytes": 64 * 2**20,
        }
        session.follow(json.dumps(request).encode(), folder)
    assert session.variables == {"x": 1}
    return session.layers


def test_the_child_gives_up_what_this_kernel_lets_it_give_up():
    assert "limits" in layers()
    if os.uname().machine in ("x86_64", "aarch64"):
        assert "calls" in layers()
