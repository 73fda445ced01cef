r"""The answers: intervals for all, and of the tied the one to recommend.

*Regret* in a world is by how much more a combination errs there, in the mean, than the best of the
tied. The score of a combination is half its average regret over the worlds, by how likely they are,
and half its largest. What errs more in some world than no post-processing and Norm-Sub do there,
by more than `GUARD`, is not chosen. Nobody notices a difference of the margin, but everybody pays
for bits: of those whose score is within the margin of the least, the headline is the one with the
fewest bits per report, then the least work for the server; of its methods, one that errs least if
values share frequencies, where there is most to win, and among these the simplest.

The interval of an error is that of a mixture over the worlds, by how possible they are, each with a
log-normal law: the variance over its populations, less the noise of the simulation, and what is
uncertain about it. Either end is moved out by a share of the error (`FLOOR`).
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from math import ceil, exp

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.attacks.targets import fake_count
from ldp3.experiment.grid import Experiment
from ldp3.experiment.run import run
from ldp3.experiment.simulator import Simulator
from ldp3.noise import Noise
from ldp3.postprocessing.base import PostProcessor
from ldp3.progress import Progress
from ldp3.protocols.base import FrequencyOracle
from ldp3.recommendation import race
from ldp3.recommendation.advice import Advice, ValueInterval
from ldp3.recommendation.contest import Combination, Contest, Question, raw_errors
from ldp3.recommendation.costs import MOST_PEOPLE, in_order, worth
from ldp3.recommendation.populations import POINTS
from ldp3.results.verdict import USUAL, Candidate, Interval

Price = tuple[int, int]  # bits per report, steps of the server per report
SAME = 1e-6  # of regret
LEAST = 1e-3  # errors below this share of the average are as good as none
GUARD = 0.05  # share of error that a choice may have more than the usual methods in some world
FLOOR = 0.04  # share of an error that its interval reaches beyond what was simulated
USUAL_METHODS = PostProcessor.sets["usual"]
REASONS = "fewer bits per report", "less work for the server"
VALUES_SHOWN = 5  # whose intervals are told
CHECKS = 2  # collections on each population for these intervals
SEARCHES, SEARCHED_ON = 3, 4  # numbers of people that are tried, on so many populations


class Adviser:
    """Says what a contest that is over means for whoever asked."""

    def __init__(
        self,
        contest: Contest,
        executor: Executor | str | None,
        threads: int | None,
        progress: Progress,
    ) -> None:
        self.contest, self.sample = contest, contest.populations.sample
        self._run_by = executor, threads, progress

    def advice(self, question: Question) -> Advice:
        """The answer for one ε and metric."""
        contest, (epsilon, metric) = self.contest, question
        ex, standing = contest.simulator.experiment, contest.standings[question]
        assert standing.reason is not None
        scores = self._scores(question)
        pairs, believed = contest.combinations(epsilon), contest.populations.believed
        regret = regrets(scores, standing.left, pairs, contest.world_of, believed)
        prices = [price(self._oracle(epsilon, p)) for p, _ in pairs]
        score = regret.score
        first = chosen(score, prices, regret.of_points, pairs, contest.rules.margin)
        least = contest.perfect(metric)
        found = (self._candidate(question, i, first, scores, least) for i in range(len(scores)))
        candidates = list(found)
        best = candidates[first]
        lowest = first if score[first] < score.min() + SAME else int(np.argmin(score))
        tied = [c for c, left in zip(candidates, standing.left, strict=True) if left]
        order = sorted((c for c in tied if c != best), key=lambda c: c.worse.value)
        named = {(c.protocol, c.method): c for c in candidates}
        pair = best.protocol, best.method
        checks = self._checks(epsilon, pair)
        values, unheld, at_once = self._values(epsilon, best.protocol, checks[0].off)
        oracle = self._oracle(epsilon, best.protocol)
        level = 1 - contest.rules.alpha
        worst = max(checks, key=lambda check: check.misplaced)  # clean, or under an attack
        ranked = in_order(worst.estimates, worst.truths, level)
        good_for = worth(oracle, self._n, self.sample, at_once, worst.misplaced, ranked)
        good_for = replace(good_for, on_line=contest.on_line[metric])
        if len(checks) > 1:
            good_for = replace(good_for, fakes=fake_count(ex.fake_users[0], self._n))
        elif good_for.useless or (good_for.misplaced > good_for.goal and not good_for.on_line):
            good_for = replace(good_for, needed=self._needed(epsilon, pair, good_for.goal))
        raw = [c for c in candidates if c.method == "none"]
        return Advice(
            epsilon=epsilon,
            metric=metric,
            better=contest.better[metric],
            best=best,
            lowest=candidates[lowest],
            instead="" if first == lowest else reason(prices, pairs, first, lowest),
            tied=tuple(order),
            defaults=tuple(named[pair] for pair in USUAL if pair in named),
            unbiased=min(raw, key=lambda c: c.worse.value, default=None),
            reason=standing.reason,
            disagreement=float(regret.largest[first]),
            methods=dict(Counter(protocol for protocol, _ in pairs)),
            values=values,
            unheld=unheld,
            all_at_once=at_once,
            worth=good_for,
            deployable=oracle.deployable,
        )

    def _scores(self, question: Question) -> list[FloatArray]:
        """Of each combination by population and repeat, as far as it was measured."""
        repeats = self.contest.standings[question].repeats
        known = {int(r): self.contest.scores(question, int(r)) for r in np.unique(repeats)}
        return [known[int(r)][i] for i, r in enumerate(repeats)]

    def _candidate(
        self, question: Question, index: int, best: int, scores: list[FloatArray], least: float
    ) -> Candidate:
        contest, mine = self.contest, scores[index]
        protocol, method = contest.combinations(question[0])[index]
        rules, shared = contest.rules, min(mine.shape[1], scores[best].shape[1])
        error = interval(mine, contest.world_of, contest.populations.possible, rules.alpha)
        mean = float(mine.mean(axis=1) @ rules.weights)
        ends = least, 0.0 if mine.max() <= 0 else np.inf  # none passes 0
        all_three = np.clip([mean, min(error.low, mean), max(error.high, mean)], *ends)
        error = Interval(*all_three.tolist())
        if contest.better[question[1]] == "higher":
            error = Interval(-error.value, -error.high, -error.low)
        gap = race.difference(mine[:, :shared], scores[best][:, :shared])
        found = race.summary(gap, rules.weights)
        left = contest.standings[question].left  # what it takes to be called worse
        half = rules.quantile(int(left.sum()), len(left)) * float(np.sqrt(found.variance))
        worse = float(found.mean)
        return Candidate(
            protocol,
            method,
            error,
            bool(left[index]),
            self._oracle(question[0], protocol).report_bits,
            worse=Interval(worse, worse - half, worse + half),
            collections=mine.size,
        )

    @property
    def _n(self) -> int:
        """Users that the answer is for."""
        return self.contest.populations.n

    def _values(
        self, epsilon: float, protocol: str, off: FloatArray
    ) -> tuple[tuple[ValueInterval, ...], float, float]:
        """How far single values will be off."""
        level = 1 - self.contest.rules.alpha
        off = np.sort(off, axis=0)
        # of a new error and these, each is equally likely to be the largest
        refined = off[min(ceil(level * (len(off) + 1)), len(off)) - 1]
        oracle, f = self._oracle(epsilon, protocol), self.sample.frequencies
        noise = oracle.noise(self.sample.scaled(self._n).frequencies, self._n)
        top = np.argsort(-f, kind="stable")[:VALUES_SHOWN]
        at_once = noise.farthest(f, level)
        if noise.correlated:  # a value by itself by the normal law; unheld is where it is worst
            each = [Noise(float(v)) for v in noise.variance(f)]
            raw = [each[v].farthest(np.zeros(1), level) for v in top]
            unheld = max(each, key=lambda one: one.floor).farthest(np.zeros(1), level)
        else:
            raw = [noise.farthest(f[[v]], level) for v in top]
            unheld = noise.farthest(np.zeros(1), level)
        shown = tuple(
            ValueInterval(self.sample.labels[v], float(f[v]), wide, float(refined[v]))
            for v, wide in zip(top, raw, strict=True)
        )
        return shown, unheld, at_once

    def _needed(self, epsilon: float, chosen: Combination, goal: float) -> int:
        """With how many people this share of them is counted under a wrong value.

        Without post-processing the share shrinks with the root of the people; from the number that
        follows on, which is enough for a better method, it is searched downwards.
        """
        oracle, f = self._oracle(epsilon, chosen[0]), self.sample.frequencies
        share = float(raw_errors(oracle.noise(f, self._n).variance(f))[0]) / 2
        people = float(self._n)
        for _ in range(SEARCHES):
            people *= (share / goal) ** 2
            if people >= MOST_PEOPLE:
                return MOST_PEOPLE
            share = self._checks(epsilon, chosen, max(round(people), 1))[0].misplaced
        return round(people * (share / goal) ** 2)

    def _checks(
        self, epsilon: float, chosen: Combination, people: int | None = None
    ) -> "list[SimulatedEstimates]":
        """New collections on likely populations, without attackers and with those of each attack.

        With another number of `people`, on a few of them.
        """
        ex, (protocol, method) = self.contest.simulator.experiment, chosen
        executor, threads, progress = self._run_by
        likely = [ex.datasets[i] for i in np.flatnonzero(self.contest.rules.weights)]
        if people is not None:
            likely = [data.scaled(people) for data in likely[:: -(-len(likely) // SEARCHED_ON)]]
        checks: Experiment = replace(
            ex,
            datasets=tuple(likely),
            epsilons=(epsilon,),
            protocols=tuple(c for c in ex.protocols if c.spec == protocol),
            methods=tuple(c for c in ex.methods if c.spec in ("none", method)),
            repeats=CHECKS if people is None else 1,
            repeats_asked=True,
            seed=ex.seed + 1,  # not the collections that chose it
            keep="estimates",
        )
        results = run(Simulator(checks), executor, threads, progress=progress)
        if not results.complete:
            raise KeyboardInterrupt
        kept = results.estimates
        assert kept is not None
        truths = {data.name: data.frequencies for data in likely}
        return [
            SimulatedEstimates(
                np.array(part["frequencies"].to_list()),
                np.array([truths[n] for n in part["dataset"]]),
            )
            for part in kept.filter(method=method).partition_by("attack", maintain_order=True)
        ]

    def _oracle(self, epsilon: float, protocol: str) -> FrequencyOracle:
        return self.contest.simulator.oracle(self.contest.cell(epsilon, protocol))


@dataclass(frozen=True, eq=False)
class SimulatedEstimates:
    """Estimates of simulated collections, one row each, and the frequencies of honest people."""

    estimates: FloatArray
    truths: FloatArray

    @property
    def off(self) -> FloatArray:
        """How far each estimate is off."""
        return np.abs(self.estimates - self.truths)

    @property
    def misplaced(self) -> float:
        """The share of the people that is counted under a wrong value, in the mean."""
        return float(self.off.sum(axis=1).mean() / 2)


@dataclass(frozen=True, eq=False)
class Regrets:
    """What to choose by, the less the better; regrets in the worst world; errors of points."""

    score: FloatArray
    largest: FloatArray
    of_points: FloatArray


def regrets(
    scores: Sequence[FloatArray],
    tied: BoolArray,
    pairs: Sequence[Combination],
    world_of: IntArray,
    believed: FloatArray,
) -> Regrets:
    """Of the tied, infinite for others; scores by population and repeat, lower ones are better."""
    means = np.array([score.mean(axis=1) for score in scores])
    worlds = np.flatnonzero(believed)
    each = np.array([_typical(means[:, world_of == w]) for w in worlds])
    best = np.where(tied, each, np.inf).min(axis=1, keepdims=True)
    size = np.maximum(np.abs(best), LEAST * np.abs(best).mean())
    more = np.where(tied, each - best, np.inf)
    found = np.divide(more, size, out=more, where=size > 0)
    score = (believed[worlds] @ found + found.max(axis=0)) / 2
    usual = _usual(each, pairs)
    safe = tied & (each <= usual + GUARD * np.abs(usual)).all(axis=0)
    score = np.where(safe, score, np.inf) if safe.any() else score
    return Regrets(score, found.max(axis=0), _typical(means[:, world_of == POINTS]))


def _usual(each: FloatArray, pairs: Sequence[Combination]) -> FloatArray:
    """The least error of the usual methods on the same protocol, which share its noise."""
    own = np.array([[q == p and m in USUAL_METHODS for q, m in pairs] for p, _ in pairs])
    return np.asarray(np.where(own, each[:, None], np.inf).min(axis=2))


def _typical(means: FloatArray) -> FloatArray:
    """Over populations: the geometric mean, so that no single one with large errors decides."""
    return np.exp(np.log(means).mean(axis=1)) if means.min() > 0 else means.mean(axis=1)


def chosen(
    score: FloatArray,
    prices: Sequence[Price],
    of_points: FloatArray,
    pairs: Sequence[Combination],
    margin: float,
) -> int:
    """The cheapest of those whose score is within the margin of the least; the best of equals."""
    good = np.flatnonzero(score <= score.min() + margin).tolist()
    cheapest = min(prices[i] for i in good)
    cheap = [i for i in good if prices[i] == cheapest]
    least = min(of_points[i] for i in cheap)
    equal = [i for i in cheap if of_points[i] <= least + margin * abs(least)]
    return min(equal, key=lambda i: (_complexity(pairs[i][1]), score[i], i))


def _complexity(method: str) -> int:
    """How simple a method is: none at all, a usual one, another, a chain."""
    return 0 if method == "none" else 1 + (method not in USUAL_METHODS) + method.count("+")


def interval(
    values: FloatArray, world_of: IntArray, possible: FloatArray, alpha: float
) -> Interval:
    """Of the error on the real population, from values by population and repeat."""
    from scipy.special import ndtr

    positive = values.min() > 0
    y = np.log(values) if positive else values
    worlds = [w for w in np.flatnonzero(possible) if (world_of == w).any()]
    at, spread = [], []
    for world in worlds:
        own = y[world_of == world]
        count, repeats = own.shape
        v = own.mean(axis=1).var(ddof=1)
        noise = own.var(axis=1, ddof=1).mean() / repeats if repeats > 1 else 0.0
        uncertain = v / count + v * np.sqrt(2 / (count - 1)) / 2
        at.append(np.log(np.exp(own).mean()) if positive else own.mean())
        spread.append(np.sqrt(max(v - noise, 0) + uncertain + 1e-16))
    weights = possible[worlds] / possible[worlds].sum()
    middle, reach = float(weights @ np.array(at)), 8 * max(spread) + np.ptp(at)
    grid = np.linspace(-reach, reach, 4001)
    below = ndtr((grid + middle - np.array(at)[:, None]) / np.array(spread)[:, None])
    low, high = np.interp((alpha / 2, 1 - alpha / 2), weights @ below, grid)
    if positive:
        return Interval(exp(middle), exp(middle + low - FLOOR), exp(middle + high + FLOOR))
    floor = FLOOR * abs(middle)
    return Interval(middle, middle + low - floor, middle + high + floor)


def reason(prices: Sequence[Price], pairs: Sequence[Combination], first: int, lowest: int) -> str:
    """Why one was preferred to the one with the least regret."""
    for words, a, b in zip(REASONS, prices[first], prices[lowest], strict=True):
        if a < b:
            return words
    simpler = _complexity(pairs[first][1]) < _complexity(pairs[lowest][1])
    return "a simpler method" if simpler else "a smaller error if values share frequencies"


def price(oracle: FrequencyOracle) -> Price:
    """What a protocol costs; steps are counted, not timed, so that the answer is the same."""
    return oracle.report_bits, _steps(oracle)


def _steps(oracle: FrequencyOracle) -> int:
    """Of the server per report: one for 64 bits, or one for every value if it has a nonce."""
    return oracle.d if oracle.nonce else -(-oracle.report_bits // 64)
