"""How a run is laid over a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fcb_toolkit.errors import DataError


@dataclass(frozen=True)
class RayOptions:
    """For `fcb.evaluate(..., engine=RayOptions(...))`; `engine="ray"` takes these defaults."""

    workers: int | None = None
    """Processes that load the model. None: one a GPU, or without GPUs one a machine."""
    address: str | None = None
    """Of a running cluster: auto, HOST:PORT. None: `RAY_ADDRESS`, else one is started on this machine, reached
    by no other, and ended with the run."""
    gpus: float | None = None
    """Of one worker. None: 1 where the cluster has any. More for a model that needs several (device_map)."""
    cpus: float | None = None
    """Of one worker, which sets its threads. None: 1 beside a GPU, else an equal share."""
    group: int = 64
    """Most cases that a worker takes at a time; what is done again when it is killed."""

    def checked(self, workers: int | None = None) -> RayOptions:
        """With `workers` in place where it is given. Raises `DataError` for a value that is too small."""
        options = replace(self, workers=workers) if workers is not None else self
        for name in ("workers", "gpus", "cpus", "group"):
            value = getattr(options, name)
            least = 0 if name in ("gpus", "cpus") else 1
            if value is not None and value < least:
                raise DataError(f"ray: {name} is {value!r}, expected at least {least}")
        return options
