"""A plug-in: protocols that are not pure, with tallies that are no plain rows of counts."""

from dataclasses import dataclass

import numpy as np

from ldp3.arrays import IntArray, Reports
from ldp3.errors import require_values
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.grr import lie_words, tell
from ldp3.protocols.layout import Code, Fields
from ldp3.randomness import WORDS, Words
from ldp3.types import Estimate, Tally


@dataclass(frozen=True)
class TwoRows(FrequencyOracle):
    """Randomised response with a coin that says nothing; the tally is a matrix, coin × value."""

    @property
    def lie(self) -> int:
        return lie_words(self.epsilon, self.d)

    @property
    def truth(self) -> int:
        return WORDS - (self.d - 1) * self.lie

    @property
    def constants(self) -> dict[str, int]:
        return {"truth": self.truth, "lie": self.lie}

    @property
    def layout(self) -> Code:
        return Code(2 * self.d)

    def draw(self, value: int, words: Words) -> int:
        coin = next(words) % 2
        return coin * self.d + tell(value, next(words), self.truth, self.lie)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        words = Words.drawn(rng)
        codes = require_values(self, values, self.d)
        return np.array([self.draw(int(v), words) for v in codes], dtype=self.layout.dtype)

    def aggregate(self, reports: Reports) -> Tally:
        self.require_valid(reports)
        histogram = np.bincount(reports, minlength=2 * self.d)
        return Tally(histogram.reshape(2, self.d), len(reports))

    def estimate(self, tally: Tally) -> Estimate:
        p, q, n = self.truth / WORDS, self.lie / WORDS, tally.n
        frequencies = (tally.total.sum(axis=0) / n - q) / (p - q)
        return Estimate(frequencies, tally, q * (1 - q) / (n * (p - q) ** 2))  # type: ignore[arg-type]


@dataclass(frozen=True)
class HalfPoints(TwoRows):
    """The same with a tally of real numbers."""

    def aggregate(self, reports: Reports) -> Tally:
        tally = super().aggregate(reports)
        return Tally(tally.total.sum(axis=0) / 2, tally.n)

    def estimate(self, tally: Tally) -> Estimate:
        return super().estimate(Tally(np.stack([tally.total, tally.total]), tally.n))


@dataclass(frozen=True)
class CoinAndValue(TwoRows):
    """The same with reports of two fields, neither of which fills bytes."""

    @property
    def layout(self) -> Fields:  # type: ignore[override]
        return Fields((("coin", 2), ("value", self.d)))

    def draw(self, value: int, words: Words) -> int:
        coin, value = divmod(super().draw(value, words), self.d)
        return self.layout.number(coin, value)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        words, draw = Words.drawn(rng), super().draw
        drawn = [divmod(draw(int(v), words), self.d) for v in require_values(self, values, self.d)]
        return np.array(drawn, dtype=self.layout.dtype)

    def aggregate(self, reports: Reports) -> Tally:
        self.require_valid(reports)
        codes = reports["coin"].astype(np.int64) * self.d + reports["value"]
        histogram = np.bincount(codes, minlength=2 * self.d)
        return Tally(histogram.reshape(2, self.d), len(reports))


@dataclass(frozen=True)
class Neighbours(TwoRows):
    """One that goes by the order of the values."""

    needs_order = True


@dataclass(frozen=True)
class NoDraw(FrequencyOracle):
    """One that cannot be deployed."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.zeros((len(require_values(self, values, self.d)), self.d))

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, 1.0)  # type: ignore[arg-type]
