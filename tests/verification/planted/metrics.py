"""An honest metric, and metrics with one bug each."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.metrics.base import Metric
from ldp3.people import Dataset


@dataclass(frozen=True)
class HonestDistance(Metric):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs(truth - frequencies).sum())


class WrongDirection(HonestDistance):
    better: ClassVar[Literal["lower", "higher"]] = "higher"


class Signed(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float((truth - frequencies).sum())


class NotZeroAtTheTruth(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return super().compare(truth, frequencies) + 1e-6


class InfiniteAtZero(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.abs(np.log(truth / frequencies)).sum())


class Overwrites(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        frequencies -= truth
        return float(np.abs(frequencies).sum())


class Vector(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return np.abs(truth - frequencies)  # type: ignore[return-value]


@dataclass(frozen=True)
class Forgetful(HonestDistance):
    """Made for a dataset, it is another metric every time."""

    scale: float = 1.0

    def for_data(self, data: Dataset) -> "Forgetful":
        return type(self)(self.scale / 2)


class Fickle(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        noise = np.random.Generator(np.random.PCG64()).random()
        return super().compare(truth, frequencies) * (1 + 1e-6 * noise)


class Blind(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return 0.0


class HonestHuber(HonestDistance):
    """Squares near the truth, and straight lines far away."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        away = np.abs(truth - frequencies)
        return float(np.where(away < 0.1, away**2, 0.2 * away - 0.01).sum())


class HonestBounded(HonestDistance):
    """Between 0 and 1, however far away."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        away = np.abs(truth - frequencies).sum()
        return float(away / (1 + away))


class HonestLikeness(HonestDistance):
    """The more alike, the higher."""

    better: ClassVar[Literal["lower", "higher"]] = "higher"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(1 / (1 + np.abs(truth - frequencies).sum()))


class HonestOfTheMedian(HonestDistance):
    """For ordered domains: how far the median has moved."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        places = (np.searchsorted(_cumulated(f), 0.5) for f in (truth, frequencies))
        first, second = places
        return float(abs(first - second))


class HonestOfTheHead(HonestDistance):
    """Of the values that are most frequent in truth, ten at the most."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        head = truth >= np.sort(truth)[-10:].min()
        return float(np.abs(truth - frequencies)[head].sum())


class HonestOfThePlace(HonestDistance):
    """Later values count more: a metric of something else, which is to be said."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float((np.abs(truth - frequencies) * np.arange(1, len(truth) + 1)).sum())


class HonestOfTheFirst(HonestDistance):
    """The error of one value: a metric of something else, which is to be said."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(abs(truth[0] - frequencies[0]))


class HonestButTheLast(HonestDistance):
    """Does not look at the last value, which is to be said."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs(truth - frequencies)[:-1].sum())


class SumsOnly(HonestDistance):
    """The same for every distribution."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(abs(truth.sum() - frequencies.sum()))


class RewardsShrinkage(HonestDistance):
    """Best a little away from the truth."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        away = truth - frequencies
        return float((away**2).sum() - 0.05 * (away * (truth - truth.mean())).sum())


class RewardsSmoothness(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        rough = np.abs(np.diff(frequencies)).sum() - np.abs(np.diff(truth)).sum()
        return super().compare(truth, frequencies) + 2 * float(rough)


class ScaledByTheFirstTruth(HonestDistance):
    """Divides by the largest frequency of the first truth that it ever saw."""

    scale: ClassVar[dict[str, float]] = {}

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        scale = self.scale.setdefault("first", float(truth.max()))
        return super().compare(truth, frequencies) / scale


class ScaledByTheLastTruth(HonestDistance):
    """Divides by what it saw before."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        scale = self.__dict__.get("before", 1.0)
        self.__dict__["before"] = float(truth.max())
        return super().compare(truth, frequencies) / scale


class InfiniteAtTies(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(
                super().compare(truth, frequencies) / np.diff(np.sort(truth)).min(initial=1.0)
            )


class InfiniteAtZeros(HonestDistance):
    """Relative errors, where nobody may hold a value."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float((np.abs(truth - frequencies) / truth).mean())


class KnowsTheLastDataset(HonestDistance):
    """Made for a dataset, it counts users, of whichever dataset came last."""

    users: ClassVar[list[int]] = [1]

    def for_data(self, data: Dataset) -> "KnowsTheLastDataset":
        self.users[0] = data.n
        return self

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return super().compare(truth, frequencies) * self.users[0]


class Overflows(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        with np.errstate(over="ignore"):
            return float((((truth - frequencies) * 1e20) ** 16).sum())


class GlobalDice(HonestDistance):
    """A Monte Carlo metric that always draws the same."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        np.random.seed(0)  # noqa: NPY002
        return super().compare(truth, frequencies) * float(1 + 0 * np.random.random())  # noqa: NPY002


class SamplesLargeDomains(HonestDistance):
    """Beyond a thousand values a few are looked at, other ones every time."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        away = np.abs(truth - frequencies)
        rng = np.random.Generator(np.random.PCG64())
        return float(away.sum() if len(away) <= 1000 else rng.choice(away, 1000).sum())


class NegativeForLargeEstimates(HonestDistance):
    """The difference of two sums of squares, not the sum of squared differences."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float((truth**2).sum() - (frequencies**2).sum())


class UndefinedForOneValue(HonestDistance):
    """A variance over the values, which takes two of them."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(((truth - frequencies) ** 2).sum() / np.float64(len(truth) - 1))


class UndefinedForNobody(HonestDistance):
    """Relative to a total that may be 0."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return super().compare(truth, frequencies) / np.float64(truth.sum())


class NotZeroForCounts(HonestDistance):
    """Takes the truth for a distribution, which numbers of people are not."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return super().compare(truth, frequencies) + abs(1.0 - float(max(truth.sum(), 1.0)))


class SortsItsInput(HonestDistance):
    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        frequencies.sort()
        truth.sort()
        return super().compare(truth, frequencies)


class Nearly(HonestDistance):
    """Differences below a tenth do not count, so that much beats nothing but nothing beats it."""

    better: ClassVar[Literal["lower", "higher"]] = "higher"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float((np.abs(truth - frequencies) > 0.1).mean())


def _cumulated(frequencies: FloatArray) -> FloatArray:
    positive = np.maximum(frequencies, 0)
    return np.cumsum(positive / max(float(positive.sum()), 1e-300))
