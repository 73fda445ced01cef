"""Where cells are run: an experiment with all that it names built, and the tasks that use it.

A *cell* is one collection: protocol × ε × repeat. Every method and every metric is applied to the
cell's one estimate, so methods compare paired. Cells draw from streams that their own description
names, so the numbers depend on nothing else.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from ldp3 import catalog
from ldp3.arrays import BoolArray, FloatArray, Total
from ldp3.errors import InvalidData, InvalidParameter, blaming, site
from ldp3.experiment import Block, Choice, Experiment, Way
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import method
from ldp3.protocols.base import FrequencyOracle, users_between
from ldp3.randomness import stream
from ldp3.types import Dataset, Estimate


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

    It travels as the bare experiment with the `sources` of its plug-ins, and is built again where
    it arrives, once per worker.
    """

    def __init__(self, experiment: Experiment, sources: Sequence[bytes] | None = None) -> None:
        files = experiment.plugins
        self.sources = [path.read_bytes() for path in files] if sources is None else sources
        modules = [catalog.plugin(*pair) for pair in zip(files, self.sources, strict=True)]
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
        _ = self.experiment.key  # goes along: where this arrives, there may be no plug-in files
        return bench_of, (self.experiment, self.sources)

    @cached_property
    def ends(self) -> Any:
        """The cumulated histogram: who holds what, in order of value."""
        return np.cumsum(self.experiment.data.histogram)

    def on(self, data: Dataset, applies: BoolArray) -> "Bench":
        """The same bench for other users with the same domain, and with fewer methods at work.

        It does not travel: it is made where it is needed.
        """
        other = object.__new__(Bench)  # not `copy`, which goes the way of pickle and builds anew
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k != "ends"})
        other.experiment = replace(self.experiment, data=data)
        other.metrics = [metric.for_data(data) for metric in self.metrics]
        other.applies = self.applies & applies
        return other

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
            raise InvalidData(f"{site(oracle.estimate)}: estimate must give an Estimate.")
        _require_rows(oracle.estimate, estimate.frequencies, oracle.d, "frequency per value")
        _require_numbers(oracle.estimate, estimate.frequencies)
        out = np.full((len(self.methods), oracle.d), np.nan)
        for i in np.flatnonzero(self.applies[block.protocol, block.epsilon]):
            f = self.methods[i](estimate)
            if np.shape(f) != (oracle.d,) or not np.isfinite(f).all():
                raise InvalidData(
                    f"{site(self.methods[i].refine)}: {self.experiment.methods[i].spec}: "
                    f"frequencies must be {oracle.d} finite "
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
                raise InvalidData(f"{site(metric.compare)}: compare must give a number, got nan.")
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
        got = f"shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
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


def bench_of(experiment: Experiment, sources: Sequence[bytes] | None = None) -> Bench:
    """The bench of an experiment; one is kept, so that tasks need not carry it."""
    found = _benches.get(experiment.key)
    if found is None:  # whatever other threads do meanwhile
        found = Bench(experiment, sources)
        _benches.clear()
        _benches[experiment.key] = found
    return found


def held(at: Bench | str) -> Bench:
    """The bench that a task works on, wherever it runs: itself, or the one that a worker keeps."""
    return _benches[at] if isinstance(at, str) else at


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
    here = held(at)
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
    here, began = held(at), time.thread_time()
    total = here.total(block, block.start, range(start, stop))
    return total, time.thread_time() - began


def run_batch(at: Bench | str, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Several tasks as one: each a function of the above and what it takes besides the bench."""
    return [function(at, *arguments) for function, *arguments in calls]
