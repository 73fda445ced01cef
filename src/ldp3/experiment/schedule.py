"""In which pieces and in which order an experiment runs.

Cells run in blocks of a few repeats; where there are many users, the chunks of a cell run as tasks
of their own. Whatever the pieces, sums are whole numbers and tallies are added in the order of the
chunks, so the numbers depend neither on the executor nor on the order in which it works.
"""

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from queue import Empty, SimpleQueue
from typing import Any

from ldp3.arrays import BoolArray
from ldp3.errors import LDPError
from ldp3.experiment.cells import Block, Cell, Outcome
from ldp3.experiment.lab import Lab
from ldp3.experiment.tasks import Workers, run_block, run_bundle, run_chunks
from ldp3.progress import Progress
from ldp3.types import Tally

IN_FLIGHT = 8  # tasks given to the executor per worker: enough to keep it busy, few to take back
CHUNKS = 8  # of a cell's users, in one task
REPEATS = 16  # in one task, at most
VALUES = 4096  # frequencies of a method, in one task

Wanted = Mapping[tuple[float, str], BoolArray]  # by ε and protocol: which methods to measure


@dataclass(frozen=True)
class Task:
    """A function of `tasks` and what it takes besides the lab."""

    function: Callable[..., Any]
    block: Block
    args: tuple[Any, ...] = ()
    cells: float = 0.0  # how much of the experiment it is
    siblings: int = 1  # tasks of the same cell

    @property
    def kind(self) -> tuple[Any, ...]:
        """What takes about as long."""
        return self.function, self.block.cell.first


def blocks(
    lab: Lab, start: int, stop: int, done: Collection[Cell], wanted: Wanted | None = None
) -> list[Block]:
    """The repeats from `start` to `stop` of all cells but those `done`, all advancing together.

    So a stopped run has something of each.
    """
    cut: list[Block] = []
    for cell in lab.cells:
        if wanted is not None and not wanted[cell.epsilon, cell.protocol].any():
            continue
        size = _repeats_per_task(lab, cell, stop - start)
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


def _repeats_per_task(lab: Lab, cell: Cell, repeats: int) -> int:
    few = max(VALUES // lab.datasets[cell.dataset].d, 1)
    return min(REPEATS, few, -(-repeats // 4), max(CHUNKS // lab.chunks(cell), 1))


def outcomes(
    lab: Lab, staff: Workers, todo: Collection[Block], wanted: Wanted | None, progress: Progress
) -> Generator[Outcome, None, None]:
    """The outcomes of blocks, as they finish.

    Once `progress` says to stop, nothing more is started; what is running is waited for and still
    comes out (but not on a cluster, which does not tell what is).
    """
    finished: SimpleQueue[Future[Any]] = SimpleQueue()
    running: dict[Future[Any], list[Task]] = {}
    parts: dict[Block, list[tuple[int, Tally, float]]] = {}
    urgent: deque[Task] = deque()  # cells whose chunks are all there
    fresh = _tasks(lab, todo, wanted)
    pace = _Pace(staff.bundle)
    try:
        while True:
            while not progress.stopped() and len(running) < IN_FLIGHT * staff.count():
                bundle = pace.bundle(urgent, fresh)
                if not bundle:
                    break
                calls = [(task.function, task.block, *task.args) for task in bundle]
                future = staff.executor.submit(run_bundle, staff.lab, calls)
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
                if isinstance(result, Outcome):
                    pace.learn(task, result.seconds - sum(task.args[2:]))  # less that of its chunks
                    yield result
                else:
                    pace.learn(task, result[1])
                    urgent.extend(_gather(parts, task, result, wanted))
    except BrokenExecutor as error:
        raise LDPError(f"A worker process died (out of memory?): {error}") from error
    finally:
        _take_back(running)


def _tasks(lab: Lab, todo: Collection[Block], wanted: Wanted | None) -> Iterator[Task]:
    """What there is to do, made as it is asked for."""
    for block in todo:
        chunks = lab.chunks(block.cell)
        if chunks <= CHUNKS:
            yield Task(run_block, block, (_methods(block, wanted),), len(block))
            continue
        for start in range(0, chunks, CHUNKS):
            stop = min(start + CHUNKS, chunks)
            share = (stop - start) / chunks
            yield Task(run_chunks, block, (start, stop), share, -(-chunks // CHUNKS))


def _gather(
    parts: dict[Block, list[tuple[int, Tally, float]]],
    task: Task,
    result: tuple[Tally, float],
    wanted: Wanted | None,
) -> list[Task]:
    """Keep the tally of some chunks; when a cell has all of them, the task that finishes it."""
    known = parts.setdefault(task.block, [])
    known.append((task.args[0], *result))
    if len(known) < task.siblings:
        return []
    del parts[task.block]
    known.sort(key=lambda part: part[0])
    tally, seconds = reduce(add, [part[1] for part in known]), sum(part[2] for part in known)
    return [Task(run_block, task.block, (_methods(task.block, wanted), tally, seconds))]


def _methods(block: Block, wanted: Wanted | None) -> BoolArray | None:
    return None if wanted is None else wanted[block.cell.epsilon, block.cell.protocol]


class _Pace:
    """How long tasks of a kind take, so that small ones can go together."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # of a bundle
        self._known: dict[tuple[Any, ...], float] = {}

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
