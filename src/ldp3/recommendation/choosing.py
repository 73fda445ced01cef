r"""From races that are over to advice: which of the tied, how far off it will be, how to apply it.

The *expected regret* of a combination is how much more error it makes than the best one on the same
population, as a share of that one's error, in the mean over the $B$ populations that the sample may
come from:

$$\frac1B \sum_b \frac{\bar x_{ib} - \min_j \bar x_{jb}}{|\min_j \bar x_{jb}|}.$$

A population on which the best err by less than a thousandth of what they do on average counts as if
they erred by that much.

Of the tied, those are kept whose expected regret is within the margin of the least one. Nobody
notices that difference, but everybody pays for bits: of these the headline is the one with the
fewest bits per report, then the least work for the server, then the simplest method.
"""

import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.domain import Bins, Domain, Grid, Integers
from ldp3.edges import day
from ldp3.experiment.grid import NOBODY, Experiment
from ldp3.experiment.run import Rule, run
from ldp3.experiment.simulator import Simulator
from ldp3.noise import Noise, PureNoise
from ldp3.plugins import PREFIX
from ldp3.postprocessing.base import PostProcessor
from ldp3.progress import Progress
from ldp3.protocols.base import FrequencyOracle
from ldp3.recommendation import race
from ldp3.recommendation.advice import Advice, ValueInterval
from ldp3.recommendation.contest import Combination, Contest, Question
from ldp3.recommendation.costs import worth
from ldp3.results.axes import Cell
from ldp3.results.table import Results
from ldp3.results.verdict import USUAL, Candidate, Interval
from ldp3.specs import split
from ldp3.types import Dataset

Price = tuple[int, int, int]  # bits per report, steps of the server per report, links of the method
LEAST = 1e-3  # errors below this share of the average are as good as none
REASONS = "fewer bits per report", "less work for the server", "a simpler method"
VALUES_SHOWN = 5  # whose intervals are told
CHECKS = 2  # collections on each population for these intervals
EDGES = 32  # that a command spells out


class Answers:
    """What contests that are over say: a heat, if there was one, and the race."""

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

    def to(self, question: Question) -> Advice:
        """The answer for one ε and metric."""
        contest, (epsilon, metric) = self._decider(question), question
        ex = contest.simulator.experiment
        standing = contest.standings[question]
        assert standing.reason is not None
        regret, prices = self._weighed(question)
        first = chosen(regret, prices, contest.rules.margin)
        lowest = int(np.argmin(regret))
        candidates = [self._candidate(question, i, first) for i in range(len(standing.left))]
        best = candidates[first]
        tied = [c for c, left in zip(candidates, standing.left, strict=True) if left]
        order = sorted((c for c in tied if c != best), key=lambda c: c.worse.value)
        named = {(c.protocol, c.method): c for c in candidates}
        off = self._errors(epsilon, (best.protocol, best.method))
        values, unheld, at_once = self._values(epsilon, best.protocol, off)
        oracle = self._oracle(epsilon, best.protocol)
        refine = contest.simulator.methods[contest.methods.index(best.method)]
        return Advice(
            epsilon,
            metric,
            contest.better[metric],
            best,
            candidates[lowest],
            reason(prices[first], prices[lowest]),
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
            code(oracle, best.protocol, refine, best.method),
        )

    def _weighed(self, question: Question) -> tuple[FloatArray, list[Price]]:
        """Expected regrets and prices of all combinations."""
        contest = self._decider(question)
        standing = contest.standings[question]
        oracles = {
            protocol: self._oracle(question[0], protocol)
            for protocol, _ in contest.combinations(question[0])
        }
        regret = regrets(contest.scores(question), standing.repeats, standing.left)
        return regret, [price(oracles[p], m) for p, m in contest.combinations(question[0])]

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
            worse=_interval(gap, both_sides),
            collections=repeats * contest.populations,
        )

    @property
    def _n(self) -> int:
        """Users that the answer is for."""
        return next(iter(self.contest.simulator.datasets.values())).n

    def _values(
        self, epsilon: float, protocol: str, off: FloatArray
    ) -> tuple[tuple[ValueInterval, ...], float, float]:
        """How far single values will be off."""
        level = 1 - self.contest.rules.alpha
        off = np.sort(off, axis=0)
        # of a new error and these, each is equally likely to be the largest
        refined = off[min(ceil(level * (len(off) + 1)), len(off)) - 1]
        noise, f = self._noise(epsilon, protocol), self.sample.frequencies
        top = np.argsort(-f, kind="stable")[:VALUES_SHOWN]
        raw = [noise.farthest(f[[v]], level) for v in top]
        shown = tuple(
            ValueInterval(self.sample.labels[v], float(f[v]), wide, float(refined[v]))
            for v, wide in zip(top, raw, strict=True)
        )
        return shown, noise.farthest(np.zeros(1), level), noise.farthest(f, level)

    def _errors(self, epsilon: float, chosen: Combination) -> FloatArray:
        """How far each value is off in new collections, one row each."""
        ex, (protocol, method) = self.contest.simulator.experiment, chosen
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
        kept = run_whole(Simulator(checks), self._executor, self._threads, self._progress).estimates
        assert kept is not None
        rows = kept.filter(method=method).select("dataset", "frequencies").rows()
        data = self.contest.simulator.datasets
        return np.array([np.abs(np.array(f) - data[name].frequencies) for name, f in rows])

    def _noise(self, epsilon: float, protocol: str) -> Noise:
        simulator, cell = self.contest.simulator, self._cell(epsilon, protocol)
        oracle, n = simulator.oracle(cell), simulator.datasets[cell.dataset].n
        if oracle.support is not None:
            return PureNoise.of(oracle.support, n)
        return oracle.estimate(simulator.tally(cell, range(simulator.chunks(cell)))).noise

    def _oracle(self, epsilon: float, protocol: str) -> FrequencyOracle:
        return self.contest.simulator.oracle(self._cell(epsilon, protocol))

    def _cell(self, epsilon: float, protocol: str) -> Cell:
        cells = self.contest.simulator.cells
        return next(c for c in cells if (c.epsilon, c.protocol) == (epsilon, protocol))


def _interval(values: FloatArray, limit: float) -> Interval:
    found = race.summary(values)
    mean, half = float(found.mean), limit * float(np.sqrt(found.variance))
    return Interval(mean, mean - half, mean + half)


def run_whole(
    simulator: Simulator,
    executor: Executor | str | None,
    threads: int | None,
    progress: Progress,
    rule: Rule | None = None,
) -> Results:
    """A run to its end: half of one is no ground for an answer."""
    results = run(simulator, executor, threads, rule=rule, progress=progress)
    if not results.complete:
        raise KeyboardInterrupt
    return results


def regrets(scores: FloatArray, repeats: IntArray, tied: BoolArray) -> FloatArray:
    """Expected regrets of the tied, infinite for others; scores by combination, population, repeat.

    Lower scores are better; of each combination the first so many repeats were measured.
    """
    means = np.array(
        [x[:, :r].mean(axis=1) for x, r in zip(scores[tied], repeats[tied], strict=True)]
    )
    best = means.min(axis=0)
    size = np.maximum(np.abs(best), LEAST * np.abs(best).mean())
    found = np.full(len(tied), np.inf)
    more = means - best
    found[tied] = np.divide(more, size, out=more, where=size > 0).mean(axis=1)
    return found


def chosen(regret: FloatArray, prices: Sequence[Price], margin: float) -> int:
    """The cheapest of those whose regret is within the margin of the least; the best of equals."""
    good = np.flatnonzero(regret <= regret.min() + margin).tolist()
    return min(good, key=lambda i: (prices[i], regret[i], i))


def reason(price: Price, least: Price) -> str:
    """Why one was preferred to the one with the least regret; nothing where it is the same one."""
    better = (words for words, a, b in zip(REASONS, price, least, strict=True) if a < b)
    return next(better, "")


def price(oracle: FrequencyOracle, method: str) -> Price:
    """What a combination costs; steps are counted, not timed, so that the answer is the same."""
    links = 0 if method == "none" else len(split(method, "+"))
    return oracle.report_bits, _steps(oracle), links


def _steps(oracle: FrequencyOracle) -> int:
    """Of the server per report: one for 64 bits, or one for every value if it has a nonce."""
    return oracle.d if oracle.nonce else -(-oracle.report_bits // 64)


def code(oracle: FrequencyOracle, spec: str, refine: PostProcessor, how: str) -> str:
    """Client, server and post-processing, for an oracle and a method with their specs."""
    imports = ["import ldp3"]
    make = f"ldp3.oracle({spec!r}, epsilon={oracle.epsilon!r}, d={oracle.d})"
    if _foreign(type(oracle)):
        imports.append(_import(type(oracle)))
        make = repr(oracle)
    after = f"ldp3.postprocess({how!r})(estimate)"
    if _foreign(type(refine)):
        imports.append(_import(type(refine)))
        after = f"{refine!r}(estimate)"
    if how == "none":
        after = "estimate.frequencies"
    return "\n".join(
        [
            *imports,
            "",
            f"oracle = {make}",
            "reports = oracle.perturb(values, ldp3.secure())  # on the users' devices",
            "tally = oracle.aggregate(reports)  # on the server; tallies of batches add up",
            "estimate = oracle.estimate(tally)",
            f"frequencies = {after}",
        ]
    )


def command(
    oracle: FrequencyOracle, spec: str, how: str, data: Dataset, plugins: Sequence[Path]
) -> str:
    """`ldp3 plan` for a choice; nothing if it cannot be deployed."""
    if not oracle.deployable:
        return ""
    values, remark = _values(data.domain)
    more = [word for file in plugins for word in ("--plugin", str(file))]
    words = ["ldp3", "plan", "-p", spec, "-m", how, "-e", repr(oracle.epsilon).removesuffix(".0")]
    line = shlex.join([*words, *values, *more, "-o", "collection.ldp3.json"])
    return f"{line}  # {remark}" if remark else line


def _values(domain: Domain) -> tuple[list[str], str]:
    """The flags of `ldp3 plan` that give a domain, and what a person must know to use them."""
    remark = ""
    if isinstance(domain, Integers):
        flags = ["--domain-size", str(domain.size)]
    elif isinstance(domain, Bins):
        edges = [day(e) if domain.dates else f"{e!r}".removesuffix(".0") for e in domain.edges]
        flags = [f"--bins={','.join(edges)}"]
        if len(edges) > EDGES:
            flags, remark = ["--bins", "EDGES"], f"EDGES: the {len(edges):,} edges, with commas"
    elif isinstance(domain, Grid):
        rows, columns = domain.shape
        ends = (f"{edges[0]!r}:{edges[-1]!r}" for edges in (domain.rows, domain.columns))
        flags = ["--grid", f"{rows}x{columns}", f"--within={','.join(ends)}"]
    else:
        flags = ["--domain", "values.txt"]
        remark = f"values.txt: the {domain.size:,} values, one per line"
    if isinstance(domain, Bins | Grid) and domain.closed:
        remark = "this range is the sample's own: choose one that is public"
    if domain.ordered and not isinstance(domain, Bins):
        flags.append("--ordered")
    return flags if domain.other is None else [*flags, "--other", domain.other], remark


def _foreign(cls: type) -> bool:
    """Whether it is not ours, so that its name alone does not find it."""
    return not cls.__module__.startswith("ldp3.")


def _import(cls: type) -> str:
    """From where it was loaded: a plug-in's file lies where Python can find it, or is moved."""
    module = cls.__module__
    if module.startswith(PREFIX):
        module = Path(str(sys.modules[module].__file__)).stem
    return f"from {module} import {cls.__name__}"
