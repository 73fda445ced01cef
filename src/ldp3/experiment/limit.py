"""How good a post-processing could be: the separable oracle, a yardstick and never a method.

It knows how often each frequency occurs, but not which value has which, and answers each estimate
by itself. With $m_k$ values of frequency $f_k$ and the protocol's normal noise, its posterior is

$$P(f_v = f_k \\mid \\hat f_v) \\propto m_k\\, φ\\big(\\hat f_v;\\, f_k, \\mathrm{Var}(f_k)\\big),$$

whose mean has the least expected squared error, and whose median the least expected absolute one,
of all rules that treat values alike and look at one estimate at a time.
"""

from math import sqrt

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.noise import Noise

SIGHT = 9.0  # standard deviations from an estimate where a frequency still counts: e^-40


class SeparableOracle:
    """The Bayes rule that knows the frequencies, but not whose they are."""

    def __init__(self, histogram: IntArray) -> None:
        counts, self.values = np.unique(histogram, return_counts=True)
        self.frequencies = counts / histogram.sum()

    def __call__(self, estimates: FloatArray, noise: Noise) -> tuple[FloatArray, FloatArray]:
        """Posterior means and medians of the frequencies behind the estimates."""
        base, slope = float(noise.floor), noise.slope
        tau = 2 / (np.sqrt(base + slope * self.frequencies) + sqrt(base)) * self.frequencies
        inside = np.clip(estimates, 0, 1)
        mine = 2 / (np.sqrt(base + slope * inside) + sqrt(base)) * inside
        start = np.maximum(np.searchsorted(tau, mine - SIGHT) - 1, 0)
        stop = np.minimum(np.searchsorted(tau, mine + SIGHT) + 1, len(tau))
        means, medians = np.empty_like(estimates), np.empty_like(estimates)
        variance = base + slope * self.frequencies
        _posterior(estimates, self.frequencies, variance, self.values, start, stop, means, medians)
        return means, medians


@njit
def _posterior(
    x: FloatArray, f: FloatArray, variance: FloatArray, values: IntArray, start: IntArray,
    stop: IntArray, means: FloatArray, medians: FloatArray,
) -> None:  # fmt: skip
    weight, prior = np.empty(f.size), np.empty(f.size)
    for k in range(f.size):
        prior[k] = np.log(values[k] / np.sqrt(variance[k]))
    for i in range(x.size):
        best = -np.inf
        for k in range(start[i], stop[i]):
            weight[k] = prior[k] - 0.5 * (x[i] - f[k]) ** 2 / variance[k]
            best = max(best, weight[k])
        total = first = 0.0
        for k in range(start[i], stop[i]):
            weight[k] = np.exp(weight[k] - best) if weight[k] > best - 40.0 else 0.0
            total += weight[k]
            first += weight[k] * f[k]
        means[i] = first / total
        half, k = 0.5 * total, start[i]
        while half > weight[k]:
            half -= weight[k]
            k += 1
        medians[i] = f[k]
