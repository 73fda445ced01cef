"""Oracles with one bug each, and the honest ones they were made from.

Every class but the honest ones breaks its promise in a way that some published code does, or that
a hurried author might. The contract must catch each.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

import numpy as np

from ldp3.errors import require_values
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, Total
from ldp3.types import Estimate


@dataclass(frozen=True)
class HonestDirect(PureOracle):
    """GRR in plain NumPy."""

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)

    @property
    def q(self) -> float:
        return 1 / (exp(self.epsilon) + self.d - 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d - 1, size=len(values))
        lies += lies >= values
        return np.where(rng.random(len(values)) < self.p, values, lies)

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports < self.d)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports == value

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return np.where(reports == value, log(self.p), log(self.q))


@dataclass(frozen=True)
class HonestUnary(PureOracle):
    """OUE in plain NumPy."""

    @property
    def p(self) -> float:
        return 0.5

    @property
    def q(self) -> float:
        return 1 / (exp(self.epsilon) + 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        threshold = np.full((len(values), self.d), self.q)
        threshold[np.arange(len(values)), values] = self.p
        return (rng.random(threshold.shape) < threshold).astype(np.uint8)

    def valid(self, reports: Reports) -> BoolArray:
        return np.asarray((reports <= 1).all(axis=1))

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports[:, value] == 1

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        one, zero = log(self.p / self.q), log((1 - self.p) / (1 - self.q))
        return np.where(self.supports(reports, value), one, zero)


@dataclass(frozen=True)
class HonestSubset(PureOracle):
    """SS in plain NumPy, with two values per report."""

    @property
    def p(self) -> float:
        return 2 * exp(self.epsilon) / (2 * exp(self.epsilon) + self.d - 2)

    @property
    def q(self) -> float:
        return (2 - self.p) / (self.d - 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        rank = rng.random((len(values), self.d))
        rows = np.arange(len(values))
        rank[rows, values] = np.where(rng.random(len(values)) < self.p, -1.0, 2.0)
        return np.sort(np.argsort(rank, axis=1)[:, :2], axis=1)

    def valid(self, reports: Reports) -> BoolArray:
        inside = ((reports >= 0) & (reports < self.d)).all(axis=1)
        return np.asarray(inside & (reports[:, 0] < reports[:, 1]))

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.asarray((reports == value).any(axis=1))


@dataclass(frozen=True)
class HonestHash(PureOracle):
    """BLH in plain NumPy, with a table of random bits per report instead of a hash."""

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + 1)

    @property
    def q(self) -> float:
        return 0.5

    def table(self, n: int, rng: np.random.Generator) -> IntArray:
        return rng.integers(2, size=(n, self.d))

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        table = self.table(len(values), rng)
        flip = rng.random(len(values)) >= self.p
        cell = table[np.arange(len(values)), values] ^ flip
        return np.column_stack([table, cell]).astype(np.uint8)

    def valid(self, reports: Reports) -> BoolArray:
        return np.asarray((reports <= 1).all(axis=1))

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports[:, value] == reports[:, -1]

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> IntArray:
        return rng.binomial(histogram, self.p) + rng.binomial(histogram.sum() - histogram, self.q)


class TrueBitNeverCleared(HonestUnary):
    """ε is unbounded: the user's own bit is always 1."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[np.arange(len(values)), values] = 1
        return reports


class TrueBitNeverClearedAndSaysSo(TrueBitNeverCleared):
    """The same with the right p: every estimate is sound, only privacy is gone."""

    @property
    def p(self) -> float:
        return 1.0

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return None


class OneValueKeptOut(HonestSubset):
    """ε is unbounded: value 0 is in a subset only if it is the truth."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        rank = rng.random((len(values), self.d))
        rank[:, 0] = 1.5
        rows = np.arange(len(values))
        rank[rows, values] = np.where(rng.random(len(values)) < self.p, -1.0, 2.0)
        return np.sort(np.argsort(rank, axis=1)[:, :2], axis=1)


class LiesIncludeTheTruth(HonestDirect):
    """The truth is told too often: a lie is drawn from all values."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d, size=len(values))
        return np.where(rng.random(len(values)) < self.p, values, lies)


class LiesIncludeTheTruthAndSaysSo(LiesIncludeTheTruth):
    """The same with the right p and q, so that only ε is off."""

    @property
    def p(self) -> float:
        told = exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)
        return told + (1 - told) / self.d

    @property
    def q(self) -> float:
        return (1 - self.p) / (self.d - 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        told = rng.random(len(values)) < exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)
        return np.where(told, values, rng.integers(self.d, size=len(values)))

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return None


class LastBitNotRandomised(HonestUnary):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[:, -1] = np.asarray(values) == self.d - 1
        return reports


class OutOfDomainSentVerbatim(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        inside = (values >= 0) & (values < self.d)
        reports = np.array(values)
        reports[inside] = super().perturb(values[inside].astype(np.int64), rng)
        return reports


class ClientAndServerDisagree(HonestHash):
    """The client hashes into two cells, the server's q is that of three."""

    @property
    def q(self) -> float:
        return 1 / 3


class TruncatingDecoder(HonestDirect):
    def estimate(self, total: Total, n: int) -> Estimate:
        honest = super().estimate(total, n)
        counts = np.floor(honest.frequencies * n)
        return Estimate(counts / n, total, n, honest.noise, self.p, self.q)


class UnseenLeftAtZero(HonestDirect):
    def estimate(self, total: Total, n: int) -> Estimate:
        honest = super().estimate(total, n)
        seen = np.where(np.asarray(total) > 0, honest.frequencies, 0.0)
        return Estimate(seen, total, n, honest.noise, self.p, self.q)


class ClippedButCalledUnbiased(HonestUnary):
    def estimate(self, total: Total, n: int) -> Estimate:
        honest = super().estimate(total, n)
        clipped = np.maximum(honest.frequencies, 0)
        return Estimate(clipped, total, n, honest.noise, self.p, self.q)


class SameStreamInEveryBatch(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return super().perturb(values, np.random.Generator(np.random.PCG64(1)))


class GlobalRandomness(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return super().perturb(values, np.random.Generator(np.random.PCG64()))


class OneLieForAll(HonestDirect):
    """All users of a batch share one coin."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d - 1, size=len(values))
        lies += lies >= values
        return np.where(rng.random() < self.p, values, lies)


class NeighboursShareACoin(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d - 1, size=len(values))
        lies += lies >= values
        coins = np.repeat(rng.random(len(values) // 2 + 1), 2)[: len(values)]
        return np.where(coins < self.p, values, lies)


class TiedHash(HonestHash):
    """Cells of different values are uniform but not independent."""

    def table(self, n: int, rng: np.random.Generator) -> IntArray:
        table = super().table(n, rng)
        table[:, 1] = table[:, 0] ^ (rng.random(n) < 0.4)
        return table


class AggregateAverages(HonestDirect):
    def aggregate(self, reports: Reports) -> IntArray:
        return super().aggregate(reports) * 840 // max(1, len(reports))

    def estimate(self, total: Total, n: int) -> Estimate:
        return super().estimate(total / 840 * n, n)


class MiscountsTheTail(HonestUnary):
    """A fast path that forgets what does not fill a block of sixteen."""

    def aggregate(self, reports: Reports) -> IntArray:
        return super().aggregate(reports[: len(reports) // 16 * 16])


class WrongVariance(HonestUnary):
    """Forgets the factor of the client's own p."""

    def variance(self, n: int, frequency: float = 0.0) -> float:
        return super().variance(n, frequency) / 2


class VarianceWithoutFrequency(HonestDirect):
    def variance(self, n: int, frequency: float = 0.0) -> float:
        return super().variance(n)


class LyingLogProb(TrueBitNeverClearedAndSaysSo):
    """Breaks ε and declares the probabilities of an honest oracle."""

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        one = log(0.5 / self.q)
        return np.where(self.supports(reports, value), one, log(0.5 / (1 - self.q)))


class LyingPAndQ(HonestDirect):
    """Declares more accuracy than it has."""

    @property
    def p(self) -> float:
        return min(0.99, 1.2 * super().p)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return HonestDirect(self.epsilon, self.d).perturb(values, rng)


class LyingRatio(HonestDirect):
    """Uses twice its budget and declares a ratio of one."""

    @property
    def privacy_ratio(self) -> Fraction:
        return Fraction(1)

    @property
    def p(self) -> float:
        return exp(2 * self.epsilon) / (exp(2 * self.epsilon) + self.d - 1)

    @property
    def q(self) -> float:
        return 1 / (exp(2 * self.epsilon) + self.d - 1)

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return HonestDirect(self.epsilon, self.d).log_prob(reports, value)


class RatioAboveBudget(HonestDirect):
    @property
    def privacy_ratio(self) -> Fraction:
        return Fraction(exp(self.epsilon) * 1.000001)


class IndependentSimulation(HonestDirect):
    """Draws every count on its own, though the counts of GRR sum to n."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> IntArray:
        return rng.binomial(histogram, self.p) + rng.binomial(histogram.sum() - histogram, self.q)


class MutatesItsInput(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        values[...] = reports
        return reports


class TrustsEveryReport(HonestDirect):
    """Lets a report from outside the domain shift the counts of others."""

    def valid(self, reports: Reports) -> BoolArray:
        return np.ones(len(reports), dtype=bool)

    def aggregate(self, reports: Reports) -> IntArray:
        return np.bincount(reports % self.d, weights=1 + (reports > self.d), minlength=self.d)


class LeaksInAPaddingByte(HonestUnary):
    """Supports, p and q are all honest, but a byte of the report gives the value away."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        return np.column_stack([reports, np.asarray(values)]).astype(np.uint8)

    def valid(self, reports: Reports) -> BoolArray:
        return np.ones(len(reports), dtype=bool)


# Leaks that show only somewhere.


class LeaksForOneValue(HonestUnary):
    """One value of many is sent in the clear."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        secret = self.d * 7 // 16
        reports[np.asarray(values) == secret, secret] = 1
        return reports


class LeaksForOnePair(HonestUnary):
    """One value shows in another's bit."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[np.asarray(values) == self.d * 7 // 16, self.d // 3] = 1
        return reports


class LeaksBeyondAWord(HonestUnary):
    """Values beyond the first 64-bit word are not randomised."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        held = np.arange(self.d) == np.asarray(values)[:, None]
        reports[:, 64:] = held[:, 64:]
        return reports


class LeaksInAParity(HonestUnary):
    """Two bytes of noise whose exclusive or is the value."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        noise = rng.integers(256, size=len(reports))
        return np.column_stack([reports, noise, noise ^ np.asarray(values) % 256]).astype(np.uint8)

    def valid(self, reports: Reports) -> BoolArray:
        return np.ones(len(reports), dtype=bool)


class LeaksInTheType(HonestDirect):
    """The type of the array depends on the value."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        return reports.astype(np.int16) if (np.asarray(values) == 0).all() else reports


class FirstOfTheBatchIsHonest(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[:1] = values[:1]
        return reports


class LastOfTheBatchIsHonest(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[-1:] = values[-1:]
        return reports


class AloneIsHonest(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        return np.array(values) if len(values) == 1 else reports


class TruthfulBeyondTheChunk(HonestDirect):
    """A buffer of 65,536 random numbers; what comes after is sent as it is."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[65_536:] = values[65_536:]
        return reports


class TellsOfThePreviousUser(HonestDirect):
    """Every second time the lie is the previous user's value."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        lies = (reports != values) & (rng.random(len(reports)) < 0.5)
        lies[:1] = False
        at = np.flatnonzero(lies)
        reports[at] = np.asarray(values)[at - 1]
        return reports


class NoiseRepeatsAfterAThousand(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        n = len(values)
        coins, lies = rng.random(1_000), rng.integers(self.d - 1, size=1_000)
        coins, lies = coins[np.arange(n) % 1_000], lies[np.arange(n) % 1_000]
        return np.where(coins < self.p, values, lies + (lies >= values))


class SmallSeed(HonestDirect):
    """All reports of a batch follow from 32 bits."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        inner = np.random.Generator(np.random.PCG64(int(rng.integers(2**32))))
        return super().perturb(values, inner)


# Servers that are wrong only sometimes.


class CountersOverflow(HonestDirect):
    def aggregate(self, reports: Reports) -> IntArray:
        return super().aggregate(reports) % 65_536


class ForgetsBeyondTheChunk(HonestDirect):
    def aggregate(self, reports: Reports) -> IntArray:
        return super().aggregate(reports[:65_536])


class SimulatesSmallCrowdsOnly(HonestHash):
    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> IntArray:
        drawn = super().simulate(histogram, rng)
        return drawn if histogram.sum() < 10**5 else drawn + drawn // 1000


class SimulatesIn32Bits(HonestHash):
    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> IntArray:
        return super().simulate(histogram, rng).astype(np.int32).astype(np.int64)


class WrongForOneReport(HonestDirect):
    def estimate(self, total: Total, n: int) -> Estimate:
        honest = super().estimate(total, n)
        if n > 1:
            return honest
        return Estimate(honest.frequencies * 0.9, total, n, honest.noise, self.p, self.q)


class EstimateSpoilsTheTotal(HonestDirect):
    def estimate(self, total: Total, n: int) -> Estimate:
        honest = super().estimate(total.copy(), n)
        total += 1
        return honest


class SaysAnotherP(HonestDirect):
    """The estimate carries a p that is not the oracle's: methods would use it."""

    def estimate(self, total: Total, n: int) -> Estimate:
        honest = super().estimate(total, n)
        return Estimate(honest.frequencies, total, n, honest.noise, 0.9, self.q)


class ForgetsRows(HonestDirect):
    """Duplicate reports are sent once."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.unique(super().perturb(values, rng))


class IgnoresEpsilon(HonestDirect):
    """Always spends 1.2."""

    @property
    def p(self) -> float:
        return exp(1.2) / (exp(1.2) + self.d - 1)

    @property
    def q(self) -> float:
        return 1 / (exp(1.2) + self.d - 1)


# Reports that are real vectors: no p, no q.


@dataclass(frozen=True)
class HonestSum(FrequencyOracle):
    """Laplace noise on every entry of the user's own histogram, rounded to a grid."""

    def noisy(self, values: IntArray, rng: np.random.Generator, scale: float) -> FloatArray:
        values = require_values(self, values, self.d).astype(np.int64)
        noise = rng.laplace(0, scale, (len(values), self.d))
        noise[np.arange(len(values)), values] += 1
        return noise

    def mean(self, total: Total, n: int, noise: float) -> Estimate:
        return Estimate(np.asarray(total, dtype=np.float64) / n, total, n, noise)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.round(self.noisy(values, rng, 2 / self.epsilon) * 1024) / 1024

    def estimate(self, total: Total, n: int) -> Estimate:
        return Estimate(
            np.asarray(total, dtype=np.float64) / n, total, n, 8 / (n * self.epsilon**2)
        )


class TooLittleNoise(HonestSum):
    """Takes the sensitivity for 1."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.round(self.noisy(values, rng, 1 / self.epsilon) * 1024) / 1024

    def estimate(self, total: Total, n: int) -> Estimate:
        return Estimate(
            np.asarray(total, dtype=np.float64) / n, total, n, 2 / (n * self.epsilon**2)
        )


class FloatsGiveItAway(HonestSum):
    """No rounding: the last bits of 1 + noise differ from those of noise (Mironov 2012)."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return self.noisy(values, rng, 2 / self.epsilon)


class CoarseGenerator(HonestSum):
    """Noise from 16 random bits: 1 + noise and noise have hardly a number in common."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        values = require_values(self, values, self.d).astype(np.int64)
        u = (rng.integers(2**16, size=(len(values), self.d)) + 0.5) / 2**16 - 0.5
        noise = -2 / self.epsilon * np.sign(u) * np.log1p(-2 * np.abs(u))
        noise[np.arange(len(values)), values] += 1
        return noise


class ClippedVectors(HonestSum):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.clip(super().perturb(values, rng), -1, 2)


class WrongStatedNoise(HonestSum):
    def estimate(self, total: Total, n: int) -> Estimate:
        return Estimate(
            np.asarray(total, dtype=np.float64) / n, total, n, 8 / self.epsilon**2 / n**2
        )


class NoNoiseOnTheRest(HonestSum):
    """Noise on the user's own entry only."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        own = np.arange(self.d) == np.asarray(values)[:, None]
        return np.asarray(np.where(own, super().perturb(values, rng), 0.0))


class NoiseRepeatsInTheNextBatch(HonestSum):
    """The noise is drawn once and kept."""

    def noisy(self, values: IntArray, rng: np.random.Generator, scale: float) -> FloatArray:
        key = f"{len(values)}"
        if key not in self.__dict__:
            noise = rng.laplace(0, scale, (len(values), self.d))
            object.__setattr__(self, key, noise)
        out = np.array(self.__dict__[key])
        out[np.arange(len(values)), require_values(self, values, self.d)] += 1
        return out


class SumLeaksForOneValue(HonestSum):
    """One value of many gets a tenth of the noise."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        secret = self.d * 7 // 16
        reports[np.asarray(values) == secret, secret] = 9.0
        return reports
