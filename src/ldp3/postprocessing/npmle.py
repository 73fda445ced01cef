"""Nonparametric empirical Bayes: the prior itself is estimated, by maximum likelihood."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.noise import Noise
from ldp3.postprocessing.base import PostProcessor
from ldp3.postprocessing.normalising import NormSub
from ldp3.postprocessing.posterior import likelihood, merged
from ldp3.types import Estimate

STEPS = 500  # of Newton; a handful are needed, a few dozen at worst
GAP = 1e-6  # of the mean log-likelihood, at most, to the best prior on the grid
ROUNDING = 1e-12  # no estimate is known better, however little noise it has
STEP = 0.25  # of the grid, in standard deviations
AROUND = 6  # steps of the grid on either side of an estimate
MANY = 2**14  # values from which on close estimates are fitted as one
SIGHT = 9.0  # standard deviations from an estimate where a frequency still counts: e^-40


@final
@dataclass(frozen=True)
class NPMLE(PostProcessor):
    r"""Posterior means under the most likely prior, then Norm-Sub.

    The frequencies are taken as draws from one unknown distribution $G$ on $[0, 1]$, which is
    estimated by maximum likelihood under the oracle's normal noise (Kiefer–Wolfowitz), on a grid:

    $$\hat G = \mathrm{argmax}_G \sum_v \log \int φ\big(\hat f_v;\, θ, \mathrm{Var}(θ)\big)\,dG(θ),
      \qquad f'_v = E_{\hat G}[θ \mid \hat f_v],$$

    with $\mathrm{Var}(θ)$ as the estimate's noise says. No shape is
    assumed: many equal frequencies, a power law and a few heavy values each find their own prior.
    A distribution. No parameters. Deterministic; solved until the duality gap
    $\max_θ \frac1d \sum_v φ_v(θ) / \hat φ_v - 1$ is below $10^{-6}$, which bounds how far the mean
    log-likelihood is from that of the best prior *on the grid*. Above 16,384 values, estimates
    within 1/32 of a standard deviation of each other are fitted as one. Costs about $O(d)$ per
    Newton step, few of which are needed.

    Examples
    --------
    >>> f = np.array([0.31, 0.28, 0.12, 0.12, 0.09, 0.08])
    >>> NPMLE()(Estimate.of(f, n=1000, noise=0.0004)).round(3)
    array([0.295, 0.295, 0.103, 0.103, 0.102, 0.102])

    References
    ----------
    Kiefer, Wolfowitz. *Consistency of the maximum likelihood estimator in the presence of
    infinitely many incidental parameters.* Annals of Mathematical Statistics, 1956.
    Wang. *On fast computation of the non-parametric maximum likelihood estimate of a mixing
    distribution.* Journal of the Royal Statistical Society B, 2007.
    """

    aliases: ClassVar[tuple[str, ...]] = ("empirical bayes", "nonparametric empirical bayes")
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        seen = _Seen.of(_plausible(estimate), estimate.noise)
        atoms, w = seen.problem().solve()
        means = np.concatenate([
            part.mixture(atoms, w * seen.theta[atoms]) / part.mixture(atoms, w)
            for part in seen.parts()
        ])  # fmt: skip
        return NormSub().refine(replace(estimate, frequencies=means))


@dataclass(frozen=True)
class _Seen:
    """Estimates, their noise, and the grid of frequencies of which each sees `width`."""

    x: FloatArray
    tau: FloatArray  # where they lie if noise has standard deviation one everywhere
    base: FloatArray
    slope: float
    theta: FloatArray
    start: IntArray
    width: int

    @classmethod
    def of(cls, x: FloatArray, noise: Noise) -> "_Seen":
        # where values differ in noise, the quietest one sets the grid and the loudest the sight
        base = np.maximum(np.broadcast_to(noise.base, x.shape), ROUNDING**2)
        quiet, loud = float(base.min()), float(base.max())
        sd, slope = sqrt(quiet), max(noise.slope, -(1 - 1e-6) * quiet)
        inside = np.clip(x, 0, 1)
        tau = 2 * inside / (np.sqrt(quiet + slope * inside) + sd)
        top = 2 / (sqrt(quiet + slope) + sd)
        cells = np.unique(np.floor(tau / STEP))
        cells = np.unique(cells[:, None] + np.arange(-AROUND, AROUND + 2))
        grid = np.unique(np.clip(cells * STEP, 0, top))
        theta = np.clip(grid * sd + slope * grid**2 / 4, 0, 1)
        # where noise grows with the frequency, a larger frequency is seen from further away
        bend, far = abs(slope) / (2 * sd), SIGHT * sqrt(loud / quiet)
        sight = 2 * far / (1 - far * bend + sqrt(1 + (far * bend) ** 2))
        start = np.searchsorted(grid, tau - sight)
        width = int((np.searchsorted(grid, tau + sight) - start).max())
        start = np.minimum(start, len(grid) - width)
        return cls(x, tau, base, slope, theta, start, width)

    def problem(self) -> "_Problem":
        """Of all estimates; close ones as one, if there are many."""
        if len(self.x) <= MANY:
            return self._problem(self.x, np.arange(len(self.x)), np.ones(len(self.x)))
        first, count, x = merged(self.x, self.tau, self.base)
        return self._problem(x, first, count)

    def parts(self) -> Iterator["_Problem"]:
        """The estimates as they are, some at a time."""
        for low in range(0, len(self.x), MANY):
            some = np.arange(low, min(low + MANY, len(self.x)))
            yield self._problem(self.x[some], some, np.ones(len(some)))

    def _problem(self, x: FloatArray, which: IntArray, count: FloatArray) -> "_Problem":
        start, out = self.start[which], np.empty((len(x), self.width))
        likelihood(x, self.theta, self.base[which], self.slope, start, out)
        return _Problem(self.theta, start, out, count)


@dataclass(frozen=True)
class _Problem:
    """A grid of frequencies, and the likelihood of each on the estimates that can see it."""

    theta: FloatArray  # (m,) increasing
    start: IntArray  # (d,) first frequency that an estimate sees
    likelihood: FloatArray  # (d, width) of those from `start` on; 1 at the highest
    count: FloatArray  # (d,) values that have this estimate

    def solve(self) -> tuple[IntArray, FloatArray]:
        """Constrained Newton: the atoms of the best prior, as indices, and their weights."""
        atoms, w = self.first_guess()
        for _ in range(STEPS):
            f = self.mixture(atoms, w)
            g = self.gradient(f)
            if g.max() - 1 < GAP:
                return atoms, w
            # every peak of the gradient may become an atom
            left, right = np.append(-np.inf, g[:-1]), np.append(g[1:], -np.inf)
            wider = np.union1d(atoms, np.flatnonzero((g > 1) & (g >= left) & (g >= right)))
            before, w = w, np.zeros(len(wider))
            w[np.searchsorted(wider, atoms)] = before
            atoms, w = self.newton(wider, w, f, g[wider])
        raise RuntimeError(f"npmle did not converge in {STEPS} steps: this is a bug, report it.")

    def newton(
        self, atoms: IntArray, w: FloatArray, f: FloatArray, g: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """One step down Σw - mean log f, whose minimum sums to one by itself."""
        best = w.copy()
        _quadratic(self.gram(atoms, f), 2 * g - 1, best)
        step = best - w
        change, slope = self.mixture(atoms, step), float(((1 - g) * step).sum())
        now, size = w.sum() - self.mean_log(f), 1.0
        while size > 1e-6:  # as far along the quadratic model as the function itself falls
            ahead = f + size * change
            if (ahead > 0.02 * f).all():
                value = (w + size * step).sum() - self.mean_log(ahead)
                if value <= now + 1e-4 * size * slope:
                    w = np.maximum(w + size * step, 0)
                    return atoms[w > 0], w[w > 0] / w.sum()
            size /= 2
        # rounding has spoilt the model: a few certain steps, with something on every atom
        return atoms, self.climb(atoms, w + w.mean() / 100, 10)

    def first_guess(self) -> tuple[IntArray, FloatArray]:
        """A little EM, thinned to its peaks and to what covers every estimate."""
        m = len(self.theta)
        w = self.climb(np.arange(m), np.full(m, 1 / m), 10)
        left, right = np.append(0, w[:-1]), np.append(w[1:], 0)
        atoms = np.flatnonzero((w >= left) & (w >= right))
        seen = self.mixture(atoms, np.ones(len(atoms)))
        atoms = np.union1d(atoms, (self.start + self.likelihood.argmax(axis=1))[seen < 0.05])
        return atoms, self.climb(atoms, np.full(len(atoms), 1 / len(atoms)), 3)

    def climb(self, atoms: IntArray, w: FloatArray, steps: int) -> FloatArray:
        """Expectation–maximisation: slow, but always upwards."""
        for _ in range(steps):
            w = w * self.gradient(self.mixture(atoms, w))[atoms]
            w /= w.sum()
        return w

    def mixture(self, atoms: IntArray, w: FloatArray) -> FloatArray:
        """Likelihood of each estimate under weights `w` at the grid's `atoms`, in order."""
        out = np.empty(len(self.start))
        low = np.searchsorted(atoms, self.start)
        _mixture(self.likelihood, self.start, atoms, low, w, out)
        return out

    def mean_log(self, f: FloatArray) -> float:
        return float((self.count * np.log(f)).sum() / self.count.sum())

    def gradient(self, f: FloatArray) -> FloatArray:
        """Mean of likelihood / f at every frequency of the grid: at most 1 under the best prior."""
        out = np.zeros(len(self.theta))
        _gradient(self.likelihood, self.start, self.count, f, out)
        return out / self.count.sum()

    def gram(self, atoms: IntArray, f: FloatArray) -> FloatArray:
        """Second derivatives of - mean log f, as a band."""
        low = np.searchsorted(atoms, self.start)
        high = np.searchsorted(atoms, self.start + self.likelihood.shape[1])
        out = np.zeros((len(atoms), max(int((high - low).max()), 1)))
        _gram(self.likelihood, self.start, self.count, atoms, low, high, f, out)
        return out / self.count.sum()


def _plausible(estimate: Estimate) -> FloatArray:
    """The estimates, with those that no counts or no noise can give at the limit."""
    base, support = np.asarray(estimate.noise.base), estimate.support
    low, high = -8 * np.sqrt(base), np.sqrt(np.maximum(base + estimate.noise.slope, base))
    if support is not None:
        low = np.maximum(low, -support.q / (support.p - support.q))
    return np.clip(estimate.frequencies, low, 1 + 8 * high)


# The kernels are plain loops: Numba takes many times longer to compile array expressions.


@njit
def _mixture(
    L: FloatArray, start: IntArray, atoms: IntArray, low: IntArray, w: FloatArray, out: FloatArray
) -> None:
    for i in range(start.size):
        k, total = low[i], 0.0
        while k < atoms.size and atoms[k] < start[i] + L.shape[1]:
            total += w[k] * L[i, atoms[k] - start[i]]
            k += 1
        out[i] = total


@njit
def _gradient(
    L: FloatArray, start: IntArray, count: FloatArray, f: FloatArray, out: FloatArray
) -> None:
    for i in range(start.size):
        weight = count[i] / f[i]
        for k in range(L.shape[1]):
            out[start[i] + k] += weight * L[i, k]


@njit
def _gram(
    L: FloatArray, start: IntArray, count: FloatArray, atoms: IntArray, low: IntArray,
    high: IntArray, f: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Σ L_a L_b / f², as a band: row a holds the products with a, a-1, a-2, …"""
    for i in range(start.size):
        weight = count[i] / (f[i] * f[i])
        for a in range(low[i], high[i]):
            scaled = weight * L[i, atoms[a] - start[i]]
            for b in range(low[i], a + 1):
                out[a, a - b] += scaled * L[i, atoms[b] - start[i]]


@njit
def _quadratic(G: FloatArray, c: FloatArray, x: FloatArray) -> None:
    """The x ≥ 0 that minimises ½ x'Gx - c'x: Lawson and Hanson's active sets, downhill from x."""
    size, free, index = c.size, np.empty(c.size, np.bool_), np.empty(c.size, np.int64)
    y, rise, T = np.empty(c.size), np.empty(c.size), np.empty(G.shape)
    for k in range(size):
        free[k] = x[k] > 0
    for _ in range(3 * size + 20):
        while True:
            count = 0
            for k in range(size):
                if free[k]:
                    index[count] = k
                    count += 1
            _solve(G, c, index, count, T, y)
            # go towards y until the first entry reaches zero, and hold it there
            reach, hit = 1.0, -1
            for a in range(count):
                now = x[index[a]]
                if y[a] <= 0 and (hit < 0 or now < reach * (now - y[a])):
                    reach, hit = now / max(now - y[a], 1e-300), a
            for a in range(count):
                x[index[a]] = max(x[index[a]] + reach * (y[a] - x[index[a]]), 0.0)
            if hit < 0:
                break
            x[index[hit]] = 0.0
            free[index[hit]] = False
        _residual(G, c, x, rise)
        best = -1
        for k in range(size):
            if not free[k] and rise[k] > 1e-12 and (best < 0 or rise[k] > rise[best]):
                best = k
        if best < 0:
            break
        free[best] = True


@njit
def _residual(G: FloatArray, c: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """What is left of c: c - Gx."""
    for a in range(c.size):
        out[a] = c[a] - G[a, 0] * x[a]
    for a in range(c.size):
        for k in range(1, min(a + 1, G.shape[1])):
            out[a] -= G[a, k] * x[a - k]
            out[a - k] -= G[a, k] * x[a]


@njit
def _solve(
    G: FloatArray, c: FloatArray, index: IntArray, count: int, T: FloatArray, x: FloatArray
) -> None:
    """Solve Gx = c on `index` by Cholesky in the band; not LAPACK, which may depend on threads."""
    width, first = G.shape[1], 0
    for a in range(count):
        while index[a] - index[first] >= width:
            first += 1
        x[a] = c[index[a]]
        for b in range(first, a + 1):
            value = G[index[a], index[a] - index[b]]
            for k in range(max(first, b - width + 1), b):
                value -= T[a, a - k] * T[b, b - k]
            if b < a:
                T[a, a - b] = value / T[b, 0]
                x[a] -= T[a, a - b] * x[b]
            else:
                # two atoms that look the same must not divide by zero
                T[a, 0] = np.sqrt(max(value, 0.0) + 1e-13 * G[index[a], 0])
        for k in range(a - first + 1, width):
            T[a, k] = 0.0
        x[a] /= T[a, 0]
    for a in range(count - 1, -1, -1):
        x[a] /= T[a, 0]
        for k in range(1, min(a + 1, width)):
            x[a - k] -= T[a, k] * x[a]
