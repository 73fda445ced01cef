"""Oracles that reveal a little more than they say: rarely, slightly, or in two places at once."""

from functools import cached_property
from math import exp
from typing import ClassVar

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.noise import Noise
from ldp3.types import Estimate, Tally
from tests.verification.planted.honest import HonestDirect, HonestHash, HonestSum, HonestUnary
from tests.verification.planted.unusual import GeometricSum


class _Greedy(HonestDirect):
    """Spends more than ε, with p and q to match."""

    TIMES: ClassVar[float] = 1.05

    @property
    def p(self) -> float:
        spent = exp(self.TIMES * self.epsilon)
        return spent / (spent + self.d - 1)

    @property
    def q(self) -> float:
        return 1 / (exp(self.TIMES * self.epsilon) + self.d - 1)

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return None


class FivePercentMore(_Greedy):
    pass


class OnePermilleMore(_Greedy):
    """What no number of reports shows, its p and q say."""

    TIMES: ClassVar[float] = 1.001


class _GreedyBits(HonestUnary):
    """Spends more than ε, though neither p / q nor (1 - q) / (1 - p) is above e^ε."""

    TIMES: ClassVar[float] = 1.05

    @property
    def q(self) -> float:
        return 1 / (exp(self.TIMES * self.epsilon) + 1)

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return None


class BitsFivePercentMore(_GreedyBits):
    pass


class BitsTwiceTheBudget(_GreedyBits):
    TIMES: ClassVar[float] = 2.0


class WholeBudgetOnEveryBit(HonestUnary):
    """RAPPOR with ε where ε/2 belongs."""

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + 1)

    @property
    def q(self) -> float:
        return 1 - self.p


class _NakedTruth(HonestUnary):
    """Now and then a report has the user's own bit and no other."""

    RATE: ClassVar[float] = 1 / 300

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        naked = np.flatnonzero(rng.random(len(reports)) < self.RATE)
        reports[naked] = 0
        reports[naked, np.asarray(values)[naked]] = 1
        return reports


class NakedTruthIn300(_NakedTruth):
    pass


class NakedTruthIn1000(_NakedTruth):
    RATE: ClassVar[float] = 1e-3


class FlaggedTruth(HonestDirect):
    """One report in 500 is the truth, with a flag."""

    RATE: ClassVar[float] = 1 / 500

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        told = rng.random(len(reports)) < self.RATE
        return np.where(told, np.asarray(values) + self.d, reports)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports % self.d == value

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports < 2 * self.d)

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return None


class TwoBitsGoTogether(HonestUnary):
    """Two bits go together if the value is even, apart if it is odd; each alone is right."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes = super().perturb(values, rng), np.asarray(values)
        first, second = self.d // 3, self.d // 3 + max(1, self.d // 4)
        both = self.q**2 * np.where(codes % 2 == 0, 1.95, 0.05)
        u = rng.random(len(codes))
        one, other = u < self.q, (u < both) | ((u >= self.q) & (u < 2 * self.q - both))
        free = (codes != first) & (codes != second)
        reports[free, first], reports[free, second] = one[free], other[free]
        return reports


class OneBitMasksAnother(HonestUnary):
    """Two extra bits, each a fair coin, whose exclusive or is the value's last binary digit."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        coin = rng.integers(2, size=len(reports))
        noise = rng.integers(2, size=(len(reports), 3))
        masked = coin ^ (np.asarray(values) & 1)
        return np.column_stack([reports, coin, noise, masked]).astype(np.uint8)

    def valid(self, reports: Reports) -> BoolArray:
        return np.asarray((reports <= 1).all(axis=1))


class BitsShareTheirNoise(HonestUnary):
    """Neighbouring bits share their noise: whoever breaks the pair is known."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        noise = np.repeat(rng.random((len(codes), (self.d + 1) // 2)), 2, axis=1)[:, : self.d]
        reports = (noise < self.q).astype(np.uint8)
        reports[np.arange(len(codes)), codes] = rng.random(len(codes)) < self.p
        return reports


class LastValueIsTold(HonestDirect):
    """The last value alone is told nine times of ten."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes = super().perturb(values, rng), np.asarray(values)
        return np.where((codes == self.d - 1) & (rng.random(len(codes)) < 0.9), codes, reports)


class OneValueGoesNaked(HonestUnary):
    """A tenth of the reports of one value have no noise."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, one = super().perturb(values, rng), self.d // 3
        naked = (np.asarray(values) == one) & (rng.random(len(reports)) < 0.1)
        reports[naked] = np.arange(self.d) == one
        return reports


class WiderForHighValues(HonestUnary):
    """A column more if anybody in the batch holds a high value."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        high = bool((np.asarray(values) >= self.d // 2).any())
        return np.pad(reports, ((0, 0), (0, int(high))))


class NarrowerForLowValues(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        low = len(reports) and (np.asarray(values) < self.d // 2).all()
        return reports.astype(np.int32) if low else reports


class TooLittleGeometricNoise(GeometricSum):
    """A tenth more of ε than it has."""

    @cached_property
    def ratio(self) -> float:
        return exp(-1.1 * self.epsilon / 2)


class CountsTellTheValue(HonestUnary):
    """Every report is honest but for how many of its other bits are set: even for even values."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes = super().perturb(values, rng), np.asarray(values)
        odd = (reports.sum(axis=1) + codes) % 2 == 1
        spare = (codes + 1 + rng.integers(self.d - 1, size=len(codes))) % self.d
        wrong = odd & (rng.random(len(codes)) < 0.6)
        reports[wrong, spare[wrong]] ^= 1
        return reports


class TellsByTheHash(HonestHash):
    """The table of a report is honest, but its first two entries are equal for low values."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        low = (np.asarray(values) < self.d // 2) & (np.asarray(values) > 1)
        reports[low, 1] = reports[low, 0]
        return reports


class GrainTellsTheValue(HonestSum):
    """The own entry is rounded to a finer grid than the others."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        noisy, codes = self.noisy(values, rng, 2 / self.epsilon), np.asarray(values)
        reports, rows = np.round(noisy * 1024) / 1024, np.arange(len(codes))
        reports[rows, codes] = np.round(noisy[rows, codes] * 2048) / 2048
        return reports


class OneEntryIsQuieter(HonestSum):
    """The user's own entry has half the noise of the others."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        noise = rng.laplace(0, 2 / self.epsilon, (len(codes), self.d))
        noise[np.arange(len(codes)), codes] *= 0.3
        noise[np.arange(len(codes)), codes] += 1
        return np.round(noise * 1024) / 1024

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(8 / (tally.n * self.epsilon**2)))
