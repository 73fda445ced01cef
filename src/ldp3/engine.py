"""Run an experiment on any executor.

Cells run in blocks of a few repeats of one protocol and ε; where there are many users, the chunks
of a cell run as tasks of their own. The experiment alone decides how cells are cut, and totals
are added in the order of the chunks, so the numbers depend neither on the executor nor on the
order in which it works.
"""

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from concurrent.futures.process import ProcessPoolExecutor
from concurrent.futures.thread import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from ldp3 import catalog
from ldp3.bench import Bench, Outcome, add, bench_of, run_block, run_chunks
from ldp3.collecting import collect
from ldp3.datasets.loading import load
from ldp3.errors import InvalidParameter, LDPError
from ldp3.experiment import CHUNKS, Block, Named, Reference, Way, experiment
from ldp3.results import Results
from ldp3.types import Total

IN_FLIGHT = 8  # tasks given to the executor per worker: enough to keep it busy, few to take back


def _start_worker(at: Bench) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    bench_of(at.experiment)


@contextmanager
def workers(
    executor: Executor | str | None, threads: int | None, at: Bench
) -> Iterator[tuple[Executor, Bench | str, int]]:
    """An executor, how its workers get at the bench, and how many there are.

    A name opens an executor and closes it; one that is handed in stays open.
    """
    count = available_cores() if threads is None else threads
    if count < 1:
        raise InvalidParameter(f"threads must be at least 1, got {threads!r}.")
    if isinstance(executor, Executor):
        yield executor, at, getattr(executor, "_max_workers", count)
        return
    if executor in (None, "threads"):
        pool: Executor = ThreadPoolExecutor(count, thread_name_prefix="ldp3")
        shared: Bench | str = at
    elif executor == "processes":
        # spawned, not forked: this process may hold threads and locks
        pool = ProcessPoolExecutor(count, get_context("spawn"), _start_worker, (at,))
        shared = at.experiment.key
    else:
        raise InvalidParameter(f"executor is 'threads' or 'processes', got {executor!r}.")
    try:
        yield pool, shared, count
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class _Task:
    function: Callable[..., Any]
    block: Block
    args: tuple[Any, ...] = ()
    cells: float = 0.0  # how much of the experiment it is
    siblings: int = 1  # tasks of the same cell


def _tasks(at: Bench, done: Collection[Block]) -> Iterator[_Task]:
    """What there is to do, made as it is asked for."""
    # all protocols and budgets advance together, so that a stopped run has something of each
    for block in sorted(at.blocks(), key=lambda block: block.start):
        chunks = at.chunks(block.protocol, block.epsilon)
        if block in done:
            continue
        if chunks <= CHUNKS:
            yield _Task(run_block, block, cells=block.stop - block.start)
            continue
        for start in range(0, chunks, CHUNKS):
            stop = min(start + CHUNKS, chunks)
            share = (stop - start) / chunks
            yield _Task(run_chunks, block, (start, stop), share, -(-chunks // CHUNKS))


def run(
    at: Bench,
    executor: Executor | str | None = None,
    threads: int | None = None,
    *,
    done: Collection[Block] = (),
    tick: Callable[[float], None] = lambda cells: None,  # noqa: ARG005
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[Outcome, None, None]:
    """The outcomes of all blocks but those `done`, as they finish.

    `tick` hears of progress, in cells. Once `stopped` says so, nothing more is started; what is
    running is waited for and still comes out.
    """
    finished: SimpleQueue[Future[Any]] = SimpleQueue()
    running: dict[Future[Any], _Task] = {}
    parts: dict[Block, list[tuple[int, Total, float]]] = {}
    urgent: deque[_Task] = deque()  # cells whose chunks are all there
    fresh = _tasks(at, done)
    with workers(executor, threads, at) as (pool, shared, count):
        try:
            while True:
                while not stopped() and len(running) < IN_FLIGHT * count:
                    task = urgent.popleft() if urgent else next(fresh, None)
                    if task is None:
                        break
                    future = pool.submit(task.function, shared, task.block, *task.args)
                    running[future] = task
                    future.add_done_callback(finished.put)
                if stopped():
                    _take_back(running)
                if not running:
                    return
                try:
                    future = finished.get(timeout=0.1)  # wakes up to see whether to stop
                except Empty:
                    continue
                if future not in running:  # taken back
                    continue
                task = running.pop(future)
                result = future.result()
                tick(task.cells)
                if task.function is run_chunks:
                    urgent.extend(_gather(parts, task, result))
                else:
                    yield result
        except BrokenExecutor as error:
            raise LDPError(f"A worker process died (out of memory?): {error}") from error
        finally:
            _take_back(running)


def _take_back(running: dict[Future[Any], _Task]) -> None:
    for future in [f for f in running if f.cancel()]:
        del running[future]


def _gather(
    parts: dict[Block, list[tuple[int, Total, float]]],
    task: _Task,
    result: tuple[Total, float],
) -> list[_Task]:
    """Keep the total of some chunks; when a cell has all of them, the task that finishes it."""
    held = parts.setdefault(task.block, [])
    held.append((task.args[0], *result))
    if len(held) < task.siblings:
        return []
    del parts[task.block]
    held.sort(key=lambda part: part[0])
    total, seconds = add([part[1] for part in held]), sum(part[2] for part in held)
    return [_Task(run_block, task.block, (total, seconds))]


def benchmark(
    data: object,
    epsilons: float | Iterable[float] = 1.0,
    protocols: Named | Sequence[Named] = "paper",
    methods: Named | Sequence[Named] = "paper",
    metrics: Named | Sequence[Named] = "l1",
    *,
    repeats: int = 10,
    threads: int | None = None,
    seed: int = 0,
    simulate: Way = "exact",
    executor: Executor | str | None = None,
    reference: Reference = "truth",
    keep: bool = False,
    plugins: Iterable[str | Path] = (),
) -> Results:
    """Run every protocol × ε × method × metric `repeats` times.

    The numbers depend on the data, the grid's own cells and the seed: not on the threads, the
    executor, or what else is in the grid.

    Parameters
    ----------
    data
        A dataset, a path, a spec such as ``"zipf(s=1.2, d=128, n=1_000_000)"``, or an array.
    epsilons, protocols, methods, metrics
        One or several; names, specs or classes, ``"paper"`` or ``"all"``.
    repeats, seed, simulate, reference, keep, plugins
        See `Experiment`.
    threads
        How many; all cores if not given.
    executor
        ``"threads"``, ``"processes"`` or anything with the interface of `concurrent.futures`.
    """
    files = [Path(path).resolve() for path in plugins]
    dataset = load(data, None, *map(catalog.plugin, files))
    ex = experiment(
        dataset, epsilons, protocols, methods, metrics, repeats=repeats, seed=seed,
        simulate=simulate, reference=reference, keep=keep, plugins=files,
    )  # fmt: skip
    at = Bench(ex)
    began = time.monotonic()
    outcomes = list(run(at, executor, threads))
    return collect(at, outcomes, elapsed=time.monotonic() - began)
