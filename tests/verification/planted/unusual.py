"""Oracles that are right in an unusual way: the contract must not mind."""

from dataclasses import dataclass
from functools import cached_property
from math import exp, log

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.noise import Noise
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.types import Estimate, Tally


@dataclass(frozen=True)
class UnusualHadamard(PureOracle):
    """Names a column of a Hadamard matrix; the row of the own value is +1 there, or not."""

    @property
    def columns(self) -> int:
        return 1 << self.d.bit_length()

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + 1)

    @property
    def q(self) -> float:
        return 0.5

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        rows = require_values(self, values, self.d).astype(np.int64) + 1
        column = rng.integers(self.columns, size=len(rows))
        minus = rng.random(len(rows)) >= self.p
        return np.where(np.bitwise_count(column & rows) % 2 == minus, column, column ^ rows & -rows)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.bitwise_count(reports & (value + 1)) % 2 == 0

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports < self.columns)


@dataclass(frozen=True)
class SaysNothingAtTimes(PureOracle):
    """GRR over d + 1 symbols, of which the last supports nothing."""

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + self.d)

    @property
    def q(self) -> float:
        return 1 / (exp(self.epsilon) + self.d)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d, size=len(codes))
        lies += lies >= codes
        return np.where(rng.random(len(codes)) < self.p, codes, lies)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports == value

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports <= self.d)


@dataclass(frozen=True)
class GeometricSum(FrequencyOracle):
    """A histogram of one plus two-sided geometric noise: whole numbers without a bound."""

    @cached_property
    def ratio(self) -> float:
        return exp(-self.epsilon / 2)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        ups, downs = rng.geometric(1 - self.ratio, (2, len(codes), self.d))
        reports = ups - downs
        reports[np.arange(len(codes)), codes] += 1
        return reports

    def valid(self, reports: Reports) -> BoolArray:
        return np.asarray((np.abs(reports) < 2**40).all(axis=1))

    def estimate(self, tally: Tally) -> Estimate:
        noise = 2 * self.ratio / (1 - self.ratio) ** 2 / tally.n
        return Estimate(tally.total / tally.n, tally, Noise(noise))


@dataclass(frozen=True)
class ParityHash(PureOracle):
    """BLH with the parity of seed & (v + 1): independent in pairs, not in threes."""

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + 1)

    @property
    def q(self) -> float:
        return 0.5

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64) + 1
        seeds = rng.integers(2**32, size=len(codes))
        flip = rng.random(len(codes)) >= self.p
        return np.column_stack([seeds, np.bitwise_count(seeds & codes) % 2 ^ flip])

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.bitwise_count(reports[:, 0] & (value + 1)) % 2 == reports[:, 1]

    def valid(self, reports: Reports) -> BoolArray:
        cell = (reports[:, 1] == 0) | (reports[:, 1] == 1)
        return np.asarray(cell & (reports[:, 0] >= 0))


@dataclass(frozen=True)
class OneOfTwo(PureOracle):
    """By a coin GRR, written as bits, or OUE."""

    @property
    def parts(self) -> tuple[tuple[float, float], tuple[float, float]]:
        e = exp(self.epsilon)
        return (e / (e + self.d - 1), 1 / (e + self.d - 1)), (0.5, 1 / (e + 1))

    @property
    def p(self) -> float:
        return (self.parts[0][0] + self.parts[1][0]) / 2

    @property
    def q(self) -> float:
        return (self.parts[0][1] + self.parts[1][1]) / 2

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        n, rows, (told, _), (p, q) = len(codes), np.arange(len(codes)), *self.parts
        unary = rng.random((n, self.d)) < q
        unary[rows, codes] = rng.random(n) < p
        lies = rng.integers(self.d - 1, size=n)
        named = np.where(rng.random(n) < told, codes, lies + (lies >= codes))
        direct = np.arange(self.d) == named[:, None]
        return np.where(rng.random((n, 1)) < 0.5, direct, unary).astype(np.uint8)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports[:, value] == 1

    def valid(self, reports: Reports) -> BoolArray:
        return np.asarray((reports <= 1).all(axis=1))


@dataclass(frozen=True)
class AskedForHalf(PureOracle):
    """OUE on a random half of the values; 2 stands for a value that was not asked for."""

    @property
    def p(self) -> float:
        return 0.25

    @property
    def q(self) -> float:
        return 0.5 / (exp(self.epsilon) + 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        reports = (rng.random((len(codes), self.d)) < 2 * self.q).astype(np.uint8)
        reports[np.arange(len(codes)), codes] = rng.random(len(codes)) < 0.5
        reports[rng.random(reports.shape) < 0.5] = 2
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports[:, value] == 1

    def valid(self, reports: Reports) -> BoolArray:
        return np.asarray((reports <= 2).all(axis=1))


@dataclass(frozen=True)
class Overcautious(PureOracle):
    """GRR that spends half of its ε: private, unbiased, and wasteful."""

    @property
    def p(self) -> float:
        return exp(self.epsilon / 2) / (exp(self.epsilon / 2) + self.d - 1)

    @property
    def q(self) -> float:
        return (1 - self.p) / (self.d - 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d - 1, size=len(codes))
        lies += lies >= codes
        return np.where(rng.random(len(codes)) < self.p, codes, lies).astype(np.uint32)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports == value

    def valid(self, reports: Reports) -> BoolArray:
        return reports < self.d


@dataclass(frozen=True)
class SupportsWhatItDenies(PureOracle):
    """A report names a value that it does *not* support: all others are supported."""

    @property
    def p(self) -> float:
        return 1 - 1 / (1 + (self.d - 1) * exp(self.epsilon))

    @property
    def q(self) -> float:
        return 1 - exp(self.epsilon) / (1 + (self.d - 1) * exp(self.epsilon))

    @property
    def support_sizes(self) -> tuple[int, int]:
        return self.d - 1, self.d - 1

    @property
    def exchangeable(self) -> bool:
        return True

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d - 1, size=len(codes))
        lies += lies >= codes
        return np.where(rng.random(len(codes)) < self.p, lies, codes)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports != value

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports < self.d)

    def log_prob(self, reports: Reports, value: int) -> FloatArray:
        # up to a term without the truth, here a large one
        return np.where(reports == value, -self.epsilon, 0.0) + 1000 + np.log1p(reports)


@dataclass(frozen=True)
class SaltedReports(PureOracle):
    """GRR beside eight bytes of salt that mean nothing, and a record for a form."""

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)

    @property
    def q(self) -> float:
        return (1 - self.p) / (self.d - 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d - 1, size=len(codes))
        reports = np.zeros(len(codes), dtype=[("salt", "<u8"), ("code", "<i8")])
        reports["salt"] = rng.integers(2**64, size=len(codes), dtype=np.uint64)
        told = rng.random(len(codes)) < self.p
        reports["code"] = np.where(told, codes, lies + (lies >= codes))
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports["code"] == value

    def valid(self, reports: Reports) -> BoolArray:
        return (reports["code"] >= 0) & (reports["code"] < self.d)


@dataclass(frozen=True)
class SortedPair(PureOracle):
    """The own value, or a lie, beside a decoy that is drawn blindly; in order of size."""

    @property
    def told(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)

    @property
    def p(self) -> float:
        return self.told + (1 - self.told) / self.d

    @property
    def q(self) -> float:
        lie = (1 - self.told) / (self.d - 1)
        return lie + (1 - lie) / self.d

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        lies, decoys = (
            rng.integers(self.d - 1, size=len(codes)),
            rng.integers(self.d, size=len(codes)),
        )
        named = np.where(rng.random(len(codes)) < self.told, codes, lies + (lies >= codes))
        return np.sort(np.column_stack([named, decoys]), axis=1).astype(np.uint16)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.asarray((reports == value).any(axis=1))

    def valid(self, reports: Reports) -> BoolArray:
        return np.asarray((reports < self.d).all(axis=1) & (reports[:, 0] <= reports[:, 1]))


@dataclass(frozen=True)
class CoarseStaircase(FrequencyOracle):
    """Noise with a long tail on a coarse grid: a mixture of two geometric laws, quiet and loud."""

    @property
    def ratio(self) -> float:
        return exp(-self.epsilon / 2)

    @property
    def spread(self) -> float:
        quiet, loud = (2 * r / (1 - r) ** 2 for r in (self.ratio, self.ratio**0.25))
        return 0.95 * quiet + 0.05 * loud

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        loud = rng.random((len(codes), 1)) < 0.05
        stop = 1 - np.where(loud, self.ratio**0.25, self.ratio)
        ups, downs = (np.floor(np.log(rng.random((len(codes), self.d))) / np.log1p(-stop))
                      for _ in range(2))  # fmt: skip
        reports = ups - downs
        reports[np.arange(len(codes)), codes] += 1
        return np.asarray(reports)

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(self.spread / tally.n))


@dataclass(frozen=True)
class PurePython(PureOracle):
    """GRR user by user, in plain Python: slow, but right."""

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)

    @property
    def q(self) -> float:
        return (1 - self.p) / (self.d - 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).tolist()
        return np.array([self._report(code, *rng.random(2)) for code in codes], dtype=np.int32)

    def _report(self, code: int, coin: float, choice: float) -> int:
        lie = int(choice * (self.d - 1))
        return code if coin < self.p else lie + (lie >= code)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports == value

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports < self.d)

    def log_prob(self, reports: Reports, value: int) -> FloatArray:
        return np.where(reports == value, log(self.p), log(self.q))
