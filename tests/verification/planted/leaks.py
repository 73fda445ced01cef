"""Oracles that reveal more than they say."""

from fractions import Fraction
from math import exp, log

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import require_values
from tests.verification.planted.honest import HonestDirect, HonestSubset, HonestUnary


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


class LyingLogProb(TrueBitNeverClearedAndSaysSo):
    """Breaks ε and declares the probabilities of an honest oracle."""

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        one = log(0.5 / self.q)
        return np.where(self.supports(reports, value), one, log(0.5 / (1 - self.q)))


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


class LeaksInAPaddingByte(HonestUnary):
    """Supports, p and q are all honest, but a byte of the report gives the value away."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        return np.column_stack([reports, np.asarray(values)]).astype(np.uint8)

    def valid(self, reports: Reports) -> BoolArray:
        return np.ones(len(reports), dtype=bool)


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


class IgnoresEpsilon(HonestDirect):
    """Always spends 1.2."""

    @property
    def p(self) -> float:
        return exp(1.2) / (exp(1.2) + self.d - 1)

    @property
    def q(self) -> float:
        return 1 / (exp(1.2) + self.d - 1)
