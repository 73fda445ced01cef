"""Oracles whose reports are real vectors: no p, no q."""

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.noise import Noise
from ldp3.types import Estimate, Tally
from tests.verification.planted.honest import HonestSum, HonestUnequalSum


class TooLittleNoise(HonestSum):
    """Takes the sensitivity for 1."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return np.round(self.noisy(values, rng, 1 / self.epsilon) * 1024) / 1024

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(2 / (tally.n * self.epsilon**2)))


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
    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(8 / self.epsilon**2 / tally.n**2))


class NoNoiseOnTheRest(HonestSum):
    """Noise on the user's own entry only."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        own = np.arange(self.d) == np.asarray(values)[:, None]
        return np.asarray(np.where(own, super().perturb(values, rng), 0.0))


class NoiseRepeatsInTheNextBatch(HonestSum):
    """The noise is drawn once and kept."""

    def noisy(
        self, values: IntArray, rng: np.random.Generator, scale: float | FloatArray
    ) -> FloatArray:
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


class StatesTheMeanNoise(HonestUnequalSum):
    """Values differ in noise, and the estimate says the same of all."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(honest.frequencies, tally, Noise(honest.noise.floor))


class SwapsTheNoise(HonestUnequalSum):
    """Every noise is stated, of another value."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(honest.frequencies, tally, Noise(np.roll(honest.noise.base, 1)))
