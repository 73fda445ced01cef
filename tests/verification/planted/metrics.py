"""An honest metric, and metrics with one bug each."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.metrics.base import Metric
from ldp3.types import Dataset


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
