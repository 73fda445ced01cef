r"""Divergences between distributions, and how any two vectors are made distributions.

Both vectors go the same way: negatives become 0, the rest is rescaled to sum to one (uniform if
nothing is left), then every value gets half a user's weight,
$$a_v = \frac{n x_v + 1/2}{n + d/2}.$$
Nothing is zero then, so every divergence is finite, at least 0, and 0 where both are the same.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np

from ldp3.arrays import FloatArray, as_distribution
from ldp3.errors import require, settle_numbers, whole
from ldp3.metrics.base import Metric
from ldp3.people import Dataset
from ldp3.types import Point

POPULATION = 10**6  # where nobody says how many users there are


@dataclass(frozen=True)
class Divergence(Metric):
    """A metric of two distributions that both have half a user's weight on every value.

    Parameters
    ----------
    n
        Number of people; the dataset's in an experiment, 10⁶ in a bare call.
    """

    n: int | None = None

    def __post_init__(self) -> None:
        settle_numbers(self)
        fits = self.n is None or whole(self.n, 1)
        require(fits, self, "n must be an integer of at least 1", self.n)

    def for_data(self, data: Dataset) -> Self:
        return self if self.n is not None else replace(self, n=data.n)

    def smooth(self, frequencies: FloatArray) -> FloatArray:
        """The distribution with half a user's weight on every value."""
        n = self.n or POPULATION
        return (n * as_distribution(frequencies) + 0.5) / (n + len(frequencies) / 2)


def divergence(a: FloatArray, b: FloatArray) -> float:
    """Kullback–Leibler divergence of two distributions without zeros."""
    from scipy.special import kl_div  # a log(a/b) - a + b: at least 0, but for rounding

    return float(np.maximum(kl_div(a, b), 0).sum())


@final
@dataclass(frozen=True)
class KL(Divergence):
    r"""Kullback–Leibler divergence from the truth $a$ to the estimate $b$, in nats.

    $$\sum_v a_v \log\frac{a_v}{b_v},$$

    with $a$ and $b$ made distributions without zeros, in the same way, by half a user's weight on
    every value. At least 0, and 0 where both are the same distribution.

    >>> round(KL(n=1)(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 4)  # ¾ log 3 - ¼ log 3
    0.5493
    """

    unit: ClassVar[str] = "nats"
    aliases: ClassVar[tuple[str, ...]] = (
        "KL-divergence", "Kullback-Leibler", "Kullback-Leibler Divergence", "relative entropy",
    )  # fmt: skip
    bayes: ClassVar[Point | None] = "share"  # -Σ E[a] log b is least where b is E[a]

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return divergence(self.smooth(truth), self.smooth(frequencies))


@final
@dataclass(frozen=True)
class JS(Divergence):
    r"""Jensen–Shannon divergence, in nats; its square root is a distance.

    $$\frac12 \mathrm{KL}(a, m) + \frac12 \mathrm{KL}(b, m), \qquad m = \frac{a + b}2,$$

    with $a$ and $b$ as for `kl`. Between 0 and log 2, and 0 where both are the same distribution.

    >>> round(JS(n=1)(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 4)
    0.1308
    """

    unit: ClassVar[str] = "nats"
    aliases: ClassVar[tuple[str, ...]] = ("Jensen-Shannon", "JS-divergence")
    bayes: ClassVar[Point | None] = "root"  # nearly: close to the truth it is Hellinger²

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        a, b = self.smooth(truth), self.smooth(frequencies)
        middle = (a + b) / 2
        return (divergence(a, middle) + divergence(b, middle)) / 2


@final
@dataclass(frozen=True)
class Hellinger(Divergence):
    r"""Hellinger distance: $$\sqrt{\tfrac12 \sum_v (\sqrt{a_v} - \sqrt{b_v})^2},$$

    with $a$ and $b$ as for `kl`. Between 0 and 1, and 0 where both are the same distribution.

    >>> round(Hellinger(n=1)(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 4)
    0.366
    """

    aliases: ClassVar[tuple[str, ...]] = ("Hellinger distance",)
    bayes: ClassVar[Point | None] = "root"  # Σ E[√a] √b is largest where √b ∝ E[√a]

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        a, b = self.smooth(truth), self.smooth(frequencies)
        return float(np.sqrt(np.square(np.sqrt(a) - np.sqrt(b)).sum() / 2))
