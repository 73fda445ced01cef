"""What a collection is for, and how far off it will be."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from math import pi

import numpy as np

from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.noise import Noise, PureNoise
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import stream
from ldp3.sizing.solving import least_users

MOST_RUNS, LEAST_RUNS = 24, 6  # collections that are simulated for a mean error
VALUES = 2**15  # of all of them together, within these bounds: it varies less the more values


@dataclass(frozen=True, eq=False)
class Goal(ABC):
    """Something to be known of frequencies like these.

    Parameters
    ----------
    frequencies
        Of all values.
    confidence
        How often the error is to be kept.
    seed
        Where the randomness of simulated collections starts.
    """

    frequencies: FloatArray
    confidence: float
    seed: int

    @property
    def simulated(self) -> bool:
        """Whether the error comes from simulated collections, and not from theory."""
        return False

    @abstractmethod
    def error(self, oracle: FrequencyOracle, n: int) -> float:
        """How far off `n` users will be."""

    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        """The fewest users who are off by at most `wanted`."""
        return least_users(partial(self.error, oracle), wanted, rough=self.simulated)

    @abstractmethod
    def source(self, oracle: FrequencyOracle, n: int) -> str:
        """Where the numbers come from, in a sentence, and how well they are known."""

    def noise(self, oracle: FrequencyOracle, n: int) -> Noise:
        """What is known of the error of an estimate from `n` users."""
        if oracle.support is not None:
            return PureNoise.of(oracle.support, n)
        return oracle.estimate(oracle.simulate(self.users(n), self.rng(0))).noise

    def users(self, n: int) -> IntArray:
        """How many of `n` users hold each value."""
        return apportion(self.frequencies, n)

    def rng(self, run: int) -> np.random.Generator:
        """The same for every n, so that errors of neighbouring sizes compare."""
        return stream(self.seed, "size", run)


@dataclass(frozen=True, eq=False)
class ValueGoal(Goal):
    """One value's share: half the width of the interval that `estimate` prints for it.

    Where that interval begins at zero, all of what lies above the share.

    Parameters
    ----------
    place
        Which value.
    """

    place: int = 0

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        estimate, noise = self.frequencies, self.noise(oracle, n)
        if oracle.support is not None:  # of a count, which is whole
            p, q = oracle.support.p, oracle.support.q
            count = np.round(n * (q + estimate[[self.place]] * (p - q)))
            (low,), (high,) = noise.interval((count / n - q) / (p - q), self.confidence)
        else:  # every value may have noise of its own
            ends = noise.interval(estimate, self.confidence)
            low, high = (end[self.place] for end in ends)
        return float((high - low) / 2 if low > 0 else high - estimate[self.place])

    def source(self, oracle: FrequencyOracle, n: int) -> str:  # noqa: ARG002
        return "By theory: the intervals are those that `ldp3 estimate` prints."


@dataclass(frozen=True, eq=False)
class SumGoal(Goal):
    r"""The sum of all errors, ℓ1, in the mean.

    Without post-processing by theory: an estimate is nearly normal, so

    $$\mathrm{E}\,\ell_1 = \sum_v \sqrt{2 \mathrm{Var}[\hat f_v] / \pi}.$$

    Parameters
    ----------
    refine
        What is applied to the estimate; None for nothing.
    """

    refine: PostProcessor | None = None

    @property
    def simulated(self) -> bool:
        return self.refine is not None

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        if self.refine is None:
            variance = self.noise(oracle, n).variance(self.frequencies)
            return float(np.sqrt(2 / pi * np.broadcast_to(variance, oracle.d)).sum())
        return float(np.mean(self._sums(self.refine, oracle, n)))

    def source(self, oracle: FrequencyOracle, n: int) -> str:
        if self.refine is None:
            return "By theory, without post-processing, which makes the error smaller."
        sums = self._sums(self.refine, oracle, n)
        doubt = 200 * np.std(sums, ddof=1) / np.sqrt(len(sums)) / np.mean(sums)
        return (
            f"By {len(sums)} simulated collections for each protocol: an error is known to about "
            f"± {digit(doubt)} % of itself, users to ± {digit(2 * doubt)} %; what differs by "
            f"less is as good."
        )

    def _sums(self, refine: PostProcessor, oracle: FrequencyOracle, n: int) -> list[float]:
        users = self.users(n)
        runs = min(max(VALUES // oracle.d, LEAST_RUNS), MOST_RUNS)
        made = (oracle.estimate(oracle.simulate(users, self.rng(run))) for run in range(runs))
        return [float(np.abs(refine(one) - users / n).sum()) for one in made]


def single(share: float, d: int) -> FloatArray:
    """Frequencies of which only one is known: the others are alike."""
    return np.append(share, np.full(d - 1, (1 - share) / (d - 1)))


def digit(number: float) -> str:
    """One digit, or a whole number.

    >>> digit(0.123), digit(9.7), digit(34.5)
    ('0.1', '10', '34')
    """
    return f"{number:.1g}" if number < 9.5 else f"{number:,.0f}"
