"""How cells run: an experiment with everything it names built, which is what a worker holds.

Cells draw from streams that their own description names, so the numbers depend on nothing else.
"""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.errors import InvalidData, site
from ldp3.experiment import applicability
from ldp3.experiment.attackers import Attackers
from ldp3.experiment.grid import Experiment, Way
from ldp3.experiment.limit import SeparableOracle
from ldp3.experiment.outcomes import Block, Outcome, exact_sums
from ldp3.metrics.base import build_metric
from ldp3.noise import PureNoise
from ldp3.people import Dataset, Marginals
from ldp3.plugins import plugin
from ldp3.postprocessing.base import PostProcessor, build_method
from ldp3.protocols.base import FrequencyOracle, build_oracle, users_between
from ldp3.randomness import stream
from ldp3.results.axes import Cell
from ldp3.schemes.attributes import RecordScheme
from ldp3.tables import Tables
from ldp3.types import Estimate, Tally

FIRST, LATER = 10, 4  # the limit of exact simulation: first every repeat, later one of so many


class Simulator:
    """An experiment with everything it names built.

    It travels as the bare experiment with the `sources` of its plug-ins, and is built again where
    it arrives, once per worker.
    """

    def __init__(self, experiment: Experiment, sources: Sequence[bytes] | None = None) -> None:
        files = experiment.plugins
        self.sources = [path.read_bytes() for path in files] if sources is None else sources
        self._modules = [plugin(*pair) for pair in zip(files, self.sources, strict=True)]
        self.experiment = experiment
        self.every_cell = applicability.suited(experiment, self._modules)  # not all are possible
        self.datasets = {data.name: data for data in experiment.datasets}
        self.methods = [build_method(c.thing, *self._modules) for c in experiment.methods]
        made = [build_metric(c.thing, *self._modules) for c in experiment.metrics]
        self.metrics = {name: [m.for_data(d) for m in made] for name, d in self.datasets.items()}
        self._measures = {name: [m.on(d) for m in made] for name, d in self.datasets.items()}
        self._oracles: dict[tuple[str, float, tuple[int, ...]], FrequencyOracle] = {}
        self._applies: dict[tuple[str, float, str], BoolArray] = {}
        self._limits: dict[tuple[str, float, str], SeparableOracle | None] = {}
        self.attackers = Attackers(experiment, self._modules, self._streams)
        applicability.refuse_misfits(self)

    def __reduce__(self) -> Any:
        _ = self.experiment.key  # goes along: where this arrives, there may be no plug-in files
        return kept_simulator, (self.experiment, self.sources)

    @cached_property
    def cells(self) -> list[Cell]:
        """The first repeat of each cell that is possible, in the order of the tables."""
        return [
            cell
            for cell in self.every_cell
            if self.attackers.can(cell, self.oracle(cell))
            and self.datasets[cell.dataset].domain.suits(self.oracle(cell))
            and applicability.tells(self.oracle(cell), self.datasets[cell.dataset])
        ]

    @property
    def notes(self) -> list[str]:
        """What a person should know before the run, one sentence each."""
        return applicability.notes(self)

    def oracle(self, cell: Cell) -> FrequencyOracle:
        """The protocol of a cell."""
        data = self.datasets[cell.dataset]
        sizes = data.people.sizes if isinstance(data, Marginals) else ()
        place = cell.protocol, cell.epsilon, sizes or (data.d,)
        if place not in self._oracles:
            thing = next(c.thing for c in self.experiment.protocols if c.spec == cell.protocol)
            self._oracles[place] = build_oracle(
                thing, *self._modules, epsilon=cell.epsilon, d=prod(place[2]), sizes=sizes
            )
        return self._oracles[place]

    def applies(self, cell: Cell) -> BoolArray:
        """Which methods can serve a cell."""
        place = cell.protocol, cell.epsilon, cell.dataset
        if place not in self._applies:
            oracle, domain = self.oracle(cell), self.datasets[cell.dataset].domain
            self._applies[place] = np.array(
                [
                    m.serves(oracle) and domain.suits(m) and oracle.needs_records >= m.needs_records
                    for m in self.methods
                ]
            )
        return self._applies[place]

    def way(self, cell: Cell) -> Way:
        """How a cell runs: by users if its protocol does not know the law of its tally."""
        own = self.oracle(cell).simulates_exactly
        return self.experiment.simulate if own else "users"

    def chunks(self, cell: Cell) -> int:
        """How many chunks of users a cell has; what is drawn at once counts as one."""
        if self.way(cell) == "exact":
            return 1
        return -(-self.datasets[cell.dataset].n // self.oracle(cell).chunk_size)

    def measure(
        self, block: Block, methods: BoolArray | None = None, tally: Tally | None = None
    ) -> Outcome:
        """All repeats of a block.

        Parameters
        ----------
        block
            Which repeats of which cell.
        methods
            Which to measure; all that apply if not given.
        tally
            That of the block's one repeat, where it was made before.
        """
        began, keep = time.thread_time(), self.experiment.keep
        chunks = range(self.chunks(block.cell))
        frequencies, limits = [], []
        for cell in block.cells:
            found = self.estimate(cell, self.tally(cell, chunks) if tally is None else tally)
            frequencies.append(self.frequencies(cell, found, methods))
            limits.append(self.limits(cell, found))
        return Outcome(
            block,
            np.array([self.scores(block.cell, f) for f in frequencies]),
            None if keep == "scores" else exact_sums(frequencies),
            np.array(frequencies) if keep == "estimates" else None,
            time.thread_time() - began,
            np.array(limits),
        )

    def tally(self, cell: Cell, chunks: range) -> Tally:
        """The tally of some chunks of a cell; fake users come with the first."""
        honest = self._honest(cell, chunks)
        if 0 not in chunks or not self.attackers.number(cell):
            return honest
        return honest + self.attackers.tally(cell, self.oracle(cell), self.way(cell))

    def _honest(self, cell: Cell, chunks: range) -> Tally:
        oracle, data = self.oracle(cell), self.datasets[cell.dataset]
        if self.way(cell) == "exact" and isinstance(data, Marginals):
            assert isinstance(oracle, RecordScheme)
            people = data.people
            return oracle.simulate_records(people.records, people.counts, self._rng(cell, 0))
        if self.way(cell) == "exact":
            return oracle.simulate(data.histogram, self._rng(cell, 0))
        tally = None
        for chunk in chunks:
            start = chunk * oracle.chunk_size
            values = self.users(cell, start, min(start + oracle.chunk_size, data.n))
            reports = oracle.perturb(values, self._rng(cell, chunk))
            _require_rows(oracle.perturb, reports, len(values), "row per person")
            part = oracle.aggregate(reports)
            _require_tally(oracle, part, len(values))
            # left to right: real totals must not depend on who was first
            tally = part if tally is None else tally + part
        assert tally is not None
        return tally

    def users(self, cell: Cell, start: int, stop: int) -> IntArray:
        """The values of some users of a cell, in order of value; of records their numbers."""
        data = self.datasets[cell.dataset]
        places = users_between(self._ends[cell.dataset], start, stop)
        if not isinstance(data, Marginals):
            return places
        return data.people.domain.codes(data.people.records[places])

    def estimate(self, cell: Cell, tally: Tally) -> Estimate | Tables:
        """What a cell's protocol makes of its tally."""
        oracle, data = self.oracle(cell), self.datasets[cell.dataset]
        if isinstance(data, Marginals):
            assert isinstance(oracle, RecordScheme)
            return oracle.tables(tally, data.people.domain)
        estimate = oracle.estimate(tally)
        if not isinstance(estimate, Estimate):
            raise InvalidData(f"{site(oracle.estimate)}: estimate must give an Estimate.")
        _require_rows(oracle.estimate, estimate.frequencies, oracle.d, "frequency per value")
        _require_numbers(oracle.estimate, estimate.frequencies)
        return estimate

    def frequencies(
        self, cell: Cell, estimate: Estimate | Tables, wanted: BoolArray | None
    ) -> FloatArray:
        """Every method on the one estimate of a cell, by method and value; NaN if not wanted."""
        data = self.datasets[cell.dataset]
        out = np.full((len(self.methods), data.d), np.nan)
        for i in np.flatnonzero(self.applies(cell) if wanted is None else wanted):
            f = _refined(self.methods[i], estimate, data)
            if np.shape(f) != (data.d,) or not np.isfinite(f).all():
                raise InvalidData(
                    f"{site(self.methods[i].refine)}: {self.experiment.methods[i].spec}: "
                    f"frequencies must be {data.d} finite "
                    f"numbers, got shape {np.shape(f)} after {cell.protocol}."
                )
            out[i] = f
        return out

    def scores(self, cell: Cell, frequencies: FloatArray) -> FloatArray:
        """Every metric of every method."""
        metrics, truth = self.metrics[cell.dataset], self.datasets[cell.dataset].frequencies
        # `none` is the first method: the raw estimate
        reference = truth if self.experiment.reference == "truth" else frequencies[0]
        out = np.full((len(frequencies), len(metrics)), np.nan)
        for i in np.flatnonzero(~np.isnan(frequencies[:, 0])):
            out[i] = [
                measure(reference, frequencies[i]) for measure in self._measures[cell.dataset]
            ]
            for metric in (m for m, v in zip(metrics, out[i], strict=True) if np.isnan(v)):
                raise InvalidData(f"{site(metric.compare)}: compare must give a number, got nan.")
        return out

    def limits(self, cell: Cell, estimate: Estimate | Tables) -> FloatArray:
        """What the separable oracle scores, and as a distribution, by metric; NaN if nothing.

        It costs about as much as exact simulation, so in a long run it is not always asked.
        """
        metrics, truth = self.metrics[cell.dataset], self.datasets[cell.dataset].frequencies
        due = self.way(cell) == "users" or cell.repeat < FIRST or cell.repeat % LATER == 0
        rule = self._limit(cell) if due else None
        if rule is None or isinstance(estimate, Tables):
            return np.full((2, len(metrics)), np.nan)
        return rule.scores(estimate, truth, metrics)

    def wants_limit(self, cell: Cell) -> bool:
        """Whether a cell should have a limit, if its protocol is one that can have it."""
        ex = self.experiment
        measurable = any(metric.bayes is not None for metric in self.metrics[cell.dataset])
        measurable = measurable and not isinstance(self.datasets[cell.dataset], Marginals)
        return ex.limit and ex.reference == "truth" and cell.attack == "none" and measurable

    def _limit(self, cell: Cell) -> SeparableOracle | None:
        support, data = self.oracle(cell).support, self.datasets[cell.dataset]
        if support is None or not self.wants_limit(cell):
            return None
        place = cell.protocol, cell.epsilon, cell.dataset
        if place not in self._limits:
            self._limits[place] = SeparableOracle(data.histogram, PureNoise.of(support, data.n))
        return self._limits[place]

    def _rng(self, cell: Cell, chunk: int) -> np.random.Generator:
        """The stream of a chunk; nothing but the chunk's own description is in its key."""
        seed, way, data = self.experiment.seed, self.way(cell), self._streams[cell.dataset]
        return stream(seed, way, data, cell.protocol, cell.epsilon.hex(), cell.repeat, chunk)

    @cached_property
    def _streams(self) -> dict[str, str]:
        """What the keys of a dataset's streams call it; equal datasets have noise of their own."""
        digests = [data.digest for data in self.datasets.values()]
        again = [digests[:i].count(digest) for i, digest in enumerate(digests)]
        return {name: f"{digests[i]}/{again[i]}" for i, name in enumerate(self.datasets)}

    @cached_property
    def _ends(self) -> dict[str, IntArray]:
        """Cumulated histograms: who holds what, in order of value."""
        return {
            name: np.cumsum(data.people.counts if isinstance(data, Marginals) else data.histogram)
            for name, data in self.datasets.items()
        }


def _refined(method: PostProcessor, estimate: Estimate | Tables, data: Dataset) -> FloatArray:
    """What a method makes of an estimate; of tables, all that are compared one after the other."""
    if isinstance(estimate, Estimate):
        return method(estimate)
    assert isinstance(data, Marginals)
    found = {estimate.attributes(key): f for key, f in method(estimate).items()}
    for target in data.targets:
        if target not in found:
            raise InvalidData(
                f"{data.name}: {estimate.n:,} people are too few: in a repeat nobody was "
                f"asked {estimate.called(target)}; take more people."
            )
    return np.concatenate([np.ravel(found[target]) for target in data.targets])


_kept: dict[str, Simulator] = {}  # what this process works on


def kept_simulator(experiment: Experiment, sources: Sequence[bytes] | None = None) -> Simulator:
    """The simulator of an experiment; one is kept, so that tasks need not carry it."""
    found = _kept.get(experiment.key)
    if found is None:  # whatever other threads do meanwhile
        found = Simulator(experiment, sources)
        _kept.clear()
        _kept[experiment.key] = found
    return found


def simulator_here(simulator: Simulator | str) -> Simulator:
    """What a task works on, wherever it runs: itself, or by its key the one a worker keeps."""
    return _kept[simulator] if isinstance(simulator, str) else simulator


def _require_rows(method: Callable[..., Any], array: object, count: int, what: str) -> None:
    """Refuse what a plug-in's method gives back if it is not an array of this length."""
    if not isinstance(array, np.ndarray) or array.ndim == 0 or len(array) != count:
        got = f"shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InvalidData(
            f"{site(method)}: {method.__name__} must give an array with one {what}, {count} here, "
            f"got {got}."
        )


def _require_numbers(method: Callable[..., Any], array: Any) -> None:
    """Refuse what a plug-in's method gives back if it is not an array of finite numbers."""
    if not isinstance(array, np.ndarray) or not np.isfinite(array).all():
        raise InvalidData(
            f"{site(method)}: {method.__name__} must give an array of finite numbers."
        )


def _require_tally(oracle: FrequencyOracle, tally: object, n: int) -> None:
    """Refuse what a plug-in adds up if it is not the tally of so many reports."""
    if not isinstance(tally, Tally) or tally.n != n:
        raise InvalidData(f"{site(oracle.aggregate)}: aggregate must give a Tally of {n} reports.")
    _require_numbers(oracle.aggregate, tally.total)
