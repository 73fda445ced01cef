"""Run an experiment on any executor.

Cells run in blocks of a few repeats of one protocol and ε; where there are many users, the chunks
of a cell run as tasks of their own. The experiment alone decides how cells are cut, and totals
are added in the order of the chunks, so the numbers depend neither on the executor nor on the
order in which it works.
"""

import os
import signal
import time
import warnings
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
from typing import TYPE_CHECKING, Any

from ldp3.bench import Bench, Outcome, add, bench_of, run_batch, run_block, run_chunks
from ldp3.clusters import Workers, cluster
from ldp3.collecting import collect

from ldp3 import catalog
from ldp3.arrays import Total
from ldp3.datasets.loading import load
from ldp3.errors import InvalidParameter, LDPError
from ldp3.experiment import CHUNKS, Block, Named, Reference, Way, experiment
from ldp3.results import Results

if TYPE_CHECKING:
    from distributed import Client

IN_FLIGHT = 8  # tasks given to the executor per worker: enough to keep it busy, few to take back


def _start_worker(at: Bench) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    bench_of(at.experiment)


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=2)


@contextmanager
def workers(
    executor: "Executor | Client | str | None",
    threads: int | None,
    at: Bench,
    note: Callable[[str], None] = _warn,
) -> Iterator[Workers]:
    """Who works on a bench.

    A name opens an executor and closes it; one that is handed in stays open.
    """
    count = available_cores() if threads is None else threads
    if count < 1:
        raise InvalidParameter(f"threads must be at least 1, got {threads!r}.")
    if isinstance(executor, Executor):
        here = getattr(executor, "_max_workers", count)
        yield Workers(executor, at, lambda: here)
        return
    on_dask = executor == "dask" or (isinstance(executor, str) and "://" in executor)
    if on_dask or hasattr(executor, "get_executor"):
        if threads is not None and executor != "dask":
            note("The number of threads is for this machine: the cluster brings its own.")
        with cluster(executor, count, at, note) as found:
            yield found
        return
    if executor in (None, "threads"):
        pool: Executor = ThreadPoolExecutor(count, thread_name_prefix="ldp3")
        shared: Bench | str = at
    elif executor == "processes":
        # spawned, not forked: this process may hold threads and locks
        pool = ProcessPoolExecutor(count, get_context("spawn"), _start_worker, (at,))
        shared = at.experiment.key
    else:
        raise InvalidParameter(
            f"executor is 'threads', 'processes', 'dask' or the address of a Dask scheduler, such "
            f"as 'tcp://host:8786', got {executor!r}."
        )
    try:
        yield Workers(pool, shared, lambda: count)
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
    executor: "Executor | Client | str | None" = None,
    threads: int | None = None,
    *,
    done: Collection[Block] = (),
    tick: Callable[[float], None] = lambda cells: None,  # noqa: ARG005
    stopped: Callable[[], bool] = lambda: False,
    note: Callable[[str], None] = _warn,
) -> Generator[Outcome, None, None]:
    """The outcomes of all blocks but those `done`, as they finish.

    `tick` hears of progress, in cells. Once `stopped` says so, nothing more is started; what is
    running is waited for and still comes out (but not on a cluster, which does not tell what is).
    `note` hears what a person should know.
    """
    finished: SimpleQueue[Future[Any]] = SimpleQueue()
    running: dict[Future[Any], list[_Task]] = {}
    parts: dict[Block, list[tuple[int, Total, float]]] = {}
    urgent: deque[_Task] = deque()  # cells whose chunks are all there
    fresh = _tasks(at, done)
    with workers(executor, threads, at, note) as staff:
        pace = _Pace(staff.batch)
        try:
            while True:
                while not stopped() and len(running) < IN_FLIGHT * staff.count():
                    batch = pace.batch(urgent, fresh)
                    if not batch:
                        break
                    calls = [(task.function, task.block, *task.args) for task in batch]
                    future = staff.executor.submit(run_batch, staff.bench, calls)
                    running[future] = batch
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
                for task, result in zip(running.pop(future), future.result(), strict=True):
                    tick(task.cells)
                    if isinstance(result, Outcome):
                        pace.learn(
                            task, result.seconds - sum(task.args[1:])
                        )  # those of its chunks are in it
                        yield result
                    else:
                        pace.learn(task, result[1])
                        urgent.extend(_gather(parts, task, result))
        except BrokenExecutor as error:
            raise LDPError(f"A worker process died (out of memory?): {error}") from error
        finally:
            _take_back(running)


class _Pace:
    """How long tasks of a kind take, so that small ones can go together."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # of a batch
        self._known: dict[tuple[object, int, int], float] = {}

    def learn(self, task: _Task, seconds: float) -> None:
        self._known[_kind(task)] = seconds

    def batch(self, urgent: deque[_Task], fresh: Iterator[_Task]) -> list[_Task]:
        """The next tasks, together about as long as a batch; one of an unknown kind is enough."""
        batch: list[_Task] = []
        left = self.seconds
        while left > 0 or not batch:
            task = urgent.popleft() if urgent else next(fresh, None)
            if task is None:
                break
            batch.append(task)
            left -= self._known.get(_kind(task), self.seconds)
        return batch


def _kind(task: _Task) -> tuple[object, int, int]:
    return task.function, task.block.epsilon, task.block.protocol


def _take_back(running: dict[Future[Any], list[_Task]]) -> None:
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
    executor: "Executor | Client | str | None" = None,
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
        ``"threads"``, ``"processes"``, ``"dask"``, the address of a Dask scheduler, a Dask client,
        or anything with the interface of `concurrent.futures`.
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
