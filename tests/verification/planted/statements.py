"""Oracles whose reports are honest, and that say something of themselves that is not so."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, WordArray
from ldp3.errors import require_values
from ldp3.kernels import bits
from ldp3.protocols.local_hashing import LocalHashing
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import exp as exact_exp
from tests.verification.planted.honest import (
    HonestClient,
    HonestColumns,
    HonestSubset,
    HonestUnary,
)


class SaysItSupportsOne(HonestUnary):
    @property
    def support_sizes(self) -> tuple[int, int]:
        return 1, 1


class SaysItMaySupportAll(HonestClient):
    """Each of its few reports supports one value."""

    @property
    def support_sizes(self) -> tuple[int, int]:
        return 0, self.d


class CountsNoFurtherThanTwo(HonestUnary):
    def sizes(self, reports: Reports) -> IntArray:
        return np.minimum(super().sizes(reports), 2)


@dataclass(frozen=True)
class TellsMoreThanItSupports(HonestUnary):
    """OUE with half of the budget; the other half is for a bit that says whether a value is odd."""

    @property
    def q(self) -> float:
        return 1 / (exp(self.epsilon / 2) + 1)

    @property
    def support_ratio(self) -> Fraction:
        return exact_exp(self.epsilon / 2)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        odd = np.asarray(values) % 2 ^ (rng.random(len(values)) < self.q)
        return np.column_stack([super().perturb(values, rng), odd.astype(np.uint8)])

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        return PureOracle.log_prob(self, reports, value)


class SaysPairsAreIndependent(HonestSubset):
    @property
    def independence(self) -> int:
        return 2


class SaysThreeAreIndependent(HonestColumns):
    """Two are; a third one follows from them if it is their sum."""

    @property
    def independence(self) -> int:
        return 3


class SaysAllAreIndependent(HonestColumns):
    @property
    def independence(self) -> int:
        return self.d


class SaysMoreThanAllAreIndependent(HonestUnary):
    @property
    def independence(self) -> int:
        return self.d + 1


class ForgetsTheTruthInPairs(HonestUnary):
    """Says that two values go together as if the truth were neither of them."""

    def support_both(
        self, first: IntArray, second: IntArray, frequencies: FloatArray
    ) -> FloatArray:
        return self.q**2 + 0 * (frequencies[first] + frequencies[second])


class SaysValuesExcludeEachOther(HonestUnary):
    """Says that no report supports two values, so that sums over values seem to be sharper."""

    @property
    def both(self) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class SaysLinesAreAlike(PureOracle):
    """The seven lines of the Fano plane: of three points on a line one brings the other."""

    @property
    def p(self) -> float:
        return 3 * exp(self.epsilon) / (3 * exp(self.epsilon) + 4)

    @property
    def q(self) -> float:
        return (3 - self.p) / 6

    @property
    def exchangeable(self) -> bool:
        return True

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        inside = rng.random(len(codes)) < self.p
        own = np.array([0, 1, 3])[rng.integers(3, size=len(codes))]
        other = np.array([2, 4, 5, 6])[rng.integers(4, size=len(codes))]
        return (np.where(inside, own, other) - codes) % 7

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.isin((reports + value) % 7, [0, 1, 3])

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports < 7)


class SaysItsNonceIsAnotherField(HonestColumns):
    @property
    def nonce(self) -> tuple[str, int]:
        return "seed", 256


class SaysTheAnswerIsItsNonce(HonestColumns):
    @property
    def nonce(self) -> tuple[str, int]:
        return "bit", 2

    def report_with(self, nonces: WordArray, values: IntArray) -> Reports:
        reports = np.zeros(len(nonces), dtype=self.layout.dtype)
        reports["column"] = np.where(nonces % 2 == 0, 0, values & -values)
        reports["bit"] = nonces
        return reports

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return HonestColumns(self.epsilon, self.d).perturb(values, rng)


class DrawsHalfOfItsNonces(HonestColumns):
    def columns(self, n: int, rng: np.random.Generator) -> IntArray:
        return rng.integers(128, size=n)


class RepeatsItsNonces(LocalHashing):
    """Of 2⁶⁴ seeds it knows 2¹⁶, and their bits look as they should."""

    @property
    def g(self) -> int:
        return 2

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        few = reports["seed"] >> np.uint64(48)
        with np.errstate(over="ignore"):
            spread = (few + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            spread ^= spread >> np.uint64(31)
            spread *= np.uint64(0xBF58476D1CE4E5B9)
        told = reports["cell"] ^ self._cells(reports["seed"], np.asarray(values))
        made = self.report_with(spread ^ (spread >> np.uint64(27)), np.asarray(values))
        made["cell"] ^= told
        return made


class LeavesOutTheLastValue(HonestUnary):
    """Of what it is ordered to support."""

    def report_of(self, members: BoolArray) -> Reports:
        return (members & (np.arange(self.d) < self.d - 1)).astype(np.uint8)


class PacksWhatItShouldNot(HonestUnary):
    """Makes reports to order that no server takes."""

    def report_of(self, members: BoolArray) -> Reports:
        return bits.packed(members)[:, :1] + np.zeros((1, self.d), dtype=np.uint64)


class AnswersTheOpposite(HonestColumns):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return HonestColumns(self.epsilon, self.d).perturb(values, rng)

    def report_with(self, nonces: WordArray, values: IntArray) -> Reports:
        reports = super().report_with(nonces, values)
        reports["bit"] ^= 1
        return reports
