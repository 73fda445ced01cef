"""An honest method, and methods with one bug each."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldp3.arrays import FloatArray, as_distribution
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate, Oracle


@dataclass(frozen=True)
class HonestMethod(PostProcessor):
    distribution: ClassVar[bool] = True
    keeps_order: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies)


class NotQuiteOne(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate) * (1 + 1e-9)


class Nan(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            positive = np.maximum(estimate.frequencies, 0)
            return np.asarray(positive / positive.sum())


class InPlace(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        np.maximum(estimate.frequencies, 0, out=estimate.frequencies)
        return super().refine(estimate)


class SameArray(HonestMethod):
    distribution: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        return estimate.frequencies


class Random(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        noise = np.random.Generator(np.random.PCG64()).random(estimate.d)
        return as_distribution(estimate.frequencies + 1e-6 * noise)


class Disorderly(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate)[::-1].copy()


class Short(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate)[:4]


class Raises(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies / int(estimate.frequencies.max() > 0))


class Restless(HonestMethod):
    """Drops what is noisier than others, and lets the next one pass it."""

    def refine(self, estimate: Estimate) -> FloatArray:
        f = estimate.frequencies.copy()
        f[f.argmax()] /= 2
        return as_distribution(f)


class Silent(HonestMethod):
    """Serves pure oracles only, and says to nobody why."""

    def applies(self, oracle: Oracle) -> bool:
        return oracle.support is not None


class OneNoise(HonestMethod):
    """Takes it that all values have the same noise."""

    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies - float(estimate.noise.base))


class NeverApplies(HonestMethod):
    def applies(self, oracle: Oracle) -> bool:
        return False
