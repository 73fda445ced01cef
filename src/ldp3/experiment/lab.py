"""What a worker needs to run cells: an experiment with all that it names built.

Cells draw from streams that their own description names, so the numbers depend on nothing else.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from math import ceil
from typing import Any

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.errors import InvalidData, InvalidParameter, site
from ldp3.experiment.attackers import Attackers
from ldp3.experiment.cells import Cell
from ldp3.experiment.checks import require_numbers, require_rows, require_tally
from ldp3.experiment.grid import Choice, Experiment, Way
from ldp3.experiment.limit import SCORED, SeparableOracle
from ldp3.metrics.base import build_metric
from ldp3.noise import PureNoise
from ldp3.plugins import plugin
from ldp3.postprocessing.base import build_method
from ldp3.protocols.base import FrequencyOracle, build_oracle, users_between
from ldp3.randomness import stream
from ldp3.results import names
from ldp3.types import Estimate, Tally

SHARE = 0.18  # of a cell's time that the limit may take: a fifth, if costs differ a little


class Lab:
    """An experiment with everything it names built: what a worker holds.

    It travels as the bare experiment with the `sources` of its plug-ins, and is built again where
    it arrives, once per worker.
    """

    def __init__(self, experiment: Experiment, sources: Sequence[bytes] | None = None) -> None:
        files = experiment.plugins
        self.sources = [path.read_bytes() for path in files] if sources is None else sources
        self._modules = [plugin(*pair) for pair in zip(files, self.sources, strict=True)]
        self.experiment = experiment
        self.datasets = {data.name: data for data in experiment.datasets}
        self.methods = [build_method(c.thing, *self._modules) for c in experiment.methods]
        made = [build_metric(c.thing, *self._modules) for c in experiment.metrics]
        self.metrics = {name: [m.for_data(d) for m in made] for name, d in self.datasets.items()}
        self._oracles: dict[tuple[str, float, int], FrequencyOracle] = {}
        self._applies: dict[tuple[str, float, str], BoolArray] = {}
        self._limits: dict[tuple[str, float, str], SeparableOracle | str | None] = {}
        self.attackers = Attackers(experiment, self._modules, self._streams)
        self._refuse_misfits()

    def __reduce__(self) -> Any:
        _ = self.experiment.key  # goes along: where this arrives, there may be no plug-in files
        return lab_of, (self.experiment, self.sources)

    @cached_property
    def cells(self) -> list[Cell]:
        """The first repeat of each cell, in the order of the tables; without impossible attacks."""
        return [c for c in self._every_cell if self.attackers.can(c, self.oracle(c))]

    @cached_property
    def _every_cell(self) -> list[Cell]:
        ex = self.experiment
        axes = self.datasets, ex.epsilons, ex.arms, [c.spec for c in ex.protocols]
        return [Cell(*place) for place in product(*axes)]

    def oracle(self, cell: Cell) -> FrequencyOracle:
        """The protocol of a cell."""
        place = cell.protocol, cell.epsilon, self.datasets[cell.dataset].d
        if place not in self._oracles:
            thing = next(c.thing for c in self.experiment.protocols if c.spec == cell.protocol)
            self._oracles[place] = build_oracle(
                thing, *self._modules, epsilon=cell.epsilon, d=place[2]
            )
        return self._oracles[place]

    def applies(self, cell: Cell) -> BoolArray:
        """Which methods can serve a cell."""
        place = cell.protocol, cell.epsilon, cell.dataset
        if place not in self._applies:
            oracle, ordered = self.oracle(cell), self.datasets[cell.dataset].ordered
            serves = [m.applies(oracle) and (ordered or not m.needs_order) for m in self.methods]
            self._applies[place] = np.array(serves)
        return self._applies[place]

    def way(self, cell: Cell) -> Way:
        """How a cell runs: by users if its protocol does not know the law of its tally."""
        own = type(self.oracle(cell)).simulate is not FrequencyOracle.simulate
        return self.experiment.simulate if own else "users"

    def chunks(self, cell: Cell) -> int:
        """How many chunks of users a cell has; what is drawn at once counts as one."""
        if self.way(cell) == "exact":
            return 1
        return -(-self.datasets[cell.dataset].n // self.oracle(cell).chunk_size)

    @property
    def notes(self) -> list[str]:
        """What a person should know before the run, one sentence each."""
        slow = [c.protocol for c in self.cells if self.way(c) != self.experiment.simulate]
        notes = [
            f"{names.protocol(p)} has no exact simulation: it runs by users." for p in _once(slow)
        ]
        left_out = ((c.attack, c.protocol) for c in self._every_cell if c not in self.cells)
        notes += _once(f"{names.attack(a)} cannot be carried out against {names.protocol(p)}: left "
                       f"out there." for a, p in left_out)  # fmt: skip
        for m, choice in enumerate(self.experiment.methods):
            without = _once(
                names.protocol(c.protocol) for c in self.cells if not self.applies(c)[m]
            )
            if self.methods[m].needs_order:
                notes += self._unordered(choice)
            elif without:
                called = names.method(choice.spec)
                notes.append(f"{called} does not apply to {', '.join(without)}: left out there.")
        return notes + self._order_notes() + _once(filter(None, map(self._no_limit, self.cells)))

    def _no_limit(self, cell: Cell) -> str:
        """Why a cell has no limit, where one could be expected."""
        rule = self.limit(cell)
        if not isinstance(rule, SeparableOracle):
            return rule or ""
        every = self._every(cell, rule)
        few = self.experiment.repeats < every
        return (
            f"No × limit for {names.protocol(cell.protocol)}: it needs {every} repeats."
            if few
            else ""
        )

    def _unordered(self, choice: Choice) -> list[str]:
        labels = [name for name, data in self.datasets.items() if not data.ordered]
        all_alike = 1 < len(labels) == len(self.datasets)
        which = "labels" if all_alike else f"{', '.join(labels)}: labels"
        called = names.method(choice.spec)
        return [f"{called} does not apply to {which} without an order."] if labels else []

    def _order_notes(self) -> list[str]:
        """Which metrics go by an order that the values do not have."""
        labels = [name for name, data in self.datasets.items() if not data.ordered]
        asked = zip(self.experiment.metrics, next(iter(self.metrics.values())), strict=True)
        wanting = [names.metric(choice.spec) for choice, metric in asked if metric.needs_order]
        if not labels or not wanting:
            return []
        goes = "go" if len(wanting) > 1 else "goes"
        which = "" if len(labels) == len(self.datasets) else f" of {', '.join(labels)}"
        return [
            f"{', '.join(wanting)} {goes} by the order of the values, but those{which} are labels "
            f"without one; `ordered` if their order means something."
        ]

    def tally(self, cell: Cell, chunks: range) -> Tally:
        """The tally of some chunks of a cell; fake users come with the first."""
        honest = self._honest(cell, chunks)
        if 0 not in chunks or not self.attackers.number(cell):
            return honest
        return honest + self.attackers.tally(cell, self.oracle(cell), self.way(cell))

    def _honest(self, cell: Cell, chunks: range) -> Tally:
        oracle, data = self.oracle(cell), self.datasets[cell.dataset]
        if self.way(cell) == "exact":
            return oracle.simulate(data.histogram, self._rng(cell, 0))
        tally = None
        for chunk in chunks:
            start = chunk * oracle.chunk_size
            values = self.users(cell, start, min(start + oracle.chunk_size, data.n))
            reports = oracle.perturb(values, self._rng(cell, chunk))
            require_rows(oracle.perturb, reports, len(values), "row per user")
            part = oracle.aggregate(reports)
            require_tally(oracle, part, len(values))
            # left to right: real totals must not depend on who was first
            tally = part if tally is None else tally + part
        assert tally is not None
        return tally

    def users(self, cell: Cell, start: int, stop: int) -> IntArray:
        """The values of some users of a cell, in order of value."""
        return users_between(self._ends[cell.dataset], start, stop)

    def estimate(self, cell: Cell, tally: Tally) -> Estimate:
        """What a cell's protocol makes of its tally."""
        oracle = self.oracle(cell)
        estimate = oracle.estimate(tally)
        if not isinstance(estimate, Estimate):
            raise InvalidData(f"{site(oracle.estimate)}: estimate must give an Estimate.")
        require_rows(oracle.estimate, estimate.frequencies, oracle.d, "frequency per value")
        require_numbers(oracle.estimate, estimate.frequencies)
        return estimate

    def frequencies(self, cell: Cell, estimate: Estimate, wanted: BoolArray | None) -> FloatArray:
        """Every method on the one estimate of a cell, by method and value; NaN if not wanted."""
        oracle = self.oracle(cell)
        out = np.full((len(self.methods), oracle.d), np.nan)
        for i in np.flatnonzero(self.applies(cell) if wanted is None else wanted):
            f = self.methods[i](estimate)
            if np.shape(f) != (oracle.d,) or not np.isfinite(f).all():
                raise InvalidData(
                    f"{site(self.methods[i].refine)}: {self.experiment.methods[i].spec}: "
                    f"frequencies must be {oracle.d} finite "
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
            out[i] = [metric(reference, frequencies[i]) for metric in metrics]
            for metric in (m for m, v in zip(metrics, out[i], strict=True) if np.isnan(v)):
                raise InvalidData(f"{site(metric.compare)}: compare must give a number, got nan.")
        return out

    def limits(self, cell: Cell, estimate: Estimate) -> FloatArray:
        """What the separable oracle scores, and as a distribution, by metric; NaN if nothing."""
        metrics, truth = self.metrics[cell.dataset], self.datasets[cell.dataset].frequencies
        rule = self.limit(cell)
        if not isinstance(rule, SeparableOracle) or (cell.repeat + 1) % self._every(cell, rule):
            return np.full((2, len(metrics)), np.nan)
        return rule.scores(estimate, truth, metrics)

    def _every(self, cell: Cell, rule: SeparableOracle) -> int:
        """In one of how many repeats the limit is taken, to stay within its share of the time.

        By what simulation, methods and metrics take at least, in milliseconds as they were measured
        once: a rule and not a stopwatch, so that every machine makes the same table.
        """
        if self.way(cell) == "users":
            return 1
        d, metrics = self.datasets[cell.dataset].d, self.metrics[cell.dataset]
        methods = int(self.applies(cell).sum())
        rest = 0.08 + 1e-4 * d + methods * (0.04 + SCORED * len(metrics)) + (methods - 1) * 7e-5 * d
        return ceil(rule.cost(metrics) * (1 - SHARE) / (SHARE * rest))

    def limit(self, cell: Cell) -> SeparableOracle | str | None:
        """The yardstick of a cell, or why there is none; None where nobody could want it."""
        place = cell.protocol, cell.epsilon, cell.dataset
        if place not in self._limits:
            self._limits[place] = self._limit(cell)
        return self._limits[place] if cell.attack == "none" else None

    def _limit(self, cell: Cell) -> SeparableOracle | str | None:
        ex, data, support = self.experiment, self.datasets[cell.dataset], self.oracle(cell).support
        wanted = any(metric.bayes is not None for metric in self.metrics[cell.dataset])
        if not ex.limit or ex.reference == "raw" or not wanted:
            return None
        if support is None:
            return f"No × limit for {names.protocol(cell.protocol)}: it has no p and q."
        return SeparableOracle(data.histogram, PureNoise.of(support, data.n))

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
        return {name: np.cumsum(data.histogram) for name, data in self.datasets.items()}

    def _refuse_misfits(self) -> None:
        for cell in self._every_cell:
            self.attackers.refuse_misfit(cell, self.oracle(cell))
        for cell in self.cells:
            data = self.datasets[cell.dataset]
            for m in np.flatnonzero(~self.applies(cell)):
                choice = self.experiment.methods[m]
                if choice.asked and self.methods[m].needs_order and not data.ordered:
                    raise InvalidParameter(
                        f"{choice.spec} takes neighbours for alike, but the values of {data.name} "
                        f"are labels without an order: leave it out, or say they are `ordered`."
                    )
                if choice.asked:
                    raise InvalidParameter(
                        f"{choice.spec} does not apply to {cell.protocol} at "
                        f"epsilon={cell.epsilon:g}, d={data.d}: leave one of them out."
                    )


_labs: dict[str, Lab] = {}  # what this process works on


def lab_of(experiment: Experiment, sources: Sequence[bytes] | None = None) -> Lab:
    """The lab of an experiment; one is kept, so that tasks need not carry it."""
    found = _labs.get(experiment.key)
    if found is None:  # whatever other threads do meanwhile
        found = Lab(experiment, sources)
        _labs.clear()
        _labs[experiment.key] = found
    return found


def kept_lab(lab: Lab | str) -> Lab:
    """The lab that a task works on, wherever it runs: itself, or the one that a worker keeps."""
    return _labs[lab] if isinstance(lab, str) else lab


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
