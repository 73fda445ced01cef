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
from ldp3.types import Estimate

STEP = 0.25  # of the grid, in standard deviations of the noise
PAD = 12  # steps of the grid on either side of an estimate: three standard deviations
SIGHT = 6.5  # standard deviations from an estimate where a frequency still counts: e^-21
FINE = 32  # estimates closer than one in so many standard deviations are fitted as one
RATIO = 4  # of the half-widths of tents: 1, 4, 16, … standard deviations
SHIFTS = 0.0, 0.5  # of the tents, in half-widths: one fit each, whose posteriors are averaged
BACKGROUND = 0.25  # values nobody has seen, shared by the lowest tents of all widths
STEPS = 300  # of the fixed-point iteration: by then even a large crowd has gathered
RELAX = 0.5  # how much further each step goes than it says, as an exponent
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
        first, count, mean = _merged(x, tau, base)
        likelihood = np.empty((len(first), width))
        _likelihood(mean, grid.theta, base[first], slope, start[first], likelihood)
        fits = [
            _Parts.over(grid.cells, shift).fit(likelihood, start[first], count) for shift in SHIFTS
        ]
        return cls(x, base, slope, grid.theta, start, width, np.array(fits))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each frequency."""
        mean, variance = np.zeros(len(self.seen)), np.zeros(len(self.seen))
        _moments(
            self.seen, self.base, self.slope, self.theta, self.start, self.width, self.priors,
            mean, variance,
        )  # fmt: skip
        return mean, variance


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


@dataclass(frozen=True, eq=False)
class _Parts:
    """What the prior is a sum of; an atom is a tent of half-width one step."""

    cells: IntArray
    centre: IntArray  # in steps
    half: IntArray  # half-width, in steps
    total: FloatArray  # of its heights 1 - |step - centre| / half on all steps from 0 on
    first: IntArray  # the first cell under it
    last: IntArray  # the first one beyond
    extra: FloatArray  # values that it has before any was seen

    @classmethod
    def over(cls, cells: IntArray, shift: float) -> "_Parts":
        """An atom at every cell; of the tents of every width, those that stand over a cell."""
        halves = [RATIO]
        while halves[-1] <= cells[-1]:
            halves.append(halves[-1] * RATIO)
        tents = [_centres(cells, half, int(half * shift)) for half in halves]
        sizes = [len(cells), *map(len, tents)]
        centre, half = np.concatenate([cells, *tents]), np.repeat([1, *halves], sizes)
        extra = np.zeros(len(centre))
        extra[np.cumsum(sizes)[:-1]] = BACKGROUND / len(halves)
        first = np.searchsorted(cells, centre - half, side="right")
        last = np.searchsorted(cells, centre + half)
        return cls(cells, centre, half, _totals(centre, half), first, last, extra)

    def fit(self, likelihood: FloatArray, start: IntArray, count: FloatArray) -> FloatArray:
        """The weights that explain estimates in increasing order, and with them the prior."""
        low = np.searchsorted(start, self.first - likelihood.shape[1], side="right")
        high = np.maximum(np.searchsorted(start, self.last), low)
        offset = np.append(0, np.cumsum(high - low))
        bands, w, prior = np.empty(offset[-1]), np.empty(len(low)), np.empty(len(self.cells))
        shape = self.cells, self.centre, self.half, self.total, self.first, self.last
        _bands(likelihood, start, *shape, low, offset, bands)
        _fit(bands, low, offset, count, self.extra, w)
        _sum(w, *shape, prior)
        return prior


def _centres(cells: IntArray, half: int, move: int) -> IntArray:
    low = np.unique((cells - move) // half)
    return np.unique(np.concatenate([low, low + 1])) * half + move


def _totals(centre: IntArray, half: IntArray) -> FloatArray:
    left = np.clip(centre, 0, half - 1)  # steps below the centre, not below 0
    below = left * (2 * half - left - 1) / (2 * half)
    rest = half + np.minimum(centre, 0)  # steps from 0 or the centre, whichever is higher
    return np.maximum(below + rest * (rest + 1) / (2 * half), 1e-9)


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


def _merged(
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
def _likelihood(
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
def _bands(
    likelihood: FloatArray, start: IntArray, cells: IntArray, centre: IntArray, half: IntArray,
    total: FloatArray, first: IntArray, last: IntArray, low: IntArray, offset: IntArray,
    out: FloatArray,
) -> None:  # fmt: skip
    """Likelihood of each part on the estimates that see it, from `low` on, part after part."""
    width = likelihood.shape[1]
    for c in range(centre.size):
        for k in range(offset[c + 1] - offset[c]):
            i, t = low[c] + k, 0.0
            for j in range(max(first[c], start[i]), min(last[c], start[i] + width)):
                t += likelihood[i, j - start[i]] * (half[c] - abs(cells[j] - centre[c]))
            out[offset[c] + k] = t / (half[c] * total[c])


@njit
def _fit(
    bands: FloatArray, low: IntArray, offset: IntArray, count: FloatArray, extra: FloatArray,
    w: FloatArray,
) -> None:  # fmt: skip
    """w ← exp ψ(expected number of values + extra), over and over; parts without any leave."""
    d = 0.0
    for i in range(count.size):
        d += count[i]
    alive, size, weight = np.arange(w.size), w.size, np.empty(count.size)
    for c in range(w.size):
        w[c] = d / w.size
    for _ in range(STEPS):
        for i in range(count.size):
            weight[i] = 1e-300
        for a in range(size):
            c = alive[a]
            for k in range(offset[c + 1] - offset[c]):
                weight[low[c] + k] += w[c] * bands[offset[c] + k]
        for i in range(count.size):
            weight[i] = count[i] / weight[i]
        everything, kept = 0.0, 0
        for a in range(size):
            c, t = alive[a], 0.0
            for k in range(offset[c + 1] - offset[c]):
                t += weight[low[c] + k] * bands[offset[c] + k]
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
def _sum(
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
def _moments(
    x: FloatArray, base: FloatArray, slope: float, theta: FloatArray, start: IntArray, width: int,
    priors: FloatArray, mean: FloatArray, variance: FloatArray,
) -> None:  # fmt: skip
    fits, seen = priors.shape[0], np.empty((1, width))
    for i in range(x.size):
        _likelihood(x[i : i + 1], theta, base[i : i + 1], slope, start[i : i + 1], seen)
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
