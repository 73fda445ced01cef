"""Oracles whose reports depend on other users, or on something else than fresh randomness."""

import random
from dataclasses import dataclass
from math import exp
from typing import ClassVar

import numpy as np

from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.protocols.pure import PureOracle
from tests.verification.planted.honest import HonestDirect, HonestHash, HonestUnary


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


class MutatesItsInput(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        values[...] = reports
        return reports


class ForgetsRows(HonestDirect):
    """Duplicate reports are sent once."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.unique(super().perturb(values, rng))


class TiedHash(HonestHash):
    """Cells of different values are uniform but not independent."""

    def table(self, n: int, rng: np.random.Generator) -> IntArray:
        table = super().table(n, rng)
        table[:, 1] = table[:, 0] ^ (rng.random(n) < 0.4)
        return table


class ATenthCopiesItsNeighbour(HonestUnary):
    """A tenth of the users have the noise of the user before them."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        n, rows = len(codes), np.arange(len(codes))
        noise, own = rng.random((n, self.d)), rng.random(n)
        copies = np.flatnonzero((rng.random(n) < 0.1) & (rows > 0))
        noise[copies], own[copies] = noise[copies - 1], own[copies - 1]
        reports = (noise < self.q).astype(np.uint8)
        reports[rows, codes] = own < self.p
        return reports


class NoiseRepeatsAfterSevenHundred(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        first = min(len(codes), 700)
        coins = np.resize(rng.random(first), len(codes))
        lies = np.resize(rng.integers(self.d - 1, size=first), len(codes))
        return np.where(coins < self.p, codes, lies + (lies >= codes))


class OneBitIsSharedByTen(HonestUnary):
    """The noise of one value is one coin for ten users."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes, bit = super().perturb(values, rng), np.asarray(values), self.d // 3
        shared = np.repeat(rng.random(len(codes) // 10 + 1) < self.q, 10)[: len(codes)]
        reports[codes != bit, bit] = shared[codes != bit]
        return reports


class GlobalRandomnessForFew(HonestDirect):
    """One user in two thousand draws from Python's own generator."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        for i in np.flatnonzero(rng.random(len(reports)) < 1 / 2000):
            told = random.random() < self.p
            reports[i] = values[i] if told else random.randrange(self.d)
        return reports


class NumpysGlobalRandomness(HonestDirect):
    """A global generator that is seeded from ours, and left so for everybody."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        np.random.seed(rng.integers(2**32, size=4))  # noqa: NPY002
        codes = require_values(self, values, self.d).astype(np.int64)
        lies = np.random.randint(0, self.d - 1, size=len(codes))  # noqa: NPY002
        told = np.random.random(len(codes)) < self.p  # noqa: NPY002
        return np.where(told, codes, lies + (lies >= codes))


class RemembersFirstReports(HonestDirect):
    """Now and then a value gets the report that it got first."""

    first: ClassVar[dict[tuple[float, int, int], int]] = {}

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        for i in np.flatnonzero(rng.random(len(reports)) < 0.01):
            key = (self.epsilon, self.d, int(values[i]))
            reports[i] = self.first.setdefault(key, int(reports[i]))
        return reports


class SixteenBitsOfSeed(HonestUnary):
    """Takes 256 bits and uses 16 of them."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        seed = int(rng.integers(2**63, size=4)[0] % 2**16)
        return super().perturb(values, np.random.Generator(np.random.PCG64(seed)))


class SameBufferEveryTime(HonestDirect):
    """Reports are written into one buffer, which the next batch overwrites."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        if len(reports) > 7:
            return reports
        buffer = self.__dict__.setdefault("buffer", np.zeros(7, dtype=reports.dtype))
        buffer[: len(reports)] = reports
        return np.asarray(buffer[: len(reports)])


class TellsOfAUserFarAway(HonestDirect):
    """A third of the lies are the value of the user 37 places before."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes = super().perturb(values, rng), np.asarray(values)
        lies = (reports != codes) & (rng.random(len(codes)) < 0.33)
        lies[:37] = False
        at = np.flatnonzero(lies)
        reports[at] = codes[at - 37]
        return reports


class TellsOfTheNextUser(HonestUnary):
    """Now and then the bit of the next user's value is set."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes = super().perturb(values, rng), np.asarray(values)
        at = np.flatnonzero(rng.random(len(codes)) < 0.1)
        at = at[at + 1 < len(codes)]
        reports[at, codes[at + 1]] = 1
        return reports


class TheFiftiethIsHonest(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[50:51] = np.asarray(values)[50:51]
        return reports


class SortsItsReports(HonestDirect):
    """All reports are there, in order of size instead of users."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.sort(super().perturb(values, rng))


class TrustsTheTypeOfItsValues(HonestDirect):
    """Doubles and halves the values, which bytes cannot hold."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        require_values(self, values, self.d)
        return super().perturb((np.asarray(values) * 4) // 4, rng)


@dataclass(frozen=True)
class FewHashFunctions(PureOracle):
    """Local hashing with seeds of few bits: any two values collide too often or too rarely."""

    BITS: ClassVar[int] = 14

    @property
    def g(self) -> int:
        return max(2, round(exp(self.epsilon)) + 1)

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + self.g - 1)

    @property
    def q(self) -> float:
        return 1 / self.g

    def cells(self, seeds: IntArray, values: IntArray) -> IntArray:
        z = seeds.astype(np.uint64) * np.uint64(2654435761) + values.astype(np.uint64)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        return (z % np.uint64(self.g)).astype(np.int64)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        seeds = rng.integers(2**self.BITS, size=len(codes))
        own, lies = self.cells(seeds, codes), rng.integers(self.g - 1, size=len(codes))
        told = rng.random(len(codes)) < self.p
        return np.column_stack([seeds, np.where(told, own, lies + (lies >= own))])

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return self.cells(reports[:, 0], np.full(len(reports), value)) == reports[:, 1]

    def valid(self, reports: Reports) -> BoolArray:
        inside = (reports >= 0) & (reports < [2**self.BITS, self.g])
        return np.asarray(inside.all(axis=1))
