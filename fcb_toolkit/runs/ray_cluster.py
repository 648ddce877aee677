"""A Ray cluster: found or started, and Ray Data's stream over it. The only file that imports ray."""

from __future__ import annotations

import inspect
import logging
import math
import os
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from fcb_toolkit.errors import DataError, MissingExtra, ModelError
from fcb_toolkit.runs.ray_options import RayOptions

OBJECT_STORE_BYTES = 100 * 2**20
"""Of a cluster that is started here: what passes through it is text."""
STARTS = 3
"""Ray gives its own helpers 15 seconds to come up, which a busy machine exceeds."""
TRIES = 4
"""How often a group may kill its worker before the run gives up: one that needs too much memory always will."""
ALONE = {
    # Ray's own switch for a cluster of one machine: its servers listen on the loopback address only.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    # Ray Data's own statistics; errors of the work itself are raised.
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    # A worker that does not come up in time is replaced; on a busy machine the next one is no faster.
    "RAY_worker_register_timeout_seconds": "600",
}
"""Environment of a cluster that is started here."""


def import_ray() -> Any:
    """Raises `MissingExtra`."""
    try:
        import ray.data
    except ImportError:
        raise MissingExtra("ray[data]", "ray", "engine='ray'") from None
    return ray


@contextmanager
def cluster(options: RayOptions) -> Iterator[RayOptions]:
    """Gives the options with nothing left open. What was connected or started here is left or ended."""
    address = options.address or os.environ.get("RAY_ADDRESS")
    if not address:
        for name, value in ALONE.items():
            os.environ.setdefault(name, value)
    ray = import_ray()
    logger = logging.getLogger("ray.data")
    before = logger.level
    logger.setLevel(logging.ERROR)
    ours = not ray.is_initialized()
    try:
        if ours and address:
            _connect(ray, address)
        elif ours:
            _start(ray, options)
        yield sized(options, ray.cluster_resources(), len(ray.nodes()))
    finally:
        if ours:
            ray.shutdown()
        logger.setLevel(before)


def _connect(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise DataError(
            f"no Ray cluster at {address!r} ({_first_line(error)}); check --address, or leave it out to start "
            "one on this machine"
        ) from None


def _start(ray: Any, options: RayOptions) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for left in reversed(range(STARTS)):
        try:
            ray.init(
                address="local",
                # Workers that share a core are slow, but they run; too few cores would let them wait for ever.
                num_cpus=max(cores, math.ceil((options.workers or 1) * (options.cpus or 1))),
                object_store_memory=OBJECT_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
            return
        except Exception as error:  # Ray raises bare ones
            ray.shutdown()
            if not left:
                raise DataError(
                    f"no Ray cluster could be started on this machine ({_first_line(error)}); is it very busy, "
                    "or short of memory? Its logs are in RAY_TMPDIR (default /tmp/ray)/session_latest/logs"
                ) from error


def sized(options: RayOptions, resources: dict[str, float], nodes: int) -> RayOptions:
    """Number of workers, and what each gets.

    Raises `DataError` where a worker needs more than the whole cluster has: Ray would wait for ever.
    """
    every_gpu, every_cpu = resources.get("GPU", 0.0), resources.get("CPU", 0.0)
    gpus = options.gpus if options.gpus is not None else min(1.0, every_gpu)
    workers = options.workers or (max(1, int(every_gpu // gpus)) if gpus else nodes)
    cpus = options.cpus if options.cpus is not None else 1.0 if gpus else max(1.0, every_cpu // workers)
    for what, one, there in (("GPUs", gpus, every_gpu), ("CPUs", cpus, every_cpu)):
        if one > there:
            raise DataError(f"ray: a worker needs {one:g} {what}, but the cluster has {there:g} in all")
    return replace(options, workers=workers, gpus=gpus, cpus=cpus)


def mapped(worker: type, arguments: Sequence[Any], groups: Sequence[str], size: RayOptions) -> Generator[str]:
    """What `worker(*arguments)` yields for each group, as it comes, in any order."""
    ray = import_ray()
    data = ray.data
    context = data.DataContext.get_current().copy()
    # A block a row: a reply reaches this process when it ends, not when its group has.
    context.target_max_block_size = 1
    context.enable_progress_bars = False
    with data.DataContext.current(context), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        rows = data.from_items([{"group": group} for group in groups], override_num_blocks=len(groups))
        stream = rows.map_batches(
            worker,
            fn_constructor_args=tuple(arguments),
            batch_size=1,
            compute=data.ActorPoolStrategy(size=size.workers),
            num_cpus=size.cpus,
            num_gpus=size.gpus,
            **_limits(data.Dataset.map_batches),
        )
    batches = iter(stream.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0))
    try:
        for table in batches:
            yield from table["row"].to_pylist()
    except ray.exceptions.RayError as error:
        raise ModelError(
            f"the work on the Ray cluster ended: {_first_line(error)}; what was done is kept: run the same "
            "command again"
        ) from error
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()


def _limits(map_batches: Any) -> dict[str, int]:
    """Left alone, Ray repeats a group that kills its worker for ever. How it is told not to is going to change
    with Ray 2.64."""
    takes = inspect.signature(map_batches).parameters
    if not {"max_task_retries", "ray_remote_args"} & takes.keys():
        return {}
    return {"max_restarts": -1, "max_task_retries": TRIES - 1}


def _first_line(error: BaseException) -> str:
    """The cause's line, where the message is a traceback of another process."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"
