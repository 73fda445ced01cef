"""Completed: what noise hides is given the people that are left over."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import expm1, log, sqrt
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray, as_distribution
from ldp3.kernels import numerics
from ldp3.kernels.compile import njit
from ldp3.postprocessing.base import PostProcessor
from ldp3.postprocessing.normalising import NormSub
from ldp3.postprocessing.posterior import FINE, Posterior
from ldp3.types import Estimate, Point

LEVELS = np.array([1.0, 2.0, 4.0])  # standard deviations below which a shape takes over
LIKELY = 0.55, 0.15, 0.3  # a power law, one common level, a few among zeros: before all estimates
FEWEST = 0.5  # values above the level, from which a power law goes on
STEEPEST = 1e6  # power law: nearly nothing below the first rank
PIECES = 48  # of a power law: so many in rank, and so many in log rank
FEW = 16  # frequencies of the few among zeros
NEVER = 1e-290  # likelihood of what cannot be


@final
@dataclass(frozen=True)
class Completed(PostProcessor):
    r"""Posterior medians of what noise hides, under a prior that Σf = 1 completes: for ℓ1.

    The prior that `multiscale` fits cannot tell 0 from a tenth of the noise, but the frequencies
    sum to one. Above $T$ standard deviations $σ$ of the noise stand $N$ values, which hold $M$:

    $$N = \sum_v P(θ_v \ge Tσ \mid \hat f_v), \qquad
      M = \sum_v E[θ_v\, 1(θ_v \ge Tσ) \mid \hat f_v].$$

    Below, the fitted prior is replaced by a shape that holds exactly the $d - N$ values and the
    $1 - M$ that are left: a power law $Tσ\,(r/N)^{-s}$ over the ranks $r = N, …, d$, whose $s$
    follows from that mass (weight 0.55), one common level (0.15), or zeros and just enough values
    spread evenly over $(0, Tσ)$ (0.3). There is a model for each shape and each $T = 1, 2, 4$,
    weighted by its likelihood. Where the posterior median is below $σ$ it is the answer, elsewhere
    what `multiscale` says; if nothing is hidden, everywhere.

    For ℓ1, TV and MAE, most of all in large domains. **Not a distribution**: medians sum to less
    than one, and what they gain is lost if they are scaled or projected to one. No parameters.
    Deterministic. Costs little more than `multiscale`.

    Examples
    --------
    >>> f = np.array([0.5, 0.2, 0.08, 0.06, 0.03, -0.01, -0.02, -0.03])
    >>> Completed()(Estimate.of(f, n=1000, noise=0.0009)).round(3)
    array([0.489, 0.212, 0.099, 0.08 , 0.053, 0.013, 0.008, 0.005])

    References
    ----------
    Robbins. *An empirical Bayes approach to statistics.* Berkeley Symposium on Mathematical
    Statistics and Probability, 1956 (the fitted prior; that the sum completes it is our own).
    """

    bayes: ClassVar[Point | None] = "median"

    def refine(self, estimate: Estimate) -> FloatArray:
        posterior = Posterior.of(estimate)
        mean, _ = posterior.moments()
        refined = NormSub().refine(replace(estimate, frequencies=mean))
        models = Models.completing(posterior)
        return refined if models is None else models.medians(otherwise=refined)


@final
@dataclass(frozen=True)
class CompletedMean(PostProcessor):
    r"""Posterior means under the prior of `completed`, scaled to sum to one: for KL.

    $$f'_v = \frac{E[θ_v \mid \hat f]}{\sum_u E[θ_u \mid \hat f]},$$

    as $\sum_v a_v \log(a_v/b_v)$ is linear in the truth $a$ but for a term without $b$, so that its
    expectation is least where $b$ is the expected truth. Scaled and not projected: a frequency of
    zero, as Norm-Sub gives it, would cost $a \log(2na)$. A distribution. No parameters.

    Examples
    --------
    >>> f = np.array([0.5, 0.2, 0.08, 0.06, 0.03, -0.01, -0.02, -0.03])
    >>> CompletedMean()(Estimate.of(f, n=1000, noise=0.0009)).round(3)
    array([0.52 , 0.216, 0.099, 0.077, 0.045, 0.017, 0.014, 0.012])

    References
    ----------
    Robbins. *An empirical Bayes approach to statistics.* Berkeley Symposium on Mathematical
    Statistics and Probability, 1956 (the fitted prior; that the sum completes it is our own).
    """

    title: ClassVar[str] = "Completed mean"
    bayes: ClassVar[Point | None] = "share"
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(_expected(estimate, lambda frequency: frequency))


@final
@dataclass(frozen=True)
class CompletedRoot(PostProcessor):
    r"""Squared posterior mean roots under the prior of `completed`, summing to one: for Hellinger.

    $$f'_v + \tfrac1{2n} \propto E\left[\sqrt{θ_v + \tfrac1{2n}} \;\middle|\; \hat f\right]^2,$$

    as the Hellinger distance of $a$ and $b$ falls with $\sum_v \sqrt{a_v b_v}$, whose expectation
    is largest where $\sqrt{b_v} \propto E\sqrt{a_v}$; $1/2n$ is the half user that the metric gives
    to every value. Nearly right for JS, too. A distribution. No parameters.

    Examples
    --------
    >>> f = np.array([0.5, 0.2, 0.08, 0.06, 0.03, -0.01, -0.02, -0.03])
    >>> CompletedRoot()(Estimate.of(f, n=1000, noise=0.0009)).round(3)
    array([0.536, 0.222, 0.099, 0.075, 0.04 , 0.012, 0.009, 0.008])

    References
    ----------
    Robbins. *An empirical Bayes approach to statistics.* Berkeley Symposium on Mathematical
    Statistics and Probability, 1956 (the fitted prior; that the sum completes it is our own).
    """

    title: ClassVar[str] = "Completed root"
    bayes: ClassVar[Point | None] = "root"
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        half = 0.5 / estimate.n
        root = _expected(estimate, lambda frequency: np.sqrt(frequency + half))
        square = as_distribution(root**2)  # of frequencies with the half user
        return as_distribution(square * (1 + estimate.d * half) - half)


def _expected(estimate: Estimate, what: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The posterior mean of a function of each frequency; of the mean, if nothing is hidden."""
    posterior = Posterior.of(estimate)
    models = Models.completing(posterior)
    return what(posterior.moments()[0]) if models is None else models.expected(what)


@dataclass(frozen=True, eq=False)
class Sight:
    """Estimates, close ones as one, with their noise and the frequencies that they see."""

    x: FloatArray
    base: FloatArray
    slope: float
    low: FloatArray
    high: FloatArray
    place: IntArray  # of every value among them
    each: FloatArray  # how many values

    @classmethod
    def of(cls, posterior: Posterior) -> "Sight":
        x, base = posterior.seen, posterior.base
        # values with noise of their own stand for themselves
        cells = np.floor(x * (FINE / sqrt(base[0]))) if np.ptp(base) == 0 else np.arange(len(x))
        _, place, each = np.unique(cells, return_inverse=True, return_counts=True)
        x, base = np.bincount(place, x) / each, np.bincount(place, base) / each
        start = np.full(len(x), len(posterior.theta))
        np.minimum.at(start, place, posterior.start)
        low = np.where(start > 0, posterior.theta[start], 0.0)
        return cls(
            x, base, posterior.slope, low, posterior.theta[start + posterior.width - 1],
            place, each.astype(float),
        )  # fmt: skip

    def likelihood(self, theta: FloatArray, priors: FloatArray) -> FloatArray:
        """Of each estimate under each row of `priors`: how many values have which frequency."""
        start = np.searchsorted(theta, self.low)
        stop = np.searchsorted(theta, self.high, side="right")
        out = np.zeros((len(self.x), len(priors)))
        _likelihood(self.x, self.base, self.slope, theta, start, stop, priors.T.copy(), out)
        return out.T


@dataclass(frozen=True, eq=False)
class Models:
    """The fitted prior above some level and a shape below it, for each level and shape."""

    sight: Sight
    theta: FloatArray  # increasing
    priors: FloatArray  # how many values have which frequency: one row for each model
    evidence: FloatArray  # likelihood of each estimate under each model
    weights: FloatArray  # of the models

    @classmethod
    def completing(cls, posterior: Posterior) -> "Models | None":
        """What the values and the people below each level can be; None if nothing is hidden."""
        sight, d = Sight.of(posterior), len(posterior.seen)
        grid, fitted, sd = posterior.theta, posterior.priors.mean(axis=0), sqrt(sight.base.min())
        upper = fitted * (grid >= (LEVELS[:, None] - 1e-9) * sd)
        seen = sight.likelihood(grid, np.concatenate([fitted[None], upper, upper * grid]))
        likely = seen[1:] / np.maximum(seen[0], NEVER)
        above, held = np.split((likely * sight.each).sum(axis=1), 2)
        made = []
        for level, prior, n, mass in zip(LEVELS * sd, upper, above, held, strict=True):
            if n <= d - 1:
                prior = prior * (n / max(prior.sum(), NEVER))
                few = max(float(n), FEWEST), float(level), d, 1 - float(mass)
                made += [(*shape(*few), prior) for shape in SHAPES]
        if not made:
            return None
        theta = np.concatenate([grid, *(frequencies for frequencies, _, _ in made)])
        priors, end = np.zeros((len(made), len(theta))), len(grid)
        for row, (_, values, prior) in zip(priors, made, strict=True):
            row[: len(grid)], row[end : end + len(values)] = prior, values
            end += len(values)
        order = np.argsort(theta, kind="stable")
        theta, priors = theta[order], priors[:, order]
        evidence = np.maximum(sight.likelihood(theta, priors), NEVER)
        fit = (numerics.log(evidence) * sight.each).sum(axis=1)
        weights = numerics.exp(fit - fit.max()) * np.resize(LIKELY, len(fit))
        return cls(sight, theta, priors, evidence, weights / weights.sum())

    def expected(self, what: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """The posterior mean of a function of each frequency."""
        seen = self.sight.likelihood(self.theta, self.priors * what(self.theta))
        return (self.weights[:, None] * seen / self.evidence).sum(axis=0)[self.sight.place]

    def medians(self, otherwise: FloatArray) -> FloatArray:
        """The posterior median of each value; `otherwise` if it is not below the noise."""
        sight, median = self.sight, np.empty(len(self.sight.x))
        shares = (self.weights[:, None] / self.evidence).T.copy()
        hidden = self.theta < (1 - 1e-9) * sqrt(sight.base.min())
        _medians(
            sight.x, sight.base, sight.slope, self.theta[hidden],
            np.searchsorted(self.theta, sight.low), self.priors[:, hidden].T.copy(), shares, median,
        )  # fmt: skip
        found = median[sight.place]
        return np.where(np.isnan(found), otherwise, found)


def _power_law(n: float, top: float, d: int, mass: float) -> tuple[FloatArray, FloatArray]:
    """Ranks n to d continue with frequencies top (r/n)^-s: s is such that they hold the mass."""
    if mass <= 0:
        return np.zeros(1), np.array([d - n])

    def excess(s: float) -> float:
        return _held(n, d, n, top, s) - mass

    s = 0.0 if excess(0.0) <= 0 else STEEPEST
    if s and excess(s) < 0:
        s = numerics.find_root(excess, 0.0, STEEPEST, within=1e-12)
    steps = np.arange(PIECES + 1) / PIECES
    ranks = np.union1d(n * numerics.exp(log(d / n) * steps), n + (d - n) * steps)
    ranks = ranks[np.append(True, np.diff(ranks) > 1e-9 * d)]
    held = [_held(a, b, n, top, s) for a, b in pairwise(ranks.tolist())]
    return np.array(held) / np.diff(ranks), np.diff(ranks)


def _held(a: float, b: float, n: float, top: float, s: float) -> float:
    """What ranks a to b hold, if rank r has the frequency top (r/n)^-s."""
    length = log(b / a)
    grown = expm1((1 - s) * length) / (1 - s) if abs(1 - s) * length > 1e-9 else length
    return float(top * (a / n) ** -s * a * grown)


def _common_level(n: float, top: float, d: int, mass: float) -> tuple[FloatArray, FloatArray]:
    """All values alike."""
    return np.array([min(max(mass, 0.0) / (d - n), top)]), np.array([d - n])


def _few_among_zeros(n: float, top: float, d: int, mass: float) -> tuple[FloatArray, FloatArray]:
    """As many values evenly between 0 and the top as hold the mass; the others are zero."""
    some = min(2 * max(mass, 0.0) / top, d - n)
    theta = (np.arange(FEW) + 0.5) / FEW * top
    return np.append(0.0, theta), np.append(d - n - some, np.full(FEW, some / FEW))


SHAPES = _power_law, _common_level, _few_among_zeros


# The kernels are plain loops: Numba compiles them fast, and no processor adds in another order.


@njit
def _density(x: float, theta: float, base: float, slope: float) -> float:
    variance = base + slope * min(theta, 1.0)
    return float(np.exp(-0.5 * (x - theta) ** 2 / variance) / np.sqrt(variance / base))


@njit
def _likelihood(
    x: FloatArray, base: FloatArray, slope: float, theta: FloatArray, start: IntArray,
    stop: IntArray, priors: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    for i in range(x.size):
        for k in range(start[i], stop[i]):
            density = _density(x[i], theta[k], base[i], slope)
            for j in range(priors.shape[1]):
                out[i, j] += priors[k, j] * density


@njit
def _medians(
    x: FloatArray, base: FloatArray, slope: float, theta: FloatArray, start: IntArray,
    priors: FloatArray, shares: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Of the mixture of the models' posteriors; NaN if it is not among `theta`."""
    for i in range(x.size):
        out[i], below = np.nan, 0.0
        for k in range(start[i], theta.size):
            prior = 0.0
            for j in range(priors.shape[1]):
                prior += priors[k, j] * shares[i, j]
            below += prior * _density(x[i], theta[k], base[i], slope)
            if below >= 0.5:
                out[i] = theta[k]
                break
