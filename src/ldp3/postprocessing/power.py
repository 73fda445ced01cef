"""Power and PowerNS: posterior means under a fitted prior."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from math import expm1, inf, log, sqrt
from typing import ClassVar, Literal, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import require
from ldp3.kernels import numerics
from ldp3.kernels.numerics import find_root
from ldp3.postprocessing.base import PostProcessor
from ldp3.postprocessing.normalising import NormSub
from ldp3.types import Estimate

ALPHA = (1.01, 20.0)  # the exponents that are tried
EXACT = 64  # integers next to either end of 1..n that are summed one by one
SMOOTH = 8.0  # standard deviations of at least this many counts are summed by quadrature
REACH = 10.0  # standard deviations beyond which normal noise is not looked for
FAR = 50.0  # standard deviations from both ends where neither end matters any more
BLOCK = 2**16  # numbers at a time: they stay in cache


@final
@dataclass(frozen=True)
class Power(PostProcessor):
    r"""Posterior means, if the true counts follow a power law and the noise is normal.

    With $\hat x_v = n \hat f_v$ and $σ^2$ the variance of the count of a value that nobody holds,

    $$f'_v = \frac1n \, \frac{\sum_{x=1}^n x \cdot x^{-α} e^{-(x - \hat x_v)^2 / 2σ^2}}
                           {\sum_{x=1}^n x^{-α} e^{-(x - \hat x_v)^2 / 2σ^2}},$$

    where $α$ makes the mean of the prior $\propto x^{-α}$ on $1, …, n$ the mean estimated count,
    within [1.01, 20]. Rare values shrink, frequent ones stay; the sum need not be one. Costs
    $O(d \log σ)$, whatever $n$.

    Parameters
    ----------
    prior
        ``"power law"``, or ``"normal"``: a normal distribution with the mean of the estimates and
        their variance less the noise, which pulls every estimate towards the mean.
    variance
        $n$ times the variance of one frequency, instead of what the estimate says of its noise:
        to see what a wrong one does.

    Examples
    --------
    >>> est = Estimate.of(np.array([0.6, 0.3, 0.1, -0.1]), n=1000, noise=0.0025)
    >>> Power()(est).round(3)
    array([0.596, 0.291, 0.06 , 0.006])
    >>> Power(prior="normal")(est).round(3)
    array([ 0.586,  0.297,  0.105, -0.088])

    References
    ----------
    Jia, Gong. *Calibrate: frequency estimation and heavy hitter identification with local
    differential privacy via incorporating prior knowledge.* INFOCOM 2019.
    """

    prior: Literal["power law", "normal"] = "power law"
    variance: float | None = None

    def __post_init__(self) -> None:
        known = self.prior in ("power law", "normal")
        require(known, self, "prior must be 'power law' or 'normal'", self.prior)
        number = isinstance(self.variance, int | float) and not isinstance(self.variance, bool)
        number = number and 1e-100 <= self.variance <= 1e100  # type: ignore[operator]
        what = "variance must be > 0, from 1e-100 to 1e100"
        require(self.variance is None or number, self, what, self.variance)

    def refine(self, estimate: Estimate) -> FloatArray:
        n, f = estimate.n, estimate.frequencies
        noise = estimate.noise.floor if self.variance is None else self.variance / n
        if self.prior == "normal":
            spread = max(f.var() - noise, 0)
            return f.mean() + spread / (spread + noise) * (f - f.mean())
        alpha = _exponent(n * f.mean(), n)
        counts, place = np.unique(n * f, return_inverse=True)  # of many values, most have a twin
        means = _posterior_means(counts, n, n * sqrt(noise), alpha)[place]
        return np.clip(means / n, 1 / n, 1)


@final
@dataclass(frozen=True)
class PowerNS(PostProcessor):
    r"""Power, then Norm-Sub: $f'_v = \max(f^{\mathrm{Power}}_v - δ, 0)$, summing to one.

    The parameters are those of `Power`.

    Examples
    --------
    >>> est = Estimate.of(np.array([0.6, 0.3, 0.1, -0.1]), n=1000, noise=0.0025)
    >>> PowerNS()(est).round(3)
    array([0.607, 0.303, 0.072, 0.018])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    distribution: ClassVar[bool] = True

    prior: Literal["power law", "normal"] = "power law"
    variance: float | None = None

    def __post_init__(self) -> None:
        Power(self.prior, self.variance)  # refuses what is no parameter

    def refine(self, estimate: Estimate) -> FloatArray:
        powered = Power(self.prior, self.variance).refine(estimate)
        return NormSub().refine(replace(estimate, frequencies=powered))


@lru_cache(maxsize=256)  # PowerNS asks again for what Power has just been told
def _exponent(mean: float, n: int) -> float:
    """The α for which the prior on 1..n has this mean, within `ALPHA`."""

    def excess(alpha: float) -> float:
        return _power_sum(alpha - 1, n) / _power_sum(alpha, n) - mean

    low, high = ALPHA
    if excess(low) <= 0:
        return low
    if excess(high) >= 0:
        return high
    return find_root(excess, low, high, within=1e-13)


@cache
def _log_integers() -> FloatArray:
    return numerics.log(np.arange(1.0, EXACT))


def _power_sum(s: float, n: int) -> float:
    """1⁻ˢ + 2⁻ˢ + … + n⁻ˢ, by Euler–Maclaurin from 64 on."""
    if n < EXACT:
        return float(numerics.exp(-s * _log_integers()[:n]).sum())
    a, rest = float(EXACT), log(n / EXACT) * (1 - s)
    integral = a ** (1 - s) * (expm1(rest) / (1 - s) if s != 1 else log(n / a))
    total = float(numerics.exp(-s * _log_integers()).sum()) + integral
    for x, sign in ((a, 1), (float(n), -1)):
        slope = s / x / 12 - s * (s + 1) * (s + 2) / x**3 / 720
        total += x**-s * (0.5 + sign * slope)
    return total


def _posterior_means(c: FloatArray, n: int, sigma: float, alpha: float) -> FloatArray:
    """Of counts on 1..n with prior x^-α, seen as `c` through normal noise."""
    end = FAR * sigma + EXACT / 2  # how far an end of 1..n is felt
    length = end + REACH * sigma + EXACT / 2
    means = np.empty(len(c))
    if n <= 2 * length:
        x, w = _both_ends(n, sigma)
        low, high = np.full(len(c), True), np.full(len(c), False)
    else:
        x, w = _ladder(length, sigma)
        x = 1 + x
        low, high = c <= end, c >= n - end
        means[~low & ~high] = _between(c[~low & ~high], sigma, alpha)
        if high.any():
            means[high] = _on_nodes(c[high], n - (x - 1), w, n, sigma, alpha)
    # most values are within the noise: they need the first few nodes only
    bounds = [-inf, 4 * sigma, 16 * sigma, inf]
    for above, up_to in pairwise(bounds):
        rows = low & (c > above) & (c <= up_to)
        if rows.any():
            near = x <= max(up_to, 1) + REACH * sigma + EXACT
            means[rows] = _on_nodes(c[rows], x[near], w[near], n, sigma, alpha)
    return means


def _on_nodes(
    c: FloatArray, x: FloatArray, w: FloatArray, n: int, sigma: float, alpha: float
) -> FloatArray:
    """Posterior means by sums over nodes `x` with weights `w`, the same for all `c`."""
    means, log_prior, size = np.empty(len(c)), alpha * numerics.log(x), max(1, BLOCK // len(x))
    nearest = np.clip(c, 1, n)
    for i in range(0, len(c), size):
        part = slice(i, i + size)
        # (x-c)² less its smallest value, as a product that loses no digits if c is far outside
        apart = x - nearest[part, None]
        e = apart + 2 * (nearest - c)[part, None]
        e *= apart
        e *= -1 / (2 * sigma**2)
        e -= log_prior
        e -= e.max(axis=1, keepdims=True)
        e = numerics.exp(e)
        e *= w
        # einsum and not BLAS, whose order of summation may depend on the number of threads
        means[part] = np.einsum("ij,j->i", e, x) / e.sum(axis=1)
    return means


def _between(c: FloatArray, sigma: float, alpha: float) -> FloatArray:
    """Posterior means of counts so far from 1 and n that neither is felt."""
    if sigma < 1.5:  # the noise sees that counts are whole
        x = np.round(c)[:, None] + np.arange(-20, 21)
        log_weight = -(((x - c[:, None]) / sigma) ** 2) / 2
    else:
        t, weight = _gauss_hermite()
        x = c[:, None] + sqrt(2) * sigma * t
        log_weight = numerics.log(weight) + np.zeros_like(x)
    ratio = x / c[:, None]
    e = log_weight - alpha * numerics.log(ratio)
    e = numerics.exp(e - e.max(axis=1, keepdims=True))
    return c * (e * ratio).sum(axis=1) / e.sum(axis=1)


def _both_ends(n: int, sigma: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for sums over all of 1..n, fine at either end."""
    if n <= 4 * EXACT or sigma < SMOOTH:
        return np.arange(1.0, n + 1), np.ones(n)
    x, w = _ladder(n / 2, sigma)
    return np.concatenate([1 + x, n - x[::-1]]), np.concatenate([w, w[::-1]])


def _ladder(length: float, sigma: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights that sum a function over the integers 0, 1, … up to `length` - ½.

    The first ones are taken as they are. Further on the sum is an integral, by Gauss–Legendre on
    panels that double until they are as wide as the noise, with the central-difference form of
    the Euler–Maclaurin correction where the two meet.
    """
    if sigma < SMOOTH:
        x = np.arange(0.0, length)
        return x, np.ones(len(x))
    edges = [EXACT - 0.5]
    while edges[-1] < length - 0.5:
        edges.append(min(edges[-1] + min(edges[-1], 2 * sigma), length - 0.5))
    t, weight = _gauss_legendre()
    low, half = np.array(edges[:-1])[:, None], np.diff(edges)[:, None] / 2
    whole = np.ones(EXACT + 2)
    whole[-2:] = 0
    # δ/24 - 17 δ³/5760, δ the central difference at the edge
    whole[-4:] += np.array([0, -1, 1, 0]) / 24 - np.array([-1, 3, -3, 1]) * 17 / 5760
    nodes = np.concatenate([np.arange(EXACT + 2.0), (low + half * (1 + t)).ravel()])
    weights = np.concatenate([whole, (half * weight).ravel()])
    order = np.argsort(nodes, kind="stable")
    return nodes[order], weights[order]


@cache
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(12)


@cache
def _gauss_hermite() -> tuple[FloatArray, FloatArray]:
    return np.polynomial.hermite.hermgauss(24)
