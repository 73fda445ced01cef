"""What a collection is for, and how far off it will be."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np

from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.noise import Noise, PureNoise
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness.streams import stream
from ldp3.types import Estimate

COLLECTIONS = 400  # that are simulated to see how often an order is right
FEW = 24  # for a mean error, which varies little


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

    def noise(self, oracle: FrequencyOracle, n: int) -> Noise:
        """What is known of the error of an estimate from `n` users."""
        if oracle.support is not None:
            return PureNoise.of(oracle.support, n)
        return oracle.estimate(oracle.simulate(self.users(n), self._rng(0))).noise

    def users(self, n: int) -> IntArray:
        """How many of `n` users hold each value."""
        return apportion(self.frequencies, n)

    def _collections(self, oracle: FrequencyOracle, n: int, count: int) -> Iterator[Estimate]:
        users = self.users(n)
        for run in range(count):
            yield oracle.estimate(oracle.simulate(users, self._rng(run)))

    def _rng(self, run: int) -> np.random.Generator:
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
        refine, truth = self.refine, self.users(n) / n
        made = self._collections(oracle, n, FEW)
        return float(np.mean([np.abs(refine(one) - truth).sum() for one in made]))


@dataclass(frozen=True, eq=False)
class OrderGoal(Goal):
    """The most frequent values in the right order: how often one collection gets it wrong.

    Values that are equally frequent may come in any order.

    Parameters
    ----------
    top
        How many of them.
    """

    top: int = 10

    @property
    def simulated(self) -> bool:
        return True

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        made = self._collections(oracle, n, COLLECTIONS)
        return sum(self._wrong(one.frequencies) for one in made) / COLLECTIONS

    def _wrong(self, estimate: FloatArray) -> bool:
        ordered = estimate[self._order]
        later = np.append(np.maximum.accumulate(ordered[::-1])[::-1], -np.inf)
        return bool((ordered[: self.top] <= later[self._below]).any())

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(-self.frequencies, kind="stable")

    @cached_property
    def _below(self) -> IntArray:
        """Of each of the top values, where the first less frequent one stands."""
        falling = -self.frequencies[self._order]
        return np.searchsorted(falling, falling[: self.top], side="right")


def single(share: float, d: int) -> FloatArray:
    """Frequencies of which only one is known: the others are alike."""
    return np.append(share, np.full(d - 1, (1 - share) / (d - 1)))
