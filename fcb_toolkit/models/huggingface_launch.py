"""What processes of one start (`accelerate launch`, `torchrun`) tell each other: a table that they share.

    table = Table(seconds=1800)          # at the address that the launcher put into the environment
    table.set("plan", "...")             # one process
    table.get("plan")                    # the others wait for it

torch's own store, and no process group: nothing is reduced here, and a group's barriers time out where one
process is done long before another.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from fcb_toolkit.errors import DataError


class Table:
    """Names and texts. Raises `DataError` where the other processes cannot be reached within `seconds`."""

    def __init__(self, seconds: float) -> None:
        from torch.distributed.rendezvous import rendezvous

        self._seconds = seconds
        try:
            self._store: Any = next(iter(rendezvous("env://", timeout=timedelta(seconds=seconds))))[0]
        except (RuntimeError, ValueError) as error:
            raise DataError(
                f"the processes of this start did not find each other at {os.environ.get('MASTER_ADDR')}:"
                f"{os.environ.get('MASTER_PORT')} ({_first_line(error)}); start them with `accelerate launch` "
                "or `torchrun`, or run one process"
            ) from None

    def set(self, name: str, text: str) -> None:
        self._store.set(f"fcb/{name}", text)

    def get(self, name: str) -> str:
        """Waits for it. Raises `DataError` where it does not come, or the process that holds the table is gone."""
        try:
            value: bytes = self._store.get(f"fcb/{name}")
        except RuntimeError as error:
            raise DataError(f"no {name} of the other processes came: {_first_line(error)}") from None
        return value.decode("utf-8")

    def wait(self, name: str, seconds: float) -> bool:
        """Whether it was set within so many seconds."""
        try:
            self._store.wait([f"fcb/{name}"], timedelta(seconds=seconds))
        except RuntimeError:
            return False
        return True


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
