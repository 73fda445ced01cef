"""From a sample and a question to an answer: run the race on the engine's cells."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from statistics import NormalDist

import numpy as np

from ldp3.arrays import BoolArray, FloatArray
from ldp3.bench import Bench, held
from ldp3.datasets.loading import load
from ldp3.engine import workers
from ldp3.errors import InvalidParameter
from ldp3.experiment import Block, Named, experiment
from ldp3.recommendation import race
from ldp3.recommendation.answer import Answer, Candidate, Interval, Recommendation, ValueInterval
from ldp3.recommendation.code import lines
from ldp3.recommendation.populations import Populations
from ldp3.recommendation.race import POPULATIONS, Rules, Standing
from ldp3.types import Dataset

USUAL = "none", "norm_sub"
DEFAULTS = [(p, m) for m in USUAL for p in ("grr", "oue", "olh")]
SHOWN = 5  # values whose intervals are told
CHECKS = 2  # collections on each population for these intervals


def recommend(
    data: object,
    epsilons: float | Iterable[float] = 1.0,
    protocols: Named | Sequence[Named] = "all",
    methods: Named | Sequence[Named] = "all",
    metrics: Named | Sequence[Named] = "l1",
    *,
    population: int | None = None,
    confidence: float = 0.95,
    margin: float = 0.01,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | str | None = None,
    plugins: Iterable[str | Path] = (),
) -> Recommendation:
    """The best protocol and method for data like a sample, and everything tied with it.

    The same seed gives the same answer, whatever the threads.

    Parameters
    ----------
    data
        The sample: whatever `ldp3.benchmark` takes.
    epsilons, protocols, methods, metrics
        The questions and what to choose from; one or several. None is always among the methods.
    population
        Users to answer for; as many as the sample has by default.
    confidence
        Probability with which every truly best combination is among the tied, in each answer.
    margin
        Stop when those left differ by at most this share of the error.
    seed
        Where all randomness starts.
    threads, executor
        Where it runs: see `ldp3.benchmark`.
    plugins
        Files that define more protocols, methods and metrics.
    """
    if not 0.5 <= confidence < 1:
        raise InvalidParameter(f"confidence must be at least 0.5 and below 1, got {confidence!r}.")
    if not 0 <= margin < 1:
        raise InvalidParameter(f"margin must be at least 0 and below 1, got {margin!r}.")
    sample = load(data)
    scaled = sample.scaled(sample.n if population is None else population)
    at = Bench(
        experiment(scaled, epsilons, protocols, methods, metrics, seed=seed, plugins=plugins)
    )
    rules = Rules(1 - confidence, margin, race.looks(sample.d))
    with workers(executor, threads, at) as staff:
        contest = Contest(at, sample, rules, staff.executor, staff.bench)
        contest.run()
        answers = tuple(contest.answers())
    return Recommendation(
        sample.name,
        sample.n,
        sample.d,
        scaled.n,
        confidence,
        margin,
        seed,
        answers,
        tuple(_notes(at, sample, population)),
    )


def run_cells(
    at: Bench | str, users: Dataset, applies: BoolArray, block: Block, repeats: range
) -> FloatArray:
    """A task: scores of some cells of one protocol and ε, shape `(repeats, methods, metrics)`."""
    here = held(at).on(users, applies)
    return np.array([here.scores(f) for f in _frequencies(here, block, repeats)])


def run_checks(
    at: Bench | str, users: Dataset, applies: BoolArray, block: Block, repeats: range
) -> FloatArray:
    """A task: how far each value is off in some cells, of the one method at work."""
    here = held(at).on(users, applies)
    method = int(np.flatnonzero(here.applies[block.protocol, block.epsilon])[-1])
    estimates = [f[method] for f in _frequencies(here, block, repeats)]
    return np.abs(np.array(estimates) - users.frequencies)


def _frequencies(here: Bench, block: Block, repeats: range) -> Iterator[FloatArray]:
    every = range(here.chunks(block.protocol, block.epsilon))
    for repeat in repeats:
        yield here.frequencies(block, here.total(block, repeat, every))


@dataclass(frozen=True)
class Combination:
    """One of those in a race, by its places in the grid."""

    protocol: int
    method: int


class Contest:
    """The races of all questions; those of one ε share their cells.

    Repeat `r` on population `b` is the engine's repeat `r · B + b`.
    """

    def __init__(
        self, at: Bench, sample: Dataset, rules: Rules, pool: Executor, shared: Bench | str
    ) -> None:
        self.at, self.sample, self.rules = at, sample, rules
        self._pool, self._shared = pool, shared
        ex = at.experiment
        grid = len(ex.epsilons), len(ex.protocols), POPULATIONS, rules.looks[-1]
        self.values = np.full((*grid, len(ex.methods), len(ex.metrics)), np.nan)
        self.standings: dict[tuple[int, int], Standing] = {
            (e, u): race.start(len(self.combinations(e)))
            for e in range(len(ex.epsilons))
            for u in range(len(ex.metrics))
        }

    @cached_property
    def populations(self) -> list[Dataset]:
        """The data that the sample may come from."""
        ex = self.at.experiment
        model = Populations(self.sample, ex.data.n, ex.seed)
        model.prior  # noqa: B018 (before threads ask for it all at once)
        return list(self._pool.map(model.draw, range(POPULATIONS)))

    def combinations(self, epsilon: int) -> list[Combination]:
        """Every method on every protocol that it applies to."""
        there = self.at.applies[:, epsilon]
        return [Combination(int(p), int(m)) for p, m in np.argwhere(there)]

    def run(self) -> None:
        """Look, drop, and double the repeats until every race is over."""
        done = 0
        for repeats in self.rules.looks:
            running = {key for key, s in self.standings.items() if s.reason is None}
            if not running:
                return
            self._measure(running, range(done, repeats))
            for key in running:
                before, values = self.standings[key], self._scores(*key)[:, :, :repeats]
                watched = self._watched(*key)
                self.standings[key] = race.look(values, before, self.rules, watched)
            done = repeats

    def _measure(self, running: set[tuple[int, int]], repeats: range) -> None:
        tasks, needed = {}, self._needed(running)
        for e, p in np.argwhere(needed.any(axis=2).T):
            for b, users in enumerate(self.populations):
                block = Block(int(e), int(p), 0, 1)
                keys = _keys(repeats, b)
                tasks[e, p, b] = self._pool.submit(
                    run_cells, self._shared, users, needed, block, keys
                )
        for (e, p, b), task in tasks.items():
            self.values[e, p, b, repeats.start : repeats.stop] = task.result()

    def _needed(self, running: set[tuple[int, int]]) -> BoolArray:
        """Which methods are left in some race, as `Bench.applies`: protocol, ε, method."""
        needed = np.zeros_like(self.at.applies)
        for e, u in running:
            wanted = self.standings[e, u].running | self._watched(e, u)
            for c, there in zip(self.combinations(e), wanted, strict=True):
                needed[c.protocol, e, c.method] |= there
        return needed

    def _watched(self, epsilon: int, metric: int) -> BoolArray:
        """Common defaults of the protocols that still run: people will ask how much worse."""
        ex, all_ = self.at.experiment, self.combinations(epsilon)
        run = {all_[i].protocol for i in np.flatnonzero(self.standings[epsilon, metric].running)}
        usual = [ex.methods[c.method].spec in USUAL and c.protocol in run for c in all_]
        return np.array(usual)

    def _scores(self, epsilon: int, metric: int) -> FloatArray:
        """By combination, population and repeat; lower is better."""
        sign = -1.0 if self.at.metrics[metric].better == "higher" else 1.0
        rows = [
            self.values[epsilon, c.protocol, :, :, c.method, metric]
            for c in self.combinations(epsilon)
        ]
        return sign * np.array(rows)

    def answers(self) -> Iterator[Answer]:
        """One for each ε and metric."""
        for e, u in self.standings:
            yield self._answer(e, u)

    def _answer(self, e: int, u: int) -> Answer:
        ex, standing = self.at.experiment, self.standings[e, u]
        assert standing.reason is not None
        all_ = self.combinations(e)
        candidates = [self._candidate(e, u, i) for i in range(len(all_))]
        best = candidates[standing.leader]
        tied = [c for c, left in zip(candidates, standing.left, strict=True) if left]
        order = sorted((c for c in tied if c != best), key=lambda c: c.worse.value)
        named = {(c.protocol, c.method): c for c in candidates}
        chosen = all_[standing.leader]
        values, unheld, at_once = self._values(e, chosen)
        return Answer(
            ex.epsilons[e],
            ex.metrics[u].spec,
            self.at.metrics[u].better,
            best,
            tuple(order),
            tuple(named[pair] for pair in DEFAULTS if pair in named),
            min((c for c in candidates if c.method == "none"), key=lambda c: c.worse.value),
            standing.reason,
            len(candidates),
            values,
            unheld,
            at_once,
            lines(self.at, e, chosen.protocol, chosen.method),
        )

    def _candidate(self, e: int, u: int, index: int) -> Candidate:
        ex, standing, c = self.at.experiment, self.standings[e, u], self.combinations(e)[index]
        repeats = int(standing.repeats[index])
        scores = self._scores(e, u)[:, :, :repeats]
        sign = -1.0 if self.at.metrics[u].better == "higher" else 1.0
        both_sides = race.quantile(self.rules.alpha / 2)
        gap = race.difference(scores[index], scores[standing.leader])
        error = _interval(scores[index], both_sides)
        if sign < 0:
            error = Interval(-error.value, -error.high, -error.low)
        return Candidate(
            ex.protocols[c.protocol].spec,
            ex.methods[c.method].spec,
            error,
            _interval(gap, both_sides),
            self.at.oracles[c.protocol][e].report_bits,
            repeats * POPULATIONS,
        )

    def _values(
        self, e: int, chosen: Combination
    ) -> tuple[tuple[ValueInterval, ...], float, float]:
        """How far single values will be off."""
        level, n = 1 - self.rules.alpha, self.at.experiment.data.n
        oracle = self.at.oracles[chosen.protocol][e]
        only = np.zeros_like(self.at.applies)
        only[chosen.protocol, e, chosen.method] = True
        first, block = self.rules.looks[-1], Block(e, chosen.protocol, 0, 1)
        tasks = [
            self._pool.submit(
                run_checks, self._shared, users, only, block,
                _keys(range(first, first + CHECKS), b),
            )
            for b, users in enumerate(self.populations)
        ]  # fmt: skip
        off = np.sort(np.concatenate([task.result() for task in tasks]), axis=0)
        # of a new error and these, each is equally likely to be the largest
        refined = off[min(ceil(level * (len(off) + 1)), len(off)) - 1]
        total = self.at.total(block, 0, range(self.at.chunks(chosen.protocol, e)))
        estimate = oracle.estimate(total, n)
        z = NormalDist().inv_cdf((1 + level) / 2)
        z_all = NormalDist().inv_cdf(1 - (1 - level) / (2 * oracle.d))
        f = self.sample.frequencies
        raw = z * np.sqrt(np.maximum(estimate.noise + f * estimate.slope, 0))
        top = np.argsort(-f, kind="stable")[:SHOWN]
        shown = tuple(
            ValueInterval(self.sample.labels[v], float(f[v]), float(raw[v]), float(refined[v]))
            for v in top
        )
        return shown, z * estimate.noise**0.5, z_all * estimate.noise**0.5


def _keys(repeats: range, population: int) -> range:
    """The engine's repeats for these repeats on a population."""
    start, stop = repeats.start * POPULATIONS, repeats.stop * POPULATIONS
    return range(start + population, stop, POPULATIONS)


def _interval(values: FloatArray, limit: float) -> Interval:
    found = race.summary(values)
    mean, half = float(found.mean), limit * float(np.sqrt(found.variance))
    return Interval(mean, mean - half, mean + half)


def _notes(at: Bench, sample: Dataset, population: int | None) -> Iterator[str]:
    yield from sample.notes
    yield from at.notes
    if population is None:
        yield f"The answer is for as many users as the sample has, {sample.n:,}: say how many."
    once = int(np.count_nonzero(sample.histogram == 1))
    if once >= 0.05 * sample.n:
        yield (
            f"About {once / sample.n:.0%} of all people hold values that are not in the sample or "
            f"in it once (Good and Turing's estimate): a larger one would tell more."
        )
    yield (
        f"The list of the {sample.d:,} values must be public: one that was read from private data "
        f"tells that somebody holds each of them."
    )
