"""In which pieces and in which order an experiment runs, and what it will cost.

Cells run in blocks of a few repeats; where there are many users, the chunks of a cell run as tasks
of their own. Whatever the pieces, sums are whole numbers and tallies are added in the order of the
chunks, so the numbers depend neither on the executor nor on the order in which it works.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from queue import Empty, SimpleQueue
from typing import Any

from ldp3.arrays import BoolArray
from ldp3.errors import LDPError
from ldp3.experiment.outcomes import Block, Outcome
from ldp3.experiment.simulator import FIRST, Simulator, simulator_here
from ldp3.plugins import blaming
from ldp3.progress import Progress, available_cores
from ldp3.randomness import stream
from ldp3.results.axes import Cell
from ldp3.types import Tally

IN_FLIGHT = 8  # tasks given to the executor per worker: enough to keep it busy, few to take back
CHUNKS = 8  # of a cell's users, in one task
REPEATS = 16  # in one task, at most
FREQUENCIES = 4096  # frequencies of a method, in one task
ROW = 150  # bytes of one row of the table while it is put together, measured

Wanted = Mapping[tuple[float, str], BoolArray]  # by ε and protocol: which methods to measure


@dataclass(frozen=True)
class Workers:
    """An executor, how tasks get at the simulator there, and how many can run at a time.

    The number may change while they work. Small tasks go in bundles of `bundle` seconds.
    """

    executor: Executor
    simulator: Any
    count: Callable[[], int]
    bundle: float = 0.0


@dataclass(frozen=True, eq=False)
class Task:
    """What a worker is sent: a block to measure, or some chunks of its one cell to add up.

    Parameters
    ----------
    block
        Which repeats of which cell.
    cells
        How much of the experiment this is.
    methods
        Which to measure; all that apply if not given.
    chunks
        Those to add up, where the block is not to be measured yet.
    pieces
        How many tasks add up the chunks of this cell.
    tally, seconds
        What these tasks made, and the processor time that they took.
    """

    block: Block
    cells: float = 0.0
    methods: BoolArray | None = None
    chunks: range | None = None
    pieces: int = 1
    tally: Tally | None = None
    seconds: float = 0.0

    @property
    def kind(self) -> tuple[Cell, bool]:
        """What takes about as long."""
        return self.block.cell.first, self.chunks is None


@dataclass(frozen=True, eq=False)
class ChunkTally:
    """The tally of some chunks of a cell, and the processor time that it took."""

    tally: Tally
    seconds: float


@blaming()  # a plug-in: a traceback does not travel between processes
def run_tasks(simulator: Simulator | str, tasks: Sequence[Task]) -> list[Outcome | ChunkTally]:
    """Several tasks, wherever this runs."""
    here = simulator_here(simulator)
    return [_run(here, task) for task in tasks]


def _run(simulator: Simulator, task: Task) -> Outcome | ChunkTally:
    if task.chunks is None:
        return simulator.measure(task.block, task.methods, task.tally)
    began = time.thread_time()
    tally = simulator.tally(task.block.cell, task.chunks)
    return ChunkTally(tally, time.thread_time() - began)


def blocks(
    simulator: Simulator,
    start: int,
    stop: int,
    done: Collection[Cell],
    wanted: Wanted | None = None,
) -> list[Block]:
    """The repeats from `start` to `stop` of all cells but those `done`, all advancing together.

    So a stopped run has something of each.
    """
    cut: list[Block] = []
    for cell in simulator.cells:
        if wanted is not None and not wanted[cell.epsilon, cell.protocol].any():
            continue
        size = _repeats_per_task(simulator, cell, stop - start)
        for repeat in range(start, stop):
            this = replace(cell, repeat=repeat)
            if this in done:
                continue
            last = cut[-1] if cut else None
            if last and last.cell.first == cell and last.stop == repeat and len(last) < size:
                cut[-1] = Block(last.cell, repeat + 1)
            else:
                cut.append(Block(this, repeat + 1))
    return sorted(cut, key=lambda block: block.cell.repeat)


def _repeats_per_task(simulator: Simulator, cell: Cell, repeats: int) -> int:
    few = max(FREQUENCIES // simulator.datasets[cell.dataset].d, 1)
    return min(REPEATS, few, -(-repeats // 4), max(CHUNKS // simulator.chunks(cell), 1))


def outcomes(
    simulator: Simulator,
    workers: Workers,
    todo: Collection[Block],
    wanted: Wanted | None,
    progress: Progress,
) -> Generator[Outcome, None, None]:
    """The outcomes of blocks, as they finish.

    Once `progress` says to stop, nothing more is started; what is running is waited for and still
    comes out (but not on a cluster, which does not tell what is).
    """
    finished: SimpleQueue[Future[Any]] = SimpleQueue()
    running: dict[Future[Any], list[Task]] = {}
    parts: dict[Block, dict[int, ChunkTally]] = {}  # by their first chunk
    urgent: deque[Task] = deque()  # cells whose chunks are all there
    fresh = _tasks(simulator, todo, wanted)
    pace = _Pace(workers.bundle)
    try:
        while True:
            while not progress.stopped() and len(running) < IN_FLIGHT * workers.count():
                bundle = pace.bundle(urgent, fresh)
                if not bundle:
                    break
                future = workers.executor.submit(run_tasks, workers.simulator, bundle)
                running[future] = bundle
                future.add_done_callback(finished.put)
            if progress.stopped():
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
                progress.tick(task.cells)
                pace.learn(task, result.seconds)
                if isinstance(result, Outcome):
                    yield replace(result, seconds=result.seconds + task.seconds)
                else:
                    urgent.extend(_gather(parts, task, result))
    except BrokenExecutor as error:
        raise LDPError(f"A worker process died (out of memory?): {error}") from error
    finally:
        _take_back(running)


def _tasks(simulator: Simulator, todo: Collection[Block], wanted: Wanted | None) -> Iterator[Task]:
    """What there is to do, made as it is asked for."""
    for block in todo:
        methods = None if wanted is None else wanted[block.cell.epsilon, block.cell.protocol]
        chunks = simulator.chunks(block.cell)
        if chunks <= CHUNKS:
            yield Task(block, len(block), methods)
            continue
        for start in range(0, chunks, CHUNKS):
            some = range(start, min(start + CHUNKS, chunks))
            yield Task(block, len(some) / chunks, methods, some, -(-chunks // CHUNKS))


def _gather(parts: dict[Block, dict[int, ChunkTally]], task: Task, part: ChunkTally) -> list[Task]:
    """Keep the tally of some chunks; when a cell has all of them, the task that finishes it."""
    assert task.chunks is not None
    known = parts.setdefault(task.block, {})
    known[task.chunks.start] = part
    if len(known) < task.pieces:
        return []
    del parts[task.block]
    ordered = [known[start] for start in sorted(known)]
    tally = reduce(add, [part.tally for part in ordered])
    seconds = sum(part.seconds for part in ordered)
    return [Task(task.block, methods=task.methods, tally=tally, seconds=seconds)]


class _Pace:
    """How long tasks of a kind take, so that small ones can go together."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # of a bundle
        self._known: dict[tuple[Cell, bool], float] = {}

    def learn(self, task: Task, seconds: float) -> None:
        self._known[task.kind] = seconds

    def bundle(self, urgent: deque[Task], fresh: Iterator[Task]) -> list[Task]:
        """The next tasks, together as long as a bundle; one of an unknown kind is enough."""
        bundle: list[Task] = []
        left = self.seconds
        while left > 0 or not bundle:
            task = urgent.popleft() if urgent else next(fresh, None)
            if task is None:
                break
            bundle.append(task)
            left -= self._known.get(task.kind, self.seconds)
        return bundle


def _take_back(running: dict[Future[Any], list[Task]]) -> None:
    for future in [f for f in running if f.cancel()]:
        del running[future]


@dataclass(frozen=True)
class Forecast:
    """Expected processor time in seconds for each protocol, threads, and memory in bytes."""

    seconds: dict[str, float]
    threads: int
    memory: int

    @property
    def elapsed(self) -> float:
        """If the threads have a core each."""
        return sum(self.seconds.values()) / self.threads


def forecast(simulator: Simulator, threads: int | None = None) -> Forecast:
    """Time one cell of each dataset and protocol, at the middle ε, and multiply."""
    ex, count = simulator.experiment, available_cores() if threads is None else max(threads, 1)
    middle = ex.epsilons[(len(ex.epsilons) - 1) // 2]
    seconds = dict.fromkeys((c.spec for c in ex.protocols), 0.0)
    chunk = 0
    for cell in (c for c in simulator.cells if c.epsilon == middle):
        seconds[cell.protocol] += len(ex.epsilons) * ex.repeats * _cell_seconds(simulator, cell)
        if simulator.way(cell) == "users":
            chunk = max(chunk, _chunk_bytes(simulator, cell))
    vectors = {"scores": 0, "means": 2, "estimates": 2 + ex.repeats}[ex.keep]
    frequencies = sum(simulator.datasets[c.dataset].d for c in simulator.cells)
    rows = ex.size * len(ex.methods) * len(ex.metrics)
    memory = 8 * frequencies * len(ex.methods) * vectors + ROW * rows
    return Forecast(seconds, count, _resident() + (count - 1) * chunk + memory)


def _cell_seconds(simulator: Simulator, cell: Cell) -> float:
    """A cell that runs by users is timed on one chunk.

    The second of two runs counts, because the first may compile.
    """
    late = FIRST + 1  # a repeat without the limit, as most are in a long run
    block = Block(replace(cell, repeat=late), late + 1)
    simulator.tally(cell, range(1))
    began = time.thread_time()
    part = simulator.tally(cell, range(1))
    collected = (time.thread_time() - began) * simulator.chunks(cell)
    simulator.measure(block, tally=part)
    return collected + simulator.measure(block, tally=part).seconds


def _chunk_bytes(simulator: Simulator, cell: Cell) -> int:
    """The reports of one chunk, and as much again for the randomness they come from."""
    oracle, n = simulator.oracle(cell), simulator.datasets[cell.dataset].n
    few = min(oracle.chunk_size, 1000, n)
    reports = oracle.perturb(simulator.users(cell, 0, few), stream(0, "forecast"))
    return 2 * reports.nbytes * min(oracle.chunk_size, n) // few


def _resident() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
