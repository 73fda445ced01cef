"""What every metric must do, whatever the two vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import LDPError
from ldp3.metrics.base import Metric
from ldp3.randomness.streams import stream
from ldp3.types import Dataset
from ldp3.verification.base import Finding, exact, examine

DOMAINS = 2, 5, 70, 1000

FINITE = "Any two finite vectors have a finite value"
SAME = "The same vectors give the same value"
UNTOUCHED = "Both vectors are left untouched"


def broken(metric: Metric, truth: FloatArray, frequencies: FloatArray) -> list[str]:
    """The promises that a metric breaks on two vectors, which are left as they are."""
    first, second = truth.copy(), frequencies.copy()
    value, again = metric(first, second), metric(truth.copy(), frequencies.copy())
    kept = {
        FINITE: type(value) is float and bool(np.isfinite(value)),
        SAME: value == again,
        UNTOUCHED: np.array_equal(first, truth) and np.array_equal(second, frequencies),
    }
    return [promise for promise, holds in kept.items() if not holds]


@dataclass(frozen=True)
class MetricCase:
    """A metric under examination, with truths and estimates to compare."""

    metric: Metric
    seed: int = 0

    @cached_property
    def truths(self) -> list[FloatArray]:
        """Distributions without ties: falling, steep, and in random order."""
        made = []
        for d in DOMAINS:
            falling = np.arange(d, 0, -1.0)
            shuffled = stream(self.seed, "verify", "truth", d).permutation(falling) ** 2
            made += [f / f.sum() for f in (falling, 0.9 ** np.arange(d), shuffled)]
        return made

    def guesses(self, truth: FloatArray) -> dict[str, FloatArray]:
        """Estimates of a truth, from good to absurd."""
        rng, d = stream(self.seed, "verify", "guess", len(truth)), len(truth)
        return {
            "a good estimate": truth + rng.normal(0, 0.1 / d, d),
            "a poor estimate": truth + rng.normal(0, 1.0, d),
            "backwards": truth.max() - truth,
            "zeros": np.zeros(d),
            "all below zero": -truth,
            "enormous": rng.normal(0, 1e12, d),
            "tiny": truth * 1e-300,
        }


def metric_findings(metric: Metric, seed: int = 0) -> Iterator[Finding]:
    """Every check, as they are made."""
    return examine(CHECKS, MetricCase(metric, seed))


def promises(case: MetricCase) -> Iterator[Finding]:
    """The metric keeps its promises on every pair of vectors."""
    pairs = [(t, f) for t in case.truths for f in [t, *case.guesses(t).values()]]
    wrong = [promise for t, f in pairs for promise in broken(case.metric, t, f)]
    for promise in (FINITE, SAME, UNTOUCHED):
        count = wrong.count(promise)
        evidence = f"not so for {count} of {len(pairs)} pairs" if count else f"{len(pairs)} pairs"
        yield exact(promise, not count, evidence)


def best_at_the_truth(case: MetricCase) -> Iterator[Finding]:
    """Nothing is better than the truth, and a bad estimate is worse."""
    sign = {"lower": 1, "higher": -1}[case.metric.better]
    better, blind, ends = [], 0, []
    large = len(case.truths[-1])  # in a small domain a ranking may have nothing to tell
    for t in case.truths:
        top, scale = case.metric(t, t), 1e-12 * len(t)
        ends.append(top)
        guesses = {what: sign * case.metric(t, f) for what, f in case.guesses(t).items()}
        better += [what for what, value in guesses.items() if value < sign * top - scale]
        blind += len(t) == large and guesses["backwards"] <= sign * top + scale
    evidence = f"{len(better)} estimates beat it, such as {better[0]}" if better else "none does"
    name = f"No estimate beats the truth, as better = {case.metric.better!r} says"
    yield exact(name, not better, evidence)
    evidence = f"d={large}" if not blind else f"not so at d={large}"
    yield exact("The truth turned upside down is worse than the truth", not blind, evidence)
    if case.metric.better == "lower":
        worst = max(map(abs, ends))
        yield exact("A distance is 0 at the truth", worst < 1e-12, f"at most {worst:.2g}")


def for_a_dataset(case: MetricCase) -> Iterator[Finding]:
    """It can be made for a dataset, with and without positions."""
    h = np.array([50, 30, 15, 5])
    made, settled = [], []
    for positions in (None, np.array([1.0, 2.0, 4.0, 8.0])):
        data = Dataset("four values", h, ["1", "2", "4", "8"], positions)
        metric = case.metric.for_data(data)
        made.append(isinstance(metric, Metric) and np.isfinite(metric(h / 100, np.eye(4)[0])))
        settled.append(hash(metric.for_data(data)) == hash(metric))
        settled.append(metric.for_data(data) == metric)
    yield exact("It can be made for a dataset", all(made), "with and without positions")
    yield exact("Made twice for a dataset, it is the same metric", all(settled), "compared")


def refusals(case: MetricCase) -> Iterator[Finding]:
    """Vectors that cannot be compared are refused with one line."""
    good, nan, infinite = np.array([0.75, 0.25]), np.array([0.5, np.nan]), np.array([-np.inf, 1.0])
    bad = {
        "unequal lengths": (good, np.ones(3) / 3),
        "NaN": (good, nan),
        "an infinite truth": (infinite, good),
        "nothing": (np.zeros(0), np.zeros(0)),
    }
    accepted = []
    for what, (truth, frequencies) in bad.items():
        try:
            case.metric(truth, frequencies)
            accepted.append(what)
        except LDPError:
            pass
    name = "Vectors that cannot be compared are refused"
    yield exact(name, not accepted, ", ".join(accepted or bad))


CHECKS = promises, best_at_the_truth, for_a_dataset, refusals
