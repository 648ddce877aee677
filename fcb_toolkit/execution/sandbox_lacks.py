"""What the sandbox interpreter (pydantic-monty 1.4) has and lacks, and modules that no program may import.

"bytearray" in MONTY_LACKS, "socket" in TOUCHES_MACHINE
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text: a set of names that reads better than a column of quoted ones."""
    return frozenset(text.split())


MONTY_MODULES = words("""
    asyncio base64 binascii bisect collections copy csv dataclasses datetime decimal functools
    hashlib itertools json math os pathlib posixpath random re sys time tomllib typing unicodedata
    __future__
""")
MONTY_LACKS = words("""
    BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError
    ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError
    DeprecationWarning EOFError EncodingWarning EnvironmentError ExceptionGroup FloatingPointError
    FutureWarning GeneratorExit IOError ImportWarning IndentationError InterruptedError
    PendingDeprecationWarning ProcessLookupError ReferenceError ResourceWarning RuntimeWarning
    StopAsyncIteration SyntaxWarning SystemError TabError UnicodeError UnicodeTranslateError
    UnicodeWarning UserWarning Warning __build_class__ __loader__ aiter anext breakpoint
    bytearray callable classmethod compile copyright credits delattr dir globals help issubclass
    license memoryview staticmethod super vars
""")
"""Builtins of CPython that the sandbox lacks; a test asks the installed sandbox for both lists."""

IGNORED_METHODS = words("""
    __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __len__ __getattr__ __getattribute__ __setattr__ __delattr__
    __format__ __reversed__ __class_getitem__ __init_subclass__ __new__ __del__ __get__ __set__ __missing__
    __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__
""")
"""Special methods of a class that the sandbox does not call."""

TOUCHES_MACHINE = words("""
    _ctypes _posixsubprocess _socket _thread aiohttp cffi ctypes dbm faulthandler fcntl ftplib glob
    grp http httpx imaplib mmap msvcrt multiprocessing nntplib poplib posix psutil pty pwd readline
    requests resource select selectors shelve shutil signal smtplib socket socketserver sqlite3 ssl
    subprocess syslog telnetlib tempfile termios tty urllib webbrowser winreg xmlrpc zipfile
""")
"""Modules that exist to reach files, the network, processes or memory: a program that imports one is
`blocked` in every executor."""
