"""Honest oracles in plain NumPy, for bugs to be planted in."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, log

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, WordArray
from ldp3.errors import require_values
from ldp3.noise import Noise
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.layout import Code, Fields, Layout
from ldp3.protocols.pure import PureOracle, independent_supports
from ldp3.randomness import WORDS, Words, ceil_threshold
from ldp3.randomness import exp as exact_exp
from ldp3.types import Estimate, Tally


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

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        return independent_supports(self.support, histogram, rng)


@dataclass(frozen=True)
class HonestSum(FrequencyOracle):
    """Laplace noise on every entry of the user's own histogram, rounded to a grid."""

    def noisy(
        self, values: IntArray, rng: np.random.Generator, scale: float | FloatArray
    ) -> FloatArray:
        values = require_values(self, values, self.d).astype(np.int64)
        noise = rng.laplace(0, scale, (len(values), self.d))
        noise[np.arange(len(values)), values] += 1
        return noise

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.round(self.noisy(values, rng, 2 / self.epsilon) * 1024) / 1024

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(8 / (tally.n * self.epsilon**2)))


@dataclass(frozen=True)
class HonestUnequalSum(HonestSum):
    """The same with twice the noise on every second entry."""

    @property
    def scales(self) -> FloatArray:
        return np.where(np.arange(self.d) % 2, 4 / self.epsilon, 2 / self.epsilon)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.round(self.noisy(values, rng, self.scales) * 1024) / 1024

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(2 * self.scales**2 / tally.n))


@dataclass(frozen=True)
class HonestClient(PureOracle):
    """GRR by whole numbers, ready to be deployed."""

    @cached_property
    def lie(self) -> int:
        return ceil_threshold(1 / (exact_exp(self.epsilon) + self.d - 1))

    @cached_property
    def truth(self) -> int:
        return WORDS - (self.d - 1) * self.lie

    @property
    def p(self) -> float:
        return self.truth / WORDS

    @property
    def q(self) -> float:
        return self.lie / WORDS

    @property
    def layout(self) -> Layout:
        return Code(self.d)

    @property
    def constants(self) -> dict[str, int]:
        return {"truth": self.truth, "lie": self.lie}

    def draw(self, value: int, words: Words) -> int:
        word = next(words)
        drawer = (word - self.truth) // self.lie
        return value if word < self.truth else drawer + (drawer >= value)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        words = rng.integers(WORDS, size=len(codes), dtype=np.uint64)
        drawer = ((words - np.uint64(self.truth)) // np.uint64(self.lie)).astype(np.int64)
        lies = drawer + (drawer >= codes)
        return np.where(words < np.uint64(self.truth), codes, lies).astype(np.uint16)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports == value


@dataclass(frozen=True)
class HonestColumns(PureOracle):
    """A random bit of the value by a column that is drawn afresh; says all that it knows."""

    @property
    def p(self) -> float:
        return float(self.support_ratio / (self.support_ratio + 1))

    @property
    def q(self) -> float:
        return 0.5

    @property
    def support_ratio(self) -> Fraction:
        return exact_exp(self.epsilon)

    @property
    def support_sizes(self) -> tuple[int, int]:
        return 0, self.d

    @property
    def independence(self) -> int:
        return 2

    @property
    def layout(self) -> Fields:
        return Fields((("column", 256), ("bit", 2)))

    @property
    def nonce(self) -> tuple[str, int]:
        return "column", 256

    def columns(self, n: int, rng: np.random.Generator) -> IntArray:
        return rng.integers(256, size=n)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        reports = self.report_with(self.columns(len(codes), rng).astype(np.uint64), codes)
        reports["bit"] ^= rng.random(len(codes)) >= self.p
        return reports

    def report_with(self, nonces: WordArray, values: IntArray) -> Reports:
        reports = np.empty(len(nonces), dtype=self.layout.dtype)
        reports["column"] = nonces
        reports["bit"] = np.bitwise_count(nonces & values.astype(np.uint64)) % 2
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        own = np.bitwise_count(reports["column"] & np.uint32(value)) % 2
        return np.asarray(own == reports["bit"])
