r"""How much is left to gain: the separable oracle, a yardstick and never a method.

It knows the true frequencies but not which value has which, and looks at one estimate at a time.
With $m_k$ values of frequency $f_k$ and the protocol's noise taken as normal,

$$P(f_v = f_k \mid \hat f_v) \propto m_k\, φ\big(\hat f_v;\, f_k, \mathrm{Var}(f_k)\big).$$

The posterior's mean has the least expected squared error, its median the least expected absolute
one, of all rules that answer every value alike from its own estimate; mean and squared mean root,
scaled to sum to one, are what KL and Hellinger want. A rule that also uses the order of the domain,
or that all frequencies sum to one, may do better; a rule that has to learn the frequencies from the
same estimates does worse, most of all where each frequency stands alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from ldp3.arrays import FloatArray, IntArray, as_distribution
from ldp3.kernels.compile import njit
from ldp3.metrics.base import Metric
from ldp3.noise import Noise
from ldp3.postprocessing.normalising import NormSub
from ldp3.types import Estimate, Point

SIGHT = 6.5  # standard deviations from an estimate where a frequency still counts: e^-21
FINE = 8  # frequencies closer than one in so many standard deviations are told from no estimate
ALIKE = 32  # estimates closer than one in so many standard deviations are answered as one


class SeparableOracle:
    """The Bayes rule that knows the frequencies, but not which value has which.

    Examples
    --------
    >>> oracle = SeparableOracle(np.array([80, 10, 10]), Noise(0.01))
    >>> points = oracle(np.array([0.7, 0.2, 0.1]))
    >>> points["mean"].round(3), points["median"]
    (array([0.8, 0.1, 0.1]), array([0.8, 0.1, 0.1]))
    """

    def __init__(self, histogram: IntArray, noise: Noise) -> None:
        self.base, self.slope, self.half = noise.floor, noise.slope, 0.5 / histogram.sum()
        counts, self.each = np.unique(histogram, return_counts=True)
        self.distinct = counts / histogram.sum()
        cells = np.floor(self._tau(self.distinct) * FINE)
        self.group = np.flatnonzero(np.diff(cells, prepend=-1.0))  # where each group begins
        self.values = np.add.reduceat(self.each, self.group)
        self.frequencies = np.add.reduceat(self.each * self.distinct, self.group) / self.values
        self.variance = self.base + self.slope * self.frequencies
        self.tau = self._tau(self.frequencies)

    def __call__(self, estimates: FloatArray) -> dict[Point, FloatArray]:
        """The points of the posteriors of the frequencies behind the estimates."""
        cells = np.floor(estimates * (ALIKE / sqrt(self.base)))
        _, place, times = np.unique(cells, return_inverse=True, return_counts=True)
        seen = np.bincount(place, estimates) / times
        means, medians, roots = (np.empty_like(seen) for _ in range(3))
        groups = self.frequencies, self.variance, self.values, self.group
        rooted = np.sqrt(self.frequencies + self.half)  # half a user, as divergences have it
        sight = self._sight(seen)
        _posteriors(seen, *groups, self.distinct, self.each, rooted, *sight, means, medians, roots)
        whole = 1 + len(estimates) * self.half
        return {
            "mean": means[place],
            "median": medians[place],
            "share": as_distribution(means[place]),
            "root": as_distribution(as_distribution(roots[place] ** 2) * whole - self.half),
        }

    def scores(
        self, estimate: Estimate, truth: FloatArray, metrics: Sequence[Metric]
    ) -> FloatArray:
        """What it scores on an estimate, free and as a distribution, by metric; NaN if unknown."""
        points = self(estimate.frequencies)
        projected = NormSub().refine(replace(estimate, frequencies=points["mean"]))
        summing = points | {"mean": projected, "median": projected}
        out = np.full((2, len(metrics)), np.nan)
        for i, metric in enumerate(metrics):
            if (bayes := metric.bayes) is not None:
                out[:, i] = metric(truth, points[bayes]), metric(truth, summing[bayes])
        return out

    def _tau(self, f: FloatArray) -> FloatArray:
        """∫ df / sd(f), where the noise has standard deviation one."""
        inside = np.clip(f, 0, 1)
        return 2 * inside / (np.sqrt(self.base + self.slope * inside) + sqrt(self.base))

    def _sight(self, estimates: FloatArray) -> tuple[IntArray, IntArray]:
        """The frequencies within sight, and the next on either side."""
        tau = self._tau(estimates)
        start = np.searchsorted(self.tau, tau - SIGHT) - 1
        stop = np.searchsorted(self.tau, tau + SIGHT) + 1
        return np.maximum(start, 0), np.minimum(stop, len(self.tau))


@njit
def _posteriors(
    x: FloatArray, f: FloatArray, variance: FloatArray, values: IntArray, group: IntArray,
    distinct: FloatArray, each: IntArray, rooted: FloatArray, start: IntArray, stop: IntArray,
    means: FloatArray, medians: FloatArray, roots: FloatArray,
) -> None:  # fmt: skip
    prior, weight = np.empty(f.size), np.empty(f.size)
    for k in range(f.size):
        prior[k] = np.log(values[k] / np.sqrt(variance[k]))
    for i in range(x.size):
        best = -np.inf
        for k in range(start[i], stop[i]):
            weight[k] = prior[k] - 0.5 * (x[i] - f[k]) ** 2 / variance[k]
            best = max(best, weight[k])
        total = first = root = 0.0
        for k in range(start[i], stop[i]):
            weight[k] = np.exp(weight[k] - best) if weight[k] > best - 21.0 else 0.0
            total += weight[k]
            first += weight[k] * f[k]
            root += weight[k] * rooted[k]
        means[i], roots[i] = first / total, root / total
        half, k = 0.5 * total, start[i]
        while half > weight[k] and k < stop[i] - 1:
            half -= weight[k]
            k += 1
        j, unit = group[k], weight[k] / values[k]  # in its group, each value weighs the same
        while half > each[j] * unit and j < distinct.size - 1:
            half -= each[j] * unit
            j += 1
        medians[i] = distinct[j]
