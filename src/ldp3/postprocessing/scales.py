"""A prior of atoms and tents at all scales, fitted to an estimate; what `multiscale` stands on.

The prior says how many values have about which frequency. Whoever has it has the posterior of every
frequency: its mean, its variance, its quantiles.
"""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.types import Estimate

STEP = 0.25  # of the grid, in standard deviations of the noise
PAD = 12  # steps of the grid on either side of an estimate: three standard deviations
SIGHT = 6.5  # standard deviations from an estimate where a frequency still counts: e^-21
FINE = 32  # estimates within this part of a standard deviation are fitted as one
FIRST = 4  # half-width of the narrowest tents in steps: one standard deviation
RATIO = 4  # of the half-widths of one scale of tents and the one before
SHIFTS = 0.0, 0.5  # of the tents, in half-widths: one fit each, and their posteriors are averaged
BACKGROUND = 0.5  # values that nobody has seen, shared by the lowest tents of all scales
STEPS = 300  # of the fixed-point iteration
RELAX = 0.5  # how much further each step goes than it says, as an exponent
EXACT = 1e-12  # a standard deviation below which nothing is noise any more


@dataclass(frozen=True, eq=False)
class Posterior:
    """What an estimate and the prior fitted to it say of each frequency.

    Parameters
    ----------
    seen
        The estimates, made to sum to one.
    base, slope
        Their noise, as `Noise` means it.
    theta
        The grid of frequencies, increasing.
    start, width
        The first frequency that each estimate sees, and how many it sees.
    priors
        How many values have about which frequency, on the grid: one row for each fit.
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
        """The posterior under the prior that fits the estimate."""
        x, base, slope = _seen(estimate)
        grid = _Grid.of(x, float(base.min()), slope)
        far = SIGHT * sqrt(base.max() / base.min())
        tau = grid.tau(x)
        start = np.searchsorted(grid.tau_of_cells, tau - far)
        width = int((np.searchsorted(grid.tau_of_cells, tau + far) - start).max())
        start = np.clip(start, 0, len(grid.cells) - width)
        first, count, mean = _merged(x, tau, base)
        likelihood = np.empty((len(first), width))
        _likelihood(mean, grid.theta, base[first], slope, start[first], likelihood)
        priors = np.empty((len(SHIFTS), len(grid.cells)))
        for prior, shift in zip(priors, SHIFTS, strict=True):
            _parts(grid.cells, shift).fit(likelihood, count, start[first], grid.cells, prior)
        return cls(x, base, slope, grid.theta, start, width, priors)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each frequency; the variance is never quite 0."""
        mean, variance = np.zeros(len(self.seen)), np.zeros(len(self.seen))
        _moments(
            self.seen, self.base, self.slope, self.theta, self.start, self.width, self.priors,
            mean, variance,
        )  # fmt: skip
        least = 1e-6 * (self.base + self.slope * np.minimum(mean, 1))
        return mean, np.maximum(variance, least)


@dataclass(frozen=True, eq=False)
class _Grid:
    r"""Frequencies by $τ = \int df / \mathrm{sd}(f)$, where noise has standard deviation one."""

    cells: IntArray  # τ in steps, increasing; only around the estimates
    noise: float
    slope: float

    @classmethod
    def of(cls, x: FloatArray, noise: float, slope: float) -> "_Grid":
        whole = cls(np.zeros(1, np.int64), noise, slope)
        near = np.unique(np.floor(whole.tau(x) / STEP).astype(np.int64))
        cells = np.unique(near[:, None] + np.arange(-PAD, PAD + 2))
        top = int(np.ceil(whole.one / STEP)) + PAD  # a little beyond 1: the sum decides
        return cls(cells[(cells >= 0) & (cells <= top)], noise, slope)

    @property
    def one(self) -> float:
        """τ of the frequency 1."""
        return 2 / (sqrt(self.noise + self.slope) + sqrt(self.noise))

    @property
    def tau_of_cells(self) -> FloatArray:
        return self.cells * STEP

    def tau(self, x: FloatArray) -> FloatArray:
        inside = np.clip(x, 0, 1)
        return 2 * inside / (np.sqrt(self.noise + self.slope * inside) + sqrt(self.noise))

    @property
    def theta(self) -> FloatArray:
        """The frequencies themselves; beyond 1, at the pace of 1."""
        tau = self.tau_of_cells
        return tau * sqrt(self.noise) + self.slope * np.minimum(tau, self.one) * tau / 4


class _Parts(NamedTuple):
    """What the prior is a sum of: tents over the grid; an atom is a tent of half-width one step."""

    centre: IntArray  # in steps
    half: IntArray  # half-width, in steps
    total: FloatArray  # what an infinite grid would add up to
    first: IntArray  # the first cell that it covers
    last: IntArray  # the first one that it no longer covers
    extra: FloatArray  # values it has before any was seen

    def fit(
        self, L: FloatArray, count: FloatArray, start: IntArray, cells: IntArray, prior: FloatArray
    ) -> None:
        """Fit the weights of the parts to estimates in increasing order, and add the parts up."""
        low = np.searchsorted(start, self.first - L.shape[1], side="right")
        high = np.searchsorted(start, self.last)
        offset = np.append(0, np.cumsum(np.maximum(high - low, 0)))
        bands, w = np.empty(offset[-1]), np.empty(len(self.centre))
        where = self.centre, self.half, self.total, self.first, self.last
        _bands(L, start, cells, *where, low, offset, bands)
        _fit(bands, low, offset, count, self.extra, w)
        _mixture(w, cells, *where, prior)


def _parts(cells: IntArray, shift: float) -> _Parts:
    """An atom at every cell, and of tents at every scale those that cover one."""
    halves = [1]
    while halves[-1] <= cells[-1] or len(halves) < 2:
        halves.append(halves[-1] * RATIO)
    centres = [cells, *(_centres(cells, h, int(h * shift)) for h in halves[1:])]
    sizes = [len(c) for c in centres]
    centre, half = np.concatenate(centres), np.repeat(halves, sizes)
    inside = np.minimum(centre, half - 1)  # steps from 0 or the lower end to the centre
    below = np.where(inside >= 0, inside * (2 * half - inside - 1) / (2 * half), 0.0)
    reach = half + np.minimum(centre, 0)  # of a centre below 0, what is left on its right
    above = np.where(centre >= 0, (half + 1) / 2, reach * (reach + 1) / (2 * half))
    extra = np.zeros(len(centre))
    extra[np.cumsum(sizes)[:-1]] = BACKGROUND / (len(sizes) - 1)
    return _Parts(
        centre, half, np.maximum(below + above, 1e-9),
        np.searchsorted(cells, centre - half, side="right"),
        np.searchsorted(cells, centre + half), extra,
    )  # fmt: skip


def _centres(cells: IntArray, half: int, move: int) -> IntArray:
    low = np.unique((cells - move) // half)
    return np.unique(np.concatenate([low, low + 1])) * half + move


def _seen(estimate: Estimate) -> tuple[FloatArray, FloatArray, float]:
    """Estimates that sum to one, none further out than noise can throw it, and their noise.

    Once frequencies sum to one, what all estimates have in common beyond that is noise.
    """
    f, d = estimate.frequencies, estimate.d
    base = np.maximum(np.broadcast_to(np.asarray(estimate.noise.base, dtype=float), f.shape), EXACT**2)
    slope = max(estimate.noise.slope, -(1 - 1e-6) * float(base.min()))
    low, high = -8 * np.sqrt(base), 1 + 8 * np.sqrt(np.maximum(base + slope, base))
    x = np.clip(f, low, high)
    return np.clip(x + (1 - x.sum()) / d, low, high), base, slope


def _merged(x: FloatArray, tau: FloatArray, base: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Estimates that the noise cannot tell apart, as one: who is first, how many, and their mean."""
    order = np.argsort(x, kind="stable")
    if np.ptp(base) > 0:  # values with noise of their own stand for themselves
        return order, np.ones(len(x)), x[order]
    below = x[order] / sqrt(base[0])  # below zero τ stands still
    bins = np.floor(np.where(below < 0, below, tau[order]) * FINE)
    begins = np.flatnonzero(np.append(True, np.diff(bins) > 0))
    count = np.diff(np.append(begins, len(x))).astype(float)
    return order[begins], count, np.add.reduceat(x[order], begins) / count


# The kernels are plain loops: Numba compiles them fast, and no processor adds in another order.


@njit
def _likelihood(
    x: FloatArray, theta: FloatArray, base: FloatArray, slope: float, start: IntArray,
    out: FloatArray,
) -> None:  # fmt: skip
    for i in range(x.size):
        best = -np.inf
        for k in range(out.shape[1]):
            at = theta[start[i] + k]
            variance = base[i] + slope * min(at, 1.0)
            out[i, k] = -0.5 * ((x[i] - at) ** 2 / variance + np.log(variance))
            best = max(best, out[i, k])
        for k in range(out.shape[1]):
            out[i, k] = np.exp(out[i, k] - best)


@njit
def _bands(
    L: FloatArray, start: IntArray, cells: IntArray, centre: IntArray, half: IntArray,
    total: FloatArray, first: IntArray, last: IntArray, low: IntArray, offset: IntArray,
    out: FloatArray,
) -> None:  # fmt: skip
    """Likelihood of every part on the estimates that see it, one part after the other."""
    for c in range(centre.size):
        for k in range(offset[c + 1] - offset[c]):
            i, t = low[c] + k, 0.0
            for j in range(max(first[c], start[i]), min(last[c], start[i] + L.shape[1])):
                t += L[i, j - start[i]] * (half[c] - abs(cells[j] - centre[c]))
            out[offset[c] + k] = t / (half[c] * total[c])


@njit
def _fit(
    bands: FloatArray, low: IntArray, offset: IntArray, count: FloatArray, extra: FloatArray,
    w: FloatArray,
) -> None:  # fmt: skip
    """Weights of the parts by w ← exp ψ(expected number of values + extra); dead ones leave."""
    d = 0.0
    for i in range(count.size):
        d += count[i]
    alive, size, seen = np.arange(w.size), w.size, np.empty(count.size)
    for c in range(w.size):
        w[c] = d / w.size
    for _ in range(STEPS):
        for i in range(count.size):
            seen[i] = 1e-300
        for a in range(size):
            c = alive[a]
            for k in range(offset[c + 1] - offset[c]):
                seen[low[c] + k] += w[c] * bands[offset[c] + k]
        for i in range(count.size):
            seen[i] = count[i] / seen[i]
        everything, kept = 0.0, 0
        for a in range(size):
            c, t = alive[a], 0.0
            for k in range(offset[c + 1] - offset[c]):
                t += seen[low[c] + k] * bands[offset[c] + k]
            new = _exp_digamma(w[c] * t + extra[c])
            if new > 1e-12:
                new *= (new / w[c]) ** RELAX
            w[c] = new
            if new > 0:
                alive[kept] = c
                kept += 1
                everything += new
        size = kept
        for a in range(size):
            w[alive[a]] *= d / everything


@njit
def _mixture(
    w: FloatArray, cells: IntArray, centre: IntArray, half: IntArray, total: FloatArray,
    first: IntArray, last: IntArray, out: FloatArray,
) -> None:  # fmt: skip
    for j in range(cells.size):
        out[j] = 1e-300
    for c in range(w.size):
        if w[c] > 0:
            for j in range(first[c], last[c]):
                out[j] += w[c] * (half[c] - abs(cells[j] - centre[c])) / (half[c] * total[c])


@njit
def _exp_digamma(x: float) -> float:
    """exp ψ(x): about x - ½, and almost nothing for a small fraction of a value."""
    s = 0.0
    while x < 6.0:
        if x < 1e-3:
            return 0.0
        s -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    return float(np.exp(s + np.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y / 252))))


@njit
def _moments(
    x: FloatArray, base: FloatArray, slope: float, theta: FloatArray, start: IntArray, width: int,
    priors: FloatArray, mean: FloatArray, variance: FloatArray,
) -> None:  # fmt: skip
    fits, L = priors.shape[0], np.empty((1, width))
    for i in range(x.size):
        _likelihood(x[i : i + 1], theta, base[i : i + 1], slope, start[i : i + 1], L)
        for fit in range(fits):
            mass = one = two = 0.0
            origin = theta[start[i]]
            for k in range(width):
                q = L[0, k] * priors[fit, start[i] + k]
                z = theta[start[i] + k] - origin
                mass += q
                one += q * z
                two += q * z * z
            mean[i] += (origin + one / mass) / fits
            variance[i] += max(two / mass - (one / mass) ** 2, 0.0) / fits
