"""What every metric must do, whatever the two vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.domain import Labels
from ldp3.metrics.base import Metric
from ldp3.people import Dataset
from ldp3.progress import Progress
from ldp3.randomness import stream
from ldp3.verification.base import Finding, exact, examine, forgetting, kept_promises, refuses

DOMAINS = 1, 2, 3, 5, 70, 4000
AWAY = 1e-3, 1e-2, 0.1, 0.5  # by which an estimate is away from the truth; every other if large

FINITE = "Any two finite vectors have a finite value"
SAME = "The same vectors give the same value"
UNTOUCHED = "Both vectors are left untouched"
POSITIVE = "A distance is at least 0"
ZERO = "A distance is 0 at the truth"


def broken(metric: Metric, truth: FloatArray, frequencies: FloatArray) -> list[str]:
    """The promises that a metric breaks on two vectors, which are left as they are."""
    first, second = truth.copy(), frequencies.copy()
    distance, true = metric.better == "lower", np.array_equal(truth, frequencies)
    value, again = metric(first, second), metric(truth.copy(), frequencies.copy())
    kept = {
        FINITE: type(value) is float and bool(np.isfinite(value)),
        SAME: value == again or value != value,  # NaN is said once
        UNTOUCHED: np.array_equal(first, truth) and np.array_equal(second, frequencies),
        POSITIVE: not (distance and value < 0),
        ZERO: not (distance and true and abs(value) > 1e-12),
    }
    return [promise for promise, holds in kept.items() if not holds]


@dataclass(frozen=True)
class MetricCase:
    """A metric under examination, with truths and estimates to compare."""

    metric: Metric
    seed: int = 0

    @cached_property
    def truths(self) -> dict[str, FloatArray]:
        """Distributions: falling, steep, in random order; with zeros, with ties, of one value.

        And what is none: counts, and nothing at all.
        """
        made: dict[str, FloatArray] = {}
        for d in DOMAINS:
            falling = np.arange(d, 0, -1.0)
            shuffled = stream(self.seed, "verify", "truth", d).permutation(falling) ** 2
            usual = {
                "falling": falling,
                "steep": 0.9 ** np.arange(d),
                "in random order": shuffled,
                "with zeros": np.where(np.arange(d) % 3 == 1, 0.0, shuffled),
                "with ties": np.ceil(shuffled / shuffled.max() * 3),
                "uniform": np.ones(d),
                "one value alone": np.bincount([d // 2], minlength=d),
            }
            made |= {f"{what}, d={d}": f / f.sum() for what, f in usual.items()}
            made |= {f"of counts, d={d}": falling, f"of zeros, d={d}": np.zeros(d)}
        return made

    def guesses(self, truth: FloatArray) -> dict[str, FloatArray]:
        """Estimates of a truth, from good to absurd."""
        rng, d = stream(self.seed, "verify", "guess", len(truth)), len(truth)
        return {
            **self.near(truth),
            "a good estimate": truth + rng.normal(0, 0.1 / d, d),
            "a poor estimate": truth + rng.normal(0, 1.0, d),
            "backwards": truth.max() - truth,
            "zeros": np.zeros(d),
            "all below zero": -truth,
            "enormous": rng.normal(0, 1e12, d),
            "tiny": truth * 1e-300,
        }

    def near(self, truth: FloatArray) -> dict[str, FloatArray]:
        """Estimates a little away from the truth, in directions that an author may favour."""
        rng, d = stream(self.seed, "verify", "near", len(truth)), len(truth)
        away = rng.normal(0, truth.mean(), d)
        smooth = np.convolve(np.pad(truth, 1, mode="edge"), np.full(3, 1 / 3), "valid")
        directions = {
            "towards the mean": truth.mean() - truth,
            "away from the mean": truth - truth.mean(),
            "towards zero": -truth,
            "larger": truth,
            "smoother": smooth - truth,
            "rougher": truth - smooth,
            "towards one value": np.bincount([d // 2], minlength=d) - truth,
            "somewhere": away,
            "elsewhere": -away,
        }
        steps = AWAY[:: 1 if d < DOMAINS[-1] else 2]
        return {f"{what} by {s:g}": truth + s * x for what, x in directions.items() for s in steps}


def metric_findings(
    metric: Metric,
    seed: int,
    draws: int,  # noqa: ARG001 (there is no chance in it)
    progress: Progress,
) -> Iterator[Finding]:
    """Every check, as they are made."""
    with forgetting(metric):
        yield from examine(CHECKS, MetricCase(metric, seed), progress)


def promises(case: MetricCase) -> Iterator[Finding]:
    """The metric keeps its promises on every pair of vectors."""
    pairs = {f"a truth {what}, and {guess}": (t, f) for what, t in case.truths.items()
             for guess, f in {"itself": t, **case.guesses(t)}.items()}  # fmt: skip
    made = [FINITE, SAME, UNTOUCHED, *([POSITIVE, ZERO] if case.metric.better == "lower" else [])]
    return kept_promises(pairs, lambda pair: broken(case.metric, *pair), made, "pairs")


def best_at_the_truth(case: MetricCase) -> Iterator[Finding]:
    """Nothing is better than the truth, and a bad estimate is worse."""
    sign = {"lower": 1, "higher": -1}[case.metric.better]
    better, blind, large = [], 0, DOMAINS[-1]
    for what, t in case.truths.items():
        top, scale = case.metric(t, t), 1e-12 * len(t)
        guesses = {guess: sign * case.metric(t, f) for guess, f in case.guesses(t).items()}
        better += [f"{guess}, for a truth {what}" for guess, value in guesses.items()
                   if value < sign * top - scale]  # fmt: skip
        if len(t) == large and what.startswith(("falling", "steep", "in random")):
            turned = t.max() - t  # in a small domain a ranking may have nothing to tell
            blind += sign * case.metric(t, turned / turned.sum()) <= sign * top + scale
    evidence = f"{len(better)} estimates beat it, such as {better[0]}" if better else "none does"
    name = f"No estimate beats the truth, as better = {case.metric.better!r} says"
    yield exact(name, not better, evidence)
    evidence = f"d={large}" if not blind else f"not so at d={large}"
    yield exact("The truth turned upside down is worse than the truth", not blind, evidence)


def memory(case: MetricCase) -> Iterator[Finding]:
    """The value depends on no other vectors."""
    pairs = [(t, f) for t in case.truths.values() if len(t) <= 70
             for f in (t, *list(case.guesses(t).values())[::7])]  # fmt: skip
    values = []
    for order in (pairs, pairs[::-1]):
        with forgetting(case.metric):
            values.append([case.metric(t.copy(), f.copy()) for t, f in order])
    same = np.array_equal(values[0], values[1][::-1], equal_nan=True)
    evidence = f"{len(pairs)} pairs forwards and backwards"
    yield exact("The value depends on no other vectors", same, evidence)


def what_it_sees(case: MetricCase) -> Iterator[Finding]:
    """What it does not look at is no fault, but to be known."""
    rng, places, blind = stream(case.seed, "verify", "places"), 0, []
    truths = [t for what, t in case.truths.items() if len(t) == 5 and "one value" not in what]
    for t in truths:
        f, order = t + rng.normal(0, 0.1, 5), rng.permutation(5)
        one, other = case.metric(t, f), case.metric(t[order], f[order])
        places += abs(one - other) > 1e-9 * max(1.0, abs(one))
    if places:
        evidence = f"{places} of {len(truths)} values change with the order of the values"
        name = "The order of the values matters: it is for ordered domains"
        yield Finding(name, True, evidence, note=True)
    for i in range(5):
        changed = [case.metric(t, t + s * np.eye(5)[i]) != case.metric(t, t)
                   for t in truths for s in (0.3, -0.3)]  # fmt: skip
        blind += [] if any(changed) else [str(i)]
    if 0 < len(blind) < 5:  # a ranking of more values than there are sees none of them
        evidence = f"changes of value {', '.join(blind)} of 5 alone are not seen"
        name = "It does not look at every value"
        yield Finding(name, True, evidence, note=True)


def for_a_dataset(case: MetricCase) -> Iterator[Finding]:
    """It can be made for a dataset, with and without positions."""
    h, skewed = np.array([50, 30, 15, 5]), np.array([700, 0, 0, 7])
    made, settled, values = [], [], []
    for counts, positions in (
        (h, None),
        (h, [1.0, 2.0, 4.0, 8.0]),
        (skewed, [8.0, -2.0, 0.5, 4.0]),
    ):
        data = Dataset("four values", Labels(["1", "2", "4", "8"], positions), counts)
        metric = case.metric.for_data(data)
        value = metric(h / 100, np.eye(4)[0])
        values.append((metric, value))
        made.append(isinstance(metric, Metric) and np.isfinite(value))
        settled.append(hash(metric.for_data(data)) == hash(metric))
        settled.append(metric.for_data(data) == metric)
    yield exact("It can be made for a dataset", all(made), "with and without positions")
    yield exact("Made twice for a dataset, it is the same metric", all(settled), "compared")
    same = [metric(h / 100, np.eye(4)[0]) == value for metric, value in values]
    name = "Made for one dataset, it does not change with another"
    yield exact(name, all(same), "three datasets")


def refusals(case: MetricCase) -> Iterator[Finding]:
    """Vectors that cannot be compared are refused with one line."""
    good, nan, infinite = np.array([0.75, 0.25]), np.array([0.5, np.nan]), np.array([-np.inf, 1.0])
    bad = {
        "unequal lengths": (good, np.ones(3) / 3),
        "NaN": (good, nan),
        "an infinite truth": (infinite, good),
        "nothing": (np.zeros(0), np.zeros(0)),
    }
    attempts = {what: partial(case.metric, *vectors) for what, vectors in bad.items()}
    yield refuses("Vectors that cannot be compared are refused", attempts)


CHECKS = memory, promises, best_at_the_truth, what_it_sees, for_a_dataset, refusals
