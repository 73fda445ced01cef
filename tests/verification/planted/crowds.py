"""Oracles whose reports depend on other users, or on something else than fresh randomness."""

import numpy as np

from ldp3.arrays import IntArray, Reports
from ldp3.errors import require_values
from tests.verification.planted.honest import HonestDirect, HonestHash


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
