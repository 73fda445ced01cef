"""The posterior of every frequency, under a prior of atoms and tents that is fitted to all of them.

The prior says how many values have about which frequency. It is a sum of parts: an atom at every
point of a grid, and tents (triangular densities) of all widths. Many equal frequencies end in an
atom, frequencies of many sizes in wide tents, and nobody has to say which it is.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.postprocessing.prior import Parts
from ldp3.types import Estimate

STEP = 0.25  # of the grid, in standard deviations of the noise
PAD = 12  # steps of the grid on either side of an estimate: three standard deviations
SIGHT = 6.5  # standard deviations from an estimate where a frequency still counts: e^-21
FINE = 32  # estimates closer than one in so many standard deviations are fitted as one
SHIFTS = 0.0, 0.5  # of the tents, in half-widths: one fit each, whose posteriors are averaged
DOUBT = 0.2  # of the prior, in intervals: how much is no prior at all
EXACT = 1e-12  # a standard deviation at which noise no longer matters


@dataclass(frozen=True, eq=False)
class Posterior:
    """What an estimate says of each frequency, once all of them have said what is usual.

    Parameters
    ----------
    seen
        The estimates, made to sum to one.
    base, slope
        Their noise, as `Noise` means it; `base` has one entry per value.
    theta
        The grid of frequencies, increasing.
    start, width
        The first frequency of the grid that each estimate sees, and how many it sees.
    priors
        How many values have which frequency of the grid: one row for each fit.
    """

    seen: FloatArray
    base: FloatArray
    slope: float
    theta: FloatArray
    start: IntArray
    width: int
    priors: FloatArray

    @classmethod
    def of(cls, estimate: Estimate) -> "Posterior":
        """Fit the prior to an estimate."""
        x, base, slope = _plausible(estimate)
        grid = _Grid.around(x, float(base.min()), slope)
        # the quietest value sets the grid, the loudest the sight
        tau, far = grid.tau(x), SIGHT * sqrt(base.max() / base.min())
        start = np.searchsorted(grid.cells * STEP, tau - far)
        width = int((np.searchsorted(grid.cells * STEP, tau + far) - start).max())
        start = np.clip(start, 0, len(grid.cells) - width)
        first, count, mean = merged(x, tau, base)
        seen = np.empty((len(first), width))
        likelihood(mean, grid.theta, base[first], slope, start[first], seen)
        fits = [Parts.over(grid.cells, shift).fit(seen, start[first], count) for shift in SHIFTS]
        return cls(x, base, slope, grid.theta, start, width, np.array(fits))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each frequency."""
        mean, variance = np.zeros(len(self.seen)), np.zeros(len(self.seen))
        _moments(
            self.seen, self.base, self.slope, self.theta, self.start, self.width, self.priors,
            mean, variance,
        )  # fmt: skip
        return mean, variance

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Ends of a central credible interval for each frequency.

        A fit knows nothing of its own error, so a fifth of the prior is replaced by none: the
        likelihood alone. Each step of the grid is spread evenly.
        """
        low, high = np.empty(len(self.seen)), np.empty(len(self.seen))
        _interval(
            self.seen, self.base, self.slope, self.theta, self.start, self.width, self.priors,
            (1 - level) / 2, low, high,
        )  # fmt: skip
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


@dataclass(frozen=True, eq=False)
class _Grid:
    r"""Frequencies by $τ = \int df / \mathrm{sd}(f)$, where noise has standard deviation one."""

    cells: IntArray  # τ in steps, increasing, around the estimates only
    noise: float
    slope: float

    @classmethod
    def around(cls, x: FloatArray, noise: float, slope: float) -> "_Grid":
        line = cls(np.zeros(0, np.int64), noise, slope)
        near = np.unique(np.floor(line.tau(x) / STEP).astype(np.int64))
        cells = np.unique(near[:, None] + np.arange(-PAD, PAD + 2))
        top = int(np.ceil(line.one / STEP)) + PAD  # a little beyond 1: the sum decides
        return cls(cells[(cells >= 0) & (cells <= top)], noise, slope)

    @property
    def one(self) -> float:
        """τ of the frequency 1."""
        return 2 / (sqrt(self.noise + self.slope) + sqrt(self.noise))

    def tau(self, x: FloatArray) -> FloatArray:
        inside = np.clip(x, 0, 1)
        return 2 * inside / (np.sqrt(self.noise + self.slope * inside) + sqrt(self.noise))

    @property
    def theta(self) -> FloatArray:
        """The frequencies themselves; beyond 1, at the pace of 1."""
        tau = self.cells * STEP
        return tau * sqrt(self.noise) + self.slope * np.minimum(tau, self.one) * tau / 4


def _plausible(estimate: Estimate) -> tuple[FloatArray, FloatArray, float]:
    """Estimates that sum to one, none further out than noise can throw it, and their noise.

    Once frequencies sum to one, what all estimates have in common beyond that is noise.
    """
    noise, f = estimate.noise, estimate.frequencies
    base = np.broadcast_to(np.maximum(noise.base, EXACT**2), f.shape)
    slope = max(noise.slope, -(1 - 1e-6) * float(base.min()))
    low, high = -8 * np.sqrt(base), 1 + 8 * np.sqrt(np.maximum(base + slope, base))
    x = np.clip(f, low, high)
    return np.clip(x + (1 - x.sum()) / len(x), low, high), base, slope


def merged(
    x: FloatArray, tau: FloatArray, base: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Estimates in increasing order, close ones as one: the first, how many, and their mean."""
    order = np.argsort(x, kind="stable")
    if np.ptp(base) > 0:  # values with noise of their own stand for themselves
        return order, np.ones(len(x)), x[order]
    level = np.where(x < 0, x / sqrt(base[0]), tau)[order]  # below 0, τ stands still
    begins = np.flatnonzero(np.diff(np.floor(level * FINE), prepend=-np.inf) > 0)
    count = np.diff(begins, append=len(x)).astype(float)
    return order[begins], count, np.add.reduceat(x[order], begins) / count


# The kernels are plain loops: Numba compiles them fast, and no processor adds in another order.


@njit
def likelihood(
    x: FloatArray, theta: FloatArray, base: FloatArray, slope: float, start: IntArray,
    out: FloatArray,
) -> None:  # fmt: skip
    """Of each frequency that an estimate sees; 1 at the highest."""
    for i in range(x.size):
        best = -np.inf
        for k in range(out.shape[1]):
            frequency = theta[start[i] + k]
            variance = base[i] + slope * min(frequency, 1.0)
            out[i, k] = -0.5 * ((x[i] - frequency) ** 2 / variance + np.log(variance))
            best = max(best, out[i, k])
        for k in range(out.shape[1]):
            out[i, k] = np.exp(out[i, k] - best)


@njit
def _moments(
    x: FloatArray, base: FloatArray, slope: float, theta: FloatArray, start: IntArray, width: int,
    priors: FloatArray, mean: FloatArray, variance: FloatArray,
) -> None:  # fmt: skip
    fits, seen = priors.shape[0], np.empty((1, width))
    for i in range(x.size):
        likelihood(x[i : i + 1], theta, base[i : i + 1], slope, start[i : i + 1], seen)
        origin = theta[start[i]]  # measured from here, no digits are lost in the variance
        for fit in range(fits):
            mass = first = second = 0.0
            for k in range(width):
                share = seen[0, k] * priors[fit, start[i] + k]
                apart = theta[start[i] + k] - origin
                mass += share
                first += share * apart
                second += share * apart * apart
            mean[i] += (origin + first / mass) / fits
            variance[i] += max(second / mass - (first / mass) ** 2, 0.0) / fits


@njit
def _interval(
    x: FloatArray, base: FloatArray, slope: float, theta: FloatArray, start: IntArray, width: int,
    priors: FloatArray, tail: float, low: FloatArray, high: FloatArray,
) -> None:  # fmt: skip
    fits, seen, q = priors.shape[0], np.empty((1, width)), np.empty(width)
    for i in range(x.size):
        likelihood(x[i : i + 1], theta, base[i : i + 1], slope, start[i : i + 1], seen)
        for fit in range(-1, fits):
            mass = 0.0
            for k in range(width):
                mass += seen[0, k] * (priors[fit, start[i] + k] if fit >= 0 else 1.0)
            share = (1.0 - DOUBT) / fits / mass if fit >= 0 else DOUBT / mass
            for k in range(width):
                weight = seen[0, k] * (priors[fit, start[i] + k] if fit >= 0 else 1.0)
                q[k] = share * weight + (q[k] if fit >= 0 else 0.0)
        low[i] = _quantile(tail, q, theta, start[i], base[i], slope)
        high[i] = _quantile(1.0 - tail, q, theta, start[i], base[i], slope)


@njit
def _quantile(
    p: float, q: FloatArray, theta: FloatArray, first: int, base: float, slope: float
) -> float:
    k = 0
    while k < q.size - 1 and p > q[k]:
        p -= q[k]
        k += 1
    frequency = theta[first + k]
    half = 0.5 * STEP * np.sqrt(base + slope * min(frequency, 1.0))  # of the step around it
    return float(frequency + half * (2.0 * min(p / max(q[k], 1e-300), 1.0) - 1.0))
