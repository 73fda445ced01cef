"""Bugs that were thought of after the checks were written."""

import numpy as np

from ldp3.arrays import IntArray, Reports
from ldp3.errors import require_values
from ldp3.noise import Noise
from ldp3.types import Estimate, Tally
from tests.verification.planted.honest import HonestDirect, HonestHash, HonestSum


class MirrorsItsNoise(HonestDirect):
    """The first user shares the coin of the last one, the second that of the last but one."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        half = rng.random((len(codes) + 1) // 2)
        coins = np.concatenate([half, half[::-1]])[len(half) * 2 - len(codes) :]
        lies = rng.integers(self.d - 1, size=len(codes))
        return np.where(coins < self.p, codes, lies + (lies >= codes))


class SharesACoinWithOneWhoDiffers(HonestDirect):
    """A user whose neighbour holds something else uses that neighbour's coin."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        coins = rng.random(len(codes))
        differs = 1 + np.flatnonzero(codes[1:] != codes[:-1])
        coins[differs] = coins[differs - 1]
        lies = rng.integers(self.d - 1, size=len(codes))
        return np.where(coins < self.p, codes, lies + (lies >= codes))


class CountsTheLastTwiceInLargeBatches(HonestDirect):
    """An off-by-one in the branch for many reports."""

    def aggregate(self, reports: Reports) -> Tally:
        counts = super().aggregate(reports).total
        if len(reports) >= 4_096:
            counts[reports[-1]] += 1
        return Tally(counts, len(reports))


class HalvesTheNoiseOfRareValues(HonestSum):
    """The stated variance is right for frequent values alone."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        stated = np.where(honest.frequencies < 0.3, 4.0, 8.0) / (tally.n * self.epsilon**2)
        return Estimate(honest.frequencies, tally, Noise(stated))


class TruthfulInBatchesOfAFewHundred(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        return np.array(values) if 100 <= len(reports) < 250 else reports


class SingleUsersVanish(HonestHash):
    """What one user alone holds is lost in simulation."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        alone = np.asarray(histogram) == 1
        drawn = super().simulate(np.where(alone, 0, histogram), rng)
        lost = int(alone.sum())
        return Tally(drawn.total + rng.binomial(lost, self.q, size=self.d), drawn.n + lost)
