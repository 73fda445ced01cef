"""From a sample and a question to an answer."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.datasets.loading import load_all
from ldp3.errors import InvalidParameter
from ldp3.experiment.cells import Cell
from ldp3.experiment.executors import require_threads
from ldp3.experiment.grid import NOBODY, Experiment, Named, experiment
from ldp3.experiment.lab import Lab
from ldp3.experiment.run import Rule, run
from ldp3.noise import Noise, PureNoise
from ldp3.progress import Bar, Progress, available_cores
from ldp3.protocols.base import FrequencyOracle
from ldp3.recommendation import headline, race
from ldp3.recommendation.answer import Answer, Recommendation, ValueInterval
from ldp3.recommendation.code import command, lines
from ldp3.recommendation.contest import Combination, Contest, Question
from ldp3.recommendation.limits import Limits, with_designs
from ldp3.recommendation.populations import Populations
from ldp3.recommendation.race import Rules
from ldp3.recommendation.robustness import RobustContest, Threat
from ldp3.recommendation.robustness import contest as contest_of
from ldp3.recommendation.sentences import USUAL, Candidate, Interval
from ldp3.recommendation.worth import worth
from ldp3.results.table import Results
from ldp3.types import Dataset

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
    max_bits: int | None = None,
    max_decode: float | None = None,
    unbiased: bool = False,
    distribution: bool = False,
    fake_users: float | str = 0,
    attacks: Named | Sequence[Named] = "mga",
    targets: str | Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | str | None = None,
    plugins: Iterable[str | Path] = (),
    progress: Progress | None = None,
) -> Recommendation:
    """The best protocol and method for data like a sample, and everything tied with it.

    The same seed gives the same answer, whatever the threads.

    Parameters
    ----------
    data
        The sample: one dataset, as `ldp3.benchmark` takes it.
    epsilons, protocols, methods, metrics
        The questions and what to choose from; one or several. `none` is always among
        the methods.
    population
        Users to answer for; as many as the sample has by default.
    confidence
        Probability with which every truly best combination is among the tied, in each answer.
    margin
        Share of the error that nobody notices: of the tied, the cheapest whose expected regret is
        within it of the least is recommended, and the race ends when those left differ by less.
    max_bits
        Leave out protocols whose reports are longer.
    max_decode
        Leave out protocols whose server would count and decode the reports of all users for more
        seconds than that, on one core, as measured here.
    unbiased
        Choose among estimates without post-processing: nothing else is unbiased.
    distribution
        Choose among methods whose frequencies are at least 0 and sum to one.
    fake_users, attacks, targets
        Be robust against so many fake users, a number or a share of all reports such as ``"1%"``,
        who do the worst of these attacks; by default they raise the rarest values. Errors are then
        those of the worst case.
    seed
        Where all randomness starts.
    threads, executor
        Where it runs: see `ldp3.benchmark`.
    plugins
        Files that define more protocols, methods and metrics.
    progress
        Who is told how the work advances; by default a bar at a terminal or in a notebook.
    """
    for name, low, given in (("confidence", 0.5, confidence), ("margin", 0, margin)):
        if not isinstance(given, int | float) or not low <= given < 1:
            raise InvalidParameter(f"`{name}` must be at least {low} and below 1, got {given!r}.")
    limits = Limits(max_bits, max_decode, unbiased, distribution)
    require_threads(threads)
    threat = Threat(fake_users, attacks, targets)
    sample, ex, left_out = entered(
        data, epsilons, protocols, methods, metrics, population, limits, seed, plugins, threat
    )
    scaled = ex.datasets[0]
    contests = _contests(sample, ex, 1 - confidence, margin, threads, distribution)
    lab = contests[0].lab
    with progress or Bar() as shown:
        for before, contest in zip([None, *contests], contests, strict=False):
            if before is not None:
                contest.follow(before)
            if not contest.decided:
                _run(contest.lab, executor, threads, shown, contest)
        answers = _Answers(contests, sample, executor, threads, shown)
        answered = tuple(answers.to(question) for question in contests[0].standings)
        return Recommendation(
            sample.name,
            sample.n,
            sample.d,
            scaled.n,
            confidence,
            margin,
            seed,
            answered,
            (*_robust(contests[0], answered), *_notes(lab, sample, population), *left_out),
        )


def _run(
    lab: Lab,
    executor: Executor | str | None,
    threads: int | None,
    progress: Progress,
    rule: Rule | None = None,
) -> Results:
    """A run to its end: half of one is no ground for an answer."""
    results = run(lab, executor, threads, rule=rule, progress=progress)
    if not results.complete:
        raise KeyboardInterrupt
    return results


def entered(
    data: object,
    epsilons: float | Iterable[float],
    protocols: Named | Sequence[Named],
    methods: Named | Sequence[Named],
    metrics: Named | Sequence[Named],
    population: int | None,
    limits: Limits,
    seed: int,
    plugins: Iterable[str | Path],
    threat: Threat,
) -> tuple[Dataset, Experiment, list[str]]:
    """The sample, what competes on it if it had all users, and what was left out."""
    sample, *others = load_all(data, plugins=plugins)
    if others:
        raise InvalidParameter("A recommendation is for one sample: give one dataset.")
    scaled = sample.scaled(sample.n if population is None else population)
    threat = threat.on(scaled)
    ex = experiment(
        [scaled],
        epsilons,
        with_designs(protocols, scaled),
        methods,
        metrics,
        seed=seed,
        keep="scores",
        plugins=plugins,
        attacks=threat.attacks,
        fake_users=threat.fake_users,
        targets=threat.targets or (),
    )
    ex, costly = limits.applied(limits.methods(ex))
    ex, unattackable = threat.applied(ex)
    return sample, ex, [*costly, *unattackable]


def _contests(
    sample: Dataset,
    ex: Experiment,
    alpha: float,
    margin: float,
    threads: int | None,
    distribution: bool,
) -> list[Contest]:
    """The race on populations that the sample may come from, after a heat if values are many."""
    looks, heat, race_on = race.looks(sample.d), race.heat(sample.d), race.populations(sample.d)
    rules = Rules(alpha, margin, looks, others=1 if heat else 0)
    parts = [(Rules(alpha, margin, (1,), others=len(looks)), range(heat))] if heat else []
    parts.append((rules, range(heat, heat + race_on)))
    drawn = _populations(sample, ex.datasets[0].n, ex.seed, threads, heat + race_on)
    made = []
    for each, part in parts:
        some = drawn[part.start : part.stop]
        lab = Lab(replace(ex, datasets=some, repeats=each.looks[-1], limit=False))
        made.append(contest_of(lab, each, ("none",) if distribution else ()))
    return made


def _populations(
    sample: Dataset, n: int, seed: int, threads: int | None, count: int
) -> tuple[Dataset, ...]:
    """The data that the sample may come from."""
    model = Populations(sample, n, seed)
    model.fitted  # noqa: B018 (before threads ask for it all at once)
    with ThreadPoolExecutor(threads or available_cores()) as pool:
        drawn = list(pool.map(model.draw, range(count)))
    return tuple(replace(data, name=f"population {b}") for b, data in enumerate(drawn))


class _Answers:
    """The answers of contests that are over: a heat, if there was one, and the race."""

    def __init__(
        self,
        contests: Sequence[Contest],
        sample: Dataset,
        executor: Executor | str | None,
        threads: int | None,
        progress: Progress,
    ) -> None:
        self.contests, self.contest, self.sample = contests, contests[-1], sample
        self._executor, self._threads, self._progress = executor, threads, progress

    def to(self, question: Question) -> Answer:
        """The answer for one ε and metric."""
        contest, (epsilon, metric) = self._decider(question), question
        ex = contest.lab.experiment
        standing = contest.standings[question]
        assert standing.reason is not None
        regret, costs = self._weighed(question)
        first = headline.chosen(regret, costs, contest.rules.margin)
        lowest = int(np.argmin(regret))
        candidates = [self._candidate(question, i, first) for i in range(len(standing.left))]
        best = candidates[first]
        tied = [c for c, left in zip(candidates, standing.left, strict=True) if left]
        order = sorted((c for c in tied if c != best), key=lambda c: c.worse.value)
        named = {(c.protocol, c.method): c for c in candidates}
        off = self._errors(epsilon, (best.protocol, best.method))
        values, unheld, at_once = self._values(epsilon, best.protocol, off)
        oracle = self._oracle(epsilon, best.protocol)
        refine = contest.lab.methods[contest.methods.index(best.method)]
        return Answer(
            epsilon,
            metric,
            contest.better[metric],
            best,
            candidates[lowest],
            headline.reason(costs[first], costs[lowest]),
            tuple(order),
            tuple(named[pair] for pair in USUAL if pair in named),
            min(
                (c for c in candidates if c.method == "none"),
                key=lambda c: c.worse.value,
                default=None,
            ),
            standing.reason,
            len(candidates),
            values,
            unheld,
            at_once,
            worth(oracle, self._n, self.sample.frequencies, self.sample.labels, at_once, off),
            command(oracle, best.protocol, best.method, self.sample, ex.plugins),
            lines(oracle, best.protocol, refine, best.method),
        )

    def _weighed(self, question: Question) -> tuple[FloatArray, list[headline.Cost]]:
        """Expected regrets and costs of all combinations."""
        contest = self._decider(question)
        standing = contest.standings[question]
        oracles = {
            protocol: self._oracle(question[0], protocol)
            for protocol, _ in contest.combinations(question[0])
        }
        regret = headline.regrets(contest.scores(question), standing.repeats, standing.left)
        return regret, [headline.cost(oracles[p], m) for p, m in contest.combinations(question[0])]

    def _decider(self, question: Question, index: int | None = None) -> Contest:
        """The last contest that measured anything of a question, or this combination."""
        measured = [contest.standings[question].repeats for contest in self.contests]
        there = [(each if index is None else each[index]).max() > 0 for each in measured]
        return self.contests[int(np.flatnonzero(there)[-1])]

    def _candidate(self, question: Question, index: int, best: int) -> Candidate:
        contest = self._decider(question, index)
        standing, left = contest.standings[question], self.contest.standings[question].left
        protocol, method = contest.combinations(question[0])[index]
        repeats = int(standing.repeats[index])
        scores = contest.scores(question)[:, :, :repeats]
        both_sides = race.quantile(contest.rules.alpha / 2, contest.populations)
        shared = int(min(repeats, standing.repeats[best]))
        gap = race.difference(scores[index, :, :shared], scores[best, :, :shared])
        error = _interval(scores[index], both_sides)
        if contest.better[question[1]] == "higher":
            error = Interval(-error.value, -error.high, -error.low)
        return Candidate(
            protocol,
            method,
            error,
            bool(left[index]),
            self._oracle(question[0], protocol).report_bits,
            _interval(gap, both_sides),
            repeats * contest.populations,
        )

    @property
    def _n(self) -> int:
        """Users that the answer is for."""
        return next(iter(self.contest.lab.datasets.values())).n

    def _values(
        self, epsilon: float, protocol: str, off: FloatArray
    ) -> tuple[tuple[ValueInterval, ...], float, float]:
        """How far single values will be off."""
        level = 1 - self.contest.rules.alpha
        off = np.sort(off, axis=0)
        # of a new error and these, each is equally likely to be the largest
        refined = off[min(ceil(level * (len(off) + 1)), len(off)) - 1]
        noise, f = self._noise(epsilon, protocol), self.sample.frequencies
        top = np.argsort(-f, kind="stable")[:SHOWN]
        raw = [noise.farthest(f[[v]], level) for v in top]
        shown = tuple(
            ValueInterval(self.sample.labels[v], float(f[v]), wide, float(refined[v]))
            for v, wide in zip(top, raw, strict=True)
        )
        return shown, noise.farthest(np.zeros(1), level), noise.farthest(f, level)

    def _errors(self, epsilon: float, chosen: Combination) -> FloatArray:
        """How far each value is off in new collections, one row each."""
        ex, (protocol, method) = self.contest.lab.experiment, chosen
        methods = [c for c in ex.methods if c.spec in ("none", method)]
        checks: Experiment = replace(
            ex,
            epsilons=(epsilon,),
            protocols=tuple(c for c in ex.protocols if c.spec == protocol),
            methods=tuple(methods),
            repeats=CHECKS,
            repeats_asked=True,
            attacks=(NOBODY,),
            seed=ex.seed + 1,  # not the collections that chose it
            keep="estimates",
        )
        kept = _run(Lab(checks), self._executor, self._threads, self._progress).estimates
        assert kept is not None
        rows = kept.filter(method=method).select("dataset", "frequencies").rows()
        data = self.contest.lab.datasets
        return np.array([np.abs(np.array(f) - data[name].frequencies) for name, f in rows])

    def _noise(self, epsilon: float, protocol: str) -> Noise:
        lab, cell = self.contest.lab, self._cell(epsilon, protocol)
        oracle, n = lab.oracle(cell), lab.datasets[cell.dataset].n
        if oracle.support is not None:
            return PureNoise.of(oracle.support, n)
        return oracle.estimate(lab.tally(cell, range(lab.chunks(cell)))).noise

    def _oracle(self, epsilon: float, protocol: str) -> FrequencyOracle:
        return self.contest.lab.oracle(self._cell(epsilon, protocol))

    def _cell(self, epsilon: float, protocol: str) -> Cell:
        cells = self.contest.lab.cells
        return next(c for c in cells if (c.epsilon, c.protocol) == (epsilon, protocol))


def _interval(values: FloatArray, limit: float) -> Interval:
    found = race.summary(values)
    mean, half = float(found.mean), limit * float(np.sqrt(found.variance))
    return Interval(mean, mean - half, mean + half)


def _robust(contest: Contest, answers: Sequence[Answer]) -> Iterator[str]:
    if isinstance(contest, RobustContest):
        for found in answers:
            chosen = found.best.protocol, found.best.method
            yield contest.said((found.epsilon, found.metric), chosen)


def _notes(lab: Lab, sample: Dataset, population: int | None) -> Iterator[str]:
    yield from sample.notes
    yield from lab.notes
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
