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


class HonestFromCounts(HonestMethod):
    """Starts from what the server has added up."""

    distribution: ClassVar[bool] = False
    keeps_order: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        q = estimate.support.q if estimate.support else 0.0
        return np.asarray(np.maximum(estimate.tally.total / estimate.n - q, 0.0), dtype=float)


class HonestSmoothing(HonestMethod):
    """For ordered domains: a mean over neighbours."""

    keeps_order: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        f = as_distribution(estimate.frequencies)
        return as_distribution(np.convolve(np.pad(f, 1, mode="edge"), [0.25, 0.5, 0.25], "valid"))


class HonestCache(HonestMethod):
    """Remembers results, each for its own estimate."""

    made: ClassVar[dict[bytes, FloatArray]] = {}

    def refine(self, estimate: Estimate) -> FloatArray:
        key = estimate.frequencies.tobytes()
        if key not in self.made:
            self.made[key] = super().refine(estimate)
        return self.made[key].copy()


class HonestRounding(HonestMethod):
    """Steps: equal results for nearly equal estimates."""

    distribution: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        return np.asarray(np.round(np.clip(estimate.frequencies, -9, 9), 3), dtype=float)


class ClearsTheTally(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        estimate.tally.total[...] = 0
        return super().refine(estimate)


class SpoilsTheNoise(HonestMethod):
    """Where every value has a noise of its own, it is scaled in place."""

    def refine(self, estimate: Estimate) -> FloatArray:
        if isinstance(estimate.noise.base, np.ndarray):
            np.sqrt(estimate.noise.base, out=estimate.noise.base)
        return super().refine(estimate)


class NanIfPAndQExceedOne(HonestMethod):
    needs: ClassVar[str] = "p and q"

    def applies(self, oracle: Oracle) -> bool:
        return oracle.support is not None

    def refine(self, estimate: Estimate) -> FloatArray:
        assert estimate.support is not None
        with np.errstate(invalid="ignore"):
            spread = np.sqrt(1 - np.array(estimate.support.p) - estimate.support.q)
        return np.asarray(super().refine(estimate) * spread / spread)


class RandomInLargeDomains(HonestMethod):
    distribution: ClassVar[bool] = False
    keeps_order: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        chance = np.random.Generator(np.random.PCG64()).random(estimate.d)
        return super().refine(estimate) + (1e-3 * chance if estimate.d >= 1000 else 0.0)


class GlobalChance(HonestMethod):
    """Breaks ties that are not there."""

    def refine(self, estimate: Estimate) -> FloatArray:
        np.random.random()  # noqa: NPY002
        return super().refine(estimate)


class DisorderlyInSomeDomains(HonestMethod):
    distribution: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        f = estimate.frequencies.copy()
        if 100 <= estimate.d < 1000:
            f[[0, 1]] = f[[1, 0]]
        return f


class FavoursTheFirst(HonestMethod):
    keeps_order: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        f = super().refine(estimate)
        f[0] += 0.01
        return as_distribution(f)


class CrashesWithoutNoise(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies + 0 / int(estimate.noise.floor > 1e-9))


class LeansOnTheLastResult(HonestMethod):
    """A mean with the result before it, where that has the same size."""

    last: ClassVar[dict[int, FloatArray]] = {}

    def refine(self, estimate: Estimate) -> FloatArray:
        f = super().refine(estimate)
        mean = as_distribution(f + self.last.get(estimate.d, f))
        self.last[estimate.d] = f
        return mean


class RemembersByTheSize(HonestMethod):
    """The first result of each size is that of all of that size."""

    made: ClassVar[dict[tuple[int, int], FloatArray]] = {}
    keeps_order: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        key = estimate.d, estimate.n
        return self.made.setdefault(key, super().refine(estimate)).copy()


class ReusesItsResult(HonestMethod):
    """The array that it gave before is overwritten by the next result."""

    def refine(self, estimate: Estimate) -> FloatArray:
        buffer = self.__dict__.setdefault("buffer", np.zeros(5_000))
        buffer[: estimate.d] = super().refine(estimate)
        return np.asarray(buffer[: estimate.d])


class HalfPrecision(HonestMethod):
    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate).astype(np.float32)


class LosesItsSumFarAway(HonestMethod):
    """Divides by a sum that large numbers drown."""

    def refine(self, estimate: Estimate) -> FloatArray:
        f = np.maximum(estimate.frequencies, 0) + 1e-3
        return np.asarray(f / (f.sum() + 1e-9))


class ShortOfALargeDomain(HonestMethod):
    """Keeps the first thousand values."""

    def refine(self, estimate: Estimate) -> FloatArray:
        return super().refine(estimate)[:1000]


class ReversesTies(HonestMethod):
    """Ranks instead of frequencies: equal estimates end apart."""

    distribution: ClassVar[bool] = False

    def refine(self, estimate: Estimate) -> FloatArray:
        return np.argsort(np.argsort(estimate.frequencies)).astype(float)


class ScalesByTheCounts(HonestMethod):
    """Takes the tally for frequencies."""

    def refine(self, estimate: Estimate) -> FloatArray:
        total = np.asarray(estimate.tally.total, dtype=float)
        return np.asarray(total / np.abs(total).sum())
