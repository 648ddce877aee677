"""The exceptions of the package. A model's failure is never one of them: it is a `Verdict`.

Every message says where, what was found, what was expected and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches


class FcbError(Exception):
    """Base of all errors that a user can mend; the command line prints it and exits with 2."""


class DataError(FcbError):
    """A file, a case or a run on disk that cannot be used as it is."""


class UnknownName(FcbError):
    """A benchmark, metric, parser or model name that does not exist; lists those that do."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(str(name), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"unknown {kind} {name!r}.{hint} Known: {', '.join(names)}")


def check_fields(kind: str, given: Iterable[str], record: type) -> None:
    """Raises `UnknownName` for the first name in `given` that is no field of the dataclass `record`."""
    known = [field.name for field in fields(record)]
    for name in given:
        if name not in known:
            raise UnknownName(kind, name, known)


class ModelError(FcbError):
    """A model that cannot be found, loaded or reached."""


class MissingExtra(FcbError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed: "
            f"pip install 'fcb-toolkit[{extra}]'"
        )
