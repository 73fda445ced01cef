"""Who works on an experiment: threads, processes, a Dask cluster, or what a caller hands in."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor
from concurrent.futures.thread import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from ldp3.errors import InvalidParameter, as_python, one_of, short, whole
from ldp3.experiment.dask import cluster, on_dask
from ldp3.experiment.schedule import Workers
from ldp3.experiment.simulator import Simulator, kept_simulator
from ldp3.progress import Progress, available_cores

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def workers(
    executor: "Executor | Client | str | None",
    threads: int | None,
    simulator: Simulator,
    progress: Progress,
) -> Iterator[Workers]:
    """Who works on an experiment.

    A name opens an executor and closes it; one that is handed in stays open.
    """
    require_threads(threads)
    count = available_cores() if threads is None else threads
    if isinstance(executor, Executor):
        own = getattr(executor, "_max_workers", count)
        yield Workers(executor, simulator, lambda: own)
        return
    if on_dask(executor):
        if threads is not None and executor != "dask":
            progress.note("The number of threads is for this machine: the cluster brings its own.")
        with cluster(executor, count, simulator, progress) as found:
            yield found
        return
    pool, shared = _local_pool(executor, count, simulator)
    try:
        yield Workers(pool, shared, lambda: count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def require_threads(threads: int | None) -> None:
    """Refuse a number of threads that cannot be."""
    if threads is not None and not whole(as_python(threads), 1):
        raise InvalidParameter(f"`threads` must be at least 1, got {short(threads)}.")


def _local_pool(
    executor: object, count: int, simulator: Simulator
) -> tuple[Executor, Simulator | str]:
    if executor is None or one_of(executor, ["threads"]):
        return ThreadPoolExecutor(count, thread_name_prefix="ldp3"), simulator
    if one_of(executor, ["processes"]):
        from concurrent.futures.process import ProcessPoolExecutor  # threads need not wait for it
        from multiprocessing import get_context

        # spawned, not forked: this process may hold threads and locks
        most = 61 if os.name == "nt" else count  # Windows waits for no more at a time
        pool = ProcessPoolExecutor(
            min(count, most), get_context("spawn"), _start_worker, (simulator,)
        )
        return pool, simulator.experiment.key
    raise InvalidParameter(
        f"`executor` is 'threads', 'processes', 'dask' or the address of a Dask scheduler, such "
        f"as 'tcp://host:8786', got {short(executor)}."
    )


def _start_worker(simulator: Simulator) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    Thread(target=_end_with_parent, daemon=True).start()
    kept_simulator(simulator.experiment)


def _end_with_parent() -> None:
    """A parent that was killed told nobody: its workers would wait for work for ever."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
