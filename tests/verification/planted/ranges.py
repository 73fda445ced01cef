"""Oracles that are wrong for one value, far into a batch, or in one range of ε or d alone."""

import numpy as np

from ldp3.arrays import IntArray, Reports
from ldp3.errors import require_values
from ldp3.noise import Noise
from ldp3.types import Estimate, Tally
from tests.verification.planted.honest import HonestDirect, HonestHash, HonestSum, HonestUnary


class SimulatesFourAsSix(HonestHash):
    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        mistaken = np.array(histogram)
        mistaken[[4, 6]] = 0, mistaken[4] + mistaken[6]
        return super().simulate(mistaken, rng)


class ForgetsOneValue(HonestSum):
    """Who holds one value of the domain reports nothing but noise."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, forgotten = super().perturb(values, rng), self.d // 3
        reports[np.asarray(values) == forgotten, forgotten] -= 1
        return reports


class TruthfulFromThe150000th(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        reports[150_000:] = np.asarray(values)[150_000:]
        return reports


class TruthfulNowAndThenInLargeBatches(HonestDirect):
    """Half of the reports between the 100,000th and the 150,000th."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports = super().perturb(values, rng)
        naked = 100_000 + np.flatnonzero(rng.random(len(reports[100_000:150_000])) < 0.5)
        reports[naked] = np.asarray(values)[naked]
        return reports


class TwiceTheBudgetBetweenTwoAndFive(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        twice = 2 if 2 < self.epsilon < 5 else 1
        return HonestDirect(twice * self.epsilon, self.d).perturb(values, rng)


class TwiceTheBudgetAboveFive(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        twice = 2 if self.epsilon > 5 else 1
        return HonestDirect(twice * self.epsilon, self.d).perturb(values, rng)


class TwiceTheBudgetForTwoValues(HonestUnary):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        twice = 2 if self.d == 2 else 1
        return HonestUnary(twice * self.epsilon, self.d).perturb(values, rng)


class NoNoiseInLargeDomains(HonestSum):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        if self.d <= 1_000:
            return super().perturb(values, rng)
        return np.eye(self.d)[require_values(self, values, self.d)]


class WrongScaleInLargeDomains(HonestSum):
    """Frequencies are a tenth too large, and the noise is stated so."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        scale = 1.1 if self.d > 1_000 else 1.0
        noise = Noise(honest.noise.base * scale**2)
        return Estimate(scale * honest.frequencies, tally, noise)
