"""What a child process gives up before it runs a model's program. Standard library only; runs in the child.

In this order, each where the kernel permits; `confine` returns the names of the layers that hold:

- `network`: an empty network namespace (and mounts, IPC, host name of its own; as an ordinary user inside a
  user namespace).
- `small_disk`: the temporary folder is a file system in memory of `DISK` bytes.
- `limits`: processor time, memory, file size, open files, no core dumps.
- `nobody`: as root, the user `nobody` if it can read the standard library; else root without capabilities.
- `files` (Landlock): nothing can be read but the standard library, nothing written but the temporary
  folder; no TCP connections; no signals to other processes.
- `calls` (seccomp, x86-64 and ARM64): no new process or program, no sockets, signals, tracing, mounts,
  namespaces, changes of owner or mode, asynchronous I/O rings or keyrings.

Where a layer is missing, the audit hook of `cpython_child` still refuses the same things to Python code, but
a program that loads its own machine code gets past it. On macOS and Windows there is nothing but that hook.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys

DISK = 32 * 2**20
NOBODY = 65534
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x40000000


def confine(folder: str, readable: list[str], seconds: float, memory_bytes: int) -> list[str]:
    """Gives up everything but `folder` (read and write) and `readable` (read)."""
    held: list[str] = []
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
        if _namespaces(libc):
            held.append("network")
            if libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 6, f"size={DISK},mode=0777".encode()) == 0:
                held.append("small_disk")
        os.chdir(folder)
        _limits(seconds, memory_bytes)
        held.append("limits")
        held.append("nobody" if _become_nobody(libc, folder, readable) else "")
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        held.append("files" if _landlock(libc, folder, readable) else "")
        held.append("calls" if _seccomp(libc) else "")
    elif os.name == "posix":
        os.chdir(folder)
        _limits(seconds, memory_bytes)
        held.append("limits")
    return [name for name in held if name]


def _namespaces(libc: ctypes.CDLL) -> bool:
    wanted = _NEWNS | _NEWUTS | _NEWIPC | _NEWNET
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(wanted if uid == 0 else wanted | _NEWUSER) != 0:
        return False
    if uid != 0:
        try:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{uid} {uid} 1"),
                ("gid_map", f"{gid} {gid} 1"),
            ):
                with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                    file.write(text)
        except OSError:
            return True
    # So that what is mounted here is not seen outside.
    libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)
    return True


def _limits(seconds: float, memory_bytes: int) -> None:
    import resource

    whole = int(seconds) + 1
    wanted = {
        "RLIMIT_CPU": (whole, whole + 1),
        "RLIMIT_FSIZE": (DISK, DISK),
        "RLIMIT_NOFILE": (64, 64),
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_NPROC": (32, 32),
        "RLIMIT_AS": (memory_bytes + _mapped(), memory_bytes + _mapped()),
    }
    for name, pair in wanted.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, name), pair)


def _mapped() -> int:
    """Bytes that the interpreter has mapped already."""
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 64 * 2**20


def _become_nobody(libc: ctypes.CDLL, folder: str, readable: list[str]) -> bool:
    """Whether the process is nobody now; else it has lost its capabilities."""
    if os.getuid() != 0:
        _drop_capabilities(libc)
        return False
    os.setgroups([])
    os.chown(folder, NOBODY, NOBODY)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    reachable = all(os.access(path, os.R_OK, effective_ids=True) for path in readable)
    os.seteuid(0)
    os.setegid(0)
    if reachable:
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        return True
    os.chown(folder, 0, 0)
    _drop_capabilities(libc)
    return False


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    header = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process
    libc.capset(header, bytes(24))


# Landlock: numbers from <linux/landlock.h> and the system call table (the same on all machines).
_READ = (1 << 2) | (1 << 3)  # files, folders
_EXECUTE = 1 << 0
_ALL_FILES = [(1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15)]
"""(version from which, rights)."""


def _landlock(libc: ctypes.CDLL, folder: str, readable: list[str]) -> bool:
    version = libc.syscall(444, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    files = 0
    for since, rights in _ALL_FILES:
        files |= rights if version >= since else 0
    network = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0
    attributes = struct.pack("=QQQ", files, network, scoped)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(444, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    for path in readable:
        _allow(libc, ruleset, path, _READ | _EXECUTE)
    _allow(libc, ruleset, folder, files & ~(_EXECUTE | 0x1C40))  # no devices, sockets, pipes
    restricted = libc.syscall(446, ruleset, 0) == 0
    os.close(ruleset)
    return bool(restricted)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= _EXECUTE | (1 << 1) | (1 << 2)
    libc.syscall(445, ruleset, 1, struct.pack("=Qi", rights, handle), 0)
    os.close(handle)


# System calls that the program is refused, by number: (x86-64, ARM64); -1 where there is none.
_REFUSED = (
    (57, -1), (58, -1), (59, 221), (322, 281),  # fork vfork execve execveat
    (41, 198), (42, 203), (49, 200), (50, 201), (43, 202), (288, 242),  # sockets (an event loop keeps its socketpair)
    (46, 211), (307, 269), (62, 129), (200, 130), (234, 131), (129, 138),  # send, kill
    (297, 240), (424, 424), (434, 434), (438, 438),  # signals and handles of other processes
    (101, 117), (310, 270), (311, 271), (312, 272),  # ptrace, memory of other processes
    (165, 40), (166, 39), (155, 41), (161, 51), (272, 97), (308, 268),  # mount, chroot, unshare
    (428, 428), (429, 429), (430, 430), (431, 431), (432, 432), (433, 433), (442, 442),  # new mounts
    (90, -1), (91, 52), (268, 53), (452, 452), (92, -1), (93, 55), (94, -1), (260, 54),  # mode, owner
    (132, -1), (235, -1), (261, -1), (280, 88),  # times of files
    (188, 5), (189, 6), (190, 7), (197, 14), (198, 15), (199, 16),  # extended attributes
    (425, 425), (426, 426), (427, 427), (321, 280), (298, 241), (323, 282),  # rings, bpf, perf, faults
    (248, 217), (249, 218), (250, 219), (175, 105), (313, 273), (176, 106), (246, 104), (320, 294),  # keys
    (169, 142), (170, 161), (171, 162), (164, 170), (227, 112), (159, 171), (305, 266),  # the machine
    (141, 140), (142, 118), (144, 119), (160, 164), (302, 261),  # priorities and limits
    (109, 154), (112, 157), (133, -1), (259, 33), (304, 265), (303, 264), (103, 116),  # groups, handles
)  # fmt: skip
_MACHINES = {"x86_64": (0, 0xC000003E, 56, 435, 72), "aarch64": (1, 0xC00000B7, 220, 435, 25)}
"""Machine -> column above, audit number, clone, clone3, fcntl."""


def _seccomp(libc: ctypes.CDLL) -> bool:
    machine = _MACHINES.get(os.uname().machine)
    if machine is None or sys.byteorder != "little":
        return False
    column, audit, clone, clone3, fcntl = machine
    numbers = sorted({pair[column] for pair in _REFUSED if pair[column] >= 0})
    allow, kill, refuse, absent = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026  # EPERM, ENOSYS
    code: list[tuple[int, int, int, int]] = [
        (0x20, 0, 0, 4),  # load the machine
        (0x15, 1, 0, audit),
        (0x06, 0, 0, kill),
        (0x20, 0, 0, 0),  # load the call's number
        (0x35, 0, 1, 0x40000000),  # the 32-bit table of x86-64
        (0x06, 0, 0, kill),
        (0x15, 0, 1, clone3),  # without it, threads are made by clone
        (0x06, 0, 0, absent),
        (0x15, 0, 4, clone),
        (0x20, 0, 0, 16),  # load clone's flags
        (0x45, 0, 1, 0x10000),  # CLONE_THREAD
        (0x06, 0, 0, allow),
        (0x06, 0, 0, refuse),
        (0x15, 0, 6, fcntl),
        (0x20, 0, 0, 24),  # load fcntl's command
        (0x15, 3, 0, 8),  # F_SETOWN, F_SETSIG, F_SETOWN_EX: a signal to another process
        (0x15, 2, 0, 10),
        (0x15, 1, 0, 15),
        (0x06, 0, 0, allow),
        (0x06, 0, 0, refuse),
    ]
    for number in numbers:
        code += [(0x15, 0, 1, number), (0x06, 0, 0, refuse)]
    code.append((0x06, 0, 0, allow))
    raw = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(raw, len(raw))
    program = struct.pack("@HxxxxxxP", len(code), ctypes.addressof(buffer))
    return bool(libc.prctl(_PR_SET_SECCOMP, 2, program, 0, 0) == 0)
