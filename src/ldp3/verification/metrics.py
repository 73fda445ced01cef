"""What every metric must do, whatever the two vectors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import LDPError
from ldp3.metrics.base import Metric
from ldp3.randomness import stream
from ldp3.types import Dataset
from ldp3.verification.base import Finding, exact, examine

DOMAINS = 2, 5, 70, 1000


@dataclass(frozen=True)
class Trial:
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
    return examine(CHECKS, Trial(metric, seed))


def finite(trial: Trial) -> Iterator[Finding]:
    """Any two finite vectors have a finite value."""
    values = [trial.metric(t, f) for t in trial.truths for f in [t, *trial.guesses(t).values()]]
    wrong = [v for v in values if type(v) is not float or not np.isfinite(v)]
    evidence = f"{len(values)} pairs" + (f", got {wrong[0]!r}" if wrong else "")
    yield exact("Any two finite vectors have a finite value", not wrong, evidence)


def best_at_the_truth(trial: Trial) -> Iterator[Finding]:
    """Nothing is better than the truth, and a bad estimate is worse."""
    sign = {"lower": 1, "higher": -1}[trial.metric.better]
    better, blind, ends = [], 0, []
    large = len(trial.truths[-1])  # in a small domain a ranking may have nothing to tell
    for t in trial.truths:
        top, scale = trial.metric(t, t), 1e-12 * len(t)
        ends.append(top)
        guesses = {what: sign * trial.metric(t, f) for what, f in trial.guesses(t).items()}
        better += [what for what, value in guesses.items() if value < sign * top - scale]
        blind += len(t) == large and guesses["backwards"] <= sign * top + scale
    evidence = f"{len(better)} estimates beat it, such as {better[0]}" if better else "none does"
    name = f"No estimate beats the truth, as better = {trial.metric.better!r} says"
    yield exact(name, not better, evidence)
    evidence = f"d={large}" if not blind else f"not so at d={large}"
    yield exact("The truth turned upside down is worse than the truth", not blind, evidence)
    if trial.metric.better == "lower":
        worst = max(map(abs, ends))
        yield exact("A distance is 0 at the truth", worst < 1e-12, f"at most {worst:.2g}")


def repeatable(trial: Trial) -> Iterator[Finding]:
    """The same vectors give the same value, and are left as they were."""
    same, kept = True, True
    for t in trial.truths:
        for f in trial.guesses(t).values():
            before = t.copy(), f.copy()
            same &= trial.metric(t, f) == trial.metric(t, f)
            kept &= np.array_equal(t, before[0]) and np.array_equal(f, before[1])
    yield exact("The same vectors give the same value", same, "each pair twice")
    yield exact("Both vectors are left untouched", kept, "compared afterwards")


def for_a_dataset(trial: Trial) -> Iterator[Finding]:
    """It can be made for a dataset, with and without positions."""
    h = np.array([50, 30, 15, 5])
    made = []
    for positions in (None, np.array([1.0, 2.0, 4.0, 8.0])):
        data = Dataset("four values", h, ["1", "2", "4", "8"], positions)
        metric = trial.metric.for_data(data)
        made.append(isinstance(metric, Metric) and np.isfinite(metric(h / 100, np.eye(4)[0])))
    yield exact("It can be made for a dataset", all(made), "with and without positions")


def refusals(trial: Trial) -> Iterator[Finding]:
    """Vectors that cannot be compared are refused with one line."""
    good, accepted = np.array([0.75, 0.25]), []
    bad = {"another length": np.ones(3) / 3, "NaN": np.array([0.5, np.nan])}
    for what, f in bad.items():
        try:
            trial.metric(good, f)
            accepted.append(what)
        except LDPError:
            pass
    name = "Unequal lengths and NaN are refused"
    yield exact(name, not accepted, ", ".join(accepted) or "both tried")


CHECKS: tuple[Callable[[Trial], Iterator[Finding]], ...] = (
    finite,
    best_at_the_truth,
    repeatable,
    for_a_dataset,
    refusals,
)
