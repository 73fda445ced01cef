"""Distances between two vectors of frequencies, value by value.

Sums are NumPy's, not BLAS's, whose order of summation depends on the number of threads.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.metrics.base import Metric
from ldp3.types import Point


@final
@dataclass(frozen=True)
class L1(Metric):
    r"""Manhattan distance: $$\sum_v |\tilde f_v - f_v|.$$ At least 0, and 0 only at the truth.

    >>> L1()(np.array([0.5, 0.5]), np.array([0.75, 0.5]))
    0.25
    """

    unit: ClassVar[str] = "share of people"
    title: ClassVar[str] = "ℓ1"
    aliases: ClassVar[tuple[str, ...]] = (
        "manhattan", "manhattan distance", "l1 distance", "ℓ1 distance", "L1-norm",
    )  # fmt: skip
    bayes: ClassVar[Point | None] = "median"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs(frequencies - truth).sum())


@final
@dataclass(frozen=True)
class L2(Metric):
    r"""Euclidean distance: $$\sqrt{\sum_v (\tilde f_v - f_v)^2}.$$ At least 0, 0 only at the truth.

    >>> L2()(np.array([0.5, 0.5]), np.array([0.8, 0.1]))
    0.5
    """

    unit: ClassVar[str] = "share of people"
    title: ClassVar[str] = "ℓ2"
    aliases: ClassVar[tuple[str, ...]] = (
        "euclidean", "euclidean distance", "l2 distance", "ℓ2 distance", "L2-norm",
    )  # fmt: skip
    bayes: ClassVar[Point | None] = "mean"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.sqrt(np.square(frequencies - truth).sum()))


@final
@dataclass(frozen=True)
class MAE(Metric):
    r"""Mean absolute error: $$\frac1d \sum_v |\tilde f_v - f_v|,$$ `l1` divided by $d$.

    At least 0, and 0 only at the truth.

    >>> MAE()(np.array([0.5, 0.5]), np.array([0.75, 0.5]))
    0.125
    """

    unit: ClassVar[str] = "share of people"
    aliases: ClassVar[tuple[str, ...]] = ("mean absolute error",)
    bayes: ClassVar[Point | None] = "median"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs(frequencies - truth).mean())


@final
@dataclass(frozen=True)
class MSE(Metric):
    r"""Mean squared error: $$\frac1d \sum_v (\tilde f_v - f_v)^2.$$

    At least 0, and 0 only at the truth.

    >>> MSE()(np.array([0.5, 0.5]), np.array([0.75, 0.5]))
    0.03125
    """

    unit: ClassVar[str] = "squared share of people"
    aliases: ClassVar[tuple[str, ...]] = ("mean squared error",)
    bayes: ClassVar[Point | None] = "mean"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.square(frequencies - truth).mean())


@final
@dataclass(frozen=True)
class Linf(Metric):
    r"""The largest error: $$\max_v |\tilde f_v - f_v|.$$ At least 0, and 0 only at the truth.

    >>> Linf()(np.array([0.5, 0.5]), np.array([0.75, 0.375]))
    0.25
    """

    unit: ClassVar[str] = "share of people"
    title: ClassVar[str] = "ℓ∞"
    aliases: ClassVar[tuple[str, ...]] = ("l∞", "max", "chebyshev", "l infinity")

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs(frequencies - truth).max())


@final
@dataclass(frozen=True)
class TV(Metric):
    r"""Total variation: $$\frac12 \sum_v |\tilde f_v - f_v|,$$ half of `l1`.

    At least 0, and 0 only at the truth; at most 1 for two distributions.

    >>> TV()(np.array([0.5, 0.5]), np.array([0.75, 0.25]))
    0.25
    """

    unit: ClassVar[str] = "share of people"
    aliases: ClassVar[tuple[str, ...]] = ("total variation", "total variation distance")
    bayes: ClassVar[Point | None] = "median"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs(frequencies - truth).sum() / 2)
