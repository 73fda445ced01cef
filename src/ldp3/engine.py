"""Run an experiment on any executor.

A *cell* is one collection: protocol × ε × repeat. Every method and every metric is applied to the
cell's one estimate, so methods compare paired. Cells run in blocks of a few repeats of one protocol
and ε; where there are many users, the chunks of a cell run as tasks of their own. Cells draw from
streams that their own description names, and the experiment alone decides how they are cut, so
the numbers depend neither on the executor nor on the order in which it works.
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
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

from ldp3 import catalog
from ldp3.datasets.loading import load
from ldp3.errors import InvalidData, InvalidParameter, LDPError, blaming, site
from ldp3.experiment import CHUNKS, Block, Choice, Experiment, Named, Reference, Way, experiment
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import method
from ldp3.protocols.base import FrequencyOracle, users_between
from ldp3.randomness import stream
from ldp3.results import Results
from ldp3.types import BoolArray, Estimate, FloatArray, IntArray, Total

IN_FLIGHT = 8  # tasks given to the executor per worker: enough to keep it busy, few to take back


@dataclass(frozen=True)
class Outcome:
    """What a block measured.

    Parameters
    ----------
    block
        Which repeats of which protocol and ε.
    values
        Shape `(repeats, methods, metrics)`.
    sums
        Frequencies added over the repeats, shape `(methods, d)`.
    estimates
        The frequencies themselves, shape `(repeats, methods, d)`, where they are kept.
    seconds
        Processor time it took.
    """

    block: Block
    values: FloatArray
    sums: FloatArray
    estimates: FloatArray | None
    seconds: float


class Bench:
    """An experiment with everything it names built: what a worker holds.

    It travels as the bare experiment and is built again where it arrives, once per worker.
    """

    def __init__(self, experiment: Experiment) -> None:
        modules = [catalog.plugin(path) for path in experiment.plugins]
        data = experiment.data
        self.experiment = experiment
        self.methods = [method(c.thing, *modules) for c in experiment.methods]  # type: ignore[arg-type]
        self.metrics = [_metric(c, modules).for_data(data) for c in experiment.metrics]
        self.oracles = [
            [_oracle(c, modules, e, data.d) for e in experiment.epsilons]
            for c in experiment.protocols
        ]
        self.applies = self._applies()

    def __reduce__(self) -> Any:
        return bench, (self.experiment,)

    @cached_property
    def ends(self) -> Any:
        """The cumulated histogram: who holds what, in order of value."""
        return np.cumsum(self.experiment.data.histogram)

    def way(self, protocol: int) -> Way:
        """How the cells of a protocol run: by users if it does not know the law of its counts."""
        own = type(self.oracles[protocol][0]).simulate is not FrequencyOracle.simulate
        return self.experiment.simulate if own else "users"

    @property
    def notes(self) -> list[str]:
        """What a person should know before the run, one sentence each."""
        ex = self.experiment
        slow = [c.spec for p, c in enumerate(ex.protocols) if self.way(p) != ex.simulate]
        notes = [f"{spec} has no exact simulation: it runs by users." for spec in slow]
        for m, choice in enumerate(ex.methods):
            without = [
                c.spec for p, c in enumerate(ex.protocols) if not self.applies[p, :, m].all()
            ]
            if without:
                notes.append(
                    f"{choice.spec} does not apply to {', '.join(without)}: left out there."
                )
        return notes

    def chunks(self, protocol: int, epsilon: int) -> int:
        """How many chunks of users a cell has; what is drawn at once counts as one."""
        if self.way(protocol) == "exact":
            return 1
        return -(-self.experiment.data.n // self.oracles[protocol][epsilon].batch)

    def blocks(self) -> list[Block]:
        """The grid, in order."""
        ex = self.experiment
        return [
            Block(e, p, repeats.start, repeats.stop)
            for e in range(len(ex.epsilons))
            for p in range(len(ex.protocols))
            for repeats in ex.blocks(self.chunks(p, e))
        ]

    def rng(self, block: Block, repeat: int, chunk: int) -> np.random.Generator:
        """The stream of a chunk; nothing but the chunk's own description is in its key."""
        ex, way = self.experiment, self.way(block.protocol)
        spec, epsilon = ex.protocols[block.protocol].spec, ex.epsilons[block.epsilon]
        return stream(ex.seed, way, spec, epsilon.hex(), ex.data.d, repeat, chunk)

    def total(self, block: Block, repeat: int, chunks: range) -> Total:
        """The aggregate of some chunks of a cell."""
        oracle = self.oracles[block.protocol][block.epsilon]
        if self.way(block.protocol) == "exact":
            return oracle.simulate(self.experiment.data.histogram, self.rng(block, repeat, 0))
        parts = []
        for chunk in chunks:
            stop = min((chunk + 1) * oracle.batch, self.experiment.data.n)
            values = users_between(self.ends, chunk * oracle.batch, stop)
            reports = oracle.perturb(values, self.rng(block, repeat, chunk))
            _require_rows(oracle.perturb, reports, len(values), "row per user")
            parts.append(oracle.aggregate(reports))
            _require_numbers(oracle.aggregate, parts[-1])
        return add(parts)

    def frequencies(self, block: Block, total: Total) -> FloatArray:
        """Every method on the one estimate of a cell, shape `(methods, d)`."""
        oracle = self.oracles[block.protocol][block.epsilon]
        estimate = oracle.estimate(total, self.experiment.data.n)
        if not isinstance(estimate, Estimate):
            raise InvalidData(f"{site(oracle.estimate)}: estimate must return an Estimate.")
        _require_rows(oracle.estimate, estimate.frequencies, oracle.d, "frequency per value")
        _require_numbers(oracle.estimate, estimate.frequencies)
        out = np.full((len(self.methods), oracle.d), np.nan)
        for i in np.flatnonzero(self.applies[block.protocol, block.epsilon]):
            f = self.methods[i](estimate)
            if np.shape(f) != (oracle.d,) or not np.isfinite(f).all():
                raise InvalidData(
                    f"{site(self.methods[i].refine)}: frequencies must be {oracle.d} finite "
                    f"numbers, got shape {np.shape(f)} after "
                    f"{self.experiment.protocols[block.protocol].spec}."
                )
            out[i] = f
        return out

    def scores(self, frequencies: FloatArray) -> FloatArray:
        """Every metric of every method, shape `(methods, metrics)`."""
        ex = self.experiment
        # `none` is the first method: the raw estimate
        reference = ex.data.frequencies if ex.reference == "truth" else frequencies[0]
        out = np.full((len(frequencies), len(self.metrics)), np.nan)
        for i in np.flatnonzero(~np.isnan(frequencies[:, 0])):
            out[i] = [metric(reference, frequencies[i]) for metric in self.metrics]
            for metric in (m for m, v in zip(self.metrics, out[i], strict=True) if np.isnan(v)):
                raise InvalidData(f"{site(metric.compare)}: compare must return a number, got nan.")
        return out

    def _applies(self) -> BoolArray:
        out = np.array(
            [[[m.applies(o) for m in self.methods] for o in row] for row in self.oracles]
        )
        for p, e, m in np.argwhere(~out):
            ex = self.experiment
            if ex.methods[m].asked:
                raise InvalidParameter(
                    f"{ex.methods[m].spec} does not apply to {ex.protocols[p].spec} at "
                    f"epsilon={ex.epsilons[e]:g}, d={ex.data.d}: leave one of them out."
                )
        return out


def _require_rows(method: Callable[..., Any], array: object, count: int, what: str) -> None:
    """Refuse what a plug-in's method gives back if it is not an array of this length."""
    if not isinstance(array, np.ndarray) or array.ndim == 0 or len(array) != count:
        got = f"shape {np.shape(array)}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InvalidData(
            f"{site(method)}: {method.__name__} must give an array with one {what}, {count} here, "
            f"got {got}."
        )


def _require_numbers(method: Callable[..., Any], array: Any) -> None:
    if not isinstance(array, np.ndarray) or not np.isfinite(array).all():
        raise InvalidData(
            f"{site(method)}: {method.__name__} must give an array of finite numbers."
        )


def _oracle(
    choice: Choice, modules: Sequence[ModuleType], epsilon: float, d: int
) -> FrequencyOracle:
    return catalog.build(FrequencyOracle, choice.thing, *modules, epsilon=epsilon, d=d)  # type: ignore[type-abstract, arg-type]


def _metric(choice: Choice, modules: Sequence[ModuleType]) -> Metric:
    if isinstance(choice.thing, Metric):
        return choice.thing
    return catalog.build(Metric, choice.thing, *modules)  # type: ignore[type-abstract, arg-type]


_benches: dict[str, Bench] = {}  # what this process works on


def bench(experiment: Experiment) -> Bench:
    """The bench of an experiment; one is kept, so that tasks need not carry it."""
    if experiment.key not in _benches:
        _benches.clear()
        _benches[experiment.key] = Bench(experiment)
    return _benches[experiment.key]


def add(parts: Sequence[Total]) -> Total:
    """The sum, always from left to right: real totals must not depend on who came first."""
    return sum(parts[1:], start=parts[0])


# Tasks: functions of this module on plain data, so that any executor can run them. They blame a
# plug-in where it fails: a traceback does not travel between processes.


@blaming()
def run_block(
    at: Bench | str, block: Block, total: Total | None = None, spent: float = 0.0
) -> Outcome:
    """All cells of a block; `total` is the aggregate of its one cell, if tasks made it before."""
    here = _benches[at] if isinstance(at, str) else at
    ex, began = here.experiment, time.thread_time()
    every = range(here.chunks(block.protocol, block.epsilon))
    frequencies = [
        here.frequencies(block, here.total(block, r, every) if total is None else total)
        for r in range(block.start, block.stop)
    ]
    return Outcome(
        block,
        np.array([here.scores(f) for f in frequencies]),
        np.asarray(add(frequencies), dtype=np.float64),
        np.array(frequencies) if ex.keep else None,
        time.thread_time() - began + spent,
    )


@blaming()
def run_chunks(at: Bench | str, block: Block, start: int, stop: int) -> tuple[Total, float]:
    """The aggregate of some chunks of a block's one cell, and the processor time."""
    here, began = _benches[at] if isinstance(at, str) else at, time.thread_time()
    total = here.total(block, block.start, range(start, stop))
    return total, time.thread_time() - began


def _start_worker(at: Bench) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    bench(at.experiment)


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
    """What there is to do, in the order of the grid, made as it is asked for."""
    for block in at.blocks():
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


def collect(at: Bench, outcomes: Iterable[Outcome], **about: Any) -> Results:
    """The results of the blocks that ran; `about` goes into the manifest."""
    ex = at.experiment
    grid = len(ex.epsilons), len(ex.protocols)
    values = np.zeros((*grid, ex.repeats, len(ex.methods), len(ex.metrics)))
    ran = np.zeros((*grid, ex.repeats), dtype=bool)
    sums = np.zeros((*grid, len(ex.methods), ex.data.d))
    kept = np.zeros((*grid, ex.repeats, len(ex.methods), ex.data.d)) if ex.keep else None
    seconds = dict.fromkeys((c.spec for c in ex.protocols), 0.0)
    for outcome in sorted(outcomes, key=lambda o: o.block):
        block = outcome.block
        place = block.epsilon, block.protocol, slice(block.start, block.stop)
        values[place], ran[place] = outcome.values, True
        sums[place[:2]] += outcome.sums
        seconds[ex.protocols[block.protocol].spec] += outcome.seconds
        if kept is not None:
            kept[place] = outcome.estimates
    applies = (
        at.applies.swapaxes(0, 1)[:, :, None, :] & ran[..., None]
    )  # ε, protocol, repeat, method
    manifest = {
        **ex.identity,
        "better": {c.spec: m.better for c, m in zip(ex.metrics, at.metrics, strict=True)},
        "seconds": seconds,
        **about,
    }
    return Results(
        table=_table(at, values, applies),
        manifest=manifest,
        truth=ex.data.frequencies,
        labels=tuple(ex.data.labels),
        means=_means(at, sums, applies.sum(axis=2)),
        estimates=None if kept is None else _estimates(at, kept, applies),
    )


def _table(at: Bench, values: FloatArray, there: BoolArray) -> pl.DataFrame:
    ex, metrics = at.experiment, len(at.metrics)
    order = 0, 1, 3, 4, 2  # ε, protocol, method, metric, repeat
    shown = np.broadcast_to(there[..., None], (*there.shape, metrics)).transpose(order)
    e, p, m, u, r = np.nonzero(shown)
    ways = pl.Series([at.way(i) for i in range(len(ex.protocols))])
    return pl.DataFrame(
        {
            "dataset": pl.repeat(ex.data.name, len(e), eager=True),
            "n": pl.repeat(ex.data.n, len(e), dtype=pl.Int64, eager=True),
            "d": pl.repeat(ex.data.d, len(e), dtype=pl.Int64, eager=True),
            "epsilon": np.array(ex.epsilons)[e],
            "protocol": _named(ex.protocols)[p],
            "method": _named(ex.methods)[m],
            "metric": _named(ex.metrics)[u],
            "repeat": r,
            "value": values.transpose(order)[shown],
            "simulate": ways[p],
        }
    )


def _means(at: Bench, sums: FloatArray, counts: IntArray) -> pl.DataFrame:
    e, p, m = np.nonzero(counts)
    return pl.DataFrame(
        {
            **_places(at, e, p, m),
            "frequencies": _vectors(sums[e, p, m] / counts[e, p, m, None], at),
        }
    )


def _estimates(at: Bench, kept: FloatArray, there: BoolArray) -> pl.DataFrame:
    e, p, m, r = np.nonzero(there.swapaxes(2, 3))
    return pl.DataFrame(
        {**_places(at, e, p, m), "repeat": r, "frequencies": _vectors(kept[e, p, r, m], at)}
    )


def _places(at: Bench, e: IntArray, p: IntArray, m: IntArray) -> dict[str, Any]:
    ex = at.experiment
    return {
        "epsilon": np.array(ex.epsilons)[e],
        "protocol": _named(ex.protocols)[p],
        "method": _named(ex.methods)[m],
    }


def _named(choices: Sequence[Choice]) -> pl.Series:
    return pl.Series([choice.spec for choice in choices])


def _vectors(rows: FloatArray, at: Bench) -> pl.Series:
    return pl.Series(rows, dtype=pl.Array(pl.Float64, at.experiment.data.d))


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
    modules = [catalog.plugin(path) for path in files]
    dataset = load(data, None, *modules)
    ex = experiment(
        dataset, epsilons, protocols, methods, metrics, repeats=repeats, seed=seed,
        simulate=simulate, reference=reference, keep=keep, plugins=files,
    )  # fmt: skip
    at = Bench(ex)
    began = time.monotonic()
    outcomes = list(run(at, executor, threads))
    return collect(at, outcomes, elapsed=time.monotonic() - began)
